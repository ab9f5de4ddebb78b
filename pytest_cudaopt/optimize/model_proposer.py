"""Proposals from a language model: a conversation for each attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize import prompts
from pytest_cudaopt.optimize.dialogue import Conversation
from pytest_cudaopt.optimize.instruments import toolbox
from pytest_cudaopt.optimize.kept_model import KeptModel
from pytest_cudaopt.optimize.replay_model import ReplayModel
from pytest_cudaopt.optimize.toolbox import Toolbox

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.attempt import Attempt, Dialogue
    from pytest_cudaopt.optimize.conversation import Model
    from pytest_cudaopt.optimize.run import Run


@dataclass
class ModelProposer:
    """Asks `model` for every proposal of one run."""

    model: Model
    _brief: str = field(default="", init=False)

    @property
    def exhausted_reason(self) -> str:
        return f"{self.model.name} has no proposals left"

    def begin(self, run: Run, parent: Attempt, number: int) -> Dialogue | None:
        """Begin a conversation about attempt `number`; None if a recording is at its end."""
        if not self._brief:
            self._brief = prompts.brief(run.kernel, run.start.standalone_source(), run.device.limits)
        tools = toolbox(run)
        if isinstance(self.model, ReplayModel):
            if self.model.remaining <= len(run.dialogues):
                return None
            tools = Toolbox(())
        kept = KeptModel(self.model, run.folder, number)
        return Conversation.about(run.kernel, kept, tools, self._brief, run.attempts, parent)
