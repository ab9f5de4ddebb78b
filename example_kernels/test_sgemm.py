"""Single-precision matrix product of any three sizes."""

from pytest_cudaopt import In, Out, case, f32, i32, kernel, work


@kernel(
    "sgemm.cu",
    cases=[
        case(m=64, n=64, k=64),
        case(m=1, n=1, k=1),
        case(m=33, n=65, k=17),
        case(m=127, n=61, k=131),
        case(m=1024, n=1536, k=128, measure=True),
    ],
    # Terms of both signs cancel: the error is that of the terms, not of the small sum they leave.
    rtol=1e-5,
    atol=5e-5,
    work=work(flops="2 * m * n * k", bytes="4 * (m * k + k * n + m * n)"),
)
def sgemm(a=In(f32, "m", "k"), b=In(f32, "k", "n"), c=Out(f32, "m", "n"), m=i32, n=i32, k=i32):
    """Multiply `a` by `b`."""
    c[...] = a @ b
