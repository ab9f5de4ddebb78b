"""What a declaration says of the gate: which difference counts for its kernel."""

from __future__ import annotations

from dataclasses import fields

from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.gated import Thresholds

_EXAMPLE = "thresholds(effect=0.03, equivalence=0.05)"
_SHARES = ("bound", "effect", "equivalence")


def thresholds(
    *,
    alpha: float = Thresholds.alpha,
    bound: float = Thresholds.bound,
    effect: float = Thresholds.effect,
    equivalence: float = Thresholds.equivalence,
    modelled_fail: float = Thresholds.modelled_fail,
    modelled_warn: float = Thresholds.modelled_warn,
) -> Thresholds:
    """Declare which difference counts for a kernel, `gate=thresholds(effect=0.03)`.

    Shares of the earlier time, 0.015 is 1.5 %, but for `alpha`, the level of a one-sided bound, and the
    ratios of modelled latencies from which a case fails or is warned of. Raises DeclarationError.
    """
    made = Thresholds(alpha, bound, effect, equivalence, modelled_fail, modelled_warn)
    for name, value in given_thresholds(made, all_of_them=True).items():
        _require(name, value)
    if not made.bound <= made.effect < made.equivalence:
        got = f"{made.bound:g}, {made.effect:g}, {made.equivalence:g}"
        raise DeclarationError("thresholds()", expected="bound <= effect < equivalence", got=got)
    if made.modelled_warn > made.modelled_fail:
        got = f"{made.modelled_warn:g}, {made.modelled_fail:g}"
        raise DeclarationError("thresholds()", expected="modelled_warn <= modelled_fail", got=got)
    return made


def given_thresholds(made: Thresholds, *, all_of_them: bool = False) -> dict[str, float]:
    """Return those that differ from the usual ones, or all of them, by name."""
    values = {field.name: getattr(made, field.name) for field in fields(made)}
    usual = Thresholds()
    return {name: one for name, one in values.items() if all_of_them or one != getattr(usual, name)}


def declared_gate(given: object) -> Thresholds:
    """Return `gate=` as it was given, the usual thresholds for None; raise DeclarationError otherwise."""
    if given is None:
        return Thresholds()
    if isinstance(given, Thresholds):
        return given
    raise DeclarationError(
        "gate=", expected="thresholds(...)", got=repr(given), next_step=f"Write gate={_EXAMPLE}"
    )


def _require(name: str, value: object) -> None:
    what, low, high = "a ratio above 1", 1.0, float("inf")
    if name in _SHARES:
        what, low, high = "a share such as 0.015, above 0 and below 1", 0.0, 1.0
    if name == "alpha":
        what, low, high = "a probability above 0 and below 0.5", 0.0, 0.5
    if isinstance(value, int | float) and not isinstance(value, bool) and low < value < high:
        return
    raise DeclarationError(
        f"thresholds({name}=)", expected=what, got=repr(value), next_step=f"Write {_EXAMPLE}"
    )
