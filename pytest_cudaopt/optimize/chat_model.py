"""A language model behind chat completions, which nearly every server speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_cudaopt.optimize import chat_wire

if TYPE_CHECKING:
    import openai

    from pytest_cudaopt.optimize.conversation import Request
    from pytest_cudaopt.optimize.dialects import Dialect
    from pytest_cudaopt.optimize.model_server import Access, ModelServer, Sent

# A server's own default, which it is not told: those whose models do not think refuse to hear of it.
_USUAL_EFFORT = "medium"


class ChatModel:
    """Asks `access.model` with what of chat completions `dialect` has. Safe to use from several threads.

    No limit of tokens is sent: servers refuse one that exceeds what the context has left.
    """

    def __init__(self, access: Access, server: ModelServer) -> None:
        self._access = access
        self._server = server

    def fetch(self, request: Request, dialect: Dialect) -> str:
        """Return the body of the completion, or raise ModelFailure."""
        wire = chat_wire.to_wire(request, dialect)
        if self._access.reasoning_effort != _USUAL_EFFORT:
            wire["reasoning_effort"] = self._access.reasoning_effort

        def send(client: openai.OpenAI) -> Sent:
            create: Any = client.chat.completions.with_raw_response.create
            sent: Sent = create(model=self._access.model, **wire)
            return sent

        return self._server.ask(send)
