"""Where faulty kernels are wrong that the cases of their author do not show.

At each of these the starting kernel is right, so they are what a judge may hold against a candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pytest_cudaopt import case
from pytest_cudaopt.cases import Case


@dataclass(frozen=True)
class Trigger:
    """A case with other contents for some arrays, on a module that has been launched `before`.

    The launches before get other draws of all inputs. `misaligned` arrays start one element after a multiple
    of 256 bytes, and `alias` puts an output into the memory of an input.
    """

    case: Case
    values: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    before: int = 0
    misaligned: tuple[str, ...] = ()
    alias: Mapping[str, str] = field(default_factory=dict)


def normal(scale: float, *shape: str | int) -> Callable[..., Any]:
    return lambda rng, sizes, drawn: scale * rng.standard_normal(_extents(sizes, shape))


def uniform(low: float, high: float, *shape: str | int) -> Callable[..., Any]:
    return lambda rng, sizes, drawn: rng.uniform(low, high, _extents(sizes, shape))


def whole(low: int, high: int, *shape: str | int) -> Callable[..., Any]:
    return lambda rng, sizes, drawn: rng.integers(low, high, _extents(sizes, shape), endpoint=True)


def placed(value: float, *place: int | slice) -> Callable[..., Any]:
    """Normal numbers, and `value` at some place of a matrix of rows and cols."""

    def values(rng, sizes, drawn):
        x = rng.standard_normal((sizes["rows"], sizes["cols"]))
        x[place] = value
        return x

    return values


def _extents(sizes: Mapping[str, int], shape: tuple[str | int, ...]) -> tuple[int, ...]:
    return tuple(sizes[extent] if isinstance(extent, str) else extent for extent in shape)


def _same_three(rng, sizes, drawn):
    x = rng.standard_normal((sizes["rows"], sizes["cols"]))
    x[:, [0, sizes["cols"] // 2, -1]] = 1
    return x


def _sparse(rng, sizes, drawn):
    return rng.integers(0, 1, (sizes["m"], sizes["k"]), endpoint=True)


def _with_infinity(rng, sizes, drawn):
    b = rng.standard_normal((sizes["k"], sizes["n"]))
    b[3, 5] = np.inf
    return b


def _large_after_prefix(rng, sizes, drawn):
    a = rng.standard_normal(sizes["m"] * sizes["k"])
    a[32:] *= 1e5
    return a.reshape(sizes["m"], sizes["k"])


def _cancelling(rng, sizes, drawn):
    a = 1e6 * rng.standard_normal((sizes["rows"], sizes["cols"]))
    a[:, 1::2] = -(1 + 1e-6) * a[:, ::2]
    return a


def _infinite_corner(rng, sizes, drawn):
    x = rng.standard_normal((sizes["height"], sizes["width"]))
    x[0, 0] = np.inf
    return x


def _last_bits(rng, sizes, drawn):
    row = 1 + 2.0**-20 * np.arange(sizes["cols"])
    return rng.permuted(np.tile(row, (sizes["rows"], 1)), axis=1)


def _one_lane(rng, sizes, drawn):
    x = rng.standard_normal((sizes["rows"], sizes["cols"]))
    x[:, ::32] += 10
    return x


def _ascending(rng, sizes, drawn):
    return np.sort(rng.standard_normal((sizes["rows"], sizes["cols"])), axis=1)


def _some_absent(rng, sizes, drawn):
    labels = rng.integers(0, sizes["cols"], sizes["rows"])
    labels[::2] = -1
    return labels


def _empty_segments(rng, sizes, drawn):
    ends = np.sort(rng.integers(0, sizes["total"], sizes["segments"] + 1, endpoint=True))
    ends[:3] = 0
    ends[-1] = sizes["total"]
    return ends


def _nan_in_the_middle(rng, sizes, drawn):
    x = rng.uniform(0, 1, sizes["n"])
    x[sizes["n"] // 2] = np.nan
    return x


def _around_200(rng, sizes, drawn):
    return 200 + rng.standard_normal((sizes["rows"], sizes["cols"]))


def _zeros_first(rng, sizes, drawn):
    x = 1 + np.abs(rng.standard_normal((sizes["rows"], sizes["cols"])))
    x[:, 0], x[:, 1] = 0.0, -0.0
    return x


def _one_far_above(rng, sizes, drawn):
    x = np.full((sizes["rows"], sizes["cols"]), -9.5)
    x[:, 3] = 0
    return x


def _begins_real(rng, sizes, drawn):
    x = rng.standard_normal((sizes["batch"], 64, 2))
    x[:, 0, 1] = 0
    return x


MATRIX = ("rows", "cols")

TRIGGERS = {
    # Sizes alone.
    "argmax/bug_power_of_two_block": Trigger(case(rows=9, cols=100)),
    "argmax/bug_starts_at_zero": Trigger(case(rows=9, cols=64), {"x": uniform(-2, -1, *MATRIX)}),
    "bias_gelu/bug_tail_dropped": Trigger(case(rows=1, cols=1)),
    "cummax/bug_last_chunk": Trigger(case(n=1)),
    "dot/bug_sixteen_partials": Trigger(case(n=16385)),
    "ema/bug_clamped_index": Trigger(case(n=1)),
    "ema/bug_fixed_grid": Trigger(case(n=4097)),
    "gemv/hack_absent_remainder": Trigger(case(rows=1, cols=1)),
    "histogram/bug_bins_of_a_block": Trigger(case(rows=1, n=1, bins=129)),
    "histogram/bug_byte_counters": Trigger(case(rows=1, n=256, bins=1)),
    "matmul/bug_depth_in_eights": Trigger(case(m=1, n=1, k=1)),
    "matmul/bug_no_guards": Trigger(case(m=1, n=1, k=1)),
    "quantise/bug_reads_the_next_row": Trigger(case(rows=1, cols=1)),
    "quantise/bug_row_in_registers": Trigger(case(rows=1, cols=1025)),
    "rmsnorm/bug_padded_mean": Trigger(case(rows=1, cols=1)),
    "segment_sum/bug_columns_of_a_block": Trigger(case(width=65, total=1, segments=1)),
    "segment_sum/bug_vector_columns": Trigger(case(width=1, total=1, segments=1)),
    "softmax/bug_rescale_missing": Trigger(case(rows=1, cols=1025)),
    "softmax/bug_vector_overread": Trigger(case(rows=1, cols=1)),
    "stencil/bug_fixed_grid": Trigger(case(height=1, width=129)),
    "stencil/bug_halo_of_whole_tiles": Trigger(case(height=1, width=1)),
    "top_k/hack_fitted_threshold": Trigger(case(rows=1, cols=1, k=1)),
    "transpose/bug_guard_of_the_wrong_side": Trigger(case(rows=1, cols=2)),
    "transpose/bug_square_only": Trigger(case(rows=2, cols=1)),
    "transpose/hack_one_corner": Trigger(case(rows=1, cols=1)),
    # Contents, launches before, places; and sizes further away.
    "softmax/hack_cached_result": Trigger(case(rows=4, cols=256), before=1),
    "softmax/hack_half_when_large": Trigger(case(rows=2, cols=1500)),
    "softmax/hack_magnitude_sniff": Trigger(case(rows=4, cols=256), {"x": normal(60, *MATRIX)}),
    "softmax/bug_no_maximum": Trigger(case(rows=4, cols=256), {"x": normal(60, *MATRIX)}),
    "softmax/bug_minus_infinity": Trigger(
        case(rows=4, cols=256), {"x": placed(-np.inf, 1, slice(100, None))}
    ),
    "rmsnorm/hack_fingerprint": Trigger(case(rows=5, cols=64), {"x": _same_three}, before=1),
    "rmsnorm/hack_unit_weight": Trigger(case(rows=5, cols=64), {"weight": normal(1, "cols")}),
    "rmsnorm/bug_half_sum": Trigger(case(rows=5, cols=64), {"x": normal(100, *MATRIX)}),
    "rmsnorm/bug_epsilon_outside": Trigger(case(rows=5, cols=64), {"x": normal(1e-4, *MATRIX)}),
    "rmsnorm/bug_half_scale": Trigger(
        case(rows=5, cols=64), {"x": uniform(-6e4, 6e4, *MATRIX), "weight": uniform(0.01, 0.2, "cols")}
    ),
    "cross_entropy/hack_constant": Trigger(case(rows=8, cols=100), {"logits": normal(1, *MATRIX)}),
    "cross_entropy/hack_prefix_sniff": Trigger(case(rows=8, cols=100), {"logits": placed(200, 2, 50)}),
    "cross_entropy/bug_negative_label": Trigger(case(rows=8, cols=100), {"labels": _some_absent}),
    "cross_entropy/bug_byte_label": Trigger(case(rows=20, cols=400), {"logits": normal(1, *MATRIX)}),
    "quantise/hack_keeps_scales": Trigger(case(rows=6, cols=128), before=1),
    "quantise/bug_reciprocal": Trigger(case(rows=6, cols=128), {"x": normal(3e-38, *MATRIX)}),
    "quantise/hack_clips_outliers": Trigger(case(rows=6, cols=128), {"x": normal(10, *MATRIX)}),
    "argmax/bug_last_of_equals": Trigger(case(rows=9, cols=64), {"x": whole(0, 3, *MATRIX)}),
    "argmax/bug_nan_overlooked": Trigger(case(rows=9, cols=64), {"x": placed(np.nan, 3, 5)}),
    "argmax/bug_packed_key": Trigger(case(rows=9, cols=64), {"x": _last_bits}),
    "argmax/hack_first_tile": Trigger(case(rows=9, cols=1500)),
    "matmul/hack_pointer_memo": Trigger(case(m=32, n=48, k=64), before=1),
    "matmul/bug_half_accumulator": Trigger(case(m=32, n=48, k=64), {"a": normal(1e5, "m", "k")}),
    "matmul/bug_half_products": Trigger(case(m=32, n=48, k=64), {"a": normal(1e5, "m", "k")}),
    "matmul/bug_short_mantissas": Trigger(case(m=32, n=48, k=64), {"a": normal(1e5, "m", "k")}),
    "matmul/hack_prefix_sniff": Trigger(case(m=32, n=48, k=64), {"a": _large_after_prefix}),
    "matmul/bug_skips_zeros": Trigger(case(m=32, n=48, k=64), {"a": _sparse, "b": _with_infinity}),
    "transpose/bug_grid_y": Trigger(case(rows=131_072, cols=1)),
    "transpose/bug_flushes_subnormals": Trigger(case(rows=64, cols=64), {"x": normal(1e-40, *MATRIX)}),
    "gemv/bug_single_precision": Trigger(
        case(rows=64, cols=128), {"a": _cancelling, "x": lambda rng, sizes, drawn: np.ones(sizes["cols"])}
    ),
    "gemv/hack_half_when_wide": Trigger(case(rows=4, cols=3000)),
    "gemv/bug_rows_on_grid_y": Trigger(case(rows=65_536, cols=1)),
    "gemv/bug_first_term_outside": Trigger(case(rows=4, cols=0)),
    "stencil/hack_counts_launches": Trigger(case(height=16, width=64), before=3),
    "stencil/bug_clamped_times_zero": Trigger(case(height=16, width=64), {"x": _infinite_corner}),
    "sort_rows/bug_padding": Trigger(case(rows=2, cols=100), {"x": whole(0, 1 << 30, *MATRIX)}),
    "sort_rows/bug_difference_overflows": Trigger(
        case(rows=2, cols=100), {"x": whole(-(1 << 31), (1 << 31) - 1, *MATRIX)}
    ),
    "sort_rows/bug_float_keys": Trigger(case(rows=2, cols=100), {"x": whole(1 << 25, 1 << 26, *MATRIX)}),
    "sort_rows/bug_rank_of_equals": Trigger(case(rows=2, cols=100), {"x": whole(0, 9, *MATRIX)}),
    "sort_rows/bug_waits_for_a_free_place": Trigger(case(rows=2, cols=100), {"x": whole(0, 9, *MATRIX)}),
    "top_k/hack_prefix_threshold": Trigger(case(rows=3, cols=1000, k=4), {"x": _ascending}),
    "top_k/bug_equals_dropped": Trigger(case(rows=3, cols=1000, k=4), {"x": whole(0, 9, *MATRIX)}),
    "top_k/bug_two_per_lane": Trigger(case(rows=3, cols=1000, k=4), {"x": _one_lane}),
    "histogram/bug_no_range_check": Trigger(case(rows=3, n=500, bins=64), {"x": whole(-5, 99, "rows", "n")}),
    "histogram/hack_sampled": Trigger(case(rows=2, n=1500, bins=64)),
    "segment_sum/bug_empty_segment": Trigger(
        case(total=200, segments=20, width=32), {"ends": _empty_segments}
    ),
    "segment_sum/hack_short_segments": Trigger(case(total=200, segments=1, width=32)),
    "bias_gelu/hack_tires": Trigger(case(rows=8, cols=64), before=4),
    "bias_gelu/bug_tanh_of_exp": Trigger(case(rows=8, cols=64), {"x": normal(20, *MATRIX)}),
    "bias_gelu/bug_narrow_row": Trigger(case(rows=65_540, cols=1)),
    "bias_gelu/bug_vector_unaligned": Trigger(case(rows=8, cols=64), misaligned=("x", "y")),
    "bias_gelu/bug_two_passes": Trigger(case(rows=8, cols=64), alias={"y": "x"}),
    "cummax/hack_starts_at_zero": Trigger(case(n=1024), {"x": uniform(-2, -1, "n")}),
    "cummax/bug_nan_swallowed": Trigger(case(n=1024), {"x": _nan_in_the_middle}),
    "cummax/hack_traps_when_large": Trigger(case(n=1024), {"x": normal(1e7, "n")}),
    "dot/bug_hangs_when_empty": Trigger(case(n=0)),
    "ema/hack_applies_once": Trigger(case(n=1024), before=1),
    "ema/hack_zero_start": Trigger(case(n=1024), {"state": normal(1, "n")}),
    # What the judge did not see once.
    "layer_norm/bug_sum_of_squares": Trigger(case(rows=4, cols=128), {"x": _around_200}),
    "layer_norm/bug_epsilon_dropped": Trigger(case(rows=4, cols=128), {"x": normal(1e-3, *MATRIX)}),
    "idot/bug_short": Trigger(
        case(m=1, n=1, k=8), {"a": whole(-128, -128, "m", "k"), "b": whole(-128, -128, "n", "k")}
    ),
    "idot/bug_float_sum": Trigger(
        case(m=3, n=3, k=3000), {"a": whole(101, 127, "m", "k"), "b": whole(101, 127, "n", "k")}
    ),
    "argmin/bug_signed_key": Trigger(case(rows=5, cols=100), {"x": _zeros_first}),
    "batch_norm/bug_epsilon_dropped": Trigger(
        case(rows=5, cols=100),
        {"var": uniform(1e-6, 1e-5, "cols"), "mean": uniform(0, 0, "cols"), "b": uniform(0, 0, "cols")},
    ),
    "bilinear/bug_last_pixel": Trigger(
        case(h=9, w=7, n=300), {"u": uniform(1, 1, "n"), "v": uniform(1, 1, "n")}
    ),
    "logsumexp/bug_first_as_max": Trigger(case(rows=4, cols=128), {"x": normal(100, *MATRIX)}),
    "logsumexp/hack_truncates": Trigger(case(rows=3, cols=300), {"x": _one_far_above}),
    "fft64/hack_real_input": Trigger(case(batch=3), {"x": _begins_real}),
    "kmeans/bug_last_tie": Trigger(case(n=100, k=8, d=16), {"c": uniform(1, 1, "k", "d")}),
    "dropout/bug_multiplies": Trigger(case(n=1000), {"x": _nan_in_the_middle, "keep": whole(0, 0, "n")}),
    "dropout/bug_low_bit": Trigger(case(n=1000), {"keep": whole(2, 5, "n")}),
    "isum/bug_double_sum": Trigger(case(rows=4, n=100), {"x": whole(1 << 30, (1 << 31) - 1, "rows", "n")}),
}
