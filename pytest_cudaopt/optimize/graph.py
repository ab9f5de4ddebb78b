"""The run as a graph: which step follows which. The steps are in `nodes.py`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langsmith import tracing_context

from pytest_cudaopt import directives, pipeline, replay
from pytest_cudaopt.directive_checks import require_used_tunables
from pytest_cudaopt.errors import CudaoptError, DeclarationError, EnvironmentFault
from pytest_cudaopt.optimize import branch_nodes, closing, going_on, interruption, nodes, run_lock
from pytest_cudaopt.optimize.attempt import Proposer
from pytest_cudaopt.optimize.dialogue import MOST_TOOL_ROUNDS
from pytest_cudaopt.optimize.model_proposer import ModelProposer
from pytest_cudaopt.optimize.options import OptimizeOptions
from pytest_cudaopt.optimize.record import RunFolder
from pytest_cudaopt.optimize.run import Progress, Run
from pytest_cudaopt.optimize.state import BranchState, RunState
from pytest_cudaopt.optimize.strategies import require_possible
from pytest_cudaopt.optimize.summary import RunSummary, StopReason
from pytest_cudaopt.optimize.tuner import Tuner

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.optimize.conversation import Model
    from pytest_cudaopt.optimize.run import Judge, WriteReplay

__all__ = ["OptimizeOptions", "RunSummary", "build", "mermaid", "optimize"]

# Gets the run's folder, and how many attempts are there already.
Began = Callable[[Path, int], None]

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
    began: Began = lambda folder, earlier: None,
    begun_in: Path | None = None,
) -> RunSummary:
    """Look for a faster version of `kernel` and keep the best in a new folder under `results_root`.

    With `options.going_on_from` the run of that folder goes on instead; `begun_in` is a new run's folder
    that is there already. `began` is told the folder and how
    many attempts are there, `progress` is called after every attempt. `model` proposes, without one the
    offline tuner. If the start is not accepted nothing else is tried: `stopped_because` says so. Raises
    DeclarationError without a measured case, SettingsError as `require_possible` does, SourceError,
    ReferenceFault, EnvironmentFault. An interruption,
    or an error once the run folder exists, leaves a summary there and is raised again.
    """
    _require_measured(kernel)
    if proposer is None:
        require_possible(options, model)
    start = kernel.start()
    if proposer is None:
        proposer = _tuner(kernel, start, options) if model is None else ModelProposer(model)
    graph = build()
    earlier_folder = options.going_on_from
    known_folder = earlier_folder or begun_in
    folder = RunFolder.create(results_root) if known_folder is None else RunFolder(known_folder)
    with run_lock.held(folder.path):
        run = Run(
            kernel=kernel,
            device=device,
            options=options,
            folder=folder,
            start=start,
            proposer=proposer,
            judge=judge,
            write_replay=write_replay,
            progress=progress,
            diagram=_drawn(graph),
            model_name=None if model is None else model.name,
        )
        if earlier_folder is not None:
            _take_up(run)
        began(folder.path, len(run.attempts))
        return _invoke(graph, run)


def _take_up(run: Run) -> None:
    """Have the run begin where the one in its folder ended."""
    earlier = going_on.read(run.folder, run.kernel, run.start, run.device, run.options)
    run.take_up(earlier.attempts, earlier.best, earlier.elapsed_s)
    # Only now: a record that makes no sense stays as it is.
    run.folder.mend(run.earlier)


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
    graph.add_node("branch", _build_branch())
    graph.add_node("gather", nodes.gather)
    graph.add_node("finish", nodes.finish)
    graph.add_edge(START, "load")
    graph.add_edge("load", "reference")
    graph.add_edge("reference", "evaluate")
    graph.add_edge("evaluate", "decide")
    graph.add_conditional_edges("decide", nodes.onward, ["plan", "finish"])
    graph.add_edge("branch", "gather")
    graph.add_edge("gather", "decide")
    graph.add_edge("finish", END)
    return graph.compile()


def _build_branch() -> CompiledStateGraph[BranchState, Run, BranchState, BranchState]:
    graph = StateGraph(BranchState, context_schema=Run)
    graph.add_node("propose", branch_nodes.propose)
    graph.add_node("tools", branch_nodes.use_tools)
    graph.add_node("evaluate", branch_nodes.evaluate)
    graph.add_edge(START, "propose")
    graph.add_edge("tools", "propose")
    graph.add_edge("evaluate", END)
    return graph.compile()


def mermaid() -> str:
    """Return the graph as mermaid text."""
    return _drawn(build())


def _drawn(graph: _Graph) -> str:
    return graph.get_graph(xray=True).draw_mermaid()


def _invoke(graph: _Graph, run: Run) -> RunSummary:
    # A round takes four steps, a branch two and two per round of tools; the rest is for the ends.
    limit = 4 * (run.options.limits.iterations + 1) + 2 * MOST_TOOL_ROUNDS + 10
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
        if run.failures and isinstance(error, interruption.Interrupted):
            # One branch could not go on, and this one ended for it.
            _leave(run, StopReason.FAULT, str(run.failures[0]))
            raise run.failures[0] from error
        _leave(run, StopReason.INTERRUPTED, "interrupted")
        raise KeyboardInterrupt from error
    except CudaoptError as error:
        _leave(run, StopReason.FAULT, str(error))
        raise
    return run.summary(state["stopped_because"], state["stopped_detail"])


def _leave(run: Run, because: StopReason, detail: str) -> None:
    """Write the summary of a run that was cut short."""
    # Where the disk is full it cannot be written, but that is not to hide what happened.
    with suppress(EnvironmentFault):
        closing.write(run, run.summary(because, detail))


def _require_measured(kernel: Kernel) -> None:
    if not kernel.measured_cases:
        raise DeclarationError(
            f"kernel '{kernel.name}'",
            expected="at least one case(..., measure=True) to optimise for",
            got="none",
            next_step=f"Write for example {str(kernel.cases[-1])[:-1]}, measure=True)",
            at=kernel.location,
        )
