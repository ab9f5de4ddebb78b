"""A session made up for tests of reports: every kind of row, and two failures."""

from __future__ import annotations

from dataclasses import replace

from pytest_cudaopt.evaluation import LatencyKind, SamplingMode
from pytest_cudaopt.session_report import FailedItem, SessionReport
from pytest_cudaopt.table import NOT_RUN, Row, RowStage

GPU = "cuda:0 (NVIDIA H200)"
SAXPY, SOFTMAX = "test_saxpy.py::saxpy", "test_softmax.py::softmax"
CHECKED = Row(SAXPY, RowStage.CHECK, 0, "n1", "passed", GPU)
FAULTY = Row(SAXPY, RowStage.CHECK, 1, "n1021", "fault", GPU)
LEFT_OUT = Row(SAXPY, RowStage.SANITIZE, 3, "sanitize", NOT_RUN, GPU)
SLOWER = Row(
    SOFTMAX,
    RowStage.LATENCY,
    0,
    "n4096",
    "slower",
    GPU,
    median_ns=5430.0,
    kind=LatencyKind.MEASURED,
    mode=SamplingMode.BATCH,
    latency_text="5.43 us batch, IQR 0.22 %",
    verdict="slower",
    gate="31 % slower than the baseline, 4.14 us -> 5.43 us",
)
UNSURE = replace(
    SLOWER,
    position=1,
    case="n8192",
    status="passed",
    verdict="unsure",
    gate="too few blocks",
    doubts=("the clock moved",),
)
WAIVED = Row(
    SOFTMAX,
    RowStage.SANITIZE,
    3,
    "sanitize",
    "passed",
    GPU,
    note="5 cases",
    waived=("waived: RACE at softmax.cu:31",),
)
OPTIMIZED = Row(
    SOFTMAX,
    RowStage.OPTIMIZE,
    4,
    "optimize",
    "passed",
    GPU,
    median_ns=4140.0,
    kind=LatencyKind.MEASURED,
    mode=SamplingMode.BATCH,
    start_ns=7400.0,
    best="BLOCK=256",
    attempts=7,
    notes=("certificate: right at 6 declared cases",),
    folder="results/run-003",
)
ROWS = (CHECKED, FAULTY, LEFT_OUT, SLOWER, UNSURE, WAIVED, OPTIMIZED)
FAULT = FailedItem(
    FAULTY.item, "FAULT: reads x[1021] <of 1021>", "FAULT: reads x[1021]\n  at  saxpy.cu:16", "saxpy.cu", 16
)
SLOW = FailedItem(SLOWER.item, "SLOWER: 31 %", "SLOWER: 31 %\n  cause", "softmax.cu", 12)
SESSION = SessionReport(ROWS, (FAULT, SLOW), 300.0, "pytest-cudaopt 9.9, 2026-11-30 12:00 UTC")
