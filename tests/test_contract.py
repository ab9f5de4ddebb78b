"""What a contract may say, and which cases keep it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_cudaopt import In, Out, case, f16, f32, i32, kernel
from pytest_cudaopt.contract import Contract
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError


def declare(**changes: Any) -> Kernel:
    """Declare a small kernel of sizes `n` and `m` with some arguments of `kernel` changed."""
    arguments = {"cases": [case(n=8, m=4)], **changes}

    @kernel("copy.cu", **arguments)
    def copy(x=In(f32, "n", "m"), y=Out(f32, "n", "m"), n=i32, m=i32):
        """Copy."""
        y[...] = x

    return copy


def test_a_declaration_keeps_its_contract() -> None:
    contract = declare(choices={"m": (8, 4)}, where=["n % m == 0"], domain={"n": (0, "2*m")}).contract

    assert contract.choices == (("m", (4, 8)),)
    assert [str(condition) for condition in contract.where] == ["n % m == 0"]
    assert [(name, str(range_)) for name, range_ in contract.domain] == [("n", "0..2*m")]


def test_without_one_every_case_keeps_it() -> None:
    assert declare().contract == Contract()
    assert Contract().violation({"n": 0}) is None


def test_conditions_may_be_joined_and_chosen() -> None:
    written = ["not n < m and (m > 1 or n == 0)", "where(n, m > 1, m == 0)"]
    assert [str(condition) for condition in declare(where=written).contract.where] == written


@pytest.mark.parametrize(
    "declared",
    [
        {"choices": {"hidden_sise": (4,)}},
        {"domain": {"hidden_sise": (1, 2)}},
        {"domain": {"m": (1, "hidden_sise")}},
        {"where": ["hidden_sise > 1"]},
        {"derive": {"ld": "hidden_sise + 1"}},
        {"rtol": "1e-6*hidden_sise"},
    ],
    ids=str,
)
def test_a_misspelt_size_is_told_what_it_is_near(declared: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError) as caught:
        declare(**{"sizes": ["hidden_size"], "cases": [case(n=8, m=4, hidden_size=2)], **declared})
    assert str(caught.value).endswith(
        "got 'hidden_sise'. Did you mean 'hidden_size'? Otherwise pass it as a parameter (hidden_sise=i32) "
        "or list it in sizes="
    )


def test_a_case_outside_is_numbered_as_written() -> None:
    with pytest.raises(DeclarationError, match=r"cases\[1\]: expected n % m == 0 \(where=\), got m=4, n=9"):

        @kernel(
            "copy.cu",
            entry="copy<{T}>",
            types={"T": (f16, f32)},
            cases=[case(n=8, m=4), case(n=9, m=4)],
            where=["n % m == 0"],
        )
        def copy(x=In("T", "n", "m"), y=Out("T", "n", "m"), n=i32, m=i32):
            y[...] = x


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"choices": {"m": ()}}, r"choices\['m'\]: expected at least one value, got none"),
        ({"choices": {"m": 4}}, r"choices\['m'\]: expected a list of integers >= 0, got 4"),
        ({"choices": {"m": (4, "8")}}, r"choices\['m'\]: expected integers >= 0, got '8'"),
        ({"choices": ["m"]}, r"choices=: expected a dictionary from size to values, got \['m'\]"),
        ({"choices": {"k": (4,)}}, r"choices\['k'\]: expected sizes among m, n, got 'k'. Pass it as a param"),
        ({"domain": {"n": (9, 3)}}, r"domain\['n'\]: expected least <= most, got \(9, 3\). Write \(3, 9\)"),
        ({"domain": {"n": (-1, 3)}}, r"domain\['n'\]: expected sizes >= 0, got -1"),
        ({"domain": {"n": 512}}, r"domain\['n'\]: expected a pair .*, got 512. Write it like \(1, 512\)"),
        ({"domain": {"n": (1, 2, 3)}}, r"domain\['n'\]: expected a pair \(least, most\), got \(1, 2, 3\)"),
        ({"domain": {"n": (1, "2 *")}}, r"domain\['n'\]: expression '2 \*': expected a number, a name"),
        ({"domain": {"k": (1, 2)}}, r"domain\['k'\]: expected sizes among m, n, got 'k'"),
        ({"domain": {"n": (1, "k")}}, r"domain\['n'\]: expected sizes among m, n, got 'k'"),
        ({"where": ["n % k == 0"]}, r"where: 'n % k == 0': expected sizes among m, n, got 'k'"),
        ({"where": "n > m"}, r"where=: expected a list of conditions, got 'n > m'. Write where=\['n > m'\]"),
        ({"where": [3]}, r"where\[0\]: expected a condition such as 'n % 4 == 0', got 3"),
        (
            {"where": ["n > 1", "m"]},
            r"where\[1\]: expected a comparison, .*, got 'm'. Compare it: 'n % 4 == 0'",
        ),
        ({"where": ["n > 1 and m"]}, r"where\[0\]: expected a comparison, .*, got 'n > 1 and m'"),
        ({"where": ["max(n > 1, m)"]}, r"where\[0\]: expected a comparison"),
        ({"where": ["where(n, m, m > 1)"]}, r"where\[0\]: expected a comparison"),
        ({"where": ["n >"]}, r"expression 'n >': expected a number"),
        (
            {"derive": {"ld": "n + 1"}, "domain": {"ld": (1, 3)}},
            r"domain\['ld'\]: expected sizes among m, n, got 'ld'. 'ld' is derived: constrain it with where=",
        ),
    ],
)
def test_what_cannot_be_a_contract_is_refused(declared: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        declare(**declared)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"choices": {"m": (64, 128)}}, r"cases\[1\]: expected m among 64, 128 \(choices=\), got m=5"),
        ({"domain": {"n": (1, 64)}}, r"cases\[1\]: expected n in 1..64 \(domain=\), got n=66"),
        ({"domain": {"n": ("m", 64)}}, r"cases\[1\]: expected n in m..64 \(domain=\), got n=66"),
        ({"where": ["n % m == 0"]}, r"cases\[1\]: expected n % m == 0 \(where=\), got m=5, n=66"),
        (
            {"where": ["ld % 2 == 0"], "derive": {"ld": "n + m"}},
            r"cases\[1\]: expected ld % 2 == 0 \(where=\), got ld=71",
        ),
    ],
)
def test_a_case_that_breaks_it_is_named_with_what_it_breaks(declared: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError, match=message) as caught:
        declare(cases=[case(n=64, m=64), case(n=66, m=5)], **declared)
    assert caught.value.at is not None


@pytest.mark.parametrize(
    ("declared", "named"),
    [
        ({"where": ["n % 2 == 0", "m > 1", "n % 2 == 1"]}, "'n % 2 == 0' and 'n % 2 == 1'"),
        ({"where": ["n >= 1000", "n + 1 < 1000"]}, "'n >= 1000' and 'n + 1 < 1000'"),
        ({"where": ["n > 7"], "domain": {"n": (1, 4)}}, "'n > 7' and 'n <= 4'"),
        ({"where": ["m > 8"], "choices": {"m": (2, 4)}}, "'m > 8' and 'choices['m']'"),
    ],
)
def test_conditions_that_contradict_each_other_are_named_at_once(
    declared: dict[str, Any], named: str
) -> None:
    with pytest.raises(DeclarationError, match="choices, where and domain: expected conditions") as caught:
        declare(**declared)
    assert caught.value.got == f"no sizes satisfy {named}"


def test_where_nothing_was_found_it_is_not_called_a_contradiction() -> None:
    with pytest.raises(DeclarationError) as caught:
        declare(where=["n < m", "m < n"])
    assert caught.value.got == "m=4, n=8"
    assert caught.value.next_step is not None
    assert caught.value.next_step.startswith("No sizes were found that satisfy 'n < m' and 'm < n'")
