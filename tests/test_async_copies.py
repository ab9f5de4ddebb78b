"""`cp.async` and `mbarrier`, form by form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness_client import Json, Served
from kernel_runner import Array, answer_of, run_kernel
from ptx_runner import HEADER

# %x is this thread's 16 bytes of `x`, %s those of shared memory, filled with ones; %n its number of `n`.
EXECUTES = (
    "cp.async.ca.shared.global",
    "cp.async.cg.shared.global",
    "cp.async.commit_group",
    "cp.async.mbarrier.arrive.shared.b64",
    "mbarrier.arrive.shared::cta.b64",
    "mbarrier.init.shared.b64",
    "mbarrier.try_wait.shared::cta.b64",
)
KERNEL = """\
.visible .entry k(.param .u64 out, .param .u64 x, .param .u64 n)
{{
 .shared .align 16 .b8 tile[512];
 .shared .align 8 .b64 bar;
 .reg .b32 %t, %s, %n, %w, %r<4>; .reg .b64 %out, %x, %np, %st, %policy; .reg .pred %p, %q;
 mov.u32 %t, %tid.x;
 ld.param.u64 %out, [out]; ld.param.u64 %x, [x]; ld.param.u64 %np, [n];
 mad.wide.u32 %np, %t, 4, %np; mad.wide.u32 %x, %t, 16, %x; mad.wide.u32 %out, %t, 16, %out;
 mov.u32 %s, tile; mad.lo.u32 %s, %t, 16, %s;
 st.shared.v4.b32 [%s], {{-1, -1, -1, -1}};
 ld.global.u32 %n, [%np]; setp.ne.u32 %q, %n, 0; setp.eq.u32 %p, %t, 0;
 {body}
 cp.async.wait_all;
 ld.shared.v4.b32 {{%r0, %r1, %r2, %r3}}, [%s];
 st.global.v4.b32 [%out], {{%r0, %r1, %r2, %r3}};
 ret;
}}
"""


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def inputs(numbers: Array | None = None) -> dict[str, Array]:
    random = np.random.default_rng(11)
    return {
        "out": np.zeros((32, 4), np.uint32),
        "x": random.integers(0, 2**32, (32, 4), np.uint32),
        "n": np.arange(32, dtype=np.uint32) if numbers is None else numbers,
    }


def copied(harness: Served, folder: Path, body: str, arrays: dict[str, Array], block: int = 32) -> Array:
    text = HEADER + KERNEL.format(body=body)
    return run_kernel(harness, folder, text, "k", arrays, outputs=["out"], block=block)["out"]


def fault_of(harness: Served, folder: Path, body: str, arrays: dict[str, Array] | None = None) -> Json:
    text = HEADER + KERNEL.format(body=body)
    answer = answer_of(harness, folder, text, "k", arrays or inputs(), outputs=["out"])
    fault: Json = answer["fault"]
    return fault


@pytest.mark.parametrize(
    ("instruction", "size"),
    [
        ("cp.async.ca.shared.global [%s], [%x], 4", 4),
        ("cp.async.ca.shared.global [%s], [%x], 8", 8),
        ("cp.async.ca.shared.global [%s], [%x], 16", 16),
        ("cp.async.cg.shared.global [%s], [%x], 16", 16),
        ("cp.async.cg.shared::cta.global.L2::128B [%s], [%x], 16", 16),
        ("cp.async.ca.shared.global.L2::cache_hint [%s], [%x], 8, %policy", 8),
        ("cp.async.cg.shared.global.L2::cache_hint.L2::256B [%s], [%x], 16, 16, %policy", 16),
    ],
)
def test_a_copy_brings_its_bytes_and_no_others(
    harness: Served, tmp_path: Path, instruction: str, size: int
) -> None:
    arrays = inputs()
    want = np.full((32, 16), 0xFF, np.uint8)
    want[:, :size] = arrays["x"].view(np.uint8).reshape(32, 16)[:, :size]
    got = copied(harness, tmp_path, f"mov.u64 %policy, 0;\n {instruction};\n cp.async.commit_group;", arrays)
    np.testing.assert_array_equal(got.view(np.uint8).reshape(32, 16), want)


def test_displacements_of_both_addresses_count(harness: Served, tmp_path: Path) -> None:
    arrays = inputs()
    got = copied(harness, tmp_path, "cp.async.ca.shared.global [%s+4], [%x+8], 4;", arrays)
    np.testing.assert_array_equal(got[:, 1], arrays["x"][:, 2])


@pytest.mark.parametrize("size", [4, 8, 16])
def test_bytes_beyond_the_source_size_become_zeros(harness: Served, tmp_path: Path, size: int) -> None:
    arrays = inputs(np.arange(32, dtype=np.uint32) % (size + 1))
    want = np.full((32, 16), 0xFF, np.uint8)
    want[:, :size] = 0
    source = arrays["x"].view(np.uint8).reshape(32, 16)
    for thread, count in enumerate(arrays["n"]):
        want[thread, :count] = source[thread, :count]
    got = copied(harness, tmp_path, f"cp.async.ca.shared.global [%s], [%x], {size}, %n;", arrays)
    np.testing.assert_array_equal(got.view(np.uint8).reshape(32, 16), want)


@pytest.mark.parametrize(("predicate", "ignores"), [("%q", True), ("!%q", False)])
def test_an_ignored_source_gives_zeros(
    harness: Served, tmp_path: Path, predicate: str, ignores: bool
) -> None:
    arrays = inputs(np.arange(32, dtype=np.uint32) % 2)
    got = copied(harness, tmp_path, f"cp.async.cg.shared.global [%s], [%x], 16, {predicate};", arrays)
    want = np.where((arrays["n"] == int(ignores))[:, None], 0, arrays["x"])
    np.testing.assert_array_equal(got, want)


def test_a_guarded_copy_leaves_the_others_alone(harness: Served, tmp_path: Path) -> None:
    arrays = inputs(np.arange(32, dtype=np.uint32) % 2)
    got = copied(harness, tmp_path, "@%q cp.async.cg.shared.global [%s], [%x], 16;", arrays)
    np.testing.assert_array_equal(got, np.where((arrays["n"] == 1)[:, None], arrays["x"], 0xFFFFFFFF))


OUTSIDE = "add.s64 %x, %x, 4096;\n cp.async.cg.shared.global [%s], [%x], 16"


def test_nothing_is_read_of_a_source_of_no_bytes(harness: Served, tmp_path: Path) -> None:
    arrays = inputs(np.zeros(32, np.uint32))
    assert (copied(harness, tmp_path, f"{OUTSIDE}, %n;", arrays) == 0).all()


@pytest.mark.parametrize(
    ("body", "kind", "space"),
    [
        (f"{OUTSIDE};", "illegal_address", "global"),
        ("cp.async.cg.shared.global [%s], [%x+8], 16;", "misaligned", "global"),
        ("cp.async.cg.shared.global [%s+8], [%x], 16;", "misaligned", "shared"),
        ("cp.async.cg.shared.global [%s+4096], [%x], 16;", "illegal_address", "shared"),
    ],
)
def test_a_copy_from_or_to_nowhere_is_a_fault(
    harness: Served, tmp_path: Path, body: str, kind: str, space: str
) -> None:
    fault = fault_of(harness, tmp_path, body)
    assert (fault["kind"], fault["space"]) == (kind, space)


# Every thread copies, and thread 31 - t reads what thread t brought.
READ_OTHERS = "mov.u32 %s, tile; sub.u32 %w, 31, %t; mad.lo.u32 %s, %w, 16, %s;\n"
WAIT = "AGAIN: mbarrier.{wait} %p, [bar], {state};\n @!%p bra AGAIN;\n"


@pytest.mark.parametrize(
    ("count", "arrival"),
    [
        (32, "cp.async.mbarrier.arrive.shared.b64 [bar];\n mbarrier.arrive.shared.b64 %st, [bar];"),
        (
            64,
            "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n mbarrier.arrive.shared.b64 %st, [bar];",
        ),
        (64, "cp.async.mbarrier.arrive.shared.b64 [bar];\n mbarrier.arrive.shared::cta.b64 %st, [bar], 2;"),
        (32, "mbarrier.arrive_drop.release.cta.shared.b64 %st, [bar];"),
        (
            32,
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 8;\n"
            "mbarrier.complete_tx.shared::cta.b64 [bar], 8;\n mov.u64 %np, bar; cvta.shared.u64 %np, %np;\n"
            "mbarrier.arrive.b64 %st, [%np];",
        ),
    ],
)
@pytest.mark.parametrize(
    "wait",
    [
        ("test_wait.parity.shared.b64", "0"),
        ("try_wait.parity.acquire.cta.shared::cta.b64", "0"),
        ("try_wait.parity.shared::cta.b64", "0, 1000"),
        ("try_wait.shared::cta.b64", "%st"),
    ],
    ids=lambda wait: wait[0],
)
def test_a_barrier_in_shared_memory_waits_for_all(
    harness: Served, tmp_path: Path, count: int, arrival: str, wait: tuple[str, str]
) -> None:
    body = f"@%p mbarrier.init.shared.b64 [bar], {count};\n bar.sync 0;\n"
    body += f"cp.async.cg.shared.global [%s], [%x], 16;\n {arrival}\n"
    body += WAIT.format(wait=wait[0], state=wait[1]) + READ_OTHERS
    arrays = inputs()
    np.testing.assert_array_equal(copied(harness, tmp_path, body, arrays), arrays["x"][::-1])


def test_a_phase_is_not_over_before_the_last_arrives(harness: Served, tmp_path: Path) -> None:
    body = "@%p mbarrier.init.shared.b64 [bar], 33;\n bar.sync 0;\n mbarrier.arrive.shared.b64 %st, [bar];\n"
    body += "mbarrier.test_wait.shared.b64 %p, [bar], %st;\n selp.b32 %w, 1, 2, %p;\n"
    body += "mbarrier.pending_count.b64 %r0, %st;\n st.shared.v2.b32 [%s], {%w, %r0};\n"
    got = copied(harness, tmp_path, body, inputs())
    np.testing.assert_array_equal(got[:, 0], 2)
    np.testing.assert_array_equal(got[:, 1], 33 - np.arange(32))


def test_bytes_of_a_bulk_copy_hold_a_phase_back(harness: Served, tmp_path: Path) -> None:
    body = "@%p mbarrier.init.shared.b64 [bar], 1;\n bar.sync 0;\n"
    body += "@%p mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %st, [bar], 512;\n"
    body += "mbarrier.test_wait.parity.shared.b64 %q, [bar], 0;\n selp.b32 %w, 1, 2, %q;\n bar.sync 0;\n"
    body += "@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%x], 512, [bar];\n"
    body += WAIT.format(wait="try_wait.parity.shared::cta.b64", state="0") + "bar.sync 0;\n"
    body += "st.shared.b32 [%s+12], %w;\n"
    arrays = inputs()
    got = copied(harness, tmp_path, body, arrays)
    np.testing.assert_array_equal(got[:, :3], arrays["x"][:, :3])
    assert (got[:, 3] == 2).all()


def test_a_bulk_copy_to_global_memory_writes_there(harness: Served, tmp_path: Path) -> None:
    body = "st.shared.b32 [%s], %t;\n bar.sync 0;\n"
    body += "@%p cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 512;\n"
    body += "cp.async.bulk.commit_group;\n cp.async.bulk.wait_group.read 0;\n ret;"
    got = copied(harness, tmp_path, body, inputs())
    np.testing.assert_array_equal(got[:, 0], np.arange(32))


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("mbarrier.arrive.shared.b64 %st, [bar];", "uninitialized_read", "before mbarrier.init"),
        ("mbarrier.init.shared.b64 [bar], 0;", "launch_error", "set up for 0 arrivals"),
        (
            "mbarrier.init.shared.b64 [bar], 1;\n mbarrier.arrive.shared.b64 %st, [bar], 2;",
            "launch_error",
            "gets 2 arrivals, but its phase waits for 1 more",
        ),
        ("mbarrier.init.shared.b64 [bar-4], 1;", "misaligned", "byte 508"),
        (
            "mbarrier.init.shared.b64 [bar], 1;\n mbarrier.inval.shared.b64 [bar];\n"
            "mbarrier.arrive.shared.b64 %st, [bar];",
            "uninitialized_read",
            "after mbarrier.inval",
        ),
        (
            "cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 24;",
            "misaligned",
            "24 bytes, which is not a multiple of 16",
        ),
        (
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"
            " [%s], [%x, {%t}], [bar];",
            "unsupported_instruction",
            "cannot execute",
        ),
    ],
)
def test_a_barrier_or_copy_used_wrongly_is_a_fault(
    harness: Served, tmp_path: Path, body: str, kind: str, text: str
) -> None:
    fault = fault_of(harness, tmp_path, body)
    assert fault["kind"] == kind
    assert text in fault["message"]
