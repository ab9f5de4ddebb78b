"""Sum reduction into one element that other launches may already have added to."""

from pytest_cudaopt import In, InOut, case, f32, i32, kernel, uniform, work


@kernel(
    "sum.cu",
    cases=[
        case(n=4096),
        case(n=1),
        case(n=127),
        case(n=65_537),
        case(n=1 << 20, measure=True),
    ],
    # Relative to a sum of positive terms; each thread adds up to a few hundred of them in float.
    rtol=1e-5,
    work=work(flops="n", bytes="4 * n"),
)
def sum(x=In(f32, "n", values=uniform(0, 1)), total=InOut(f32, 1, values=uniform(0, 1)), n=i32):
    """Add the sum of `x` to `total`."""
    total[...] += x.sum()
