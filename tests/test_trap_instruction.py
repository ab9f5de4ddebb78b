"""A thread that executes `trap` ends the launch, and is named; one that does not goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness_client import LOAD, Json, Served, launch, request
from ptx_runner import HEADER

EXECUTES = ("trap",)
KERNEL = """\
.visible .entry stop(.param .u64 out, .param .u32 at)
{
 .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p1;
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [at];
 mov.u32 %r2, %tid.x;
 setp.eq.u32 %p1, %r1, %r2;
 @%p1 trap;
 mad.wide.u32 %rd2, %r2, 4, %rd1;
 st.global.u32 [%rd2], %r2;
 ret;
}
"""


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def answered(harness: Served, folder: Path, at: int, isa: str) -> Json:
    (folder / "stop.ptx").write_text(HEADER + KERNEL)
    argument = {"scalar": "u32", "value": at.to_bytes(4, "little").hex()}
    return harness.ask(
        request(
            LOAD,
            launch("stop", {"buffer": "out"}, argument, block=64),
            {"do": "read", "buffer": "out", "file": "n0-out.bin"},
            directory=str(folder),
            sim={"threads": 1, "isa": isa},
            modules=[
                {"name": "m", "file": "stop.ptx", "ptx_file": "stop.ptx", "entries": [{"name": "stop"}]}
            ],
            buffers=[{"name": "out", "bytes": 256, "element_bytes": 4}],
        )
    )


@pytest.mark.parametrize("isa", ["x86-64", "x86-64-v3"])
def test_a_thread_that_traps_ends_the_launch(harness: Served, tmp_path: Path, isa: str) -> None:
    answer = answered(harness, tmp_path, 37, isa)
    assert answer["status"] == "fault"
    assert answer["fault"]["kind"] == "trap"
    assert answer["fault"]["thread"] == [37, 0, 0]


@pytest.mark.parametrize("isa", ["x86-64", "x86-64-v3"])
def test_a_trap_nobody_reaches_does_nothing(harness: Served, tmp_path: Path, isa: str) -> None:
    answer = answered(harness, tmp_path, 64, isa)
    assert answer["status"] == "ok", answer["fault"]["message"]
    assert np.fromfile(tmp_path / "n0-out.bin", dtype=np.uint32).tolist() == list(range(64))
