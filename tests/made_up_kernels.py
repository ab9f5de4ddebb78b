"""Declarations and evaluations made by hand, for tests of what is said about them."""

from pathlib import Path

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Comparison, Evaluation, Mismatch, Status
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.launch import LaunchConfiguration, LaunchRule

SOURCE = """\
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
\ty[i] = 2.0f * x[i];
}
"""
DEVICE = "sim (modelled h200)"


def scale_kernel() -> Kernel:
    @kernel("scale.cu", cases=[case(n=51), case(n=64, measure=True)])
    def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 2 * x

    return scale


def scale_candidate() -> Candidate:
    return Candidate("scale.cu", SOURCE, LaunchRule.parse("grid=(cdiv(n, 64)) block=(64)"))


def source_folder() -> Path:
    return Path(__file__).parent


def evaluation(status: Status, **known) -> Evaluation:
    return Evaluation("scale", scale_candidate().digest, DEVICE, status, **known)


def wrong_outcome(**worst) -> CaseOutcome:
    mismatch = Mismatch(
        **{
            "index": (50,),
            "expected": 2.5,
            "got": 2.75,
            "absolute": 0.25,
            "relative": 0.1,
            "ulp": 1048576.0,
            **worst,
        }
    )
    comparison = Comparison("y", 51, 12, 1e-5, 1e-6, worst=mismatch, first=(mismatch,), max_absolute=0.25)
    launch = LaunchConfiguration((1, 1, 1), (64, 1, 1))
    return CaseOutcome(case(n=51), "n51", CaseStatus.WRONG, launch, (comparison,))


def out_of_bounds() -> Finding:
    return Finding(
        FindingKind.ILLEGAL_ADDRESS,
        "read outside of 'x'",
        file="scale.cu",
        line=4,
        instruction="ld.global.f32 %f1, [%rd4]",
        buffer="x",
        element=51,
        elements=51,
        bytes=4,
        access="read",
        space="global",
        block=(0, 0, 0),
        thread=(51, 0, 0),
    )
