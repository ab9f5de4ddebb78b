"""Every way to fail, declared: kernels of `kernels/faults.cu` and what a GPU is expected to say of each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.answers import Answer
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget, Evaluation, Plan, Stage, Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.protocol import AskLimits, Buffer

# 4000 bytes are a multiple of 32: the arrays end flush against the unmapped page.
N = 1000
# Enough for a process that starts with this request, and little to wait for.
ENDLESS = Budget(timeout_s=1.5, block_instructions=1_000_000)
PATIENT = Budget(timeout_s=30.0, block_instructions=10_000_000)
ONE_THREAD_EACH = "grid=(cdiv(n, 256)) block=(256)"


@dataclass(frozen=True)
class Fault:
    """A kernel of faults.cu, how it is launched, and how its judgement must end.

    `kind` is None for a result that is wrong or right. `on_sim` is False where the simulator stops for
    another reason.
    """

    entry: str
    kind: FindingKind | None
    launch: str = ONE_THREAD_EACH
    status: Status = Status.FAULT
    budget: Budget = PATIENT
    on_sim: bool = True

    @property
    def name(self) -> str:
        return self.entry if self.launch == ONE_THREAD_EACH else f"{self.entry} {self.launch}"


RIGHT = Fault("doubles", None, status=Status.ACCEPTED)
FAULTS = (
    Fault("reads_past_the_end", FindingKind.ILLEGAL_ADDRESS),
    Fault("writes_past_the_end", FindingKind.ILLEGAL_ADDRESS),
    Fault("writes_before_the_start", FindingKind.ILLEGAL_ADDRESS),
    Fault("writes_far_away", FindingKind.ILLEGAL_ADDRESS),
    Fault("reads_null", FindingKind.ILLEGAL_ADDRESS),
    Fault("leaves_shared_memory", FindingKind.ILLEGAL_ADDRESS),
    # The simulator executes no recursion.
    Fault("overflows_the_stack", FindingKind.ILLEGAL_ADDRESS, on_sim=False),
    Fault("is_misaligned", FindingKind.MISALIGNED),
    Fault("traps", FindingKind.TRAP),
    Fault("asserts", FindingKind.TRAP),
    Fault("never_ends", FindingKind.TIMEOUT, budget=ENDLESS),
    Fault("writes_its_input", FindingKind.WRITE_TO_INPUT),
    Fault("doubles", FindingKind.INVALID_LAUNCH, "grid=(1) block=(2048)"),
    Fault("doubles", FindingKind.INVALID_LAUNCH, f"{ONE_THREAD_EACH} shared=300000"),
    Fault("is_bounded", FindingKind.INVALID_LAUNCH),
    Fault("adds_three", None, status=Status.WRONG_RESULT),
    Fault("is_not_there", FindingKind.UNKNOWN_ENTRY, status=Status.COMPILE_ERROR),
)


def declare(fault: Fault, *cases: Case) -> Kernel:
    """Declare the kernel as one that doubles `x`."""

    @kernel("kernels/faults.cu", cases=cases or (case(n=N),), entry=fault.entry, launch=fault.launch)
    def doubles(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 2 * x

    return doubles


def judge(fault: Fault, kernel: Kernel, device: Device) -> Evaluation:
    """Check the kernel; nothing is measured."""
    plan = Plan((Stage.COMPILE, Stage.CHECK), kernel.cases, budget=fault.budget)
    return evaluate(kernel, kernel.start(), plan, device)


def complaint(fault: Fault, evaluation: Evaluation) -> str | None:
    """Say how a judgement differs from the expected one; None if it does not."""
    kind = None if evaluation.finding is None else evaluation.finding.kind
    if (evaluation.status, kind) == (fault.status, fault.kind):
        return None
    return (
        f"{fault.name}: expected {fault.status}, {fault.kind}; "
        f"got {evaluation.status}, {kind}: {evaluation.reason}"
    )


def ask_for_too_much(device: Device) -> Answer:
    """Ask for buffers of 1 TiB together, more than any GPU has."""
    buffers = tuple(Buffer(f"too_large{i}", 128 << 30, element_bytes=4) for i in range(8))
    request = device.new_request("too much")
    return device.ask(replace(request, buffers=buffers, steps=(AskLimits(),), timeout_s=60.0))
