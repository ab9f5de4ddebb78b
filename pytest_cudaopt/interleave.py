"""Time compiled candidates side by side at one case, in one request: what disturbs one disturbs all."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeVar

from pytest_cudaopt.answers import Answer
from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.evaluation import Budget, Sampling, SamplingMode
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.parameters import Role
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import (
    Argument,
    Arm,
    Buffer,
    BufferArgument,
    Interleave,
    Launch,
    Load,
    MemberArgument,
    StructArgument,
)

AnyArgument = TypeVar("AnyArgument", bound=Argument | MemberArgument)


@dataclass(frozen=True)
class Interleaved:
    """Times of several arms, in the order they were given.

    Each arm's samples are those of block 0, then of block 1 and so on, the same number in each of `blocks`;
    `sm_clock_mhz` has one value per block.
    """

    mode: SamplingMode
    blocks: int
    arms: tuple[Sampling, ...]
    sm_clock_mhz: tuple[float, ...] = ()

    def block_samples_ns(self, arm: int) -> tuple[tuple[float, ...], ...]:
        """Return the samples of one arm by block."""
        samples = self.arms[arm].samples_ns
        length = len(samples) // self.blocks
        return tuple(samples[block * length : (block + 1) * length] for block in range(self.blocks))


def interleave(
    prepared: PreparedCase,
    arms: Sequence[tuple[Compiled, LaunchConfiguration]],
    device: Device,
    budget: Budget,
    blocks: int = 20,
    launches: int = 10,
    mode: SamplingMode | None = None,
) -> Interleaved | Finding:
    """Time at least two non-empty launches of the case in turn, or return the fault of one of them.

    Arms share the inputs; whatever they may write is their own. With a `mode` of None the harness chooses;
    `batch` is cold where launches cannot be batched. Raises EnvironmentFault on `sim`, whose times have no
    noise that a pair could cancel.
    """
    if not device.is_gpu:
        raise EnvironmentFault(
            "interleaved measurement",
            expected="a GPU, whose times vary",
            got=device.description,
            next_step="Compare modelled latencies directly",
        )
    modules = tuple(replace(compiled.module, name=f"arm{i}") for i, (compiled, _) in enumerate(arms))
    own = frozenset(p.name for p in prepared.present if p.is_array and p.role is not Role.IN)
    steps = [launch_step(prepared, compiled, launch) for compiled, launch in arms]
    timed = tuple(_arm(step, i, modules[i].name, own) for i, step in enumerate(steps))
    base = base_request(prepared, arms[0][0], "interleave", device, budget, guard_bytes=0)
    step = Interleave(timed, blocks, launches, mode="auto" if mode is None else mode.value)
    request = replace(
        base,
        modules=modules,
        buffers=tuple(one for buffer in base.buffers for one in _buffers(buffer, len(arms), own)),
        steps=(*(Load(module.name) for module in modules), step),
    )
    answer = device.ask(request)
    return answer.fault or _interleaved(answer, len(arms), blocks, launches)


def _arm(step: Launch, number: int, module: str, own: Set[str]) -> Arm:
    arguments = tuple(_own_argument(argument, number, own) for argument in step.arguments)
    return step.arm(module=module, arguments=arguments)


def _own_argument(argument: AnyArgument, number: int, own: Set[str]) -> AnyArgument:
    if isinstance(argument, StructArgument):
        members = tuple(_own_argument(member, number, own) for member in argument.struct)
        return replace(argument, struct=members)
    if isinstance(argument, BufferArgument) and argument.buffer in own:
        return replace(argument, buffer=_own_name(argument.buffer, number))
    return argument


def _buffers(buffer: Buffer, arms: int, own: Set[str]) -> tuple[Buffer, ...]:
    """Return the buffer, or one for each arm if arms may write it."""
    if buffer.name not in own:
        return (buffer,)
    return tuple(replace(buffer, name=_own_name(buffer.name, number)) for number in range(arms))


def _own_name(buffer: str, arm: int) -> str:
    # No parameter of a Python function can be called so.
    return f"{buffer}@{arm}"


def _interleaved(answer: Answer, arms: int, blocks: int, launches: int) -> Interleaved:
    step = answer.step("interleave")
    counts = [len(arm.samples_ns) for arm in step.arms]
    if step.mode is None or counts != [blocks * launches] * arms:
        raise HarnessError(
            f"answer '{answer.id}'",
            expected=f"a mode and {blocks * launches} samples of each of {arms} arms",
            got=f"mode {step.mode} and {counts} samples",
        )
    timed = tuple(replace(arm, launches=step.launches) for arm in step.arms)
    return Interleaved(step.mode, blocks, timed, step.sm_clock_mhz)
