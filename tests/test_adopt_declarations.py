"""Kernels found in CUDA text: what their declarations say, whatever surrounds and decorates them."""

import pytest

from pytest_cudaopt.adopt.declarations import find_kernels
from pytest_cudaopt.adopt.structs import find_aliases, find_structs
from pytest_cudaopt.adopt.tokens import scan


def the_kernel(source: str):
    (kernel,) = find_kernels(scan(source))
    return kernel


@pytest.mark.parametrize(
    ("source", "qualified", "line"),
    [
        ("__global__ void f(int n) {}", "f", 1),
        ('extern "C" __global__ void f(int n) {}', "f", 1),
        ('extern "C" {\n__global__ void f(int n) {}\n}', "f", 2),
        ("namespace a::b { namespace c {\n__global__ void f() {} } }", "a::b::c::f", 2),
        ("namespace { __global__ void f() {} }", "f", 1),
        ("inline namespace v1 { __global__ void f() {} }", "v1::f", 1),
        ("static __global__ void __launch_bounds__(256, 2) f(int n) {}", "f", 1),
        ("__launch_bounds__(256) __global__ void f(int n) {}", "f", 1),
        ("__global__ void\nMY_BOUNDS(256)\nf(int n) {}", "f", 3),
        ("__global__ void NAME(f)(int n) {}", "NAME(f)", 1),
        ("__global__ __attribute__((used)) void f(int n) {}", "f", 1),
        ("/* __global__ void g() {} */ // __global__ void h() {}\n__global__ void f() {}", "f", 2),
        ('const char* s = "__global__ void g() {}";\n__global__ void f() {}', "f", 2),
        ('auto s = R"x(__global__ void g() {} " ) )x";\n__global__ void f() {}', "f", 2),
        ("#define K __global__ void g() \\\n  {}\n__global__ void f() {}", "f", 3),
        ("__device__ int g(int a) { return a; }\n__global__ void f() { g(1); }", "f", 2),
    ],
)
def test_a_kernel_is_found_with_its_namespaces_and_line(source, qualified, line):
    kernel = the_kernel(source)

    assert (kernel.qualified, kernel.line) == (qualified, line)


@pytest.mark.parametrize(
    ("parameter", "name", "base", "pointers", "is_const"),
    [
        ("const float* __restrict__ x", "x", "float", 1, True),
        ("float const *x", "x", "float", 1, True),
        ("float *RESTRICT x", "x", "float", 1, False),
        ("unsigned long long n", "n", "unsigned long", 0, False),
        ("long int n", "n", "long", 0, False),
        ("int long unsigned n", "n", "unsigned long", 0, False),
        ("const unsigned n", "n", "unsigned", 0, True),
        ("unsigned int", "", "unsigned int", 0, False),
        ("float", "", "float", 0, False),
        ("const float x[]", "x", "float", 1, True),
        ("const __grid_constant__ CUtensorMap map", "map", "CUtensorMap", 0, True),
        ("GRID_CONSTANT const Params p", "p", "Params", 0, True),
        ("struct Params p", "p", "Params", 0, False),
        ("const at::Half* x", "x", "at::Half", 1, True),
        ("cuda::std::array<float*, 4> a", "a", "cuda::std::array<float*, 4>", 0, False),
        ("float** a", "a", "float", 2, False),
    ],
)
def test_a_parameter_is_read(parameter, name, base, pointers, is_const):
    (found,) = the_kernel(f"__global__ void f({parameter}) {{}}").parameters

    assert (found.name, found.type.base) == (name, base)
    assert (found.type.pointers, found.type.is_const) == (pointers, is_const)


@pytest.mark.parametrize(
    ("parameter", "odd"),
    [
        ("float** a", "pointer to pointers"),
        ("const Params& p", "reference"),
        ("void (*apply)(float)", "function pointer"),
    ],
)
def test_a_type_no_marker_stands_for_is_named(parameter, odd):
    assert the_kernel(f"__global__ void f({parameter}) {{}}").parameters[0].type.odd == odd


def test_default_arguments_do_not_hide_the_next_parameter():
    kernel = the_kernel("__global__ void f(float a = g(1, 2), int n = 3);")

    assert [(p.name, p.default) for p in kernel.parameters] == [("a", "g(1, 2)"), ("n", "3")]
    assert kernel.body is None


def test_template_parameters_are_read_with_their_defaults():
    kernel = the_kernel(
        "template <typename T, int N = 4, bool B = (N > 2), template <class> class P, class... Rest>\n"
        "__global__ void f(T* x) {}"
    )

    assert [(p.name, p.type, p.default) for p in kernel.template] == [
        ("T", "type", ""),
        ("N", "int", "4"),
        ("B", "bool", "(N > 2)"),
        ("P", "template", ""),
        ("Rest", "pack", ""),
    ]


def test_the_instances_a_file_uses_are_known():
    kernel = the_kernel(
        "template <int D, class T = float> __global__ void f(T* x) {}\n"
        "template __global__ void f<64, double>(double*);\n"
        "template <int D> void launch() { f<D, float><<<1, 2>>>(0); f<128><<<1, 2>>>(0); }"
    )

    # Not <D, float>: that is the host's own template.
    assert kernel.instances[0] == ("64", "double")
    assert ("128", "float") in kernel.instances


def test_a_specialisation_is_not_another_kernel():
    source = "template <class T> __global__ void f(T* x) {}\ntemplate <> __global__ void f<int>(int* x) {}"

    assert the_kernel(source).line == 1


def test_a_definition_is_preferred_to_its_declaration():
    kernel = the_kernel("__global__ void f(int n);\n__global__ void f(int n) {}")

    assert kernel.line == 2
    assert kernel.body is not None


def test_overloads_are_kernels_of_their_own():
    assert len(find_kernels(scan("__global__ void f(int n) {}\n__global__ void f(float n) {}"))) == 2


def test_both_branches_of_an_if_may_open_the_same_brace():
    source = (
        "namespace a {\n#if X\n__global__ void f(int n) {\n#else\n__global__ void f(long n) {\n#endif\n}\n}\n"
        "__global__ void g() {}"
    )
    names = [kernel.qualified for kernel in find_kernels(scan(source))]

    assert names[-1] == "g"
    assert set(names[:-1]) == {"a::f"}


@pytest.mark.parametrize(
    "source", ["", "{{{", "}}}", "__global__", "__global__ void", "__global__ f(", '"', "/*"]
)
def test_broken_text_is_read_as_far_as_it_goes(source):
    assert find_kernels(scan(source)) == []


def test_attributes_are_kept_with_their_arguments():
    kernel = the_kernel("__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256, 2) f() {}")

    assert dict(kernel.attributes) == {"__cluster_dims__": "2, 1, 1", "__launch_bounds__": "256, 2"}


def test_a_kernel_in_a_class_is_told_from_one_in_a_namespace():
    assert the_kernel("struct S { friend __global__ void f() {} };").in_class
    assert not the_kernel("namespace s { __global__ void f() {} }").in_class


def test_the_members_of_plain_structs_are_known():
    structs = find_structs(
        scan("struct P { const float* x; int m, n; };\nstruct Q { int f() { return 1; } };")
    )

    assert [(m.name, m.type.base, m.type.pointers) for m in structs["P"]] == [
        ("x", "float", 1),
        ("m", "int", 0),
        ("n", "int", 0),
    ]
    assert "Q" not in structs


def test_aliases_are_known():
    assert find_aliases(scan("using half_t = __half;\ntypedef unsigned char byte;")) == {
        "half_t": "__half",
        "byte": "unsigned char",
    }
