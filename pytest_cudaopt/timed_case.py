"""A version as it was launched and timed at one case: what a gate compares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.ptx_code import ptx_code

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.compile import Compiled
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.evaluation import Latency
    from pytest_cudaopt.launch import LaunchConfiguration
    from pytest_cudaopt.prepared_case import PreparedCase


@dataclass(frozen=True)
class TimedCase:
    """A version as it was launched and timed, or modelled, at one case."""

    candidate: Candidate
    compiled: Compiled
    prepared: PreparedCase
    launch: LaunchConfiguration
    latency: Latency

    @property
    def kernel(self) -> Kernel:
        return self.prepared.kernel

    def runs_as(self, other: Compiled, launch: LaunchConfiguration) -> bool:
        """Whether `other`, launched so, is the same code and takes the same resources."""
        instance = self.prepared.instance
        return (
            launch == self.launch
            and other.resources_of(instance) == self.compiled.resources_of(instance)
            and _code(other) == _code(self.compiled)
        )


def _code(compiled: Compiled) -> str:
    return ptx_code(Path(compiled.module.ptx_file or "").read_text())
