"""What silicon answered for every instruction form, as digests kept under `golden/`.

A file holds one table of `instruction_forms.py`: {"device", "forms": {id: [digest of text and inputs, digest
of the results]}}. Instructions that only have a bound have an empty second digest: silicon kept the bound.
A form the GPU does not have, or whose PTX its driver refuses, is absent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from golden_outputs import GOLDEN, WRITE_VARIABLE
from instruction_forms import agreement, expected_of
from ptx_runner import KINDS, Array, Form, Outcome, executing, module_text

DIRECTORY = "forms"
HOW_TO_WRITE = f"{WRITE_VARIABLE}=tests/golden/h200 pytest -m gpu tests/gpu/test_gpu_forms.py"
# ptxas 13.0 lets lanes write whose guard is false (H200); no compiler puts a guard on these.
_GUARD_IS_LOST = ("set.", "testp.", "vadd4.", "vsub4.")
# Its non-coherent path is for memory that nobody writes during the launch, which the table's kernels do.
_READ_ONLY = "ld.global.nc"
# cos(4.85969) of an H200 is off by 2^-20.478, where the PTX manual says 2^-20.5 at most.
_BEYOND_THE_MANUAL = frozenset({"cos.approx.f32", "cos.approx.ftz.f32"})
_KEPT = 16  # hexadecimal digits of a digest: enough to notice, few enough to keep

Recorded = dict[str, list[str]]


def question(form: Form) -> str:
    """Digest what the instruction is asked: its text and its operands."""
    parts = [module_text(form).encode(), *(array.tobytes() for array in form.inputs)]
    return _digest([*parts, repr(form.scalars).encode()])


def answer(form: Form, outcome: Outcome) -> str:
    """Digest the results, with one NaN for all of f32 and f64, whose payloads nobody promises."""
    if form.bound is not None:
        return ""
    some = () if form.name.startswith(_GUARD_IS_LOST) else outcome.some
    pairs = [*zip(form.results, outcome.whole, strict=True), *zip(form.results, some, strict=False)]
    return _digest([_comparable(kind, bits).tobytes() for kind, bits in pairs])


def agrees(form: Form, outcome: Outcome) -> bool:
    """Return whether silicon gave what the oracle says, or stayed within the bound."""
    expected = expected_of(form)
    for k, kind in enumerate(form.results):
        right = agreement(form, kind, expected[k], outcome.whole[k])
        same_nan = _comparable(kind, expected[k]) == _comparable(kind, outcome.whole[k])
        if not (right | same_nan).all() and form.id not in _BEYOND_THE_MANUAL:
            return False
        if form.guarded and not form.name.startswith(_GUARD_IS_LOST):
            kept = np.where(executing(len(right)), outcome.whole[k], KINDS[kind].sentinel)
            same = _comparable(kind, outcome.some[k]) == _comparable(kind, kept.astype(outcome.some[k].dtype))
            if not same.all():
                return False
    return True


def record(forms: Iterable[Form], execute: Callable[[Form], Outcome | None]) -> tuple[Recorded, list[str]]:
    """Return the digests, and the forms that disagree with their oracle; None: not on this device."""
    recorded: Recorded = {}
    disagreeing = []
    for form in forms:
        outcome = None if form.name.startswith(_READ_ONLY) else execute(form)
        if outcome is None:
            continue
        recorded[form.id] = [question(form), answer(form, outcome)]
        if not agrees(form, outcome):
            disagreeing.append(form.id)
    return recorded, disagreeing


def write(table: str, device: str, recorded: Recorded, folder: Path) -> Path:
    path = folder / DIRECTORY / f"{table}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(
        f"  {json.dumps(form)}: {json.dumps(digests)}" for form, digests in sorted(recorded.items())
    )
    path.write_text(f'{{"device": {json.dumps(device)}, "forms": {{\n{lines}\n}}}}\n')
    return path


def read_all(golden: Path = GOLDEN) -> dict[str, Recorded]:
    """Return what is kept, by the name of the device's folder."""
    kept: dict[str, Recorded] = {}
    for path in sorted(golden.glob(f"*/{DIRECTORY}/*.json")):
        contents: Mapping[str, Any] = json.loads(path.read_text())
        kept.setdefault(path.parent.parent.name, {}).update(contents["forms"])
    return kept


def differences(form: Form, outcome: Outcome, kept: Mapping[str, Recorded]) -> list[str]:
    """Say where these results are not those of silicon, or cannot be compared with them any more."""
    found = []
    for device, forms in kept.items():
        if form.id not in forms:
            continue
        asked, answered = forms[form.id]
        if asked != question(form):
            found.append(f"{form.id}: not the text and operands {device} had; write it again: {HOW_TO_WRITE}")
        elif answered != answer(form, outcome):
            found.append(f"{form.id}: other bits than on {device}")
    return found


def _comparable(kind: str, bits: Array) -> Array:
    """Return the bits with one NaN for all of f32 and f64."""
    if kind not in ("f32", "f64"):
        return bits
    floats = bits.view(np.float64 if kind == "f64" else np.float32)
    return np.where(np.isnan(floats), floats.dtype.type("nan"), floats).view(bits.dtype)


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:_KEPT]
