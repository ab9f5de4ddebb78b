"""Fuzzing on the simulator: what declared cases miss is found, made small, and can be pasted."""

from __future__ import annotations

import re
import xml.etree.ElementTree
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.database import InMemoryExampleDatabase
from judged_kernels import axpy

from pytest_cudaopt import case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.draw_cases import declared_seed, draws_of
from pytest_cudaopt.drawn import judged_by
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage, Status
from pytest_cudaopt.fuzz import Fuzzed, fuzz
from pytest_cudaopt.pipeline import checker

PLAN = Plan((Stage.COMPILE, Stage.CHECK), ())
# Multiples of the block, as people list them.
FRIENDLY = [case(n=256), case(n=65_536)]
DROPS_THE_TAIL = ("i < n", "i < n / 256 * 256")
Fuzz = Callable[..., Fuzzed[Evaluation]]


def fuzzed_kernel(made: Kernel, sim: Device, examples: int, seed: int | None) -> Fuzzed[Evaluation]:
    """Fuzz the kernel as `kernel[fuzz]` does."""
    start = made.start()
    judge = judged_by(made, start, checker(made, start, PLAN, sim))
    return fuzz(draws_of(made, start), judge, examples, declared_seed(made) if seed is None else seed)


@pytest.fixture
def fuzzed(tmp_path: Path, sim: Device) -> Fuzz:
    def run(*edits: tuple[str, str], seed: int | None = None, examples: int = 10, **declared: Any) -> Any:
        made = axpy(tmp_path, *edits, **{"cases": FRIENDLY, **declared})
        return fuzzed_kernel(made, sim, examples, seed)

    return run


def test_a_dropped_tail_is_found_and_made_small(fuzzed: Fuzz) -> None:
    found = fuzzed(DROPS_THE_TAIL)

    assert found.failed is not None
    smallest, evaluation = found.failed
    assert smallest == case(n=1, seed=0)
    assert evaluation.status is Status.WRONG_RESULT


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_smallest_size_that_fails_is_reported(fuzzed: Fuzz, seed: int) -> None:
    found = fuzzed(("a * x[i]", "(n >= 40 ? 2.0f : a) * x[i]"), seed=seed)

    assert found.failed is not None
    assert found.failed[0] == case(n=40, seed=0)


def test_a_right_kernel_is_silent_whatever_the_seed(fuzzed: Fuzz) -> None:
    results = [fuzzed(seed=seed) for seed in range(20)]

    assert [result.failed for result in results] == [None] * 20
    assert min(result.judged for result in results) >= 8
    assert {result.discarded for result in results} == {0}


def test_the_same_declaration_draws_the_same_cases(tmp_path: Path, sim: Device) -> None:
    def drawn(seed: int | None) -> list[Any]:
        seen = []
        made = axpy(tmp_path, cases=FRIENDLY, reference=lambda x, y, n, a: seen.append(n) or a * x + 1)
        fuzzed_kernel(made, sim, 10, seed)
        return seen

    assert drawn(None) == drawn(None)
    assert drawn(3) != drawn(4)


def test_the_seed_follows_from_the_declaration(tmp_path: Path) -> None:
    first: Kernel = axpy(tmp_path, cases=FRIENDLY)

    assert declared_seed(first) == declared_seed(axpy(tmp_path, ("1.0f", "2.0f"), cases=FRIENDLY))
    assert declared_seed(first) != declared_seed(axpy(tmp_path, cases=[case(n=256)]))


def test_more_examples_are_more_cases(fuzzed: Fuzz) -> None:
    assert fuzzed(examples=3, seed=1).judged <= 3
    # hypothesis repeats itself now and then.
    assert 15 <= fuzzed(examples=25, seed=1).judged <= 25


def test_a_fault_is_made_small_too(fuzzed: Fuzz) -> None:
    found = fuzzed(("if (i < n)", "if (n < 100 ? i < n : true)"))

    assert found.failed is not None
    assert found.failed[0] == case(n=100, seed=0)
    assert found.failed[1].status is Status.FAULT


def test_a_rule_that_launches_nothing_for_few_elements_is_a_failure(fuzzed: Fuzz) -> None:
    found = fuzzed(("cdiv(n, BLOCK)", "n / BLOCK"))

    assert found.failed is not None
    assert found.failed[0] == case(n=1, seed=0)
    assert found.failed[1].reason.endswith("launches nothing, but the outputs are not empty")


def test_zero_is_tried_if_the_domain_has_it(fuzzed: Fuzz) -> None:
    found = fuzzed(("cdiv(n, BLOCK)", "max(1, cdiv(n, BLOCK))"), ("i < n", "i <= n - 1 + (n == 0)"))
    with_zero = fuzzed(
        ("cdiv(n, BLOCK)", "max(1, cdiv(n, BLOCK))"),
        ("i < n", "i <= n - 1 + (n == 0)"),
        domain={"n": (0, 65_536)},
    )

    assert found.failed is None
    assert with_zero.failed is not None
    assert with_zero.failed[0] == case(n=0, seed=0)


def test_sizes_a_reference_refuses_are_discarded_and_counted(fuzzed: Fuzz) -> None:
    def even(x: Any, y: Any, n: int, a: float) -> Any:
        assert n % 2 == 0, "rows come in pairs"
        return a * x + 1

    found = fuzzed(reference=even)

    assert found.failed is None
    assert found.discarded
    assert found.judged
    assert re.fullmatch(
        r"at case\(n=\d*[13579], seed=\d+\): reference of kernel 'axpy': AssertionError: rows come in pairs",
        found.why,
    )
    assert found.summary == f"{found.judged + found.discarded} drawn, {found.discarded} discarded"


def test_an_output_a_reference_leaves_unwritten_is_not_discarded(fuzzed: Fuzz) -> None:
    from pytest_cudaopt.errors import ReferenceFault

    def forgets(x: Any, y: Any, n: int, a: float) -> None:
        y[: n // 256 * 256] = (a * x + 1)[: n // 256 * 256]

    with pytest.raises(ReferenceFault, match="left unwritten"):
        fuzzed(reference=forgets)


def test_sizes_a_launch_rule_does_not_allow_are_discarded(fuzzed: Fuzz) -> None:
    found = fuzzed(
        ("grid=(cdiv(n, BLOCK)) block=(BLOCK)", "grid=(1) block=(n)"), ("= 64,", "= 1,"), cases=[case(n=900)]
    )

    assert found.failed is None
    assert found.judged


def test_one_compilation_serves_all_draws(fuzzed: Fuzz, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_cudaopt import pipeline

    compiled = []
    real = pipeline.compile_candidate

    def counting(*given: Any) -> Any:
        compiled.append(given)
        return real(*given)

    monkeypatch.setattr(pipeline, "compile_candidate", counting)
    fuzzed(DROPS_THE_TAIL)

    assert len(compiled) == 1


def break_for_40(project: Any) -> None:
    project.edit("scale.cu", "2.0f * x[i]", "(n >= 40 && n != 51 && n != 4096 ? 3.0f : 2.0f) * x[i]")


def test_a_failure_is_shown_as_that_of_a_check_with_a_case_to_paste(project: Any) -> None:
    break_for_40(project)
    result = project.run("--cudaopt-fuzz-examples=20")

    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        [
            "WRONG: y: 40 of 40 elements (100 %) differ from the reference",
            "  case      n=40, launched with grid=1 block=64, on sim*",
            "reproduce: pytest 'test_scale.py::scale[[]fuzz[]]' --cudaopt-fuzz-examples=20",
            "           case(n=40, seed=0)",
            "  fuzz      wrong",
        ]
    )


def test_the_pasted_case_fails_as_a_check(project: Any) -> None:
    break_for_40(project)
    project.edit("test_scale.py", "case(n=51)", "case(n=40, seed=0)")

    project.run("-k", "check").assert_outcomes(failed=1, passed=1, deselected=4)


def test_a_random_seed_is_named_so_that_it_can_be_given(project: Any) -> None:
    break_for_40(project)
    first = project.run("--cudaopt-fuzz-seed=random", "-k", "fuzz")
    (flag,) = {
        word for line in first.outlines for word in line.split() if word.startswith("--cudaopt-fuzz-seed")
    }
    again = project.run(flag, "-k", "fuzz")

    assert re.fullmatch(r"--cudaopt-fuzz-seed=\d+", flag)
    assert [line for line in again.outlines if "case(" in line] == [
        line for line in first.outlines if "case(" in line
    ]


def test_a_kernel_whose_every_draw_is_discarded_fails_and_says_why(project: Any) -> None:
    project.edit("test_scale.py", "    y[...]", "    assert n in (51, 4096), 'unusual'\n    y[...]")
    result = project.run("-k", "fuzz")

    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(
        [
            "DECLARATION: kernel 'scale', fuzzing",
            "  got       * draws, none of them such; the first at case(n=*: AssertionError: unusual",
            "  next      Say with domain=, where= or choices= which sizes the kernel is for",
            "  at        test_scale.py:3",
        ]
    )


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("raise NotImplementedError", "reference of kernel 'scale': NotImplementedError"),
        ("x.no_such_thing", "reference of kernel 'scale': AttributeError: *"),
    ],
)
def test_where_no_sizes_help_it_says_what_to_mend(project: Any, raised: str, said: str) -> None:
    project.edit("test_scale.py", "    y[...]", f"    if n not in (51, 4096): {raised}\n    y[...]")
    result = project.run("-k", "fuzz")

    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(
        [
            "  expected  a reference and values= that work",
            f"  got       * draws, none of which works; the first at case(n=*: {said}*",
            "  next      Mend that: whatever the sizes drawn, it failed",
        ]
    )


def test_values_of_one_shape_only_are_to_be_mended(project: Any) -> None:
    wrong = "values=lambda rng, sizes, drawn: rng.random(51 if sizes['n'] == 51 else 4096)"
    project.edit("test_scale.py", 'In(f32, "n")', f'In(f32, "n", {wrong})')
    result = project.run("-k", "fuzz")

    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(
        ["*draws, none of which works; the first*shape (4096,)", "  next      Mend that: *"]
    )


def test_choices_keep_it_to_what_it_is_for(project: Any) -> None:
    project.edit("test_scale.py", "    y[...]", "    assert n in (51, 4096), 'unusual'\n    y[...]")
    project.edit("test_scale.py", "cases=", 'choices={"n": (51, 4096)}, cases=')
    result = project.run("-k", "fuzz")

    result.assert_outcomes(passed=1, deselected=5)
    result.stdout.fnmatch_lines(["  fuzz  passed  10 drawn"])


def test_a_kernel_that_does_not_compile_says_so_once(project: Any) -> None:
    project.edit("scale.cu", "2.0f * x[i]", "2.0f * z[i]")
    result = project.run("-k", "fuzz")

    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(['COMPILE: scale.cu: identifier "z" is undefined'])
    result.stdout.no_fnmatch_line("*case(n*")


def test_what_sim_cannot_execute_skips_the_item(project: Any) -> None:
    cluster = 'int r; asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(r) : "r"(i)); if (i < n)'
    project.edit("scale.cu", "if (i < n)", cluster)

    project.run("-k", "fuzz").assert_outcomes(skipped=1, deselected=5)


def test_it_reaches_junit_and_workers(project: Any) -> None:
    project.run_alone("-n", "2", "--junitxml=out.xml", "-k", "fuzz").assert_outcomes(passed=1)
    (one,) = xml.etree.ElementTree.parse(project.path / "out.xml").iter("testcase")  # noqa: S314 - our own
    properties = {found.get("name"): found.get("value") for found in one.iter("property")}

    assert one.get("name") == "scale[fuzz]"
    assert properties["cudaopt.note"] == "10 drawn"


def drawn(project: Any, *flags: str) -> int:
    """Return how many different cases the fuzzing of a project's kernel drew."""
    result = project.pytester.runpytest_subprocess("-k", "fuzz", "--junitxml=j.xml", *flags)
    assert result.ret in (0, 1)
    found = xml.etree.ElementTree.parse(project.path / "j.xml").iter("property")  # noqa: S314 - ours
    note = next(str(one.get("value")) for one in found if one.get("name") == "cudaopt.note")
    return int(note.removesuffix(" drawn"))


def test_the_profile_somebody_loads_says_how_many_cases_are_drawn(project: Any) -> None:
    project.pytester.makeconftest(
        "import hypothesis\nhypothesis.settings.register_profile('long', max_examples=40)\n"
    )

    assert drawn(project) == 10
    assert 10 < drawn(project, "--hypothesis-profile=long") <= 40
    assert drawn(project, "--hypothesis-profile=long", "--cudaopt-fuzz-examples=7") == 7


@pytest.fixture
def remembering() -> Iterator[None]:
    """Load a profile with a database: on a machine of a CI service hypothesis' own has none."""
    before = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.register_profile("remembering", database=InMemoryExampleDatabase())
    hypothesis.settings.load_profile("remembering")
    yield
    hypothesis.settings.load_profile(before)


@pytest.mark.usefixtures("remembering")
def test_a_case_that_failed_is_judged_first_the_next_time(tmp_path: Path, sim: Device) -> None:
    made = axpy(tmp_path, ("a * x[i]", "(n >= 40 ? 2.0f : a) * x[i]"), cases=FRIENDLY)
    start = made.start()
    judge = judged_by(made, start, checker(made, start, PLAN, sim))

    def judged(name: str, seed: int) -> list[Any]:
        seen: list[Any] = []

        def noted(one: Any) -> Any:
            seen.append(one)
            return judge(one)

        found = fuzz(draws_of(made, start), noted, 10, seed, remembered_as=name)
        assert found.failed is not None
        return [found.failed[0], *seen]

    smallest = judged("a", 1)[0]

    assert judged("a", 2)[1] == smallest
    # Of another name's examples nothing is known, and without one nothing is kept.
    assert judged("b", 2)[1] != smallest
    assert judged("", 2)[1] != smallest
    assert judged("", 2)[1] != smallest


@pytest.mark.parametrize("given", ["17", "seventeen"])
def test_the_seed_of_hypothesis_own_option_is_that_of_the_draws(project: Any, given: str) -> None:
    break_for_40(project)

    def pasted(*flags: str) -> list[str]:
        result = project.pytester.runpytest_subprocess("-p", "no:cacheprovider", "-k", "fuzz", *flags)
        return [line for line in result.outlines if "case(" in line or "seed" in line]

    by_hypothesis = pasted(f"--hypothesis-seed={given}")
    number = 17 if given == "17" else zlib.crc32(given.encode())
    assert by_hypothesis == pasted(f"--cudaopt-fuzz-seed={number}")
