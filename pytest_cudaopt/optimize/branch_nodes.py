"""The steps of one proposal, from the question to the judge's answer: each branch of a round takes them.

A branch is a graph of its own, so that it need not wait for the slowest of its round at every step: what one
proposes is compiled and judged while the others still wait for their model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from pytest_cudaopt.errors import CudaoptError, EnvironmentFault
from pytest_cudaopt.optimize import interruption, judging
from pytest_cudaopt.optimize.attempt import Dialogue, Proposal
from pytest_cudaopt.optimize.conversation import ModelFailure
from pytest_cudaopt.optimize.run import Pending, Run
from pytest_cudaopt.optimize.state import BranchState


def propose(state: BranchState, runtime: Runtime[Run]) -> Command[Literal["tools", "evaluate"]]:
    """Ask for the proposal, or hear which tools are wanted before it."""
    run, number = runtime.context, state["number"]
    with _ending_all(run):
        proposal = _asked(run, run.dialogues[number])
        if proposal is None:
            return Command(goto="tools")
        run.folder.write_proposal(number, proposal, run.start)
        run.pending[number] = Pending(proposal)
    return Command(goto="evaluate")


def use_tools(state: BranchState, runtime: Runtime[Run]) -> None:
    """Answer what the model wants to know."""
    with _ending_all(runtime.context):
        runtime.context.dialogues[state["number"]].use_tools()


def evaluate(state: BranchState, runtime: Runtime[Run]) -> None:
    """Have the proposal judged once the device is free."""
    run, number = runtime.context, state["number"]
    with _ending_all(run):
        interruption.call(lambda: judging.judge(run, number), run.interrupted)


def _asked(run: Run, dialogue: Dialogue) -> Proposal | None:
    try:
        interruption.call(dialogue.ask, run.interrupted)
    except ModelFailure as failure:
        raise EnvironmentFault(
            "model",
            expected="one that answers",
            got=f"{failure.kind}: {failure}",
            next_step="Check OPENAI_API_KEY and OPENAI_BASE_URL, or name another one with --optimize-model",
        ) from failure
    return dialogue.proposal


@contextmanager
def _ending_all(run: Run) -> Iterator[None]:
    """Have the other branches end as at Ctrl-C if this one cannot go on: they may wait long for a model."""
    try:
        yield
    except CudaoptError as error:
        run.failures.append(error)
        run.interrupted.set()
        raise
