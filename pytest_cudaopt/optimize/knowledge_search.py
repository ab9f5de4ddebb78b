"""Search of the project's own pages and a user's documents, by bottleneck, architecture and kernel text.

An index in memory (SQLite's FTS5, ranked by BM25); what is found is text for `quotation.quoted`, never more.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_cudaopt.optimize import code_clues, knowledge_pages, search_terms
from pytest_cudaopt.optimize.knowledge_pages import KnowledgePage
from pytest_cudaopt.optimize.passages import Passage
from pytest_cudaopt.optimize.user_documents import UserDocuments, read_folder

MOST_OWN = 3
MOST_OF_USER = 2
WITHOUT_FTS5 = "This Python's SQLite lacks FTS5: documents are ranked by counting words."
# Of names, counters, text and code; a user's document has names and text.
_WEIGHTS = (8.0, 3.0, 2.0, 1.0)
_KERNEL_SHARE = 0.4
# Stands between names, on every page, and so is worth nothing.
_BETWEEN = "between"
_ARCHITECTURE = re.compile(r"(?:sm|compute)_?(\d+)")


@dataclass(frozen=True)
class Question:
    """What is looked for: words of any kind, `sm_90` or nothing, a kernel's source with its directives."""

    bottleneck: str = ""
    architecture: str = ""
    kernel: str = ""


class Index(Protocol):
    """Rows of columns of indexed words."""

    def scores(self, phrases: Sequence[str]) -> dict[int, float]:
        """Return the rows that have any of the phrases; more is better."""


class FullTextIndex:
    """Rows in a table of FTS5; raises sqlite3.OperationalError where SQLite lacks it."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        # Branches of a beam search look from threads of their own; SQLite takes them in turn.
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(
            "CREATE VIRTUAL TABLE page USING fts5(names, counters, text, code, tokenize='ascii')"
        )
        self._database.executemany(
            "INSERT INTO page(rowid, names, counters, text, code) VALUES (?,?,?,?,?)",
            [(number, *row) for number, row in enumerate(rows)],
        )

    def scores(self, phrases: Sequence[str]) -> dict[int, float]:
        # Quoted words of letters and digits: nothing in them is syntax.
        query = " OR ".join(f'"{phrase}"' for phrase in phrases)
        if not query:
            return {}
        found = self._database.execute(
            "SELECT rowid, bm25(page, ?, ?, ?, ?) FROM page WHERE page MATCH ?", (*_WEIGHTS, query)
        )
        return {int(number): -float(score) for number, score in found}


class CountingIndex:
    """The same without FTS5: weighted counts of phrases, rare ones worth more."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._rows = [[f" {text} " for text in row] for row in rows]

    def scores(self, phrases: Sequence[str]) -> dict[int, float]:
        total: dict[int, float] = {}
        for phrase in phrases:
            counts = [self._count(row, f" {phrase} ") for row in self._rows]
            rows_with = sum(count > 0 for count in counts)
            for number, count in enumerate(counts):
                if count:
                    rarity = math.log(1 + len(counts) / rows_with)
                    total[number] = total.get(number, 0.0) + rarity * count / (count + _WEIGHTS[0])
        return total

    @staticmethod
    def _count(row: Sequence[str], phrase: str) -> float:
        return sum(weight * text.count(phrase) for weight, text in zip(_WEIGHTS, row, strict=True))


class Knowledge:
    """What can be looked up in one run; `notes` is what to say once."""

    def __init__(
        self, pages: Sequence[KnowledgePage], documents: UserDocuments, *, full_text: bool = True
    ) -> None:
        self._pages = tuple(pages)
        self._passages = documents.passages
        make = _index_kind(full_text)
        self._own = make([_row_of_page(page) for page in self._pages])
        self._of_user = make([_row_of_passage(passage) for passage in self._passages])
        lacking = (WITHOUT_FTS5,) if make is CountingIndex else ()
        self.notes: tuple[str, ...] = (*lacking, *documents.notes)

    @classmethod
    def open(cls, folder: Path | None = None) -> Knowledge:
        """Index the project's own pages and the documents in the folder of `--optimize-docs`."""
        return cls(knowledge_pages.pages(), read_folder(folder) if folder else UserDocuments())

    def search(
        self, question: Question, *, most_own: int = MOST_OWN, most_of_user: int = MOST_OF_USER
    ) -> tuple[Passage, ...]:
        """Return the best own pages, then the best passages of the user's documents.

        Each has its own share, so no document can crowd out the pages. Pages on what the architecture
        lacks are left out.
        """
        able = _capability(question.architecture)
        own = [
            self._pages[number].passage
            for number in _ranked(self._own, question)
            if able is None or self._pages[number].least_architecture <= able
        ]
        of_user = [self._passages[number] for number in _ranked(self._of_user, question)[:most_of_user]]
        return (*own[:most_own], *of_user)


def _index_kind(full_text: bool) -> type[FullTextIndex] | type[CountingIndex]:
    if not full_text:
        return CountingIndex
    try:
        FullTextIndex([])
    except sqlite3.OperationalError:
        return CountingIndex
    return FullTextIndex


def _ranked(index: Index, question: Question) -> list[int]:
    """Return rows, the best first: by the bottleneck, and to a lesser part by the kernel."""
    said = _shares(index.scores(search_terms.asked(question.bottleneck)))
    phrases = [
        " ".join(search_terms.words(clue.phrase))
        for clue in code_clues.clues(question.kernel)
        for _ in range(clue.strength)
    ]
    seen = _shares(index.scores(phrases))
    total = {number: said.get(number, 0.0) + _KERNEL_SHARE * seen.get(number, 0.0) for number in said | seen}
    return sorted(total, key=lambda number: (-total[number], number))


def _shares(scores: dict[int, float]) -> dict[int, float]:
    best = max(scores.values(), default=0.0)
    return {number: score / best for number, score in scores.items()} if best > 0 else {}


def _capability(architecture: str) -> int | None:
    found = _ARCHITECTURE.search(architecture)
    return int(found[1]) if found else None


def _row_of_page(page: KnowledgePage) -> tuple[str, ...]:
    prose = "\n".join(page.part(part) for part in ("When it applies", "What it changes", "Pitfalls"))
    columns = (
        page.part("How it shows in counters"),
        prose,
        page.part("Example"),
    )
    # A phrase must not reach from one name into the next.
    names = f" {_BETWEEN} ".join(
        search_terms.indexed(name) for name in (page.title, page.name, *page.names.split(","))
    )
    return (names, *(search_terms.indexed(column) for column in columns))


def _row_of_passage(passage: Passage) -> tuple[str, ...]:
    return (
        search_terms.indexed(f"{passage.title}\n{passage.heading}"),
        "",
        search_terms.indexed(passage.text),
        "",
    )
