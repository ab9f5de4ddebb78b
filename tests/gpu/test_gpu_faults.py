"""Every way to fail, named rightly, and harmless to the kernel that is judged next."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from fault_kernels import FAULTS, RIGHT, Fault, ask_for_too_much, complaint, declare, judge

from pytest_cudaopt import case
from pytest_cudaopt.device import Device
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.harness import locate


def is_right_now(device: Device) -> bool:
    return judge(RIGHT, declare(RIGHT, case(n=777), case(n=100_000)), device).accepted


@pytest.mark.gpu
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_on_silicon_is_named_and_the_next_kernel_is_right(fault: Fault, cuda: Device) -> None:
    assert complaint(fault, judge(fault, declare(fault), cuda)) is None
    assert is_right_now(cuda)


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.on_sim], ids=lambda fault: fault.name)
def test_the_simulator_names_the_same_fault(fault: Fault, sim: Device) -> None:
    if fault.kind is FindingKind.TIMEOUT:
        # It proves what a GPU can only wait for.
        fault = replace(fault, kind=FindingKind.NO_PROGRESS)
    assert complaint(fault, judge(fault, declare(fault), sim)) is None


def test_another_ending_than_the_expected_one_is_complained_about(sim: Device) -> None:
    trap = next(fault for fault in FAULTS if fault.entry == "traps")
    evaluation = judge(RIGHT, declare(RIGHT), sim)
    assert complaint(RIGHT, evaluation) is None
    assert complaint(trap, evaluation) is not None


@pytest.mark.gpu
@pytest.mark.parametrize("entry", ["reads_past_the_end", "traps", "is_misaligned"])
def test_a_fault_on_silicon_gets_the_line_the_simulator_finds(entry: str, cuda: Device) -> None:
    fault = next(fault for fault in FAULTS if fault.entry == entry)
    finding = judge(fault, declare(fault), cuda).finding
    assert finding is not None
    assert finding.file == "faults.cu"
    assert finding.line is not None


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 7, 8, 999, 1001, 4000])
def test_an_overrun_by_one_element_is_found_whatever_the_size(n: int, cuda: Device) -> None:
    """Sizes that are no multiple of 32 bytes leave a zone between the array and the unmapped page."""
    fault = next(fault for fault in FAULTS if fault.entry == "writes_past_the_end")
    assert not judge(fault, declare(fault, case(n=n)), cuda).accepted


@pytest.mark.gpu
def test_a_buffer_larger_than_the_gpu_is_out_of_memory_and_says_what_is_needed(cuda: Device) -> None:
    fault = ask_for_too_much(cuda).fault
    assert fault is not None
    assert fault.kind is FindingKind.OUT_OF_MEMORY
    numbers = re.findall(r"\d[\d.]*", fault.message)
    assert len(numbers) >= 2, f"says neither what is needed nor what there is: {fault.message}"
    assert is_right_now(cuda)


@pytest.mark.gpu
def test_a_killed_harness_is_replaced(cuda: Device) -> None:
    assert is_right_now(cuda)
    assert cuda.harness.pid is not None
    os.kill(cuda.harness.pid, signal.SIGKILL)
    assert is_right_now(cuda)


@pytest.mark.gpu
def test_the_harness_alone_reports_a_fault_with_exit_code_1(cuda: Device, tmp_path: Path) -> None:
    source = 'extern "C" __global__ void traps() { __trap(); }'
    request = {
        "protocol": 1,
        "device": "cuda:0",
        "timeout_s": 60,
        "modules": [
            {
                "name": "m",
                "source": source,
                "entries": [{"name": "traps"}],
                "architecture": cuda.limits.architecture,
                "ptx_file": "m.ptx",
                "cubin_file": "m.cubin",
            }
        ],
        "steps": [
            {"do": "compile", "module": "m"},
            {"do": "load", "module": "m"},
            {
                "do": "launch",
                "module": "m",
                "entry": "traps",
                "grid": [1, 1, 1],
                "block": [1, 1, 1],
                "arguments": [],
            },
        ],
    }
    file = tmp_path / "trap.json"
    file.write_text(json.dumps(request))
    ended = subprocess.run(
        [locate(), "run", file, "--nvrtc", cuda.toolchain.nvrtc], capture_output=True, text=True, check=False
    )
    answer = json.loads(ended.stdout)
    assert ended.returncode == 1
    assert (answer["status"], answer["fault"]["kind"], answer["ending"]) == ("fault", "trap", True)
