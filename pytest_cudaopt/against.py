"""A kernel as it was in a git revision, to be gated against: source, launch rule, headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_cudaopt import directives
from pytest_cudaopt.errors import CudaoptError, SourceError
from pytest_cudaopt.git_revision import Revision, decoded
from pytest_cudaopt.incumbent import Incumbent
from pytest_cudaopt.revision_files import RevisionFiles, find, path_in

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel

# The function's name: `scale`, `ns::attn<{n}, float>`, `static_cast<void (*)(float*)>(ns::f)`.
_ENTRY_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:<[^()]*>)?\s*\)*\s*$")


@lru_cache(maxsize=256)
def revision_incumbent(kernel: Kernel, revision: Revision) -> Incumbent:
    """Return the kernel as it was; what cannot be rebuilt has no candidate, and says why.

    Whether its signature is still the declared one, compiling it tells.
    """
    try:
        candidate = candidate_at(kernel, revision)
    except CudaoptError as error:
        return Incumbent(revision.name, None, f"{revision}: {_without_advice(error)}")
    return Incumbent(revision.name, candidate, note=_what_is_of_now(kernel, candidate))


def candidate_at(kernel: Kernel, revision: Revision) -> Candidate:
    """Return the starting candidate that the kernel's file was in `revision`, whatever it is now.

    What the declaration gives it (`launch=`, `defines=`, `options=`, folders of `include=`) is that of now.
    Raises SourceError for a file, region, launch rule or entry that was not there, or not as it must be;
    EnvironmentFault for what git cannot read.
    """
    candidate = kernel.start_from(_source_at(kernel, revision), RevisionFiles(revision))
    _require_entry(kernel, candidate)
    return candidate


def _source_at(kernel: Kernel, revision: Revision) -> str:
    path = path_in(revision.root, kernel.source)
    if path is None:
        raise SourceError(
            kernel.source.name,
            expected=f"a file of the repository {revision.root}",
            got=f"one outside of it, {kernel.source}",
        )
    found = find(revision, path)
    if found is None:
        raise SourceError(path, expected="the file", got="none: it was added, moved or renamed since")
    try:
        return decoded(found.data)
    except UnicodeDecodeError as error:
        raise SourceError(path, expected="UTF-8", got=str(error)) from error


def _require_entry(kernel: Kernel, candidate: Candidate) -> None:
    """Refuse a text that nowhere names the entry, which the compiler would tell less clearly."""
    name = _ENTRY_NAME.search(kernel.entry)
    texts = (candidate.source, *candidate.headers.values())
    # Where names are pasted together by macros only the compiler knows them.
    if name is None or any("##" in text or re.search(rf"\b{name[1]}\b", text) for text in texts):
        return
    raise SourceError(
        kernel.source.name,
        expected=f"the kernel '{name[1]}'",
        got="none: it was added or renamed since",
    )


def _without_advice(error: CudaoptError) -> str:
    # What to do about a file helps nobody with one that is history.
    return str(type(error)(error.what, expected=error.expected, got=error.got))


def _what_is_of_now(kernel: Kernel, candidate: Candidate) -> str:
    parts = list(_given_by_declaration(kernel, candidate))
    if not parts:
        return ""
    named = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"its {named} {'is' if len(parts) == 1 else 'are'} the declaration's of now"


def _given_by_declaration(kernel: Kernel, candidate: Candidate) -> Iterator[str]:
    """Name what `candidate` has of the declaration, which cannot be asked how it was."""
    own = directives.read(candidate.source, candidate.file)
    if own.rule is None:
        yield "launch rule"
    if kernel.defines or kernel.inherited.defines:
        yield "defines"
    if kernel.options or kernel.inherited.options:
        yield "options"
