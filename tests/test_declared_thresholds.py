"""What a declaration may say of the gate, and that the gate listens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_cudaopt import thresholds
from pytest_cudaopt.declared_thresholds import declared_gate, given_thresholds
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.gated import Thresholds


def test_what_is_not_said_is_as_usual() -> None:
    assert thresholds() == declared_gate(None) == Thresholds()
    assert thresholds(effect=0.02) == replace(Thresholds(), effect=0.02)
    assert given_thresholds(thresholds(effect=0.02)) == {"effect": 0.02}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"effect": 3}, "thresholds(effect=): expected a share such as 0.015, above 0 and below 1, got 3"),
        ({"alpha": 0.5}, "thresholds(alpha=): expected a probability above 0 and below 0.5, got 0.5"),
        ({"modelled_fail": 0.9}, "thresholds(modelled_fail=): expected a ratio above 1, got 0.9"),
        (
            {"bound": True},
            "thresholds(bound=): expected a share such as 0.015, above 0 and below 1, got True",
        ),
        ({"effect": 0.04}, "thresholds(): expected bound <= effect < equivalence, got 0.005, 0.04, 0.03"),
        ({"modelled_fail": 1.05}, "thresholds(): expected modelled_warn <= modelled_fail, got 1.1, 1.05"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError) as raised:
        thresholds(**given)
    assert str(raised.value).startswith(message)


def test_something_else_is_refused() -> None:
    with pytest.raises(DeclarationError, match="expected thresholds"):
        declared_gate(0.05)


def test_a_kernels_own_thresholds_decide(project: Any) -> None:
    project.edit("test_scale.py", "case(n=4096, measure=True)", "case(n=1 << 19, measure=True)")
    latency = ("-k", "latency")
    project.run(*latency, "--cudaopt-baseline=update").assert_outcomes(passed=1, deselected=5)
    # Each thread a stretch of its own.
    project.edit(
        "scale.cu",
        "int i = blockIdx.x * BLOCK + threadIdx.x;",
        "int k = blockIdx.x * BLOCK + threadIdx.x, i = k % 32 * (n / 32) + k / 32;\n"
        "    if (k >= n / 32 * 32) i = k;",
    )
    project.run(*latency).assert_outcomes(failed=1, deselected=5)

    project.edit("test_scale.py", "import In", "import thresholds, In")
    project.edit(
        "test_scale.py", '@kernel("scale.cu",', '@kernel("scale.cu", gate=thresholds(modelled_fail=50),'
    )
    result = project.run(*latency)
    result.assert_outcomes(passed=1, deselected=5)
    result.stdout.fnmatch_lines(["*unsure: modelled latency is * times the earlier one*"])
