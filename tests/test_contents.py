"""Other contents of the arrays: drawn, written, bounded, and left out with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_kernels import axpy

from pytest_cudaopt import Constant, In, InOut, Out, Scalar, case, contents, f32, i32, kernel, uniform
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.contents import Contents, draw_contents
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.reference import compute_expected


def draw(kernel: Kernel, folder: Path) -> Contents:
    one = kernel.cases[0]
    bound = bind(kernel, one)
    return draw_contents(kernel, one, bound, folder, "stem", lambda drawn, _: compute_expected(kernel, drawn))


def stored(file: Path) -> Any:
    return np.fromfile(file, np.float32)


def filled(values: Callable[..., Any] | None, **more: Any) -> Kernel:
    @kernel("none.cu", cases=[case(n=50)])
    def filled(x=In(f32, "n", values=values), y=Out(f32, "n"), n=i32):
        y[...] = 2 * x

    return filled


def test_two_other_draws_are_written_and_the_held_out_one_has_its_expectation(tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    drawn = draw(kernel, tmp_path)
    own = bind(kernel, kernel.cases[0]).arrays["x"]
    other, held_out = stored(drawn.other["x"]), stored(drawn.held_out["x"])
    assert not np.array_equal(own, other)
    assert not np.array_equal(own, held_out)
    assert not np.array_equal(other, held_out)
    assert drawn.expected is not None
    np.testing.assert_array_equal(drawn.expected.arrays["y"], 0.5 * held_out.astype(np.float64) + 1)
    assert (drawn.note, drawn.file_bytes) == ("", 800)
    assert drawn.held_out_case is not None
    np.testing.assert_array_equal(bind(kernel, drawn.held_out_case).arrays["x"], held_out)
    assert drawn.held_bytes == 800 + 100 * 8


def test_the_same_case_draws_the_same_contents_again(tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    first = stored(draw(kernel, tmp_path).held_out["x"])
    assert np.array_equal(first, stored(draw(kernel, tmp_path).held_out["x"]))


def test_the_launch_stays_the_same_whatever_is_drawn(tmp_path: Path) -> None:
    @kernel("none.cu", cases=[case(n=5)])
    def scaled(x=In(f32, "n"), y=InOut(f32, "n"), n=i32, a=Scalar(f32, values=uniform(1, 2))):
        y += a * x

    a = bind(scaled, scaled.cases[0]).scalars["a"]
    drawn = draw(scaled, tmp_path)
    assert set(drawn.held_out) == {"x", "y"}
    x, y = (stored(drawn.held_out[name]).astype(np.float64) for name in "xy")
    assert drawn.expected is not None
    np.testing.assert_array_equal(drawn.expected.arrays["y"], y + np.float64(a) * x)
    # It would draw another `a`.
    assert drawn.held_out_case is None


def test_values_that_cannot_differ_are_not_written(tmp_path: Path) -> None:
    drawn = draw(filled(lambda rng, sizes, drawn: np.full(50, np.nan)), tmp_path)
    assert (drawn.files, drawn.expected, drawn.note) == ((), None, "")
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_without_inputs_has_no_other_contents(tmp_path: Path) -> None:
    @kernel("none.cu", cases=[case(n=5)])
    def numbered(y=Out(i32, "n"), n=i32):
        y[...] = np.arange(n)

    assert draw(numbered, tmp_path).files == ()


@pytest.mark.parametrize(
    ("both_bytes", "held_out_bytes", "draws"),
    [(800, 400, 2), (799, 400, 1), (0, 399, 0)],
    ids=["both", "held-out", "none"],
)
def test_large_inputs_get_fewer_draws(
    both_bytes: int, held_out_bytes: int, draws: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "BOTH_BYTES", both_bytes)
    monkeypatch.setattr(contents, "HELD_OUT_BYTES", held_out_bytes)
    drawn = draw(axpy(tmp_path), tmp_path)
    assert (len(drawn.files), bool(drawn.held_out)) == (draws, draws > 0)
    assert drawn.note == ("" if draws else "timed on one set of inputs: another would take 0.0 GB")


def only_once() -> Callable[..., Any]:
    calls: list[int] = []

    def values(rng: Any, sizes: Any, drawn: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            raise RuntimeError("once is enough")
        return rng.normal(size=50).astype(np.float32)

    return values


def test_inputs_that_cannot_be_drawn_twice_are_a_note(tmp_path: Path) -> None:
    drawn = draw(filled(only_once()), tmp_path)
    assert drawn.expected is None
    assert drawn.note.startswith("timed on one set of inputs: another could not be made (filled.x at")


def test_a_reference_that_refuses_other_inputs_is_a_note_and_leaves_no_files(tmp_path: Path) -> None:
    def refuse(x: Any, y: Any, n: int, a: float) -> None:
        raise ValueError("not these")

    drawn = draw(axpy(tmp_path, reference=refuse), tmp_path)
    assert "(reference of kernel 'axpy')" in drawn.note
    assert list(tmp_path.glob("stem*")) == []


def test_a_full_folder_is_a_note(tmp_path: Path) -> None:
    drawn = draw(axpy(tmp_path), tmp_path / "absent")
    assert "another could not be made (scratch file" in drawn.note


def test_contents_are_drawn_once_and_only_when_asked_for(sim: Device, tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    prepared = prepare(kernel, kernel.cases[0], sim)
    before, held = set(sim.scratch.iterdir()), prepared.held_bytes
    assert prepared.contents is prepared.contents
    assert set(sim.scratch.iterdir()) - before == set(prepared.contents.files)
    assert prepared.held_bytes == held + prepared.contents.held_bytes
    prepared.remove_files()
    assert not any(file.exists() for file in (*prepared.files.values(), *prepared.contents.files))


def test_constants_stay_those_of_the_case_and_later_arrays_see_them(tmp_path: Path) -> None:
    @kernel("none.cu", cases=[case(n=50)])
    def shifted(
        w=Constant(f32, 2),
        x=In(f32, "n", values=lambda rng, sizes, drawn: rng.normal(size=50) + drawn["w"][0]),
        seen=In(f32, 2, values=lambda rng, sizes, drawn: drawn["w"]),
        y=Out(f32, "n"),
        n=i32,
    ):
        y[...] = w[0] * x

    drawn = draw(shifted, tmp_path)
    w = bind(shifted, shifted.cases[0]).arrays["w"].astype(np.float64)
    assert set(drawn.held_out) == set(drawn.other) == {"x"}
    assert drawn.expected is not None
    np.testing.assert_array_equal(drawn.expected.arrays["y"], w[0] * stored(drawn.held_out["x"]))
    assert drawn.held_out_case is None


def test_contents_with_strides_are_written_as_they_lie_in_memory(tmp_path: Path) -> None:
    @kernel("none.cu", cases=[case(n=3)])
    def spread(x=In(f32, "n", strides=(4,)), y=Out(f32, "n"), n=i32):
        y[...] = 2 * x

    drawn = draw(spread, tmp_path)
    assert drawn.expected is not None
    buffer = stored(drawn.held_out["x"])
    assert buffer.size == 9
    np.testing.assert_array_equal(drawn.expected.arrays["y"], 2 * buffer[::4].astype(np.float64))
    assert np.isnan(buffer[1:4]).all()


def test_gaps_count_where_inputs_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @kernel("none.cu", cases=[case(n=10)])
    def spread(x=In(f32, "n", strides=(100,)), y=Out(f32, "n"), n=i32):
        y[...] = x

    buffer_bytes = 4 * (1 + 9 * 100)
    assert bind(spread, spread.cases[0]).input_bytes == buffer_bytes
    monkeypatch.setattr(contents, "HELD_OUT_BYTES", buffer_bytes)
    assert draw(spread, tmp_path).note == ""
    monkeypatch.setattr(contents, "HELD_OUT_BYTES", buffer_bytes - 1)
    assert "another would take" in draw(spread, tmp_path).note


def test_a_constant_of_a_dtype_by_name_is_drawn_with_a_seed_too(tmp_path: Path) -> None:
    @kernel("none.cu", entry="f<{T}>", types={"T": f32}, cases=[case(n=10)])
    def scaled(x=In("T", "n"), y=Out("T", "n"), taps=Constant("T", 2), n=i32):
        y[...] = taps[0] * x

    drawn = draw(scaled, tmp_path)
    assert set(drawn.held_out) == {"x"}
    assert drawn.held_out_case is None
