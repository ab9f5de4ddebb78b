"""Keep CUDA kernels correct and fast, and make them faster, from pytest.

What a test module imports: markers, dtypes, value generators, `kernel`, `case` and `work`. Names are
loaded on first use, because pytest imports this package in every session, kernels or not.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_cudaopt.amounts import work
    from pytest_cudaopt.case_product import product
    from pytest_cudaopt.cases import case
    from pytest_cudaopt.declare import kernel
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.declared_thresholds import thresholds
    from pytest_cudaopt.dtypes import (
        bf16,
        bool_,
        f8e4m3,
        f8e5m2,
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
    from pytest_cudaopt.index_values import indices, lengths, offsets, permutation, sorted_
    from pytest_cudaopt.markers import Constant, In, InOut, Out, Scalar, Scratch
    from pytest_cudaopt.resource_limits import limits
    from pytest_cudaopt.sandboxed_function import sandboxed
    from pytest_cudaopt.structs import Struct
    from pytest_cudaopt.torch_reference import torch_reference
    from pytest_cudaopt.values import integers, normal, uniform
    from pytest_cudaopt.waivers import waive

__version__ = "0.1.0"

__all__ = [
    "Constant",
    "In",
    "InOut",
    "Kernel",
    "Out",
    "Scalar",
    "Scratch",
    "Struct",
    "bf16",
    "bool_",
    "case",
    "f8e4m3",
    "f8e5m2",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "indices",
    "integers",
    "kernel",
    "lengths",
    "limits",
    "normal",
    "offsets",
    "permutation",
    "product",
    "sandboxed",
    "sorted_",
    "thresholds",
    "torch_reference",
    "u8",
    "u16",
    "u32",
    "u64",
    "uniform",
    "waive",
    "work",
]

_HOMES = {
    "case_product": ("product",),
    "cases": ("case",),
    "amounts": ("work",),
    "declare": ("kernel",),
    "declared": ("Kernel",),
    "declared_thresholds": ("thresholds",),
    "index_values": ("indices", "lengths", "offsets", "permutation", "sorted_"),
    "markers": ("Constant", "In", "InOut", "Out", "Scalar", "Scratch"),
    "resource_limits": ("limits",),
    "sandboxed_function": ("sandboxed",),
    "structs": ("Struct",),
    "torch_reference": ("torch_reference",),
    "values": ("integers", "normal", "uniform"),
    "waivers": ("waive",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name from its module; whatever is in no other module is a dtype."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF.get(name, 'dtypes')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
