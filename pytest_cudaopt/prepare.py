"""What does not depend on the candidate, made once per kernel, case and device: inputs and expectation."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from weakref import WeakKeyDictionary, ref

from pytest_cudaopt.arguments import Arguments, bind, needed_bytes
from pytest_cudaopt.buffers import stored_arrays
from pytest_cudaopt.cases import Case
from pytest_cudaopt.contents import (
    Contents,
    draw_contents,
    remove,
    without_contents,
    write_arrays,
)
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.expectation import Expect, Expectation
from pytest_cudaopt.instances import Instance
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.reference_cache import cached_expectation
from pytest_cudaopt.reference_source import ReferenceSource

_KEPT_BYTES = 1 << 29
_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)


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
        needed, available = needed_bytes(self.kernel, self.case), _available_bytes()
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
        shapes = self.arguments.shapes
        expected = sum(
            math.prod(shapes[output.name]) * output.oracle_dtype.itemsize for output in self.arguments.outputs
        )
        drawn = 0 if self._drawn is None else self._drawn.held_bytes
        return 2 * self.arguments.input_bytes + expected + drawn

    def remove_files(self) -> None:
        """Remove what was written for the case."""
        remove(self.files.values())
        if self._drawn is not None:
            remove(self._drawn.files)

    @property
    def _drawn(self) -> Contents | None:
        """The contents, if anybody has used them."""
        return self.__dict__.get("contents")


def prepare(kernel: Kernel, case: Case, device: Device) -> PreparedCase:
    """Bind `kernel` at `case` and write its input files to the device's scratch folder.

    The last ones are kept, up to a bound in bytes. Raises DeclarationError as `bind` does, and
    EnvironmentFault for more than this machine can hold.
    """
    kept = _KEPT.setdefault(device, OrderedDict())
    key = (kernel, case)
    if key in kept:
        kept.move_to_end(key)
        return kept[key]
    prepared = _prepare(kernel, case, device)
    kept[key] = prepared
    while len(kept) > 1 and sum(one.held_bytes for one in kept.values()) > _KEPT_BYTES:
        _, oldest = kept.popitem(last=False)
        oldest.remove_files()
    return prepared


_Kept = OrderedDict[tuple[Kernel, Case], PreparedCase]
_KEPT: WeakKeyDictionary[Device, _Kept] = WeakKeyDictionary()


def _prepare(kernel: Kernel, case: Case, device: Device) -> PreparedCase:
    _require_memory(kernel, case)
    arguments = bind(kernel, case)
    stem = device.new_request("inputs").nonce
    files = write_arrays(stored_arrays(arguments, arguments.arrays), device.scratch, stem)
    expect = _expect(kernel, case, files, device)
    return PreparedCase(kernel, case, arguments, files, device.scratch, stem, expect)


def _expect(kernel: Kernel, case: Case, files: Mapping[str, Path], device: Device) -> Expect:
    """Return what asks the reference: a function of the user's, or a kernel that runs on the same device."""
    if not isinstance(kernel.reference, ReferenceSource):
        return lambda arguments, _: cached_expectation(kernel, arguments)
    # What is kept for a device must not keep the device.
    known = ref(device)

    def run(arguments: Arguments, changed: Mapping[str, Path]) -> Expectation:
        # Loaded here, since what it runs is prepared by this module.
        from pytest_cudaopt.kernel_reference import run_reference

        device = known()
        assert device is not None  # noqa: S101 - whoever asks was handed the case by its device
        prepared = PreparedCase(
            kernel, case, arguments, {**files, **changed}, device.scratch, "reference", run
        )
        return run_reference(prepared, device)

    return run


def _require_memory(kernel: Kernel, case: Case) -> None:
    """Refuse a case the machine cannot hold, instead of letting the kernel of its system end processes."""
    needed, available = needed_bytes(kernel, case), _available_bytes()
    if available is not None and needed > available:
        raise EnvironmentFault(
            f"kernel '{kernel.name}' at {case}",
            expected=f"at most the {available / 1e9:.1f} GB of memory that are available",
            got=f"arrays that need {needed / 1e9:.1f} GB",
            next_step="Make the case smaller, or run it where there is more memory",
            at=kernel.location,
        )


def _available_bytes() -> int | None:
    try:
        match = _AVAILABLE.search(Path("/proc/meminfo").read_text())
    except OSError:
        return None
    return None if match is None else int(match.group(1)) * 1024
