"""A templated kernel in a namespace, in a file with two others, as a user runs it."""

import json

import pytest
from templated_source import ROWS

TEST_ROWS = """\
from pytest_cudaopt import In, Out, bf16, case, f16, f32, i32, kernel

@kernel(
    "rows.cu",
    entry="rows::scale<{width}, {T}>",
    types={"T": (f32, f16, bf16)},
    sizes=["width"],
    cases=[case(rows=3, width=32), case(rows=2, width=64, T=f16, measure=True)],
)
def scale(x=In("T", "rows", "width"), y=Out("T", "rows", "width"), rows=i32):
    y[...] = 2 * x
"""


@pytest.fixture
def rows(project):
    (project.path / "test_scale.py").unlink()
    project.write("rows.cu", ROWS)
    project.write("test_rows.py", TEST_ROWS)
    return project


def test_each_dtype_is_an_item_of_its_own(rows):
    result = rows.run("-v")

    result.assert_outcomes(passed=8)
    result.stdout.fnmatch_lines(
        [
            "*test_rows.py::scale[[]check-f32-rows3-width32[]]*PASSED*",
            "*test_rows.py::scale[[]check-f16-rows3-width32[]]*PASSED*",
            "*test_rows.py::scale[[]check-bf16-rows3-width32[]]*PASSED*",
            "*test_rows.py::scale[[]check-f16-rows2-width64[]]*PASSED*",
            "*test_rows.py::scale[[]fuzz[]]*PASSED*",
            "*test_rows.py::scale[[]contract[]]*PASSED*",
            "*test_rows.py::scale[[]latency-f16-rows2-width64[]]*PASSED*",
        ]
    )


def test_a_dtype_that_is_wrong_fails_alone_and_prints_its_case(rows):
    rows.edit("rows.cu", "__bfloat162float(x)", "1.0f + __bfloat162float(x)")

    result = rows.run()
    result.assert_outcomes(passed=6, failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "WRONG: y: 96 of 96 elements *",
            "  case      rows=3, width=32, T=bf16, launched with grid=3 block=32, on sim*",
            "reproduce: pytest 'test_rows.py::scale[[]check-bf16-rows3-width32[]]'*",
            "           case(rows=3, width=32, T=bf16)",
        ]
    )


def test_a_wrong_name_lists_the_kernels_there_are_and_where_it_was_declared(rows):
    rows.edit("test_rows.py", '"rows::scale<{width}, {T}>"', '"scale<{width}, {T}>"')

    result = rows.run()
    result.assert_outcomes(failed=8)
    result.stdout.fnmatch_lines(
        [
            'COMPILE: *identifier "scale" is undefined*found: plain, rows::other(float[*]); '
            "templates scale (line 14). Name it with entry=; without, it is called as the declared function.",
            "  at        rows.cu:14",
            "*",
            "*",
            "  >   14 | __global__ void scale(const T[*] x, T[*] y, int rows) {",
            "*",
            "*",
            "  declared  test_rows.py:3",
        ]
    )


def test_a_run_describes_and_replays_every_instance(rows):
    rows.edit("rows.cu", "// @launch", "// @tune UNUSED = 1, 2\n// @launch")
    result = rows.run("--optimize", "-m", "cudaopt_optimize")

    result.assert_outcomes(passed=1, deselected=8)
    (folder,) = (rows.path / "results").iterdir()
    signature = json.loads((folder / "signature.json").read_text())
    assert [one["entry"] for one in signature["instances"]] == [
        "rows::scale<32, float>",
        "rows::scale<32, __half>",
        "rows::scale<32, __nv_bfloat16>",
        "rows::scale<64, __half>",
    ]
    assert signature["types"] == {"T": ["f32", "f16", "bf16"]}
    cases = json.loads((folder / "input_cases.json").read_text())
    assert (cases[3]["id"], cases[3]["types"]) == ("f16-rows2-width64", {"T": "f16"})
    replayed = rows.cudaopt("replay", str(folder / "replay" / "f16-rows2-width64.json"))
    assert replayed.ret == 0


def test_a_candidate_is_checked_at_every_instance(rows):
    answered = rows.cudaopt("check", "test_rows.py::scale", "--json")

    verdict = json.loads("\n".join(answered.stdout.lines))
    assert verdict["accepted"]
    assert verdict["cases"][1]["types"] == {"T": "f16"}


@pytest.mark.parametrize(
    ("declaration", "line", "complaint"),
    [
        ("@kernel\ndef f(y=Out(f32, 'n'), n=i32): ...", 3, "@kernel on 'f'*"),
        ("@kernel()\ndef f(y=Out(f32, 'n'), n=i32): ...", None, "*source*"),
        ("@kernel('f.cu', cases=[case(n=1)])\nclass F: ...", 3, "@kernel on 'F'"),
        ("@kernel('f.cu', case=[case(n=1)])\ndef f(y=Out(f32, 'n'), n=i32): ...", 3, "*kernel(case=)"),
        ("@kernel('f.cu', cases=[\n    case(m=1)])\ndef f(y=Out(f32, 'n'), n=i32): ...", 4, "*cases[[]0[]]"),
        ("@kernel(3, cases=[case(n=1)])\ndef f(y=Out(f32, 'n'), n=i32): ...", 3, "kernel(...)"),
        ("kernel('f.cu', cases=[case(n=1)])(print.__call__)", 3, "@kernel on '__call__'"),
    ],
    ids=["bare", "no-source", "class", "keyword", "case", "no-name", "no-function"],
)
def test_a_declaration_that_is_none_is_refused_at_its_line(project, declaration, line, complaint):
    project.write("test_f.py", f"from pytest_cudaopt import Out, case, f32, i32, kernel\n\n{declaration}\n")

    result = project.run("test_f.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    if line is not None:
        result.stdout.fnmatch_lines([f"DECLARATION: {complaint}", f"  at        test_f.py:{line}"])
