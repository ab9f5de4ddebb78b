"""The run as a graph: which step follows which. The steps are in `nodes.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langsmith import tracing_context

from pytest_cudaopt import directives, pipeline, replay
from pytest_cudaopt.directive_checks import require_used_tunables
from pytest_cudaopt.errors import CudaoptError, DeclarationError
from pytest_cudaopt.optimize import closing, interruption, nodes
from pytest_cudaopt.optimize.attempt import Proposer
from pytest_cudaopt.optimize.dialogue import MOST_TOOL_ROUNDS
from pytest_cudaopt.optimize.model_proposer import ModelProposer
from pytest_cudaopt.optimize.options import OptimizeOptions
from pytest_cudaopt.optimize.record import RunFolder
from pytest_cudaopt.optimize.run import Progress, Run
from pytest_cudaopt.optimize.state import RunState
from pytest_cudaopt.optimize.summary import RunSummary, StopReason
from pytest_cudaopt.optimize.tuner import Tuner

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.optimize.conversation import Model
    from pytest_cudaopt.optimize.run import Judge, WriteReplay

__all__ = ["OptimizeOptions", "RunSummary", "build", "mermaid", "optimize"]

_Graph = CompiledStateGraph[RunState, Run, RunState, RunState]


def optimize(
    kernel: Kernel,
    device: Device,
    options: OptimizeOptions,
    results_root: Path,
    progress: Progress,
    *,
    model: Model | None = None,
    judge: Judge = pipeline.evaluate,
    write_replay: WriteReplay = replay.write_replay,
    proposer: Proposer | None = None,
) -> RunSummary:
    """Look for a faster version of `kernel` and keep the best in a new folder under `results_root`.

    `progress` is called after every attempt. `model` proposes, without one the offline tuner. If the
    start is not accepted nothing else is tried: `stopped_because` says so. Raises DeclarationError without a
    measured case, SourceError, ReferenceFault, EnvironmentFault. An interruption, or an error once the run
    folder exists, leaves a summary there and is raised again.
    """
    _require_measured(kernel)
    start = kernel.start()
    if proposer is None:
        proposer = _tuner(kernel, start, options) if model is None else ModelProposer(model)
    graph = build()
    run = Run(
        kernel=kernel,
        device=device,
        options=options,
        folder=RunFolder.create(results_root),
        start=start,
        proposer=proposer,
        judge=judge,
        write_replay=write_replay,
        progress=progress,
        diagram=graph.get_graph().draw_mermaid(),
    )
    return _invoke(graph, run)


def _tuner(kernel: Kernel, start: Candidate, options: OptimizeOptions) -> Tuner:
    found = directives.read(start.source, str(kernel.source))
    texts = (kernel.entry, *(value for _, value in start.defines))
    require_used_tunables(start.source, str(kernel.source), found, start.launch, texts)
    return Tuner.of(start, found, limit=options.max_iterations, seed=options.seed)


def build() -> _Graph:
    """Wire the steps and compile the graph."""
    graph = StateGraph(RunState, context_schema=Run)
    graph.add_node("load", nodes.load)
    graph.add_node("reference", nodes.reference)
    graph.add_node("evaluate", nodes.evaluate)
    graph.add_node("decide", nodes.decide)
    graph.add_node("plan", nodes.plan_round)
    graph.add_node("propose", nodes.propose)
    graph.add_node("tools", nodes.use_tools)
    # Branches end at different steps: it waits for the last one.
    graph.add_node("gather", nodes.gather, defer=True)
    graph.add_node("finish", nodes.finish)
    graph.add_edge(START, "load")
    graph.add_edge("load", "reference")
    graph.add_edge("reference", "evaluate")
    graph.add_edge("evaluate", "decide")
    graph.add_conditional_edges("decide", nodes.onward, ["evaluate", "plan", "finish"])
    graph.add_edge("gather", "evaluate")
    graph.add_edge("finish", END)
    return graph.compile()


def mermaid() -> str:
    """Return the graph as mermaid text."""
    return build().get_graph().draw_mermaid()


def _invoke(graph: _Graph, run: Run) -> RunSummary:
    # An attempt takes five steps and two per round of tools; the rest is for the ends.
    limit = (5 + 2 * MOST_TOOL_ROUNDS) * (run.options.max_iterations + 1) + 10
    # Kernels are nobody else's business: LangSmith sees a run only if its own variable asks for it.
    traced = os.environ.get("LANGSMITH_TRACING", "false").lower() == "true"
    try:
        with tracing_context(enabled=traced), interruption.noticed_by(run.interrupted):
            state = graph.invoke(
                {},
                config={"recursion_limit": limit, "max_concurrency": run.options.search.round_size},
                context=run,
            )
    except (KeyboardInterrupt, interruption.Interrupted) as error:
        closing.write(run, run.summary(StopReason.INTERRUPTED, "interrupted"))
        raise KeyboardInterrupt from error
    except CudaoptError as error:
        closing.write(run, run.summary(StopReason.FAULT, str(error)))
        raise
    return run.summary(state["stopped_because"], state["stopped_detail"])


def _require_measured(kernel: Kernel) -> None:
    if not kernel.measured_cases:
        raise DeclarationError(
            f"kernel '{kernel.name}'",
            expected="at least one case(..., measure=True) to optimise for",
            got="none",
            next_step=f"Write for example {str(kernel.cases[-1])[:-1]}, measure=True)",
            at=kernel.location,
        )
