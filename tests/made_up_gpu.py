"""A GPU made up for tests: a driver that needs none, and requests for it.

The driver (`harness_cpp/tests/made_up_driver`) executes nothing: a kernel's name says what it does, and the
clock is virtual, so that a time is the same on every machine.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness_client import NO_END_S, Json, Served, nvrtc

L2_BYTES = 8 << 20  # flushing reads twice this, and at least 16 MiB
MEASURED_N = 1024
SIGNATURE = ".param .u64 x, .param .u64 y, .param .u32 n"


class MadeUpGpu:
    """The made-up driver, and what of it a test may change before a harness opens it."""

    def __init__(self, driver: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.driver = driver
        self.folder = folder
        self._log = folder / "driver.log"
        self._monkeypatch = monkeypatch
        self.change(log=self._log, l2_bytes=L2_BYTES)

    def change(self, **settings: object) -> None:
        """Set what `settings.hpp` of the driver lists."""
        for name, value in settings.items():
            self._monkeypatch.setenv(f"CUDAOPT_MADE_UP_{name.upper()}", str(value))

    def serve(self) -> Served:
        return Served("--nvrtc", nvrtc(), "--driver", str(self.driver), folder=self.folder)

    def ask(self, asked: Json) -> Json:
        """Return the answer of a harness of its own."""
        with self.serve() as served:
            return served.ask(asked)

    def log(self) -> list[str]:
        """Return what the driver did, one line for each thing."""
        return self._log.read_text().splitlines() if self._log.exists() else []

    def launches(self, part: str = "") -> list[str]:
        """Return the launches of kernels whose name contains `part`, in order."""
        lines = [line for line in self.log() if line.startswith("launch ")]
        return [line for line in lines if part in line.split()[1]]


def module(folder: Path, *entries: str, name: str = "m") -> Json:
    """Return a module of kernels `(const float* x, float* y, int n)` that needs no compiler."""
    bodies = "\n".join(f".visible .entry {entry}({SIGNATURE})\n{{\n  ret;\n}}" for entry in entries)
    text = f".version 8.0\n.target sm_90\n.address_size 64\n{bodies}\n"
    (folder / f"{name}.ptx").write_text(text)
    (folder / f"{name}.cubin").write_text(text + "\0")
    return {"name": name, "ptx_file": f"{name}.ptx", "cubin_file": f"{name}.cubin"}


def f32(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def floats(raw: bytes) -> Sequence[float]:
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def buffer(name: str, n: int, **members: object) -> Json:
    return {"name": name, "bytes": 4 * n, "element_bytes": 4, "poison": "0000c07f"} | members


def launch(entry: str, n: int, *, do: str = "launch", **members: object) -> Json:
    """Return a launch of `entry` on the buffers x and y."""
    count = {"scalar": "i32", "value": struct.pack("<i", n).hex()}
    return {
        "do": do,
        "module": "m",
        "entry": entry,
        "grid": [1, 1, 1],
        "block": [32, 1, 1],
        "arguments": [{"buffer": "x"}, {"buffer": "y"}, count],
    } | members


def request(gpu: MadeUpGpu, entry: str, *steps: Json, n: int = 8, **members: object) -> Json:
    """Return a request that loads `entry`; x is 1, 2, ... n, y is poison."""
    (gpu.folder / "x.bin").write_bytes(f32(*range(1, n + 1)))
    whole: Json = {
        "protocol": 1,
        "nonce": "n0",
        "device": "cuda:0",
        "directory": str(gpu.folder),
        "timeout_s": NO_END_S,
        "modules": [module(gpu.folder, entry)],
        "buffers": [buffer("x", n, access="read", initial_file="x.bin"), buffer("y", n, access="write")],
        "steps": [{"do": "load", "module": "m"}, *steps],
    }
    return whole | members


def measure(entry: str, n: int = MEASURED_N, **members: object) -> Json:
    """Return a step that measures `entry` after a short warm-up."""
    return launch(entry, n, do="measure", warmup=2, warmup_ms=0.0, samples=12) | members


def latency(
    gpu: MadeUpGpu, entry: str, *, n: int = MEASURED_N, buffers: list[Json] | None = None, **how: object
) -> Json:
    """Return the latency of `entry` by a harness of its own."""
    asked = request(gpu, entry, measure(entry, n, **how), n=n)
    answer = gpu.ask(asked | ({"buffers": buffers} if buffers else {}))
    assert answer["status"] == "ok", answer
    assert answer["steps"][1]["kind"] == "measured"
    found: Json = answer["steps"][1]["latency"]
    return found


def timed(gpu: MadeUpGpu) -> list[list[str]]:
    """Return what the driver did between the two events of each sample that holds the kernel."""
    log = gpu.log()
    events = [at for at, line in enumerate(log) if line == "event"]
    spans = [log[start + 1 : end] for start, end in zip(events[::2], events[1::2], strict=True)]
    return [span for span in spans if any("launch copies" in line for line in span)]
