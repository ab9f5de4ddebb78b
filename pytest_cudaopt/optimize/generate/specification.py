"""From a filled-in specification to `signature.json` and `input_cases.json`, as people write them. Pure."""

from __future__ import annotations

from typing import Any

from pytest_cudaopt.optimize.generate.forms import ParameterForm, SizeForm, SpecificationForm, ValuesForm

Json = dict[str, Any]
_ENDS = {
    "normal": ("mean", "deviation"),
    "uniform": ("low", "high"),
    "integers": ("low", "high"),
    "indices": (None, "high"),
    "permutation": (None, None),
}
_OF_NUMBERS = ("normal", "uniform")


def signature_json(form: SpecificationForm) -> Json:
    """Return the content of `signature.json`; whoever reads it says what is wrong with it."""
    work = {
        name: value for name, value in (("flops", form.flops), ("bytes", form.bytes)) if value is not None
    }
    return {
        "kernel": form.kernel,
        "description": form.description,
        "parameters": [_parameter(one) for one in form.parameters],
        "domain": {one.size: [one.least, one.most] for one in form.domain},
        "where": form.where,
        "tolerance": {"rtol": form.rtol, "atol": form.atol},
        **({"work": work} if work else {}),
    }


def cases_json(form: SpecificationForm) -> list[Json]:
    """Return the content of `input_cases.json`: the small ones first, each once."""
    cases: list[Json] = []
    for one in (*form.friendly, *form.awkward):
        cases.append({"sizes": _sizes(one)})
    cases += [{"sizes": _sizes(one), "measure": True} for one in form.measured]
    measured = [one["sizes"] for one in cases if "measure" in one]
    unlike = [one for number, one in enumerate(cases) if one not in cases[:number]]
    return [one for one in unlike if "measure" in one or one["sizes"] not in measured]


def _sizes(listed: list[SizeForm]) -> dict[str, int]:
    return {one.name: one.value for one in listed}


def _parameter(one: ParameterForm) -> Json:
    is_array = one.role not in ("size", "scalar")
    return {
        "name": one.name,
        "role": one.role if is_array else "scalar",
        "dtype": one.dtype,
        **({"shape": one.shape} if is_array else {}),
        **({"values": _values(one.values)} if one.values is not None and one.role in ("in", "inout") else {}),
        **({"value": one.value} if one.role == "scalar" and one.value is not None else {}),
    }


def _values(one: ValuesForm) -> Json:
    ends = zip(_ENDS[one.generator], (one.low, one.high), strict=True)
    given = {name: _end(one.generator, text) for name, text in ends if name is not None and text is not None}
    return {"generator": one.generator, **given}


def _end(generator: str, text: str) -> float | int | str:
    for read in (int, float) if generator in _OF_NUMBERS else (int,):
        try:
            return read(text)
        except ValueError:
            continue
    return text
