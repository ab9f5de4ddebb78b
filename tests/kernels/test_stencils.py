"""Kernels that look at neighbours: a grid in three dimensions, and a convolution with constant taps."""

import numpy as np

from pytest_cudaopt import Constant, In, Out, Scalar, case, f32, i32, kernel, product, work


@kernel(
    "csrc/stencil.cu",
    # The grid is as deep as the array.
    domain={"nz": (1, 65535)},
    cases=[
        *product(nz=[1, 3], ny=[2, 9], nx=[1, 40]),
        case(nz=32, ny=64, nx=64, measure=True),
    ],
    work=work(bytes="8 * nz * ny * nx"),
)
def stencil(
    now=In(f32, "nz", "ny", "nx"),
    next=Out(f32, "nz", "ny", "nx"),
    rate=Scalar(f32, 0.1),
    nz=i32,
    ny=i32,
    nx=i32,
):
    """Move every inner cell towards its six neighbours; the outermost cells keep their value."""
    next[...] = now
    inner = (slice(1, -1),) * 3
    around = (
        now[:-2, 1:-1, 1:-1]
        + now[2:, 1:-1, 1:-1]
        + now[1:-1, :-2, 1:-1]
        + now[1:-1, 2:, 1:-1]
        + now[1:-1, 1:-1, :-2]
        + now[1:-1, 1:-1, 2:]
    )
    next[inner] += rate * (around - 6 * now[inner])


RADIUS = 4


@kernel(
    "csrc/convolve.cu",
    entry="filter::convolve",
    defines={"RADIUS": RADIUS},
    domain={"rows": (1, 65535)},
    cases=[*product(rows=[1, 3], cols=[1, 7, 300]), case(rows=64, cols=2000, measure=True)],
    atol=1e-5,
)
def convolve(
    x=In(f32, "rows", "cols"),
    y=Out(f32, "rows", "cols"),
    rows=i32,
    cols=i32,
    taps=Constant(f32, 2 * RADIUS + 1, symbol="filter::taps"),
):
    """Convolve every row with `taps`, centred; beyond its ends a row is 0."""
    padded = np.pad(x, ((0, 0), (RADIUS, RADIUS)))
    y[...] = sum(tap * padded[:, i : i + cols] for i, tap in enumerate(taps))
