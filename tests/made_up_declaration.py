"""A declaration that says everything that data can say, and its source."""

from pytest_cudaopt import (
    Constant,
    In,
    InOut,
    Out,
    Scalar,
    Scratch,
    case,
    f32,
    i32,
    i64,
    indices,
    integers,
    kernel,
    lengths,
    limits,
    normal,
    offsets,
    permutation,
    sorted_,
    thresholds,
    u8,
    uniform,
    waive,
    work,
)

OFFSET = 3


def helper(x):
    """Use a constant of the module."""
    return x + OFFSET


EVERYTHING = """\
// @cudaopt begin other
// @launch grid=(1) block=(1)
__global__ void other() {}
// @cudaopt end
// @cudaopt begin everything
extern "C" __global__ void everything_inside() {}
// @cudaopt end
"""


@kernel(
    "every.cu",
    cases=[
        case(n=4, k=2, seed=7, id="odd one"),
        case(n=8, k=2, measure=True, weight=2.5, bias=None),
        case(n=8, k=2),
        case(n=8, k=2, seed=1),
        case(n=8, k=2, values="huge", misaligned={"x": 1}, alias={"y": "bias"}),
    ],
    entry="everything_inside",
    rtol="1e-3*sqrt(n)",
    atol=0,
    sizes=["k"],
    derive={"ld": "n + 3"},
    choices={"k": (2, 4)},
    where=["k <= n", "n % 4 == 0"],
    domain={"n": (4, "64 * k")},
    launch="grid=(cdiv(n, 64)) block=(64) shared=4*n cluster=(2) cooperative",
    defines={"WIDTH": 4, "EMPTY": ""},
    options=["--use_fast_math"],
    stub=["torch/*"],
    work=work(flops="2 * n", bytes="touched"),
    required=["unaligned", "aliasing"],
    ignored=["non_finite"],
    limits=limits(registers=64, spill_bytes=0, shared_bytes=4096, stack_bytes=8),
    gate=thresholds(effect=0.02, modelled_fail=2),
    waivers=[
        waive("race", at="every.cu:31", reason="they write the same"),
        waive("race", at="csrc/other.cuh", reason="looked at"),
        waive("registers_exceeded", at="every.cu", reason="until the next release"),
    ],
)
def everything(
    x=In(f32, "n", "k", values=uniform(0, "n"), strides=("ld", 1), oracle="stored"),
    bias=In(f32, "n", optional=True, values=normal(0.5)),
    taps=Constant(f32, 3, symbol="ns::taps", values=uniform()),
    own=Constant(u8, 3),
    table=In(i32, "n", values=indices("n", unique=True, skip=-1, share=0.25)),
    ends=In(i64, "n + 1", values=offsets("4 * n", empty=False)),
    counts=In(i32, "n", values=lengths("k", zero=True)),
    order=In(i32, "n", values=permutation()),
    keys=In(i32, "n", values=sorted_(integers(-3, "n"))),
    work=Scratch(f32, "n"),
    y=Out(f32, "n", rtol=0.5, atol="1e-3 * n", ulp=4, unwritten="any"),
    z=InOut(i32, "n", exact=True, values=integers(0, 9)),
    n=i32,
    ld=i32,
    alpha=Scalar(f32, float("-inf")),
    third=Scalar(f32, 1 / 3),
    both=Scalar(i64, "n * k"),
    drawn=Scalar(f32, values=uniform(1, 2)),
    *,
    k,
):
    """Say everything that data can.

    In two paragraphs.
    """
    # A comment that stays.
    y[...] = helper(x).sum(axis=1)[:k].sum()
