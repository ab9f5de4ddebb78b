"""A language model behind the OpenAI Responses API, or behind any server that speaks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2
import openai

from pytest_cudaopt.optimize import responses_wire
from pytest_cudaopt.optimize.bounded_transport import BoundedTransport
from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure, Reply, Request

if TYPE_CHECKING:
    from openai.types.shared_params import Reasoning

# On connection errors, 408, 409, 429 and 5xx the client tries again, as long as `retry-after` says.
_RETRIES = 2
_MOST_OUTPUT_TOKENS = 32_000


@dataclass(frozen=True)
class Access:
    """How to reach a model. `key` is never written anywhere; `base_url` of None is the API's own.

    `timeout_s` bounds a question, with what is tried again.
    """

    model: str
    key: str
    base_url: str | None = None
    reasoning_effort: str = "medium"
    timeout_s: float = 600.0
    cache_key: str = "pytest-cudaopt"

    def __repr__(self) -> str:
        return f"Access(model={self.model!r}, server={self.server!r})"

    @property
    def server(self) -> str | None:
        """The server's URL without a name and password it may hold; None for the API's own."""
        if self.base_url is None:
            return None
        parts = urlsplit(self.base_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def hide_key(self, text: str) -> str:
        """Return `text` without the key, which some servers repeat."""
        return text.replace(self.key, "[key]")


class ResponsesModel:
    """Asks `access.model`. Safe to use from several threads."""

    def __init__(self, access: Access) -> None:
        self._access = access
        # Minutes pass between requests: a kept connection would only have to be closed by somebody.
        closing = httpx2.Limits(max_keepalive_connections=0)
        self._transport = BoundedTransport(httpx2.HTTPTransport(limits=closing), access.timeout_s)
        self._client = openai.OpenAI(
            api_key=access.key,
            base_url=access.base_url,
            max_retries=_RETRIES,
            timeout=access.timeout_s,
            http_client=httpx2.Client(transport=self._transport, timeout=access.timeout_s),
        )

    @property
    def name(self) -> str:
        where = "" if self._access.server is None else f" at {self._access.server}"
        return f"{self._access.model}{where}"

    def read(self, raw: str) -> Reply:
        """Read the body of a response; raise ModelFailure as `responses_wire.from_wire` does."""
        return responses_wire.from_wire(raw)

    def fetch(self, request: Request) -> str:
        """Return the body of the response, or raise ModelFailure."""
        effort: Reasoning = {"effort": self._access.reasoning_effort}  # type: ignore[typeddict-item]
        try:
            with self._transport.together():
                response = self._client.responses.with_raw_response.create(
                    model=self._access.model,
                    **responses_wire.to_wire(request),
                    reasoning=effort,
                    max_output_tokens=_MOST_OUTPUT_TOKENS,
                    store=False,
                    include=["reasoning.encrypted_content"],
                    prompt_cache_key=self._access.cache_key,
                    parallel_tool_calls=False,
                )
                text: str = response.http_response.text
        except openai.OpenAIError as error:
            raise self._failure(error) from error
        except httpx2.HTTPError as error:
            raise ModelFailure(
                FailureKind.UNREACHABLE, f"{self.name}: {self._access.hide_key(str(error))}"
            ) from error
        return self._access.hide_key(text)

    def _failure(self, error: openai.OpenAIError) -> ModelFailure:
        about = self._access.hide_key(f"{self.name}: {_reason(error)}")
        match error:
            case openai.RateLimitError():
                # Without money or quota, waiting does not help.
                spent = "insufficient_quota" in (error.code, error.type)
                return ModelFailure(FailureKind.RATE_LIMITED, about, is_final=spent)
            case openai.APITimeoutError():
                return ModelFailure(FailureKind.TIMED_OUT, about)
            case openai.APIConnectionError():
                return ModelFailure(FailureKind.UNREACHABLE, about)
            case openai.APIStatusError() if error.status_code >= 500:
                return ModelFailure(FailureKind.SERVER_ERROR, about)
            case openai.APIStatusError():
                return ModelFailure(FailureKind.REJECTED, about, is_final=True)
            case _:
                return ModelFailure(FailureKind.MALFORMED, about)


def _reason(error: openai.OpenAIError) -> str:
    if isinstance(error, openai.APITimeoutError):
        return "no answer in time"
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        return f"no connection ({cause if cause is not None else error})"
    if isinstance(error, openai.APIStatusError):
        body = error.body
        said = body.get("message") if isinstance(body, dict) else None
        code = body.get("code") if isinstance(body, dict) else None
        return f"HTTP {error.status_code}{f' {code}' if code else ''}: {said or 'no reason given'}"
    return str(error)
