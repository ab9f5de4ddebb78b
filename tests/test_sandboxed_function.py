"""A reference from a file that nobody has read: it runs in the sandbox, and is told apart everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_cudaopt import In, Out, case, f32, i32, kernel, sandboxed
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError, ReferenceRaised
from pytest_cudaopt.fingerprint import fingerprint
from pytest_cudaopt.optimize import describe
from pytest_cudaopt.reference import compute_expected

DOUBLES = "def scale(x):\n    return 2 * x\n"


def scaling(folder: Path, source: str = DOUBLES, function: str = "scale") -> Kernel:
    (folder / "ref.py").write_text(source)

    @kernel(
        str(folder / "scale.cu"),
        cases=[case(n=5)],
        reference=sandboxed(str(folder / "ref.py"), function, origin="generated"),
    )
    def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        """Double it."""

    return scale


def test_it_is_called_as_any_reference(tmp_path: Path) -> None:
    made = scaling(tmp_path)
    bound = bind(made, made.cases[0])

    assert np.array_equal(compute_expected(made, bound).arrays["y"], 2.0 * bound.arrays["x"])


@pytest.mark.parametrize(
    "source",
    ["def scale(x, y, n):\n    y[:] = 2 * x\n", "def scale(y, x):\n    return {'y': 2 * x}\n"],
    ids=["in place", "by name"],
)
def test_outputs_are_written_or_returned(tmp_path: Path, source: str) -> None:
    made = scaling(tmp_path, source)
    bound = bind(made, made.cases[0])

    assert np.array_equal(compute_expected(made, bound).arrays["y"], 2.0 * bound.arrays["x"])


def test_what_it_does_otherwise_is_an_error_of_the_reference(tmp_path: Path) -> None:
    outside = tmp_path / "there"
    made = scaling(tmp_path, f"def scale(x):\n    open({str(outside)!r}, 'w')\n    return 2 * x\n")

    with pytest.raises(ReferenceRaised, match=r"ref\.py: the function raised PermissionError at line 2"):
        compute_expected(made, bind(made, made.cases[0]))

    assert not outside.exists()


@pytest.mark.parametrize(
    ("source", "function", "said"),
    [
        (DOUBLES, "scales", "expected a function 'scales', got scale"),
        ("def scale(x:\n", "scale", "expected Python, got line 1"),
    ],
)
def test_a_file_without_that_function_is_told(tmp_path: Path, source: str, function: str, said: str) -> None:
    made = scaling(tmp_path, source, function)

    with pytest.raises(DeclarationError, match=said):
        compute_expected(made, bind(made, made.cases[0]))


def test_it_says_where_it_is_from_and_what_it_is(tmp_path: Path) -> None:
    made = scaling(tmp_path)

    assert made.reference_origin == "generated"
    assert describe.reference_module(made) == DOUBLES
    # What it gave once is not remembered: the file may change.
    assert callable(made.reference)
    assert fingerprint(made.reference) is None
