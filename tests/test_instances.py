"""Entries over sizes and dtypes: what each case's instance is, and how a wrong declaration is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from templated_source import ROWS

from pytest_cudaopt import In, Out, Scalar, Scratch, bf16, case, expressions, f16, f32, i32, i64, kernel
from pytest_cudaopt.case_request import launch_step
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate, source_module
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.dtypes import BY_NAME, TypeName
from pytest_cudaopt.errors import DeclarationError, HarnessError
from pytest_cudaopt.evaluation import Budget, Plan, Stage
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.run import configure

CHECKED = (Stage.COMPILE, Stage.CHECK)


def declare(**changes: Any) -> Kernel:
    """Declare a kernel over a width and a dtype, with some arguments of `kernel` changed."""
    arguments = {
        "source": "rows.cu",
        "entry": "rows::scale<{width}, {T}>",
        "types": {"T": (f32, f16, bf16)},
        "sizes": ["width"],
        "cases": [case(rows=3, width=32), case(rows=2, width=64)],
        **changes,
    }
    marked = {"x": In("T", "rows", "width"), "y": Out("T", "rows", "width"), **arguments.pop("marked", {})}
    x_marker, y_marker = marked["x"], marked["y"]

    @kernel(arguments.pop("source"), **arguments)
    def scale(x=x_marker, y=y_marker, rows=i32):
        y[...] = 2 * x

    return scale


@pytest.fixture
def rows(tmp_path: Path) -> Callable[..., Kernel]:
    """Write the source, with texts replaced, and declare its kernel."""

    def write(*replacements: tuple[str, str], **changes: Any) -> Kernel:
        text = ROWS
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "rows.cu").write_text(text)
        return declare(source=str(tmp_path / "rows.cu"), **changes)

    return write


def compiled(declared: Kernel, device: Device, *cases: Any) -> Compiled:
    answer = compile_candidate(declared, declared.start(), device, Budget(), cases)
    assert isinstance(answer, Compiled), answer
    return answer


def failure(declared: Kernel, device: Device) -> CompileFailure:
    answer = compile_candidate(declared, declared.start(), device, Budget())
    assert isinstance(answer, CompileFailure), answer
    return answer


def test_every_case_stands_for_one_of_each_dtype_in_the_order_given() -> None:
    declared = declare()
    assert declared.case_ids == (
        *("f32-rows3-width32", "f16-rows3-width32", "bf16-rows3-width32"),
        *("f32-rows2-width64", "f16-rows2-width64", "bf16-rows2-width64"),
    )
    assert declared.cases[1].types == (("T", "f16"),)
    assert str(declared.cases[1]) == "case(rows=3, width=32, T=f16)"


def test_a_case_that_names_its_dtype_stands_for_itself() -> None:
    declared = declare(cases=[case(rows=3, width=32, T=bf16), case(rows=3, width=32, id="small", T=f16)])
    assert declared.case_ids == ("bf16-rows3-width32", "f16-small")


def test_a_dtype_that_is_the_only_one_is_not_in_the_ids() -> None:
    declared = declare(types={"T": f16}, cases=[case(rows=3, width=32)])
    assert declared.case_ids == ("rows3-width32",)
    assert declared.at(case(rows=3, width=32)).entry == "rows::scale<32, __half>"


def test_types_are_multiplied_with_each_other() -> None:
    declared = declare(
        entry="rows::scale<{width}, {T}, {Index}>",
        types={"T": (f16, f32), "Index": (i32, i64)},
        cases=[case(rows=3, width=32)],
    )
    assert [one.entry for one in declared.instances] == [
        "rows::scale<32, __half, int>",
        "rows::scale<32, __half, long long>",
        "rows::scale<32, float, int>",
        "rows::scale<32, float, long long>",
    ]
    assert declared.case_ids[1] == "f16-i64-rows3-width32"


def test_an_instance_has_the_dtypes_of_its_case() -> None:
    declared = declare()
    instance = declared.at(case(rows=1, width=128, T=bf16))
    assert instance.entry == "rows::scale<128, __nv_bfloat16>"
    assert [parameter.dtype for parameter in instance.parameters] == [bf16, bf16, i32]
    assert [parameter.name for parameter in instance.outputs] == ["y"]
    assert instance.parameters[0].values is not None
    assert declared.parameters[0].dtype == TypeName("T")


def test_instances_are_listed_once_each() -> None:
    declared = declare(cases=[case(rows=1, width=32), case(rows=2, width=32)], types={"T": (f32, f16)})
    assert [one.entry for one in declared.instances] == [
        "rows::scale<32, float>",
        "rows::scale<32, __half>",
    ]


def test_derived_sizes_may_stand_in_an_entry() -> None:
    declared = declare(entry="rows::scale<{ twice }, {T}>", derive={"twice": "2*width"})
    assert declared.at(case(rows=1, width=32, T=f32)).entry == "rows::scale<64, float>"


def test_scalars_and_scratch_may_have_a_type() -> None:
    @kernel("k.cu", entry="k<{T}>", types={"T": (f16, f32)}, cases=[case(n=1)])
    def k(y=Out("T", "n"), s=Scratch("T", "n"), a=Scalar("T", 2.0), n=i32):
        y[...] = a

    (half, single) = k.instances
    assert [parameter.cuda_types[0] for parameter in half.parameters] == [
        "__half*",
        "__half*",
        "__half",
        "int",
    ]
    assert single.parameters[2].dtype is f32


def test_a_case_that_leaves_its_dtype_open_has_no_instance() -> None:
    with pytest.raises(
        DeclarationError, match=r"expected a dtype for T: f32 or f16 or bf16, got none"
    ) as caught:
        declare().at(case(rows=3, width=32))
    assert caught.value.at is not None
    assert caught.value.at.file == __file__


def test_a_plain_kernel_is_its_own_instance() -> None:
    declared = declare(
        entry=None, types=None, marked={"x": In(f32, "rows", "width"), "y": Out(f32, "rows", "width")}
    )
    (instance,) = declared.instances
    assert (instance.entry, instance.parameters) == ("scale", declared.parameters)


WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"entry": "rows::scale<{widht}, {T}>"},
        "entry='rows::scale<{widht}, {T}>': expected braces that hold one of rows, width, T, got {widht}. "
        "Did you mean 'width'?",
    ),
    (
        {"entry": "rows::scale<{U}, {T}>"},
        "got {U}. List sizes in sizes= or derive=, dtypes in types=",
    ),
    ({"entry": "rows::scale<{2*width}, {T}>"}, "got {2*width}"),
    ({"entry": "rows::scale<{width, {T}>"}, "expected every brace closed, such as {T}, got one that is not"),
    ({"entry": 3}, "entry=: expected the name of a __global__ function, got 3"),
    ({"types": {}}, 'types=: expected a mapping of names to dtypes, got {}. Write types={"T": (f16, f32)}'),
    ({"types": [f16]}, "types=: expected a mapping of names to dtypes, got [DType("),
    ({"types": {"T": ()}}, "types['T']: expected at least one dtype, got none"),
    ({"types": {"T": "f16"}}, "types['T']: expected dtypes, got 'f16'. Write types={'T': (f16, f32)}"),
    ({"types": {"T": (f16, "f32")}}, "types['T']: expected dtypes of this package such as f32, got 'f32'"),
    ({"types": {"T": (f16, f16)}}, "types['T']: expected each dtype once, got f16, f16"),
    ({"types": {3: (f16,)}}, "types=: expected names as keys, such as 'T', got 3"),
    ({"types": {"T": f32, "width": f32}}, "types['width']: expected a name no size or parameter has"),
    ({"types": {"T": f32, "x": f32}}, "types['x']: expected a name no size or parameter has, got 'x'"),
    ({"types": {"T": f32, "id": f32}}, "types['id']: expected a name no size or parameter has, got 'id'"),
    (
        {"types": {"T": f32, "U": f32}},
        "types['U']: expected a use of it: {U} in entry=, or In(\"U\", ...), got none",
    ),
    (
        {"entry": "rows::scale<{width}>"},
        "expected {T} in it, since T may be f32 or f16 or bf16, got one entry for all of them. "
        "Write entry='rows::scale<{T}>', or a kernel for each",
    ),
    (
        {"marked": {"x": In("U", "rows")}},
        "parameter 'x': expected a dtype, or one of the types T, got 'U'. List it: types={\"U\": (f16, f32)}",
    ),
    ({"marked": {"x": In("f32", "rows")}}, "got 'f32'. Without quotes it is a dtype: f32"),
    (
        {"types": None, "entry": "scale"},
        "parameter 'x': expected a dtype, or one of the types (types= lists none), got 'T'",
    ),
    (
        {"cases": [case(rows=1, width=1, T=i32)]},
        "cases[0].T: expected f32 or f16 or bf16, got i32. Add i32 to types['T']",
    ),
    (
        {"cases": [case(rows=1, width=1, t=f16)]},
        'cases[0].t: expected one of the types T, got the dtype f16. List it: types={"t": (f16,)}',
    ),
    ({"cases": [case(rows=1, width=1, T=3)]}, "cases[0].T: expected f32 or f16 or bf16, got 3"),
    (
        {"cases": [case(rows=1, width=1), case(rows=1, width=1, T=f16)]},
        "cases: expected a case that differs from the others, got case(rows=1, width=1, T=f16) a second time",
    ),
    ({"cases": [case(rows=1, widht=1)]}, "got rows, widht. Did you mean 'width'?"),
]


@pytest.mark.parametrize(("changes", "complaint"), WRONG, ids=[complaint[:40] for _, complaint in WRONG])
def test_a_wrong_declaration_says_what_there_is(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        declare(**changes)
    assert complaint in str(caught.value)
    assert caught.value.at is not None
    assert caught.value.at.file == __file__


def test_a_case_at_fault_is_shown_at_its_own_line() -> None:
    wrong = case(rows=1, widht=1)
    with pytest.raises(DeclarationError) as caught:
        declare(cases=[wrong])
    assert caught.value.at == wrong.at
    assert wrong.at is not None
    assert "wrong = case(" in Path(wrong.at.file).read_text().splitlines()[wrong.at.line - 1]


def test_where_a_case_stands_is_no_part_of_it() -> None:
    first = case(n=1)
    second = case(n=1)
    assert first.at != second.at
    assert (first, hash(first), repr(first)) == (second, hash(second), repr(second))


def test_a_scalar_of_a_type_is_no_size() -> None:
    with pytest.raises(DeclarationError, match=r"Scalar\(T\): expected a value or values="):
        Scalar("T")


def test_one_module_holds_every_instance_of_the_declared_cases(
    rows: Callable[..., Kernel], sim: Device
) -> None:
    declared = rows()
    answer = compiled(declared, sim)
    assert list(answer.resources) == [one.entry for one in declared.instances]
    shared = {one.entry: answer.resources_of(one).static_shared_bytes for one in declared.instances}
    assert shared["rows::scale<32, float>"] == 128
    assert shared["rows::scale<64, __nv_bfloat16>"] == 128
    assert shared["rows::scale<32, __half>"] == 64


def test_another_case_adds_its_instance(rows: Callable[..., Kernel], sim: Device) -> None:
    declared = rows(cases=[case(rows=1, width=32, T=f32)])
    further = case(rows=1, width=8, T=f16)
    with pytest.raises(HarnessError, match="expected an entry 'rows::scale<8, __half>'"):
        compiled(declared, sim).entry_of(declared.at(further))
    assert compiled(declared, sim, further).entry_of(declared.at(further)) == "rows::scale<8, __half>"
    evaluation = evaluate(declared, declared.start(), Plan(CHECKED, cases=(further,)), sim)
    assert evaluation.accepted, evaluation.reason
    assert evaluation.outcomes[0].case_id == "f16-rows1-width8"


def test_a_launch_names_the_instance_and_its_own_dtypes(rows: Callable[..., Kernel], sim: Device) -> None:
    declared = rows()
    answer = compiled(declared, sim)
    prepared = prepare(declared, declared.cases[1], sim)
    launch: Any = configure(declared.start(), prepared, answer, sim)
    assert launch_step(prepared, answer, launch).entry == "rows::scale<32, __half>"
    assert prepared.arguments.arrays["x"].dtype.name == "float16"
    assert prepared.files["x"].stat().st_size == 3 * 32 * 2


def test_all_instances_of_a_template_are_right(rows: Callable[..., Kernel], sim: Device) -> None:
    declared = rows()
    evaluation = evaluate(declared, declared.start(), Plan(CHECKED, cases=declared.cases), sim)
    assert evaluation.accepted, evaluation.reason
    tolerances = [outcome.comparisons[0].rtol for outcome in evaluation.outcomes[:3]]
    assert tolerances == [f32.rtol, f16.rtol, bf16.rtol]


def test_one_wrong_instance_is_found(rows: Callable[..., Kernel], sim: Device) -> None:
    declared = rows(("__half2float(x)", "__half2float(x) + 1.0f"))
    plan = Plan(CHECKED, cases=declared.cases, stop_at_first=False)
    evaluation = evaluate(declared, declared.start(), plan, sim)
    wrong = [outcome.case_id for outcome in evaluation.outcomes if outcome.status != "passed"]
    assert wrong == ["f16-rows3-width32", "f16-rows2-width64"]


def test_the_signature_of_each_instance_is_checked(rows: Callable[..., Kernel], sim: Device) -> None:
    found = failure(rows(("const T* x, T* y", "const float* x, T* y")), sim)
    assert [diagnostic.line for diagnostic in found.diagnostics] == [14] * 4
    assert (
        "kernel 'rows::scale<32, __half>' is not as declared: parameter 1 is 'const float *', expected "
        "'const __half*' or '__half*'" in found.diagnostics[0].text
    )


def overloaded(tmp_path: Path, entry: str) -> Kernel:
    path = tmp_path / "copy.cu"
    path.write_text(
        "// @launch grid=(1) block=(n)\n"
        "namespace ns {\n"
        "__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }\n"
        "__global__ void copy(const double* x, double* y) { y[threadIdx.x] = x[threadIdx.x]; }\n"
        "}\n"
    )

    @kernel(str(path), entry=entry, sizes=["n"], cases=[case(n=3)])
    def copy(x=In(f32, "n"), y=Out(f32, "n")):
        y[...] = x

    return copy


def test_an_overload_is_refused_with_the_cast_that_names_it(tmp_path: Path, sim: Device) -> None:
    finding = failure(overloaded(tmp_path, "ns::copy"), sim).finding
    assert finding.kind is FindingKind.UNKNOWN_ENTRY
    assert (finding.file, finding.line) == ("copy.cu", 3)
    cast = "static_cast<void (*)(float const*, float*)>(ns::copy)"
    assert f"Name one of its overloads by a cast, such as {cast}." in finding.message
    assert "found: ns::copy(float const*, float*), ns::copy(double const*, double*)." in finding.message

    declared = overloaded(tmp_path, cast)
    assert evaluate(declared, declared.start(), Plan(CHECKED, cases=declared.cases), sim).accepted


def test_the_wrong_overload_is_not_as_declared(tmp_path: Path, sim: Device) -> None:
    cast = "static_cast<void (*)(const double*, double*)>(ns::copy)"
    found = failure(overloaded(tmp_path, cast), sim)
    assert "parameter 1 is 'const double *'" in found.diagnostics[0].text
    assert found.diagnostics[0].line == 3


def test_a_template_without_arguments_is_told_so_at_its_line(
    rows: Callable[..., Kernel], sim: Device
) -> None:
    declared = rows(entry="rows::scale", types={"T": f32}, cases=[case(rows=1, width=32)])
    finding = failure(declared, sim).finding
    assert (finding.kind, finding.line) == (FindingKind.UNKNOWN_ENTRY, 14)
    assert "It is a template: give its arguments, such as rows::scale<float>." in finding.message
    assert "found: plain, rows::other(float*); templates scale (line 14)." in finding.message


def test_a_half_over_a_float_is_told_so_without_the_header(tmp_path: Path, sim: Device) -> None:
    path = tmp_path / "copy.cu"
    path.write_text(
        '// @launch grid=(1) block=(n)\nextern "C" __global__ void copy(const float* x, float* y, int n) {}\n'
    )

    @kernel(str(path), cases=[case(n=3)])
    def copy(x=In(f16, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    (error,) = failure(copy, sim).diagnostics
    assert "parameter 1 is 'const float *', expected 'const __half*' or '__half*'" in error.text


def test_one_entry_is_compiled_where_no_brace_asks_for_a_size(
    rows: Callable[..., Kernel], sim: Device
) -> None:
    declared = rows(entry="rows::scale<32, {T}>", types={"T": f32}, derive={"broken": "rows"})
    # A declaration evaluates it for its tolerances; nothing does to name the entry.
    declared = replace(declared, derived=(("broken", expressions.parse("rows // (rows - rows)")),))
    module = source_module(declared, declared.start(), sim)
    assert [entry.name for entry in module.entries] == ["rows::scale<32, float>"]


def declare_signed(folder: Path, **changes: Any) -> Kernel:
    """Declare a kernel with a flag among its template arguments, which its parameters do not tell."""
    (folder / "signed.cu").write_text(
        "// @launch grid=(1) block=(n)\n"
        "template <bool NEGATIVE> __global__ void flip(const int* x, int* y) {\n"
        "    y[threadIdx.x] = NEGATIVE ? -x[threadIdx.x] : x[threadIdx.x];\n"
        "}\n"
    )
    arguments = {
        "entry": "flip<{negative}>",
        "sizes": ["n", "negative"],
        "cases": [case(n=3, negative=0), case(n=3, negative=1)],
        **changes,
    }

    @kernel(str(folder / "signed.cu"), **arguments)
    def flip(x=In(i32, "n"), y=Out(i32, "n"), *, negative):
        y[...] = -x if negative else x

    return flip


def test_a_reference_gets_the_sizes_it_asks_for_after_a_star(tmp_path: Path, sim: Device) -> None:
    declared = declare_signed(tmp_path)
    assert [parameter.name for parameter in declared.parameters] == ["x", "y"]
    evaluation = evaluate(declared, declared.start(), Plan(CHECKED, cases=declared.cases), sim)
    assert evaluation.accepted, evaluation.reason
    wrong = declare_signed(tmp_path, reference=lambda x, y, negative: np.copyto(y, x))
    evaluation = evaluate(wrong, wrong.start(), Plan(CHECKED, cases=wrong.cases), sim)
    assert evaluation.reason.startswith("case negative1: ")


def test_what_a_reference_asks_for_after_a_star_is_a_size(tmp_path: Path) -> None:
    complaint = (
        "parameter 'negative' after [*]: expected a size among n, negativ, got 'negative'. Did you mean"
    )
    with pytest.raises(DeclarationError, match=complaint):
        declare_signed(tmp_path, entry="flip<true>", sizes=["n", "negativ"])


def test_every_dtype_has_a_spelling_for_an_entry() -> None:
    for dtype in BY_NAME.values():
        declared = declare(types={"T": dtype}, cases=[case(rows=1, width=1)])
        assert declared.instances[0].entry == f"rows::scale<1, {dtype.cuda[0]}>"
