"""Baselines: what is kept of a version, when it can be rebuilt, and which cases it stands for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from made_up_baselines import H200, LARGE, SMALL, SOURCE, baseline_of, gated, scale_in, seen, version

from pytest_cudaopt import In, InOut, Out, Scalar, Struct, case, f16, f32, i32, kernel, uniform
from pytest_cudaopt.baseline import candidate_of, incumbents, three_digits, version_of, why_no_incumbent
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.declared_facts import _written, facts_of, signature_of
from pytest_cudaopt.errors import SourceError

HEADER = "#pragma once\n#define TWICE(x) (2.0f * (x))\n"
INCLUDING = '#include "twice.cuh"\n' + SOURCE.replace("2.0f * x[i]", "TWICE(x[i])")
REGIONS = f"""\
// @cudaopt begin other
__global__ void other() {{}}
// @cudaopt end
// @cudaopt begin scale
{SOURCE}// @cudaopt end

// @cudaopt begin last
// @cudaopt end
"""


@pytest.mark.parametrize("source", [SOURCE, REGIONS, INCLUDING], ids=["plain", "region", "headers"])
def test_a_candidate_comes_back_as_it_was(tmp_path: Path, source: str) -> None:
    (tmp_path / "twice.cuh").write_text(HEADER)
    declared = scale_in(tmp_path, source)
    start = declared.start()
    again = candidate_of(version_of(declared, start), tmp_path)
    assert again.digest == start.digest
    assert replace(again, closure=None) == replace(start, closure=None)


def test_a_launch_rule_with_everything_comes_back(tmp_path: Path) -> None:
    lines = (
        "// @launch grid=(cdiv(n, BLOCK), 2) block=(BLOCK) shared=4 * BLOCK cluster=(2) cooperative\n"
        "// @launch[n >= 4096, n % 4 == 0] grid=(cdiv(n, 4 * BLOCK), 2)\n"
        "// @launch[n < 64] block=(32, 2) shared=where(n > 1, 8, 0)\n"
    )
    declared = scale_in(tmp_path, lines + SOURCE.partition("\n")[2])
    start = declared.start()
    assert candidate_of(version_of(declared, start), tmp_path).launch == start.launch


def test_headers_come_back_as_they_were_when_they_have_changed(tmp_path: Path) -> None:
    header = tmp_path / "twice.cuh"
    header.write_text(HEADER)
    declared = scale_in(tmp_path, INCLUDING)
    kept = version_of(declared, declared.start())
    header.write_text(HEADER.replace("2.0f", "4.0f"))
    assert candidate_of(kept, tmp_path).headers == {"twice.cuh": HEADER}
    header.unlink()
    assert candidate_of(kept, tmp_path).headers == {"twice.cuh": HEADER}


def test_of_headers_too_large_to_keep_a_changed_one_is_named(tmp_path: Path) -> None:
    header = tmp_path / "twice.cuh"
    header.write_text(HEADER + "//\n" * 100_000)
    declared = scale_in(tmp_path, INCLUDING)
    start = declared.start()
    kept = version_of(declared, start)
    assert kept.headers["twice.cuh"].lines is None
    assert candidate_of(kept, tmp_path).digest == start.digest
    header.write_text(HEADER)
    with pytest.raises(SourceError, match=r"others: twice\.cuh\. Gate against a revision"):
        candidate_of(kept, tmp_path)


def test_include_folders_are_kept_relative_to_the_source(tmp_path: Path) -> None:
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "twice.cuh").write_text(HEADER)
    declared = replace(scale_in(tmp_path, INCLUDING), include=(tmp_path / "csrc",))
    kept = version_of(declared, declared.start())
    assert kept.include == ("csrc",)
    (tmp_path / "csrc" / "twice.cuh").unlink()
    elsewhere = candidate_of(kept, tmp_path / "elsewhere")
    assert elsewhere.headers == {"csrc/twice.cuh": HEADER}


def test_a_case_stands_on_what_was_recorded_of_it_alone(tmp_path: Path) -> None:
    declared = scale_in(tmp_path)
    baseline = baseline_of(seen(declared, SMALL, 2_000))
    (found,) = _incumbents(baseline, declared, SMALL)
    assert (found.name, found.why_not, found.machine) == ("baseline", "", H200)
    assert found.candidate is not None
    assert found.candidate.source == SOURCE
    assert found.recorded[SMALL].median_ns == 2_000
    assert _incumbents(baseline, declared, LARGE) == ()
    assert incumbents(None, declared, SMALL, declared.cases[0]) == ()


def test_the_anchor_comes_after_the_baseline(tmp_path: Path) -> None:
    first = seen(scale_in(tmp_path), SMALL, 2_000)
    declared = scale_in(tmp_path, version(1))
    baseline = baseline_of(first, seen(declared, SMALL, 2_020, [gated("baseline", "unsure")]))
    found = _incumbents(baseline, declared, SMALL)
    assert [(one.name, one.recorded[SMALL].median_ns) for one in found] == [
        ("baseline", 2_020),
        ("anchor", 2_000),
    ]
    assert [one.candidate.source for one in found if one.candidate] == [version(1), SOURCE]


def test_a_case_with_other_sizes_under_its_name_has_no_record(tmp_path: Path) -> None:
    declared = scale_in(tmp_path)
    baseline = baseline_of(seen(declared, SMALL, 2_000))
    assert incumbents(baseline, declared, SMALL, case(n=51)) != ()
    assert incumbents(baseline, declared, SMALL, case(n=52)) == ()
    assert incumbents(baseline, declared, SMALL, case(n=51, seed=7)) == ()
    assert why_no_incumbent(baseline, SMALL) == "its sizes or inputs have changed since it was recorded"
    assert why_no_incumbent(baseline, LARGE) == why_no_incumbent(None, SMALL) == "nothing is recorded of it"


def test_a_changed_signature_cannot_be_rebuilt_and_says_so(tmp_path: Path) -> None:
    declared = scale_in(tmp_path)
    baseline = baseline_of(seen(declared, SMALL, 2_000))
    (found,) = _incumbents(baseline, replace(declared, entry="scaled"), SMALL)
    assert found.candidate is None
    assert found.why_not == (
        "its signature was scale(in f32[1], out f32[1], i32), and is scaled(in f32[1], out f32[1], i32)"
    )


def test_a_launch_rule_nobody_can_read_is_why_a_version_cannot_be_rebuilt(tmp_path: Path) -> None:
    declared = scale_in(tmp_path)
    baseline = baseline_of(seen(declared, SMALL, 2_000))
    odd = replace(baseline.versions[0], launch=("@launch grid=(n) threads=(4)",))
    (found,) = _incumbents(replace(baseline, versions=(odd,)), declared, SMALL)
    assert found.candidate is None
    assert "threads=" in found.why_not


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(0, 0), (41_234.0, 41_200), (999.6, 1000), (1.0049, 1.0), (0.012345, 0.0123), (123456.0, 123_000)],
)
def test_medians_have_three_digits(value: float, rounded: float) -> None:
    assert three_digits(value) == rounded


def _declared(**changes: object) -> Kernel:
    @kernel("scale.cu", cases=[case(n=8)], entry="ns::scale")
    def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32, a=Scalar(f32, 0.5)):
        y[...] = a * x

    return replace(scale, **changes)


def test_names_of_parameters_are_no_part_of_the_signature_but_all_else_is() -> None:
    usual = _declared()
    first, *others = usual.parameters
    assert signature_of(usual) == "ns::scale(in f32[1], out f32[1], i32, f32)"
    assert signature_of(replace(usual, parameters=(replace(first, name="z"), *others))) == signature_of(usual)
    for changed in (replace(first, dtype=f16), replace(first, shape=()), replace(first, symbol="taps")):
        assert signature_of(replace(usual, parameters=(changed, *others))) != signature_of(usual)
    assert signature_of(replace(usual, types=(("T", (f16, f32)),))) == (
        "ns::scale(in f32[1], out f32[1], i32, f32) with T=f16|f32"
    )


def test_members_of_structs_are_named_in_the_signature() -> None:
    @kernel("scale.cu", cases=[case(n=8)])
    def scale(p=Struct("Params", q=InOut(f32, "n"), n=i32), *, q, n):
        q[...] = 2 * q

    assert signature_of(scale) == "scale(Params.q inout f32[1], Params.n i32)"


def _ones(rng, sizes, drawn):
    return rng.random(sizes["n"], dtype="f4")


@pytest.mark.parametrize("values", [uniform(0, 1), uniform(0, "n"), _ones, lambda rng, sizes, drawn: None])
def test_other_inputs_are_another_case(values: object) -> None:
    usual = _declared()

    @kernel("scale.cu", cases=[case(n=8)], entry="ns::scale")
    def scale(x=In(f32, "n", values=values), y=Out(f32, "n"), n=i32, a=Scalar(f32, 0.5)):
        y[...] = a * x

    one = usual.cases[0]
    assert facts_of(scale, one) == facts_of(scale, one)
    assert facts_of(scale, one).inputs != facts_of(usual, one).inputs
    assert facts_of(scale, one).sizes == facts_of(usual, one).sizes == {"n": 8}


def _scaled(rng, sizes, drawn, *, by=1.0):
    return by * rng.random(sizes["n"], dtype="f4")


def _up_to(most):
    def made(rng, sizes, drawn):
        return rng.uniform(0, most, sizes["n"]).astype("f4")

    return made


def _defaulting_to(most):
    def made(rng, sizes, drawn, most=most):
        return rng.uniform(0, most, sizes["n"]).astype("f4")

    return made


class _Generator:
    def __init__(self, most):
        self.most = most

    def __call__(self, rng, sizes, drawn):
        return rng.uniform(0, self.most, sizes["n"]).astype("f4")

    def again(self, rng, sizes, drawn):
        return self(rng, sizes, drawn)


class _Slotted:
    __slots__ = ("most",)

    def __init__(self, most):
        self.most = most

    __call__ = _Generator.__call__


class _Plain:
    def __init__(self, most):
        self.most = most


def _counting(values):
    def made(rng, sizes, drawn):
        return made if values is None else values

    return made


def _inputs(values: object) -> str:
    @kernel("scale.cu", cases=[case(n=8)], entry="ns::scale")
    def scale(x=In(f32, "n", values=values), y=Out(f32, "n"), n=i32):
        y[...] = x

    return facts_of(scale, scale.cases[0]).inputs


@pytest.mark.parametrize(
    ("make", "one", "other"),
    [
        (lambda by: partial(_scaled, by=by), 1.0, 2.0),
        (lambda by: partial(_up_to(by)), 1.0, 2.0),
        (_up_to, 1.0, 2.0),
        (_up_to, {"a": [1]}, {"a": [2]}),
        (lambda most: _up_to(_Plain(most)), 1.0, 2.0),
        (lambda most: _up_to(_up_to(most)), 1.0, 2.0),
        # Their texts are the same: numpy leaves elements out.
        (lambda at: _counting(np.eye(1, 5000, at)), 2000, 3000),
        (_defaulting_to, 1.0, 2.0),
        (_Generator, 1.0, 2.0),
        (lambda most: _Generator(most).again, 1.0, 2.0),
        (_Slotted, 1.0, 2.0),
        (_up_to, np.sin, np.cos),
    ],
)
def test_generators_made_with_other_values_give_other_inputs(
    make: Callable[[object], object], one: object, other: object
) -> None:
    assert _inputs(make(one)) == _inputs(make(one))
    assert _inputs(make(one)) != _inputs(make(other))


def test_a_generator_that_mentions_itself_has_inputs() -> None:
    assert _inputs(_counting(None)) == _inputs(_counting(None))


def test_what_is_written_of_a_plain_function_is_its_source() -> None:
    assert _written(_ones) == inspect.getsource(_ones)


def test_no_address_is_written() -> None:
    assert " at 0x" not in _written(_up_to(np.random.default_rng(1)))


def _incumbents(baseline, declared, case_id):
    cases = dict(zip(declared.case_ids, declared.cases, strict=True))
    return incumbents(baseline, declared, case_id, cases[case_id])
