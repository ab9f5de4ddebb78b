"""Ask a model for a part of a declaration, and have an answer that does not do repaired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.optimize.conversation import Form, Item, ModelFailure, Reply, Request, Text, Usage
from pytest_cudaopt.optimize.generate import questions

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.conversation import Model
    from pytest_cudaopt.optimize.record import RunFolder

MOST_ANSWERS = 4
_Part = TypeVar("_Part")


class GenerationError(CudaoptError):
    """A described kernel could not be declared."""


@dataclass
class Asking:
    """Keeps every request and every answer in `model/generate/`, each answer before anything reads it.

    `repairs` counts the answers that were asked for again.
    """

    model: Model
    folder: RunFolder
    usage: Usage = field(default_factory=Usage)
    answers: int = 0
    repairs: int = 0

    def part(
        self,
        name: str,
        question: str,
        form: Form,
        read: Callable[[str], _Part],
        objection: Callable[[_Part], str | None],
    ) -> _Part:
        """Return the first answer to `question` that has no objection, of MOST_ANSWERS in one conversation.

        `read` may raise ModelFailure, and what it says is an objection. Raises GenerationError if none does,
        or if nobody answers.
        """
        items: list[Item] = [Text(question)]
        said = ""
        for number in range(1, MOST_ANSWERS + 1):
            try:
                reply = self._ask(f"{self.answers + 1:02d}-{name}", items, form)
                items += reply.said or (Text(questions.answered(reply.text)),)
                answer = read(reply.text)
                said = objection(answer) or ""
                if not said:
                    return answer
            except ModelFailure as failure:
                if failure.is_final:
                    raise self._given_up(name, str(failure), number) from failure
                said = str(failure)
            items.append(Text(questions.again(said)))
            self.repairs += 1
        raise self._given_up(name, said, MOST_ANSWERS)

    def _ask(self, name: str, items: list[Item], form: Form) -> Reply:
        request = Request(questions.INSTRUCTIONS, tuple(items), form)
        self.answers += 1
        asked = {"model": self.model.name, "form": form.name, "items": asdict(request)["items"]}
        self.folder.write_json(f"model/generate/{name}-request.json", asked, synced=False)
        raw = self.model.fetch(request)
        self.folder.write_answer(f"model/generate/{name}-answer.txt", raw)
        reply = self.model.read(raw)
        self.usage += reply.usage
        return reply

    def _given_up(self, name: str, why: str, answers: int) -> GenerationError:
        return GenerationError(
            f"{name} of the described kernel",
            expected=f"an answer of {self.model.name} that stands up to its checks",
            got=f"{answers} without success; the last one: {why}",
            next_step=f"What was asked and answered is in {self.folder.path / 'model' / 'generate'}. "
            "Describe the kernel more exactly, or supply that part as a file",
        )
