"""Models that answer from a list, in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_cudaopt.optimize.conversation import ModelFailure, Reply, Request, Said, ToolCall, Usage


class ListModel:
    """Answers with `replies` in turn; remembers what it was asked. A failure among them is raised."""

    name = "a list"

    def __init__(self, *replies: Reply | ModelFailure) -> None:
        self.replies = replies
        self.requests: list[Request] = []

    def fetch(self, request: Request) -> str:
        self.requests.append(request)
        reply = self.replies[len(self.requests) - 1]
        if isinstance(reply, ModelFailure):
            raise reply
        return str(len(self.requests) - 1)

    def read(self, raw: str) -> Reply:
        reply = self.replies[int(raw)]
        assert isinstance(reply, Reply)
        return reply


def proposes(form: Mapping[str, Any], *, tokens: int = 10) -> Reply:
    return Reply(json.dumps(form), usage=Usage(input=tokens))


def wants(tool: str, arguments: Mapping[str, Any], *, tokens: int = 10) -> Reply:
    call = ToolCall("call", tool, json.dumps(arguments))
    return Reply(calls=(call,), said=(Said({"call": tool}),), usage=Usage(input=tokens))
