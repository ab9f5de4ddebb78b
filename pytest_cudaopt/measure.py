"""Measure a compiled candidate at one case, for its latency: measured on a GPU, modelled on `sim`."""

from __future__ import annotations

from dataclasses import replace

from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Latency, Plan
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.prepare import PreparedCase
from pytest_cudaopt.protocol import Load, Measure
from pytest_cudaopt.run import base_request, launch_step


def measure(
    prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration, device: Device, plan: Plan
) -> Latency | Finding:
    """Return the latency of one non-empty launch, or the fault that kept it from being measured."""
    step = launch_step(prepared, compiled, launch)
    request = replace(
        base_request(prepared, compiled, "measure", device, plan.budget),
        steps=(
            Load(compiled.module.name),
            Measure(
                module=step.module,
                entry=step.entry,
                grid=step.grid,
                block=step.block,
                arguments=step.arguments,
                shared_bytes=step.shared_bytes,
                warmup=plan.warmup,
                samples=plan.samples,
            ),
        ),
    )
    answer = device.ask(request)
    if answer.fault is not None:
        return answer.fault
    latency = answer.step("measure").latency
    if latency is None:
        raise HarnessError(f"answer '{request.id}'", expected="a latency", got="none")
    return latency
