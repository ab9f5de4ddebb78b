"""What of a kernel is not what it was in a git revision. What cannot be decided counts as changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt import git_revision
from pytest_cudaopt.against import candidate_at
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.revision_files import find, path_in
from pytest_cudaopt.sandboxed_function import SandboxedFunction

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.git_revision import Revision

# Where a project says which plugin it installs, and what the plugin's options are.
_PROJECT_FILES = (
    "pyproject.toml",
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    "setup.py",
    "Pipfile",
    "*.lock",
    "pylock*.toml",
    "*requirements*.txt",
    "*requirements*.in",
    "*constraints*.txt",
    "requirements/*.txt",
    "requirements/*.in",
    "environment*.yml",
    "environment*.yaml",
)
# The plugin and its options, what compiles and what stores small floats; however spelt.
_MENTIONS = (b"cudaopt", b"cuda-toolkit", b"nvrtc", b"cuda-python", b"ml-dtypes")


def why_all_changed(revision: Revision, root: Path, compdb: Path | None) -> str:
    """Say which file that bears on every kernel is not what it was; "" if each is.

    Such files are `compdb`, and in `root` or the repository's top folder those that mention the plugin
    or a package that kernels are compiled or checked with.
    """
    if compdb is not None and (why := _why_undecided(revision, compdb)):
        return why
    return next(
        (f"{path} changed" for path in _project_files(revision, root) if _mentions(revision, path)), ""
    )


def why_changed(kernel: Kernel, declaring: Collection[str], revision: Revision) -> str:
    """Say what of a kernel is not what it was, in a few words; "" if nothing.

    `declaring` are the files its declaration stands on, as paths from the repository's root.
    """
    for path in sorted(declaring):
        if _differs(revision, path):
            return f"{path} changed"
    sandboxed = kernel.reference
    if isinstance(sandboxed, SandboxedFunction) and (why := _why_undecided(revision, sandboxed.file)):
        return why
    reference = kernel.reference_kernel
    return _why_compiled(kernel, revision) or (
        "" if reference is None else _why_compiled(reference, revision)
    )


def _why_compiled(kernel: Kernel, revision: Revision) -> str:
    """Say what of the text that is compiled, its headers, launch or options is not what it was."""
    try:
        now = kernel.start()
    except CudaoptError as error:
        return error.short
    try:
        then = candidate_at(kernel, revision)
    except CudaoptError as error:
        return error.short
    for name in now.headers:
        if path_in(revision.root, kernel.source.parent / name) is None:
            return f"{name} is outside of the repository"
    return "" if now.digest == then.digest else _difference(now, then)


def _difference(now: Candidate, then: Candidate) -> str:
    if now.source != then.source:
        return f"{now.file} changed"
    names = sorted({*now.headers, *then.headers})
    return next(
        (f"{name} changed" for name in names if now.headers.get(name) != then.headers.get(name)),
        "what it is compiled with changed",
    )


def _why_undecided(revision: Revision, file: Path) -> str:
    path = path_in(revision.root, file)
    if path is None:
        return f"{file} is outside of the repository"
    return f"{path} changed" if _differs(revision, path) else ""


def _project_files(revision: Revision, root: Path) -> Iterator[str]:
    """Yield the paths of the project's files, then and now."""
    top = path_in(revision.root, root)
    prefixes = {"", f"{top}/"} if top else {""}
    known = set(git_revision.entries(revision))
    for prefix in prefixes:
        folder = revision.root / prefix
        for pattern in _PROJECT_FILES:
            known |= {f"{prefix}{file.relative_to(folder)}" for file in folder.glob(pattern)}
    for path in sorted(known):
        within = [path.removeprefix(prefix) for prefix in prefixes if path.startswith(prefix)]
        if any(_is_project_file(name) for name in within):
            yield path


def _is_project_file(name: str) -> bool:
    depth = name.count("/")
    if depth > 1:
        return False
    # A star of fnmatch would go through folders.
    return any(one.count("/") == depth and fnmatchcase(name, one) for one in _PROJECT_FILES)


def _mentions(revision: Revision, path: str) -> bool:
    """Whether a file changed that mentions the plugin or what it compiles and checks with, or did."""
    then, now = _then(revision, path), _now(revision, path)
    if then == now:
        return False
    # Names of packages may have either sign.
    both = b"\n".join((then or b"", now or b"")).lower().replace(b"_", b"-")
    return any(name in both for name in _MENTIONS)


def _differs(revision: Revision, path: str) -> bool:
    return _then(revision, path) != _now(revision, path)


def _then(revision: Revision, path: str) -> bytes | None:
    found = find(revision, path)
    return None if found is None else _with_line_feeds(found.data)


def _now(revision: Revision, path: str) -> bytes | None:
    file = revision.root / path
    try:
        return _with_line_feeds(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        # Unlike any text: what cannot be read is not known to be the same.
        return f"\0{error}".encode()


def _with_line_feeds(data: bytes) -> bytes:
    # Git may write other ends of lines than it keeps.
    return data.replace(b"\r\n", b"\n")
