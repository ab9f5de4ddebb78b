"""What the outputs of a launch are held against, for one set of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.arguments import Arguments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Expectation:
    """What the reference says, read-only: by output, as float64 or in the stored dtype.

    `unwritten` marks elements it left out where the declaration allows that. An output without an array is
    one that the reference leaves to `accept=` altogether.
    """

    arguments: Arguments
    arrays: Mapping[str, NDArray[Any]]
    unwritten: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return sum(array.nbytes for array in (*self.arrays.values(), *self.unwritten.values()))


# Makes the expectation for arguments whose arrays lie in those files.
Expect = Callable[[Arguments, Mapping[str, Path]], Expectation]


def read_only(
    arguments: Arguments, arrays: Mapping[str, NDArray[Any]], unwritten: Mapping[str, NDArray[np.bool_]]
) -> Expectation:
    """Return the expectation of these arrays, which nobody can write from now on."""
    for array in (*arrays.values(), *unwritten.values()):
        array.setflags(write=False)
    return Expectation(arguments, arrays, unwritten)
