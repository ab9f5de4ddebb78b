"""The body of a server's answer, whichever API it is one of: the body itself says that. Pure."""

from __future__ import annotations

from pytest_cudaopt.optimize import chat_wire, responses_wire
from pytest_cudaopt.optimize.conversation import ModelFailure, Reply


def read(raw: str) -> Reply:
    """Read a body; raise ModelFailure for one that holds no usable reply.

    So what a run kept can be read when it goes on, whatever is known of the server by then.
    """
    return chat_wire.from_wire(raw) if is_of_chat(raw) else responses_wire.from_wire(raw)


def is_of_chat(raw: str) -> bool:
    """Whether a body is one of chat completions: only they have choices."""
    try:
        return "choices" in responses_wire.json_object(raw)
    except ModelFailure:
        return False
