"""The text of the test module that declares adopted kernels, formatted as ruff would."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pytest_cudaopt.adopt.marking import Marked
from pytest_cudaopt.adopt.proposal import Proposal

_WIDTH = 110
_IMPORTED = re.compile(
    r"\b(In|InOut|Out|Scalar|Constant|Struct|f8e4m3|f8e5m2|bool_|b?f16|f(?:32|64)|[iu](?:8|16|32|64))\b"
)
_STRING = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class ModuleFacts:
    """What all declarations of the module share; `source` and `include` are relative to it.

    `left_out` are kernels without a declaration, each with the reason.
    """

    source: str
    include: tuple[str, ...] = ()
    stub: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def module_text(facts: ModuleFacts, proposals: Sequence[Proposal]) -> str:
    """Return a module that declares `proposals`; kernels of one name get a number behind it."""
    functions: list[str] = []
    declarations: list[str] = []
    taken = {proposal.function for proposal in proposals}
    for proposal in proposals:
        name = _free_name(proposal.function, functions, taken)
        functions.append(name)
        declarations.append(_declaration(facts, proposal, name))
    body = "\n\n\n".join(declarations)
    name = facts.source.rpartition("/")[2]
    head = f'"""Kernels of {name}. Written by `cudaopt adopt`: what a TODO stands beside is a guess."""\n'
    left_out = "".join(f"\n{_comment(line)}\n" for line in facts.left_out)
    return f"{head}\n{_imports(body)}\n\n\n{body}\n" + (f"\n{left_out}" if left_out else "")


def _free_name(function: str, used: Sequence[str], taken: Collection[str]) -> str:
    """Return a name that no other function of the module has: two of one name would replace each other."""
    if function not in used:
        return function
    numbered = (f"{function}_{number}" for number in range(2, len(used) + len(taken) + 3))
    return next(name for name in numbered if name not in used and name not in taken)


def _imports(body: str) -> str:
    code = "\n".join(_STRING.sub("", line).partition("#")[0] for line in body.splitlines())
    names = {*_IMPORTED.findall(code), "case", "kernel"}
    # Classes before functions and dtypes, as isort orders them.
    ordered = [*sorted(n for n in names if n[0].isupper()), *sorted(n for n in names if n[0].islower())]
    line = f"from pytest_cudaopt import {', '.join(ordered)}"
    if len(line) <= _WIDTH:
        return line
    return "from pytest_cudaopt import (\n" + "".join(f"    {name},\n" for name in ordered) + ")"


def _declaration(facts: ModuleFacts, proposal: Proposal, function: str) -> str:
    lines = ["@kernel(", f"    {_text(facts.source)},", *_indented(_keywords(facts, proposal, function)), ")"]
    lines += [f"def {function}("]
    for parameter in proposal.parameters:
        lines += _indented(_parameter(parameter))
    if members := [member.name for parameter in proposal.parameters for member in parameter.members]:
        # The reference gets them one by one.
        lines += _indented(["*,", *(f"{name}," for name in members)])
    lines += ["):", f'    """TODO: say what {function} computes."""', *_indented(_reference(proposal))]
    return "\n".join(lines)


def _keywords(facts: ModuleFacts, proposal: Proposal, function: str) -> list[str]:
    pattern = proposal.pattern
    lines: list[str] = []
    if not proposal.has_own_name or function != pattern.entry:
        guessed = f"  # TODO: guessed {', '.join(pattern.guessed)}" if pattern.guessed else ""
        lines.append(f"entry={_text(pattern.entry)},{guessed}")
    if pattern.types:
        types = ", ".join(f"{_text(name)}: ({_tuple(dtypes)})" for name, dtypes in pattern.types.items())
        lines.append(f"types={{{types}}},  # TODO: every type it is used with")
    if facts.include:
        lines.append(f"include=[{', '.join(map(_text, facts.include))}],")
    if facts.stub:
        lines.append(f"stub=[{', '.join(map(_text, facts.stub))}],  # TODO: host-only headers?")
    if proposal.sizes:
        lines.append(f"sizes=[{', '.join(map(_text, proposal.sizes))}],")
    choices = {name: values for name, values in pattern.sizes.items() if len(values) > 1}
    if choices:
        shown = ", ".join(f"{_text(name)}: ({_tuple(map(str, values))})" for name, values in choices.items())
        lines.append(f"choices={{{shown}}},")
    return [*lines, *_launch(proposal), *_cases(proposal)]


def _launch(proposal: Proposal) -> list[str]:
    guess = proposal.launch
    if guess is None:
        return []
    if not guess.is_default:
        return [f"# As the file launches it in line {guess.line}.", f"launch={_text(guess.rule)},"]
    seen = f"; line {guess.line} has {guess.seen}" if guess.seen else ""
    todo = textwrap.wrap(f"TODO: how it is launched{seen}", _WIDTH - 6)
    return [*(f"# {line}" for line in todo), f"launch={_text(guess.rule)},"]


def _cases(proposal: Proposal) -> list[str]:
    small, large = proposal.cases
    absent = "".join(f"{name}=None, " for name in proposal.absent)
    measured = f"case({_sizes(large)}measure=True)"
    return [
        "cases=[",
        f"    case({_sizes(small).removesuffix(', ')}),",
        *([f"    case({(_sizes(small) + absent).removesuffix(', ')}),"] if absent else []),
        f"    {measured},  # TODO: sizes that matter",
        "],",
    ]


def _parameter(parameter: Marked) -> list[str]:
    if not parameter.members:
        return [f"{parameter.name}={parameter.marker},{_todo(parameter)}"]
    lines = [f"{parameter.name}=Struct(", f"    {_text(parameter.marker)},"]
    for member in parameter.members:
        lines += _indented(_parameter(member))
    return [*lines, "),"]


def _todo(parameter: Marked) -> str:
    return f"  # TODO: {'; '.join(parameter.todo)}" if parameter.todo else ""


def _reference(proposal: Proposal) -> list[str]:
    flat = [m for p in proposal.parameters for m in (p.members or (p,))]
    outputs = [m.name for m in flat if m.marker.startswith(("Out(", "InOut("))]
    inputs = [m.name for m in flat if m.marker.startswith(("In(", "InOut(", "Constant("))]
    hint = ", ".join(f"{name}[...] = ..." for name in outputs)
    told = f"TODO: with NumPy, write {hint or 'the outputs'}"
    told += f" from {', '.join(inputs)}" if inputs else ""
    line = f"raise NotImplementedError({_text(told)})"
    return [
        line if len(line) <= _WIDTH - 4 else 'raise NotImplementedError("TODO: write the outputs with NumPy")'
    ]


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, _WIDTH - 2)).rstrip("\n")


def _sizes(sizes: Mapping[str, int]) -> str:
    return "".join(f"{name}={value}, " for name, value in sizes.items())


def _tuple(values: Sequence[str] | map[str]) -> str:
    parts = list(values)
    return f"{parts[0]}," if len(parts) == 1 else ", ".join(parts)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
