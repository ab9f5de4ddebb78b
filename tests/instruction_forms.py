"""The tables of instruction forms, and whether results agree with the oracle of their form."""

from __future__ import annotations

import forms_atomic
import forms_atomic_vector
import forms_bits
import forms_compare
import forms_control
import forms_convert
import forms_float
import forms_float_pairs
import forms_fp8
import forms_half
import forms_integer
import forms_masks
import forms_memory
import forms_move
import forms_pack
import forms_special
import forms_video
import forms_warp
import numpy as np
from ptx_runner import KINDS, Array, Form

_MODULES = (
    forms_atomic,
    forms_atomic_vector,
    forms_bits,
    forms_compare,
    forms_control,
    forms_convert,
    forms_float,
    forms_float_pairs,
    forms_fp8,
    forms_half,
    forms_integer,
    forms_masks,
    forms_memory,
    forms_move,
    forms_pack,
    forms_special,
    forms_video,
    forms_warp,
)
TABLES: dict[str, list[Form]] = {module.__name__: module.FORMS for module in _MODULES}


def expected_of(form: Form) -> list[Array]:
    results = form.expected(*form.inputs)
    if form.bound is not None:
        return [results]
    listed = results if isinstance(results, tuple) else (results,)
    return [
        np.asarray(each).view(KINDS[kind].unsigned) for each, kind in zip(listed, form.results, strict=True)
    ]


def agreement(form: Form, kind: str, expected: Array, got: Array) -> Array:
    if form.bound is None:
        return expected == got
    return form.bound(expected, got.view(KINDS[kind].dtype))
