"""The JSON document of a baseline: what stands in it, and all that makes it no document to trust."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_cudaopt.baseline import Header, Held
from pytest_cudaopt.declared_facts import CaseFacts
from pytest_cudaopt.errors import BaselineError, CudaoptError
from pytest_cudaopt.recorded import Machine, Recorded
from pytest_cudaopt.wire import from_json

SCHEMA = 1
RESTORE = "Restore it from version control, or remove it and record anew with --cudaopt-baseline update"


@dataclass(frozen=True)
class DocumentCase:
    """A record; `machine` is left out where it is the document's."""

    case: CaseFacts
    seen: Recorded
    on: str
    machine: Machine | None = None


@dataclass(frozen=True)
class DocumentSource:
    """The file that holds a source, its digest, and the blank lines before and after what it holds."""

    file: str
    sha256: str
    blank_lines: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class DocumentVersion:
    """A version; `name` is what its file was called."""

    name: str
    source: DocumentSource
    launch: tuple[str, ...]
    signature: str
    tunables: Mapping[str, int] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    stub: tuple[str, ...] = ()
    headers: Mapping[str, Header] = field(default_factory=dict)
    cases: Mapping[str, DocumentCase] = field(default_factory=dict)


@dataclass(frozen=True)
class Document:
    """The JSON file; `machine` is the one that most records are of, None where nothing but properties is."""

    schema: int
    module: str
    kernel: str
    device: str
    machine: Machine | None = None
    versions: tuple[DocumentVersion, ...] = ()
    properties: Mapping[str, Held] = field(default_factory=dict)


def parse(text: str, where: str) -> Document:
    """Read a document, whose file is `where`; raise BaselineError for what is none, or of a later version."""
    value = _parsed(text, where)
    schema = value.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise BaselineError(where, expected='"schema": 1', got=repr(schema), next_step=RESTORE)
    if schema > SCHEMA:
        raise BaselineError(
            where,
            expected=f"a schema of at most {SCHEMA}",
            got=f"{schema}, of a later pytest-cudaopt",
            next_step="Install that one: this one would lose what it does not know",
        )
    try:
        document = from_json(Document, value, where)
    except CudaoptError as error:
        # The path in it names the member at fault.
        raise BaselineError(error.what, expected=error.expected, got=error.got, next_step=RESTORE) from error
    if not all(one.cases for one in document.versions) or not (document.versions or document.properties):
        raise BaselineError(where, expected="a case in every version", got="none", next_step=RESTORE)
    if document.versions and document.machine is None:
        raise BaselineError(where, expected="a key 'machine'", got="none", next_step=RESTORE)
    return document


def _parsed(text: str, where: str) -> dict[str, Any]:
    if "<<<<<<< " in text and ">>>>>>> " in text:
        raise BaselineError(
            where,
            expected="JSON",
            got="a merge conflict",
            next_step="Take one side, sources included, and run --cudaopt-baseline update",
        )
    try:
        value = json.loads(text)
    except ValueError as error:
        is_cut = not text.rstrip().endswith("}")
        got = "a file that ends too early" if is_cut else str(error)
        raise BaselineError(where, expected="JSON", got=got, next_step=RESTORE) from error
    except RecursionError as error:
        raise BaselineError(where, expected="JSON", got="one too deep", next_step=RESTORE) from error
    if not isinstance(value, dict):
        raise BaselineError(where, expected="a JSON object", got=type(value).__name__, next_step=RESTORE)
    return value
