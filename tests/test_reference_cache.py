"""Expectations on disk: served again where nothing changed, and never stale."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, Out, Scalar, bf16, case, f32, i32, kernel, reference_cache
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.expectation import Expectation
from pytest_cudaopt.reference_cache import cached_expectation, make_room

SOURCE = """
import numpy as np
FACTOR = 2.0
def helper(x):
    return np.exp(x) * FACTOR
def reference(x, y, rows, a):
    y[...] = helper(x) * a
    rows[:-1] = 7
"""


SMALL = case(n=4)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, for which every reference is slow enough."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(reference_cache, "WORTH_S", 0.0)
    return tmp_path / "pytest-cudaopt" / "reference"


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels whose references were run."""
    names: list[str] = []
    run = reference_cache.compute_expected

    def counting(kernel: Kernel, arguments: Any) -> Expectation:
        names.append(kernel.name)
        return run(kernel, arguments)

    monkeypatch.setattr(reference_cache, "compute_expected", counting)
    return names


def made(source: str = SOURCE) -> Callable[..., Any]:
    known: dict[str, Any] = {"__name__": "made"}
    exec(source, known)  # noqa: S102 - the test's own text
    function: Callable[..., Any] = known["reference"]
    return function


def declare(
    reference: Callable[..., Any] | None = None,
    one: Case = SMALL,
    *,
    values: Any = None,
    a: float = 0.5,
    oracle: str = "float64",
    unwritten: str = "kept",
) -> Kernel:
    @kernel("a.cu", cases=[one], reference=reference or made())
    def judged(
        x=In(f32, "n", values=values, oracle=oracle),
        y=Out(bf16, "n", oracle=oracle),
        rows=Out(i32, "n", unwritten=unwritten),
        n=i32,
        a=Scalar(f32, a),
    ): ...

    return judged


def expected(declared: Kernel) -> Expectation:
    return cached_expectation(declared, bind(declared, declared.cases[0]))


def entries(cache: Path) -> list[Path]:
    return sorted(cache.glob("*/*.npz"))


@pytest.mark.parametrize("oracle", ["float64", "stored"])
def test_what_was_computed_comes_back_bit_for_bit(cache: Path, computed: list[str], oracle: str) -> None:
    first, again = expected(declare(oracle=oracle)), expected(declare(oracle=oracle))
    assert computed == ["judged"]
    assert len(entries(cache)) == 1
    for name in ("y", "rows"):
        assert again.arrays[name].dtype == first.arrays[name].dtype
        assert again.arrays[name].tobytes() == first.arrays[name].tobytes()
        assert not again.arrays[name].flags.writeable
    assert again.unwritten["rows"].tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    "change",
    [
        lambda: declare(made(SOURCE.replace("* a", "* a + 1"))),
        lambda: declare(made(SOURCE.replace("np.exp(x)", "np.exp2(x)"))),
        lambda: declare(made(SOURCE.replace("FACTOR = 2.0", "FACTOR = 3.0"))),
        lambda: declare(one=case(n=5)),
        lambda: declare(one=case(n=4, seed=1)),
        lambda: declare(values=lambda rng, sizes, drawn: rng.uniform(0, 1, sizes["n"])),
        lambda: declare(a=0.25),
        lambda: declare(oracle="stored"),
        lambda: declare(unwritten="any"),
    ],
    ids=["body", "helper", "global", "sizes", "seed", "inputs", "scalar", "oracle", "unwritten"],
)
def test_nothing_stale_is_served(computed: list[str], change: Callable[[], Kernel]) -> None:
    expected(declare())
    changed = change()
    after = expected(changed)
    assert len(computed) == 2
    fresh = reference_cache.compute_expected(changed, bind(changed, changed.cases[0]))
    for name, array in fresh.arrays.items():
        assert after.arrays[name].tobytes() == array.tobytes()


def test_a_global_that_changes_between_two_cases_is_seen(computed: list[str]) -> None:
    function = made()
    before = expected(declare(function)).arrays["y"].copy()
    function.__globals__["FACTOR"] = 4.0  # type: ignore[attr-defined]
    np.testing.assert_array_equal(expected(declare(function)).arrays["y"], 2 * before)


def test_an_element_no_longer_allowed_to_be_unwritten_is_a_fault_again() -> None:
    expected(declare())
    with pytest.raises(Exception, match="got 1 of 4 left unwritten"):
        expected(declare(unwritten="error"))


def test_a_reference_that_cannot_be_followed_is_always_run(cache: Path, computed: list[str]) -> None:
    unknown = SOURCE.replace("np.exp(x)", "np.random.default_rng(1).normal(size=x.shape)")
    for _ in range(2):
        expected(declare(made(unknown)))
    assert computed == ["judged", "judged"]
    assert not cache.exists()


def test_a_quick_reference_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_cache, "WORTH_S", 1e9)
    expected(declare())
    assert not cache.exists()


def test_a_large_one_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_cache, "MOST_BYTES_EACH", 8)
    expected(declare())
    assert not cache.exists()


@pytest.mark.parametrize("damage", [b"", b"PK", None])
def test_a_damaged_entry_is_computed_again(cache: Path, computed: list[str], damage: bytes | None) -> None:
    first = expected(declare())
    (entry,) = entries(cache)
    content = bytearray(entry.read_bytes())
    content[content.find(b"NUMPY") + 130] ^= 1
    entry.write_bytes(bytes(content) if damage is None else damage)
    again = expected(declare())
    assert len(computed) == 2
    assert again.arrays["y"].tobytes() == first.arrays["y"].tobytes()
    expected(declare())
    assert len(computed) == 2


def test_the_entries_used_least_recently_make_room(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [declare(one=case(n=n)) for n in (4, 5, 6)]
    paths = []
    for age, declared in enumerate(kernels):
        expected(declared)
        (path,) = set(entries(cache)) - set(paths)
        os.utime(path, (1000 + age, 1000 + age))
        paths.append(path)
    # Used again, the oldest becomes the newest.
    expected(kernels[0])
    make_room(cache, sum(path.stat().st_size for path in paths) - 1)
    assert entries(cache) == sorted([paths[0], paths[2]])
    make_room(cache, 0)
    assert entries(cache) == []


def test_a_cache_that_cannot_be_written_fails_nothing(
    tmp_path: Path, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for _ in range(2):
        expected(declare())
    assert computed == ["judged", "judged"]
