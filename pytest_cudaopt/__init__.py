"""Keep CUDA kernels correct and fast, and make them faster, from pytest.

What a test module imports: markers, dtypes, value generators, `kernel`, `case` and `work`.
"""

from pytest_cudaopt.cases import case
from pytest_cudaopt.declare import Kernel, kernel, work
from pytest_cudaopt.dtypes import (
    bf16,
    bool_,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from pytest_cudaopt.parameters import In, InOut, Out, Scalar, Scratch
from pytest_cudaopt.values import integers, normal, uniform

__version__ = "0.1.0"

__all__ = [
    "In",
    "InOut",
    "Kernel",
    "Out",
    "Scalar",
    "Scratch",
    "bf16",
    "bool_",
    "case",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "integers",
    "kernel",
    "normal",
    "u8",
    "u16",
    "u32",
    "u64",
    "uniform",
    "work",
]
