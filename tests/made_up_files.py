"""The files of a kernel that doubles a vector, and other versions of it."""

SIGNATURE = {
    "kernel": "scale",
    "parameters": [
        {"name": "x", "role": "in", "dtype": "f32", "shape": ["n"]},
        {"name": "y", "role": "out", "dtype": "f32", "shape": ["n"]},
        {"name": "n", "role": "scalar", "dtype": "i32"},
    ],
}
CASES = [{"sizes": {"n": 51}}, {"id": "large", "sizes": {"n": 4096}, "measure": True}]
REFERENCE = "def scale(x):\n    print('a reference may print')\n    return 2 * x\n"
HEAD = 'extern "C" __global__ void scale(const float* x, float* y, int n) {\n'
FASTER = f"{HEAD}    int i = blockIdx.x * 256 + threadIdx.x;\n    if (i < n) y[i] = x[i] + x[i];\n}}\n"
WRONG = FASTER.replace("x[i] + x[i]", "3 * x[i]")
SLOW = f"""// @launch grid=(1) block=(64)
{HEAD}    for (int i = threadIdx.x; i < n; i += 64) y[i] = 2.0f * x[i];
}}
"""
