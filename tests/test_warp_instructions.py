"""Warp-wide instructions where not every lane takes part: groups, absent lanes, lanes that never were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness_client import LOAD, Json, Served, launch, request
from ptx_runner import HEADER, Array

ISAS = ("x86-64", "x86-64-v3")
FROM_NOWHERE = 0x7FC0DEAD
# %r1 is the lane, %rd1 its element of `out`; `body` leaves its result in %r2.
KERNEL = """\
.visible .entry meet(.param .u64 out)
{{
 .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;
 mov.u32 %r1, %tid.x;
 ld.param.u64 %rd0, [out];
 mad.wide.u32 %rd1, %r1, 4, %rd0;
 {body}
 st.global.u32 [%rd1], %r2;
DONE:
 ret;
}}
"""
IN_THE_LOWER_HALF = "setp.lt.u32 %p1, %r1, 16;\n mov.u32 %r2, 7;\n @!%p1 bra REST;\n"


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def answered(harness: Served, folder: Path, body: str, isa: str, threads: int) -> Json:
    (folder / "meet.ptx").write_text(HEADER + KERNEL.format(body=body))
    return harness.ask(
        request(
            LOAD,
            launch("meet", {"buffer": "out"}, block=threads),
            {"do": "read", "buffer": "out", "file": "n0-out.bin"},
            directory=str(folder),
            sim={"threads": 1, "isa": isa},
            modules=[
                {"name": "m", "file": "meet.ptx", "ptx_file": "meet.ptx", "entries": [{"name": "meet"}]}
            ],
            buffers=[{"name": "out", "bytes": 4 * threads, "element_bytes": 4}],
        )
    )


def run(harness: Served, folder: Path, body: str, isa: str, threads: int = 32) -> Array:
    answer = answered(harness, folder, body, isa, threads)
    assert answer["status"] == "ok", answer["fault"]["message"]
    return np.fromfile(folder / "n0-out.bin", dtype=np.uint32)


def fault_of(harness: Served, folder: Path, body: str) -> Json:
    answer = answered(harness, folder, body, ISAS[1], 32)
    assert answer["status"] == "fault"
    fault: Json = answer["fault"]
    return fault


@pytest.mark.parametrize("isa", ISAS)
def test_lanes_of_a_branch_may_shuffle_among_themselves(harness: Served, tmp_path: Path, isa: str) -> None:
    body = IN_THE_LOWER_HALF + "shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffff;\nREST:"
    assert run(harness, tmp_path, body, isa).tolist() == [lane ^ 1 for lane in range(16)] + [7] * 16


@pytest.mark.parametrize("isa", ISAS)
def test_reading_a_lane_that_takes_no_part_gives_a_value_no_result_should_depend_on(
    harness: Served, tmp_path: Path, isa: str
) -> None:
    body = IN_THE_LOWER_HALF + "shfl.sync.down.b32 %r2, %r1, 8, 31, 0xffff;\nREST:"
    assert run(harness, tmp_path, body, isa)[:16].tolist() == list(range(8, 16)) + [FROM_NOWHERE] * 8


@pytest.mark.parametrize("isa", ISAS)
def test_a_block_that_does_not_fill_its_warp_may_name_all_lanes(
    harness: Served, tmp_path: Path, isa: str
) -> None:
    got = run(harness, tmp_path, "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", isa, threads=20)
    assert got.tolist() == [lane ^ 1 for lane in range(20)]


@pytest.mark.parametrize("isa", ISAS)
def test_lanes_that_have_exited_may_be_named(harness: Served, tmp_path: Path, isa: str) -> None:
    body = "setp.ge.u32 %p1, %r1, 8;\n @%p1 bra DONE;\n redux.sync.add.s32 %r2, %r1, -1;"
    assert run(harness, tmp_path, body, isa).tolist() == [28] * 8 + [0] * 24


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize(
    ("instruction", "of_group"),
    [
        ("redux.sync.add.s32 %r2, %r1, %r3", sum),
        ("redux.sync.max.u32 %r2, %r1, %r3", max),
        ("shfl.sync.idx.b32 %r2, %r1, %r4, 31, %r3", lambda lanes: 12 + min(lanes)),
        ("vote.sync.ballot.b32 %r2, %p2, %r3", lambda lanes: sum(1 << lane for lane in lanes if lane >= 9)),
        ("match.any.sync.b32 %r2, %r4, %r3", lambda lanes: sum(1 << lane for lane in lanes)),
    ],
    ids=["redux.add", "redux.max", "shfl.idx", "vote.ballot", "match.any"],
)
def test_groups_with_masks_of_their_own_do_not_mix(
    harness: Served, tmp_path: Path, isa: str, instruction: str, of_group: object
) -> None:
    """The lanes with the same remainder of 4 form a group, whose members match.any finds."""
    body = f"""and.b32 %r4, %r1, 3;
 match.any.sync.b32 %r3, %r4, -1;
 add.u32 %r4, %r4, 12;
 setp.ge.u32 %p2, %r1, 9;
 {instruction};"""
    groups = [range(k, 32, 4) for k in range(4)]
    expected = [of_group(groups[lane % 4]) for lane in range(32)]  # type: ignore[operator]
    assert run(harness, tmp_path, body, isa).tolist() == expected


@pytest.mark.parametrize("isa", ISAS)
def test_votes_count_lanes_that_are_here_and_can_be_negated(
    harness: Served, tmp_path: Path, isa: str
) -> None:
    body = (
        "setp.lt.u32 %p2, %r1, 3;\n"
        + IN_THE_LOWER_HALF
        + "vote.sync.ballot.b32 %r2, !%p2, 0xffff;\n activemask.b32 %r3;\n xor.b32 %r2, %r2, %r3;\nREST:"
    )
    assert run(harness, tmp_path, body, isa)[:16].tolist() == [0b111] * 16


@pytest.mark.parametrize("isa", ISAS)
def test_the_lowest_member_is_elected(harness: Served, tmp_path: Path, isa: str) -> None:
    body = """mov.u32 %r2, 50;
 setp.gt.u32 %p1, %r1, 4;
 @%p1 elect.sync %r3|%p2, 0xffffffe0;
 @%p1 selp.u32 %r2, 1, 0, %p2;
 @%p1 mad.lo.u32 %r2, %r3, 10, %r2;"""
    assert run(harness, tmp_path, body, isa).tolist() == [50] * 5 + [51] + [50] * 26


@pytest.mark.parametrize("isa", ISAS)
def test_the_forms_without_sync_take_whoever_is_here(harness: Served, tmp_path: Path, isa: str) -> None:
    body = IN_THE_LOWER_HALF + "vote.ballot.b32 %r3, %p1;\n shfl.up.b32 %r2, %r3, 1, 0;\nREST:"
    assert run(harness, tmp_path, body, isa)[:16].tolist() == [0xFFFF] * 16


WARP_WIDE = [
    "shfl.sync.bfly.b32 %r2, %r1, 1, 31, {mask}",
    "vote.sync.ballot.b32 %r2, %p1, {mask}",
    "match.any.sync.b32 %r2, %r1, {mask}",
    "redux.sync.add.s32 %r2, %r1, {mask}",
    "bar.warp.sync {mask}",
    "elect.sync %r2|%p2, {mask}",
]


@pytest.mark.parametrize("instruction", WARP_WIDE)
def test_naming_lanes_that_took_another_path_is_a_fault(
    harness: Served, tmp_path: Path, instruction: str
) -> None:
    fault = fault_of(harness, tmp_path, f"{IN_THE_LOWER_HALF}{instruction.format(mask=-1)};\nREST:")
    assert fault["kind"] == "absent_lane"
    assert "names lanes 16-31 that took another path" in fault["message"]
    assert fault["thread"] == [0, 0, 0]


@pytest.mark.parametrize("instruction", WARP_WIDE)
def test_a_lane_must_name_itself(harness: Served, tmp_path: Path, instruction: str) -> None:
    fault = fault_of(harness, tmp_path, instruction.format(mask="0xfffffff7") + ";")
    assert fault["kind"] == "absent_lane"
    assert "lane 3 executes" in fault["message"]
    assert "does not name the lane itself" in fault["message"]


def test_lanes_that_name_one_another_must_agree(harness: Served, tmp_path: Path) -> None:
    body = """mov.u32 %r3, -1;
 setp.lt.u32 %p1, %r1, 16;
 @%p1 mov.u32 %r3, 0xffff;
 redux.sync.add.s32 %r2, %r1, %r3;"""
    fault = fault_of(harness, tmp_path, body)
    assert fault["kind"] == "absent_lane"
    assert "lanes that meet must agree on the mask" in fault["message"]


@pytest.mark.parametrize("isa", ISAS)
def test_a_warp_barrier_of_those_who_are_here_passes(harness: Served, tmp_path: Path, isa: str) -> None:
    body = IN_THE_LOWER_HALF + "bar.warp.sync 0xffff;\n mov.u32 %r2, 1;\nREST:"
    assert run(harness, tmp_path, body, isa).tolist() == [1] * 16 + [7] * 16
