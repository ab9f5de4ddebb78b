"""What directs caches changes no result on `sim`: policies, priorities, prefetches."""

from __future__ import annotations

SOURCE = """\
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void hinted(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    unsigned long long keep;
    float value;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(x + i), "l"(keep));
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(y + i), "f"(value), "l"(keep));
    if (i == 0) asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(x));
}
"""
TEST = """\
from pytest_cudaopt import In, Out, case, f32, i32, kernel

@kernel("hinted.cu", cases=[case(n=100), case(n=4096, measure=True)])
def hinted(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = x
"""


def test_hints_change_no_result(project) -> None:
    (project.path / "test_scale.py").unlink()
    project.write("hinted.cu", SOURCE)
    project.write("test_hinted.py", TEST)
    project.run("--cudaopt-device=sim").assert_outcomes(passed=6)


def test_a_hinted_access_is_checked_as_any_other(project) -> None:
    (project.path / "test_scale.py").unlink()
    project.write("hinted.cu", SOURCE.replace('"l"(x + i), "l"(keep)', '"l"(x + i + 1), "l"(keep)'))
    project.write("test_hinted.py", TEST)
    result = project.run("--cudaopt-device=sim", "-k", "check-n100")
    result.stdout.fnmatch_lines(["FAULT: illegal_address: kernel 'hinted' reads x[[]100[]]*"])
