// What the address sanitizer is told about these tests; nothing in other builds.
#ifdef __SANITIZE_ADDRESS__

// Handles of a context that an error has broken cannot be given back, to the stand-in for the
// driver no more than to the driver: they go with the process.
extern "C" const char* __lsan_default_suppressions() { return "leak:libcudaopt-made-up-driver"; }

#endif
