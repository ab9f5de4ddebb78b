"""Baselines as the texts of their files, and back: a JSON document that a person can review, and sources.

Headers stand in the document, line by line: a diff shows the line that changed, there is no second tree of
files to keep in step, and one rename replaces all that belongs together.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_cudaopt import regions
from pytest_cudaopt.baseline import Baseline, CaseRecord, Header, Held, Version, digest
from pytest_cudaopt.declared_facts import CaseFacts
from pytest_cudaopt.errors import BaselineError, CudaoptError, SourceError
from pytest_cudaopt.recorded import Machine, Recorded
from pytest_cudaopt.wire import from_json, to_json

SCHEMA = 1
_RESTORE = "Restore it from version control, or remove it and record anew with --cudaopt-baseline update"


@dataclass(frozen=True)
class _Case:
    """A record; `machine` is left out where it is the document's."""

    case: CaseFacts
    seen: Recorded
    on: str
    machine: Machine | None = None


@dataclass(frozen=True)
class _Source:
    """The file that holds a source, its digest, and the blank lines before and after what it holds."""

    file: str
    sha256: str
    blank_lines: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class _Version:
    """A version; `name` is what its file was called."""

    name: str
    source: _Source
    launch: tuple[str, ...]
    signature: str
    tunables: Mapping[str, int] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    stub: tuple[str, ...] = ()
    headers: Mapping[str, Header] = field(default_factory=dict)
    cases: Mapping[str, _Case] = field(default_factory=dict)


@dataclass(frozen=True)
class _Document:
    """The JSON file."""

    schema: int
    module: str
    kernel: str
    device: str
    machine: Machine
    versions: tuple[_Version, ...]
    properties: Mapping[str, Held] = field(default_factory=dict)


def to_files(baseline: Baseline, document: str, sources: Sequence[str]) -> dict[str, str]:
    """Return the texts by file name: the sources of the versions, and last the document that names them."""
    texts: dict[str, str] = {}
    versions = []
    for version, name in zip(baseline.versions, sources, strict=True):
        text, blank_lines = _cut(version.source)
        texts[name] = text
        versions.append((version, _Source(name, digest(text), blank_lines)))
    machine = _usual_machine(baseline)
    written = _Document(
        schema=SCHEMA,
        module=baseline.module,
        kernel=baseline.kernel,
        device=baseline.device,
        machine=machine,
        versions=tuple(_stored(version, source, machine) for version, source in versions),
        properties=baseline.properties,
    )
    plain = json.dumps(_whole_numbers(to_json(written)), indent=2, sort_keys=True, ensure_ascii=False)
    return {**texts, document: f"{plain}\n"}


def source_digests(text: str, where: str) -> dict[str, str]:
    """Return the digests of the files a document refers to, by name; raise as `from_files` does."""
    return {version.source.file: version.source.sha256 for version in _document(text, where).versions}


def stored_source(source: str) -> str:
    """Return a source as its file holds it."""
    return _cut(source)[0]


def from_files(text: str, sources: Mapping[str, str], where: str) -> Baseline:
    """Read a document, whose file is `where`, and the sources it refers to, by name.

    Raises BaselineError for what is no document, one of a later version, a source that is missing or is not
    the one that was recorded.
    """
    document = _document(text, where)
    return Baseline(
        document.module,
        document.kernel,
        document.device,
        tuple(_version(one, sources, where, document.machine) for one in document.versions),
        document.properties,
    )


def _usual_machine(baseline: Baseline) -> Machine:
    machines = Counter(record.machine for one in baseline.versions for record in one.cases.values())
    # Where two are as frequent, the order of cases must not decide.
    return min(machines, key=lambda one: (-machines[one], repr(one)))


def _stored(version: Version, source: _Source, machine: Machine) -> _Version:
    return _Version(
        name=version.file,
        source=source,
        launch=version.launch,
        signature=version.signature,
        tunables=version.tunables,
        defines=version.defines,
        options=version.options,
        include=version.include,
        stub=version.stub,
        headers=version.headers,
        cases={
            case_id: _Case(one.case, one.seen, one.on, None if one.machine == machine else one.machine)
            for case_id, one in version.cases.items()
        },
    )


def _version(one: _Version, sources: Mapping[str, str], where: str, machine: Machine) -> Version:
    if one.source.file not in sources:
        raise BaselineError(
            where, expected=f"a source {one.source.file} beside it", got="none", next_step=_RESTORE
        )
    text = sources[one.source.file]
    _require_digest(f"{one.source.file} of {where}", text, one.source.sha256)
    for name, header in one.headers.items():
        if header.text is not None:
            _require_digest(f"header {name} in {where}", header.text, header.sha256)
    before, after = one.source.blank_lines
    return Version(
        file=one.name,
        source="\n" * before + text + "\n" * after,
        launch=one.launch,
        signature=one.signature,
        tunables=one.tunables,
        defines=one.defines,
        options=one.options,
        include=one.include,
        stub=one.stub,
        headers=one.headers,
        cases={
            case_id: CaseRecord(case.case, case.seen, case.machine or machine, case.on)
            for case_id, case in one.cases.items()
        },
    )


def _require_digest(what: str, text: str, wanted: str) -> None:
    if (found := digest(text)) != wanted:
        raise BaselineError(
            what,
            expected=f"the text that was recorded, SHA-256 {wanted[:12]}",
            got=f"another, {found[:12]}: edited by hand, or a write that was cut short",
            next_step=_RESTORE,
        )


def _document(text: str, where: str) -> _Document:
    value = _parsed(text, where)
    schema = value.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise BaselineError(where, expected='"schema": 1', got=repr(schema), next_step=_RESTORE)
    if schema > SCHEMA:
        raise BaselineError(
            where,
            expected=f"a schema of at most {SCHEMA}",
            got=f"{schema}, of a later pytest-cudaopt",
            next_step="Install that one: this one would lose what it does not know",
        )
    try:
        document = from_json(_Document, value, where)
    except CudaoptError as error:
        # The path in it names the member at fault.
        raise BaselineError(error.what, expected=error.expected, got=error.got, next_step=_RESTORE) from error
    if not document.versions or not all(one.cases for one in document.versions):
        raise BaselineError(where, expected="a case in every version", got="none", next_step=_RESTORE)
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
        raise BaselineError(where, expected="JSON", got=got, next_step=_RESTORE) from error
    except RecursionError as error:
        raise BaselineError(where, expected="JSON", got="one too deep", next_step=_RESTORE) from error
    if not isinstance(value, dict):
        raise BaselineError(where, expected="a JSON object", got=type(value).__name__, next_step=_RESTORE)
    return value


def _cut(source: str) -> tuple[str, tuple[int, int]]:
    """Take off the blank lines that stand for other regions of the file, which may be thousands."""
    try:
        has_regions = bool(regions.find(source, "source"))
    except SourceError:
        has_regions = False
    if not has_regions:
        return source, (0, 0)
    inner = source.lstrip("\n")
    before = len(source) - len(inner)
    # One ends the last line.
    text = inner.rstrip("\n") + "\n" if inner.endswith("\n") else inner
    return text, (before, len(inner) - len(text))


def _whole_numbers(value: Any) -> Any:
    """Write `41200` and not `41200.0`."""
    if isinstance(value, dict):
        return {name: _whole_numbers(held) for name, held in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(held) for held in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
