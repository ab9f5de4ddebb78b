"""The `__global__` functions of CUDA text, with what their declarations say. Reads text; compiles nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_cudaopt.adopt.dispatches import dispatched
from pytest_cudaopt.adopt.scopes import scopes_of, statement_start
from pytest_cudaopt.adopt.tokens import (
    STATEMENT_ENDS,
    Scanned,
    Token,
    closing_angle,
    spelled,
    split_at_commas,
)
from pytest_cudaopt.adopt.types import CudaType, read_type, split_name


@dataclass(frozen=True)
class TemplateParameter:
    """A template parameter; `type` is `type` for typenames, else the value's type such as `int`."""

    name: str
    type: str
    default: str = ""

    @property
    def is_type(self) -> bool:
        return self.type == "type"


@dataclass(frozen=True)
class FunctionParameter:
    """A parameter as declared; `name` may be empty."""

    name: str
    type: CudaType
    spelling: str
    default: str = ""


@dataclass(frozen=True)
class KernelDeclaration:
    """A `__global__` function. `body` holds the indices of its braces; None for a mere declaration.

    `attributes` maps `__launch_bounds__`, `__cluster_dims__` and their like to their arguments.
    `instances` are the template arguments the file itself uses it with.
    """

    name: str
    scopes: tuple[str, ...]
    line: int
    last_line: int
    template: tuple[TemplateParameter, ...]
    parameters: tuple[FunctionParameter, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    body: tuple[int, int] | None = None
    instances: tuple[tuple[str, ...], ...] = ()
    in_class: bool = False

    @property
    def qualified(self) -> str:
        return "::".join((*self.scopes, self.name))

    def with_defaults(self, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """Return template arguments with the defaults behind them; nothing if some are then missing."""
        full = (*arguments, *(parameter.default for parameter in self.template[len(arguments) :]))
        return full if arguments and all(full) and len(full) == len(self.template) else ()


def find_kernels(scanned: Scanned) -> list[KernelDeclaration]:
    """Return every kernel once, in the file's order; a definition is preferred to its declaration."""
    found: dict[tuple[str, tuple[str, ...]], KernelDeclaration] = {}
    instances: dict[str, list[tuple[str, ...]]] = {}
    for index, token in enumerate(scanned.tokens):
        if token.text != "__global__":
            continue
        start = statement_start(scanned, index)
        head = scanned.tokens[start:index]
        name_at = _name(scanned, index)
        if name_at is None:
            continue
        if head and head[0].text == "template" and (len(head) == 1 or head[1].text != "<"):
            name, arguments = _instantiation(scanned.tokens[name_at[0] : name_at[1]])
            instances.setdefault(name, []).append(arguments)
        elif "<" not in scanned.texts(*name_at):
            kernel = _declaration(scanned, start, index, name_at)
            key = (kernel.qualified, tuple(parameter.spelling for parameter in kernel.parameters))
            if key not in found or (found[key].body is None and kernel.body is not None):
                found[key] = kernel
    return [_with_instances(scanned, kernel, instances) for kernel in found.values()]


def _name(scanned: Scanned, index: int) -> tuple[int, int] | None:
    """Return where a function's name begins and where its parameters open.

    They are what stands before the last pair of parentheses before `{` or `;`, so that macros that wrap a
    name, attributes and launch bounds do not matter.
    """
    last: int | None = None
    at = index + 1
    while at < len(scanned.tokens):
        text = scanned.tokens[at].text
        if text in STATEMENT_ENDS:
            break
        if text == "(":
            if scanned.tokens[at - 1].text not in _CALLED:
                last = at
            at = scanned.partner.get(at, len(scanned.tokens))
        at += 1
    if last is None or last not in scanned.partner:
        return None
    start = last - 1
    if scanned.tokens[start].text == ">":
        while start > index and scanned.tokens[start].text != "<":
            start -= 1
        start -= 1
    elif scanned.tokens[start].text == ")":
        start = scanned.partner.get(start, start) - 1
    while scanned.tokens[start - 1].text == "::":
        start -= 2
    return (start, last) if start > index and scanned.tokens[start].is_word else None


_CALLED = frozenset(
    {"__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__", "__attribute__", "noexcept"}
)


def _declaration(scanned: Scanned, start: int, index: int, name_at: tuple[int, int]) -> KernelDeclaration:
    tokens, (name_start, opening) = scanned.tokens, name_at
    closing = scanned.partner.get(opening, opening)
    end = closing + 1
    while end < len(tokens) and tokens[end].text not in STATEMENT_ENDS:
        end += 1
    body = None
    if end < len(tokens) and tokens[end].text == "{" and end in scanned.partner:
        body = (end, scanned.partner[end])
    scopes, in_class = scopes_of(scanned, index)
    name = spelled(tokens[name_start:opening])
    *written, name = name.split("::")
    return KernelDeclaration(
        name=name.replace(" ", ""),
        scopes=(*scopes, *written),
        line=tokens[name_start].line,
        last_line=tokens[min(body[1] if body else end, len(tokens) - 1)].line,
        template=read_template(scanned, start, index),
        parameters=tuple(read_parameter(part) for part in split_at_commas(tokens[opening + 1 : closing]))
        if scanned.texts(opening + 1, closing) != ["void"]
        else (),
        attributes=dict(_attributes(scanned, start, end)),
        body=body,
        in_class=in_class,
    )


def read_parameter(tokens: Sequence[Token]) -> FunctionParameter:
    """Read `const float* x = nullptr`, a parameter or a member."""
    equals = next((i for i, token in enumerate(tokens) if token.text == "="), len(tokens))
    type_, name = split_name(tokens[:equals])
    return FunctionParameter(name, read_type(type_), spelled(type_), spelled(tokens[equals + 1 :]))


def read_template(scanned: Scanned, start: int, index: int) -> tuple[TemplateParameter, ...]:
    """Read the `template <...>` between two tokens; of none, return nothing."""
    texts = scanned.texts(start, index)
    if "template" not in texts:
        return ()
    opening = start + texts.index("template") + 1
    end = closing_angle(scanned.tokens, opening) or opening
    return tuple(_template_parameter(p) for p in split_at_commas(scanned.tokens[opening + 1 : end]))


def _template_parameter(tokens: Sequence[Token]) -> TemplateParameter:
    texts = [token.text for token in tokens]
    equals = texts.index("=") if "=" in texts else len(texts)
    default = spelled(tokens[equals + 1 :])
    if "..." in texts:
        return TemplateParameter(texts[equals - 1], "pack", default)
    if texts[0] == "template":
        return TemplateParameter(texts[equals - 1], "template", default)
    if texts[0] in ("typename", "class"):
        return TemplateParameter(texts[1] if equals > 1 else "", "type", default)
    if "(" in texts[:equals]:
        # `T (*F)(T)`
        names = (token.text for token in tokens[texts.index("(") : equals] if token.is_word)
        return TemplateParameter(next(names, ""), "function pointer", default)
    type_, name = split_name(tokens[:equals])
    return TemplateParameter(name, read_type(type_).base, default)


def _attributes(scanned: Scanned, start: int, end: int) -> Iterator[tuple[str, str]]:
    for at in range(start, end - 1):
        if scanned.tokens[at].text in _CALLED and scanned.tokens[at + 1].text == "(":
            closing = scanned.partner.get(at + 1, at + 1)
            yield scanned.tokens[at].text, spelled(scanned.tokens[at + 2 : closing])


def _instantiation(tokens: Sequence[Token]) -> tuple[str, tuple[str, ...]]:
    """Read `attn<64, float>`; without arguments they are deduced, and nothing is learnt."""
    texts = [token.text for token in tokens]
    if "<" not in texts:
        return spelled(tokens), ()
    at = texts.index("<")
    arguments = split_at_commas(tokens[at + 1 : len(tokens) - 1])
    return texts[at - 1], tuple(spelled(argument) for argument in arguments)


def _with_instances(
    scanned: Scanned, kernel: KernelDeclaration, explicit: Mapping[str, list[tuple[str, ...]]]
) -> KernelDeclaration:
    if not kernel.template:
        return kernel
    used = [*explicit.get(kernel.name, []), *_launched(scanned, kernel.name)]
    names = {parameter.name for parameter in kernel.template}
    # Arguments that are another template's parameters say nothing.
    known = [one for one in map(kernel.with_defaults, used) if one and not names & set(one)]
    return KernelDeclaration(**{**vars(kernel), "instances": tuple(dict.fromkeys(known))})


def _launched(scanned: Scanned, name: str) -> Iterator[tuple[str, ...]]:
    tokens = scanned.tokens
    for at, token in enumerate(tokens):
        if token.text != name or at + 1 >= len(tokens) or tokens[at + 1].text != "<":
            continue
        end = closing_angle(tokens, at + 1)
        if end is not None and end + 1 < len(tokens) and tokens[end + 1].text == "<<<":
            yield from dispatched(scanned, at, _instantiation(tokens[at : end + 1])[1])
