"""Element types: their NumPy twin, their CUDA C++ spellings, their default tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["float", "int", "uint", "bool"]
_ML_DTYPES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}


@dataclass(frozen=True)
class DType:
    """One element type.

    `cuda` lists the spellings a kernel's parameter may have, the usual one first. `rtol` and `atol` are
    the defaults for outputs of this type: about 8 units in the last place for a result that was
    accumulated in this type over a few hundred terms, one unit for floats of 8 bits, in which nobody
    accumulates; integers are exact.
    """

    name: str
    kind: Kind
    bits: int
    cuda: tuple[str, ...]
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @cached_property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype; ml_dtypes provides the ones NumPy lacks."""
        import numpy as np

        if self.name in _ML_DTYPES:
            import ml_dtypes

            stored: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[self.name]))
            return stored
        return np.dtype("bool" if self.kind == "bool" else f"{self.kind}{self.bits}")

    @property
    def oracle(self) -> np.dtype[Any]:
        """The dtype a reference computes in: float64 for floats, the type itself otherwise."""
        import numpy as np

        if self.is_float:
            return np.dtype(np.float64)
        return self.numpy

    @cached_property
    def mantissa_bits(self) -> int:
        """Explicit mantissa bits of a float type; 0 for others."""
        return {"f8e4m3": 3, "f8e5m2": 2, "f16": 10, "bf16": 7, "f32": 23, "f64": 52}.get(self.name, 0)

    @property
    def least_exponent(self) -> int:
        """The exponent of a float type's smallest normal number."""
        exponent_bits = self.bits - 1 - self.mantissa_bits
        return 2 - (1 << (exponent_bits - 1))

    @property
    def saturates(self) -> bool:
        """True for float types to which CUDA converts what is too large, infinity too, as their largest."""
        return self.is_float and self.bits == 8

    @cached_property
    def largest(self) -> float:
        """The largest finite number of a float type."""
        import ml_dtypes

        limits: Any = ml_dtypes.finfo
        return float(limits(self.numpy).max)

    def bit_patterns(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return `array`, which has this dtype, viewed as unsigned integers of the same width."""
        import numpy as np

        return array.view(np.dtype(f"uint{self.bits}"))

    def __str__(self) -> str:
        return self.name


class TypeName(DType):
    """A dtype that each case chooses, by the name `types=` gives it: nothing but the name is known."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeName) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"TypeName({self.name!r})"


f8e4m3 = DType("f8e4m3", "float", 8, ("__nv_fp8_e4m3",), 0.125, 2e-3)
f8e5m2 = DType("f8e5m2", "float", 8, ("__nv_fp8_e5m2",), 0.25, 2e-5)
f16 = DType("f16", "float", 16, ("__half",), 2e-3, 1e-3)
bf16 = DType("bf16", "float", 16, ("__nv_bfloat16",), 1.6e-2, 1e-2)
f32 = DType("f32", "float", 32, ("float",), 1e-5, 1e-6)
f64 = DType("f64", "float", 64, ("double",), 1e-12, 1e-14)
i8 = DType("i8", "int", 8, ("signed char", "char"))
i16 = DType("i16", "int", 16, ("short",))
i32 = DType("i32", "int", 32, ("int",))
i64 = DType("i64", "int", 64, ("long long", "long"))
u8 = DType("u8", "uint", 8, ("unsigned char",))
u16 = DType("u16", "uint", 16, ("unsigned short",))
u32 = DType("u32", "uint", 32, ("unsigned int",))
u64 = DType("u64", "uint", 64, ("unsigned long long", "unsigned long"))
bool_ = DType("bool_", "bool", 8, ("bool",))

ALL: tuple[DType, ...] = (f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool_, f8e4m3, f8e5m2)
BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in ALL}
