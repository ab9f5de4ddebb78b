"""Proposals from a language model: a conversation for each attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize import kept_model, prompts
from pytest_cudaopt.optimize.dialogue import MOST_TOOL_ROUNDS, Conversation
from pytest_cudaopt.optimize.instruments import toolbox
from pytest_cudaopt.optimize.kept_model import KeptModel
from pytest_cudaopt.optimize.replay_model import ReplayModel
from pytest_cudaopt.optimize.strategies import Strategy
from pytest_cudaopt.optimize.toolbox import MOST_USES, Toolbox

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.attempt import Attempt, Dialogue
    from pytest_cudaopt.optimize.conversation import Model
    from pytest_cudaopt.optimize.run import Run


@dataclass
class ModelProposer:
    """Asks `model` for every proposal of one run."""

    model: Model
    _brief: str = field(default="", init=False)
    # Of the proposals of a recording: how many branches of this round will take one.
    _taken: int = field(default=0, init=False)

    @property
    def exhausted_reason(self) -> str:
        return f"{self.model.name} has no proposals left"

    def begin(self, run: Run, parent: Attempt, number: int) -> Dialogue | None:
        """Begin a conversation about attempt `number`; None if a recording is at its end."""
        if not self._brief:
            if isinstance(self.model, ReplayModel):
                self.model.skip(kept_model.answers_of(self.model.name, run.folder))
            source, limits = run.start.standalone_source(), run.device.limits
            self._brief = prompts.brief(run.kernel, source, limits, _allowance(run))
        asks_once = run.options.strategy is Strategy.SINGLE
        tools = Toolbox(()) if asks_once else toolbox(run)
        kept = KeptModel(self.model, run.folder, number)
        if isinstance(self.model, ReplayModel):
            tools = Toolbox(())
            if not self._takes_one(self.model, run, kept):
                return None
        situation = prompts.situation(run.kernel, run.attempts, parent, _allowance(run))
        return Conversation.about(run.kernel, kept, tools, self._brief, situation, asks_once=asks_once)

    def _takes_one(self, model: ReplayModel, run: Run, kept: KeptModel) -> bool:
        """Return whether the recording, or what a killed run kept, has a proposal for one more branch."""
        if not run.dialogues:
            self._taken = 0
        if kept.has_answer():
            return True
        if model.remaining <= self._taken:
            return False
        self._taken += 1
        return True


def _allowance(run: Run) -> prompts.Allowance:
    options = run.options
    if options.strategy is Strategy.SINGLE:
        return prompts.Allowance(options.limits.iterations, options.allow_slower, 0, 0)
    return prompts.Allowance(options.limits.iterations, options.allow_slower, MOST_USES, MOST_TOOL_ROUNDS)
