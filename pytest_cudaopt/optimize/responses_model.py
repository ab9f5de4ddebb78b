"""A language model behind the OpenAI Responses API, or behind any server that speaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cudaopt.optimize import responses_wire, server_answers
from pytest_cudaopt.optimize.model_server import Access, ModelServer

if TYPE_CHECKING:
    import openai
    from openai.types.shared_params import Reasoning

    from pytest_cudaopt.optimize.conversation import Reply, Request
    from pytest_cudaopt.optimize.model_server import Sent

_MOST_OUTPUT_TOKENS = 32_000


class ResponsesModel:
    """Asks `access.model`. Safe to use from several threads."""

    def __init__(self, access: Access, server: ModelServer | None = None) -> None:
        self._access = access
        self._server = server or ModelServer(access)

    @property
    def name(self) -> str:
        return self._access.name

    def read(self, raw: str) -> Reply:
        """Read the body of a response; raise ModelFailure as `server_answers.read` does."""
        return server_answers.read(raw)

    def fetch(self, request: Request) -> str:
        """Return the body of the response, or raise ModelFailure."""
        effort: Reasoning = {"effort": self._access.reasoning_effort}  # type: ignore[typeddict-item]

        def send(client: openai.OpenAI) -> Sent:
            return client.responses.with_raw_response.create(
                model=self._access.model,
                **responses_wire.to_wire(request),
                reasoning=effort,
                max_output_tokens=_MOST_OUTPUT_TOKENS,
                store=False,
                include=["reasoning.encrypted_content"],
                prompt_cache_key=self._access.cache_key,
                parallel_tool_calls=False,
            )

        return self._server.ask(send)
