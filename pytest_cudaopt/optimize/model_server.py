"""The connection to a model's server: how it is reached, what is tried again, how each failure reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import httpx2
import openai

from pytest_cudaopt.optimize.bounded_transport import BoundedTransport
from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure

# On connection errors, 408, 409, 429 and 5xx the client tries again, as long as `retry-after` says.
_RETRIES = 2
# The client insists on a key; servers that need none take any.
_NO_KEY = "none"
# Local servers are given words such as EMPTY or ollama for a key, which kernels may well hold.
_SHORTEST_SECRET = 8
_LONGEST_REASON = 200


@dataclass(frozen=True)
class Access:
    """How to reach a model. `key` is never written anywhere; `base_url` of None is the API's own.

    A `key` of None is for servers that need none. `timeout_s` bounds a question, with what is tried again.
    """

    model: str
    key: str | None
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

    @property
    def name(self) -> str:
        """The model, and where it is unless that is the API's own server."""
        return self.model if self.server is None else f"{self.model} at {self.server}"

    def hide_key(self, text: str) -> str:
        """Return `text` without the key, which some servers repeat."""
        if self.key is None or len(self.key) < _SHORTEST_SECRET:
            return text
        return text.replace(self.key, "[key]")


class Refused(ModelFailure):
    """A server's answer with an error status; `said` is the body, without the key."""

    def __init__(
        self, kind: FailureKind, message: str, *, is_final: bool = False, status: int, said: str
    ) -> None:
        super().__init__(kind, message, is_final=is_final)
        self.status = status
        self.said = said


class Sent(Protocol):
    """A response as the client returns it when it is not to read the body itself."""

    @property
    def http_response(self) -> httpx2.Response: ...


class ModelServer:
    """Reaches the server of `access`. Safe to use from several threads."""

    def __init__(self, access: Access) -> None:
        self.access = access
        # Minutes pass between requests: a kept connection would only have to be closed by somebody.
        closing = httpx2.Limits(max_keepalive_connections=0)
        self._transport = BoundedTransport(httpx2.HTTPTransport(limits=closing), access.timeout_s)
        self._client = openai.OpenAI(
            api_key=access.key or _NO_KEY,
            base_url=access.base_url,
            max_retries=_RETRIES,
            timeout=access.timeout_s,
            http_client=httpx2.Client(transport=self._transport, timeout=access.timeout_s),
        )

    def ask(self, send: Callable[[openai.OpenAI], Sent]) -> str:
        """Return the body of the response to what `send` sends, or raise ModelFailure."""
        try:
            with self._transport.together():
                text: str = send(self._client).http_response.text
        except openai.OpenAIError as error:
            raise self._failure(error) from error
        except httpx2.HTTPError as error:
            raise ModelFailure(
                FailureKind.UNREACHABLE, f"{self.access.name}: {self.access.hide_key(str(error))}"
            ) from error
        return self.access.hide_key(text)

    def _failure(self, error: openai.OpenAIError) -> ModelFailure:
        about = self.access.hide_key(f"{self.access.name}: {_reason(error)}")
        match error:
            case openai.APITimeoutError():
                return ModelFailure(FailureKind.TIMED_OUT, about)
            case openai.APIConnectionError():
                return ModelFailure(FailureKind.UNREACHABLE, about)
            case openai.APIStatusError():
                kind, is_final = _kind(error)
                said = self.access.hide_key(error.response.text)
                return Refused(kind, about, is_final=is_final, status=error.status_code, said=said)
            case _:
                return ModelFailure(FailureKind.MALFORMED, about)


def _kind(error: openai.APIStatusError) -> tuple[FailureKind, bool]:
    """Return what an error status means, and whether asking again cannot help."""
    if isinstance(error, openai.RateLimitError):
        # Without money or quota, waiting does not help.
        return FailureKind.RATE_LIMITED, "insufficient_quota" in (error.code, error.type)
    if error.status_code >= 500:
        return FailureKind.SERVER_ERROR, False
    return FailureKind.REJECTED, True


def _reason(error: openai.OpenAIError) -> str:
    if isinstance(error, openai.APITimeoutError):
        return "no answer in time"
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        return f"no connection ({cause if cause is not None else error})"
    if isinstance(error, openai.APIStatusError):
        body = error.body if isinstance(error.body, dict) else {}
        said, code = body.get("message") or body.get("detail"), body.get("code")
        if isinstance(error.body, str) and len(error.body) <= _LONGEST_REASON:
            said = error.body.strip()
        return f"HTTP {error.status_code}{f' {code}' if code else ''}: {said or 'no reason given'}"
    return str(error)
