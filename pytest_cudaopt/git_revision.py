"""Read-only access to a revision of a git repository, through the `git` program.

Nothing of the user's is run by it, neither hooks nor filters, and nothing is written.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_cudaopt.errors import EnvironmentFault, SettingsError, did_you_mean

_TIMEOUT_S = 60.0
_SHOWN_DIGITS = 10
# Set where git itself started this process, as in a hook; they would win over the folder that is asked about.
_LOCATING = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
)
_SETTINGS = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")


@dataclass(frozen=True)
class Revision:
    """A commit by the `name` that somebody gave it; `root` is the top folder of its working tree."""

    name: str
    commit: str
    root: Path

    def __str__(self) -> str:
        digits = self.commit[:_SHOWN_DIGITS]
        return digits if self.commit.startswith(self.name) else f"{self.name} ({digits})"


@dataclass(frozen=True)
class TreeEntry:
    """What a commit has at a path: `object_id` is a text's, or the commit of a submodule."""

    mode: str
    object_id: str

    @property
    def is_link(self) -> bool:
        return self.mode == "120000"

    @property
    def is_submodule(self) -> bool:
        return self.mode == "160000"


def resolve(folder: Path, name: str, option: str) -> Revision:
    """Return the commit that `name` stands for now in the repository of `folder`.

    Raises SettingsError, which names `option`, outside of a repository and for an unknown revision;
    EnvironmentFault without git.
    """
    asked = _git(folder, "rev-parse", "--show-toplevel")
    if asked.returncode != 0:
        raise _no_repository(folder, option, asked)
    root = Path(os.fsdecode(asked.stdout.removesuffix(b"\n")))
    commit = _commit(root, name)
    if commit is not None:
        return Revision(name, commit, root)
    raise SettingsError(
        option,
        expected=f"a revision of the git repository {root}",
        got=f"'{name}', which it does not have",
        next_step=_how_to_get(root, name),
    )


@lru_cache(maxsize=64)
def entries(revision: Revision) -> Mapping[str, TreeEntry]:
    """Return all that the commit has, by path from the root; raise EnvironmentFault if git cannot tell."""
    listed = _output(revision.root, "ls-tree", "-r", "-z", "--full-tree", revision.commit)
    found = {}
    for line in listed.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, object_id = facts.decode().split(" ")
        found[os.fsdecode(path)] = TreeEntry(mode, object_id)
    return found


@lru_cache(maxsize=1024)
def content(root: Path, object_id: str) -> bytes:
    """Return a file's bytes as they are in the repository; raise EnvironmentFault if git cannot read them."""
    return _output(root, "cat-file", "blob", object_id)


def decoded(data: bytes, errors: str = "strict") -> str:
    """Return text as reading it from a file gives it: no byte order mark, lines that end in a line feed.

    Raises UnicodeDecodeError for what is not UTF-8, unless `errors` says otherwise.
    """
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", errors=errors).read()


def _commit(root: Path, name: str) -> str | None:
    # To git an option, and everything but that revision.
    if not name or name.startswith(("-", "^")):
        return None
    named = _git(root, "rev-parse", "--verify", "--quiet", name)
    if named.returncode != 0:
        return None
    # In a call of its own: behind `:/words` it would be one of the words.
    found = _git(root, "rev-parse", "--verify", "--quiet", f"{named.stdout.decode().strip()}^{{commit}}")
    return found.stdout.decode().strip() if found.returncode == 0 else None


def _output(folder: Path, *arguments: str) -> bytes:
    ended = _git(folder, *arguments)
    if ended.returncode != 0:
        raise EnvironmentFault(
            f"git {' '.join(arguments)} in {folder}", expected="an answer", got=_complaint(ended)
        )
    return ended.stdout


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("git")
    if program is None:
        raise EnvironmentFault(
            "git", expected="the program on PATH", got="none", next_step="Install git: apt-get install git"
        )
    environment = {name: value for name, value in os.environ.items() if name not in _LOCATING}
    try:
        return subprocess.run(  # noqa: S603 - git, without a shell, on a folder and names that are checked
            [program, "--no-optional-locks", *_SETTINGS, "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            # Its messages are read below; it must not ask for passwords where nobody answers.
            env={**environment, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"},
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFault(
            f"git {' '.join(arguments)} in {folder}", expected=f"an answer in {_TIMEOUT_S:g} s", got="none"
        ) from error
    except OSError as error:
        raise EnvironmentFault(
            program, expected="a program that can be started", got=str(error.strerror)
        ) from error


def _no_repository(
    folder: Path, option: str, asked: subprocess.CompletedProcess[bytes]
) -> SettingsError | EnvironmentFault:
    complaint = _complaint(asked)
    if "not a git repository" in complaint:
        return SettingsError(option, expected="tests in a git repository", got=f"{folder}, which is in none")
    # Such as one that somebody else owns, where git says what to do.
    return EnvironmentFault(f"git in {folder}", expected="a repository that it reads", got=complaint)


def _how_to_get(root: Path, name: str) -> str:
    """Say what to do about a revision that is not there."""
    if name == "HEAD":
        return "It has no commit yet: commit something first"
    known = _output(root, "for-each-ref", "--format=%(refname:short)").decode(errors="replace").split()
    remotes = _output(root, "remote").decode(errors="replace").split()
    remote, _, branch = name.partition("/")
    if under_remote := next((f"{one}/{name}" for one in remotes if f"{one}/{name}" in known), None):
        return f"Did you mean '{under_remote}'?"
    is_remote = bool(branch) and remote in remotes
    if not is_remote and (meant := did_you_mean(name, known)):
        return meant
    if not remotes:
        return f"It has {', '.join(known) or 'no branch'}, and no remote to fetch others from"
    fetch = f"git fetch {remote} {branch}" if is_remote else f"git fetch origin {name}"
    is_shallow = _output(root, "rev-parse", "--is-shallow-repository").strip() == b"true"
    whole = "; this clone is shallow: git fetch --unshallow, or fetch-depth: 0 of actions/checkout"
    return f"Fetch it: {fetch}{whole if is_shallow else ''}"


def _complaint(ended: subprocess.CompletedProcess[bytes]) -> str:
    text = ended.stderr.decode(errors="replace").strip()
    return text or f"exit code {ended.returncode}"
