"""Clusters, cooperative grids and much shared memory on the simulator, from the source to the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from launched_kernels import MIRROR, NEIGHBOURS, mirror, neighbours, reverse

from pytest_cudaopt import case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget, Evaluation, Plan, Stage, Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.optimize import describe
from pytest_cudaopt.pipeline import evaluate

BUDGET = Budget(timeout_s=60.0, block_instructions=1_000_000)


def check(kernel: Kernel, device: Device, *more: Stage) -> Evaluation:
    plan = Plan((Stage.COMPILE, Stage.CHECK, *more), kernel.cases, budget=BUDGET)
    return evaluate(kernel, kernel.start(), plan, device)


def test_a_grid_that_waits_for_itself_is_executed(tmp_path: Path, sim: Device) -> None:
    evaluation = check(mirror(tmp_path), sim)
    assert evaluation.accepted, evaluation.reason
    assert [str(outcome.launch) for outcome in evaluation.outcomes] == [
        "grid=1 block=64 cooperative",
        "grid=16 block=64 cooperative",
    ]


def test_its_latency_is_not_modelled_and_says_where_to_run(tmp_path: Path, sim: Device) -> None:
    evaluation = check(mirror(tmp_path), sim, Stage.MEASURE)
    assert evaluation.status is Status.NOT_JUDGED
    assert "run on cuda" in evaluation.reason


def test_without_cooperative_the_kernel_traps_as_on_a_gpu(tmp_path: Path, sim: Device) -> None:
    evaluation = check(mirror(tmp_path, source=MIRROR.replace(" cooperative\n", "\n", 1)), sim)
    assert evaluation.finding is not None
    assert evaluation.finding.kind is FindingKind.TRAP
    assert "add 'cooperative' to @launch" in evaluation.reason


def test_a_grid_that_does_not_fit_the_gpu_is_refused_with_the_numbers(tmp_path: Path, sim: Device) -> None:
    evaluation = check(mirror(tmp_path, case(n=64 * 132 * 32 + 1)), sim)
    assert evaluation.finding is not None
    assert evaluation.finding.kind is FindingKind.INVALID_LAUNCH
    assert "a cooperative launch of 4225 blocks, 4224 are resident at once" in evaluation.reason


def test_blocks_that_read_each_others_shared_memory_are_left_to_a_gpu(tmp_path: Path, sim: Device) -> None:
    evaluation = check(neighbours(tmp_path), sim)
    assert evaluation.status is Status.NOT_JUDGED
    assert "neighbours.cu:" in evaluation.reason
    assert "cluster" in evaluation.reason


def test_clusters_that_do_not_divide_the_grid_are_the_rules_fault(tmp_path: Path, sim: Device) -> None:
    source = NEIGHBOURS.replace("cluster=(2)", "cluster=(4)")
    evaluation = check(neighbours(tmp_path, case(n=768), source=source), sim)
    assert evaluation.finding is not None
    assert evaluation.finding.kind is FindingKind.INVALID_LAUNCH
    assert (
        "cluster=(4): expected a divisor of the grid in each dimension, got 4 for grid=6" in evaluation.reason
    )


def test_a_kernel_compiled_for_clusters_wants_them_launched(tmp_path: Path, sim: Device) -> None:
    source = NEIGHBOURS.replace("__global__ void", "__global__ void __cluster_dims__(4, 1, 1)")
    evaluation = check(neighbours(tmp_path, source=source), sim)
    assert "the kernel is compiled for clusters of (4,1,1)" in evaluation.reason
    evaluation = check(neighbours(tmp_path, source=source.replace(" cluster=(2)", "")), sim)
    assert "Launch it with cluster=(4,1,1)" in evaluation.reason


def test_shared_memory_beyond_48_kib_needs_no_word(tmp_path: Path, sim: Device) -> None:
    evaluation = check(reverse(tmp_path), sim, Stage.MEASURE)
    assert evaluation.accepted, evaluation.reason
    assert [outcome.launch.shared_bytes for outcome in evaluation.outcomes if outcome.launch] == [100_000]


def test_shared_memory_beyond_the_gpus_is_refused(tmp_path: Path, sim: Device) -> None:
    evaluation = check(reverse(tmp_path, case(n=58_113)), sim)
    assert "232452 bytes of shared memory per block" in evaluation.reason


def test_attributes_are_part_of_a_candidate_its_source_and_its_record(tmp_path: Path) -> None:
    with_them = mirror(tmp_path).start()
    plain = replace(with_them, launch=replace(with_them.launch, cooperative=False))
    clustered = replace(plain, launch=LaunchRule.parse("grid=(1) block=(1) cluster=(1)"))
    assert len({one.digest for one in (with_them, plain, clustered)}) == 3
    line = "@launch grid=(cdiv(n, BLOCK)) block=(BLOCK) cooperative"
    assert f"// {line}\n" in with_them.standalone_source()
    assert describe.candidate(with_them)["launch"] == [line]


def test_a_check_that_sim_cannot_execute_skips_and_says_why(project) -> None:
    project.write("scale.cu", NEIGHBOURS.replace("neighbours", "scale"))
    project.edit(
        "test_scale.py", "case(n=51), case(n=4096, measure=True)", "case(n=256)], where=['n % 256 == 0'"
    )
    result = project.run("-rs", "--cudaopt-device", "sim")
    result.assert_outcomes(skipped=4)
    result.stdout.fnmatch_lines(["SKIPPED*barrier.cluster*"])


def test_the_report_of_a_failure_shows_the_attributes(project) -> None:
    project.edit("scale.cu", "block=(BLOCK)\n", "block=(BLOCK) cooperative\n")
    project.edit("scale.cu", "2.0f", "3.0f")
    result = project.run("--cudaopt-device", "sim")
    result.stdout.fnmatch_lines(["*launched with grid=1 block=64 cooperative*"])


def test_a_misspelt_field_fails_at_its_line_with_what_is_meant(project) -> None:
    project.edit("scale.cu", "block=(BLOCK)", "blocks=(BLOCK)")
    result = project.run("--cudaopt-device", "sim")
    result.stdout.fnmatch_lines(
        ["  got       'blocks='", "  next      Did you mean 'block='?", "  at        scale.cu:1"]
    )


def test_a_tunable_that_nothing_uses_is_not_tuned(project) -> None:
    project.edit("scale.cu", "// @tune BLOCK", "// @tune UNROLL = 1, 2\n// @tune BLOCK")
    project.run("--cudaopt-device", "sim", "-k", "check").assert_outcomes(passed=2, deselected=4)
    result = project.run("--cudaopt-device", "sim", "--optimize", "-k", "optimize")
    result.assert_outcomes(failed=1, deselected=6)
    result.stdout.fnmatch_lines(["SOURCE: @tune UNROLL*", "*one that nothing uses", "*scale.cu:2"])


def test_a_rule_of_the_decorator_may_have_attributes(project) -> None:
    project.edit("scale.cu", "// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)\n", "")
    launch = 'launch="grid=(cdiv(n, BLOCK)) block=(BLOCK) cluster=(1) cooperative", '
    project.edit("test_scale.py", '"scale.cu", ', f'"scale.cu", {launch}')
    project.run("--cudaopt-device", "sim").assert_outcomes(passed=6)
