"""What a model's server understands, and what is left of it after a refusal. Pure; knows no connection."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_cudaopt.optimize.conversation import Request


class Api(StrEnum):
    """What `--optimize-api` names; AUTO finds out which of the others it is."""

    AUTO = "auto"
    RESPONSES = "responses"
    CHAT = "chat"
    PLAIN = "plain"


@dataclass(frozen=True)
class Dialect:
    """How to talk to a server: by chat completions or the Responses API, and with what of them.

    `tools`: it takes descriptions of tools; `schema`: a JSON schema for the answer; `system`: a message of
    that role. The Responses API has all of them.
    """

    is_chat: bool = False
    tools: bool = True
    schema: bool = True
    system: bool = True

    def __str__(self) -> str:
        if not self.is_chat:
            return "Responses API"
        able = [name for name, has in (("tools", self.tools), ("JSON schema", self.schema)) if has]
        return f"chat completions with {', '.join(able)}" if able else "chat completions, plain text"


BEGUN_WITH = {
    Api.AUTO: Dialect(),
    Api.RESPONSES: Dialect(),
    Api.CHAT: Dialect(is_chat=True),
    Api.PLAIN: Dialect(is_chat=True, tools=False, schema=False),
}

_NO_ROUTE = frozenset({404, 405, 501})
# llama.cpp without --jinja says 500, gateways without a provider that fits 404.
_MAY_NAME_A_FEATURE = frozenset({400, 404, 405, 415, 422, 500, 501})
_NO_SUCH_MODEL = re.compile(
    r"model_?not_?found|deploymentnotfound|(?:no such|unknown|invalid) model|"
    r"\bmodel\b.{0,100}?(?:not found|not exist|n't exist)",
    re.IGNORECASE | re.DOTALL,
)
_REFUSING = (
    r"(?:not|n't|never|cannot)\b.{0,12}(?:support|permit|allow|implement|enabled|accept|be used|combine)|"
    r"(?:unknown|unexpected|unrecogni[sz]ed) (?:\w+ )?(?:param|field|argument|keyword|propert|key|name)|"
    r"unsupported|requires|disabled|extra inputs|no endpoints found"
)
_MISFIT = r"must be|invalid|failed to|cannot|unable|could not|either|conversion failed|too large"


def _names(subject: str, refusing: str) -> re.Pattern[str]:
    """Return what finds a subject and a refusal of it close together: servers may repeat whole requests."""
    return re.compile(
        rf"(?:{subject}).{{0,80}}?(?:{refusing})|(?:{refusing}).{{0,60}}?(?:{subject})",
        re.IGNORECASE | re.DOTALL,
    )


_TOOLS = _names(r"\btools?\b|\btool[_ -](?:choice|calls?|calling|use)\b|function[_ -]call", _REFUSING)
_SCHEMA = _names(
    r"response_?format|json[_ ]?schema|json mode|structured[_ ]output|guided|grammar|text\.format",
    f"{_REFUSING}|{_MISFIT}",
)
_SYSTEM = _names(r"\bsystem\b.{0,3}\b(?:role|message|prompt)|\brole\b.{0,3}\bsystem\b", _REFUSING)
# What chat completions have no counterpart of.
_RESPONSES_ONLY = _names(
    r"responses? api|/responses\b|\binclude\b|encrypted|prompt_cache_key|reasoning|max_\w*tokens|"
    r"\bstore\b|\binstructions\b|\binput\b",
    f"{_REFUSING}|{_MISFIT}",
)
# LM Studio says so of unknown routes with status 200.
_UNEXPECTED_ROUTE = re.compile(r"^\s*\{\s*\"error\"\s*:\s*\"unexpected endpoint", re.IGNORECASE)


def after_refusal(spoken: Dialect, status: int, said: str, request: Request) -> Dialect | None:
    """Return what to try after a server refused `request`; None if that has nothing to do with the dialect.

    A wrong key or model, a limit and a server in trouble mean what they say in every dialect.
    """
    if status not in _MAY_NAME_A_FEATURE or _NO_SUCH_MODEL.search(said):
        return None
    names_tools = bool(request.tools) and spoken.tools and _TOOLS.search(said) is not None
    if not spoken.is_chat:
        return _without_responses(status, said, names_tools=names_tools)
    names_schema = _SCHEMA.search(said) is not None
    if request.tools and spoken.tools:
        # llama.cpp makes a grammar of the tools' schemas.
        if names_tools or names_schema:
            return replace(spoken, tools=False)
    elif spoken.schema and names_schema:
        return replace(spoken, schema=False)
    if spoken.system and _SYSTEM.search(said):
        return replace(spoken, system=False)
    return None


def _without_responses(status: int, said: str, *, names_tools: bool) -> Dialect | None:
    chat = Dialect(is_chat=True)
    names_schema = _SCHEMA.search(said) is not None
    if names_tools or names_schema:
        # Chat completions get one of them at a time: both may do there.
        together = names_tools and names_schema
        return replace(chat, tools=together or not names_tools, schema=together or not names_schema)
    if status in _NO_ROUTE or (status < 500 and _RESPONSES_ONLY.search(said)):
        return chat
    return None


def lacks_route(status: int, said: str) -> bool:
    """Whether a refusal says that there is nothing at this address, not even for another model."""
    return status in _NO_ROUTE and not _NO_SUCH_MODEL.search(said)


def is_no_route(raw: str) -> bool:
    """Whether a body that came with status 200 says that there is nothing at this address.

    Some servers show their front page at every unknown route.
    """
    begins = raw.lstrip()[:15].lower()
    return begins.startswith(("<!doctype html", "<html")) or _UNEXPECTED_ROUTE.match(raw) is not None
