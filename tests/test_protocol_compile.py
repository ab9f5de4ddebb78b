"""The `compile` step through the real compiler: diagnostics, signatures, names, resources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_client import COMPILE, Json, Served, module, request

SOFTMAX = 'extern "C" __global__ void softmax(const float* x, float* y, int rows, long n) { y[0] = x[0]; }\n'


class Compiler(Served):
    """A harness that compiles with line tables in two compilations, or without them in one."""

    def __init__(self, line_tables: bool) -> None:
        super().__init__()
        self.line_tables = line_tables

    def compile(self, source: str, *entries: str, **members: object) -> Json:
        members = {"line_tables": self.line_tables, **members}
        return self.ask(request(COMPILE, modules=[module(source, *entries, **members)]))


@pytest.fixture(scope="module", params=[True, False], ids=["line-tables", "at-once"])
def served(request: pytest.FixtureRequest) -> Iterator[Compiler]:
    with Compiler(request.param) as serving:
        yield serving


def compiled(served: Compiler, source: str, *entries: str, **members: object) -> Json:
    answer = served.compile(source, *entries, **members)
    assert answer["status"] == "ok", answer["fault"]
    step: Json = answer["steps"][0]
    return step


def refused(served: Compiler, source: str, *entries: str, **members: object) -> Json:
    answer = served.compile(source, *entries, **members)
    assert answer["status"] == "fault"
    fault: Json = answer["fault"]
    return fault


def errors(fault: Json) -> list[tuple[int, str]]:
    return [(found["line"], found["text"]) for found in fault["diagnostics"] if found["severity"] == "error"]


def declared(*parameters: list[str], name: str = "softmax") -> list[Json]:
    return [{"name": name, "parameters": list(parameters)}]


def test_an_error_has_file_line_column_and_text(served: Compiler) -> None:
    fault = refused(served, "\n__global__ void k() {\n  foo(3);\n}\n")
    assert fault["kind"] == "compile_error"
    assert (fault["file"], fault["line"]) == ("k.cu", 3)
    assert fault["message"] == 'k.cu:3:3: identifier "foo" is undefined'
    assert fault["diagnostics"] == [
        {"file": "k.cu", "line": 3, "column": 3, "severity": "error", "text": 'identifier "foo" is undefined'}
    ]


def test_warnings_of_a_source_that_compiles_are_answered_once(served: Compiler) -> None:
    found = compiled(served, "__global__ void k() {\n  int unused;\n}")["diagnostics"]
    assert [(one["line"], one["severity"]) for one in found] == [(2, "warning")]
    assert found[0]["text"].endswith("[#177-D]")


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("__global__ void k() {\n  int a;\n", 2, 'expected a "}"'),
        ("__global__ void k() {}\n/* never closed\n", 2, "comment unclosed"),
        ("#if 1\n__global__ void k() {}\n", 1, "#endif"),
        ('#include "nothere.h"\n__global__ void k() {}\n', 1, "nothere.h"),
        ("__global__ void k() {}\nvoid host() {}\n", 2, "execution space"),
    ],
)
def test_errors_at_the_edges_of_a_source_are_the_users_own(
    served: Compiler, source: str, line: int, words: str
) -> None:
    fault = refused(served, source, entries=declared(name="k"))
    assert fault["kind"] == "compile_error"
    assert any(line == at and words in text for at, text in errors(fault))
    assert "cudaopt" not in str(fault)


def test_an_error_in_inline_ptx_is_at_its_line(served: Compiler) -> None:
    # Line tables make the PTX longer: a line number of the text without them would point elsewhere.
    lines = ["__global__ void k(float* y) {", *(f"  y[{i}] = y[{i + 1}] * y[{i + 2}];" for i in range(20))]
    fault = refused(served, "\n".join([*lines, '  asm("bad.foo %r1;");', "  y[0] = 1;", "}"]))
    assert (fault["kind"], fault["file"], fault["line"]) == ("compile_error", "k.cu", 22)


def test_a_refused_option_is_a_compile_error(served: Compiler) -> None:
    assert "-foo" in refused(served, SOFTMAX, options=["-foo"])["message"]


def test_a_declaration_that_fits_is_accepted_in_any_spelling_it_allows(served: Compiler) -> None:
    parameters = [["float*", "const float*"], ["float*"], ["int"], ["long long", "long"]]
    compiled(served, SOFTMAX, entries=declared(*parameters))
    compiled(served, "__global__ void k() {}\n// ends in \\", entries=declared(name="k"))


def test_volatile_makes_no_difference_to_a_pointers_declaration(served: Compiler) -> None:
    source = "__global__ void k(volatile float* x, const volatile int* y) {}\n"
    compiled(served, source, entries=declared(["float*"], ["const int*"], name="k"))
    fault = refused(served, source, entries=declared(["float*"], ["int*"], name="k"))
    assert "parameter 2 is 'const volatile int *', expected 'int*'" in errors(fault)[0][1]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (
            [["const double*"], ["float*"], ["int"], ["long"]],
            "parameter 1 is 'const float *', expected 'const double*'",
        ),
        (
            [["const float*"], ["float*"], ["long long", "long"], ["int"]],
            "parameter 3 is 'int', expected 'long long' or 'long'; parameter 4 is 'long', expected 'int'",
        ),
        (
            [["const float*"], ["float*"], ["int"]],
            "it is void (*)(const float *, float *, int, long), expected 3 parameters",
        ),
        (
            [["__nv_bfloat16*"], ["float*"], ["int"], ["long"]],
            "parameter 1 is 'const float *', expected '__nv_bfloat16*'",
        ),
    ],
)
def test_a_declaration_that_does_not_fit_is_an_error_at_the_kernels_line(
    served: Compiler, parameters: list[list[str]], reason: str
) -> None:
    fault = refused(served, "// one line above\n" + SOFTMAX, entries=declared(*parameters))
    assert fault["kind"] == "compile_error"
    text = f"cudaopt signature: kernel 'softmax' is not as declared: {reason}"
    assert errors(fault) == [(2, text)]
    assert (fault["file"], fault["line"]) == ("k.cu", 2)


def test_templates_and_namespaces_are_found_by_name_expression(served: Compiler) -> None:
    source = "namespace ns { template <class T, int N> __global__ void fill(T* y) { y[0] = N; } }"
    entries = declared(["float*"], name="ns::fill<float, 4>")
    step = compiled(served, source, entries=entries)
    (mangled,) = step["lowered"].values()
    assert mangled.startswith("_ZN2ns4fill")
    assert list(step["resources"]) == [mangled]


@pytest.mark.parametrize("checked", [True, False])
def test_an_unknown_entry_lists_the_kernels_there_are(served: Compiler, checked: bool) -> None:
    source = SOFTMAX + "__global__ void plain(float* y) {}"
    members = {"entries": declared(["int"], name="sofmax")} if checked else {}
    fault = refused(served, source, *(() if checked else ("sofmax",)), **members)
    assert fault["kind"] == "unknown_entry"
    assert "sofmax" in fault["message"]
    assert "softmax, plain(float*)" in fault["message"]


def test_a_function_that_is_no_kernel_is_no_entry(served: Compiler) -> None:
    source = SOFTMAX + "__device__ int helper(int x) { return x; }"
    fault = refused(served, source, "helper")
    assert fault["kind"] == "unknown_entry"
    assert "__global__" in fault["message"]


def test_registers_spills_and_shared_memory_come_from_ptxas(served: Compiler) -> None:
    source = """
    extern "C" __global__ void k(float* y) {
      __shared__ float s[64];
      s[threadIdx.x] = y[threadIdx.x];
      __syncthreads();
      y[threadIdx.x] = s[threadIdx.x ^ 1];
    }
    """
    used = compiled(served, source, "k")["resources"]["k"]
    assert used["static_shared_bytes"] == 256
    assert used["registers"] > 4
    assert used["spill_store_bytes"] == used["spill_load_bytes"] == 0


def test_the_cubins_hash_ignores_comments_and_nothing_else(served: Compiler) -> None:
    plain = compiled(served, SOFTMAX)["cubin_sha256"]
    assert compiled(served, "// hello\n\n" + SOFTMAX, file="other.cu")["cubin_sha256"] == plain
    assert compiled(served, SOFTMAX.replace("x[0]", "x[1]"))["cubin_sha256"] != plain


def test_the_check_of_a_declaration_adds_nothing_to_the_program(served: Compiler) -> None:
    checked = declared(["const float*"], ["float*"], ["int"], ["long"])
    bare = compiled(served, SOFTMAX, "softmax")["cubin_sha256"]
    assert compiled(served, SOFTMAX, entries=checked)["cubin_sha256"] == bare


def test_headers_come_from_memory_and_from_include_folders(served: Compiler, tmp_path: Path) -> None:
    (tmp_path / "folder.h").write_text("#define FOLDER 1\n")
    source = '#include "memory.h"\n#include "folder.h"\n__global__ void k(int* y) { *y = MEMORY + FOLDER; }'
    compiled(served, source, headers={"memory.h": "#define MEMORY 2\n"}, include=[str(tmp_path)])


def test_files_of_a_compiled_module_hold_ptx_and_cubin(served: Compiler, tmp_path: Path) -> None:
    files = {"ptx_file": str(tmp_path / "m.ptx"), "cubin_file": str(tmp_path / "m.cubin")}
    compiled(served, SOFTMAX, "softmax", **files)
    ptx = (tmp_path / "m.ptx").read_text()
    assert ".entry softmax(" in ptx
    assert ('.file\t1 "k.cu"' in ptx) == served.line_tables
    assert (tmp_path / "m.cubin").read_bytes().startswith(b"\x7fELF")


def test_without_nvrtc_the_fault_says_what_was_tried_and_what_to_install() -> None:
    with Served("--nvrtc", "/nowhere/libnvrtc.so") as serving:
        fault = serving.ask(request(COMPILE, modules=[module(SOFTMAX)]))["fault"]
        assert fault["kind"] == "no_nvrtc"
        assert "/nowhere/libnvrtc.so" in fault["message"]
        assert "pip install" in fault["message"]
        # Other requests still work: only `compile` needs it.
        assert serving.ask(request({"do": "limits"}))["status"] == "ok"
