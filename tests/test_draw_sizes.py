"""Sizes that keep a contract are built, whatever is picked."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pytest_cudaopt import expressions
from pytest_cudaopt.contract import Contract, Domain
from pytest_cudaopt.draw_sizes import construct, contradiction, space_of
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.size_space import Space

Derived = tuple[tuple[str, Expression], ...]


def derived(**texts: str) -> Derived:
    return tuple((name, expressions.parse(text)) for name, text in texts.items())


def space(
    *where: str,
    sizes: tuple[str, ...] = ("a", "b"),
    domain: Domain | None = None,
    choices: dict[str, tuple[int, ...]] | None = None,
    derive: Derived = (),
    largest: int = 500,
) -> tuple[Contract, Space]:
    contract = Contract.declared(choices, where, domain)
    return contract, space_of(contract, sizes, derive, dict.fromkeys(sizes, largest))


def drawn(found: Space, count: int = 40) -> list[dict[str, int]]:
    sizes = [construct(found, random.Random(seed).randint) for seed in range(count)]  # noqa: S311
    return [one for one in sizes if one is not None]


@pytest.mark.parametrize(
    ("contract", "found", "least_variety"),
    [
        (*space("a % b == 0"), 20),
        (*space("b <= a", "a % b == 0", "b % 8 == 0"), 20),
        (*space("a % 1024 == 0", largest=100_000), 20),
        (*space("not (a + b) % 7"), 20),
        (*space("(3 * a) % 5 == 2 and b != 4"), 20),
        (*space("a * b == 1000"), 5),
        (*space("a == 2 * b + 1"), 8),
        (*space("next_pow2(a) == a"), 8),
        (*space("a % 16 == 0", choices={"b": (64, 128)}), 20),
        (*space(domain={"a": (0, "b"), "b": (2, 300)}), 20),
        (*space("ld % 16 == 0", "ld >= a", derive=derived(ld="a + b")), 20),
        (*space("a % b == 0", "b % c == 0", "c >= 3", sizes=("a", "b", "c")), 20),
    ],
    ids=lambda value: " and ".join(map(str, value.constraints)) if isinstance(value, Contract) else None,
)
def test_every_draw_keeps_the_contract(contract: Contract, found: Space, least_variety: int) -> None:
    sizes = drawn(found)

    assert len(sizes) == 40
    assert [one for one in sizes if contract.violation(found.with_derived(one)) is not None] == []
    assert len({tuple(one.items()) for one in sizes}) >= least_variety


def test_without_a_domain_sizes_lie_from_one_to_twice_the_largest() -> None:
    values = [one["a"] for one in drawn(space(sizes=("a",), largest=300)[1], 200)]

    assert (min(values), max(values)) == (1, 600)


def test_zero_is_drawn_if_the_domain_has_it() -> None:
    values = [one["a"] for one in drawn(space(sizes=("a",), domain={"a": (0, 600)})[1], 100)]

    assert (min(values), max(values)) == (0, 600)


def test_edges_are_drawn_more_often_than_by_chance() -> None:
    found = replace(space(sizes=("a",), largest=30_000)[1], edges=(96,))
    values = {one["a"] for one in drawn(found, 300)}

    assert {1, 31, 32, 33, 95, 96, 97, 127, 128, 129, 255, 256, 257} <= values


def test_what_cannot_be_afforded_is_not_drawn() -> None:
    found = replace(space(largest=5000)[1], is_affordable=lambda sizes: sizes["a"] * sizes["b"] <= 999)
    sizes = drawn(found)

    assert len(sizes) == 40
    assert max(one["a"] * one["b"] for one in sizes) <= 999


def test_given_sizes_stay_as_they_are() -> None:
    found = replace(space("a % b == 0")[1], fixed=(("b", 24),))

    assert {one["a"] % 24 for one in drawn(found)} == {0}
    assert {one["b"] for one in drawn(found)} == {24}


def test_the_first_and_least_picks_give_the_simplest_sizes() -> None:
    assert construct(space("a % b == 0", "b >= 3")[1], lambda low, high: low) == {"a": 3, "b": 3}


def test_nothing_is_drawn_where_nothing_keeps_the_contract() -> None:
    assert drawn(space("a > 5", "a < 3")[1]) == []


@pytest.mark.parametrize(
    ("where", "found", "proved"),
    [
        (["a % 2 == 0", "b > 1", "a % 2 == 1"], "'a % 2 == 0' and 'a % 2 == 1'", True),
        (["a % 6 == 1", "a % 10 == 0"], "'a % 6 == 1' and 'a % 10 == 0'", True),
        (["a < b", "b < a"], "'a < b' and 'b < a'", False),
        (["a * a == 1018081"], "'a * a == 1018081'", False),
    ],
)
def test_a_contradiction_names_no_condition_too_many(where: list[str], found: str, proved: bool) -> None:
    result = contradiction(Contract.declared(None, where, None), ("a", "b"), ())

    assert result is not None
    assert (str(result), result.is_proved) == (found, proved)


@pytest.mark.parametrize(
    "where",
    [["a >= 1000000", "a % 4096 == 0"], ["a == 7 * b", "b % 9 == 1"], ["a * b == 4096", "a > b"], ["a == 0"]],
)
def test_conditions_that_go_together_are_no_contradiction(where: list[str]) -> None:
    assert contradiction(Contract.declared(None, where, None), ("a", "b"), ()) is None
