"""A model whose requests and answers are kept in a run's folder, each answer before anything reads it.

An answer that is already there was paid for: it is not asked for again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from pytest_cudaopt.optimize.conversation import Model, Reply, Request
from pytest_cudaopt.optimize.record import RunFolder


@dataclass
class KeptModel:
    """Keeps what is said about one attempt in `model/attempt-NN/`.

    What every request of a run begins with stands there once, in `model/instructions.md` and
    `model/brief.md`; of later requests of an attempt only what is new.
    """

    model: Model
    folder: RunFolder
    attempt: int
    _asked: int = field(default=0, init=False)
    _kept_items: int = field(default=1, init=False)

    def ask(self, request: Request) -> Reply:
        """Return the reply, from the folder if it is there; raise ModelFailure."""
        self._asked += 1
        name = self._name(self._asked)
        whole = asdict(request)
        digest = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
        raw = self._known(name)
        if raw is None:
            asked = self.model.name
            self._keep_request(name, digest, whole)
            raw = self.model.fetch(request)
            self.folder.write_answer(f"{name}-answer.txt", raw)
            if self.model.name != asked:
                # By now it is known how its server is spoken to.
                self._keep_request(name, digest, whole)
        self._kept_items = len(request.items)
        return self.model.read(raw)

    def has_answer(self) -> bool:
        """Whether the next request needs nobody: a run that was killed left its answer."""
        return (self.folder.path / f"{self._name(self._asked + 1)}-answer.txt").is_file()

    def _name(self, number: int) -> str:
        return f"model/attempt-{self.attempt:02d}/{number:02d}"

    def _known(self, name: str) -> str | None:
        # Whatever was asked: measured latencies, for one, read otherwise when a run goes on.
        answer = self.folder.path / f"{name}-answer.txt"
        return answer.read_bytes().decode() if answer.is_file() else None

    def _keep_request(self, name: str, digest: str, whole: dict[str, Any]) -> None:
        if not (self.folder.path / "model" / "brief.md").exists():
            self.folder.write("model/instructions.md", whole["instructions"], synced=False)
            self.folder.write("model/brief.md", str(whole["items"][0].get("text", "")), synced=False)
        new = whole["items"][self._kept_items :]
        tools = [tool["name"] for tool in whole["tools"]]
        asked = {"digest": digest, "model": self.model.name, "form": whole["form"]["name"]}
        described = {**asked, "tools": tools, "items": new}
        self.folder.write_json(f"{name}-request.json", described, synced=False)


def answers_of(model: str, folder: RunFolder) -> int:
    """Return how many answers of the model of that name a run's folder has."""
    answered = (folder.path / "model").glob("attempt-*/*-answer.txt")
    requests = (path.with_name(path.name.replace("-answer.txt", "-request.json")) for path in answered)
    return sum(
        json.loads(path.read_text(encoding="utf-8")).get("model") == model
        for path in requests
        if path.is_file()
    )
