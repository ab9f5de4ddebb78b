"""`@kernel`: what a declaration holds, and how a wrong one is refused at its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import (
    Constant,
    In,
    InOut,
    Out,
    Scalar,
    Scratch,
    bf16,
    case,
    f32,
    i32,
    i64,
    indices,
    kernel,
    uniform,
    work,
)
from pytest_cudaopt.amounts import Amount
from pytest_cudaopt.criterion import Criterion, criterion
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.dtypes import BY_NAME
from pytest_cudaopt.errors import DeclarationError, SourceError
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.parameters import Role

SOURCE = """// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 128, 256
// @options --use_fast_math
extern "C" __global__ void copy(const float* x, float* y, int n) {}
"""


def declare(**changes: Any) -> Kernel:
    """Declare a small kernel with some arguments of `kernel` changed."""
    arguments = {"source": "copy.cu", "cases": [case(n=4), case(n=8, measure=True)], **changes}

    @kernel(arguments.pop("source"), **arguments)
    def copy(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        """Copy a vector."""
        y[...] = x

    return copy


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "copy.cu").write_text(SOURCE)
    return str(tmp_path / "copy.cu")


def test_bytes_can_be_left_to_be_counted_and_are_unknown_until_then() -> None:
    declared = declare(work=work(flops="2*n", bytes="touched"))

    assert declared.work.bytes_touched
    assert declared.work_at(case(n=3)) == Amount(flops=6, bytes=None, bytes_counted=True)
    assert declared.work_at(case(n=3), 96) == Amount(flops=6, bytes=96, bytes_counted=True)


def test_work_without_a_value_at_a_case_names_the_case() -> None:
    declared = declare(work=work(bytes="8 // n"))

    assert declared.work_at(case(n=2)) == Amount(bytes=4)
    with pytest.raises(DeclarationError, match=r"at case\(n=0\): work: expression '8 // n'"):
        declared.work_at(case(n=0))


def test_a_declaration_holds_what_was_declared() -> None:
    declared = declare(rtol=1e-3, work=work(flops="2*n", bytes="8*n"))
    assert declared.name == declared.entry == declared.__name__ == "copy"
    assert declared.source == Path(__file__).parent / "copy.cu"
    assert [(p.name, p.role) for p in declared.parameters] == [
        ("x", Role.IN),
        ("y", Role.OUT),
        ("n", Role.SCALAR),
    ]
    assert declared.sizes == ("n",)
    assert declared.case_ids == ("n4", "n8")
    assert declared.measured_cases == declared.cases[1:]
    y = declared.parameters[1]
    assert criterion(y, declared.tolerance, {"n": 4}) == Criterion(1e-3, f32.atol)
    assert declared.doc == "Copy a vector."
    assert declared.work.flops is not None
    assert declared.work.flops.evaluate({"n": 3}) == 6


def test_the_location_is_the_declarations_line() -> None:
    declared = declare()
    text = Path(declared.location.file).read_text().splitlines()
    assert text[declared.location.line - 1].strip() == '@kernel(arguments.pop("source"), **arguments)'


def test_calling_a_kernel_calls_its_reference() -> None:
    import numpy as np

    y = np.zeros(3)
    declare()(np.ones(3), y, 3)
    assert y.tolist() == [1, 1, 1]
    assert declare(reference=lambda x, y, n: "other")(1, 2, 3) == "other"


def test_a_kernel_is_frozen_but_takes_marks() -> None:
    declared = declare()
    with pytest.raises(AttributeError, match="name"):
        declared.name = "other"
    marked: Any = pytest.mark.usefixtures("tmp_path")(declared)
    assert marked is declared
    assert [mark.name for mark in declared.pytestmark] == ["usefixtures"]


def test_annotations_are_free_and_markers_are_defaults() -> None:
    @kernel("a.cu", cases=[case(n=1)])
    def annotated(x: int = InOut(bf16, "n"), s: float = Scalar(f32, 0.5), n: int = Scalar(i64)):  # type: ignore
        pass

    assert [p.dtype.name for p in annotated.parameters] == ["bf16", "f32", "i64"]
    assert annotated.sizes == ("n",)


def test_sizes_may_be_passed_beside_the_parameters_or_derived() -> None:
    @kernel("a.cu", cases=[case(n=3, m=4)], sizes=["m"], derive={"ld": "n + 1", "area": "ld * m"})
    def padded(y=Out(f32, "m", "ld"), n=i32, ld=i32):
        pass

    assert padded.sizes == ("n", "m")
    assert padded.all_sizes(padded.cases[0]) == {"n": 3, "m": 4, "ld": 4, "area": 16}


def test_cuda_types_are_those_a_kernel_may_spell() -> None:
    @kernel("a.cu", cases=[case(n=1)])
    def spelt(x=In(f32, "n"), y=Out(bf16, "n"), w=Scratch(i64, 4), n=i64):
        pass

    assert [p.cuda_types for p in spelt.parameters] == [
        ("const float*", "float*"),
        ("__nv_bfloat16*",),
        ("long long*", "long*"),
        ("long long", "long"),
    ]


def test_the_start_is_the_file_with_first_tunables(source: str) -> None:
    start = declare(source=source, defines={"UNROLL": 4}, options=["--fmad=false"]).start()
    assert start.file == "copy.cu"
    assert start.source == SOURCE
    assert start.chosen == {"BLOCK": 128}
    assert start.defines == (("UNROLL", "4"),)
    assert start.options == ("--use_fast_math", "--fmad=false")
    assert str(start.configure({"n": 1000})) == "grid=8 block=128"


def test_a_rule_in_the_declaration_serves_a_file_without_one(source: str, tmp_path: Path) -> None:
    bare = tmp_path / "bare.cu"
    bare.write_text("// nothing here\n")
    launch = "grid=(1) block=(32)"
    assert str(declare(source=str(bare), launch=launch).start().configure({"n": 9})) == "grid=1 block=32"
    # The file's own rule is what an accepted candidate wrote there.
    assert str(declare(source=source, launch=launch).start().configure({"n": 9})) == "grid=1 block=128"


def test_of_a_file_with_several_kernels_one_rule_cannot_be_for_all(source: str) -> None:
    Path(source).write_text(SOURCE + '\nextern "C" __global__ void other() {}\n')
    assert str(declare(source=source).start().configure({"n": 9})) == "grid=1 block=128"
    with pytest.raises(SourceError, match="expected one, got launch= and") as caught:
        declare(source=source, launch="grid=(1) block=(32)").start()
    assert "// @cudaopt begin copy" in str(caught.value)


def test_a_second_kernel_of_a_name_is_refused(tmp_path: Path) -> None:
    module = tmp_path / "test_named_twice.py"
    once = "@kernel('k.cu', cases=[case(n=1)])\ndef k(y=Out(f32, 'n'), n=i32): ...\n"
    module.write_text(f"from pytest_cudaopt import Out, case, f32, i32, kernel\n{once}{once}")
    with pytest.raises(DeclarationError, match="got one of line 2 again"):
        load_kernel(f"{module}::k")


def _wrong(**changes: Any) -> Callable[[], object]:
    return lambda: declare(**changes)


def _no_output() -> object:
    @kernel("a.cu", cases=[case(n=1)])
    def reads(x=In(f32, "n"), n=i32):
        pass

    return reads


def _no_marker() -> object:
    @kernel("a.cu", cases=[case(n=1)])
    def bare(x, y=Out(f32, "n"), n=i32):
        pass

    return bare


def _float_size() -> object:
    @kernel("a.cu", cases=[case(n=1)])
    def scaled(y=Out(f32, "n"), alpha=f32, n=i32):
        pass

    return scaled


def _unknown_size() -> object:
    @kernel("a.cu", cases=[case(n=1)])
    def sized(y=Out(f32, "rows"), n=i32):
        pass

    return sized


def _reserved_size() -> object:
    @kernel("a.cu", cases=[case(n=1)], sizes=["seed"])
    def seeded(y=Out(f32, "n"), n=i32):
        pass

    return seeded


@pytest.mark.parametrize(
    ("declare_wrongly", "complaint"),
    [
        (_wrong(cases=[]), "cases: expected at least one case(...), got none. Write cases=[case(n=...)]"),
        (_wrong(cases=[4]), "cases[0]: expected a case(...), got 4"),
        (_wrong(cases=[case(n=1), case(m=1)]), "cases[1]: expected the sizes n, got m. Add n=..."),
        (
            _wrong(cases=[case(n=1), case(n=1)]),
            "cases[1]: expected a case that differs from the others, got case(n=1) a second time",
        ),
        (
            _wrong(cases=case(n=1)),
            "cases=: expected a list of case(...), got case(n=1). Write cases=[case(n=1)]",
        ),
        (_wrong(cases=3), "cases=: expected a list of case(...), got 3"),
        (_wrong(rtol="a"), "rtol: 'a': expected sizes among n, got 'a'"),
        (_wrong(rtol="n +"), "rtol=: expression 'n +': expected numbers, sizes, + - * / **"),
        (_wrong(atol="1 - 2"), "atol=: expression '1 - 2': expected a number >= 0, got -1"),
        (
            _wrong(cases=[case(n=1), case(n=3)], rtol="2 - n"),
            "cases[1] (case(n=3)): rtol of 'y': expression '2 - n': expected a number >= 0, got -1 (n=3)",
        ),
        (
            _wrong(cases=[case(n=0)], rtol="1e-3/n"),
            "cases[0] (case(n=0)): rtol of 'y': expression '1e-3/n': got a division by zero (n=0)",
        ),
        (
            _wrong(cases=[case(n=1), case(n=0)], atol="sqrt(n - 1)"),
            "cases[1] (case(n=0)): atol of 'y': expression 'sqrt(n - 1)': got a root, logarithm or power",
        ),
        (
            _wrong(cases=[case(n=1), case(n=0)], derive={"share": "100 // n"}),
            "cases[1] (case(n=0)): expression '100 // n': got a division by zero (n=0)",
        ),
        (
            _wrong(defines=["A"]),
            "defines=: expected a dictionary from macro to text or number, got ['A']. Write",
        ),
        (_wrong(defines="A"), "defines=: expected a dictionary from macro to text or number, got 'A'"),
        (
            _wrong(options="--use_fast_math"),
            "options=: expected a list such as ['--use_fast_math'], got '--use_fast_math'. Write "
            "options=['--use_fast_math']",
        ),
        (_wrong(options=3), "options=: expected a list such as ['--use_fast_math'], got 3"),
        (_wrong(sizes="pad"), "sizes=: expected a list such as ['pad'], got 'pad'. Write sizes=['pad']"),
        (_wrong(cases=[[case(n=1), case(n=2)], 4]), "cases[1]: expected a case(...), got 4"),
        (_wrong(accept="f"), "accept=: expected a function of inputs and outputs"),
        (_wrong(reference=3), "reference=: expected a callable, 'FILE.cu' or 'FILE.cu::ENTRY', got 3"),
        (_wrong(reference="naive.cpp"), "reference=: expected a callable, 'FILE.cu'"),
        (_wrong(reference="naive.cu::"), "reference=: expected a callable, 'FILE.cu'"),
        (_wrong(rtol=-1.0), "rtol=: expected a finite number >= 0, got -1.0"),
        (_wrong(atol=float("inf")), "atol=: expected a finite number >= 0, got inf"),
        (_wrong(launch="grid=(1)"), "launch rule 'grid=(1)': expected block=(...)"),
        (_wrong(sizes=["a b"]), "sizes=: expected names, got 'a b'"),
        (_wrong(derive={"ld": "m + 1"}), "derive['ld']: expected sizes among ld, n, got 'm'"),
        (_wrong(work=work(flops="m")), "work(flops=): expected sizes among n, got 'm'"),
        (_no_output, "parameters: expected at least one Out or InOut, got none"),
        (_no_marker, "parameter 'x': expected a marker as default"),
        (_float_size, "parameter 'alpha': expected Scalar(f32, value)"),
        (_unknown_size, "parameter 'y': 'rows': expected sizes among n, got 'rows'"),
        (
            _reserved_size,
            "sizes: expected none of measure, id, seed, weight, values, misaligned, alias, got seed",
        ),
    ],
)
def test_a_contradiction_is_refused_at_the_declaration(
    declare_wrongly: Callable[[], object], complaint: str
) -> None:
    with pytest.raises(DeclarationError) as caught:
        declare_wrongly()
    assert complaint in str(caught.value)
    assert caught.value.at is not None
    assert caught.value.at.file == __file__


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: In(float, "n"), "In: expected a dtype of this package such as f32, or the name of one"),
        (lambda: Out(f32), "Out(f32): expected at least one extent"),
        (lambda: Scalar(f32), "Scalar(f32): expected a value or values=, since a float cannot be a size"),
        (lambda: Scalar(f32, 1.0, values=lambda *a: 1.0), "Scalar: expected value or values=, got both"),
        (lambda: In(f32, "n", values=3), "values=: expected a generator such as uniform(0, 1) or a callable"),
    ],
)
def test_a_marker_that_makes_no_sense_is_refused(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        make()
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("make", "given", "complaint"),
    [
        (
            In,
            "optinal",
            "In(optinal=): expected one of values, oracle, strides, optional, got 'optinal'. Did you",
        ),
        (In, "optinal", "Did you mean 'optional'?"),
        (Out, "exakt", "Did you mean 'exact'?"),
        (Out, "values", "Out(values=): expected one of exact, rtol, atol, ulp, unwritten, oracle, strides"),
        (InOut, "value", "Did you mean 'values'?"),
        (Scratch, "values", "Scratch(values=): expected no keyword, got 'values'"),
        (Constant, "symbl", "Did you mean 'symbol'?"),
        (
            Scalar,
            "derived",
            "Scalar(derived=): expected one of values, derive, got 'derived'. Did you mean 'deri",
        ),
    ],
)
def test_a_misspelt_keyword_of_a_marker_is_told_what_it_is_near(
    make: Callable[..., object], given: str, complaint: str
) -> None:
    with pytest.raises(DeclarationError) as caught:
        make(i32, **{given: 1})
    assert complaint in str(caught.value)


def test_a_misspelt_size_in_a_shape_is_told_what_it_is_near() -> None:
    with pytest.raises(
        DeclarationError, match=r"got 'row'\. Did you mean 'rows'\? Otherwise pass it as a param"
    ):

        @kernel("a.cu", cases=[case(rows=1)])
        def sized(y=Out(f32, "row"), rows=i32):
            pass


def test_values_over_sizes_are_checked_at_the_declaration() -> None:
    with pytest.raises(DeclarationError, match=r"parameter 'x': 'm': expected sizes among n, got 'm'"):

        @kernel("a.cu", cases=[case(n=1)])
        def spread(x=In(f32, "n", values=uniform(0, "m")), y=Out(f32, "n"), n=i32):
            pass


def test_a_case_without_a_tolerance_is_numbered_as_written() -> None:
    with pytest.raises(DeclarationError, match=r"cases\[1\] \(case\(n=3, T=f32\)\): rtol of 'y'"):

        @kernel(
            "a.cu",
            entry="a<{T}>",
            types={"T": (f32, bf16)},
            cases=[case(n=1), case(n=3)],
            rtol="2 - n",
        )
        def a(y=Out("T", "n"), n=i32):
            pass


def test_a_missing_source_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "copied.cu").write_text("")
    with pytest.raises(SourceError) as caught:
        declare(source=str(tmp_path / "copy.cu")).start()
    assert "No such file" in str(caught.value)
    assert "Sources beside it: copied.cu" in str(caught.value)


def test_a_start_without_a_launch_rule_is_refused(tmp_path: Path) -> None:
    (tmp_path / "copy.cu").write_text("// nothing here\n")
    with pytest.raises(SourceError, match=r"no '// @launch' line in copy\.cu and no launch="):
        declare(source=str(tmp_path / "copy.cu")).start()


def test_a_launch_rule_over_unknown_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "copy.cu").write_text("// @launch grid=(cdiv(n, TILE)) block=(32)\n")
    with pytest.raises(SourceError, match=r"got TILE\. Declare a size of that name or add '// @tune TILE"):
        declare(source=str(tmp_path / "copy.cu")).start()


@pytest.mark.parametrize("name", BY_NAME)
def test_every_dtype_can_be_declared(name: str) -> None:
    dtype = BY_NAME[name]

    @kernel("a.cu", cases=[case(n=1)])
    def one(x=In(dtype, "n"), y=Out(dtype, "n"), n=i32):
        pass

    assert one.parameters[0].values is not None


def test_a_source_that_is_not_utf8_is_refused_at_the_declaration(tmp_path: Path) -> None:
    (tmp_path / "copy.cu").write_bytes(b"// caf\xe9\n")
    with pytest.raises(SourceError, match="got not UTF-8: ") as caught:
        declare(source=str(tmp_path / "copy.cu")).start()
    assert caught.value.at is not None


def test_a_source_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "marked.cu"
    file.write_bytes(b"\xef\xbb\xbf// @launch grid=(1) block=(64)\n")
    assert str(declare(source=str(file)).start().configure({"n": 9})) == "grid=1 block=64"


def test_a_tunable_with_the_name_of_a_size_is_refused(tmp_path: Path) -> None:
    source = "// @launch grid=(1) block=(n)\n// @tune n = 64, 128\n"
    with pytest.raises(SourceError, match="expected a name no size or parameter has, got 'n'"):
        declare().candidate(source, tmp_path / "a.cu")


def test_values_that_name_an_array_or_an_unknown_size_are_refused_with_what_to_write() -> None:
    def declare_with(high: str) -> None:
        @kernel("a.cu", cases=[case(n=3)])
        def gather(lens=In(i32, "n"), at=In(i32, "n", values=indices(high)), y=Out(f32, "n"), n=i32):
            pass

    with pytest.raises(
        DeclarationError, match=r"got the array 'lens'\. Draw it with a callable \(rng, sizes, dr"
    ):
        declare_with("lens")
    with pytest.raises(DeclarationError, match=r"parameter 'at': 'm': expected sizes among n, got 'm'"):
        declare_with("m")
    declare_with("n + 1")
