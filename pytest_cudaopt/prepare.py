"""Prepare a case once per kernel and device, and keep the last ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from weakref import WeakKeyDictionary, ref

from pytest_cudaopt.arguments import Arguments, bind, needed_bytes
from pytest_cudaopt.buffers import stored_arrays
from pytest_cudaopt.cases import Case
from pytest_cudaopt.contents import write_arrays
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.expectation import Expect, Expectation
from pytest_cudaopt.host_memory import available_bytes
from pytest_cudaopt.kernel_reference import run_reference
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.reference_cache import cached_expectation
from pytest_cudaopt.reference_source import ReferenceSource

_KEPT_BYTES = 1 << 29


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
        device = known()
        assert device is not None  # noqa: S101 - whoever asks was handed the case by its device
        prepared = PreparedCase(
            kernel, case, arguments, {**files, **changed}, device.scratch, "reference", run
        )
        return run_reference(prepared, device)

    return run


def _require_memory(kernel: Kernel, case: Case) -> None:
    """Refuse a case the machine cannot hold, instead of letting the kernel of its system end processes."""
    needed, available = needed_bytes(kernel, case), available_bytes()
    if available is not None and needed > available:
        raise EnvironmentFault(
            f"kernel '{kernel.name}' at {case}",
            expected=f"at most the {available / 1e9:.1f} GB of memory that are available",
            got=f"arrays that need {needed / 1e9:.1f} GB",
            next_step="Make the case smaller, or run it where there is more memory",
            at=kernel.location,
        )
