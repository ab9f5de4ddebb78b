"""Operations that the judge was wrong about once: right rewrites it refused, and faults it did not see."""

import numpy as np
from faulty_table import FAULT, LOST, WRONG, Faulty, Kind, Rung

from pytest_cudaopt import In, Out, Scalar, case, f32, i8, i32, integers, kernel, u8, uniform


@kernel("layer_norm/start.cu", cases=[case(rows=4, cols=128), case(rows=3, cols=300)], rtol=1e-3, atol=1e-4)
def layer_norm(
    x=In(f32, "rows", "cols"),
    gamma=In(f32, "cols"),
    beta=In(f32, "cols"),
    y=Out(f32, "rows", "cols"),
    rows=i32,
    cols=i32,
    eps=Scalar(f32, 1e-5),
):
    m = x.mean(axis=1, keepdims=True)
    v = ((x - m) ** 2).mean(axis=1, keepdims=True)
    y[...] = (x - m) / np.sqrt(v + eps) * gamma + beta


@kernel("logsumexp/start.cu", cases=[case(rows=4, cols=128), case(rows=3, cols=300)])
def logsumexp(x=In(f32, "rows", "cols"), y=Out(f32, "rows"), rows=i32, cols=i32):
    m = x.max(axis=1)
    y[...] = np.log(np.exp(x - m[:, None]).sum(axis=1)) + m


@kernel("isum/start.cu", cases=[case(rows=4, n=100), case(rows=2, n=700)])
def isum(x=In(i32, "rows", "n"), y=Out(i32, "rows", "n"), rows=i32, n=i32):
    y[...] = np.cumsum(x, axis=1, dtype=np.int32)


@kernel("kmeans/start.cu", cases=[case(n=100, k=8, d=16), case(n=60, k=13, d=7)])
def kmeans(x=In(f32, "n", "d"), c=In(f32, "k", "d"), label=Out(i32, "n"), n=i32, k=i32, d=i32):
    label[...] = ((x[:, None, :] - c[None]) ** 2).sum(axis=2).argmin(axis=1)


@kernel("fft64/start.cu", cases=[case(batch=3), case(batch=8)], rtol=1e-4, atol=1e-4)
def fft64(x=In(f32, "batch", 64, 2), y=Out(f32, "batch", 64, 2), batch=i32):
    z = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=1)
    y[..., 0] = z.real
    y[..., 1] = z.imag


@kernel("idot/start.cu", cases=[case(m=12, n=16, k=64), case(m=7, n=5, k=100)])
def idot(a=In(i8, "m", "k"), b=In(i8, "n", "k"), y=Out(i32, "m", "n"), m=i32, n=i32, k=i32):
    y[...] = a.astype(np.int32) @ b.astype(np.int32).T


@kernel(
    "bilinear/start.cu", cases=[case(h=16, w=24, n=200), case(h=9, w=7, n=300)], where=["h >= 2", "w >= 2"]
)
def bilinear(
    img=In(f32, "h", "w"),
    u=In(f32, "n", values=uniform(0, 1)),
    v=In(f32, "n", values=uniform(0, 1)),
    y=Out(f32, "n", atol=1e-4),
    h=i32,
    w=i32,
    n=i32,
):
    fx = u * (w - 1)
    fy = v * (h - 1)
    x0 = np.clip(np.floor(fx), 0, w - 2).astype(int)
    y0 = np.clip(np.floor(fy), 0, h - 2).astype(int)
    ax = fx - x0
    ay = fy - y0
    y[...] = (img[y0, x0] * (1 - ax) + img[y0, x0 + 1] * ax) * (1 - ay) + (
        img[y0 + 1, x0] * (1 - ax) + img[y0 + 1, x0 + 1] * ax
    ) * ay


@kernel("argmin/start.cu", cases=[case(rows=5, cols=100), case(rows=3, cols=256)])
def argmin(x=In(f32, "rows", "cols"), y=Out(i32, "rows"), rows=i32, cols=i32):
    y[...] = x.argmin(axis=1)


@kernel("dropout/start.cu", cases=[case(n=1000), case(n=4099)])
def dropout(
    x=In(f32, "n"), keep=In(u8, "n", values=integers(0, 1)), y=Out(f32, "n"), n=i32, scale=Scalar(f32, 1.25)
):
    y[...] = np.where(keep != 0, x * scale, 0)


@kernel("batch_norm/start.cu", cases=[case(rows=16, cols=64), case(rows=5, cols=100)], rtol=1e-4, atol=1e-5)
def batch_norm(
    x=In(f32, "rows", "cols"),
    mean=In(f32, "cols"),
    var=In(f32, "cols", values=uniform(0.5, 2)),
    g=In(f32, "cols"),
    b=In(f32, "cols"),
    y=Out(f32, "rows", "cols"),
    rows=i32,
    cols=i32,
    eps=Scalar(f32, 1e-5),
):
    y[...] = (x - mean) / np.sqrt(var + eps) * g + b


@kernel("colsum/start.cu", cases=[case(rows=64, cols=50), case(rows=200, cols=33)], rtol=1e-5, atol=1e-4)
def colsum(x=In(f32, "rows", "cols"), y=Out(f32, "cols"), rows=i32, cols=i32):
    y[...] = x.sum(axis=0)


def _faulty(operation, file, row, kind, rung, why, told=(*WRONG, *LOST)):
    return Faulty(operation, file, row, kind, rung, why, told)


FAULTY = (
    _faulty(
        "layer_norm",
        "bug_sum_of_squares",
        19,
        Kind.FAST_MATH,
        Rung.CONTRACT,
        "elements around a large number",
    ),
    _faulty(
        "layer_norm",
        "bug_epsilon_dropped",
        19,
        Kind.FAST_MATH,
        Rung.FUZZ,
        "rows of one element have no variance",
    ),
    _faulty(
        "idot", "bug_short", 18, Kind.NARROW_INDEX, Rung.CONTRACT, "elements at the limits of their type"
    ),
    _faulty("idot", "bug_float_sum", 18, Kind.PRECISION, Rung.CONTRACT, "long rows of large elements"),
    _faulty(
        "argmin",
        "bug_signed_key",
        15,
        Kind.SUBNORMAL,
        Rung.CONTRACT,
        "zeros of both signs, less than all else",
    ),
    _faulty("batch_norm", "bug_epsilon_dropped", 19, Kind.FAST_MATH, Rung.FUZZ, "small variances"),
    _faulty("bilinear", "bug_last_pixel", 29, Kind.OUT_OF_BOUNDS, Rung.FUZZ, "the end of the range", FAULT),
    _faulty("logsumexp", "bug_first_as_max", 19, Kind.FAST_MATH, Rung.FUZZ, "elements far above the first"),
    _faulty("logsumexp", "hack_truncates", 13, Kind.FITTED, Rung.FUZZ, "many elements far below the largest"),
    _faulty(
        "fft64",
        "hack_real_input",
        12,
        Kind.SNIFFED,
        Rung.FUZZ,
        "a complex signal that begins with a real number",
    ),
    _faulty("kmeans", "bug_last_tie", 15, Kind.TIES, Rung.FUZZ, "centroids that are alike"),
    _faulty("dropout", "bug_multiplies", 22, Kind.NON_FINITE, Rung.FUZZ, "NaN in what is dropped"),
    _faulty("dropout", "bug_low_bit", 15, Kind.INTEGER_RANGE, Rung.CONTRACT, "true in another way than 1"),
    _faulty("isum", "bug_double_sum", 15, Kind.INTEGER_RANGE, Rung.CONTRACT, "sums that leave 32 bits"),
)
