"""Atomics where threads meet: order within a warp, masks, counters, faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_client import LOAD, Json, Served, launch, request
from ptx_runner import HEADER

ISAS = ("x86-64", "x86-64-v3")
THREADS = 64
# %r1 is the thread's number in its block, %rd0 the counter, %rd3 the thread's element of `old`.
KERNEL = """\
.visible .entry meet(.param .u64 counter, .param .u64 old)
{{
 .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b16 %h<4>; .reg .pred %p<4>;
 .shared .align 8 .b8 cell[8];
 mov.u32 %r1, %tid.x;
 ld.param.u64 %rd0, [counter];
 ld.param.u64 %rd2, [old];
 mad.wide.u32 %rd3, %r1, 4, %rd2;
 {body}
 ret;
}}
"""


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def meet(harness: Served, folder: Path, body: str, isa: str = "x86-64-v3", counter_bytes: int = 256) -> Json:
    """Run `body` in one block; the answer has the arrays under "old" and "counter", or a fault."""
    (folder / "meet.ptx").write_text(HEADER + KERNEL.format(body=body))
    steps: list[Json] = [LOAD, launch("meet", {"buffer": "counter"}, {"buffer": "old"}, block=THREADS)]
    steps += [{"do": "read", "buffer": name, "file": f"n0-{name}.bin"} for name in ("old", "counter")]
    answer = harness.ask(
        request(
            *steps,
            directory=str(folder),
            sim={"threads": 1, "isa": isa},
            modules=[
                {"name": "m", "file": "meet.ptx", "ptx_file": "meet.ptx", "entries": [{"name": "meet"}]}
            ],
            buffers=[
                {"name": "counter", "bytes": counter_bytes, "element_bytes": 4},
                {"name": "old", "bytes": 4 * THREADS, "element_bytes": 4, "poison": "ffffffff"},
            ],
        )
    )
    if answer["status"] == "ok":
        for name in ("old", "counter"):
            answer[name] = np.fromfile(folder / f"n0-{name}.bin", dtype=np.uint32)
    return answer


def counters(answer: Json) -> Any:
    return answer["steps"][1]["counters"]


@pytest.mark.parametrize("isa", ISAS)
def test_lanes_act_lowest_first(harness: Served, tmp_path: Path, isa: str) -> None:
    body = "atom.global.add.u32 %r2, [%rd0], 1;\n st.global.u32 [%rd3], %r2;"
    answer = meet(harness, tmp_path, body, isa)
    assert answer["old"].tolist() == list(range(THREADS))
    assert answer["counter"][0] == THREADS


@pytest.mark.parametrize("isa", ISAS)
def test_lanes_that_do_not_execute_neither_change_memory_nor_their_register(
    harness: Served, tmp_path: Path, isa: str
) -> None:
    body = """mov.u32 %r2, 77;
 and.b32 %r3, %r1, 1;
 setp.eq.u32 %p1, %r3, 0;
 @%p1 atom.global.add.u32 %r2, [%rd0], 3;
 st.global.u32 [%rd3], %r2;"""
    answer = meet(harness, tmp_path, body, isa)
    expected = [77 if thread % 2 else 3 * (thread // 2) for thread in range(THREADS)]
    assert answer["old"].tolist() == expected
    assert answer["counter"][0] == 3 * THREADS // 2


def test_the_address_may_have_a_displacement_and_the_result_a_sink(harness: Served, tmp_path: Path) -> None:
    answer = meet(harness, tmp_path, "atom.global.max.u32 _, [%rd0+8], %r1;")
    assert answer["counter"][:3].tolist() == [0, 0, THREADS - 1]


# A block's own window is part of its cluster's.
@pytest.mark.parametrize("space", ["shared", "shared::cta", "shared::cluster"])
def test_a_shared_variable_can_be_addressed_by_name_and_by_a_32_bit_register(
    harness: Served, tmp_path: Path, space: str
) -> None:
    body = f"""setp.eq.u32 %p1, %r1, 0;
 @%p1 st.shared.u32 [cell], 0;
 @%p1 st.shared.u32 [cell+4], 0;
 bar.sync 0;
 mov.u32 %r3, cell;
 atom.{space}.add.u32 %r2, [cell+4], 2;
 red.{space}.add.u32 [%r3], 1;
 bar.sync 0;
 ld.shared.v2.u32 {{%r4, %r5}}, [cell];
 mad.lo.u32 %r4, %r4, 1000, %r5;
 st.global.u32 [%rd3], %r4;"""
    answer = meet(harness, tmp_path, body)
    assert set(answer["old"].tolist()) == {THREADS * 1000 + 2 * THREADS}


def test_a_spin_free_lock_by_cas_is_taken_by_one_thread(harness: Served, tmp_path: Path) -> None:
    body = "add.u32 %r4, %r1, 1;\n atom.global.cas.b32 %r2, [%rd0], 0, %r4;\n st.global.u32 [%rd3], %r2;"
    answer = meet(harness, tmp_path, body)
    assert answer["counter"][0] == 1
    assert answer["old"].tolist() == [0] + [1] * (THREADS - 1)


@pytest.mark.parametrize(
    ("address", "serializations"),
    [("and.b32 %r4, %r1, 0;", 32), ("mov.u32 %r4, %r1;", 1), ("and.b32 %r4, %r1, 7;", 4)],
    ids=["one address", "an address each", "four lanes to an address"],
)
def test_requests_and_serializations_are_counted(
    harness: Served, tmp_path: Path, address: str, serializations: int
) -> None:
    body = f"{address}\n mad.wide.u32 %rd4, %r4, 4, %rd0;\n red.global.add.u32 [%rd4], 1;"
    counted = counters(meet(harness, tmp_path, body))
    warps = THREADS // 32
    assert counted["atomic_requests"] == warps
    assert counted["atomic_serializations"] == warps * serializations


def test_an_address_outside_the_buffer_is_a_fault_that_names_the_lane(
    harness: Served, tmp_path: Path
) -> None:
    body = "mad.wide.u32 %rd4, %r1, 4, %rd0;\n red.global.add.u32 [%rd4], 1;"
    fault = meet(harness, tmp_path, body, counter_bytes=4 * 40)["fault"]
    assert fault["kind"] == "illegal_address"
    assert (fault["buffer"], fault["element"], fault["access"]) == ("counter", 40, "atomic")
    assert fault["thread"] == [40, 0, 0]


def test_a_misaligned_address_is_a_fault(harness: Served, tmp_path: Path) -> None:
    fault = meet(harness, tmp_path, "red.global.add.u64 [%rd0+4], 1;")["fault"]
    assert (fault["kind"], fault["bytes"]) == ("misaligned", 8)


@pytest.mark.parametrize(
    "fence", ["membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.gpu", "fence.sc.sys"]
)
def test_fences_are_accepted(harness: Served, tmp_path: Path, fence: str) -> None:
    assert meet(harness, tmp_path, f"{fence};\n st.global.u32 [%rd3], 5;")["old"].tolist() == [5] * THREADS


@pytest.mark.parametrize(
    "instruction",
    [
        "multimem.red.global.add.u32 [%rd0], 1",
        "atom.global.add.L2::cache_hint.u32 %r2, [%rd0], 1, %rd4",
    ],
)
def test_a_form_it_does_not_know_is_refused_when_reached(
    harness: Served, tmp_path: Path, instruction: str
) -> None:
    fault = meet(harness, tmp_path, f"mov.u64 %rd4, 0;\n {instruction};")["fault"]
    assert fault["kind"] == "unsupported_instruction"
    never = f"mov.u64 %rd4, 0;\n setp.ne.u32 %p1, %r1, %r1;\n @%p1 {instruction};\n st.global.u32 [%rd3], 1;"
    assert meet(harness, tmp_path, never)["status"] == "ok"
