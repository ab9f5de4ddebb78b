"""Small kernels, one feature each, that a sanitizer has nothing to say about (but for one)."""

# They are launched for what is found in them; what they compute is tested elsewhere.

from pytest_cudaopt import (
    Constant,
    In,
    InOut,
    Out,
    Scalar,
    Struct,
    bf16,
    case,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    indices,
    integers,
    kernel,
    offsets,
    u8,
    u32,
    u64,
    uniform,
)

OVER_N = "grid=(cdiv(n, 128)) block=(128)"
ONE_WARP = "grid=(1) block=(32)"


@kernel("corpus/argmax.cu", launch="grid=(rows) block=(256)", sizes=["rows"], cases=[case(rows=3, n=700)])
def argmax(x=In(f32, "rows", "n"), idx=Out(i32, "rows"), n=i32): ...


@kernel("corpus/argmax.cu", entry="argmaxa", launch=OVER_N, cases=[case(n=500)])
def argmaxa(x=In(f32, "n"), best=InOut(u64, 1, values=integers(0, 0)), n=i32): ...


@kernel("corpus/bf16.cu", entry="bfk", launch=OVER_N, cases=[case(n=300)])
def bf16_arithmetic(x=In(bf16, "n"), y=Out(bf16, "n"), z=InOut(bf16, "n", 2), f=Out(f32, "n"), n=i32): ...


@kernel("corpus/calls.cu", launch=ONE_WARP, cases=[case(n=30)])
def calls(
    x=InOut(f32, "n"),
    n=i32,
    p=Struct("P", a=Scalar(f32, 1.5), b=Scalar(f32, 0.5), c=Scalar(f32, 2), k=Scalar(i32, 3)),
    *,
    a,
    b,
    c,
    k,
): ...


@kernel("corpus/cg.cu", entry="cgk", launch="grid=(1) block=(128)", cases=[case(n=100)])
def cooperative(x=In(f32, "n"), o=InOut(f32, 2), n=i32): ...


@kernel(
    "corpus/cpasync.cu",
    entry="cpa",
    launch="grid=(rows) block=(128)",
    sizes=["rows"],
    cases=[case(rows=2, n=4)],
)
def copies(x=In(f32, "rows", "n", 512), y=Out(f32, "rows", "n", 512), n=i32): ...


@kernel(
    "corpus/cpbar.cu", entry="cpb", launch="grid=(rows) block=(256)", sizes=["rows"], cases=[case(rows=3)]
)
def copies_with_barrier(x=In(f32, "rows", 256), y=Out(f32, "rows", 256)): ...


@kernel("corpus/cubred.cu", entry="cubk", launch="grid=(cdiv(n, 256)) block=(256)", cases=[case(n=700)])
def cub(x=In(f32, "n"), o=Out(f32, "cdiv(n, 256)"), sc=Out(i32, "n"), n=i32): ...


@kernel("corpus/dbl.cu", entry="dbl", launch=OVER_N, cases=[case(n=300)])
def doubles(x=In(f64, "n"), y=Out(f64, "n"), l=InOut(i64, "n"), n=i32): ...  # noqa: E741 - as in the source


@kernel("corpus/gelu.cu", launch=OVER_N, cases=[case(n=300, mode=mode) for mode in range(4)])
def gelu(x=In(f32, "n"), y=Out(f32, "n"), n=i32, mode=i32): ...


@kernel("corpus/half.cu", entry="halfk", launch=OVER_N, cases=[case(n=300)])
def halves(
    x=In(f16, "n"),
    x2=In(f16, "n", 2),
    y=Out(f16, "n"),
    y2=Out(f16, "n", 2),
    f=Out(f32, "n"),
    n=i32,
): ...


@kernel("corpus/hist.cu", launch="grid=(3) block=(128)", cases=[case(n=3000)])
def hist(x=In(u8, "n"), h=InOut(u32, 256), n=i32): ...


# A second thread would race for `f[0]`, which is stored and added to.
@kernel("corpus/hist.cu", entry="atoms", launch="grid=(1) block=(1)", cases=[case()])
def atoms(p=InOut(i32, 12), q=InOut(u64, 1), f=InOut(f32, 2), d=InOut(f64, 1)): ...


@kernel("corpus/int8.cu", entry="dp", launch=OVER_N, cases=[case(n=300)])
def dot_products(
    a=In(i32, "n", 8),
    b=In(i32, "n", 8, values=integers(1, 1000)),
    c=Out(i32, "n"),
    u8_=Out(u8, "n"),
    s8=Out(i8, "n"),
    f=In(f32, "n", values=uniform(0, 1)),
    n=i32,
): ...


@kernel(
    "corpus/layernorm.cu",
    launch="grid=(rows) block=(128)",
    sizes=["rows"],
    cases=[case(rows=3, cols=200)],
)
def layernorm(
    x=In(f32, "rows", "cols"),
    g=In(f32, "cols"),
    b=In(f32, "cols"),
    y=Out(f32, "rows", "cols"),
    cols=i32,
    eps=Scalar(f32, 1e-5),
): ...


@kernel("corpus/localarr.cu", launch=ONE_WARP, cases=[case(n=20)])
def localarr(
    idx=In(i32, "n + 32", values=integers(0, 100)),
    y=Out(f32, 32),
    n=i32,
    cw=Constant(f32, 64, symbol="cw"),
): ...


@kernel("corpus/mma.cu", entry="mmak", launch=ONE_WARP, cases=[case()])
def fragments(a=In(u32, 512), c=Out(f32, 128)): ...


@kernel("corpus/reduce.cu", launch="grid=(4) block=(128) shared=512", cases=[case(n=3000)])
def reduce(x=In(f32, "n"), out=InOut(f32, 1), n=i32): ...


@kernel("corpus/reduce.cu", entry="anyall", launch="grid=(3) block=(128)", cases=[case(n=384)])
def anyall(x=In(i32, "n"), o=InOut(i32, "n"), n=i32): ...


@kernel("corpus/rng.cu", entry="mc", launch="grid=(2) block=(64)", cases=[case(it=20)])
def monte_carlo(seed=Scalar(u64, 7), hits=InOut(u32, 1), it=i32): ...


@kernel("corpus/rng.cu", entry="spmv", launch=OVER_N, sizes=["total"], cases=[case(n=100, total=900)])
def spmv(
    rp=In(i32, "n + 1", values=offsets("total")),
    ci=In(i32, "total", values=indices("n")),
    va=In(f32, "total"),
    x=In(f32, "n"),
    y=InOut(f32, "n"),
    n=i32,
): ...


@kernel("corpus/rng.cu", entry="bitonic", launch="grid=(n // 512) block=(512)", cases=[case(n=1024)])
def bitonic(x=InOut(i32, "n"), n=i32): ...


@kernel("corpus/saxpy.cu", launch=OVER_N, cases=[case(n=300)])
def saxpy(a=Scalar(f32, 2), x=In(f32, "n"), y=InOut(f32, "n"), n=i32): ...


@kernel("corpus/scan.cu", launch="grid=(2) block=(1024)", cases=[case(n=2000)])
def scan(x=In(i32, "n"), y=Out(i32, "n"), n=i32): ...


SQUARE = [case(m=64, n=64, k=64)]


@kernel("corpus/sgemm_naive.cu", launch="grid=(n / 32, m / 8) block=(32, 8)", cases=SQUARE)
def sgemm_naive(a=In(f32, "m", "k"), b=In(f32, "k", "n"), c=Out(f32, "m", "n"), m=i32, n=i32, k=i32): ...


@kernel("corpus/sgemm_reg.cu", launch="grid=(n / 64, m / 64) block=(256)", cases=SQUARE)
def sgemm_reg(a=In(f32, "m", "k"), b=In(f32, "k", "n"), c=Out(f32, "m", "n"), m=i32, n=i32, k=i32): ...


@kernel("corpus/sgemm_tiled.cu", launch="grid=(n / 32, m / 32) block=(32, 32)", cases=SQUARE)
def sgemm_tiled(a=In(f32, "m", "k"), b=In(f32, "k", "n"), c=Out(f32, "m", "n"), m=i32, n=i32, k=i32): ...


@kernel(
    "corpus/softmax.cu",
    launch="grid=(rows) block=(128)",
    sizes=["rows"],
    cases=[case(rows=3, cols=200)],
)
def softmax(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols"), cols=i32): ...


@kernel(
    "corpus/stencil.cu", launch="grid=(cdiv(w, 32), cdiv(h, 16)) block=(32, 16)", cases=[case(w=50, h=40)]
)
def stencil(image=In(f32, "h", "w"), out=Out(f32, "h", "w"), w=i32, h=i32): ...


@kernel("corpus/sw.cu", launch=ONE_WARP, cases=[case(n=30)])
def sw(x=InOut(i32, "n", values=integers(0, 9)), y=InOut(f32, "n"), n=i32): ...


@kernel("corpus/templ.cu", entry="tk<float, 128>", launch=OVER_N, cases=[case(n=300)])
def template(x=In(f32, "n"), y=Out(f32, "n"), n=i32): ...


@kernel(
    "corpus/transpose.cu", launch="grid=(cdiv(w, 32), cdiv(h, 32)) block=(32, 8)", cases=[case(w=50, h=40)]
)
def transpose(image=In(f32, "h", "w"), out=Out(f32, "w", "h"), w=i32, h=i32): ...


@kernel("corpus/vadd.cu", launch=OVER_N, cases=[case(n=300)])
def vadd(a=In(f32, "n"), b=In(f32, "n"), c=Out(f32, "n"), n=i32): ...


@kernel("corpus/vadd4.cu", launch="grid=(2) block=(64)", sizes=["n4"], cases=[case(n4=300)])
def vadd4(a=In(f32, "n4", 4), b=In(f32, "n4", 4), c=Out(f32, "n4", 4), n4=i32): ...


@kernel("corpus/wmma.cu", entry="wm", launch="grid=(n / 16, 2) block=(32)", cases=[case(k=32, n=48)])
def wmma(a=In(f16, 32, "k"), b=In(f16, "k", "n"), c=Out(f32, 32, "n"), k=i32, n=i32): ...
