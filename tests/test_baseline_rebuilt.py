"""A baseline is rebuilt from its files alone, whatever became of the kernel's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from made_up_baselines import SIM, SMALL, SOURCE, scale_in, seen

from pytest_cudaopt.baseline import incumbents
from pytest_cudaopt.baseline_files import read, record
from pytest_cudaopt.baseline_update import Mode
from pytest_cudaopt.compile import Compiled, compile_candidate, source_module
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget, Plan, Stage
from pytest_cudaopt.pipeline import evaluate

SHARED = """\
#pragma once
#include "deep/inner.cuh"
#include <cstdint>
template <class T> __device__ T twice(T x) { return FACTOR * x; }
"""
INNER = "#define FACTOR 2.0f\n"
IN_A_REGION = f"""\
// @cudaopt begin other
__global__ void other() {{}}
// @cudaopt end
// @cudaopt begin scale
#include "shared.cuh"
{SOURCE.replace("2.0f * x[i]", "twice(x[i])")}// @cudaopt end
"""


def test_a_baseline_compiles_and_runs_after_all_its_files_have_changed(tmp_path: Path, sim: Device) -> None:
    (tmp_path / "csrc" / "deep").mkdir(parents=True)
    (tmp_path / "csrc" / "shared.cuh").write_text(SHARED)
    (tmp_path / "csrc" / "deep" / "inner.cuh").write_text(INNER)
    declared = replace(
        scale_in(tmp_path, IN_A_REGION), include=(tmp_path / "csrc",), defines=(("UNUSED", "1"),)
    )
    module = source_module(declared, declared.start(), sim)
    record(tmp_path / "test_scale.py", "scale", seen(declared, SMALL, 2_000, machine=SIM), Mode.UPDATE)

    (tmp_path / "csrc" / "shared.cuh").write_text("#error another\n")
    (tmp_path / "csrc" / "deep" / "inner.cuh").unlink()
    declared = replace(scale_in(tmp_path, SOURCE.replace("2.0f", "3.0f")), defines=())
    baseline = read(tmp_path / "test_scale.py", "scale", SIM.device)
    (found,) = incumbents(baseline, declared, SMALL, declared.cases[0])

    assert found.candidate is not None
    assert source_module(declared, found.candidate, sim) == module
    assert isinstance(compile_candidate(declared, found.candidate, sim, Budget()), Compiled)
    plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.MEASURE), declared.cases)
    assert evaluate(declared, found.candidate, plan, sim).accepted
    assert not evaluate(declared, declared.start(), plan, sim).accepted


def test_headers_too_large_to_keep_are_read_where_they_are(tmp_path: Path, sim: Device) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "shared.cuh").write_text(SHARED + "//\n" * 100_000)
    (tmp_path / "deep" / "inner.cuh").write_text(INNER)
    declared = scale_in(tmp_path, IN_A_REGION)
    record(tmp_path / "test_scale.py", "scale", seen(declared, SMALL, 2_000, machine=SIM), Mode.UPDATE)
    baseline = read(tmp_path / "test_scale.py", "scale", SIM.device)
    (found,) = incumbents(baseline, declared, SMALL, declared.cases[0])
    assert found.candidate is not None
    assert source_module(declared, found.candidate, sim) == source_module(declared, declared.start(), sim)
    assert sum(path.stat().st_size for path in (tmp_path / "__baselines__").iterdir()) < 5_000
    (tmp_path / "deep" / "inner.cuh").write_text("#define FACTOR 3.0f\n")
    (found,) = incumbents(baseline, declared, SMALL, declared.cases[0])
    assert found.candidate is None
    assert "others: deep/inner.cuh" in found.why_not
