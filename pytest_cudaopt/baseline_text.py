"""Baselines as the texts of their files, and back: a JSON document that a person can review, and sources.

Headers stand in the document, line by line: a diff shows the line that changed, there is no second tree of
files to keep in step, and one rename replaces all that belongs together.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_cudaopt import regions
from pytest_cudaopt.baseline import Baseline, CaseRecord, Version, digest
from pytest_cudaopt.baseline_document import (
    RESTORE,
    SCHEMA,
    Document,
    DocumentCase,
    DocumentSource,
    DocumentVersion,
    parse,
)
from pytest_cudaopt.errors import BaselineError, SourceError
from pytest_cudaopt.recorded import Machine
from pytest_cudaopt.wire import to_json


def to_files(baseline: Baseline, document: str, sources: Sequence[str]) -> dict[str, str]:
    """Return the texts by file name: the sources of the versions, and last the document that names them."""
    texts: dict[str, str] = {}
    versions = []
    for version, name in zip(baseline.versions, sources, strict=True):
        text, blank_lines = _cut(version.source)
        texts[name] = text
        versions.append((version, DocumentSource(name, digest(text), blank_lines)))
    machine = _usual_machine(baseline)
    written = Document(
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
    return {version.source.file: version.source.sha256 for version in parse(text, where).versions}


def stored_source(source: str) -> str:
    """Return a source as its file holds it."""
    return _cut(source)[0]


def from_files(text: str, sources: Mapping[str, str], where: str) -> Baseline:
    """Read a document, whose file is `where`, and the sources it refers to, by name.

    Raises BaselineError for what is no document, one of a later version, a source that is missing or is not
    the one that was recorded.
    """
    document = parse(text, where)
    return Baseline(
        document.module,
        document.kernel,
        document.device,
        tuple(
            _version(one, sources, where, document.machine) for one in document.versions if document.machine
        ),
        document.properties,
    )


def _usual_machine(baseline: Baseline) -> Machine | None:
    machines = Counter(record.machine for one in baseline.versions for record in one.cases.values())
    # Where two are as frequent, the order of cases must not decide.
    return min(machines, key=lambda one: (-machines[one], repr(one)), default=None)


def _stored(version: Version, source: DocumentSource, machine: Machine | None) -> DocumentVersion:
    return DocumentVersion(
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
            case_id: DocumentCase(one.case, one.seen, one.on, None if one.machine == machine else one.machine)
            for case_id, one in version.cases.items()
        },
    )


def _version(one: DocumentVersion, sources: Mapping[str, str], where: str, machine: Machine) -> Version:
    if one.source.file not in sources:
        raise BaselineError(
            where, expected=f"a source {one.source.file} beside it", got="none", next_step=RESTORE
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
            next_step=RESTORE,
        )


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
