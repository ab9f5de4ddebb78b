"""What a model fills in to propose a kernel: the form's schema, and from a filled-in form to a candidate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.optimize.conversation import FailureKind, Form, ModelFailure
from pytest_cudaopt.optimize.filled_form import FENCED, filled_form

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel

_DIRECTIVE = re.compile(r"^\s*//\s*@(launch|tune)\b.*\n?", re.MULTILINE)


class TunableForm(BaseModel):
    """A compile-time integer of the source, and the values worth trying."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="the macro's name, such as BLOCK; it reaches the compiler as #define")
    values: list[int] = Field(description="1 to 8 values to try, the most promising first")


class ProposalForm(BaseModel):
    """A filled-in form. Every field is required: strict servers accept no defaults."""

    model_config = ConfigDict(extra="forbid")

    hypothesis: str = Field(description="one sentence: what limits the kernel now, and what this changes")
    expected_effect: str = Field(description="one sentence: which cases get faster, and by about how much")
    source: str = Field(description="the whole .cu file, without @launch and @tune lines")
    launch: str = Field(description="such as: grid=(cdiv(n, BLOCK)) block=(BLOCK) shared=4*BLOCK")
    overrides: list[str] = Field(
        description="other launch fields for some sizes, such as: [rows >= 4096, cols % 4 == 0] block=(512)"
    )
    tunables: list[TunableForm] = Field(description="may be empty")
    tune_where: list[str] = Field(description="conditions over tunables, such as: BM * BN <= 4096")


class VersionForm(BaseModel):
    """A version to look at: an earlier attempt, or a source as in a proposal."""

    model_config = ConfigDict(extra="forbid")

    attempt: int | None = Field(
        default=None,
        description="an earlier attempt's number, 0 for the start; null for a new source",
    )
    source: str | None = Field(
        default=None, description="the whole .cu file of a new version; null with `attempt`"
    )
    launch: str | None = Field(
        default=None, description="its launch rule, as in a proposal; null with `attempt`"
    )
    overrides: list[str] = Field(default=[], description="as in a proposal; empty with `attempt`")
    tunables: list[TunableForm] = Field(
        default=[],
        description="of a new source all of them, of an attempt those to change, such as "
        '[{"name": "BLOCK", "values": [128]}]',
    )
    note: str = Field(
        default="", description="a few words on what it tries, told again at later attempts; may be empty"
    )

    @model_validator(mode="before")
    @classmethod
    def _of_proposal(cls, given: Any) -> Any:
        """Take a whole proposal, too: the hypothesis is a note, the rest says nothing of one version."""
        if not isinstance(given, dict):
            return given
        note = given.get("note") or given.get("hypothesis") or ""
        kept = {name: value for name, value in given.items() if name not in _OF_PROPOSALS}
        return {**kept, "note": note}


_OF_PROPOSALS = ("hypothesis", "expected_effect", "tune_where")


@dataclass(frozen=True)
class Filled:
    """A form's sentences, and the source with its directives as it would stand in a file."""

    hypothesis: str
    expected_effect: str
    source: str


@cache
def form() -> Form:
    """Return the form as a JSON schema that strict servers accept."""
    return Form("kernel_proposal", ProposalForm.model_json_schema())


def fill(text: str) -> Filled:
    """Read a model's answer; raise ModelFailure that says which field does not fit, and how."""
    return filled_from(filled_form(ProposalForm, text, "the proposal"))


def filled_from(filled: ProposalForm) -> Filled:
    """Return the form with its directives written into the source."""
    return Filled(filled.hypothesis.strip(), filled.expected_effect.strip(), _with_directives(filled))


def version_source(version: VersionForm) -> str:
    """Return a new version's source with its directives; raise ModelFailure if it has none."""
    if version.attempt is not None or version.source is None or version.launch is None:
        raise ModelFailure(
            FailureKind.MALFORMED, "give either `attempt` alone, or both `source` and `launch` without it"
        )
    form = ProposalForm(
        hypothesis="",
        expected_effect="",
        source=version.source,
        launch=version.launch,
        overrides=version.overrides,
        tunables=version.tunables,
        tune_where=[],
    )
    return filled_from(form).source


def candidate_of(filled: Filled, kernel: Kernel, file: Path) -> Candidate:
    """Return the proposed candidate; raise ModelFailure for directives or includes that cannot be read."""
    try:
        return kernel.candidate(filled.source, file)
    except CudaoptError as error:
        raise ModelFailure(FailureKind.MALFORMED, f"the proposal cannot be read: {error}") from error


def _with_directives(filled: ProposalForm) -> str:
    """Put the form's directives above the source, in place of any it has."""
    fenced = FENCED.match(filled.source)
    source = _DIRECTIVE.sub("", fenced[1] if fenced else filled.source)
    lines = [f"// @launch {_plain(filled.launch, '@launch')}"]
    lines += [_override(text) for text in filled.overrides]
    lines += [f"// @tune {one.name} = {', '.join(map(str, one.values))}" for one in filled.tunables]
    lines += [f"// @tune where {_plain(text, '@tune where')}" for text in filled.tune_where]
    return "\n".join([*lines, source.strip("\n")]) + "\n"


def _override(text: str) -> str:
    plain = _plain(text, "@launch")
    return f"// @launch{plain}" if plain.startswith("[") else f"// @launch {plain}"


def _plain(text: str, directive: str) -> str:
    """Return one line without the directive's own word, which models like to repeat."""
    one_line = " ".join(text.split())
    return one_line.removeprefix("//").strip().removeprefix(directive).strip()
