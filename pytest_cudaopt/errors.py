"""The errors people read: what was looked at, what was expected, what was found, what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class SourceLocation:
    """A line of a user's file; `line` counts from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class CudaoptError(Exception):
    """Base of every error this package raises on purpose.

    `what` names the thing at fault (`softmax.cases[2].cols`); the other parts are optional sentences.
    """

    def __init__(
        self,
        what: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        next_step: str | None = None,
        at: SourceLocation | None = None,
    ) -> None:
        self.what = what
        self.expected = expected
        self.got = got
        self.next_step = next_step
        self.at = at
        super().__init__(what, expected, got, next_step, at)

    def __str__(self) -> str:
        text = self.what
        if self.expected is not None:
            text += f": expected {self.expected}"
        if self.got is not None:
            text += f"{',' if self.expected is not None else ':'} got {self.got}"
        if self.next_step is not None:
            text += f". {self.next_step}"
        return f"{self.at}: {text}" if self.at is not None else text

    @property
    def short(self) -> str:
        """What is at fault, and the first line of what was found there, or else what was expected."""
        lines = (self.got or "").splitlines()
        return f"{self.what}: {lines[0] if lines else self.expected}"

    def located(self, at: SourceLocation) -> CudaoptError:
        """Return the same error pointing at `at`, unless it already points somewhere."""
        if self.at is not None:
            return self
        return type(self)(
            self.what,
            expected=self.expected,
            got=self.got,
            next_step=self.next_step,
            at=at,
        )


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Ask for the nearest of the `known` names; None if none is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"Did you mean '{near[0]}'?" if near else None


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    """Say in a few words why a text file could not be read."""
    return f"not UTF-8: {error}" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)


class ExpressionError(CudaoptError):
    """An expression that cannot be parsed or evaluated."""


class DeclarationError(CudaoptError):
    """A `@kernel` declaration that contradicts itself or the file it names."""


class SourceError(CudaoptError):
    """A kernel source that is missing, or whose directives cannot be read."""


class LaunchError(CudaoptError):
    """A launch rule that gives no legal launch for some sizes."""


class ReferenceFault(CudaoptError):
    """A reference that raises, or leaves an output unwritten."""


class ReferenceRaised(ReferenceFault):
    """A reference that raises: at a size it is not meant for, perhaps."""


class ReferenceUnsupported(ReferenceFault):
    """A reference, itself a kernel, that the device cannot execute: nobody's fault."""


class SettingsError(CudaoptError):
    """An option, ini value or environment variable that makes no sense."""


class EnvironmentFault(CudaoptError):
    """Something this machine lacks: NVRTC, the harness, a device, a writable folder."""


class BaselineError(CudaoptError):
    """A baseline file that cannot be trusted, or that must not be replaced."""


class HarnessError(CudaoptError):
    """The harness and this package do not understand each other."""
