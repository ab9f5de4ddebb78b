"""The heatmap: drawn at any size, the same bytes for the same run, its words findable in the SVG."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_cudaopt.plots import Heatmap, HeatmapRow, color_factor, draw_heatmap

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def run_of(attempts: int) -> Heatmap:
    """Lay out a run in which attempt 2 is wrong and attempt 3 is best."""
    rows = [HeatmapRow("0  BLOCK=64", (1.0, 1.0, 1.0))]
    for number in range(1, attempts):
        if number == 2:
            rows.append(HeatmapRow("2  BLOCK=96", (None, None, None), failure="wrong_result"))
        else:
            rows.append(HeatmapRow(f"{number}  BLOCK=1", (0.5, 2.0, 1.0), is_best=number == 3))
    return Heatmap(
        "twice on sim", "modelled latency relative to the start", ("n1", "n2", "all"), tuple(rows), True
    )


@pytest.mark.parametrize("attempts", [1, 8, 41])
def test_a_run_of_any_length_is_drawn(attempts: int) -> None:
    picture = draw_heatmap(run_of(attempts))
    assert picture.png.startswith(PNG_SIGNATURE)
    assert b"</svg>" in picture.svg


def test_the_same_run_gives_the_same_bytes() -> None:
    assert draw_heatmap(run_of(8)) == draw_heatmap(run_of(8))


@pytest.mark.parametrize(
    "text",
    [
        "twice on sim",
        "modelled latency relative to the start",
        "0  BLOCK=64",
        "n1",
        "n2",
        "wrong result",
        "0.50",
        "★",
    ],
)
def test_the_picture_says_what_it_shows(text: str) -> None:
    assert text.encode() in draw_heatmap(run_of(8)).svg


def test_a_run_without_failures_names_none() -> None:
    assert b"wrong result" not in draw_heatmap(run_of(2)).svg


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1.0, 1.01), 1.5),  # small differences stay pale
        ((0.25, 1.0), 4.0),  # both directions count
        ((1.0, 3.0), 3.0),
        ((100.0, None), 8.0),  # one outlier does not wash out the rest
        ((None, None), 1.5),
    ],
)
def test_colours_reach_as_far_as_the_run_does(values: tuple[float | None, ...], expected: float) -> None:
    heatmap = Heatmap("", "", ("a", "b"), (HeatmapRow("0", values),))
    assert color_factor(heatmap) == pytest.approx(expected)


def test_no_window_system_is_touched() -> None:
    command = "import sys; from test_plots import *; draw_heatmap(run_of(2)); "
    command += "sys.exit('matplotlib.pyplot' in sys.modules)"
    here = Path(__file__).parent
    ended = subprocess.run(
        [sys.executable, "-c", command],
        cwd=here,
        env={"PYTHONPATH": f"{here}:{here.parent}"},
        check=False,
    )
    assert ended.returncode == 0
