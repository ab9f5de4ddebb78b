"""Contents of which a tenth is other: what was kept for the old ones may be recognised by the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.arguments import bind_again, case_of_draw
from pytest_cudaopt.buffers import stored_arrays
from pytest_cudaopt.contents import HELD_OUT_BYTES, write_arrays
from pytest_cudaopt.errors import DeclarationError, EnvironmentFault, ReferenceFault
from pytest_cudaopt.values import Integers, Normal, Uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.expectation import Expectation
    from pytest_cudaopt.prepared_case import PreparedCase

_DRAW, _SHARE = 3, 0.1


@dataclass(frozen=True, eq=False)
class PartlyOther:
    """The files of the arrays that differ, and what the reference says of them."""

    files: Mapping[str, Path]
    expected: Expectation


def partly_other(prepared: PreparedCase) -> PartlyOther | None:
    """Draw a tenth of every array of plain numbers anew; None where there is none, or no reference for it."""
    import numpy as np

    bound = prepared.arguments
    if bound.input_bytes > HELD_OUT_BYTES or bound.tiles:
        return None
    seed = case_of_draw(prepared.kernel, prepared.case, _DRAW).seed
    rng = np.random.Generator(np.random.PCG64(seed))
    try:
        drawn = bind_again(prepared.kernel, prepared.case, bound, _DRAW)
        # Mixed element by element: of places and offsets two draws make none.
        plain = (p.name for p in bound.parameters if isinstance(p.values, Normal | Uniform | Integers))
        mixed: dict[str, NDArray[Any]] = {}
        for name in (name for name in plain if name in bound.arrays):
            old = bound.arrays[name]
            mixed[name] = np.where(rng.random(old.shape) < _SHARE, drawn.arrays[name], old)
            mixed[name].setflags(write=False)
        if not mixed:
            return None
        arguments = replace(bound, arrays={**bound.arrays, **mixed})
        files = write_arrays(stored_arrays(arguments, mixed), prepared.folder, f"{prepared.stem}-partly")
        return PartlyOther(files, prepared.expect(arguments, files))
    except (DeclarationError, ReferenceFault, EnvironmentFault):
        return None
