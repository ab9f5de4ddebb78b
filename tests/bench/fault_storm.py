"""Faults in a row, of every kind, with correct kernels in between: each named rightly, and nothing leaks.

Run `python tests/bench/fault_storm.py SEED [--faults 200]` with the package installed, on a GPU (with
`--device sim` only to try the script out). SEED shuffles the order. Exits 1 on any verdict that is not as
expected, and on memory of the GPU or of this process that does not come back.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_cudaopt import case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.protocol import AskLimits

# The kernels are those of the tests.
sys.path.insert(0, str(Path(__file__).parents[1] / "gpu"))

from fault_kernels import FAULTS, RIGHT, Fault, ask_for_too_much, complaint, declare, judge

MEBIBYTE = 1 << 20
MOST_GPU_GROWTH, MOST_HOST_GROWTH = 16 * MEBIBYTE, 64 * MEBIBYTE
# By then everything is loaded and every case prepared.
SETTLED = 40
TOO_LARGE = "asks for 200 GiB"
CASES = (case(n=777), case(n=100_000))


@dataclass
class Storm:
    """What has been seen so far. Kernels are declared once, so that their cases are prepared once."""

    device: Device
    complaints: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    pids: set[int] = field(default_factory=set)
    python_bytes: list[int] = field(default_factory=list)
    harness_bytes: list[int] = field(default_factory=list)
    kernels: dict[str, Kernel] = field(default_factory=dict)

    def strike(self, fault: Fault | None) -> None:
        """Let one fault happen; None stands for the request that asks for too much memory."""
        found = self._too_large() if fault is None else self._judge(fault)
        self.seen[TOO_LARGE if fault is None else fault.name] += 1
        if found is not None:
            self.complaints.append(found)

    def recover(self) -> None:
        """Judge a correct kernel, and look at who holds how much."""
        found = self._judge(RIGHT)
        if found is not None:
            self.complaints.append(f"after a fault, {found}")
        if (pid := self.device.harness.pid) is not None:
            self.pids.add(pid)
            self.harness_bytes.append(resident_bytes(pid))
        self.python_bytes.append(resident_bytes(os.getpid()))

    def _judge(self, fault: Fault) -> str | None:
        cases = CASES if fault is RIGHT else ()
        kernel = self.kernels.setdefault(fault.name, declare(fault, *cases))
        return complaint(fault, judge(fault, kernel, self.device))

    def _too_large(self) -> str | None:
        fault = ask_for_too_much(self.device).fault
        if fault is not None and fault.kind is FindingKind.OUT_OF_MEMORY:
            return None
        return f"{TOO_LARGE}: expected {FindingKind.OUT_OF_MEMORY}, got {fault}"


def resident_bytes(pid: int) -> int:
    """Return the memory a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def gpu_bytes_in_use() -> int | None:
    """Return the memory in use on the first GPU, by all processes; None where nobody can say."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    asked = subprocess.run(
        [program, "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = asked.stdout.split()
    return int(lines[0]) * MEBIBYTE if lines and lines[0].isdigit() else None


def free_bytes(device: Device) -> int | None:
    """Return the GPU memory the harness sees free right now."""
    request = replace(device.new_request("limits"), steps=(AskLimits(),), timeout_s=60.0)
    limits = device.ask(request).step("limits").limits
    return None if limits is None or limits.gpu is None else limits.gpu.free_bytes


def order(faults: int, seed: int, device: Device) -> list[Fault | None]:
    """Return every kind as often as any other, or once more, shuffled."""
    on_gpu = device.selector.startswith("cuda")
    kinds: list[Fault | None] = [fault for fault in FAULTS if on_gpu or fault.on_sim]
    kinds += [None] if on_gpu else []
    repeated = (kinds * (faults // len(kinds) + 1))[:faults]
    random.Random(seed).shuffle(repeated)  # noqa: S311 - an order, no secret
    return repeated


def leaks(storm: Storm, gpu_growth: int, outside_growth: int) -> list[str]:
    """Say what has grown: GPU memory in bytes as the harness and as everybody sees it, and this process."""
    settled = storm.python_bytes[min(SETTLED, len(storm.python_bytes) - 1)]
    watched = (
        ("GPU memory while the harness runs", gpu_growth, MOST_GPU_GROWTH),
        ("GPU memory with the harness closed", outside_growth, MOST_GPU_GROWTH),
        ("memory of this process", storm.python_bytes[-1] - settled, MOST_HOST_GROWTH),
    )
    return [f"{whose}: grew by {grown / MEBIBYTE:.0f} MiB" for whose, grown, most in watched if grown > most]


def growth(before: int | None, after: int | None) -> int:
    """Return how much more is taken; 0 where nobody can say."""
    return 0 if before is None or after is None else after - before


def main() -> int:
    """Let it storm; return 1 if anything was named wrongly or leaked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--device", default="cuda:0")
    options = parser.parse_args()
    used_before = gpu_bytes_in_use()
    began = time.monotonic()
    with open_device(options.device) as device:
        storm = Storm(device)
        storm.recover()
        free_before = free_bytes(device)
        for fault in order(options.faults, options.seed, device):
            storm.strike(fault)
            storm.recover()
        free_after = free_bytes(device)
        description = device.description
    took_s = time.monotonic() - began
    used_after = gpu_bytes_in_use()
    wrong = storm.complaints + leaks(
        storm, gpu_growth=-growth(free_before, free_after), outside_growth=growth(used_before, used_after)
    )
    for name, times in sorted(storm.seen.items()):
        sys.stdout.write(f"{times:>4}  {name}\n")
    mebibytes = [f"{value / MEBIBYTE:.0f}" for value in (storm.python_bytes[0], storm.python_bytes[-1])]
    sys.stdout.write(
        f"{description}, seed {options.seed}: {options.faults} faults and as many correct kernels, "
        f"{took_s:.0f} s, {len(storm.pids) - 1} harness restarts; resident MiB: this process "
        f"{mebibytes[0]} -> {mebibytes[1]}, harness at most {max(storm.harness_bytes) / MEBIBYTE:.0f}; "
        f"GPU free bytes {free_before} -> {free_after}, used without us {used_before} -> {used_after}\n"
    )
    sys.stdout.write("".join(f"WRONG {text}\n" for text in wrong) or "all named rightly, nothing leaked\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
