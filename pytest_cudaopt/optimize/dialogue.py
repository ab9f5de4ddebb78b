"""One conversation with a language model, from the question to a proposal, with tools in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize import prompts, proposal_form
from pytest_cudaopt.optimize.attempt import Proposal
from pytest_cudaopt.optimize.conversation import (
    FailureKind,
    Item,
    ModelFailure,
    Request,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)

if TYPE_CHECKING:
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.optimize.conversation import Reply
    from pytest_cudaopt.optimize.kept_model import KeptModel
    from pytest_cudaopt.optimize.toolbox import Toolbox

# After so many rounds of tools the model has to propose.
MOST_TOOL_ROUNDS = 6


@dataclass
class Conversation:
    """What is said about one attempt, from the question to a proposal or to a failure."""

    kernel: Kernel
    model: KeptModel
    toolbox: Toolbox
    items: list[Item]
    calls: tuple[ToolCall, ...] = ()
    proposal: Proposal | None = None
    usage: Usage = field(default_factory=Usage)
    rounds: int = 0
    asks_once: bool = False

    @classmethod
    def about(
        cls,
        kernel: Kernel,
        model: KeptModel,
        toolbox: Toolbox,
        brief: str,
        situation: str,
        *,
        asks_once: bool = False,
    ) -> Conversation:
        """Begin: `brief` is the same all through a run, `situation` what came of its attempts.

        Who `asks_once` takes calls of tools for no proposal, instead of answering them.
        """
        return cls(kernel, model, toolbox, [Text(brief), Text(situation)], asks_once=asks_once)

    def ask(self) -> None:
        """Ask once: afterwards there are calls of tools to answer, or a proposal, maybe one that failed."""
        try:
            reply = self.model.ask(self._request())
            self.usage += reply.usage
            if reply.calls and self.asks_once:
                called = ", ".join(call.name for call in reply.calls)
                raise ModelFailure(FailureKind.MALFORMED, f"calls of tools that were not offered: {called}")
            if reply.calls:
                self._hear(reply)
                return
            self.proposal = self._read(reply.text)
        except ModelFailure as failure:
            if failure.is_final:
                raise
            self.usage += failure.usage
            said = f"{failure.kind}: {failure}"
            self.proposal = Proposal(
                None, "no usable answer", failure=said, looked=self._looked, usage=self.usage
            )

    def use_tools(self) -> None:
        """Answer the calls."""
        for call in self.calls:
            self.items.append(ToolResult(call.call_id, self.toolbox.use(call)))
        self.calls = ()
        self.rounds += 1

    @property
    def _looked(self) -> tuple[str, ...]:
        return self.toolbox.looked

    def _request(self) -> Request:
        tools = self.toolbox.tools if self.rounds < MOST_TOOL_ROUNDS else ()
        return Request(prompts.INSTRUCTIONS, tuple(self.items), proposal_form.form(), tools)

    def _hear(self, reply: Reply) -> None:
        self.items += reply.said
        self.calls = reply.calls

    def _read(self, text: str) -> Proposal:
        filled = proposal_form.fill(text)
        why = f"{filled.hypothesis} Expected: {filled.expected_effect}"
        file = Path(self.kernel.source.name)
        return Proposal(
            proposal_form.candidate_of(filled, self.kernel, file),
            why,
            answer=text,
            tunes=True,
            looked=self._looked,
            usage=self.usage,
        )
