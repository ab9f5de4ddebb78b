"""One case with everything that does not depend on the candidate: inputs, their files, the expectation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_cudaopt.arguments import Arguments, needed_bytes
from pytest_cudaopt.cases import Case
from pytest_cudaopt.contents import Contents, draw_contents, remove, without_contents
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.expectation import Expect, Expectation
from pytest_cudaopt.host_memory import available_bytes
from pytest_cudaopt.instances import Instance
from pytest_cudaopt.parameters import Parameter


@dataclass(frozen=True, eq=False)
class PreparedCase:
    """Bound arguments of one case, and the files that hold the arrays' initial contents.

    Files of the case lie in `folder`, and their names begin with `stem`. `expect` asks the reference.
    """

    kernel: Kernel
    case: Case
    arguments: Arguments
    files: dict[str, Path]
    folder: Path
    stem: str
    expect: Expect

    @property
    def present(self) -> tuple[Parameter, ...]:
        """The kernel's parameters without arrays that are absent from the case."""
        return tuple(p for p in self.instance.parameters if p.name not in self.case.absent)

    @cached_property
    def instance(self) -> Instance:
        """The kernel's entry and parameters at the case."""
        return self.kernel.at(self.case)

    @cached_property
    def expected(self) -> Expectation:
        """What the reference says, read-only; raises ReferenceFault. Computed at the first use."""
        return self.expect(self.arguments, {})

    @cached_property
    def contents(self) -> Contents:
        """What timed launches get beside the case's own inputs. Drawn and written at the first use."""
        needed, available = needed_bytes(self.kernel, self.case), available_bytes()
        if available is not None and needed > available:
            return without_contents(f"another needs {needed / 1e9:.1f} GB of memory")
        return draw_contents(self.kernel, self.case, self.arguments, self.folder, self.stem, self.expect)

    @property
    def output_elements(self) -> int:
        """Elements over all outputs; 0 means there is nothing to compute."""
        return sum(math.prod(self.arguments.shapes[output.name]) for output in self.arguments.outputs)

    @property
    def held_bytes(self) -> int:
        """Memory the case takes at most: arrays, files, and float64 expectations."""
        drawn = 0 if self._drawn is None else self._drawn.held_bytes
        return self._own_bytes + drawn

    @cached_property
    def _own_bytes(self) -> int:
        # Asked of every kept case whenever another is prepared.
        shapes = self.arguments.shapes
        expected = sum(
            math.prod(shapes[output.name]) * output.oracle_dtype.itemsize for output in self.arguments.outputs
        )
        return 2 * self.arguments.input_bytes + expected

    def remove_files(self) -> None:
        """Remove what was written for the case."""
        remove(self.files.values())
        if self._drawn is not None:
            remove(self._drawn.files)

    @property
    def _drawn(self) -> Contents | None:
        """The contents, if anybody has used them."""
        return self.__dict__.get("contents")
