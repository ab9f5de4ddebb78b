"""Requests and answers as this package writes and reads them; test_protocol asks the real harness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt.answers import Answer, AnswerStatus, GpuFacts, parse_line
from pytest_cudaopt.dtypes import ALL, DType, bf16, bool_, f32, i64
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Captured, Diagnostic, LatencyKind, Resources, Sampling, SamplingMode
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.line_counters import LineCounters
from pytest_cudaopt.protocol import (
    Access,
    Arm,
    AskLimits,
    Buffer,
    BufferArgument,
    Capture,
    CompareDigest,
    Compile,
    Copy,
    Digest,
    Entry,
    Fill,
    Interleave,
    Launch,
    Load,
    Measure,
    Module,
    NullArgument,
    Read,
    ReadGuards,
    Reload,
    Request,
    Reset,
    ScalarArgument,
    SimOptions,
    Step,
    Write,
)

ARGUMENTS = (BufferArgument("x"), NullArgument(True), ScalarArgument("f32", "0000803f"))
ARM = Arm("m", "k", (1, 2, 3), (32, 1, 1), ARGUMENTS, 64)
MEASURE = Measure(
    "m",
    "k",
    (1, 2, 3),
    (32, 1, 1),
    ARGUMENTS,
    warmup_ms=1.5,
    relative_error=0.01,
    max_samples=200,
    mode="batch",
    contents=({"x": "x1.bin"}, {}),
    held_out={"x": "x2.bin"},
    capture=(Capture("y", "n-y.bin"),),
    by_line=True,
)
STEPS: tuple[Step, ...] = (
    Compile("m"),
    Load("m"),
    Reload("m"),
    Fill("x", "00ff"),
    Copy("x", "y"),
    Write("x", "x.bin"),
    Launch("m", "k", (1, 2, 3), (32, 1, 1), ARGUMENTS, 64),
    Read("x", "n-x.bin"),
    ReadGuards("x"),
    Digest("x"),
    CompareDigest("x", "0" * 64),
    Measure("m", "k", (1, 2, 3), (32, 1, 1), ARGUMENTS, 64, warmup=1, samples=2),
    MEASURE,
    Interleave((ARM, ARM), 3, 4, 5, 6.5, "cold"),
    Reset(),
    Reset("f97f"),
    AskLimits(),
    Read("x", "n-x2.bin", if_changed=True),
)
MODULE = Module(
    "m",
    "a.cu",
    source="int x;",
    options=("-std=c++17",),
    include=("/include",),
    headers={"a.h": ""},
    entries=(Entry("k", (("const float*", "float*"), ("int",))),),
    ptx_file="m.ptx",
    cubin_file="m.cubin",
    lowered={"k": "_k"},
    resources={"_k": Resources(1, 2, 3, 4, 5, 6)},
)
BUFFERS = (
    Buffer("x", 16, Access.READ, 4, 4, 256, initial_file="x.bin", poison="f97f"),
    Buffer("y", 16, alias="x"),
)
REQUEST = Request(
    "id",
    "n",
    "sim",
    STEPS,
    "/folder",
    1.5,
    "/nvrtc.so",
    SimOptions(2, "x86-64", "h200", 9),
    (MODULE,),
    BUFFERS,
)


def test_a_request_survives_the_way_out_and_back() -> None:
    assert Request.from_json(REQUEST.to_json()) == REQUEST


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.DO)
def test_every_step_names_what_it_does(step: Step) -> None:
    written = replace(REQUEST, steps=(step,)).to_json()["steps"][0]
    assert written["do"] == step.DO


def test_a_request_is_spelled_as_the_protocol_says() -> None:
    written = REQUEST.to_json()
    assert written["protocol"] == 1
    assert written["steps"][4] == {"do": "copy", "from": "x", "to": "y"}
    assert written["steps"][6] == {
        "do": "launch",
        "module": "m",
        "entry": "k",
        "grid": [1, 2, 3],
        "block": [32, 1, 1],
        "arguments": [{"buffer": "x"}, {"null": True}, {"scalar": "f32", "value": "0000803f"}],
        "shared_bytes": 64,
    }
    assert {name: written["steps"][12][name] for name in ("contents", "held_out", "capture", "mode")} == {
        "contents": [{"x": "x1.bin"}, {}],
        "held_out": {"x": "x2.bin"},
        "capture": [{"buffer": "y", "file": "n-y.bin"}],
        "mode": "batch",
    }
    assert "do" not in written["steps"][13]["arms"][0]
    assert written["steps"][14:16] == [{"do": "reset"}, {"do": "reset", "poison": "f97f"}]
    assert written["steps"][17] == {"do": "read", "buffer": "x", "file": "n-x2.bin", "if_changed": True}
    assert written["modules"][0]["entries"] == [
        {"name": "k", "parameters": [["const float*", "float*"], ["int"]]}
    ]
    assert written["buffers"][1] == {"name": "y", "bytes": 16, "alias": "x"}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"protocol": 2}, "request.protocol: expected 1, got 2"),
        ({"tiemout_s": 1}, "request: expected keys among id, nonce"),
        ({"steps": [{"do": "jump"}]}, "request.steps[0].do: expected one of compile, load"),
        ({"buffers": [{"name": "x"}]}, "request.buffers[0]: expected a key 'bytes'"),
    ],
)
def test_a_request_that_does_not_fit_is_refused(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(HarnessError) as caught:
        Request.from_json({**REQUEST.to_json(), **change})
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("dtype", "value", "argument"),
    [
        (f32, np.float32(1), ScalarArgument("f32", "0000803f")),
        (i64, np.int64(-2), ScalarArgument("i64", "feffffffffffffff")),
        (bf16, bf16.numpy.type(1), ScalarArgument("bf16", "803f")),
        (bool_, np.bool_(True), ScalarArgument("bool", "01")),
    ],
    ids=str,
)
def test_a_scalar_travels_as_its_bytes(dtype: DType, value: Any, argument: ScalarArgument) -> None:
    assert ScalarArgument.of(dtype, value) == argument


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.is_float], ids=str)
def test_a_scalar_may_be_non_finite(dtype: DType) -> None:
    value = np.asarray(np.nan).astype(dtype.numpy)[()]
    assert len(ScalarArgument.of(dtype, value).value) == 2 * dtype.itemsize


def answer(**changes: Any) -> dict[str, Any]:
    return {"protocol": 1, "id": "id", "nonce": "n", "status": "ok", "device": "sim", "steps": [], **changes}


def test_a_compile_answer_is_read() -> None:
    diagnostic = {"file": "a.cu", "line": 3, "column": 0, "severity": "warning", "text": "unused"}
    step = {
        "do": "compile",
        "diagnostics": [diagnostic],
        "resources": {
            "_k": {
                "registers": 10,
                "spill_store_bytes": 0,
                "spill_load_bytes": 0,
                "static_shared_bytes": 64,
                "stack_bytes": 0,
                "constant_bytes": 380,
            }
        },
        "lowered": {"k": "_k"},
        "cubin_sha256": "ab",
    }
    read = Answer.from_json(answer(steps=[step])).step("compile")
    assert read.diagnostics == (Diagnostic("a.cu", 3, 0, "warning", "unused"),)
    assert read.resources["_k"].static_shared_bytes == 64
    assert read.lowered == {"k": "_k"}


def test_a_modelled_latency_is_read() -> None:
    latency = {
        "median_ns": 59300.5,
        "bound": "dram",
        "terms_ns": {"dram": 1.0, "launch": 2},
        "occupancy": {"blocks_per_sm": 8, "warps_per_sm": 64, "limited_by": "warps"},
        "blocks_sampled": 3,
        "blocks": 4,
        "counters": {"blocks": 4},
        "spread": 0.01,
    }
    step = {"do": "measure", "kind": "modelled", "latency": latency}
    read = Answer.from_json(answer(steps=[step])).step("measure").latency
    assert read is not None
    assert (read.kind, read.median_ns, read.bound) == (LatencyKind.MODELLED, 59300.5, "dram")
    assert read.terms_ns == (("dram", 1.0), ("launch", 2.0))
    assert read.samples_ns == ()
    assert read.by_line == ()


def test_counters_by_line_are_read_and_flat() -> None:
    counters = {"warp_instructions": {"memory": 64}, "global_load_sectors": 256}
    line = {"file": "k.cu", "line": 3, "counters": counters}
    step = {"do": "measure", "kind": "modelled", "latency": {"median_ns": 1.0, "by_line": [line]}}
    read = Answer.from_json(answer(steps=[step])).step("measure").latency
    assert read is not None
    assert read.by_line == (LineCounters("k.cu", 3, counters),)
    assert read.by_line[0].flat == {"warp_instructions.memory": 64, "global_load_sectors": 256}


def measured(**changes: Any) -> dict[str, Any]:
    latency = {
        "mode": "batch",
        "median_ns": 2.5,
        "cold": {"median_ns": 6.0, "samples_ns": [5, 6.0, 7]},
        "batch": {"median_ns": 2.5, "samples_ns": [2, 3.0], "launches": 40, "copies": 8, "floor_ns": 1.5},
        "warmup_launches": 12,
        "tick_ns": 32.0,
        "sm_clock_mhz": [1980.0],
        "contents": 3,
        "captured": {"mode": "cold", "sample": 1},
        "notes": ["a note"],
    }
    return {"do": "measure", "kind": "measured", "latency": latency | changes}


def test_a_measured_latency_is_read() -> None:
    read = Answer.from_json(answer(steps=[measured()])).step("measure").latency
    assert read is not None
    assert (read.kind, read.mode, read.median_ns) == (LatencyKind.MEASURED, SamplingMode.BATCH, 2.5)
    assert read.samples_ns == (2.0, 3.0)
    assert read.captured == Captured(SamplingMode.COLD, 1)
    assert read.cold == Sampling(6.0, (5.0, 6.0, 7.0))
    assert read.batch == Sampling(2.5, (2.0, 3.0), launches=40, copies=8, floor_ns=1.5)
    assert (read.warmup_launches, read.tick_ns, read.contents) == (12, 32.0, 3)
    assert (read.sm_clock_mhz, read.notes, read.bound) == ((1980.0,), ("a note",), None)


def test_a_refused_batch_says_why() -> None:
    step = measured(mode="cold", median_ns=6.0, batch_refused="x is restored before each launch")
    del step["latency"]["batch"]
    read = Answer.from_json(answer(steps=[step])).step("measure").latency
    assert read is not None
    assert (read.batch, read.batch_refused) == (None, "x is restored before each launch")


def test_interleaved_arms_are_read() -> None:
    arms = [{"median_ns": 2.0, "samples_ns": [2]}, {"median_ns": 3.0, "samples_ns": [3]}]
    step = {"do": "interleave", "kind": "measured", "mode": "batch", "arms": arms, "launches": 40}
    read = Answer.from_json(answer(steps=[step | {"sm_clock_mhz": [1980]}])).step("interleave")
    assert read.arms == (Sampling(2.0, (2.0,)), Sampling(3.0, (3.0,)))
    assert (read.mode, read.launches, read.sm_clock_mhz) == (SamplingMode.BATCH, 40, (1980.0,))


def test_limits_of_a_gpu_are_read() -> None:
    gpu = {
        "uuid": "GPU-1",
        "driver": [13, 0],
        "memory_bytes": 9,
        "free_bytes": 8,
        "l2_bytes": 5,
        "sm_clock_mhz": 1980.0,
        "memory_clock_mhz": 0.0,
        "memory_bus_bits": 6016,
        "guard_pages": True,
    }
    limits = {
        "name": "NVIDIA H200",
        "architecture": "sm_90",
        "multiprocessors": 132,
        "warp_size": 32,
        "max_threads_per_block": 1024,
        "max_shared_bytes": 232448,
        "max_grid": [3, 2, 1],
        "max_block": [6, 5, 4],
    }
    step = {"do": "limits", "limits": limits | {"gpu": gpu}}
    read = Answer.from_json(answer(steps=[step])).step("limits").limits
    assert read is not None
    assert read.gpu == GpuFacts("GPU-1", (13, 0), 9, 8, 5, 1980.0, 0.0, 6016, True)
    modelled = Answer.from_json(answer(steps=[{"do": "limits", "limits": limits}])).step("limits").limits
    assert modelled is not None
    assert modelled.gpu is None


def test_an_answer_after_which_the_process_ends_says_so() -> None:
    fault = {"kind": "trap", "message": "trapped"}
    assert Answer.from_json(answer(status="fault", fault=fault, ending=True)).ending
    assert not Answer.from_json(answer(status="fault", fault=fault)).ending


RACE = {"kind": "race", "message": "a race", "line": 4, "times": 3, "other": {"access": "write", "line": 9}}


def test_findings_are_read_with_the_launch_that_showed_them() -> None:
    step = {"do": "launch", "findings": [RACE], "touched_bytes": 64}
    read = Answer.from_json(answer(steps=[step])).step("launch")
    assert [(one.kind, one.line, one.times) for one in read.findings] == [(FindingKind.RACE, 4, 3)]
    assert read.findings[0].other is not None
    assert (read.findings[0].other.access, read.findings[0].other.line) == ("write", 9)
    assert read.touched_bytes == 64


def test_findings_before_a_fault_are_read_with_it() -> None:
    fault = {"kind": "trap", "message": "trapped", "findings": [RACE]}
    read = Answer.from_json(answer(status="fault", fault=fault))
    assert [one.kind for one in read.findings] == [FindingKind.RACE]
    assert Answer.from_json(answer()).findings == ()


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        (3, r"answer\.steps\[0\]\.findings: expected a list, got 3"),
        ([{"kind": "race"}], r"answer\.steps\[0\]\.findings\[0\]: expected a fault with a known kind"),
        ([{**RACE, "other": 3}], r"answer\.steps\[0\]\.findings\[0\]"),
    ],
)
def test_findings_that_are_none_are_refused(findings: object, words: str) -> None:
    with pytest.raises(HarnessError, match=words):
        Answer.from_json(answer(steps=[{"do": "launch", "findings": findings}]))


def test_a_fault_is_read_with_its_step_and_diagnostics() -> None:
    fault = {
        "kind": "compile_error",
        "step": 0,
        "message": "2 errors",
        "file": "a.cu",
        "line": 3,
        "diagnostics": [{"file": "a.cu", "line": 3, "column": 7, "severity": "error", "text": "no"}],
    }
    read = Answer.from_json(answer(status="fault", fault=fault))
    assert read.status is AnswerStatus.FAULT
    assert read.fault is not None
    assert (read.fault.kind, read.fault.line, read.fault_step) == (FindingKind.COMPILE_ERROR, 3, 0)
    assert str(read.diagnostics[0]) == "a.cu:3:7: error: no"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"protocol": 0}, "answer.protocol: expected 1, got 0"),
        ({"status": "fine"}, "answer.status: expected one of ok, fault, invalid"),
        ({"surprise": 1}, "answer: expected keys among"),
        ({"steps": [{"do": "load", "wall_ms": 3}]}, "answer.steps[0]: expected keys among do"),
        ({"steps": [3]}, "answer.steps[0]"),
        ({"fault": {"kind": "melted", "message": ""}}, "answer.fault: expected a fault with a known kind"),
        ({"fault": 3}, "answer.fault: expected a fault with a known kind"),
        (
            {"steps": [{"do": "measure", "kind": "guessed", "latency": {"median_ns": 1.0}}]},
            "answer.steps[0].kind: expected one of measured, modelled",
        ),
        ({"steps": [measured(median_ns=0.0)]}, "answer.steps[0].latency.median_ns: expected a number > 0"),
        ({"steps": [measured(batch=None)]}, "answer.steps[0].latency: expected the samples of mode 'batch'"),
        ({"steps": [measured(bound="dram")]}, "answer.steps[0].latency: expected keys among"),
        (
            {"steps": [{"do": "interleave", "mode": "cold", "arms": [{"median_ns": 0, "samples_ns": []}]}]},
            "answer.steps[0].arms[0].median_ns: expected a number > 0",
        ),
        ({"ending": 1}, "answer.ending: expected true or false"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(HarnessError) as caught:
        Answer.from_json(answer(**changes))
    assert complaint in str(caught.value)


def test_a_missing_step_is_named() -> None:
    with pytest.raises(HarnessError, match="expected one 'launch' step, got 0"):
        Answer.from_json(answer()).step("launch")


@pytest.mark.parametrize("text", ["", "not json", '{"median_ns": NaN}', "[Infinity]"])
def test_a_line_that_is_no_json_is_shown(text: str) -> None:
    with pytest.raises(HarnessError) as caught:
        parse_line(text, "greeting")
    assert repr(text) in str(caught.value)
