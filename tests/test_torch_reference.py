"""References in PyTorch, on a made-up PyTorch: what it is handed, and what is said without one."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, Out, Scalar, bf16, case, f8e5m2, f32, i32, kernel, torch_reference
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.reference import compute_expected


class Tensor:
    """An array that knows how it was made."""

    def __init__(self, array: Any, seen_as: str, device: str = "cpu") -> None:
        self.array, self.seen_as, self.device = array, seen_as, device

    def view(self, dtype: str) -> Tensor:
        return Tensor(self.array, dtype)

    def to(self, device: str) -> Tensor:
        return Tensor(self.array, self.seen_as, device)


def _from_numpy(array: Any) -> Tensor:
    assert array.flags.writeable, "PyTorch warns of such arrays"
    assert array.dtype.name in ("float64", "float32", "int16", "uint8", "int32"), "PyTorch knows no other"
    return Tensor(array, array.dtype.name)


@pytest.fixture
def made_up_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {name: name for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2")}
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(from_numpy=_from_numpy, **names))


def declare(function: Any, oracle: str = "float64", **options: Any) -> Kernel:
    @kernel("a.cu", cases=[case(n=4)], reference=torch_reference(function, **options))
    def mixed(
        x=In(f32, "n"),
        h=In(bf16, "n", oracle=oracle),
        e=In(f8e5m2, "n", oracle=oracle),
        y=Out(f32, "n"),
        n=i32,
        a=Scalar(f32, 0.5),
    ): ...

    return mixed


@pytest.mark.usefixtures("made_up_torch")
def test_arrays_become_tensors_and_scalars_stay_numbers() -> None:
    seen: dict[str, Any] = {}

    def reference(x, h, e, y, n, a):
        seen.update(x=x.seen_as, h=h.seen_as, e=e.seen_as, n=n, a=a, device=x.device)
        # As an assignment in place would.
        y.array[...] = x.array

    declared = declare(reference, "stored", device="cuda")
    bound = bind(declared, declared.cases[0])
    expected = compute_expected(declared, bound).arrays["y"]
    np.testing.assert_array_equal(expected, bound.arrays["x"].astype(np.float64))
    assert seen == {
        "x": "float64",
        "h": "bfloat16",
        "e": "float8_e5m2",
        "n": 4,
        "a": 0.5,
        "device": "cuda",
    }


def test_without_pytorch_the_machine_lacks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)

    def softmax(x):
        return x

    declared = declare(softmax)
    with pytest.raises(EnvironmentFault) as caught:
        compute_expected(declared, bind(declared, declared.cases[0]))
    assert str(caught.value).startswith("torch_reference(softmax): expected PyTorch, got ")
    assert "Install torch" in str(caught.value)
