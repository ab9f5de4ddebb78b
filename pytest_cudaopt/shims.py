"""Standard headers for a compiler that has none: texts that map them onto the toolchain's `cuda/std`."""

from __future__ import annotations

PREFIX = "cudaopt-shims/"
# `cuda::std` headers that declare nothing in the namespace make no namespace either; cstddef does.
_CXX = """\
#pragma once
#include <cuda/std/cstddef>
#if __has_include(<cuda/std/{name}>)
#include <cuda/std/{name}>
#else
{otherwise}
#endif
namespace std {{ using namespace cuda::std; }}
"""
# Headers of CUDA 12 that are not there, and what serves instead.
_INSTEAD = {
    "algorithm": "#include <cuda/std/array>\n#include <cuda/std/functional>",
    "cstring": "// memcpy and the like are the compiler's own.",
}
_ON_CUDA_STD = """
    algorithm array atomic bit bitset cassert cfloat chrono climits cmath complex concepts cstddef
    cstdint cstdlib cstring expected functional initializer_list iterator limits numbers numeric
    optional ratio span string_view tuple type_traits utility variant
"""
# C++ has no such constants, and everybody uses them.
_CONSTANTS = """\
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
"""
# cuda/std of CUDA 12 leaves them out.
_LIMITS_OF_FLOATS = """\
#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#endif
"""
_C_HEADERS = {
    "assert.h": "cassert",
    "float.h": "cfloat",
    "limits.h": "climits",
    "math.h": "cmath",
    "stddef.h": "cstddef",
    "stdint.h": "cstdint",
    "stdlib.h": "cstdlib",
    "string.h": "cstring",
}
# The driver's functions are the host's; kernels get this one type from it.
_CUDA_H = """\
#pragma once
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
typedef struct CUtensorMap_st { alignas(64) unsigned long long opaque[16]; } CUtensorMap;
"""
# printf is the compiler's own.
_EMPTY = ("cstdio", "stdio.h")


def _shim(name: str, more: str = "") -> str:
    missing = f"#error cudaopt: <{name}> needs the headers of CUDA 13"
    return _CXX.format(name=name, otherwise=_INSTEAD.get(name, missing)) + more


SHIMS: dict[str, str] = {
    **{name: _shim(name) for name in _ON_CUDA_STD.split()},
    **{name: _shim(target) for name, target in _C_HEADERS.items()},
    **dict.fromkeys(_EMPTY, "#pragma once\n"),
    **dict.fromkeys(("cmath", "math.h"), _shim("cmath", _CONSTANTS)),
    **dict.fromkeys(("cfloat", "float.h"), _shim("cfloat", _LIMITS_OF_FLOATS)),
    "cuda.h": _CUDA_H,
}
# Standard headers for host code.
_HOST_ONLY = """
    any barrier ccomplex cctype cerrno cfenv charconv cinttypes clocale codecvt condition_variable
    coroutine csetjmp csignal cstdarg cuchar cwchar cwctype ctime ctype.h deque errno.h exception
    execution filesystem format forward_list fstream future inttypes.h iomanip ios iosfwd iostream
    istream latch list locale map memory memory_resource mutex new ostream queue random regex
    scoped_allocator semaphore set shared_mutex signal.h source_location sstream stack stdexcept
    stop_token streambuf string strstream sys/time.h sys/types.h syncstream system_error thread
    time.h typeindex typeinfo unistd.h unordered_map unordered_set valarray vector
"""
HOST_ONLY = frozenset(_HOST_ONLY.split())
