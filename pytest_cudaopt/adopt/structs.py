"""The structs and type aliases of CUDA text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_cudaopt.adopt.declarations import FunctionParameter, read_parameter
from pytest_cudaopt.adopt.scopes import scopes_of
from pytest_cudaopt.adopt.tokens import STATEMENT_ENDS, Scanned, Token, split_at_commas
from pytest_cudaopt.adopt.types import read_type


def find_structs(scanned: Scanned) -> dict[str, tuple[FunctionParameter, ...]]:
    """Return the data members of the file's structs that have nothing else; arrays are left to a person."""
    structs: dict[str, tuple[FunctionParameter, ...]] = {}
    tokens = scanned.tokens
    for index in range(len(tokens) - 2):
        if tokens[index].text != "struct" or tokens[index + 2].text != "{" or not tokens[index + 1].is_word:
            continue
        end = scanned.partner.get(index + 2)
        if end is not None and (members := _members(tokens[index + 3 : end])):
            structs[tokens[index + 1].text] = members
    return structs


def qualified_struct(scanned: Scanned, name: str) -> str:
    """Return the name by which code outside all namespaces calls the file's struct `name`."""
    tokens = scanned.tokens
    for at in range(len(tokens) - 2):
        if [token.text for token in tokens[at : at + 3]] == ["struct", name, "{"]:
            return "::".join((*scopes_of(scanned, at)[0], name))
    return name


def struct_name(base: str) -> str:
    """Return the name alone of `ns::Params<T>`."""
    return base.partition("<")[0].rpartition("::")[2].strip()


def find_aliases(scanned: Scanned) -> dict[str, str]:
    """Return what `using X = Y;` and `typedef Y X;` say, as written."""
    aliases: dict[str, str] = {}
    for statement in _statements(scanned.tokens):
        texts = [token.text for token in statement]
        if texts[:1] == ["using"] and texts[2:3] == ["="]:
            aliases[texts[1]] = read_type(statement[3:]).base
        elif texts[:1] == ["typedef"] and len(texts) > 2 and texts[-1] != ")":
            aliases[texts[-1]] = read_type(statement[1:-1]).base
    return aliases


def find_enums(scanned: Scanned) -> dict[str, str]:
    """Return the first value of each of the file's enums, as code outside all namespaces calls it."""
    enums: dict[str, str] = {}
    tokens = scanned.tokens
    for at, token in enumerate(tokens):
        if token.text != "enum":
            continue
        name_at = at + 1 + (tokens[at + 1].text in ("class", "struct"))
        opening = next((i for i in range(name_at, len(tokens)) if tokens[i].text in STATEMENT_ENDS), at)
        if tokens[opening].text == "{" and name_at < opening < len(tokens) - 1 and tokens[name_at].is_word:
            name = tokens[name_at].text
            enums[name] = "::".join((*scopes_of(scanned, at)[0], name, tokens[opening + 1].text))
    return enums


def _members(tokens: Sequence[Token]) -> tuple[FunctionParameter, ...]:
    members: list[FunctionParameter] = []
    if any(token.text in ("(", "{", "[", ":") for token in tokens):
        return ()
    for statement in _statements(tokens):
        first, *others = split_at_commas(statement)
        member = read_parameter(first)
        members.append(member)
        for other in others:
            if len(other) != 1 or member.type.pointers:
                return ()
            members.append(FunctionParameter(other[0].text, member.type, member.spelling))
    return tuple(members)


def _statements(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield what stands between `;`, `{` and `}`."""
    statement: list[Token] = []
    for token in tokens:
        if token.text not in STATEMENT_ENDS:
            statement.append(token)
            continue
        if statement:
            yield statement
        statement = []
