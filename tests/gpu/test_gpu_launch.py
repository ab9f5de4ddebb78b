"""Clusters, cooperative grids and much shared memory on silicon: right, measured, and refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_kernels import PATIENT
from launched_kernels import MIRROR, NEIGHBOURS, mirror, neighbours, reverse

from pytest_cudaopt import case
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.interleave import Interleaved, interleave
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.run import configure

pytestmark = pytest.mark.gpu
DECLARED = (neighbours, mirror, reverse)


def check(kernel: Kernel, device: Device, *more: Stage) -> Evaluation:
    plan = Plan((Stage.COMPILE, Stage.CHECK, *more), kernel.cases, budget=PATIENT)
    return evaluate(kernel, kernel.start(), plan, device)


@pytest.mark.parametrize("declare", DECLARED, ids=lambda declare: declare.__name__)
def test_a_launch_with_attributes_is_right_and_measured(declare, tmp_path: Path, cuda: Device) -> None:
    evaluation = check(declare(tmp_path), cuda, Stage.MEASURE)
    assert evaluation.accepted, evaluation.reason
    assert len(evaluation.latencies) == 1


@pytest.mark.parametrize("declare", [neighbours, mirror], ids=lambda declare: declare.__name__)
def test_attributes_are_captured_in_graphs(declare, tmp_path: Path, cuda: Device) -> None:
    (latency,) = check(declare(tmp_path), cuda, Stage.MEASURE).latencies.values()
    assert latency.batch is not None, latency.batch_refused
    assert latency.batch.launches > 1


@pytest.mark.parametrize("declare", DECLARED, ids=lambda declare: declare.__name__)
def test_launches_with_attributes_are_timed_side_by_side(declare, tmp_path: Path, cuda: Device) -> None:
    kernel = declare(tmp_path)
    compiled = compile_candidate(kernel, kernel.start(), cuda, PATIENT)
    assert isinstance(compiled, Compiled)
    prepared = prepare(kernel, kernel.cases[-1], cuda)
    launch = configure(kernel.start(), prepared, compiled, cuda)
    assert isinstance(launch, LaunchConfiguration)
    timed = interleave(prepared, [(compiled, launch)] * 2, cuda, PATIENT, blocks=4, launches=5)
    assert isinstance(timed, Interleaved), timed


def test_the_largest_cooperative_grid_runs_and_one_more_block_is_refused(
    tmp_path: Path, cuda: Device
) -> None:
    source = MIRROR.replace("BLOCK = 64, 128", "BLOCK = 1024")
    most = 2 * cuda.limits.multiprocessors
    evaluation = check(mirror(tmp_path, case(n=1024 * most), source=source), cuda)
    assert evaluation.accepted, evaluation.reason
    evaluation = check(mirror(tmp_path, case(n=1024 * most + 1), source=source), cuda)
    assert evaluation.finding is not None
    assert evaluation.finding.kind is FindingKind.INVALID_LAUNCH
    assert f"{most + 1} blocks, {most} are resident at once" in evaluation.reason


def test_a_kernel_compiled_for_clusters_wants_just_these(tmp_path: Path, cuda: Device) -> None:
    source = NEIGHBOURS.replace("__global__ void", "__global__ void __cluster_dims__(2, 1, 1)")
    evaluation = check(neighbours(tmp_path, source=source), cuda)
    assert evaluation.accepted, evaluation.reason
    evaluation = check(neighbours(tmp_path, source=source.replace("cluster=(2)", "cluster=(4)")), cuda)
    assert "the kernel is compiled for clusters of (2,1,1)" in evaluation.reason
    evaluation = check(neighbours(tmp_path, source=source.replace(" cluster=(2)", "")), cuda)
    assert "Launch it with cluster=(2,1,1)" in evaluation.reason


def test_clusters_of_eight_run(tmp_path: Path, cuda: Device) -> None:
    evaluation = check(neighbours(tmp_path, source=NEIGHBOURS.replace("cluster=(2)", "cluster=(8)")), cuda)
    assert evaluation.accepted, evaluation.reason
