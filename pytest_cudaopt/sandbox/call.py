"""A call to make in the sandbox: source, arguments, the outputs that are wanted, and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEBIBYTE = 2**20


@dataclass(frozen=True)
class Seed:
    """An argument that the function gets as a NumPy random generator of this seed."""

    value: int


@dataclass(frozen=True)
class Wanted:
    """What an output must be; None for what may be anything. `dtype` is a name such as f32.

    `finite` refuses NaN and infinities.
    """

    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    finite: bool = False


Argument = Union["NDArray[Any]", int, float, bool, str, None, Seed, "Mapping[str, Argument]"]


@dataclass(frozen=True)
class Call:
    """Call `function` of `source` with `arguments` by name.

    Outputs are what it returns: one array, a tuple in the order of `outputs`, or a mapping. Those it
    does not return are the arguments of that name, which alone it may write to.
    """

    source: str
    function: str
    arguments: Mapping[str, Argument]
    outputs: Mapping[str, Wanted]


@dataclass(frozen=True)
class Limits:
    """What a call may use; of memory beyond what an interpreter with NumPy takes by itself."""

    wall_s: float = 60.0
    cpu_s: int = 60
    memory_bytes: int = 4096 * MEBIBYTE
    input_bytes: int = 1024 * MEBIBYTE
    output_bytes: int = 1024 * MEBIBYTE
    printed_bytes: int = 64 * 1024
    open_files: int = 64
