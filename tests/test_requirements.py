"""What a case that was gated must have: something to be held against, and a verdict that is sure."""

from __future__ import annotations

import pytest

from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.report import FailureClass
from pytest_cudaopt.requirements import unmet

SAME, FASTER, SLOWER, UNSURE = (
    Gated("baseline", verdict, f"it is {verdict}")
    for verdict in (GateVerdict.SAME, GateVerdict.FASTER, GateVerdict.SLOWER, GateVerdict.UNSURE)
)
ANCHOR = Gated("anchor", GateVerdict.UNSURE, "too few blocks")


@pytest.mark.parametrize(
    ("required", "gated", "kind"),
    [
        ((), (), None),
        ((), (UNSURE,), None),
        (("gpu",), (), None),
        (("baseline",), (), FailureClass.NO_BASELINE),
        (("baseline",), (UNSURE,), None),
        (("baseline",), (SAME,), None),
        (("verdict",), (), None),
        (("verdict",), (SAME,), None),
        (("verdict",), (FASTER,), None),
        # Which the gate fails by itself.
        (("verdict",), (SLOWER,), None),
        (("verdict",), (UNSURE,), FailureClass.UNSURE),
        (("verdict",), (SAME, ANCHOR), FailureClass.UNSURE),
        (("baseline", "verdict"), (), FailureClass.NO_BASELINE),
    ],
)
def test_only_what_is_required_fails(required, gated, kind):
    failure = unmet(frozenset(required), "n4096", gated)

    assert (None if failure is None else failure.kind) == kind


def test_a_missing_baseline_says_how_to_record_one():
    failure = unmet({"baseline"}, "n4096", ())

    assert failure is not None
    assert failure.summary.startswith("NO BASELINE: --cudaopt-require=baseline: ")
    assert "n4096" in failure.headline
    assert "--cudaopt-baseline update" in failure.text


def test_every_unsure_verdict_is_told_with_what_it_is_against():
    failure = unmet({"verdict"}, "n4096", (UNSURE, SAME, ANCHOR))

    assert failure is not None
    assert failure.headline.endswith("n4096 against baseline: it is unsure")
    assert "  also      against anchor: too few blocks" in failure.text
    assert "it is same" not in failure.text
