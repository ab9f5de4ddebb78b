"""What a declaration must keep: names that are known, and cases that fit them and the contract."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_cudaopt import instances
from pytest_cudaopt.case_checks import require_absent_allowed, require_arrays
from pytest_cudaopt.cases import RESERVED, Case, require_sizes
from pytest_cudaopt.contract import Contract, unknown_size
from pytest_cudaopt.criterion import criterion
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.declared_batch import require_batch
from pytest_cudaopt.draw_sizes import contradiction
from pytest_cudaopt.errors import DeclarationError, ExpressionError, did_you_mean
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.finding import BEYOND_LIMITS
from pytest_cudaopt.float_expressions import FloatExpression
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.reference_source import ReferenceSource
from pytest_cudaopt.tolerance import require_fitting


def require_sound(declared: Kernel, written: tuple[Case, ...]) -> None:
    """Raise DeclarationError for what cannot be checked; `written` are the cases before `types=`."""
    _require_names(declared)
    if not any(parameter.is_output for parameter in declared.parameters):
        raise DeclarationError("parameters", expected="at least one Out or InOut", got="none")
    _require_cases(declared, written)
    declared.contract.require_known(declared.sizes, dict(declared.derived))
    _require_kept(declared, written)
    _require_limits_of_waivers(declared)
    require_batch(declared)


def _require_limits_of_waivers(declared: Kernel) -> None:
    """Refuse a waiver of a limit where there are no limits: no item would say that it matches nothing."""
    waiver = next((one for one in declared.waivers if one.kind in BEYOND_LIMITS), None)
    if waiver is not None and declared.limits is None:
        raise DeclarationError(
            str(waiver), expected="limits=limits(...) beside it", got="none", next_step="Remove the waiver"
        )


def _require_names(declared: Kernel) -> None:
    known = {*declared.sizes, *dict(declared.derived)}
    if reserved := sorted(known & set(RESERVED)):
        raise DeclarationError("sizes", expected=f"none of {', '.join(RESERVED)}", got=reserved[0])
    taken = {*known, *RESERVED, *(parameter.name for parameter in declared.parameters)}
    entries = [declared.entry]
    if isinstance(declared.reference, ReferenceSource):
        entries.append(declared.reference.entry)
    for entry in entries:
        instances.require_known(entry, declared.types, declared.parameters, sorted(known), taken)
    for parameter in declared.parameters:
        for expression in getattr(parameter.values, "expressions", ()):
            _require_no_array(parameter, expression, declared)
        for expression in _expressions_of(parameter):
            _require_known(f"parameter '{parameter.name}': '{expression}'", expression, known)
    for name in declared.reference_sizes:
        if name not in known:
            raise DeclarationError(
                f"parameter '{name}' after *",
                expected=f"a size among {', '.join(sorted(known)) or 'none'}",
                got=f"'{name}'",
                next_step=did_you_mean(name, known) or f"List it in sizes=, or give {name} a marker",
            )
    for name, expression in declared.derived:
        _require_known(f"derive['{name}']", expression, known)
    for name, part in (("flops", declared.work.flops), ("bytes", declared.work.bytes)):
        if part is not None:
            _require_known(f"work({name}=)", part, known)
    _require_known_tolerances(declared, known)


def _expressions_of(parameter: Parameter) -> Iterator[Expression]:
    yield from parameter.shape
    yield from parameter.strides or ()
    if isinstance(parameter.value, Expression):
        yield parameter.value
    yield from getattr(parameter.values, "expressions", ())


def _require_cases(declared: Kernel, written: tuple[Case, ...]) -> None:
    if not declared.cases:
        raise DeclarationError(
            "cases", expected="at least one case(...)", got="none", next_step=_case_hint(declared)
        )
    for number, one in enumerate(written):
        instances.require_case_types(f"cases[{number}]", one, declared.types)
        require_sizes(f"cases[{number}]", one, dict.fromkeys(declared.sizes))
        require_absent_allowed(f"cases[{number}]", one, declared.parameters)
        _require_new(f"cases[{number}]", one, written[:number])
    for number, one in _numbered(declared, written):
        require_arrays(f"cases[{number}]", one, declared.at(one).parameters)
        _require_tolerances(declared, number, one)
    for position, one in enumerate(declared.cases):
        _require_new("cases", one, declared.cases[:position])


def _numbered(declared: Kernel, written: tuple[Case, ...]) -> Iterator[tuple[int, Case]]:
    """Yield every case with the number of the written one it comes from."""
    for number, one in enumerate(written):
        for typed in instances.with_types((one,), declared.types):
            yield number, typed


def _require_new(what: str, one: Case, others: tuple[Case, ...]) -> None:
    if one in others:
        raise DeclarationError(
            what,
            expected="a case that differs from the others",
            got=f"{one} a second time",
            next_step="Remove it, or give it another seed=",
            at=one.at,
        )


def _require_known_tolerances(declared: Kernel, known: set[str]) -> None:
    own = ((f" of '{p.name}'", p.judging.tolerance) for p in declared.parameters)
    for whose, tolerance in (("", declared.tolerance), *own):
        for name, bound in (("rtol", tolerance.rtol), ("atol", tolerance.atol)):
            if bound is not None:
                _require_known(f"{name}{whose}: '{bound}'", bound, known)


def _require_tolerances(declared: Kernel, number: int, one: Case) -> None:
    """Refuse a case at which a derived size or a tolerance is no number, or fits no dtype it chooses."""
    for parameter in declared.at(one).outputs:
        try:
            require_fitting(parameter.dtype, parameter.judging.tolerance)
            criterion(parameter, declared.tolerance, declared.all_sizes(one))
        except (DeclarationError, ExpressionError) as error:
            raise DeclarationError(
                f"cases[{number}] ({one}): {error.what}",
                expected=error.expected,
                got=error.got,
                next_step=error.next_step,
                at=one.at,
            ) from error


def _require_kept(declared: Kernel, written: tuple[Case, ...]) -> None:
    """Refuse cases outside the contract, and a contract that nothing can keep."""
    if declared.contract == Contract():
        return
    for number, one in _numbered(declared, written):
        broken = declared.contract.violation(declared.all_sizes(one))
        if broken is None:
            continue
        # A case that keeps the contract shows that it can be kept; only without one there is a question.
        found = contradiction(declared.contract, declared.sizes, declared.derived)
        if found is not None and found.is_proved:
            raise DeclarationError(
                "choices, where and domain",
                expected="conditions that some sizes satisfy",
                got=f"no sizes satisfy {found}",
                next_step="Remove or correct one of them",
            )
        hint = "Change the case, or the declaration it contradicts"
        if found is not None:
            hint = f"No sizes were found that satisfy {found}: they may contradict each other"
        raise DeclarationError(
            f"cases[{number}]", expected=broken[0], got=broken[1], next_step=hint, at=one.at
        )


def _require_no_array(parameter: Parameter, expression: Expression, declared: Kernel) -> None:
    arrays = sorted(expression.names & {other.name for other in declared.parameters if other.is_array})
    if arrays:
        raise DeclarationError(
            f"parameter '{parameter.name}': '{expression}'",
            expected="an expression over sizes",
            got=f"the array '{arrays[0]}'",
            next_step=f"Draw it with a callable (rng, sizes, drawn), which finds drawn['{arrays[0]}']",
        )


def _require_known(what: str, expression: Expression | FloatExpression, known: set[str]) -> None:
    if unknown := sorted(expression.names - known):
        raise unknown_size(what, unknown[0], known, known)


def _case_hint(declared: Kernel) -> str:
    sizes = ", ".join(f"{name}=..." for name in declared.sizes)
    return f"Write cases=[case({sizes})]"
