"""Read a form that a model filled in. Pure."""

from __future__ import annotations

import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure

FENCED = re.compile(r"\A\s*```[a-z+]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_SHOWN = 300
_Filled = TypeVar("_Filled", bound=BaseModel)


def filled_form(form: type[_Filled], text: str, what: str) -> _Filled:
    """Return the form as `text` fills it in, alone or in a fenced block.

    Raises ModelFailure that says which field of `what` does not fit, and how.
    """
    fenced = FENCED.match(text)
    try:
        return form.model_validate_json(fenced[1] if fenced else text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the answer"
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        message = f"{place} of {what}: {first['msg']}; the answer was: {shown}"
        raise ModelFailure(FailureKind.MALFORMED, message) from error
