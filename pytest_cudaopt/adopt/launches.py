"""The launch rule that a file's own `<<<...>>>` suggests, in the terms of the kernel's sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_cudaopt.adopt.declarations import KernelDeclaration
from pytest_cudaopt.adopt.host_expressions import HostExpressions
from pytest_cudaopt.adopt.tokens import Scanned, Token, spelled, split_at_commas
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.launch import LaunchRule


@dataclass(frozen=True)
class Guess:
    """A launch rule's text. `line` is where the file launches the kernel, 0 if it does not.

    `is_default` says that it does not come from the file (`rule` may be empty); `seen` is then what could
    not be read.
    """

    rule: str
    line: int = 0
    is_default: bool = True
    seen: str = ""


def guess_launch(scanned: Scanned, kernel: KernelDeclaration, sizes: Sequence[str]) -> Guess:
    """Read the first launch of `kernel` that can be told in `sizes`; else return an empty rule."""
    seen, line = "", 0
    for at, configuration, arguments in find_launches(scanned, kernel.name):
        rule = _rule(scanned, kernel, sizes, at, configuration, arguments)
        if rule is not None:
            return Guess(rule, scanned.tokens[at].line, is_default=False)
        seen, line = seen or f"<<<{spelled(configuration)}>>>", line or scanned.tokens[at].line
    return Guess("", line, seen=seen)


def find_launches(scanned: Scanned, name: str) -> list[tuple[int, Sequence[Token], Sequence[Token]]]:
    """Return where each launch of `name` has its `<<<`, its configuration and its arguments."""
    found: list[tuple[int, Sequence[Token], Sequence[Token]]] = []
    tokens = scanned.tokens
    for at, token in enumerate(tokens):
        if token.text != "<<<" or not _launches_name(tokens, at, name):
            continue
        end = next((i for i in range(at, len(tokens) - 3) if _is_close(tokens, i)), None)
        if end is None or tokens[end + 3].text != "(":
            continue
        closing = scanned.partner.get(end + 3, end + 3)
        found.append((at, tokens[at + 1 : end], tokens[end + 4 : closing]))
    return found


def _launches_name(tokens: Sequence[Token], at: int, name: str) -> bool:
    start = at - 1
    if tokens[start].text == ">":
        depth = 0
        while start > 0:
            depth += (tokens[start].text == ">") - (tokens[start].text == "<")
            if depth == 0:
                break
            start -= 1
        start -= 1
    return tokens[start].text == name


def _is_close(tokens: Sequence[Token], at: int) -> bool:
    return [token.text for token in tokens[at : at + 4]] == [">", ">", ">", "("]


def _rule(
    scanned: Scanned,
    kernel: KernelDeclaration,
    sizes: Sequence[str],
    at: int,
    configuration: Sequence[Token],
    arguments: Sequence[Token],
) -> str | None:
    parts = split_at_commas(configuration)
    if len(parts) < 2:
        return None
    names = _renaming(kernel, sizes, split_at_commas(arguments))
    reader = HostExpressions(scanned, at, names)
    grid, block = reader.extents(parts[0]), reader.extents(parts[1])
    shared = reader.one(parts[2]) if len(parts) > 2 else "0"
    if grid is None or block is None or shared is None:
        return None
    rule = f"grid=({', '.join(grid)}) block=({', '.join(block)})" + (
        "" if shared == "0" else f" shared={shared}"
    )
    try:
        parsed = LaunchRule.parse(rule)
    except CudaoptError:
        return None
    return rule if parsed.names <= set(sizes) else None


def _renaming(
    kernel: KernelDeclaration, sizes: Sequence[str], arguments: Sequence[Sequence[Token]]
) -> dict[str, str]:
    """Map what the host calls a size to the kernel's name for it."""
    names = {size: size for size in sizes}
    for parameter, argument in zip(kernel.parameters, arguments, strict=False):
        text = "".join(token.text for token in argument)
        if parameter.name in sizes and text.isidentifier():
            names[text] = parameter.name
    return names
