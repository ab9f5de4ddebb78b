"""A survey as a table for people and as data for programs."""

from __future__ import annotations

from pytest_cudaopt.adopt.obstacles import Obstacle
from pytest_cudaopt.adopt.survey import Survey, Surveyed

_COLUMNS = ("kernel", "line", "status", "registers", "shared", "signature")


def table(survey: Survey) -> str:
    """Return one line per kernel, then what is in the way."""
    rows = [_COLUMNS, *(_row(one) for one in survey.kernels)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_COLUMNS) - 1)]
    lines = ["  ".join([*(f"{c:<{w}}" for c, w in zip(row, widths, strict=False)), row[-1]]) for row in rows]
    obstacles = obstacle_lines(survey)
    return "\n".join([*lines, *(["", *obstacles] if obstacles else [])])


def obstacle_lines(survey: Survey) -> list[str]:
    """Return what is in the way: of all kernels first, then kernel by kernel."""
    lines = [f"{survey.file.name}: {obstacle}" for obstacle in survey.obstacles]
    for one in survey.kernels:
        lines += [f"{one.kernel.qualified}: {obstacle}" for obstacle in one.obstacles]
    return lines


def survey_json(survey: Survey) -> dict[str, object]:
    """Return the survey as data."""
    return {
        "schema": 1,
        "file": str(survey.file),
        "include": [str(folder) for folder in survey.compiled.include],
        "empty_headers": list(survey.compiled.stubs),
        "host_code": [list(lines) for lines in survey.compiled.host_code],
        "obstacles": [_obstacle_json(obstacle) for obstacle in survey.obstacles],
        "kernels": [_kernel_json(one) for one in survey.kernels],
    }


def _row(one: Surveyed) -> tuple[str, ...]:
    resources = one.confirmed.resources
    return (
        one.pattern.entry,
        str(one.kernel.line),
        one.status,
        "" if resources is None else str(resources.registers),
        "" if resources is None else f"{resources.static_shared_bytes} B",
        f"({_signature(one)})",
    )


def _signature(one: Surveyed) -> str:
    """Return the compiler's types, or the text's where it has none."""
    return ", ".join(one.confirmed.signature or [parameter.spelling for parameter in one.kernel.parameters])


def _kernel_json(one: Surveyed) -> dict[str, object]:
    resources = one.confirmed.resources
    return {
        "name": one.kernel.qualified,
        "line": one.kernel.line,
        "entry": one.pattern.entry,
        "compiled_as": one.pattern.concrete,
        "template": [
            {"name": p.name, "type": p.type, "default": p.default or None} for p in one.kernel.template
        ],
        "parameters": [{"name": p.name, "type": p.spelling} for p in one.kernel.parameters],
        "attributes": dict(one.kernel.attributes),
        "signature": list(one.confirmed.signature) if resources is not None else None,
        "registers": None if resources is None else resources.registers,
        "static_shared_bytes": None if resources is None else resources.static_shared_bytes,
        "spill_bytes": None
        if resources is None
        else resources.spill_store_bytes + resources.spill_load_bytes,
        "status": one.status,
        "error": one.confirmed.error or None,
        "obstacles": [_obstacle_json(obstacle) for obstacle in one.obstacles],
    }


def _obstacle_json(obstacle: Obstacle) -> dict[str, object]:
    return {
        "what": obstacle.what,
        "advice": obstacle.advice,
        "line": obstacle.line or None,
        "blocks": obstacle.blocks,
    }
