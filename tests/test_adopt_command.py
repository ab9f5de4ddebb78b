"""`cudaopt adopt`: from a file to a module that runs, and what it says where it cannot."""

import ast
import json
import shutil
import subprocess

import pytest

YES, NO, NOT_JUDGED = 0, 1, 2
ROWS = """\
#include <cuda_runtime.h>
#define THREADS 64

extern "C" __global__ void scaled(const float* in, float* out, int rows, int cols, float factor) {
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        out[blockIdx.x * cols + col] = factor * in[blockIdx.x * cols + col];
    }
}

extern "C" __global__ void counted(const int* x, unsigned int* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) atomicAdd(total, 1u);
}
#ifndef __CUDACC_RTC__
void launch(const float* x, float* y, int height, int width) {
    scaled<<<height, THREADS>>>(x, y, height, width, 2.0f);
}
#endif
"""


def kernels_of(result: pytest.RunResult) -> dict:
    return {kernel["name"]: kernel for kernel in json.loads(result.stdout.str())["kernels"]}


def whats(kernel: dict) -> str:
    return "\n".join(obstacle["what"] for obstacle in kernel["obstacles"])


def test_from_a_file_to_green_items_only_the_references_are_missing(project):
    project.write("rows.cu", ROWS)
    result = project.cudaopt("adopt", "rows.cu")

    assert result.ret == YES
    result.stdout.fnmatch_lines(
        ["Wrote test_rows.py: scaled, counted (*TODOs)", "Next:", "*pytest test_rows.py --cudaopt-device sim"]
    )
    text = (project.path / "test_rows.py").read_text()
    assert 'launch="grid=(rows) block=(64)"' in text
    first, second = (line.strip() for line in text.splitlines() if "raise NotImplementedError" in line)
    text = text.replace(first, "out[...] = factor * in_").replace(
        second, "total[0] = total[0] + (x > 0).sum()"
    )
    project.write("test_rows.py", text)

    project.run_alone("test_rows.py", "--cudaopt-device=sim").assert_outcomes(passed=12)


def test_an_adopted_module_runs_at_once_and_asks_for_its_references(project):
    project.write("rows.cu", ROWS)
    project.cudaopt("adopt", "rows.cu", "--entry", "scaled")
    result = project.run_alone("test_rows.py", "--cudaopt-device=sim")

    result.assert_outcomes(passed=1, failed=3, skipped=2)
    result.stdout.fnmatch_lines(["*TODO: with NumPy, write out*from in_*"])


PARTS = """\
#include <torch/extension.h>
// @cudaopt begin stepped
#include "step.cuh"
namespace lib {
#define RADIUS 1
__constant__ float taps[2 * RADIUS + 1];
struct Params { const float* q; float* out; int n; float scale; };
// @launch grid=(cdiv(n, BLOCK), batch) block=(BLOCK)
// @tune BLOCK = 64, 128
__global__ void by_value(const Params p) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < p.n) p.out[blockIdx.y * p.n + i] = step(taps[2]) * p.q[blockIdx.y * p.n + i];
}
}
// @cudaopt end
// @cudaopt begin other
// @launch grid=(1) block=(n)
__global__ void copied(const float* x, float* y, int n) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void second(const float* x, float* y, int n) { y[threadIdx.x] = x[threadIdx.x]; }
// @cudaopt end
__global__ void outside(const float* x, float* y, int n) { y[threadIdx.x] = x[threadIdx.x]; }
at::Tensor host() { std::vector<int> v; }
"""


def test_a_module_of_regions_with_a_header_a_struct_and_a_constant_runs(project):
    project.write("pyproject.toml", "")
    project.write("inc/step.cuh", "__device__ inline float step(float x) { return 2.0f * x; }\n")
    project.write("parts.cu", PARTS)
    result = project.cudaopt("adopt", "parts.cu")

    assert result.ret == YES
    result.stdout.fnmatch_lines(["*it is outside the file's regions*"])
    result.stdout.fnmatch_lines(["*second: region 'other' is not its own*// @cudaopt begin second*"])
    result.stdout.no_fnmatch_line("*torch*")
    text = (project.path / "test_parts.py").read_text()
    for written in (
        "def stepped(",
        "def other(",
        '"lib::Params",',
        'sizes=["batch"],',
        'Constant(f32, 3, symbol="lib::taps")',
    ):
        assert written in text
    first, second = (line.strip() for line in text.splitlines() if "raise NotImplementedError" in line)
    text = text.replace(first, "out[...] = 2 * taps[2] * q").replace(second, "y[...] = x")
    project.write("test_parts.py", text.replace("n=1000", "n=100").replace("n=65536", "n=512"))

    edited = "--cudaopt-device=sim", "-k", "check"
    project.run_alone("test_parts.py", *edited).assert_outcomes(passed=4, deselected=8)


def test_the_written_module_is_formatted_and_sound(project):
    ruff = shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    project.write("library.cu", LIBRARY)
    assert project.cudaopt("adopt", "library.cu").ret == YES
    options = ("--line-length=110", "--isolated", "test_library.py")

    ast.parse((project.path / "test_library.py").read_text())
    subprocess.run([ruff, "format", "--check", *options], cwd=project.path, check=True)
    subprocess.run([ruff, "check", "--select=E,F,I,W", *options], cwd=project.path, check=True)


LIBRARY = """\
#include <cuda_fp16.h>
#include <torch/extension.h>
#include "detail/step.cuh"
struct Params { const float* q; float* out; int n; float scale; };
struct Hidden;
using half_t = __half;
namespace lib {
__constant__ float taps[16];
template <int HEAD_DIM, class T>
__global__ void attn(const T* __restrict__ q, T* __restrict__ o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i * HEAD_DIM] = q[i * HEAD_DIM];
}
__global__ void conv(const float* x, float* y, int n) { y[0] = taps[0] * step(x[n - 1]); }
__global__ void by_value(Params p) { p.out[0] = p.q[0] * p.scale; }
__global__ void pointers(float** a, int n) { a[0][0] = n; }
__global__ void vectors(const float3* a, float3* b) { b[0] = a[0]; }
__global__ void texture(cudaTextureObject_t t, float* y) { y[0] = 0; }
__global__ void talks(const half_t* x, half_t* y, int n) { y[0] = x[0]; printf("%d", n); }
__global__ void waits(float* y, int n) { asm volatile("barrier.cluster.wait;"); y[0] = n; }
__global__ void broken(float* y, int n) { y[0] = nonsense; }
void host(int n) { std::vector<int> v(n); attn<128, __half><<<(n + 255) / 256, 256>>>(0, 0, n); }
}
"""


@pytest.fixture
def library(project):
    project.write("pyproject.toml", "")
    project.write("csrc/library.cu", LIBRARY)
    project.write("include/detail/step.cuh", "__device__ inline float step(float x) { return x; }\n")
    return project


def test_the_list_gives_the_compilers_signatures(library):
    result = library.cudaopt("adopt", "csrc/library.cu", "--list")

    assert result.ret == YES
    result.stdout.fnmatch_lines(
        [
            "kernel * line * status * registers * shared * signature",
            "lib::attn<{HEAD_DIM}, {T}> *ok *(const __half ?, __half ?, int)",
            "lib::by_value *ok *(Params)",
            "lib::talks *ok *",
            "lib::waits *needs a GPU *",
            "lib::broken *does not compile *(float*, int)",
        ]
    )
    assert not (library.path / "csrc/test_library.py").exists()


@pytest.mark.parametrize(
    ("name", "status", "what"),
    [
        ("attn", "ok", ""),
        ("by_value", "ok", "struct by value"),
        ("pointers", "cannot be declared", "pointer to pointers"),
        ("vectors", "cannot be declared", "has no dtype"),
        ("texture", "cannot be declared", "texture or surface"),
        ("talks", "ok", ""),
        ("waits", "needs a GPU", "barrier.cluster"),
        ("broken", "does not compile", '"nonsense" is undefined'),
    ],
)
def test_what_stands_in_the_way_of_a_kernel_is_named(library, name, status, what):
    kernel = kernels_of(library.cudaopt("adopt", "csrc/library.cu", "--json"))[f"lib::{name}"]

    assert kernel["status"] == status
    assert what in whats(kernel)
    assert bool(kernel["obstacles"]) is bool(what)


@pytest.mark.parametrize(
    ("declaration", "what"),
    [
        ("__global__ void f(float* y) { cg::grid_group g = cg::this_grid(); }", "synchronises the grid"),
        ("__global__ void __cluster_dims__(2, 1, 1) f(float* y) {}", "launched in clusters"),
        ("__global__ void f(const __grid_constant__ CUtensorMap m, float* y) {}", "TMA descriptor"),
        ("__global__ void f(float* y) { g<<<1, 1>>>(); }", "launches kernels itself"),
        ("__global__ void f(float* y) { cudaDeviceSynchronize(); }", "calls cudaDeviceSynchronize"),
        ("__global__ void f(float (*apply)(float), float* y) {}", "function pointer"),
        ("__global__ void f(float* y, const int& n) {}", "is a reference"),
        ("__global__ void f(Elsewhere p, float* y) {}", "a type no dtype stands for"),
        ("template <class... A> __global__ void f(float* y) {}", "is a pack"),
        ("__global__ void f(float* y);", "only declared here"),
    ],
)
def test_even_text_that_does_not_compile_names_its_obstacles(project, declaration, what):
    project.write("odd.cu", declaration)
    kernel = kernels_of(project.cudaopt("adopt", "odd.cu", "--json"))["f"]

    assert what in whats(kernel)
    assert all(obstacle["advice"] for obstacle in kernel["obstacles"])


def test_what_the_whole_file_needs_is_found_or_named(library):
    answer = json.loads(library.cudaopt("adopt", "csrc/library.cu", "--json").stdout.str())
    whats_of_file = "\n".join(obstacle["what"] for obstacle in answer["obstacles"])

    assert answer["include"] == [str(library.path / "include")]
    assert answer["empty_headers"] == ["torch/extension.h"]
    assert "torch/extension.h was not found" in whats_of_file
    assert "host code in the way of the compiler (line 22)" in whats_of_file


def test_the_module_uses_what_declarations_offer(library):
    result = library.cudaopt("adopt", "csrc/library.cu")
    text = (library.path / "csrc/test_library.py").read_text()

    assert result.ret == YES
    for written in (
        'entry="lib::attn<{HEAD_DIM}, {T}>",',
        'types={"T": (f16,)},',
        'include=["../include"],',
        'stub=["torch/*"],',
        'sizes=["HEAD_DIM"],',
        "case(n=1000, HEAD_DIM=128),",
        'q=In("T", "n", "HEAD_DIM"),',
        'launch="grid=((n + 255) / 256) block=(256)",',
        'taps=Constant(f32, 16, symbol="lib::taps"),',
        '"Params",\n        q=In(f32, "n"),',
        "# TODO: lib::pointers (line 16) is left out",
    ):
        assert written in text


def test_a_header_given_a_folder_is_not_searched_for(library):
    library.write("other/detail/step.cuh", "__device__ inline float step(float x) { return 2 * x; }\n")
    searched = library.cudaopt("adopt", "csrc/library.cu", "--list")
    searched.stdout.fnmatch_lines(["*detail/step.cuh is in several folders*"])
    given = library.cudaopt("adopt", "csrc/library.cu", "--include=other", "--output=test_it.py")

    assert "several folders" not in given.stdout.str()
    assert 'include=["other"],' in (library.path / "test_it.py").read_text()
    assert '"csrc/library.cu",' in (library.path / "test_it.py").read_text()


def test_nothing_to_declare_is_a_no_and_writes_nothing(library):
    result = library.cudaopt("adopt", "csrc/library.cu", "--entry", "pointers")

    assert result.ret == NO
    result.stdout.fnmatch_lines(["*was not written: no kernel can be declared", "*pointer to pointers*"])
    assert not (library.path / "csrc/test_library.py").exists()


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (
            ("nothing.cu",),
            ["SOURCE: *nothing.cu", "*got *No such file*", "*next *CUDA sources there: macros.cu, scale.cu"],
        ),
        (
            ("test_scale.py",),
            ["SOURCE: *", "*expected  a CUDA source with a __global__ function", "*got *none"],
        ),
        (("macros.cu",), ["SOURCE: *", "*next *The macros in line 1 make some*"]),
        (
            ("scale.cu", "--entry", "skale", "--list"),
            ["SOURCE: --entry skale", "*expected  a kernel of scale.cu", "*got *scale are there"],
        ),
        (("scale.cu",), ["SETTINGS: output test_scale.py", "*next *--force*"]),
        (("scale.cu", "--output", "no/test_it.py"), ["SETTINGS: --output no/test_it.py", "*mkdir -p no"]),
        (("scale.cu", "--output", "."), ["SETTINGS: --output .", "*expected  a file"]),
        (("scale.cu", "--include", "no", "--list"), ["SETTINGS: --include no", "*expected  a folder"]),
    ],
)
def test_what_cannot_be_done_says_what_to_do(project, arguments, lines):
    project.write("macros.cu", "#define K(n) __global__ void n() {}\nK(a)\n")
    before = (project.path / "test_scale.py").read_text()
    result = project.cudaopt("adopt", *arguments)

    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(lines)
    assert (project.path / "test_scale.py").read_text() == before


def test_force_writes_over_a_module(project):
    assert project.cudaopt("adopt", "scale.cu", "--force").ret == YES
    assert "TODO" in (project.path / "test_scale.py").read_text()


def test_tunables_and_the_rule_of_the_file_are_its_own(project):
    project.cudaopt("adopt", "scale.cu", "--force")

    assert "launch=" not in (project.path / "test_scale.py").read_text()


def test_unreadable_directives_are_in_the_way_of_nothing_else(project):
    project.edit("scale.cu", "@tune BLOCK", "@tune")
    result = project.cudaopt("adopt", "scale.cu", "--list")

    result.stdout.fnmatch_lines(["scale *does not compile*", "*scale.cu: @tune*"])


def adopted(project, source: str) -> str:
    project.write("pyproject.toml", "")
    project.write("csrc/k.cu", source)
    result = project.cudaopt("adopt", "csrc/k.cu")
    assert result.ret == YES, result.stdout.str()
    assert "does not compile" not in result.stdout.str()
    return (project.path / "csrc/test_k.py").read_text()


TEMPLATE_OF_STRUCT = """\
namespace ns {
template <typename V, int N = 2> struct Params { const V* q; V* out; int n; };
template <typename T> __global__ void f(const Params<T> p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n) p.out[i] = p.q[i];
}
}
"""


def test_a_class_template_by_value_is_a_struct_of_the_entrys_types(project):
    text = adopted(project, TEMPLATE_OF_STRUCT)

    for written in ('"ns::Params<{T}, 2>",', 'q=In("T", "n"),', 'out=Out("T", "n"),', "n=Scalar(i32),"):
        assert written in text
    (reference,) = (line.strip() for line in text.splitlines() if "raise NotImplementedError" in line)
    project.write("csrc/test_k.py", text.replace(reference, "out[...] = q"))
    edited = "--cudaopt-device=sim", "-k", "check"
    project.run_alone("csrc/test_k.py", *edited).assert_outcomes(passed=2, deselected=4)


OVERLOADS = """\
namespace ns {
__global__ void f(float* __restrict__ x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
__global__ void f(double* x, const int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
using number = int;
struct Many { int n; };
__global__ void f(number* x, Many many) { if (threadIdx.x < many.n) x[threadIdx.x] *= 2; }
__global__ void f_2(double* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
}
"""


def test_overloads_are_told_apart_by_casts_and_by_names_of_their_own(project):
    text = adopted(project, OVERLOADS)

    assert 'entry="static_cast<void (*)(float*, int)>(ns::f)",' in text
    assert 'entry="static_cast<void (*)(double*, const int)>(ns::f)",' in text
    assert 'entry="static_cast<void (*)(int*, ns::Many)>(ns::f)",' in text
    functions = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert functions == ["f", "f_3", "f_4", "f_2"]


VALUES = """\
namespace ns { enum class Kind { A, B }; }
template <ns::Kind K> __global__ void of_kind(float* x) { x[threadIdx.x] = (int)K; }
template <class T, T (*F)(T), bool B> __global__ void applied(T* x) { x[threadIdx.x] = F(x[threadIdx.x]); }
"""


def test_enums_and_function_pointers_among_template_parameters_are_guessed_as_what_compiles(project):
    text = adopted(project, VALUES)

    assert 'entry="of_kind<ns::Kind::A>",  # TODO: guessed K' in text
    assert 'entry="applied<{T}, nullptr, false>",  # TODO: guessed T, F, B' in text


def test_a_name_that_fits_no_instance_is_told_in_the_compilers_words(project):
    project.write(
        "k.cu",
        "template <class T, class U> struct S;\n" + "template <S<int, int>* P> __global__\n"
        "void f(float* x) {}\n#if 0\n__global__ void gone(float* x) {}\n#endif\n",
    )
    kernels = kernels_of(project.cudaopt("adopt", "k.cu", "--json"))

    assert "f<4>: cannot determine which instance of function template" in whats(kernels["f"])
    assert "an #if may leave it out" in whats(kernels["gone"])


ARRAYS = """\
__device__ void change(float* x);
__global__ void vectors(const float4* a, float4* b, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) b[i] = a[i];
}
__global__ void asked(const float* x, const float* bias, const float* scale, float* y, int rows, int cols) {
    const int row = blockIdx.x;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[row * cols + i] = (bias ? bias[i] : 0.f) + x[row * cols + i] * scale[row];
}
__global__ void handed(float* x, int n) { change(x + blockIdx.x); }
#ifndef __CUDACC_RTC__
void host(float* x) { asked<<<1, 1>>>(x, x, x ? x : nullptr, x, 1, 1); }
#endif
"""


def test_what_a_body_does_with_its_pointers_is_declared(project):
    project.write("pyproject.toml", "")
    project.write("k.cu", ARRAYS)
    assert project.cudaopt("adopt", "k.cu").ret == YES
    text = (project.path / "test_k.py").read_text()

    for written in (
        'a=In(f32, "4 * n4"),',
        'b=Out(f32, "4 * n4"),',
        'bias=In(f32, "cols", optional=True),',
        'scale=In(f32, "rows", optional=True),',
        "case(rows=5, cols=17, bias=None, scale=None),",
        'x=InOut(f32, "n"),  # TODO: shape; InOut or Out? line 11 hands it to change',
    ):
        assert written in text


HALVES = """\
template <typename scalar_t> __global__ void f(scalar_t* x) { x[threadIdx.x] = x[threadIdx.x]; }
template <typename T> __global__ void g(T* x) { x[threadIdx.x] = x[threadIdx.x]; }
#ifndef __CUDACC_RTC__
template __global__ void g<c10::Half>(c10::Half*);
template __global__ void g<at::BFloat16>(at::BFloat16*);
void host(at::Tensor x) {
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "f", [&] {
        f<scalar_t><<<1, 32>>>(x.data_ptr<scalar_t>());
    });
}
#endif
"""


def test_pytorchs_types_are_types_of_the_declaration(project):
    text = adopted(project, "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + HALVES)

    assert 'types={"scalar_t": (f16, bf16, f32)},' in text
    assert 'types={"T": (f16, bf16)},' in text


def test_a_pointer_without_a_dtype_is_not_called_a_struct(project):
    project.write("k.cu", "struct S; template <class T = S> __global__ void f(T* __restrict__ x) {}\n")
    result = project.cudaopt("adopt", "k.cu", "--list")

    result.stdout.fnmatch_lines(["*a type no dtype stands for*give the template a type*"])
    result.stdout.no_fnmatch_line("*Struct(*")


def test_a_folder_is_answered_with_the_files_in_it(project):
    project.write("csrc/b.cu", "")
    project.write("csrc/deep/a.cu", "")
    result = project.cudaopt("adopt", "csrc")

    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["SOURCE: csrc", "*expected  a file*", "*next *csrc/b.cu, csrc/deep/a.cu"])


def test_the_next_steps_name_the_folder_of_what_was_written(project):
    project.write("csrc/rows.cu", ROWS)
    result = project.cudaopt("adopt", "csrc/rows.cu")

    result.stdout.fnmatch_lines(["*1. Write the references in csrc/test_rows.py: *"])
