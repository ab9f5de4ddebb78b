// Runs every test of the harness, or those whose name contains the first argument.
#include "check.hpp"

int main(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  int passed = 0, failed = 0;
  for (const auto& test : check::all()) {
    if (test.name.find(filter) == std::string::npos) continue;
    try {
      test.body();
      ++passed;
    } catch (const std::exception& error) {
      ++failed;
      std::cout << "FAILED " << test.name << "\n  " << error.what() << "\n";
    }
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
