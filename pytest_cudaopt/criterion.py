"""What an output is judged by at one case: its tolerance as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_cudaopt.errors import DeclarationError, ExpressionError
from pytest_cudaopt.float_expressions import FloatExpression
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.tolerance import Tolerance, bound_at


@dataclass(frozen=True)
class Criterion:
    """What one output is judged by at one case: numbers, or with `exact` the bits of the reference."""

    rtol: float = 0.0
    atol: float = 0.0
    ulp: float = 0.0
    exact: bool = False


@dataclass(frozen=True)
class Slack:
    """What an output may miss: times its tolerance, units in the last place, an amount."""

    times: float = 1.0
    ulp: float = 0.0
    absolute: float = 0.0

    def on(self, strict: Criterion) -> Criterion:
        """Return the criterion with the slack; bits stay bits."""
        if strict.exact:
            return strict
        atol = max(strict.atol * self.times, self.absolute)
        return Criterion(strict.rtol * self.times, atol, max(strict.ulp, self.ulp))


def criterion(parameter: Parameter, kernel: Tolerance, sizes: Mapping[str, int]) -> Criterion:
    """Return what `parameter` is judged by: its own tolerance, else the kernel's, else its dtype's.

    The kernel's is for floats only; a declared `ulp` takes the place of the dtype's default. Raises
    DeclarationError where an expression has no value, or a negative one.
    """
    if parameter.exact:
        return Criterion(exact=True)
    own, dtype = parameter.judging.tolerance, parameter.dtype
    default = (0.0, 0.0) if own.ulp is not None else (dtype.rtol, dtype.atol)
    shared = kernel if dtype.is_float else Tolerance()

    def value(name: str, part: FloatExpression | None, fallback: float) -> float:
        try:
            return fallback if part is None else bound_at(part, sizes)
        except ExpressionError as error:
            raise DeclarationError(
                f"{name} of '{parameter.name}': {error.what}",
                expected=error.expected,
                got=error.got,
                next_step=f"Write it so that it is a number for all sizes, such as {name}='1e-3*sqrt(n)'",
            ) from error

    return Criterion(
        rtol=value("rtol", shared.rtol if own.rtol is None else own.rtol, default[0]),
        atol=value("atol", shared.atol if own.atol is None else own.atol, default[1]),
        ulp=own.ulp or 0.0,
    )
