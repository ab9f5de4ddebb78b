"""Reading PTX: functions, instructions, variables, places."""

from __future__ import annotations

import pytest

from pytest_cudaopt.finding import SourcePoint
from pytest_cudaopt.module_state import written_variables
from pytest_cudaopt.ptx import PtxModule, Variable, read_ptx

SMALL = """\
.version 9.0
.target sm_90
.address_size 64
.global .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 0, 0, 0};
.global .align 8 .u64 pointers[2] = {first, generic(table)};
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 vprintf_param_0);
.func (.param .b32 func_retval0) first(
\t.param .b64 first_param_0)
{
\tret;
}
.visible .entry k(.param .u64 .ptr .global .align 4 k_param_0, .param .align 8 .b8 k_param_1[16])
{
\t.reg .pred %p<2>; // mov.u64 %rd9, nothing;
\t.loc\t2 7 3, function_name $L__info_string0, inlined_at 1 12 5
$L__BB0_1:
\t@%p1 bra $L__BB0_1; { .reg .b32 t; mov.b32 t, "; }"; }
\t.loc\t1 13 9
\tst.global.v2.f32 [%rd1+8], {%f1, %f2};
\tmov.u64 %rd2, pointers;
\t/* trap;
\t*/ ret;
}
\t.file\t1 "k.cu"
\t.file\t2 "/toolchain/include/cuda_fp16.hpp"
\t.section\t.debug_str
\t{
$L__info_string0:
.b8 95,90,0
\t}
"""


def test_a_module_is_read_with_its_functions_and_variables() -> None:
    module = read_ptx(SMALL)
    assert list(module.functions) == ["first", "k"]
    assert module.functions["first"].returned == ("func_retval0",)
    assert module.functions["k"].formals == ("k_param_0", "k_param_1")
    assert module.functions["k"].is_entry
    assert not module.functions["first"].is_entry
    table = Variable("table", 8, "{1, 0, 0, 0, 2, 0, 0, 0}")
    assert module.variables == {"table": table, "pointers": module.variables["pointers"]}
    assert module.variables["pointers"].bytes == 16


def test_instructions_are_read_without_guards_labels_and_comments() -> None:
    body = read_ptx(SMALL).functions["k"].body
    assert [one.opcode for one in body] == ["bra", "mov.b32", "st.global.v2.f32", "mov.u64", "ret"]
    assert body[2].operands == "[%rd1+8], {%f1, %f2}"
    assert body[2].names == ["%rd1", "%f1", "%f2"]


def test_a_place_in_the_toolchain_is_the_users_line_that_led_there() -> None:
    body = read_ptx(SMALL).functions["k"].body
    assert (body[0].place, body[0].from_toolchain) == (SourcePoint("k.cu", 12), True)
    assert (body[2].place, body[2].from_toolchain) == (SourcePoint("k.cu", 13), False)
    moved = read_ptx(SMALL.replace('"k.cu"', '"/somewhere/k.cu"'), "k.cu").functions["k"].body
    assert [one.place for one in moved] == [one.place for one in body]
    lost = read_ptx(SMALL.replace(", function_name $L__info_string0, inlined_at 1 12 5", ""))
    assert lost.functions["k"].body[0].place is None


def test_what_is_reached_goes_through_tables_and_not_further() -> None:
    module = read_ptx(SMALL)
    assert [one.name for one in module.reached("k")] == ["first", "k"]
    assert [one.name for one in module.reached("first")] == ["first"]
    assert [one.name for one in module.reached("unknown")] == ["first", "k"]


def state(body: str, before: str = "") -> PtxModule:
    return read_ptx(
        ".global .align 4 .b8 kept[8];\n.global .align 8 .u64 at = generic(kept);\n"
        f"{before}\n.visible .entry k(.param .u64 k_param_0)\n{{\n{body}\n}}\n"
    )


STORE = ".func store(.param .b64 to) { ld.param.u64 %rd1, [to]; st.f32 [%rd1+4], %f1; ret; }"
LOAD = ".func load(.param .b64 from) { ld.param.u64 %rd1, [from]; ld.f32 %f1, [%rd1+4]; ret; }"
GIVE = ".func (.param .b64 given) give() { mov.u64 %rd1, kept; st.param.b64 [given+0], %rd1; ret; }"
PASSED = "mov.u64 %rd1, kept; {{ .param .b64 p; st.param.b64 [p+0], %rd1; call.uni {}, (p); }}"
MADE = "{ .param .b64 r; call.uni (r), give; ld.param.b64 %rd1, [r+0]; } st.f32 [%rd1], %f1;"


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("st.global.f32 [kept+4], %f1;", ""),
        ("mov.u64 %rd1, kept; cvta.global.u64 %rd2, %rd1; add.s64 %rd3, %rd2, %rd9; st.f32 [%rd3], %f1;", ""),
        ("red.global.add.u32 [kept], 1;", ""),
        ("mov.u64 %rd1, kept; atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", ""),
        # In the order of a loop, the address comes later.
        ("$L: st.f32 [%rd2], %f1; mov.u64 %rd2, kept; bra $L;", ""),
        (PASSED.format("store"), STORE),
        (PASSED.format("%rd7"), STORE),
        (PASSED.format("elsewhere"), ""),
        (MADE, GIVE),
        ("ld.global.u64 %rd1, [at]; st.f32 [%rd1], %f1;", ""),
        ("mov.u64 %rd1, kept; st.local.u64 [%rd8], %rd1;", ""),
        (
            "mov.u64 %rd1, kept; cp.reduce.async.bulk.global.shared::cta.add.f32 [%rd1], [%r1], 8;",
            "",
        ),
    ],
)
def test_a_variable_that_is_written_is_found(body: str, before: str) -> None:
    module = state(body, before)
    assert list(written_variables(module, module.reached("k"))) == ["kept"]


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("ld.global.f32 %f1, [kept+4]; st.global.f32 [%rd1], %f1;", ""),
        ("mov.u64 %rd1, kept; ld.f32 %f1, [%rd1]; mov.u64 %rd1x, %rd2; st.f32 [%rd1x], %f1;", ""),
        (
            "mov.u64 %rd1, kept; setp.eq.u64 %p1, %rd1, %rd2; selp.b64 %rd3, %rd4, 8, %p1; st.f32 [%rd3], 0;",
            "",
        ),
        (PASSED.format("load"), LOAD),
        (PASSED.format("(r), vprintf").replace(".param .b64 p;", ".param .b64 p; .param .b32 r;"), ""),
        ("mov.u64 %rd1, kept; cp.async.ca.shared.global [%r1], [%rd1], 4;", ""),
        ("ret;", STORE),
    ],
)
def test_a_variable_that_is_only_read_is_not(body: str, before: str) -> None:
    module = state(body, before)
    assert written_variables(module, module.reached("k")) == {}
