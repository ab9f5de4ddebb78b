"""What adopting guesses from text: roles, shapes, launch rules, names."""

import pytest

from pytest_cudaopt.adopt.bodies import accesses, find_constants
from pytest_cudaopt.adopt.declarations import find_kernels
from pytest_cudaopt.adopt.host_code import find_host_code
from pytest_cudaopt.adopt.index_bounds import bound_of
from pytest_cudaopt.adopt.launches import guess_launch
from pytest_cudaopt.adopt.mappings import default_launch
from pytest_cudaopt.adopt.names import python_name
from pytest_cudaopt.adopt.null_checks import may_be_null
from pytest_cudaopt.adopt.shapes import constant_shape, guess_shape
from pytest_cudaopt.adopt.templates import entry_pattern
from pytest_cudaopt.adopt.tokens import scan


@pytest.mark.parametrize(
    ("body", "reads", "writes"),
    [
        ("y[i] = 1;", False, True),
        ("y[i * n + 1] = y[i];", True, True),
        ("y[i] += 1;", True, True),
        ("++y[i];", True, True),
        ("float a = y[i];", True, False),
        ("if (y[i] == 1) return;", True, False),
        ("*y = 1;", False, True),
        ("atomicAdd(&y[i], 1);", True, True),
        ("atomicAdd(y + i, 1);", True, True),
        ("float* row = y + i * n; row[0] = 1;", False, True),
        ("float* __restrict__ row = y + i; a = row[0];", True, False),
        ("g(y);", False, False),
        ("p.y[i] = 1;", False, False),
    ],
)
def test_a_body_shows_what_it_does_with_an_array(body, reads, writes):
    scanned = scan(f"__global__ void f(float* y, int n) {{ {body} }}")
    (kernel,) = find_kernels(scanned)
    found = accesses(scanned, kernel, "y")

    assert (found.reads, found.writes) == (reads, writes)


LAUNCHES = [
    ("f<<<(n + 255) / 256, 256>>>(x, n);", "grid=((n + 255) / 256) block=(256)"),
    ("int t = 128; f<<<cdiv(count, t), t>>>(x, count);", "grid=(cdiv(n, 128)) block=(128)"),
    ("dim3 g(CEIL_DIV(n, B), 2); dim3 b{B, 4, 1}; f<<<g, b>>>(x, n);", "grid=(cdiv(n, 64), 2) block=(64, 4)"),
    ("auto g = dim3(n); f<<<g, 32, 4 * 32 * sizeof(float), s>>>(x, n);", "grid=(n) block=(32) shared=512"),
    ("f<<<static_cast<unsigned>(std::min(n, 65535)), 32>>>(x, n);", "grid=(min(n, 65535)) block=(32)"),
    ("f<float><<<(int)n, 32>>>(x, n);", "grid=(n) block=(32)"),
]


@pytest.mark.parametrize(("host", "rule"), LAUNCHES)
def test_the_files_own_launch_is_told_in_the_kernels_sizes(host, rule):
    scanned = scan(f"#define B 64\n__global__ void f(float* x, int n) {{}}\nvoid h() {{ {host} }}")
    guess = guess_launch(scanned, find_kernels(scanned)[0], ["n"])

    assert (guess.rule, guess.line, guess.is_default) == (rule, 3, False)


@pytest.mark.parametrize(
    "host", ["f<<<blocks(), 32>>>(x, n);", "f<<<m, 32>>>(x, n);", "f<<<ceil(n / 2.0), 32>>>(x, n);"]
)
def test_a_launch_that_cannot_be_told_is_shown_instead(host):
    scanned = scan(f"__global__ void f(float* x, int n) {{}}\nvoid h() {{ {host} }}")
    guess = guess_launch(scanned, find_kernels(scanned)[0], ["n"])

    assert guess.is_default
    assert guess.seen.startswith("<<<")
    assert guess.line == 2


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("int i = blockIdx.x * blockDim.x + threadIdx.x;", "grid=(cdiv(rows * cols, 256)) block=(256)"),
        ("int i = blockDim.x * blockIdx.x + threadIdx.x;", "grid=(cdiv(rows * cols, 256)) block=(256)"),
        ("int i = blockIdx.x * 128 + threadIdx.x;", "grid=(cdiv(rows * cols, 128)) block=(128)"),
        ("int i = blockIdx.x * BLOCK + threadIdx.x;", "grid=(cdiv(rows * cols, BLOCK)) block=(BLOCK)"),
        ("int row = blockIdx.x;", "grid=(rows) block=(256)"),
        (
            "int c = blockIdx.x * blockDim.x; int r = blockIdx.y * blockDim.y;",
            "grid=(cdiv(cols, 16), cdiv(rows, 16)) block=(16, 16)",
        ),
        ("int i = threadIdx.x;", "grid=(1) block=(256)"),
    ],
)
def test_without_a_launch_the_use_of_the_block_index_decides(body, rule):
    scanned = scan(f"__global__ void f(float* x) {{ {body} }}")

    assert default_launch(scanned, find_kernels(scanned)[0], ["rows", "cols"], {"BLOCK"}) == rule


@pytest.mark.parametrize(
    ("name", "sizes", "shape"),
    [
        ("x", ["n"], ("n",)),
        ("a", ["m", "n", "k"], ("m", "k")),
        ("B", ["M", "N", "K"], ("K", "N")),
        ("bias", ["rows", "cols"], ("cols",)),
        ("x", ["rows", "cols"], ("rows", "cols")),
    ],
)
def test_a_shape_follows_from_names(name, sizes, shape):
    scanned = scan("__global__ void f(float* x) {}")
    uses = accesses(scanned, find_kernels(scanned)[0], name)

    assert guess_shape(name, uses, sizes, is_output=False) == shape


@pytest.mark.parametrize(
    ("declared", "entry", "concrete"),
    [
        ("int D, class T", "f<{D}, {T}>", "f<4, float>"),
        ("int HEAD_DIM", "f<{HEAD_DIM}>", "f<64>"),
        ("bool B", "f<false>", "f<false>"),
        ("class T = __nv_bfloat16", "f<{T}>", "f<__nv_bfloat16>"),
        ("class T = Other", "f<Other>", "f<Other>"),
        ("int seed = 2", "f<{seed_}>", "f<2>"),
    ],
)
def test_a_templates_parameters_become_sizes_and_types(declared, entry, concrete):
    (kernel,) = find_kernels(scan(f"template <{declared}> __global__ void f(float* x) {{}}"))
    pattern = entry_pattern(kernel, {})

    assert (pattern.entry, pattern.concrete) == (entry, concrete)


def test_names_a_module_cannot_use_get_an_underscore():
    names = ["in", "out", "f32", "case", "NAME(f)"]

    assert [python_name(name) for name in names] == ["in_", "out", "f32_", "case_", "NAME_f"]
    assert python_name("seed", is_size=True) == "seed_"


def test_constant_variables_are_found_in_their_namespace():
    (found,) = find_constants(scan("namespace a { __constant__ float taps[4][8] = {}; }"))

    assert (found.symbol, found.base, found.extents) == ("a::taps", "float", ("4", "8"))


def test_only_functions_for_the_host_are_host_code():
    source = (
        "__device__ int a() { return 1; }\n"
        "constexpr int b() { return 1; }\n"
        "DEVICE_INLINE int c() { return 1; }\n"
        "struct S { int d() { return 1; } };\n"
        "int values[] = {f(1)};\n"
        'extern "C" __global__ void k() { if (1) { } }\n'
        "namespace n { std::vector<int>\n e() { return {}; } }\n"
        "PYBIND11_MODULE(x, m) { m.def(); }\n"
    )

    assert find_host_code(scan(source)) == [(7, 8), (9, 9)]


@pytest.mark.parametrize(
    ("extents", "shape", "todo"),
    [
        ((), ["1"], ()),
        (("4", "2 * R + 1"), ["4", "7"], ()),
        (("4", "2 * S + 1"), ["4", "1"], ("shape, in the file it is 4 x 2 * S + 1",)),
        (("sizeof ( int )",), ["1"], ("shape, in the file it is sizeof ( int )",)),
    ],
)
def test_a_constant_has_the_extents_of_the_file_where_they_are_numbers(extents, shape, todo):
    assert constant_shape(extents, {"R": 3}) == (shape, todo)


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("if (y) y[0] = 1;", True),
        ("if (!y) return;", True),
        ("if (y != nullptr) y[0] = 1;", True),
        ("if (nullptr == y) return;", True),
        ("if (n > 0 && y) y[0] = 1;", True),
        ("float a = y ? y[0] : 0;", True),
        ("g(y);", False),
        ("y[0] = n ? 1 : 2;", False),
        ("if (p.y) return;", False),
        ("float a = (y == x);", False),
    ],
)
def test_a_body_that_asks_for_null_makes_an_array_optional(body, asked):
    scanned = scan(f"__global__ void f(float* y, int n) {{ {body} }}")

    assert may_be_null(scanned, find_kernels(scanned)[0], "y") is asked


@pytest.mark.parametrize(
    ("argument", "passed"),
    [("nullptr", True), ("a ? b.data_ptr<float>() : nullptr", True), ("a", False), ("g(nullptr)", False)],
)
def test_a_launch_that_passes_null_makes_an_array_optional(argument, passed):
    scanned = scan(f"__global__ void f(float* y, int n) {{}}\nvoid h() {{ f<<<1, 1>>>({argument}, n); }}")

    assert may_be_null(scanned, find_kernels(scanned)[0], "y") is passed


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("for (int i = 0; i < cols; ++i) {}", "cols"),
        ("if (i >= rows) return;", "rows"),
        ("const int i = blockIdx.x;", "rows"),
        ("if (i < rows * cols) {}", ""),
        ("int i = blockIdx.x * 4;", ""),
        ("", ""),
    ],
)
def test_an_index_runs_up_to_what_it_is_compared_with(body, bound):
    scanned = scan(f"__global__ void f(float* y) {{ {body} }}")

    assert bound_of(scanned, find_kernels(scanned)[0], "i", ["rows", "cols"]) == bound


@pytest.mark.parametrize(
    ("body", "index", "handed"),
    [
        ("y[i] = y[i];", "i", ""),
        ("y[i] = y[j];", "", ""),
        ("y[4 * i] = 1;", "", ""),
        ("g<2>(y + i);", "", "g"),
        ("g(reinterpret_cast<int*>(y), n);", "", "g"),
        ("g(y ? y[i] : 0);", "i", ""),
        ("if (y) y[i] = 1;", "i", ""),
    ],
)
def test_a_body_shows_the_one_index_of_an_array_and_who_gets_it(body, index, handed):
    scanned = scan(f"__global__ void f(float* y, int n) {{ {body} }}")
    found = accesses(scanned, find_kernels(scanned)[0], "y")

    assert (found.index, found.handed_to) == (index, handed)
