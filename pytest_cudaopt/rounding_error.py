"""Split an output's distance from its reference: what rounding did, and what the kernel means otherwise.

`sim` says what every output would be without rounding (its float64 shadow). From the output to its shadow is
rounding error; from the shadow to the float64 reference is what the kernel computes differently: a polynomial
of float32 grade, a literal rounded to float32, or a logic error that a tolerance hides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.finding import SourcePoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A gap this many times the starting kernel's own, and this large beside the output's largest value, is no
# other polynomial.
GAP_FACTOR = 16
LEAST_GAP = 1e-9


class ShadowState(IntEnum):
    """What an element's shadow is worth, as the harness numbers it."""

    NONE = 0
    EXACT = 1
    RESEEDED = 2
    UNDECIDED = 3


@dataclass(frozen=True)
class RoundingLoss:
    """The instruction at which the relative error grows most: where digits are lost to cancellation.

    `mean_growth` is over its executions, `growth` of the worst one (1: no digit is left), which computed
    `value` where float64 has `shadow`.
    """

    mean_growth: float
    growth: float
    value: float
    shadow: float
    file: str | None = None
    line: int | None = None
    inlined_from: tuple[SourcePoint, ...] = ()
    instruction: str | None = None
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None

    @classmethod
    def from_json(cls, loss: Mapping[str, Any]) -> RoundingLoss:
        """Read the `rounding` object of a launch's answer."""
        points = (SourcePoint(str(p["file"]), int(p["line"])) for p in loss.get("inlined_from", ()))
        return cls(
            mean_growth=float(loss["mean_growth"]),
            growth=float(loss["growth"]),
            value=float(loss["value"]),
            shadow=float(loss["shadow"]),
            file=loss.get("file"),
            line=loss.get("line"),
            inlined_from=tuple(points),
            instruction=loss.get("instruction"),
            block=_index(loss.get("block")),
            thread=_index(loss.get("thread")),
        )


@dataclass(frozen=True, eq=False)
class Shadow:
    """An output in float64, and by element what that is worth (`ShadowState`)."""

    values: NDArray[np.float64]
    states: NDArray[np.uint8]


@dataclass(frozen=True)
class Distance:
    """The largest distance over the elements of an output, and the element that has it."""

    largest: float = 0.0
    index: tuple[int, ...] | None = None


@dataclass(frozen=True)
class ErrorSplit:
    """Both parts of an output's error, absolute; `scale` is the reference's largest magnitude.

    `judged` elements have a shadow, a finite one; `undecided` ones are exempt, because a comparison went
    otherwise without rounding; of the judged, `reseeded` ones rounded on purpose on their way.
    """

    output: str
    scale: float
    rounding: Distance
    logic: Distance
    elements: int
    judged: int
    reseeded: int
    undecided: int

    @property
    def relative_rounding(self) -> float:
        """Rounding error in units of the output's largest value."""
        return _relative(self.rounding.largest, self.scale)

    @property
    def relative_logic(self) -> float:
        """The gap between shadow and reference in units of the output's largest value."""
        return _relative(self.logic.largest, self.scale)


def split_error(
    output: str,
    got: NDArray[Any],
    shadow: Shadow,
    expected: NDArray[Any],
    compared: NDArray[np.bool_] | None = None,
) -> ErrorSplit:
    """Split the error of `got` against `expected`, all of one shape; only where `compared`, if given.

    What is not finite in any of the three is left to the comparison of outputs.
    """
    import numpy as np

    if not got.shape == shadow.values.shape == shadow.states.shape == expected.shape:
        shapes = [array.shape for array in (got, shadow.values, shadow.states, expected)]
        raise ValueError(f"{output}: expected one shape, got {shapes}")
    stored, reference = got.astype(np.float64), expected.astype(np.float64)
    chosen = np.ones(got.shape, np.bool_) if compared is None else compared
    decided = (shadow.states == ShadowState.EXACT) | (shadow.states == ShadowState.RESEEDED)
    finite = np.isfinite(stored) & np.isfinite(shadow.values) & np.isfinite(reference)
    judged = chosen & decided & finite
    with np.errstate(invalid="ignore"):
        rounding = _distance(np.abs(stored - shadow.values), judged)
        logic = _distance(np.abs(shadow.values - reference), judged)
    known = np.abs(reference[chosen & np.isfinite(reference)])
    return ErrorSplit(
        output=output,
        scale=float(known.max(initial=0.0)),
        rounding=rounding,
        logic=logic,
        elements=int(got.size),
        judged=int(judged.sum()),
        reseeded=int((judged & (shadow.states == ShadowState.RESEEDED)).sum()),
        undecided=int((chosen & (shadow.states == ShadowState.UNDECIDED)).sum()),
    )


def allowed_gap(start: ErrorSplit, scale: float) -> float:
    """Return the gap between shadow and reference that a candidate may have where the start has `start`'s."""
    return max(GAP_FACTOR * start.logic.largest, LEAST_GAP * scale)


def is_logic_error(candidate: ErrorSplit, start: ErrorSplit) -> bool:
    """Whether `candidate` computes something else than the starting kernel, at the same case."""
    return candidate.logic.largest > allowed_gap(start, candidate.scale)


def _distance(distances: NDArray[np.float64], judged: NDArray[np.bool_]) -> Distance:
    import numpy as np

    if not judged.any():
        return Distance()
    masked = np.where(judged, distances, -1.0)
    position = int(masked.argmax())
    index = tuple(int(i) for i in np.unravel_index(position, distances.shape))
    return Distance(float(masked.reshape(-1)[position]), index)


def _relative(distance: float, scale: float) -> float:
    if distance == 0:
        return 0.0
    return distance / scale if scale > 0 else float("inf")


def _index(value: Any) -> tuple[int, int, int] | None:
    if value is None:
        return None
    x, y, z = value
    return int(x), int(y), int(z)
