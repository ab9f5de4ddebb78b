"""From a description to a declared kernel, as a graph. The steps are in `steps.py`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langsmith import tracing_context

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.optimize.generate import steps
from pytest_cudaopt.optimize.generate.asking import Asking
from pytest_cudaopt.optimize.generate.generation import Generation, Supplied
from pytest_cudaopt.optimize.generate.steps import GenerationState
from pytest_cudaopt.optimize.record import RunFolder

if TYPE_CHECKING:
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.optimize.conversation import Model

__all__ = ["Generated", "Supplied", "build", "generate"]
_Graph = CompiledStateGraph[GenerationState, Generation, GenerationState, GenerationState]


@dataclass(frozen=True)
class Generated:
    """A declared kernel, what to call it, and the run's folder it was written to."""

    kernel: Kernel
    kernel_id: str
    folder: RunFolder


def generate(
    description: str,
    supplied: Supplied,
    model: Model | None,
    device: Device,
    results: Path,
    *,
    seed: int = 0,
    timeout_s: float = 120.0,
    announce: Callable[[str], None] = lambda line: None,
) -> Generated:
    """Have `model` declare what is described and not supplied, in a new folder under `results`.

    Raises GenerationError for what does not stand up to its checks, EnvironmentFault without a model.
    """
    if model is None:
        raise EnvironmentFault(
            "--description",
            expected="a language model: a server's, or files:FOLDER",
            got="the offline tuner, which only varies kernels that are there",
            next_step="Set OPENAI_API_KEY, or name one with --model",
        )
    folder = RunFolder.create(results)
    given = Generation(description, supplied, Asking(model, folder), device, seed, timeout_s, announce)
    with tracing_context(enabled=False):
        build().invoke({}, context=given)
    assert given.kernel is not None  # noqa: S101 - the graph ends with one
    module = given.folder / f"test_{given.name}.py"
    if not module.is_file():
        return Generated(given.kernel, f"{given.source}::{given.name}", folder)
    kernel_id = f"{module}::{given.name}"
    return Generated(load_kernel(kernel_id), kernel_id, folder)


def build() -> _Graph:
    """Wire the steps and compile the graph."""
    graph = StateGraph(GenerationState, context_schema=Generation)
    order = (
        ("specify", steps.specify),
        ("reference", steps.reference),
        ("second_opinion", steps.second_opinion),
        ("first_kernel", steps.first_kernel),
        ("declare", steps.declare),
    )
    for name, step in order:
        graph.add_node(name, step)
    names = [START, *(name for name, _ in order), END]
    for before, after in itertools.pairwise(names):
        graph.add_edge(before, after)
    return graph.compile()
