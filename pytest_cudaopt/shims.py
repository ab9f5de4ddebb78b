"""Standard headers for a compiler that has none: texts that map them onto the toolchain's `cuda/std`."""

from __future__ import annotations

PREFIX = "cudaopt-shims/"
# `cuda::std` headers that declare nothing in the namespace make no namespace either; cstddef does.
_CXX = """\
#pragma once
#ifndef _CCCL_META_UNROLL_LIMIT
// As under nvcc. The 16 of NVRTC takes a second to compile.
#define _CCCL_META_UNROLL_LIMIT 10
#endif
#include <cuda/std/cstddef>
#include <cuda/std/{name}>
namespace std {{ using namespace cuda::std; }}
"""
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

SHIMS: dict[str, str] = {
    **{name: _CXX.format(name=name) for name in _ON_CUDA_STD.split()},
    **{name: _CXX.format(name=target) for name, target in _C_HEADERS.items()},
    **dict.fromkeys(_EMPTY, "#pragma once\n"),
    **dict.fromkeys(("cmath", "math.h"), _CXX.format(name="cmath") + _CONSTANTS),
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
