"""What items of one case share: one run of the reference, and a check that failed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

COUNTING = """\
from pathlib import Path

from pytest_cudaopt import In, Out, case, f32, i32, kernel

@kernel("scale.cu", cases=[case(n=51), case(n=4096, measure=True)])
def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    with Path(CALLS).open("a") as calls:
        print(n, file=calls)
    y[...] = 2 * x
"""


@pytest.mark.parametrize("arguments", [[], ["--optimize"]], ids=["checks", "optimize"])
def test_checks_latency_and_every_candidate_share_one_run_per_case(project, arguments: list[str]) -> None:
    calls = Path(project.path) / "calls.txt"
    project.write("test_scale.py", COUNTING.replace("CALLS", repr(str(calls))))
    project.run("--cudaopt-device=sim", "--cudaopt-fuzz-examples=0", *arguments)
    assert Counter(calls.read_text().split()) == {"51": 1, "4096": 1}


@pytest.mark.parametrize(
    "body", ["raise NotImplementedError", "y[...] = 3 * x"], ids=["no reference", "wrong"]
)
def test_a_case_whose_check_failed_is_not_timed(project, body: str) -> None:
    project.write(
        "test_scale.py",
        "from pytest_cudaopt import In, Out, case, f32, i32, kernel\n"
        '@kernel("scale.cu", cases=[case(n=51), case(n=4096, measure=True)])\n'
        f'def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):\n    {body}\n',
    )
    result = project.run("--cudaopt-device=sim", "--cudaopt-fuzz-examples=0", "-rs")
    result.assert_outcomes(failed=2, skipped=1, passed=1)
    result.stdout.fnmatch_lines(["SKIPPED*check-n4096 failed"])
    result.stdout.no_fnmatch_line("*us modelled*")
