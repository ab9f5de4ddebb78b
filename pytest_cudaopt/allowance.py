"""How long the trials of a stage may keep a GPU: kernels that are slow, or end its process, are cut short.

On `sim` every launch is bounded in instructions, so that what is tried does not depend on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Stage

# Right kernels whose start takes microseconds need a third of that. By the clock of the harness, so that a
# reference that is slow, and is asked once for all candidates, takes nothing from the first of them.
_SECONDS = {Stage.FUZZ: 1.0, Stage.CONTRACT: 1.5}
# For more draws there is more time.
_EXAMPLES = 100


@dataclass(frozen=True)
class Allowance:
    """Seconds that the harness may be kept busy from when it had been for `since` seconds."""

    device: Device
    seconds: float
    since: float

    @classmethod
    def of(cls, stage: Stage, examples: int, device: Device) -> Allowance:
        """Return what the trials of `stage` may take, if so many cases are drawn."""
        return cls(device, _SECONDS[stage] * max(1.0, examples / _EXAMPLES), device.harness.busy_s)

    @property
    def spent(self) -> str:
        """Why nothing more is tried; empty as long as something may be."""
        if not self.device.is_gpu or self.device.harness.busy_s - self.since < self.seconds:
            return ""
        return f"the {self.seconds:g} s that these trials may keep a GPU busy were spent"
