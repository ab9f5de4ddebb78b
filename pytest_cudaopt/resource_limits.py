"""Limits on what a compiled kernel may take: exact on any machine, by a compiler and no clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from pytest_cudaopt.errors import DeclarationError

# Of what a thread can have.
_MOST_REGISTERS = 255
# What a field of 32 bits can say.
_MOST_BYTES = (1 << 32) - 1
_EXAMPLE = "limits(registers=64, spill_bytes=0)"


@dataclass(frozen=True)
class ResourceLimits:
    """The most that a kernel may take; None is no limit. Registers and stack are a thread's.

    `spill_bytes` are those of the code's spill stores and loads together, `shared_bytes` the static and the
    dynamic ones of a block at any declared case.
    """

    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    stack_bytes: int | None = None

    @property
    def given(self) -> Mapping[str, int]:
        """The limits there are, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def __str__(self) -> str:
        """Write it as a declaration has it."""
        return f"limits({', '.join(f'{name}={value}' for name, value in self.given.items())})"


def limits(
    *,
    registers: int | None = None,
    spill_bytes: int | None = None,
    shared_bytes: int | None = None,
    stack_bytes: int | None = None,
) -> ResourceLimits:
    """Declare the most that a kernel may take, by the compiler's own numbers for the device's architecture.

    `registers` and `stack_bytes` are per thread; `spill_bytes` counts stores and loads; `shared_bytes` is per
    block, the launch rule's part included. Raises DeclarationError.
    """
    made = ResourceLimits(registers, spill_bytes, shared_bytes, stack_bytes)
    if not made.given:
        raise DeclarationError(
            "limits()", expected="at least one limit", got="none", next_step=f"Write {_EXAMPLE}"
        )
    for name, value in made.given.items():
        _require(name, value)
    return made


def _require(name: str, value: object) -> None:
    known = range(1, _MOST_REGISTERS + 1) if name == "registers" else range(_MOST_BYTES + 1)
    if isinstance(value, int) and not isinstance(value, bool) and value in known:
        return
    what = "registers of a thread" if name == "registers" else "bytes"
    raise DeclarationError(
        f"limits({name}=)", expected=f"a number of {what}, {known[0]} to {known[-1]}", got=repr(value)
    )


def declared_limits(given: object) -> ResourceLimits | None:
    """Return `limits=` as it was given; raise DeclarationError if it is something else."""
    if given is None or isinstance(given, ResourceLimits):
        return given
    raise DeclarationError(
        "limits=", expected="limits(...)", got=repr(given), next_step=f"Write limits={_EXAMPLE}"
    )
