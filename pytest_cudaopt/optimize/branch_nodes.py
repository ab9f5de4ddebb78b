"""The steps of one proposal, from the question to the judge's answer: each branch of a round takes them.

A branch is a graph of its own, so that it need not wait for the slowest of its round at every step: what one
proposes is compiled and judged while the others still wait for their model.
"""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.optimize import interruption, judging
from pytest_cudaopt.optimize.conversation import ModelFailure
from pytest_cudaopt.optimize.run import Pending, Run
from pytest_cudaopt.optimize.state import BranchState


def propose(state: BranchState, runtime: Runtime[Run]) -> Command[Literal["tools", "evaluate"]]:
    """Ask for the proposal, or hear which tools are wanted before it."""
    run, number = runtime.context, state["number"]
    dialogue = run.dialogues[number]
    try:
        interruption.call(dialogue.ask, run.interrupted)
    except ModelFailure as failure:
        raise EnvironmentFault(
            "model",
            expected="one that answers",
            got=f"{failure.kind}: {failure}",
            next_step="Check OPENAI_API_KEY and OPENAI_BASE_URL, or name another one with --optimize-model",
        ) from failure
    proposal = dialogue.proposal
    if proposal is None:
        return Command(goto="tools")
    run.folder.write_proposal(number, proposal, run.start)
    run.pending[number] = Pending(proposal)
    return Command(goto="evaluate")


def use_tools(state: BranchState, runtime: Runtime[Run]) -> None:
    """Answer what the model wants to know."""
    runtime.context.dialogues[state["number"]].use_tools()


def evaluate(state: BranchState, runtime: Runtime[Run]) -> None:
    """Have the proposal judged once the device is free."""
    run, number = runtime.context, state["number"]
    interruption.call(lambda: judging.judge(run, number), run.interrupted)
