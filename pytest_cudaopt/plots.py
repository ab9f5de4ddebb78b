"""Pictures of a run, as bytes. Needs no display and opens no window."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours end at this factor in both directions at least, so that a run of 1 % differences looks like one.
_LEAST_FACTOR = 1.5
_GREATEST_FACTOR = 8.0
# Blue is faster, red slower, for colour-blind readers too.
_COLORS = "RdBu_r"
_NO_VALUE = "#e4e4e4"
_BEST = "#1a7f37"
_TALL_ROWS = 24


@dataclass(frozen=True)
class HeatmapRow:
    """One attempt: a value per column, None where there is none; `failure` says why all are missing."""

    label: str
    values: tuple[float | None, ...]
    is_best: bool = False
    failure: str | None = None


@dataclass(frozen=True)
class Heatmap:
    """Attempts (rows) by cases (columns); every value is a ratio to the start: below 1 is faster.

    With `last_is_total` the last column sums up the others and is set apart.
    """

    title: str
    quantity: str
    columns: tuple[str, ...]
    rows: tuple[HeatmapRow, ...]
    last_is_total: bool = False


@dataclass(frozen=True)
class Picture:
    """The same picture twice."""

    png: bytes
    svg: bytes


def draw_heatmap(heatmap: Heatmap) -> Picture:
    """Draw `heatmap`; the same one gives the same bytes."""
    import matplotlib as mpl

    # Fonts stay text in the SVG; the salt makes its ids, and so its bytes, repeatable.
    with mpl.rc_context({"svg.hashsalt": "cudaopt", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = _figure(heatmap)
        png, svg = io.BytesIO(), io.BytesIO()
        figure.savefig(png, format="png", metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return Picture(png.getvalue(), svg.getvalue())


def color_factor(heatmap: Heatmap) -> float:
    """Return the ratio at which the colours end: the largest one drawn, within fixed bounds."""
    ratios = [value for row in heatmap.rows for value in row.values if value is not None]
    largest = max((max(ratio, 1 / ratio) for ratio in ratios), default=1.0)
    return min(max(largest, _LEAST_FACTOR), _GREATEST_FACTOR)


def _figure(heatmap: Heatmap) -> Figure:
    from matplotlib.figure import Figure

    rows, columns = len(heatmap.rows), len(heatmap.columns)
    label_width = 0.085 * max(len(row.label) for row in heatmap.rows)
    row_height = 0.36 if rows <= _TALL_ROWS else 0.27
    width = max(6.0, label_width + 1.1 * columns + 1.9)
    height = max(3.0, row_height * rows + 0.03 * max(len(name) for name in heatmap.columns) + 1.0)
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    _draw_cells(axes, heatmap)
    _label_axes(figure, axes, heatmap)
    _draw_colorbar(figure, axes, heatmap)
    return figure


def _draw_cells(axes: Axes, heatmap: Heatmap) -> None:
    import numpy as np

    values = np.array(
        [[math.nan if value is None else value for value in row.values] for row in heatmap.rows]
    )
    axes.set_facecolor(_NO_VALUE)
    axes.imshow(np.ma.masked_invalid(values), cmap=_COLORS, norm=_norm(heatmap), aspect="auto")
    for number, row in enumerate(heatmap.rows):
        if row.failure is not None:
            _draw_failure(axes, number, len(row.values), row.failure)
            continue
        for column, value in enumerate(row.values):
            if value is not None:
                _write_value(axes, number, column, value, heatmap, bold=row.is_best)
        if row.is_best:
            _frame(axes, number, len(row.values))
    for boundary in range(1, len(heatmap.rows)):
        axes.axhline(boundary - 0.5, color="white", linewidth=1)
    for boundary in range(1, len(heatmap.columns)):
        before_total = heatmap.last_is_total and boundary == len(heatmap.columns) - 1
        axes.axvline(boundary - 0.5, color="white", linewidth=5 if before_total else 1)


def _draw_failure(axes: Axes, number: int, columns: int, failure: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle(
            (-0.5, number - 0.5),
            columns,
            1,
            facecolor=_NO_VALUE,
            edgecolor="#b0b0b0",
            hatch="////",
            linewidth=0,
        )
    )
    axes.text(
        (columns - 1) / 2,
        number,
        failure.replace("_", " "),
        ha="center",
        va="center",
        fontsize=8,
        color="#222222",
        bbox={"facecolor": _NO_VALUE, "edgecolor": "none", "pad": 1.5},
    )


def _write_value(axes: Axes, row: int, column: int, value: float, heatmap: Heatmap, *, bold: bool) -> None:
    # Dark cells lie at both ends of the scale.
    strength = abs(math.log(value)) / math.log(color_factor(heatmap))
    axes.text(
        column,
        row,
        f"{value:.2f}",
        ha="center",
        va="center",
        fontsize=8,
        fontweight="bold" if bold else "normal",
        color="white" if strength > 0.6 else "black",
    )


def _frame(axes: Axes, number: int, columns: int) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle(
            (-0.5, number - 0.5),
            columns,
            1,
            fill=False,
            edgecolor=_BEST,
            linewidth=2.5,
            zorder=5,
            clip_on=False,
        )
    )


def _label_axes(figure: Figure, axes: Axes, heatmap: Heatmap) -> None:
    figure.suptitle(heatmap.title, fontsize=10, x=0.02, ha="left")
    axes.set_xticks(range(len(heatmap.columns)), heatmap.columns, rotation=25, ha="right", fontsize=8)
    longest = max(len(row.label) for row in heatmap.rows)
    labels = [row.label.ljust(longest) + (" ★" if row.is_best else "  ") for row in heatmap.rows]
    axes.set_yticks(range(len(heatmap.rows)), labels, fontsize=8, family="monospace")
    axes.set_ylabel("attempt", fontsize=9)
    axes.set_xlabel("measured case", fontsize=9)
    axes.tick_params(length=0)
    for row, label in zip(heatmap.rows, axes.get_yticklabels(), strict=True):
        if row.is_best:
            label.set_color(_BEST)
            label.set_fontweight("bold")
    for spine in axes.spines.values():
        spine.set_visible(False)


def _draw_colorbar(figure: Figure, axes: Axes, heatmap: Heatmap) -> None:
    from matplotlib.ticker import NullLocator

    bar = figure.colorbar(axes.images[0], ax=axes, pad=0.02, fraction=0.05)
    ticks = _ticks(color_factor(heatmap))
    bar.set_ticks(ticks, labels=[f"{tick:.3g}x" for tick in ticks])
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.ax.tick_params(labelsize=8)
    bar.set_label(f"{heatmap.quantity}\n(below 1x is faster, ★ best)", fontsize=8)


def _norm(heatmap: Heatmap) -> Any:
    from matplotlib.colors import LogNorm

    factor = color_factor(heatmap)
    return LogNorm(1 / factor, factor)


def _ticks(factor: float) -> list[float]:
    steps = [1.0, 1.25, 1.5] if factor < 2 else [1.0, 2.0, 4.0, 8.0]
    up = [step for step in steps if step <= factor * 1.001]
    return sorted({*up, *(1 / step for step in up)})
