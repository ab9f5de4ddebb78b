"""Tripwires in compiled code: each kind in a kernel that has it, and none in its twin without."""

from __future__ import annotations

from pathlib import Path

import pytest
from cuda_runner import FRONT_ENDS, ptx_of

from pytest_cudaopt import In, Out, Scalar, case, f16, f32, f64, i32, kernel
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import SourcePoint
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.load import kernels_in
from pytest_cudaopt.scan import scan
from pytest_cudaopt.tripwire import Scanned, TripwireKind

ROOT = Path(__file__).parents[1]
RULE = LaunchRule.parse("grid=(1) block=(64)")


def declared(dtype: DType = f32) -> Kernel:
    @kernel("k.cu", cases=[case(n=64)], launch="grid=(1) block=(64)")
    def k(x=In(dtype, "n"), y=Out(dtype, "n"), n=i32, a=Scalar(f32, 0.5)): ...

    return k


def source(body: str, before: str = "", element: str = "float") -> str:
    return (
        f'{before}\nextern "C" __global__ void k(const {element}* x, {element}* y, int n, float a) {{\n'
        f"int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i >= n) return;\n{body}\n}}\n"
    )


def scanned(
    text: str, dtype: DType = f32, architecture: str = "compute_90", options: tuple[str, ...] = ()
) -> Scanned:
    candidate = Candidate("k.cu", text, RULE)
    return scan(ptx_of(text, architecture, *options), candidate, declared(dtype))


def compiled(text: str, device: Device, kernel: Kernel) -> tuple[Candidate, Compiled]:
    candidate = Candidate("k.cu", text, RULE)
    answer = compile_candidate(kernel, candidate, device, Budget())
    assert isinstance(answer, Compiled), answer
    return candidate, answer


def scanned_as_judged(text: str, device: Device) -> Scanned:
    """Scan what the harness makes of a text, with the lines of the user's file."""
    kernel = declared()
    candidate, answer = compiled(text, device, kernel)
    return scan(Path(answer.module.ptx_file or "").read_text(), candidate, kernel, answer.module.lowered)


def kinds(found: Scanned) -> list[str]:
    return [one.kind.value for one in found.tripwires]


HALF = "#include <cuda_fp16.h>"
BFLOAT = "#include <cuda_bf16.h>"

# Kind, what stands before the kernel, a body that has it, a body of the same kind of code that has not.
TWINS = {
    "cached_result": (
        "module_state",
        "__device__ float kept[64]; __device__ const float table[4] = {1, 2, 3, 4};",
        "if (kept[i & 63] == 0.0f) kept[i & 63] = x[i]; y[i] = kept[i & 63];",
        "y[i] = x[i] * table[i & 3];",
    ),
    "launch_counter": (
        "module_state",
        "__device__ int launches; __device__ int offset = 3;",
        "y[i] = x[i] + (float)atomicAdd(&launches, 1);",
        "y[i] = x[i] + (float)offset;",
    ),
    "static_in_function": (
        "module_state",
        "",
        "static __device__ float last; if (i == 0) last = x[0]; y[i] = x[i] + last;",
        "static __device__ const float last = 3.0f; y[i] = x[i] + last;",
    ),
    "written_through_a_function": (
        "module_state",
        "__device__ float kept[64];\n"
        "__device__ __noinline__ float* place(float* base, int at) { return base + (at & 63); }\n"
        "__device__ __noinline__ void keep(float* to, float value) { *to = value; }",
        "keep(place(kept, i), x[i]); y[i] = x[i];",
        "y[i] = *place(kept, i) + x[i]; keep(y + i, x[i]);",
    ),
    "persisting_policy": (
        "cache_policy",
        "",
        'unsigned long long p; asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));'
        'asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(y[i]) : "l"(x + i), "l"(p));',
        "y[i] = __ldcs(x + i);",
    ),
    "evict_last": (
        "cache_policy",
        "",
        'asm volatile("prefetch.global.L2::evict_last [%0];" :: "l"(x + i)); y[i] = x[i];',
        'asm volatile("prefetch.global.L2 [%0];" :: "l"(x + i)); y[i] = x[i];',
    ),
    "declared_in_assembly": (
        "module_state",
        "",
        'float v; asm volatile(".global .align 4 .b32 hidden; st.global.f32 [hidden], %1;"'
        ' "ld.global.f32 %0, [hidden];" : "=f"(v) : "f"(x[i])); y[i] = v;',
        'float v; asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(x + i)); y[i] = v;',
    ),
    "clock": ("clock", "", "y[i] = x[i] + (clock64() & 1 ? 0.0f : 1e-9f);", "y[i] = x[i]; // clock64()"),
    "global_timer": (
        "clock",
        "",
        'unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); y[i] = x[i] + t % 2;',
        "y[i] = x[i];",
    ),
    "multiprocessor": (
        "place_or_launch",
        "",
        'unsigned s; asm volatile("mov.u32 %0, %smid;" : "=r"(s)); y[i] = x[i] + s;',
        'unsigned s; asm volatile("mov.u32 %0, %laneid;" : "=r"(s)); y[i] = x[i] + s;',
    ),
    "number_of_the_launch": (
        "place_or_launch",
        "",
        'unsigned long long g; asm volatile("mov.u64 %0, %gridid;" : "=l"(g)); y[i] = x[i] + g;',
        "y[i] = x[i] + blockIdx.x;",
    ),
    "trap": (
        "trap",
        "",
        "if (x[i] > 1e30f) __trap(); y[i] = x[i];",
        "if (x[i] > 1e30f) return; y[i] = x[i];",
    ),
    "assert": ("trap", "", "assert(x[i] < 1e30f); y[i] = x[i];", "y[i] = x[i];"),
    "printf": (
        "printf",
        "",
        'if (i == 0) printf("passed %f\\n", x[i]); y[i] = x[i];',
        'y[i] = x[i]; /* printf("passed") */',
    ),
    "heap": (
        "heap",
        "",
        "float* p = (float*)malloc(4); if (p) { *p = x[i]; y[i] = *p; free(p); }",
        "float p[1]; *p = x[i]; y[i] = *p;",
    ),
    "external_call": (
        "external_call",
        'extern "C" __device__ float elsewhere(float);',
        "y[i] = elsewhere(x[i]);",
        "y[i] = x[i];",
    ),
    "sleep": ("sleep", "", "__nanosleep(100); y[i] = x[i];", "__syncwarp(); y[i] = x[i];"),
    "half_sum": (
        "narrower",
        HALF,
        "__half s = __float2half(x[i]); s = __hadd(s, s); y[i] = __half2float(s);",
        "float s = x[i]; s += s; y[i] = s;",
    ),
    "bfloat_store": ("narrower", BFLOAT, "y[i] = __bfloat162float(__float2bfloat16(x[i]));", "y[i] = x[i];"),
    "cut_to_bfloat": (
        "narrower",
        "",
        "y[i] = 2.0f * __uint_as_float(__float_as_uint(x[i]) & 0xffff0000u);",
        "y[i] = 2.0f * __uint_as_float(__float_as_uint(x[i]) & 0x7fffffffu) + (n & 0xffff0000u);",
    ),
    "fp8": (
        "narrower",
        "#include <cuda_fp8.h>",
        "y[i] = float(__nv_fp8_e4m3(x[i]));",
        "y[i] = float(x[i]);",
    ),
    "tensor_float": (
        "narrower",
        "",
        'unsigned t; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(t) : "f"(x[i])); y[i] = __uint_as_float(t);',
        "y[i] = __uint_as_float(__float_as_uint(x[i]));",
    ),
    "fast_exponential": ("approximate", "", "y[i] = __expf(x[i]);", "y[i] = expf(x[i]);"),
    "fast_division": ("approximate", "", "y[i] = __fdividef(x[i], a);", "y[i] = x[i] / a;"),
    "fast_sine": ("approximate", "", "y[i] = __sinf(x[i]);", "y[i] = sinf(x[i]);"),
    "flushed": (
        "flush_to_zero",
        "",
        'asm("add.ftz.f32 %0, %1, %2;" : "=f"(y[i]) : "f"(x[i]), "f"(a));',
        "y[i] = x[i] + a;",
    ),
}


@pytest.mark.parametrize("architecture", FRONT_ENDS)
@pytest.mark.parametrize("name", TWINS)
def test_a_kind_is_found_where_it_is_and_not_in_its_twin(name: str, architecture: str) -> None:
    kind, before, has, has_not = TWINS[name]
    found = scanned(source(has, before), architecture=architecture)
    without = scanned(source(has_not, before), architecture=architecture)
    assert set(kinds(without)) <= {"include"}
    assert {one.kind.value for one in found.new_since(without)} == {kind}


# Not what cannot be linked.
@pytest.mark.parametrize("name", sorted(TWINS.keys() - {"external_call"}))
def test_a_tripwire_names_the_users_line(name: str, sim: Device) -> None:
    kind, before, has, _ = TWINS[name]
    text = source(has, before)
    found = next(one for one in scanned_as_judged(text, sim).tripwires if one.kind.value == kind)
    # That of the body; a function of its own stands at the top.
    line = 3 if "void keep" in before else text.count("\n") - 1
    assert found.place == SourcePoint("k.cu", line)


def test_every_kind_has_a_twin() -> None:
    tested = {kind for kind, *_ in TWINS.values()} | {"include", "low_precision"}
    # That one is not in the code, but in what it computes.
    assert tested == {kind.value for kind in TripwireKind} - {"other_formula"}


def test_other_names_change_nothing() -> None:
    text = source(TWINS["cached_result"][2], TWINS["cached_result"][1])
    renamed = text.replace("kept", "workspace").replace("table", "lut")
    assert kinds(scanned(renamed)) == kinds(scanned(text)) == ["module_state"]
    assert scanned(renamed).new_since(scanned(text)) == ()


def test_a_macro_or_a_string_hides_and_shows_nothing() -> None:
    pasted = source("GET(clo, ck64); y[i] = x[i];", "#define GET(a, b) long long t = a##b(); y[i] = t")
    assert kinds(scanned(pasted)) == ["clock"]
    quoted = source('const char* s = "clock64() trap; vprintf"; y[i] = s[i & 7];')
    assert kinds(scanned(quoted)) == []


def test_a_larger_or_second_variable_is_new_and_a_smaller_one_is_not() -> None:
    def keeping(*sizes: int) -> Scanned:
        before = " ".join(f"__device__ float kept{size}[{size}];" for size in sizes)
        return scanned(source(" ".join(f"kept{size}[i % {size}] = x[i];" for size in sizes), before))

    assert keeping(64).new_since(keeping(64)) == ()
    assert keeping(32).new_since(keeping(64)) == ()
    assert [one.bytes for one in keeping(65).new_since(keeping(64))] == [260]
    assert [one.bytes for one in keeping(1, 64).new_since(keeping(64))] == [4]
    assert [one.bytes for one in keeping(32, 64).new_since(keeping(32, 48))] == [256]
    assert [one.bytes for one in keeping(7, 64).new_since(keeping(7, 64, 65))] == []


def test_a_variable_of_another_kernel_in_the_file_is_none_of_ours() -> None:
    other = '__device__ int kept; extern "C" __global__ void other() { kept = 1; }'
    assert kinds(scanned(source("y[i] = x[i];", other))) == []
    assert kinds(scanned(source("y[i] = x[i] + kept;", other))) == []


def test_floats_where_doubles_are_declared_are_narrower() -> None:
    exact = source("y[i] = exp(x[i]) * erf(x[i]) + cbrt(x[i]) / pow(x[i], 1.5);", element="double")
    assert kinds(scanned(exact, f64)) == []
    rounded = source("float v = x[i]; y[i] = v * v + v;", element="double")
    assert [(one.kind, one.detail) for one in scanned(rounded, f64).tripwires] == [("narrower", "f32")]
    assert kinds(scanned(source("y[i] = x[i] * a;"))) == []


def test_halves_where_halves_are_declared_are_not_narrower_but_known() -> None:
    wide = source("y[i] = __float2half(__half2float(x[i]) * a);", HALF, "__half")
    halves = source("y[i] = __hadd(__hmul(x[i], x[i]), x[i]);", HALF, "__half")
    start, found = scanned(wide, f16), scanned(halves, f16)
    assert kinds(start) == ["include"]
    assert kinds(found) == ["include", "low_precision"]
    assert [one.detail for one in found.new_since(start)] == ["f16"]
    assert found.new_since(found) == ()


WMMA = """
wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> l;
wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> r;
wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
wmma::fill_fragment(s, 0.0f);
wmma::load_matrix_sync(l, (const __half*)x, 16); wmma::load_matrix_sync(r, (const __half*)x, 16);
wmma::mma_sync(s, l, r, s); wmma::store_matrix_sync(y, s, 16, wmma::mem_row_major);
"""


def test_a_matrix_product_that_does_not_name_its_halves_is_narrower() -> None:
    before = f"#include <mma.h>\n{HALF}\nusing namespace nvcuda;"
    found = [one for one in scanned(source(WMMA, before)).tripwires if one.kind is TripwireKind.NARROWER]
    assert [(one.detail, one.count) for one in found] == [("f16", 1)]
    assert "wmma.mma" in found[0].message


def test_products_of_bytes_are_narrower_where_no_integers_are_declared() -> None:
    text = source("y[i] = __dp4a(__float_as_int(x[i]), n, 0) * a;")

    @kernel("k.cu", cases=[case(n=64)], launch="grid=(1) block=(64)")
    def k(x=In(i32, "n"), y=Out(f32, "n"), n=i32, a=Scalar(f32, 0.5)): ...

    assert [one.detail for one in scanned(text).tripwires] == ["integers of 8 bits"]
    assert kinds(scan(ptx_of(text, "compute_90"), Candidate("k.cu", text, RULE), k)) == []


def test_fast_math_is_approximate_and_flushes() -> None:
    text = source("y[i] = expf(x[i]) / a + sqrtf(x[i]);")
    fast = scanned(text, options=("--use_fast_math",))
    assert kinds(scanned(text)) == []
    assert {*kinds(fast)} == {"approximate", "flush_to_zero"}
    assert fast.new_since(fast) == ()


def test_an_include_and_a_question_for_one_are_new_where_the_start_has_none() -> None:
    start = source("y[i] = x[i];", HALF)
    text = source(
        'y[i] = x[i];\n#if __has_include("expected.bin")\n#endif', f"{HALF}\n#include <cuda_bf16.h>"
    )
    found = scanned(text).new_since(scanned(start))
    assert [str(one) for one in found] == [
        "k.cu:2: includes <cuda_bf16.h>",
        "k.cu:7: asks whether there is a header expected.bin",
    ]


def test_without_line_tables_all_is_found_but_the_places() -> None:
    text = source("if (x[i] > 3.0f) __trap(); y[i] = x[i];")
    stripped = "\n".join(
        line for line in ptx_of(text, "compute_90").splitlines() if ".loc" not in line and ".file" not in line
    )
    (found,) = scan(stripped, Candidate("k.cu", text, RULE), declared()).tripwires
    assert (found.kind, found.place) == (TripwireKind.TRAP, None)
    assert found.to_json() == {"kind": "trap", "message": "may end the launch (trap)", "count": 1}


HACKS = {
    "conv1d/hack_pointer_cache": ["module_state"] * 4,
    "relu/hack_noop": [],
    "scan/hack_zero_inputs": [],
    "sum/hack_known_sizes": [],
}


@pytest.mark.parametrize("name", HACKS)
def test_a_cheat_that_keeps_state_stands_out_from_its_start(name: str, sim: Device) -> None:
    operation = name.split("/")[0]
    one = kernels_in(ROOT / "tests/zoo/faulty_kernels.py")[operation]
    path = ROOT / f"tests/zoo/faulty/{name}.cu"
    seen: list[Scanned] = []
    for candidate in (one.start(), one.candidate(path.read_text(), path)):
        answer = compile_candidate(one, candidate, sim, Budget())
        assert isinstance(answer, Compiled), answer
        ptx = Path(answer.module.ptx_file or "").read_text()
        seen.append(scan(ptx, candidate, one, answer.module.lowered))
    start, found = seen
    assert [one.kind.value for one in found.new_since(start)] == HACKS[name]


FLOATS = """
acosf acoshf asinf asinhf atanf atanhf ceilf coshf cosf cospif erfcf erff exp10f expf expm1f fabsf floorf
lgammaf log10f log1pf log2f logbf logf nearbyintf normcdff rintf roundf sinf sinhf sinpif sqrtf tanf
tanhf truncf
"""
DOUBLES = f"{FLOATS} cbrtf erfcxf tgammaf rcbrtf"


@pytest.mark.parametrize(("dtype", "element"), [(f32, "float"), (f64, "double")], ids=str)
def test_exact_functions_of_the_library_are_silent(dtype: DType, element: str) -> None:
    names = FLOATS.split() if dtype is f32 else [name.removesuffix("f") for name in DOUBLES.split()]
    for first in range(0, len(names), 6):
        calls = " + ".join(f"{name}(x[i])" for name in names[first : first + 6])
        assert kinds(scanned(source(f"y[i] = {calls};", element=element), dtype)) == [], calls


# What the scan says of the kernels as they are; all others have nothing but includes. Each is what its author
# wrote: `__expf`, `rsqrtf`, a counter.
STARTS = {
    "swiglu": ["approximate ex2.approx.f32"],
    "paged_decode": ["approximate ex2.approx.f32"],
    "prefill": ["approximate ex2.approx.f32"],
    "online_softmax": ["approximate ex2.approx.f32"],
    "fused_add_rms_norm": ["approximate rsqrt.approx.f32"],
    "layer_norm": ["approximate rsqrt.approx.f32"],
    "standardise": ["approximate rsqrt.approx.f32"],
    "faulty.sum": ["module_state arrived"],
}
FILES = (
    *sorted((ROOT / "example_kernels").glob("test_*.py")),
    *sorted((ROOT / "tests/kernels").glob("test_*.py")),
    ROOT / "tests/zoo/faulty_kernels.py",
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_right_kernel_has_what_its_author_wrote(file: Path, sim: Device) -> None:
    seen: dict[str, list[str]] = {}
    for name, one in kernels_in(file).items():
        start = one.start()
        answer = compile_candidate(one, start, sim, Budget())
        assert isinstance(answer, Compiled), answer
        found = scan(Path(answer.module.ptx_file or "").read_text(), start, one, answer.module.lowered)
        key = f"{file.stem.removesuffix('_kernels')}.{name}"
        seen[key if key in STARTS else name] = [
            f"{one.kind} {one.detail}" for one in found.tripwires if one.kind is not TripwireKind.INCLUDE
        ]
    assert seen == {name: STARTS.get(name, []) for name in seen}
