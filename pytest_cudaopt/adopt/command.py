"""`cudaopt adopt FILE.cu`: list a file's kernels, or write a test module that declares them."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.adopt.listing import obstacle_lines, survey_json, table
from pytest_cudaopt.adopt.module_text import ModuleFacts, module_text
from pytest_cudaopt.adopt.obstacles import stub_patterns
from pytest_cudaopt.adopt.survey import Survey, Surveyed, survey
from pytest_cudaopt.device import open_device
from pytest_cudaopt.errors import SettingsError, SourceError

_MOST_NAMED = 20


@dataclass(frozen=True)
class Adopted:
    """What to print, and whether there is anything to go on with."""

    text: str
    is_useful: bool


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", metavar="FILE.cu")
    parser.add_argument(
        "--entry", metavar="NAME", action="append", default=[], help="only this kernel; may be repeated"
    )
    parser.add_argument(
        "--include", metavar="DIR", action="append", default=[], help="folder of headers; may be repeated"
    )
    parser.add_argument(
        "--output", metavar="FILE", help="test module to write; default: test_NAME.py beside it"
    )
    parser.add_argument("--force", action="store_true", help="write over the output if it exists")
    parser.add_argument("--list", action="store_true", help="list the kernels and write nothing")
    parser.add_argument("--json", action="store_true", help="list as JSON and write nothing")


def run(given: argparse.Namespace, environ: Mapping[str, str] = os.environ) -> Adopted:
    """Do what was asked; raise SourceError, SettingsError or EnvironmentFault for what prevents it."""
    file = Path(given.file)
    if file.is_dir():
        raise _no_file(file)
    lists = given.list or given.json
    output = None if lists else _output(file, given.output, force=given.force)
    include = [_folder(folder) for folder in given.include]
    with open_device("sim", environ=environ) as device:
        found = survey(file.absolute(), given.entry, include, device)
    if given.json:
        return Adopted(json.dumps(survey_json(found), indent=2), is_useful=True)
    if output is None:
        return Adopted(table(found), is_useful=True)
    return _write(found, output, include)


def _no_file(folder: Path) -> SourceError:
    sources = ", ".join(str(path) for path in sorted(folder.rglob("*.cu"))[:_MOST_NAMED]) or "none"
    return SourceError(
        f"{folder}",
        expected="a file, FILE.cu",
        got="a folder",
        next_step=f"Name one of its sources: {sources}",
    )


def _write(found: Survey, output: Path, include: list[Path]) -> Adopted:
    proposed = [one for one in found.kernels if one.proposal is not None]
    obstacles = obstacle_lines(found)
    in_the_way = ["In the way:", *(f"  {line}" for line in obstacles)] if obstacles else []
    if not proposed:
        return Adopted(
            "\n".join([f"{output} was not written: no kernel can be declared", *in_the_way]), False
        )
    folder = output.absolute().parent
    facts = ModuleFacts(
        source=_relative(found.file, folder),
        include=tuple(_relative(path, folder) for path in (*include, *found.compiled.include)),
        stub=stub_patterns(found.compiled.stubs),
        left_out=tuple(_left_out(one) for one in found.kernels if one.proposal is None),
    )
    text = module_text(facts, [one.proposal for one in proposed if one.proposal is not None])
    output.write_text(text, encoding="utf-8")
    names = ", ".join(one.kernel.qualified for one in proposed)
    todos = sum("TODO:" in line for line in text.splitlines())
    lines = [f"Wrote {output}: {names} ({todos} TODOs)", *in_the_way, "Next:"]
    lines += [f"  {number}. {step}" for number, step in enumerate(_next_steps(proposed, output), start=1)]
    return Adopted("\n".join(lines), is_useful=True)


def _next_steps(proposed: list[Surveyed], output: Path) -> list[str]:
    guessed = [
        one for one in proposed if one.proposal and one.proposal.launch and one.proposal.launch.is_default
    ]
    steps = [f"Write the references in {output}: NumPy, float inputs come as float64"]
    steps.append("Look at the guessed shapes and cases" + (" and launch rules" if guessed else ""))
    steps.append(f"Run: pytest {shlex.quote(str(output))} --cudaopt-device sim")
    return steps


def _left_out(one: Surveyed) -> str:
    reasons = "; ".join(str(obstacle) for obstacle in one.obstacles if obstacle.blocks)
    return f"TODO: {one.kernel.qualified} (line {one.kernel.line}) is left out: {reasons}"


def _output(file: Path, asked: str | None, *, force: bool) -> Path:
    stem = re.sub(r"\W", "_", file.stem)
    output = file.parent / f"test_{stem}.py" if asked is None else Path(asked)
    if not output.parent.is_dir():
        # A file that is not there is the better complaint when the folder is the file's own.
        if asked is None:
            return output
        raise SettingsError(
            f"--output {output}",
            expected="a folder that exists",
            got=f"no folder {output.parent}",
            next_step=f"Make it first: mkdir -p {shlex.quote(str(output.parent))}",
        )
    if output.is_dir():
        raise SettingsError(f"--output {output}", expected="a file", got="a folder")
    if output.exists() and not force:
        raise SettingsError(
            f"output {output}",
            expected="a file that does not exist yet",
            got="one that does",
            next_step="Write --force to replace it, or name another with --output",
        )
    return output


def _folder(text: str) -> Path:
    folder = Path(text).absolute()
    if not folder.is_dir():
        raise SettingsError(f"--include {text}", expected="a folder", got="none of that name")
    return folder


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
