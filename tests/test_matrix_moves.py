"""`ldmatrix`, `stmatrix` and `movmatrix` against the layout the PTX manual gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness_client import Json, Served
from kernel_runner import Array, answer_of, run_kernel
from ptx_runner import HEADER

ISAS = ("x86-64", "x86-64-v3")
EXECUTES = (
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
)
LANES = np.arange(32)
# `x` is in shared memory; lane l's row is row `rows[l]` of 16 bytes there, at %a (generic: %g).
KERNEL = """\
.visible .entry k(.param .u64 out, .param .u64 x, .param .u64 rows)
{{
 .shared .align 16 .b8 tile[1024];
 .reg .b32 %t, %a, %w, %r<4>; .reg .b64 %out, %x, %rows, %g; .reg .pred %p;
 mov.u32 %t, %tid.x;
 ld.param.u64 %out, [out]; ld.param.u64 %x, [x]; ld.param.u64 %rows, [rows];
 mad.wide.u32 %rows, %t, 4, %rows; mad.wide.u32 %x, %t, 4, %x; mad.wide.u32 %out, %t, 4, %out;
 mov.u32 %a, tile; mad.lo.u32 %a, %t, 4, %a;
 {fill}
 bar.sync 0;
 ld.global.u32 %w, [%rows];
 mov.u32 %a, tile; mad.lo.u32 %a, %w, 16, %a;
 cvt.u64.u32 %g, %a; cvta.shared.u64 %g, %g;
 {body}
 ret;
}}
"""
FILL = "".join(f"ld.global.b32 %w, [%x+{i * 128}]; st.shared.b32 [%a+{i * 128}], %w;\n " for i in range(8))
DRAIN = "bar.sync 0; mov.u32 %a, tile; mad.lo.u32 %a, %t, 4, %a;\n " + "".join(
    f"ld.shared.b32 %w, [%a+{i * 128}]; st.global.b32 [%out+{i * 128}], %w;\n " for i in range(8)
)


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def listed(count: int) -> str:
    return "{" + ", ".join(f"%r{i}" for i in range(count)) + "}"


def lane_pairs(matrix: Array, transposed: bool) -> Array:
    """Return the word each lane holds of an 8x8 matrix of halves."""
    source = matrix.T if transposed else matrix
    low, high = source[LANES // 4, LANES % 4 * 2], source[LANES // 4, LANES % 4 * 2 + 1]
    return (low.astype(np.uint32) | high.astype(np.uint32) << 16).astype(np.uint32)


def inputs() -> dict[str, Array]:
    random = np.random.default_rng(7)
    return {
        "out": np.zeros(256, np.uint32),
        "x": random.integers(0, 2**32, 256, np.uint32),
        "rows": random.permutation(32).astype(np.uint32),
    }


def rows_of(arrays: dict[str, Array]) -> Array:
    return arrays["x"].view(np.uint16).reshape(64, 8)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("address", ["shared.b16 {r}, [%a]", "shared::cta.b16 {r}, [%a]", "b16 {r}, [%g]"])
@pytest.mark.parametrize("transposed", [False, True], ids=["rows", "trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_gives_every_lane_its_pair(
    harness: Served, tmp_path: Path, count: int, transposed: bool, address: str, isa: str
) -> None:
    operands = address.format(r=listed(count))
    body = f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if transposed else ''}.{operands};\n "
    body += " ".join(f"st.global.b32 [%out+{i * 128}], %r{i};" for i in range(count))
    arrays = inputs()
    got = run_kernel(
        harness, tmp_path, HEADER + KERNEL.format(fill=FILL, body=body), "k", arrays, outputs=["out"], isa=isa
    )["out"]
    rows = rows_of(arrays)[arrays["rows"]]
    for i in range(count):
        want = lane_pairs(rows[8 * i : 8 * i + 8], transposed)
        np.testing.assert_array_equal(got[32 * i : 32 * i + 32], want)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("transposed", [False, True], ids=["rows", "trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix_writes_what_ldmatrix_reads(
    harness: Served, tmp_path: Path, count: int, transposed: bool, isa: str
) -> None:
    body = " ".join(f"ld.global.b32 %r{i}, [%x+{i * 128}];" for i in range(count))
    trans = ".trans" if transposed else ""
    body += f"\n stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%a], {listed(count)};\n {DRAIN}"
    arrays = inputs()
    fill = FILL.replace("%w;", "0;")
    got = run_kernel(
        harness, tmp_path, HEADER + KERNEL.format(fill=fill, body=body), "k", arrays, outputs=["out"], isa=isa
    )["out"]
    rows = got.view(np.uint16).reshape(64, 8)
    for i in range(count):
        stored = rows[arrays["rows"][8 * i : 8 * i + 8]]
        np.testing.assert_array_equal(lane_pairs(stored, transposed), arrays["x"][32 * i : 32 * i + 32])
    untouched = np.setdiff1d(np.arange(64), arrays["rows"][: 8 * count])
    assert (rows[untouched] == 0).all()


@pytest.mark.parametrize("isa", ISAS)
def test_movmatrix_transposes(harness: Served, tmp_path: Path, isa: str) -> None:
    body = (
        "ld.global.b32 %r0, [%x]; movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0; st.global.b32 [%out], %r1;"
    )
    arrays = inputs()
    got = run_kernel(
        harness, tmp_path, HEADER + KERNEL.format(fill=FILL, body=body), "k", arrays, outputs=["out"], isa=isa
    )["out"][:32]
    matrix = arrays["x"][:32].view(np.uint16).reshape(8, 8)
    np.testing.assert_array_equal(got, lane_pairs(matrix, True))


def fault_of(harness: Served, folder: Path, body: str, block: int = 32) -> Json:
    text = HEADER + KERNEL.format(fill=FILL, body=body)
    answer = answer_of(harness, folder, text, "k", inputs(), outputs=["out"], block=block)
    fault: Json = answer["fault"]
    return fault


LOAD_4 = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, "


@pytest.mark.parametrize(
    ("address", "kind"), [("[%a+8]", "misaligned"), ("[%a+1024]", "illegal_address")], ids=["odd", "outside"]
)
def test_a_row_that_is_not_there_is_a_fault(harness: Served, tmp_path: Path, address: str, kind: str) -> None:
    assert fault_of(harness, tmp_path, f"{LOAD_4}{address};")["kind"] == kind


def test_only_the_lanes_whose_addresses_are_used_need_good_ones(harness: Served, tmp_path: Path) -> None:
    body = "setp.ge.u32 %p, %t, 8; @%p mov.u32 %a, -1;\n "
    body += "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a]; st.global.b32 [%out], %r0;"
    arrays = inputs()
    got = run_kernel(
        harness, tmp_path, HEADER + KERNEL.format(fill=FILL, body=body), "k", arrays, outputs=["out"]
    )["out"][:32]
    np.testing.assert_array_equal(got, lane_pairs(rows_of(arrays)[arrays["rows"][:8]], False))


def test_half_a_warp_may_not_load_matrices(harness: Served, tmp_path: Path) -> None:
    body = f"setp.lt.u32 %p, %t, 16; @%p {LOAD_4}[%a];"
    assert fault_of(harness, tmp_path, body)["kind"] == "absent_lane"
