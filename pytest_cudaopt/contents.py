"""Array contents that timed launches get beside the case's own: none can rely on what it saw before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.arguments import Arguments, bind_again, case_of_draw
from pytest_cudaopt.buffers import stored_arrays
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError, EnvironmentFault, ReferenceFault
from pytest_cudaopt.expectation import Expect, Expectation

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Two more draws of every input take at most this much ...
BOTH_BYTES = 1 << 28
# ... and where they would take more, the held-out one alone takes at most this much.
HELD_OUT_BYTES = 1 << 30
_OTHER, _HELD_OUT = 1, 2


@dataclass(frozen=True, eq=False)
class Contents:
    """Files of one other draw, and of the held-out draw with what the reference says of it.

    A buffer without a file keeps the case's own contents. `expected` is None where nothing is held out;
    `note` says why, unless the declaration gives no other contents. `held_out_case` draws the held-out inputs
    anywhere; None where it would draw other scalars or constants too.
    """

    other: Mapping[str, Path] = field(default_factory=dict)
    held_out: Mapping[str, Path] = field(default_factory=dict)
    expected: Expectation | None = None
    held_out_case: Case | None = None
    note: str = ""
    file_bytes: int = 0

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file, to be removed with the case."""
        return (*self.other.values(), *self.held_out.values())

    @property
    def held_bytes(self) -> int:
        """Memory they take: files, and the expectation."""
        return self.file_bytes + (0 if self.expected is None else self.expected.nbytes)


def draw_contents(
    kernel: Kernel, case: Case, bound: Arguments, folder: Path, stem: str, expect: Expect
) -> Contents:
    """Draw and write the other contents of a case, as many as the bounds allow; `expect` says what follows.

    What cannot be drawn, held or referenced is left out with a note: that is no fault of the kernel.
    """
    one_bytes = bound.input_bytes
    if one_bytes > HELD_OUT_BYTES:
        return without_contents(f"another would take {one_bytes / 1e9:.1f} GB")
    written: list[Path] = []

    def draw(number: int) -> tuple[Arguments, dict[str, Path]]:
        arguments = bind_again(kernel, case, bound, number)
        files = write_arrays(stored_arrays(arguments, _changed(arguments, bound)), folder, f"{stem}-{number}")
        written.extend(files.values())
        return arguments, files

    try:
        arguments, held_out = draw(_HELD_OUT)
        if not held_out:
            return Contents()
        expected = expect(arguments, held_out)
        other = draw(_OTHER)[1] if 2 * one_bytes <= BOTH_BYTES else {}
    except (DeclarationError, ReferenceFault, EnvironmentFault) as error:
        remove(written)
        return without_contents(f"another could not be made ({error.what})")
    sizes = [file.stat().st_size for file in written]
    keeps_some = _draws_scalars(bound) or bound.tiles
    held_out_case = None if keeps_some else case_of_draw(kernel, case, _HELD_OUT)
    return Contents(other, held_out, expected, held_out_case, file_bytes=sum(sizes))


def without_contents(why: str) -> Contents:
    """Say that timed launches see the case's own inputs only."""
    return Contents(note=f"timed on one set of inputs: {why}")


def write_arrays(arrays: Mapping[str, NDArray[Any]], folder: Path, stem: str) -> dict[str, Path]:
    """Write each array to `STEM-NAME.bin` in `folder`; raise EnvironmentFault if there is no room."""
    files: dict[str, Path] = {}
    for name, array in arrays.items():
        files[name] = folder / f"{stem}-{name}.bin"
        try:
            array.tofile(files[name])
        except OSError as error:
            remove(files.values())
            raise EnvironmentFault(
                f"scratch file {files[name]}",
                expected=f"room for {array.nbytes} bytes",
                got=error.strerror or str(error),
                next_step="Free some space, or point TMPDIR at another folder",
            ) from error
    return files


def remove(files: Iterable[Path]) -> None:
    """Remove files that may be gone already."""
    for file in files:
        file.unlink(missing_ok=True)


def _draws_scalars(bound: Arguments) -> bool:
    """Whether another seed gives other scalars or constants; those of a dtype by name have a source here."""
    return any(
        parameter.values is not None and (not parameter.is_array or parameter.symbol is not None)
        for parameter in bound.parameters
    )


def _changed(drawn: Arguments, bound: Arguments) -> dict[str, NDArray[Any]]:
    """Return the arrays that differ from the case's own."""
    import numpy as np

    def raw(array: NDArray[Any]) -> NDArray[Any]:
        # As bytes: NaN equals nothing.
        return array.reshape(-1).view(np.uint8)

    return {
        name: array
        for name, array in drawn.arrays.items()
        if name not in drawn.tiles and not np.array_equal(raw(array), raw(bound.arrays[name]))
    }
