"""Kernels that call one CUDA intrinsic each: what a front end makes of all of them, it makes of any kernel.

Every kernel has pointers to 4 KiB only, and 64 threads call its function on elements of random bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

INCLUDES = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h")
WORDS = 1024  # of 4 bytes, in the array of every parameter

# name, result type, operand types, expression of a, b, c: one element each
Call = tuple[str, str, tuple[str, ...], str]

_SIMD_1 = ("vabs", "vabsss", "vneg", "vnegss")
_SIMD_2 = (
    "vabsdiffs",
    "vabsdiffu",
    "vadd",
    "vaddss",
    "vaddus",
    "vavgs",
    "vavgu",
    "vcmpeq",
    "vcmpgts",
    "vcmpltu",
)
_SIMD_2 += (
    "vcmpne",
    "vhaddu",
    "vmaxs",
    "vmaxu",
    "vmins",
    "vminu",
    "vsads",
    "vsadu",
    "vseteq",
    "vsetgts",
    "vsetltu",
)
_SIMD_2 += ("vsub", "vsubss", "vsubus")
_FLOAT_1 = (
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
)
_FLOAT_1 += (
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "cbrt",
    "erf",
    "erfc",
)
_FLOAT_1 += (
    "erfinv",
    "erfcx",
    "lgamma",
    "tgamma",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "fabs",
    "j0",
    "y1",
)
_FLOAT_1 += ("sinpi", "cospi", "normcdf", "logb")
_FLOAT_2 = ("pow", "fmod", "remainder", "atan2", "hypot", "fmin", "fmax", "fdim", "copysign", "nextafter")
_DOUBLE_1 = ("exp", "log", "sqrt", "rsqrt", "cbrt", "erf", "floor", "trunc", "round", "rint", "tanh", "atan")
_DOUBLE_2 = ("fmod", "fmin", "fmax", "copysign", "hypot", "atan2")
_FAST = ("__sinf", "__cosf", "__tanf", "__expf", "__exp10f", "__logf", "__log2f", "__log10f", "__saturatef")
_WIDE_1 = (
    "sqrt",
    "rsqrt",
    "rcp",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "exp",
    "exp2",
    "log",
    "log2",
    "sin",
    "tanh",
)
_MODES = ("rn", "rz", "ru", "rd")
_INTEGERS = {"int": "int", "uint": "unsigned", "ll": "long long", "ull": "unsigned long long"}
_SHORT = {"short": "short", "ushort": "unsigned short"}


def _simd() -> Iterator[Call]:
    u = "unsigned"
    for parts in "24":
        yield from ((f"{name}{parts}", u, (u,), f"__{name}{parts}(a)") for name in _SIMD_1)
        yield from ((f"{name}{parts}", u, (u, u), f"__{name}{parts}(a, b)") for name in _SIMD_2)
    for name in ("viaddmax", "viaddmin", "vimax3", "vimin3"):
        for kind, word in (("s32", "int"), ("u32", u), ("s16x2", u), ("u16x2", u)):
            yield f"{name}_{kind}", word, (word,) * 3, f"__{name}_{kind}(a, b, c)"
        for kind, word in (("s32", "int"), ("s16x2", u)):
            yield f"{name}_{kind}_relu", word, (word,) * 3, f"__{name}_{kind}_relu(a, b, c)"
    for name in ("vimax", "vimin"):
        for kind, word in (("s32", "int"), ("s16x2", u)):
            yield f"{name}_{kind}_relu", word, (word,) * 2, f"__{name}_{kind}_relu(a, b)"


def _integers() -> Iterator[Call]:
    u, i, wide = "unsigned", "int", "long long"
    of_one = ("popc", "clz", "brev")
    yield from ((name, u, (u,), f"__{name}(a)") for name in (*of_one, "ffs"))
    yield from ((f"{name}ll", wide, (wide,), f"__{name}ll(a)") for name in (*of_one, "ffs"))
    for name in ("umul24", "umulhi", "uhadd", "urhadd"):
        yield name, u, (u, u), f"__{name}(a, b)"
    for name in ("mul24", "mulhi", "hadd", "rhadd"):
        yield name, i, (i, i), f"__{name}(a, b)"
    yield "mul64hi", wide, (wide, wide), "__mul64hi(a, b)"
    for name in ("byte_perm", "funnelshift_l", "funnelshift_lc", "funnelshift_r", "funnelshift_rc", "usad"):
        yield name, u, (u, u, u), f"__{name}(a, b, c)"
    yield "fns", u, (u, u, i), "__fns(a, b & 31, c % 9)"
    for name in ("dp4a", "dp2a_lo", "dp2a_hi", "sad"):
        yield name, i, (i, i, i), f"__{name}(a, b, c)" if name != "sad" else "(int)__sad(a, b, c)"
    for operator, name in (("/", "div"), ("%", "rem"), ("<<", "shl"), (">>", "shr"), ("*", "mul")):
        for word, label in (
            (i, "s32"),
            (u, "u32"),
            (wide, "s64"),
            ("unsigned long long", "u64"),
            ("short", "s16"),
        ):
            second = f"(b & {63 if 'long' in word else 15})" if operator in ("<<", ">>") else "(b | 1)"
            yield f"{name}_{label}", word, (word, word), f"a {operator} {second}"


def _floats() -> Iterator[Call]:
    yield from ((f"{name}f", "float", ("float",), f"{name}f(a)") for name in _FLOAT_1)
    yield from ((f"{name}f2", "float", ("float", "float"), f"{name}f(a, b)") for name in _FLOAT_2)
    yield from ((f"{name}d", "double", ("double",), f"{name}(a)") for name in _DOUBLE_1)
    yield from ((f"{name}d2", "double", ("double", "double"), f"{name}(a, b)") for name in _DOUBLE_2)
    yield from ((name, "float", ("float",), f"{name}(a)") for name in _FAST)
    yield "fdividef", "float", ("float", "float"), "__fdividef(a, b)"
    yield "ldexpf", "float", ("float", "int"), "ldexpf(a, b)"
    yield "ilogbf", "int", ("float",), "ilogbf(a)"
    yield "classes", "int", ("float",), "isnan(a) + 2 * isinf(a) + 4 * isfinite(a) + 8 * signbit(a)"
    for mode in _MODES:
        for letter, word in (("f", "float"), ("d", "double")):
            for name, operands in (
                ("rcp", "a"),
                ("sqrt", "a"),
                ("add", "a, b"),
                ("sub", "a, b"),
                ("mul", "a, b"),
            ):
                count = 1 + operands.count(",")
                yield f"{letter}{name}_{mode}", word, (word,) * count, f"__{letter}{name}_{mode}({operands})"
            yield f"{letter}div_{mode}", word, (word, word), f"__{letter}div_{mode}(a, b)"
        yield f"fmaf_{mode}", "float", ("float",) * 3, f"__fmaf_{mode}(a, b, c)"
        yield f"fma_{mode}", "double", ("double",) * 3, f"__fma_{mode}(a, b, c)"


def _conversions() -> Iterator[Call]:
    for mode in _MODES:
        for short, word in _INTEGERS.items():
            for source in ("float", "double"):
                yield f"{source}2{short}_{mode}", word, (source,), f"__{source}2{short}_{mode}(a)"
            yield f"{short}2float_{mode}", "float", (word,), f"__{short}2float_{mode}(a)"
        yield f"double2float_{mode}", "float", ("double",), f"__double2float_{mode}(a)"
        for half, word in (("half", "__half"), ("bfloat16", "__nv_bfloat16")):
            for short, integer in (_INTEGERS | _SHORT).items():
                yield f"{short}2{half}_{mode}", word, (integer,), f"__{short}2{half}_{mode}(a)"
                yield f"{half}2{short}_{mode}", integer, (word,), f"__{half}2{short}_{mode}(a)"
            yield f"float2{half}_{mode}", word, ("float",), f"__float2{half}_{mode}(a)"
    for form in ("E4M3", "E5M2"):
        for mode in ("SATFINITE", "NOSAT"):
            call = f"__nv_cvt_float_to_fp8(a, __NV_{mode}, __NV_{form})"
            yield f"fp8_{form}_{mode}", "unsigned char", ("float",), call
        back = f"__half(__nv_cvt_fp8_to_halfraw(a, __NV_{form}))"
        yield f"half_{form}", "__half", ("unsigned char",), back


def _halves() -> Iterator[Call]:
    for half, pair in (("__half", "__half2"), ("__nv_bfloat16", "__nv_bfloat162")):
        label = half.strip("_")
        for name in (
            "hadd",
            "hsub",
            "hmul",
            "hdiv",
            "hadd_sat",
            "hmul_sat",
            "hmin",
            "hmax",
            "hmin_nan",
            "hmax_nan",
        ):
            yield f"{label}_{name}", half, (half, half), f"__{name}(a, b)"
        for name in (
            "hadd2",
            "hsub2",
            "hmul2",
            "h2div",
            "hadd2_sat",
            "hmin2",
            "hmax2_nan",
            "heq2",
            "hltu2",
            "hge2",
        ):
            yield f"{label}_{name}", pair, (pair, pair), f"__{name}(a, b)"
        for name in ("heq", "hne", "hlt", "hgeu", "hleu"):
            yield f"{label}_{name}", "bool", (half, half), f"__{name}(a, b)"
        for name in ("hfma", "hfma_sat", "hfma_relu"):
            yield f"{label}_{name}", half, (half,) * 3, f"__{name}(a, b, c)"
            yield f"{label}_{name}2", pair, (pair,) * 3, f"__{name.replace('hfma', 'hfma2')}(a, b, c)"
        for name in _WIDE_1:
            yield f"{label}_h{name}", half, (half,), f"h{name}(a)"
            yield f"{label}_h2{name}", pair, (pair,), f"h2{name}(a)"
        for name in ("habs2", "hneg2"):
            yield f"{label}_{name}", pair, (pair,), f"__{name}(a)"


def _warps() -> Iterator[Call]:
    everyone = "0xffffffffu"
    for name, more in (("shfl", "3"), ("shfl_up", "3"), ("shfl_down", "5, 16"), ("shfl_xor", "9")):
        for word in ("int", "long long", "double", "__half"):
            yield f"{name}_{word.replace(' ', '')}", word, (word,), f"__{name}_sync({everyone}, a, {more})"
    for name in ("all", "any", "ballot"):
        yield name, "unsigned", ("int",), f"__{name}_sync({everyone}, a & 1)"
    yield "match_any", "unsigned", ("int",), f"__match_any_sync({everyone}, a & 7)"
    for name in ("add", "min", "max"):
        for word in ("int", "unsigned"):
            yield f"reduce_{name}_{word}", word, (word,), f"__reduce_{name}_sync({everyone}, a)"
    for name in ("and", "or", "xor"):
        yield f"reduce_{name}", "unsigned", ("unsigned",), f"__reduce_{name}_sync({everyone}, a)"
    for name in ("count", "and", "or"):
        yield f"syncthreads_{name}", "int", ("int",), f"__syncthreads_{name}(a & 1)"


def _atomics() -> Iterator[Call]:
    for scope in ("", "_block", "_system"):
        for name in ("Add", "Min", "Max", "Exch", "And", "Or", "Xor"):
            for word in ("int", "unsigned", "unsigned long long"):
                label = word.replace(" ", "")
                yield (
                    f"atomic{name}{scope}_{label}",
                    word,
                    (word,),
                    f"atomic{name}{scope}(out + 65 + i % 7, a)",
                )
        for word in ("float", "double"):
            yield f"atomicAdd{scope}_{word}", word, (word,), f"atomicAdd{scope}(out + 65 + i % 7, a)"
        yield f"atomicCAS{scope}", "int", ("int", "int"), f"atomicCAS{scope}(out + 65 + i % 7, a, b)"
        yield f"atomicInc{scope}", "unsigned", ("unsigned",), f"atomicInc{scope}(out + 65, a)"
    for word in ("__half", "__half2", "__nv_bfloat16", "__nv_bfloat162", "float2", "float4"):
        yield f"atomicAdd_{word}", word, (word,), "atomicAdd(out + 65 + i % 7, a)"


@dataclass(frozen=True)
class Kernel:
    """An entry point and how many arrays it takes."""

    name: str
    arrays: int


def kernels() -> tuple[str, list[Kernel]]:
    """Return the source and its entry points; the first array receives the results."""
    texts = [f"#include <{name}>" for name in INCLUDES]
    listed = []
    families = (_simd, _integers, _floats, _conversions, _halves, _warps, _atomics)
    for n, (name, result, sources, call) in enumerate(each for family in families for each in family()):
        letters = "abc"[: len(sources)]
        parameters = [f"{result}* out"]
        parameters += [f"const {word}* {x}s" for word, x in zip(sources, letters, strict=True)]
        loads = " ".join(f"{word} {x} = {x}s[i];" for word, x in zip(sources, letters, strict=True))
        entry = f"k{n}_{name}"
        body = f"int i = threadIdx.x; {loads} out[i] = {call};"
        texts.append(f'extern "C" __global__ void {entry}({", ".join(parameters)}) {{ {body} }}')
        listed.append(Kernel(entry, len(parameters)))
    return "\n".join(texts) + "\n", listed
