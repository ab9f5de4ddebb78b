"""Digests of small outputs, in the form they are kept in under `golden/`.

A file holds what one GPU gave for one kernel: {"kernel", "device", "candidate": digest of source and
launch, "cases": {"case(n=1)": {"inputs": sha256, "outputs": {"y": sha256}}}}.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.run import configure, run

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"
EXAMPLES = TESTS.parent / "example_kernels"
WRITE_VARIABLE = "CUDAOPT_WRITE_GOLDEN"
HOW_TO_WRITE = f"{WRITE_VARIABLE}=tests/golden/h200 pytest -m gpu tests/gpu/test_gpu_golden.py"


def golden_kernels() -> list[Kernel]:
    """Return the kernels whose bits depend neither on the order in which blocks arrive nor on approximations.

    `ex2.approx` and `rcp.approx` are specified by their error alone, which leaves softmax out.
    """
    sys.path.insert(0, str(TESTS / "gpu"))
    from argument_kernels import halves
    from silicon_kernels import right_kernels

    examples = [load_kernel(f"{EXAMPLES / f'test_{n}.py'}::{n}") for n in ("saxpy", "sgemm")]
    return [*examples, *right_kernels(), halves]


def digests(kernel: Kernel, device: Device) -> dict[str, Any]:
    """Run the kernel as it is at its unmeasured cases; return the contents of its golden file."""
    candidate = kernel.start()
    compiled = compile_candidate(kernel, candidate, device, Budget())
    assert not isinstance(compiled, CompileFailure), compiled
    cases: dict[str, Any] = {}
    for case in small_cases(kernel):
        prepared = prepare(kernel, case, device)
        launch = configure(candidate, prepared, compiled, device)
        assert not isinstance(launch, Finding), launch
        result = run(prepared, compiled, launch, device, Budget())
        assert result.outputs is not None, result.fault
        outputs = {name: sha256(array) for name, array in result.outputs.items()}
        cases[str(case)] = {"inputs": inputs_sha256(prepared), "outputs": outputs}
    return {
        "kernel": kernel.name,
        "device": device.description,
        "candidate": candidate.digest,
        "cases": cases,
    }


def differences(golden: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Say at which cases outputs differ, and where the comparison means nothing any more."""
    again = f"write it again on a GPU: {HOW_TO_WRITE}"
    if golden["candidate"] != now["candidate"]:
        return [f"{golden['kernel']}: the kernel is not the one silicon ran; {again}"]
    found = []
    for case, expected in golden["cases"].items():
        got = now["cases"].get(case)
        if got is None or got["inputs"] != expected["inputs"]:
            found.append(f"{golden['kernel']} at {case}: other inputs than silicon had; {again}")
            continue
        found += [
            f"{golden['kernel']} at {case}: '{name}' has other bits than on {golden['device']}"
            for name, digest in expected["outputs"].items()
            if got["outputs"].get(name) != digest
        ]
    return found


def write(contents: Mapping[str, Any], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{contents['kernel']}.json"
    path.write_text(json.dumps(contents, indent=2, sort_keys=True) + "\n")
    return path


def small_cases(kernel: Kernel) -> list[Case]:
    return [case for case in kernel.cases if not case.measure]


def sha256(array: np.ndarray) -> str:
    """Digest the bits, with one NaN for all: which one silicon answers depends on the instructions chosen."""
    if np.issubdtype(array.dtype, np.floating):
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def inputs_sha256(prepared: PreparedCase) -> str:
    """Digest what the kernel is given, so that a changed generator is not taken for a changed result."""
    parts = [sha256(array) for array in prepared.arguments.arrays.values()]
    parts += [str(scalar) for scalar in prepared.arguments.scalars.values()]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()
