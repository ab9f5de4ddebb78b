"""`kernel[contract]`: what it says of a kernel, and that it fails for nothing but what is required."""

from __future__ import annotations

import re
from typing import Any

import pytest

SWALLOWS_NAN = ("2.0f * x[i]", "isnan(x[i]) ? 0.0f : 2.0f * x[i]")
SELECTED = ("-k", "contract", "--cudaopt-device=sim")


def require(project: Any, *names: str) -> None:
    project.edit("test_scale.py", "cases=", f"required={list(names)}, cases=")


def ignore(project: Any, *names: str) -> None:
    project.edit("test_scale.py", "cases=", f"ignored={list(names)}, cases=")


def note(project: Any) -> str:
    result = project.run(*SELECTED)
    result.assert_outcomes(passed=1, deselected=5)
    (line,) = [line for line in result.outlines if re.match(r"  contract +passed", line)]
    return " ".join(line.split()[2:])


def test_a_kernel_that_has_them_all_says_how_many(project: Any) -> None:
    assert note(project) == "11 properties"


def test_a_property_that_the_kernel_lacks_is_named_and_is_no_failure(project: Any) -> None:
    project.edit("scale.cu", *SWALLOWS_NAN)

    # It is right about infinities.
    assert note(project) == "10 properties; in part: non_finite"


def test_a_property_that_it_lacks_at_every_trial_is_told_apart(project: Any) -> None:
    project.edit("scale.cu", "if (i < n)", "if (i < n && n < 16384)")

    assert note(project) == "10 properties; not: larger_sizes"


def test_what_is_ignored_is_not_looked_at(project: Any) -> None:
    project.edit("scale.cu", *SWALLOWS_NAN)
    ignore(project, "non_finite", "larger_sizes")

    assert note(project) == "9 properties"


def test_what_is_required_is_counted_where_the_kernel_has_it(project: Any) -> None:
    require(project, "unaligned", "aliasing")

    assert note(project) == "13 properties"


def test_a_required_property_that_is_lacking_fails_with_a_case_to_paste(project: Any) -> None:
    project.edit("scale.cu", *SWALLOWS_NAN)
    require(project, "non_finite")
    result = project.run(*SELECTED)

    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(
        [
            "LOST PROPERTY: non_finite: y: 1 of * differ from the reference",
            "  case      case(n=*, seed=*, values='nan'), launched with grid=*",
            "  property  required=[[]'non_finite'[]]: a kernel must be right with NaN and infinities *",
            "reproduce: pytest 'test_scale.py::scale[[]contract[]]' --cudaopt-device=sim",
            "           case(n=*, seed=*, values='nan')",
            "  contract  lost property",
            "FAILED test_scale.py::scale[[]contract[]] - LOST PROPERTY: non_finite: *",
        ]
    )


def test_the_pasted_case_fails_as_a_check(project: Any) -> None:
    project.edit("scale.cu", *SWALLOWS_NAN)
    require(project, "non_finite")
    result = project.run(*SELECTED)
    (pasted,) = [line.strip() for line in result.outlines if line.strip().startswith("case(")]
    project.edit("test_scale.py", "case(n=51)", pasted)

    checked = project.run("-k", "check", "--cudaopt-device=sim")

    checked.assert_outcomes(failed=1, passed=1, deselected=4)
    checked.stdout.fnmatch_lines(["WRONG: y: 1 of *", "*::scale[[]check-*nan[]]*", f"           {pasted}"])


def test_a_seed_that_was_given_is_part_of_the_line_that_reproduces_it(project: Any) -> None:
    project.edit("scale.cu", *SWALLOWS_NAN)
    require(project, "non_finite")
    result = project.run(*SELECTED, "--cudaopt-fuzz-seed=3")

    result.stdout.fnmatch_lines(["reproduce: pytest *contract*--cudaopt-fuzz-seed=3*"])


def test_the_same_declaration_is_asked_the_same(project: Any) -> None:
    project.edit("scale.cu", *SWALLOWS_NAN)
    require(project, "non_finite")

    def pasted(*arguments: str) -> list[str]:
        lines = project.run(*SELECTED, *arguments).outlines
        return [line for line in lines if line.strip().startswith("case(")]

    assert pasted() == pasted()
    assert pasted() != pasted("--cudaopt-fuzz-seed=3")


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("scale.cu", "2.0f", "3.0f", "case n51: 51 of 51 elements of 'y' differ*"),
        ("scale.cu", "if (i < n) ", "", "case n51: kernel 'scale' reads x[[]51[]]*"),
        ("test_scale.py", "    y[...]", "    raise NotImplementedError\n    y[...]", "reference of kernel*"),
        ("test_scale.py", "y[...]", "y[1:]", "reference of kernel 'scale', output 'y'"),
    ],
    ids=["wrong", "fault", "no-reference", "unwritten"],
)
def test_what_its_checks_say_in_full_is_not_said_again(
    project: Any, file: str, old: str, new: str, said: str
) -> None:
    project.edit(file, old, new)
    if new == "y[1:]":
        project.edit(file, "2 * x", "2 * x[1:]")
    result = project.run(*SELECTED, "-rs")

    result.assert_outcomes(skipped=1, deselected=5)
    result.stdout.fnmatch_lines(
        ["  contract  not judged", f"SKIPPED*test_scale.py:3: a declared case fails: {said}"]
    )


def test_what_is_wrong_at_sizes_nobody_listed_is_for_fuzzing_to_say(project: Any) -> None:
    project.edit("scale.cu", "i < n", "i < (n == 51 ? n : n / 64 * 64)")
    result = project.run("-k", "fuzz or contract", "--cudaopt-device=sim")

    result.assert_outcomes(failed=1, passed=1, deselected=4)
    result.stdout.fnmatch_lines(["  fuzz      wrong", "  contract  passed  *"])


def test_a_reference_that_is_not_for_some_values_is_no_failure(project: Any) -> None:
    project.edit("test_scale.py", "    y[...] = 2 * x", "    y[x == x] = 2 * x[x == x]")

    assert note(project) == "10 properties; in part: non_finite"


def test_what_does_not_compile_is_explained_once(project: Any) -> None:
    project.edit("scale.cu", "2.0f * x[i]", "2.0f * z[i]")
    result = project.run("--cudaopt-device=sim")

    result.assert_outcomes(failed=6)
    assert result.stdout.str().count('scale.cu:5:30: error: identifier "z" is undefined') == 1


def test_what_sim_cannot_execute_skips_the_item(project: Any) -> None:
    cluster = 'int r; asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(r) : "r"(i)); if (i < n)'
    project.edit("scale.cu", "if (i < n)", cluster)
    result = project.run(*SELECTED, "-rs")

    result.assert_outcomes(skipped=1, deselected=5)
    result.stdout.fnmatch_lines(["  contract  unsupported", "SKIPPED*test_scale.py:3: *mapa*"])


def test_a_kernel_that_leans_on_the_launch_before_says_so(project: Any) -> None:
    project.edit("scale.cu", "extern", "__device__ int launches;\nextern")
    project.edit("scale.cu", "    if (i < n)", "    if (i == 0) launches++;\n    if (i < n && launches < 4)")

    assert "not: relaunch" in note(project)


def test_without_examples_there_is_no_such_item(project: Any) -> None:
    result = project.run("--collect-only", "-q", "--cudaopt-fuzz-examples=0")

    assert "contract" not in result.stdout.str()


def test_it_reaches_junit(project: Any) -> None:
    project.run("--junitxml=out.xml", *SELECTED).assert_outcomes(passed=1, deselected=5)

    assert '<property name="cudaopt.note" value="11 properties"' in (project.path / "out.xml").read_text()
