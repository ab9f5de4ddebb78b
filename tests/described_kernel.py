"""Answers of a model that was asked to declare a kernel from a description, right ones and wrong ones."""

from __future__ import annotations

import json
from typing import Any

from scripted_server import Answer, message, proposal, response

DESCRIPTION = "Single-precision GEMM with rectangular matrices."
Json = dict[str, Any]


def sizes(**values: int) -> list[Json]:
    return [{"name": name, "value": value} for name, value in values.items()]


def parameter(name: str, role: str, dtype: str, *shape: str, **more: Any) -> Json:
    return {
        "name": name,
        "role": role,
        "dtype": dtype,
        "shape": list(shape),
        "values": None,
        "value": None,
        **more,
    }


def specification(**more: Any) -> Json:
    return {
        "kernel": "sgemm",
        "description": "C = A B, for row-major A (m, k), B (k, n) and C (m, n).",
        "parameters": [
            parameter("a", "in", "f32", "m", "k"),
            parameter("b", "in", "f32", "k", "n"),
            parameter("c", "out", "f32", "m", "n"),
            parameter("m", "size", "i32"),
            parameter("n", "size", "i32"),
            parameter("k", "size", "i32"),
        ],
        "domain": [],
        "where": [],
        "friendly": [sizes(m=32, n=64, k=32)],
        "awkward": [sizes(m=1, n=1, k=1), sizes(m=17, n=33, k=5)],
        "measured": [sizes(m=128, n=96, k=64)],
        "rtol": 1e-5,
        "atol": 1e-4,
        "flops": "2 * m * n * k",
        "bytes": None,
        **more,
    }


REFERENCE = "import numpy as np\n\n\ndef sgemm(a, b):\n    return a @ b\n"
SECOND = """import numpy as np


def sgemm(a, b, m, n, k):
    c = np.zeros((m, n))
    for i in range(k):
        c += np.outer(a[:, i], b[i, :])
    return c
"""
KNOWN = {
    "sizes": sizes(m=1, n=2, k=2),
    "inputs": [{"name": "a", "elements": [1, 2]}, {"name": "b", "elements": [3, 4, 5, 6]}],
    "outputs": [{"name": "c", "elements": [13, 16]}],
}
KERNEL = """extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int m, int n, int k)
{
    int col = blockIdx.y * blockDim.x + threadIdx.x, row = blockIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}
"""
LAUNCH = "grid=(m, cdiv(n, BLOCK)) block=(BLOCK)"


def second_opinion(source: str = SECOND, **more: Any) -> Json:
    return {"source": source, "known": [KNOWN], "linear_in": ["a", "b"], "permutes": ["m", "k"], **more}


# Right, and slow: few threads for all of it.
PLAIN = """extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int m, int n, int k)
{
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < m * n; at += gridDim.x * blockDim.x) {
        int row = at / n, col = at % n;
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
        c[at] = sum;
    }
}
"""


def kernel(source: str = PLAIN, **more: Any) -> Json:
    return proposal(source, "grid=(4) block=(64)", **more)


def says(filled: Json) -> Answer:
    return response(message(json.dumps(filled)))


GOOD = (
    says(specification()),
    says({"source": REFERENCE}),
    says(second_opinion()),
    says(kernel()),
)
# A proposal of the loop that follows.
FASTER = says(proposal(KERNEL, LAUNCH, tunables=[{"name": "BLOCK", "values": [64, 32]}]))
