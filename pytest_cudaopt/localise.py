"""Ask `sim` where a kernel went wrong: a GPU says what happened, but not at which line, element or thread.

Some faults a GPU does not even notice: all it shows is a wrong result.
"""

from __future__ import annotations

import secrets
from dataclasses import replace

from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.protocol import Request

# Larger cases would take `sim` too long.
MOST_BYTES = 16 << 20
TIMEOUT_S = 20.0
# Behind most wrong results there is no fault, and `sim` executes all of the launch to find none.
WRONG_TIMEOUT_S = 5.0
# Warp instructions of one block. An endless loop shows its place sooner than a long one shows its fault.
_BLOCK_INSTRUCTIONS = 10_000_000
_BLOCK_INSTRUCTIONS_OF_A_LOOP = 1_000_000

_WITHOUT_PLACE = frozenset(
    {
        FindingKind.ILLEGAL_ADDRESS,
        FindingKind.MISALIGNED,
        FindingKind.TRAP,
        FindingKind.LAUNCH_ERROR,
        FindingKind.TIMEOUT,
    }
)
# What else `sim` may answer says that it cannot execute the kernel, not what is wrong with it.
_EVIDENCE = frozenset(
    {
        FindingKind.ILLEGAL_ADDRESS,
        FindingKind.MISALIGNED,
        FindingKind.WRITE_TO_INPUT,
        FindingKind.BARRIER_DIVERGENCE,
        FindingKind.ABSENT_LANE,
        FindingKind.TRAP,
        FindingKind.TIMEOUT,
        FindingKind.NO_PROGRESS,
    }
)
_ENDLESS = frozenset({FindingKind.TIMEOUT, FindingKind.NO_PROGRESS})
# A GPU that came to an end was not in an endless loop.
_EVIDENCE_OF_ENDED = _EVIDENCE - _ENDLESS


def localise(finding: Finding, request: Request, device: Device) -> Finding:
    """Return the GPU's `finding` with the place `sim` finds when it executes `request`.

    The kind stays the GPU's, except that only `sim` can tell a write to an input from other illegal ones.
    Unchanged where the place is known, `sim` finds nothing or cannot execute it, or the arrays are large.
    """
    if finding.is_placed or finding.kind not in _WITHOUT_PLACE:
        return finding
    if _is_large(request):
        return finding
    is_loop = finding.kind is FindingKind.TIMEOUT
    bound = _BLOCK_INSTRUCTIONS_OF_A_LOOP if is_loop else _BLOCK_INSTRUCTIONS
    seen = _ask_sim(request, device, bound, TIMEOUT_S)
    return finding if seen is None else merged(finding, seen)


def fault_behind(request: Request, device: Device) -> Finding | None:
    """Return the fault `sim` finds in a launch that, on a GPU, ended with a wrong result.

    None where `sim` finds none or cannot execute it, or the arrays are large: the result stays wrong.
    """
    seen = None if _is_large(request) else _ask_sim(request, device, _BLOCK_INSTRUCTIONS, WRONG_TIMEOUT_S)
    if seen is None or not seen.is_placed or seen.kind not in _EVIDENCE_OF_ENDED:
        return None
    return replace(seen, message=f"wrong result on {request.device}; sim says: {seen.message}")


def merged(finding: Finding, seen: Finding) -> Finding:
    """Return what a GPU found, at the place where `sim` saw it; `finding` itself if that tells nothing."""
    if not seen.is_placed or seen.kind not in _EVIDENCE:
        return finding
    if seen.kind in _ENDLESS and finding.kind is not FindingKind.TIMEOUT:
        # `sim` did not get as far as the GPU did.
        return finding
    is_input = seen.kind is FindingKind.WRITE_TO_INPUT and finding.kind is FindingKind.ILLEGAL_ADDRESS
    message = f"{finding.message.rstrip('.')}; sim says: {seen.message}"
    return replace(seen, kind=seen.kind if is_input else finding.kind, message=message)


def _is_large(request: Request) -> bool:
    return sum(buffer.bytes for buffer in request.buffers) > MOST_BYTES


def _ask_sim(request: Request, device: Device, block_instructions: int, timeout_s: float) -> Finding | None:
    asked = replace(
        request,
        id=f"{request.id}/localise",
        nonce=secrets.token_hex(8),
        device="sim",
        timeout_s=timeout_s,
        sim=replace(request.sim, block_instructions=block_instructions),
    )
    try:
        return device.ask(asked).fault
    except (HarnessError, EnvironmentFault):
        # The verdict stands without a place: `sim` may not know this GPU's instructions.
        return None
