"""What does not depend on the candidate, made once per kernel, case and device: inputs and expectation."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pytest_cudaopt.arguments import Arguments, bind, needed_bytes
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declare import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.reference import compute_expected

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEPT_BYTES = 1 << 29
_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class PreparedCase:
    """Bound arguments of one case, and the files that hold the arrays' initial contents."""

    kernel: Kernel
    case: Case
    arguments: Arguments
    files: dict[str, Path]

    @cached_property
    def expected(self) -> dict[str, NDArray[Any]]:
        """What the reference says, read-only; raises ReferenceFault. Computed at the first use."""
        expected = compute_expected(self.kernel, self.arguments)
        for array in expected.values():
            array.setflags(write=False)
        return expected

    @property
    def output_elements(self) -> int:
        """Elements over all outputs; 0 means there is nothing to compute."""
        outputs = (parameter.name for parameter in self.kernel.parameters if parameter.is_output)
        return sum(math.prod(self.arguments.shapes[name]) for name in outputs)

    @property
    def held_bytes(self) -> int:
        """Memory the case takes at most: arrays, their files, and float64 expectations."""
        shapes = self.arguments.shapes
        inputs = sum(array.nbytes for array in self.arguments.arrays.values())
        return 2 * inputs + sum(
            math.prod(shapes[parameter.name]) * parameter.dtype.oracle.itemsize
            for parameter in self.kernel.parameters
            if parameter.is_output
        )


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
        for file in oldest.files.values():
            file.unlink(missing_ok=True)
    return prepared


_Kept = OrderedDict[tuple[Kernel, Case], PreparedCase]
_KEPT: WeakKeyDictionary[Device, _Kept] = WeakKeyDictionary()


def _prepare(kernel: Kernel, case: Case, device: Device) -> PreparedCase:
    _require_memory(kernel, case)
    arguments = bind(kernel, case)
    stem = device.new_request("inputs").nonce
    files: dict[str, Path] = {}
    for name, array in arguments.arrays.items():
        files[name] = device.scratch / f"{stem}-{name}.bin"
        try:
            array.tofile(files[name])
        except OSError as error:
            raise EnvironmentFault(
                f"scratch file {files[name]}",
                expected=f"room for {array.nbytes} bytes",
                got=error.strerror or str(error),
                next_step="Free some space, or point TMPDIR at another folder",
            ) from error
    return PreparedCase(kernel, case, arguments, files)


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
