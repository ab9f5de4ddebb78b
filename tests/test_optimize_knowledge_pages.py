"""The pages of the knowledge base: all parts, sources, a bounded length, and shipped with the package."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from pytest_cudaopt.optimize import code_clues, search_terms
from pytest_cudaopt.optimize.knowledge_pages import PARTS, KnowledgePage, pages, parse
from pytest_cudaopt.optimize.passages import MOST_CHARACTERS, Origin

FOLDER = files("pytest_cudaopt.optimize") / "knowledge"
TEXTS = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}
DOCUMENTS = re.compile(r"https://(docs|developer)\.nvidia\.com/\S+")
MOST_LINES = 90


def faults(name: str, text: str) -> list[str]:
    """Return what is wrong with a page, one word each."""
    page = parse(name, text)
    checks = {
        "parts": tuple(heading for heading, _ in page.parts) == PARTS and all(text for _, text in page.parts),
        "names": bool(page.title and page.names),
        "sources": bool(page.sources) and all(DOCUMENTS.fullmatch(link) for link in page.sources),
        "length": len(text.splitlines()) <= MOST_LINES,
        "example": page.part("Example").startswith("```cuda\n") and page.part("Example").endswith("\n```"),
        "architectures": page.part("Architectures").startswith("All") or page.least_architecture >= 70,
        "counters": "`sim`" in page.part("How it shows in counters"),
    }
    return [check for check, holds in checks.items() if not holds]


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_page_has_all_parts_and_sources(name: str) -> None:
    assert faults(name, TEXTS[name]) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("## Pitfalls\n", "## Traps\n", "parts"),
        ("Also called: ", "", None),
        ("https://docs.nvidia.com", "https://example.org", "sources"),
        ("```cuda", "```c", "example"),
        ("- `sim`:", "- `it`:", "counters"),
        ("## Sources", "\n" * MOST_LINES + "## Sources", "length"),
        ("\nAll. Sectors", "\nSome. Sectors", "architectures"),
    ],
)
def test_a_page_with_a_fault_is_noticed(old: str, new: str, fault: str | None) -> None:
    text = TEXTS["coalescing.md"]
    assert old in text
    assert faults("coalescing", text.replace(old, new)) == ([fault] if fault else [])


def test_every_page_is_one_the_index_has() -> None:
    assert [f"{page.name}.md" for page in pages()] == sorted(TEXTS)
    assert len(pages()) >= 30


def test_a_page_is_told_within_bounds_with_what_it_changes_and_its_sources() -> None:
    for page in pages():
        passage = page.passage
        assert len(passage.text) <= MOST_CHARACTERS, page.name
        assert page.part("What it changes") in passage.text, page.name
        assert page.part("Pitfalls") in passage.text, page.name
        assert (passage.page, passage.origin) == (page.name, Origin.OWN)
        assert passage.source.split() == list(page.sources)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("All. On sm_90 more.", 0),
        ("sm_80 and newer; at its best on sm_90.", 80),
        ("sm_90 and newer.", 90),
        ("", 0),
    ],
)
def test_what_an_architecture_lacks_is_known(text: str, least: int) -> None:
    assert KnowledgePage("x", "X", "", (("Architectures", text),)).least_architecture == least


def phrases() -> list[str]:
    clues = re.findall(r'Clue\("([^"]+)"', Path(code_clues.__file__).read_text(encoding="utf-8"))
    return [*search_terms.PHRASES, *clues, *(phrase for _, phrase, _ in code_clues.USES)]


def test_every_phrase_that_is_searched_for_is_a_name_of_a_page() -> None:
    # "launch bound" is also what is left of "launch bounds".
    shared = {"launch bound"}
    for phrase in set(phrases()):
        named = [page.name for page in pages() if has_name(page, phrase)]
        assert len(named) == (2 if phrase in shared else 1), (phrase, named)


def has_name(page: KnowledgePage, phrase: str) -> bool:
    sought = f" {search_terms.indexed(phrase)} "
    return any(
        sought in f" {search_terms.indexed(name)} "
        for name in (page.title, page.name, *page.names.split(","))
    )


def test_what_names_no_page_would_be_noticed() -> None:
    assert not any(has_name(page, "quantum annealing") for page in pages())


def test_the_document_lists_every_page_by_its_title() -> None:
    listing = (Path(__file__).parent.parent / "docs" / "knowledge.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`([\w-]+)`\]\((\S+)\) \| (.+) \|$", listing, re.MULTILINE)
    folder = "../pytest_cudaopt/optimize/knowledge"
    assert rows == [(page.name, f"{folder}/{page.name}.md", page.title) for page in pages()]
