"""Scaled vector addition, updated in place."""

from pytest_cudaopt import In, InOut, Scalar, case, f32, i32, kernel, uniform, work


@kernel(
    "saxpy.cu",
    cases=[
        case(n=4096),
        case(n=1),
        case(n=1021),
        case(n=100_003),
        case(n=1 << 20, measure=True),
    ],
    work=work(flops="2 * n", bytes="12 * n"),
)
def saxpy(a=Scalar(f32, values=uniform(-2, 2)), x=In(f32, "n"), y=InOut(f32, "n"), n=i32):
    """Add `a` times `x` to `y`."""
    y[...] = a * x + y
