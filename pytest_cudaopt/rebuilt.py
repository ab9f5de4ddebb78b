"""An earlier version of a kernel, compiled and configured as the kernel is declared now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.run import configure

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import Budget
    from pytest_cudaopt.launch import LaunchConfiguration
    from pytest_cudaopt.prepared_case import PreparedCase


def rebuild(
    earlier: Candidate, prepared: PreparedCase, device: Device, budget: Budget
) -> tuple[Compiled, LaunchConfiguration] | str:
    """Return what `earlier` launches at the case, or why it launches nothing, to follow "it".

    Raises what compiling does for what is no kernel's fault.
    """
    compiled = compile_candidate(prepared.kernel, earlier, device, budget, (prepared.case,))
    if isinstance(compiled, CompileFailure):
        return f"does not compile as declared now: {compiled.finding.message}"
    launch = configure(earlier, prepared, compiled, device)
    if isinstance(launch, Finding):
        return f"has no launch here: {launch.message}"
    return compiled, launch
