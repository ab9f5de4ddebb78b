"""The cheapest stage after compiling: what the code takes, against the kernel's limits; no launch."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.resources_taken import LimitsJudged, exceeded, taken
from pytest_cudaopt.waivers import sort_out

# The function that a cast of an overload is of.
_CAST = re.compile(r"\(\s*([\w:]+(?:<.*>)?)\s*\)\s*$")


def judge_limits(
    kernel: Kernel, candidate: Candidate, compiled: Compiled, device: Device
) -> LimitsJudged | None:
    """Return what stands of the candidate's findings, and what is waived; None if there are no limits."""
    limits = kernel.limits
    if limits is None:
        return None
    launches, no_launch = _launches(kernel, candidate)
    used = taken(kernel, compiled.resources, launches)
    major, minor = device.toolchain.version
    compiled_for = f"{device.limits.architecture}, NVRTC {major}.{minor}"
    line = entry_line(candidate.source, kernel.entry)
    found = exceeded(limits, used, compiled_for, candidate.file, line)
    text = kernel.read_source() if found and kernel.waivers else ""
    standing, waived = sort_out(found, kernel.waivers, candidate, kernel.source, text)
    return LimitsJudged(
        limits, compiled_for, used, standing, waived, () if limits.shared_bytes is None else no_launch
    )


def _launches(
    kernel: Kernel, candidate: Candidate
) -> tuple[Mapping[Case, LaunchConfiguration], tuple[str, ...]]:
    """Return the launch of each declared case, and the cases whose launch the check has to refuse."""
    launches: dict[Case, LaunchConfiguration] = {}
    refused: list[str] = []
    for case_id, case in zip(kernel.case_ids, kernel.cases, strict=True):
        try:
            launches[case] = candidate.configure(kernel.all_sizes(case))
        except CudaoptError:
            refused.append(case_id)
    return launches, tuple(refused)


def entry_line(source: str, entry: str) -> int | None:
    """Return the line that defines the kernel, from 1; None where the text does not show it."""
    cast = _CAST.search(entry)
    name = (cast[1] if cast else entry).split("<")[0].rpartition("::")[2].strip()
    defined = re.compile(
        rf"^(?!\s*//).*?\b__global__\b[^;{{}}]*?\b({re.escape(name)})\s*\([^;{{}}]*\{{", re.M
    )
    found = defined.search(source)
    return None if found is None else source.count("\n", 0, found.start(1)) + 1
