"""A language model behind any server: what it understands is found out by asking, and kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize import dialects, server_answers
from pytest_cudaopt.optimize.chat_model import ChatModel
from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure
from pytest_cudaopt.optimize.dialects import BEGUN_WITH, Api, Dialect
from pytest_cudaopt.optimize.model_server import Access, ModelServer, Refused
from pytest_cudaopt.optimize.responses_model import ResponsesModel

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.conversation import Reply, Request


class KnownDialects:
    """What servers were found to understand, by the model's name; shared by the runs of a session.

    `tell` gets a sentence for each finding, once.
    """

    def __init__(self, tell: Callable[[str], None] = lambda text: None) -> None:
        self._tell = tell
        self._of: dict[str, Dialect] = {}
        self._told: set[tuple[str, Dialect]] = set()
        self._lock = threading.Lock()

    def of(self, name: str) -> Dialect | None:
        with self._lock:
            return self._of.get(name)

    def keep(self, name: str, spoken: Dialect, found: Dialect) -> None:
        """Keep `found`, unless somebody else has found something since `spoken` was tried."""
        with self._lock:
            if self._of.get(name, spoken) == spoken:
                self._of[name] = found

    def confirm(self, name: str, dialect: Dialect) -> None:
        """Tell of a dialect that a server has answered in."""
        with self._lock:
            is_news = dialect.is_chat and (name, dialect) not in self._told
            self._told.add((name, dialect))
        if is_news:
            self._tell(f"{name}: {dialect}")


class ServerModel:
    """Asks `access.model` by the Responses API if the server has it, else as it understands.

    Safe to use from several threads.
    """

    def __init__(self, access: Access, api: Api, known: KnownDialects | None = None) -> None:
        server = ModelServer(access)
        self._access = access
        self._responses = ResponsesModel(access, server)
        self._chat = ChatModel(access, server)
        self._begun_with = BEGUN_WITH[api]
        self._known = known or KnownDialects()

    @property
    def dialect(self) -> Dialect:
        return self._known.of(self._access.name) or self._begun_with

    @property
    def name(self) -> str:
        dialect = self.dialect
        return f"{self._access.name} ({dialect})" if dialect.is_chat else self._access.name

    def fetch(self, request: Request) -> str:
        """Return the body of the answer, or raise ModelFailure."""
        while True:
            spoken = self.dialect
            try:
                raw = self._ask(request, spoken)
            except Refused as refused:
                found = dialects.after_refusal(spoken, refused.status, refused.said, request)
                if found is None:
                    raise self._explained(refused, spoken) from refused
                self._known.keep(self._access.name, spoken, found)
                continue
            self._known.keep(self._access.name, spoken, spoken)
            self._known.confirm(self._access.name, spoken)
            return raw

    def read(self, raw: str) -> Reply:
        """Read the body of an answer, whichever dialect it is in; raise ModelFailure."""
        if server_answers.is_of_chat(raw) and not self.dialect.is_chat:
            # Of a run that goes on: its server was asked before.
            self._known.keep(self._access.name, self.dialect, BEGUN_WITH[Api.CHAT])
        return server_answers.read(raw)

    def _ask(self, request: Request, spoken: Dialect) -> str:
        if not spoken.is_chat:
            raw = self._responses.fetch(request)
            if dialects.is_no_route(raw):
                raise Refused(
                    FailureKind.REJECTED, "no Responses API", is_final=True, status=404, said="not found"
                )
            return raw
        raw = self._chat.fetch(request, spoken)
        if dialects.is_no_route(raw):
            raise self._without_routes("it answers with a page for people")
        return raw

    def _explained(self, refused: Refused, spoken: Dialect) -> ModelFailure:
        if spoken.is_chat and dialects.lacks_route(refused.status, refused.said):
            return self._without_routes(f"HTTP {refused.status}")
        return refused

    def _without_routes(self, why: str) -> ModelFailure:
        about = f"{self._access.name} has no chat completions ({why}); does OPENAI_BASE_URL end in /v1?"
        return ModelFailure(FailureKind.REJECTED, about, is_final=True)
