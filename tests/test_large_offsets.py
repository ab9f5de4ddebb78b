"""Offsets beyond 2^31 elements: found where they are computed in 32 bits, in the memory of a few tiles."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_tiled import resident_bytes

from pytest_cudaopt import In, Out, case, f32, i32, i64, indices, integers, kernel, offsets, sorted_
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.case_request import base_request
from pytest_cudaopt.certificate import certificate_of
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget, CaseOutcome, Evaluation, Plan, Stage, Status, Tried
from pytest_cudaopt.large_offsets import large_case
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.properties import Property
from pytest_cudaopt.replay import write_outputs, write_replay
from pytest_cudaopt.tiled import LARGE, TILE_ELEMENTS, can_tile
from pytest_cudaopt.values import ValueSource

pytestmark = pytest.mark.skipif(not can_tile(), reason="Linux only")

FAULTY = Path(__file__).parent / "zoo" / "faulty" / "gather"
ALL_BUT_THIS = [str(one) for one in Property if one is not Property.LARGE_OFFSETS]
GATHER = """// @launch grid=(n) block=(64)
extern "C" __global__ void gather(const float* table, const int* idx, float* out, int v, int d, int n) {
    const float* row = table + (long long)idx[blockIdx.x] * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) out[(long long)blockIdx.x * d + i] = row[i];
}
"""
WIDE, NARROW = "(long long)idx[blockIdx.x] * d;", "(int)(idx[blockIdx.x] * (unsigned)d);"
UNSIGNED = "(unsigned)idx[blockIdx.x] * 128u % (1u << 31);"
MOST_BYTES = 500 << 20
IN_TABLE = indices("v")
Judge = Callable[..., Evaluation]


def gathering(
    folder: Path, source: str = GATHER, *, places: ValueSource = IN_TABLE, **declared: Any
) -> Kernel:
    (folder / "gather.cu").write_text(source)
    declared = {"cases": [case(v=1000, d=64, n=256), case(v=512, d=128, n=100)]} | declared

    @kernel(str(folder / "gather.cu"), rtol=0.0, atol=0.0, **declared)
    def gather(
        table=In(f32, "v", "d"),
        idx=In(i32, "n", values=places),
        out=Out(f32, "n", "d"),
        v=i32,
        d=i32,
        n=i32,
    ):
        out[...] = table[idx]

    return gather


def corpus_gather() -> Kernel:
    @kernel(
        str(FAULTY / "correct.cu"),
        launch="grid=(max(1, N)) block=(128)",
        cases=[case(V=1000, D=64, N=256), case(V=512, D=128, N=100)],
        rtol=0.0,
        atol=0.0,
    )
    def gather(
        table=In(f32, "V", "D"),
        idx=In(i32, "N", values=integers(0, "V - 1")),
        out=Out(f32, "N", "D"),
        V=i32,
        D=i32,
        N=i32,
    ):
        out[...] = table[idx]

    return gather


@pytest.fixture
def judge(sim: Device) -> Judge:
    def judged(made: Kernel, candidate: Candidate | None = None, seed: int = 7) -> Evaluation:
        stages = (Stage.COMPILE, Stage.CONTRACT)
        plan = Plan(stages, made.cases, fuzz_seed=seed, witness=made.start(), stop_at_first=True)
        return evaluate(made, candidate or made.start(), plan, sim)

    return judged


def edited(made: Kernel, old: str, new: str) -> Candidate:
    source = made.read_source()
    assert old in source
    return made.candidate(source.replace(old, new), Path("candidate.cu"))


def lost(evaluation: Evaluation) -> CaseOutcome | None:
    return next((one for one in evaluation.outcomes if one.lost is Property.LARGE_OFFSETS), None)


def tried(evaluation: Evaluation) -> Tried:
    (one,) = [one for one in evaluation.tried if one.property is Property.LARGE_OFFSETS]
    return one


def test_an_offset_in_32_bits_is_found_by_default_with_a_friendly_declaration(judge: Judge) -> None:
    made, path = corpus_gather(), FAULTY / "bug_offset_int32.cu"
    evaluation = judge(made, made.candidate(path.read_text(), path))

    failed = lost(evaluation)
    assert failed is not None
    assert evaluation.status is Status.FAULT
    assert failed.case.by_name["V"] * failed.case.by_name["D"] > LARGE
    assert (failed.case.by_name["D"], failed.case.by_name["N"]) == (128, 100)


def test_the_right_kernel_is_silent_and_its_certificate_says_so(judge: Judge) -> None:
    evaluation = judge(corpus_gather())

    assert evaluation.accepted
    assert tried(evaluation).judged == 1
    assert not any("2^31" in one for one in certificate_of(evaluation).not_checked)


@pytest.mark.parametrize("seed", range(5))
def test_a_right_kernel_of_another_shape_is_silent_with_any_seed(
    judge: Judge, tmp_path: Path, seed: int
) -> None:
    made = gathering(tmp_path, ignored=ALL_BUT_THIS)
    reversed_ = "for (int i = d - 1 - (int)threadIdx.x; i >= 0; i -= (int)blockDim.x)"
    other = edited(made, "for (int i = threadIdx.x; i < d; i += blockDim.x)", reversed_)
    evaluation = judge(made, other, seed)

    assert evaluation.accepted
    assert tried(evaluation).judged == 1


@pytest.mark.parametrize(("wrong", "status"), [(NARROW, Status.FAULT), (UNSIGNED, Status.LOST_PROPERTY)])
def test_an_offset_that_wraps_is_found_whether_it_leaves_the_array_or_not(
    judge: Judge, tmp_path: Path, wrong: str, status: Status
) -> None:
    made = gathering(tmp_path, ignored=ALL_BUT_THIS)
    evaluation = judge(made, edited(made, WIDE, wrong))

    assert lost(evaluation) is not None
    assert evaluation.status is status


def test_the_failing_case_can_be_declared_and_fails_there(judge: Judge, tmp_path: Path, sim: Device) -> None:
    made = gathering(tmp_path, ignored=ALL_BUT_THIS)
    failed = lost(judge(made, edited(made, WIDE, NARROW)))
    assert failed is not None
    shown = str(failed.case)
    pasted = gathering(tmp_path, cases=[eval(shown, {"case": case})])  # noqa: S307 - our own text
    plan = Plan((Stage.COMPILE, Stage.CHECK), pasted.cases)

    assert "values='ends'" in shown
    assert evaluate(pasted, pasted.start(), plan, sim).accepted
    assert evaluate(pasted, edited(pasted, WIDE, NARROW), plan, sim).status is Status.FAULT


def test_all_stages_judge_such_a_case_where_it_is_declared(tmp_path: Path, sim: Device) -> None:
    made = gathering(tmp_path, cases=[case(v=LARGE // 64 + 1000, d=64, n=20, measure=True)])
    stages = (Stage.COMPILE, Stage.CHECK, Stage.PROBE, Stage.SANITIZE, Stage.MEASURE)
    plan = Plan(stages, made.cases, rounding=True, witness=made.start(), fuzz_seed=1)

    evaluation = evaluate(made, made.start(), plan, sim)
    assert evaluation.accepted, evaluation.reason


def test_such_a_case_is_replayed_from_its_tile(tmp_path: Path, sim: Device) -> None:
    made = gathering(tmp_path, cases=[case(v=LARGE // 64 + 1000, d=64, n=20)])
    folder, inputs = tmp_path / "replay", tmp_path / "inputs"
    path = write_replay(made, made.start(), made.cases[0], "large", sim, folder, Budget(), inputs)
    assert path is not None
    write_outputs(path, sim)

    written = np.fromfile(folder / "large.replay-out.bin", np.float32).reshape(20, 64)
    arguments = bind(made, made.cases[0])
    assert np.array_equal(written, arguments.arrays["table"][arguments.arrays["idx"]])
    assert (inputs / "large" / "table.bin").stat().st_size == 4 * TILE_ELEMENTS


def test_a_large_buffer_names_its_tile_and_others_their_contents(tmp_path: Path, sim: Device) -> None:
    made = gathering(tmp_path, cases=[case(v=LARGE // 64 + 1000, d=64, n=20)])
    compiled = compile_candidate(made, made.start(), sim, Budget(), made.cases)
    assert isinstance(compiled, Compiled)
    request = base_request(prepare(made, made.cases[0], sim), compiled, "check", sim, Budget())

    table, idx, _ = request.buffers
    assert table.bytes == 4 * (LARGE + 64_000)
    assert (table.initial_file, idx.tile_file) == (None, None)
    assert table.tile_file is not None
    assert idx.initial_file is not None


def test_processes_stay_small(judge: Judge, tmp_path: Path, sim: Device) -> None:
    made = gathering(tmp_path, ignored=ALL_BUT_THIS)
    before = resident_bytes()

    assert tried(judge(made)).judged == 1
    assert resident_bytes() < before + (200 << 20)
    assert resident_bytes(str(sim.harness.pid)) < MOST_BYTES


def test_the_table_holds_ordinary_values_and_indices_lie_at_the_ends(tmp_path: Path, sim: Device) -> None:
    made = gathering(tmp_path)
    large = large_case(made, made.start(), seed=3).case
    assert large is not None
    prepared = prepare(made, large, sim)
    table, idx = (prepared.arguments.arrays[name] for name in ("table", "idx"))

    assert table.size > LARGE
    assert len(np.unique(table.reshape(-1)[:1000])) > 900
    assert (idx.astype(np.int64) * 128 >= LARGE).sum() > 30
    assert prepared.files["table"].stat().st_size == 4 * TILE_ELEMENTS


def test_the_same_case_gives_the_same_bytes(tmp_path: Path) -> None:
    made = gathering(tmp_path)
    large = case(v=LARGE // 64 + 1, d=64, n=20)
    first, second = (bind(made, large) for _ in range(2))

    assert np.array_equal(first.tiles["table"], second.tiles["table"])
    assert np.array_equal(first.arrays["idx"], second.arrays["idx"])


def test_a_start_that_wraps_binds_nobody(judge: Judge, tmp_path: Path) -> None:
    made = gathering(tmp_path, GATHER.replace(WIDE, NARROW), ignored=ALL_BUT_THIS)
    evaluation = judge(made)

    assert evaluation.accepted
    assert tried(evaluation).judged == 0
    assert "the starting kernel fails there" in tried(evaluation).why


def test_a_kernel_that_ignores_the_property_may_lose_it(judge: Judge, tmp_path: Path) -> None:
    made = gathering(tmp_path, ignored=[str(one) for one in Property])
    evaluation = judge(made, edited(made, WIDE, NARROW))

    assert evaluation.accepted


def test_a_start_that_looks_at_every_row_is_not_waited_for(judge: Judge, tmp_path: Path) -> None:
    source = GATHER.replace(
        "for (int i = t", "for (int k = 0; k < v; ++k) if (k == -1) out[0] = k;\n    for (int i = t"
    )
    source = source.replace("k == -1", "idx[k % n] == -1")
    evaluation = judge(gathering(tmp_path, source, ignored=ALL_BUT_THIS))

    assert tried(evaluation).judged == 0
    assert "timeout" in tried(evaluation).why or "instructions" in tried(evaluation).why


def test_a_reference_that_copies_the_whole_array_is_stopped(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "gather.cu").write_text(GATHER)

    @kernel(str(tmp_path / "gather.cu"), cases=[case(v=100, d=64, n=20)], ignored=ALL_BUT_THIS)
    def gather(
        table=In(f32, "v", "d"),
        idx=In(i32, "n", values=indices("v")),
        out=Out(f32, "n", "d"),
        v=i32,
        d=i32,
        n=i32,
    ):
        out[...] = (table * 1.0)[idx]

    evaluation = judge(gather)
    assert evaluation.accepted
    assert "MemoryError" in tried(evaluation).why


def skipped(made: Kernel) -> str:
    large = large_case(made, made.start(), seed=1)
    assert large.case is None
    return large.why


def test_a_kernel_without_indices_is_skipped_with_the_reason(judge: Judge, tmp_path: Path) -> None:
    source = """// @launch grid=(1) block=(32)
extern "C" __global__ void sum(const float* x, float* y, int n) { if (threadIdx.x == 0) y[0] = x[0]; }
"""
    (tmp_path / "sum.cu").write_text(source)

    @kernel(str(tmp_path / "sum.cu"), cases=[case(n=100)], ignored=ALL_BUT_THIS)
    def sum(x=In(f32, "n"), y=Out(f32, 1), n=i32):
        y[0] = x[0]

    why = "no array of indices says which elements of 'x' are used"
    assert skipped(sum) == why
    evaluation = judge(sum)
    one = tried(evaluation)
    assert (one.judged, one.discarded, one.why) == (0, 0, why)
    certificate = certificate_of(evaluation)
    assert f"arrays of more than 2^31 elements: {why}" in certificate.not_checked
    assert f"  contract: right at offsets beyond 2^31 elements: 0 trials ({why})" in certificate.lines


def test_offsets_of_segments_name_every_element_and_are_no_indices(tmp_path: Path) -> None:
    (tmp_path / "sums.cu").write_text('extern "C" __global__ void sums() {}')

    @kernel(str(tmp_path / "sums.cu"), launch="grid=(n) block=(32)", cases=[case(n=4, total=100)])
    def sums(
        x=In(f32, "total"),
        ends=In(i64, "n + 1", values=offsets("total")),
        y=Out(f32, "n"),
        n=i32,
        total=i32,
    ):
        y[...] = [x[a:b].sum() for a, b in pairwise(ends)]

    assert skipped(sums) == "no array of indices says which elements of 'x' are used"


@pytest.mark.parametrize(
    ("places", "n"), [(sorted_(indices("v")), 100), (indices("v", unique=True), 100), (indices("v"), 7)]
)
def test_where_indices_need_not_lie_at_the_end_the_array_is_twice_as_large(
    tmp_path: Path, places: ValueSource, n: int
) -> None:
    made = gathering(tmp_path, places=places, cases=[case(v=1000, d=64, n=n)])
    large = large_case(made, made.start(), seed=1).case

    assert large is not None
    assert large.by_name["v"] * 64 >= 2 * LARGE
    assert int(bind(made, large).arrays["idx"].max()) * 64 > LARGE


def test_a_kernel_whose_inputs_grow_with_its_outputs_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "copy.cu").write_text('extern "C" __global__ void copy(const float* x, float* y, int n) {}')

    @kernel(str(tmp_path / "copy.cu"), launch="grid=(1) block=(32)", cases=[case(n=100)])
    def copy(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    assert skipped(copy) == "no input has a size of its own that could grow that far"


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({"domain": {"v": (1, 5000)}}, "the contract keeps 'table' smaller"),
        ({"where": ["v <= 1000"]}, "the contract keeps 'table' smaller"),
        ({"cases": [case(v=9, d=1, n=2)]}, "the contract keeps 'table' smaller"),
        ({"launch": "grid=(n) block=(64) shared=(4 * min(v, 9000))"}, "the launch would grow with the array"),
    ],
)
def test_what_cannot_grow_that_far_is_skipped(tmp_path: Path, declared: dict[str, Any], why: str) -> None:
    source = GATHER.partition("\n")[2] if "launch" in declared else GATHER
    assert skipped(gathering(tmp_path, source, **declared)) == why


def test_conditions_between_sizes_are_kept(tmp_path: Path) -> None:
    made = gathering(tmp_path, cases=[case(v=1010, d=62, n=10)], where=["v % 10 == 0"])
    large = large_case(made, made.start(), seed=1).case

    assert large is not None
    assert large.by_name["v"] % 10 == 0
    assert large.by_name["v"] * 62 > LARGE


def test_a_second_table_that_grows_along_is_tiled_too(tmp_path: Path) -> None:
    (tmp_path / "two.cu").write_text('extern "C" __global__ void two() {}')

    @kernel(str(tmp_path / "two.cu"), launch="grid=(n) block=(32)", cases=[case(v=100, d=64, n=4)])
    def two(
        keys=In(f32, "v", "d"),
        scales=In(f32, "v", "2 * d"),
        idx=In(i64, "n", values=indices("v", unique=True)),
        out=Out(f32, "n", "d"),
        v=i32,
        d=i32,
        n=i32,
    ):
        out[...] = keys[idx]

    large = large_case(two, two.start(), seed=1).case
    assert large is not None
    assert large.values is None
    assert set(bind(two, large).tiles) == {"keys", "scales"}


def test_an_array_beside_it_that_would_be_large_too_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "two.cu").write_text('extern "C" __global__ void two() {}')

    @kernel(str(tmp_path / "two.cu"), launch="grid=(n) block=(32)", cases=[case(v=100, d=64, n=40)])
    def two(
        keys=In(f32, "v", "d"),
        norms=In(f32, "v"),
        idx=In(i32, "n", values=indices("v")),
        out=Out(f32, "n", "d"),
        v=i32,
        d=i32,
        n=i32,
    ):
        out[...] = keys[idx]

    assert skipped(two) == "'norms' would have 34603008 elements"
