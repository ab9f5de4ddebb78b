"""Pieces of documents: what is searched, and what is found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

MOST_CHARACTERS = 2400
_MARKDOWN = re.compile(r"^ {0,3}#{1,6}\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r"^([=\-~^\"'`+*#])\1{2,}$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


class Origin(StrEnum):
    """Who wrote a passage."""

    OWN = "own page"
    USER = "user document"


@dataclass(frozen=True)
class Section:
    """A heading of a document and the text below it; both may be empty."""

    heading: str
    text: str


@dataclass(frozen=True)
class Passage:
    """What a search finds: `text` has at most MOST_CHARACTERS, `source` says where the words come from.

    `page` is the name of an own page, or the path of a user's file within its folder.
    """

    page: str
    title: str
    heading: str
    text: str
    source: str
    origin: Origin


def sections(text: str) -> tuple[Section, ...]:
    """Cut a Markdown, reStructuredText or plain document at its headings."""
    found: list[Section] = []
    heading, body = "", list[str]()
    for is_heading, line in _marked(text.splitlines()):
        if is_heading:
            found.append(Section(heading, "\n".join(body).strip()))
            heading, body = line, []
        else:
            body.append(line)
    found.append(Section(heading, "\n".join(body).strip()))
    return tuple(one for one in found if one.heading or one.text)


def _marked(lines: list[str]) -> Iterator[tuple[bool, str]]:
    """Give each line and whether it is a heading; marks and underlines of headings are left out."""
    fenced, at = False, 0
    while at < len(lines):
        line, following = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (marked := _MARKDOWN.match(line)):
            yield True, marked[1]
            at += 1
            continue
        elif not fenced and _is_underlined(line, following):
            yield True, line.strip()
            at += 2
            continue
        yield False, line
        at += 1


def _is_underlined(line: str, following: str) -> bool:
    text, rule = line.strip(), following.strip()
    return (
        bool(text) and not _UNDERLINE.match(text) and bool(_UNDERLINE.match(rule)) and len(rule) >= len(text)
    )


def pieces(text: str, most: int = MOST_CHARACTERS) -> tuple[str, ...]:
    """Cut a text into pieces of at most `most` characters: between paragraphs, else lines, else anywhere."""
    found, piece = [], ""
    for part in _parts(text, most):
        if piece and len(piece) + len(part) > most:
            found.append(piece)
            piece = ""
        piece += part
    return tuple(one.strip("\n") for one in (*found, piece) if one.strip())


def _parts(text: str, most: int) -> Iterable[str]:
    for paragraph in re.split(r"(?<=\n\n)", text):
        if len(paragraph) <= most:
            yield paragraph
            continue
        for line in paragraph.splitlines(keepends=True):
            yield from (line[at : at + most] for at in range(0, len(line), most))
