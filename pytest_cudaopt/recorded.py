"""What is recorded of a version at one case, and the machine whose numbers they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_cudaopt.evaluation import LatencyKind, SamplingMode


@dataclass(frozen=True)
class Machine:
    """What numbers depend on besides the source.

    `device` is the device's name without its number, such as "NVIDIA H200" or "sim (modelled h200)";
    `model` identifies the build of the simulator and its latency model, None on a GPU, as `driver` is on
    `sim`.
    """

    device: str
    architecture: str
    toolkit: str
    driver: str | None = None
    model: str | None = None


@dataclass(frozen=True)
class Recorded:
    """Median latency of one case in ns, with three significant digits; counters where they are counted.

    `counters` are those of the modelled launch, flattened: "warp_instructions.fp32" and so on.
    """

    kind: LatencyKind
    median_ns: float
    mode: SamplingMode | None = None
    counters: Mapping[str, int] | None = None
