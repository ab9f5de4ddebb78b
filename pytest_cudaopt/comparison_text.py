"""A comparison as lines: how many elements are wrong, what would have been accepted, the worst, the first."""

from __future__ import annotations

from pytest_cudaopt.evaluation import Comparison, Mismatch


def comparison_lines(comparison: Comparison) -> list[str]:
    accepted = _accepted_text(comparison)
    verb = "are wrong" if comparison.judged_by else "differ"
    lines = [
        f"  {'output':<9} {comparison.output}: {mismatch_share(comparison)} {verb}",
        f"  {'accepted':<9} {accepted}",
    ]
    if comparison.worst is not None:
        lines.append(f"  {'worst':<9} {_mismatch_text(comparison.output, comparison.worst)}")
    labels = ["first", *[""] * len(comparison.first)]
    for label, mismatch in zip(labels, comparison.first, strict=False):
        lines.append(f"  {label:<9} {_mismatch_text(comparison.output, mismatch)}")
    return lines


def _accepted_text(comparison: Comparison) -> str:
    if comparison.judged_by:
        return f"what {comparison.judged_by} does not call wrong"
    bounds = []
    if comparison.rtol or comparison.atol:
        bounds.append(f"{comparison.atol:g} + {comparison.rtol:g} * |expected|")
    if comparison.ulp:
        bounds.append(f"{comparison.ulp:g} ulp")
    return f"|got - expected| <= {' or '.join(bounds)}" if bounds else "exactly equal"


def mismatch_share(comparison: Comparison) -> str:
    share = 100 * comparison.mismatched / comparison.elements
    return f"{comparison.mismatched} of {comparison.elements} elements ({share:.3g} %)"


def _mismatch_text(output: str, mismatch: Mismatch) -> str:
    index = ", ".join(str(i) for i in mismatch.index)
    expected = "" if mismatch.expected is None else f"expected {_number(mismatch.expected)}, "
    parts = [f"{output}[{index}]: {expected}got {_number(mismatch.got)}"]
    if mismatch.absolute is not None:
        parts.append(f"abs {mismatch.absolute:.3g}")
    if mismatch.relative is not None:
        parts.append(f"rel {mismatch.relative:.3g}")
    if mismatch.ulp is not None:
        parts.append(f"{mismatch.ulp:.3g} ulp")
    return ", ".join(parts)


def _number(value: float | int | bool) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
