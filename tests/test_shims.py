"""Standard headers: what production kernels use of them compiles, and each one compiles alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged_kernels import axpy, full_plan
from test_compile import compiled

from pytest_cudaopt.device import Device
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.shims import HOST_ONLY, SHIMS

EVERYDAY = """\
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

template <class T>
__device__ T everyday(T value, uint32_t count) {
    static_assert(std::is_same_v<T, float> && std::is_floating_point<T>::value);
    static_assert(std::numeric_limits<T>::max() > 1e30f && sizeof(std::uint64_t) == 8 && UINT32_MAX > 1);
    assert(count > 0);
    std::array<T, 2> pair{value, T(1)};
    auto [first, second] = std::make_tuple(pair[0], std::size_t(1));
    T low = std::max(-std::numeric_limits<T>::infinity(), std::min(first, T(1e9)));
    return std::move(low) + T(second) + std::fabs(std::sqrt(T(0)) * std::exp(T(M_PI)));
}
"""
C_STYLE = """\
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
__device__ float everyday(float value, uint32_t) {
    return fminf(fmaxf(value, -FLT_MAX), INFINITY) + (float)(INT_MAX > 0 && UINT8_MAX == 255);
}
"""


@pytest.mark.parametrize("library", [EVERYDAY, C_STYLE], ids=["c++", "c"])
def test_everyday_use_of_the_standard_library_compiles_and_is_right(
    library: str, tmp_path: Path, sim: Device
) -> None:
    kernel = axpy(
        tmp_path, ('extern "C"', f'{library}extern "C"'), ("a * x[i] + 1.0f", "everyday(a * x[i], 1u)")
    )
    evaluation = evaluate(kernel, kernel.start(), full_plan(kernel), sim)
    assert evaluation.accepted, evaluation


def test_all_of_them_together_compile_without_a_warning(tmp_path: Path, sim: Device) -> None:
    includes = "".join(f"#include <{name}>\n" for name in SHIMS)
    assert compiled(axpy(tmp_path, ("extern", f"{includes}extern")), sim).diagnostics == ()


@pytest.mark.parametrize("name", ["cassert", "cfloat", "climits", "cstring", "stdint.h", "cuda.h"])
def test_the_small_ones_compile_alone(name: str, tmp_path: Path, sim: Device) -> None:
    compiled(axpy(tmp_path, ("extern", f"#include <{name}>\nextern")), sim)


def test_no_header_is_both_there_and_for_hosts_only() -> None:
    assert HOST_ONLY & set(SHIMS) == set()
