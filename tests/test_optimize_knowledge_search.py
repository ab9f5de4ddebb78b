"""Looking things up: the right page for ten bottlenecks, however asked for, and any question at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest
from bottleneck_questions import BOTTLENECKS

from pytest_cudaopt.optimize import knowledge_search
from pytest_cudaopt.optimize.knowledge_pages import KnowledgePage, pages
from pytest_cudaopt.optimize.knowledge_search import WITHOUT_FTS5, Knowledge, Question
from pytest_cudaopt.optimize.passages import Origin, Passage
from pytest_cudaopt.optimize.user_documents import UserDocuments

KINDS = ("counters", "words", "kernel")


@pytest.fixture(scope="module", params=[True, False], ids=["FTS5", "counting"])
def knowledge(request: pytest.FixtureRequest) -> Knowledge:
    return Knowledge(pages(), UserDocuments(), full_text=request.param)


def names(found: Sequence[Passage]) -> list[str]:
    return [passage.page for passage in found]


def question(bottleneck: str, kind: str) -> Question:
    asked = getattr(BOTTLENECKS[bottleneck], kind)
    return Question(kernel=asked) if kind == "kernel" else Question(asked)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bottleneck", BOTTLENECKS)
def test_the_right_page_is_among_the_first_three(knowledge: Knowledge, bottleneck: str, kind: str) -> None:
    found = names(knowledge.search(question(bottleneck, kind)))
    assert BOTTLENECKS[bottleneck].page in found
    assert len(found) <= 3


@pytest.mark.parametrize("kind", KINDS)
def test_another_bottleneck_has_another_first_page(knowledge: Knowledge, kind: str) -> None:
    first = {names(knowledge.search(question(bottleneck, kind)))[0] for bottleneck in BOTTLENECKS}
    assert len(first) >= 8


@pytest.mark.parametrize(
    ("page", "asked"),
    [
        ("coalescing", "each thread walks its own row, global load efficiency is 12 %"),
        ("coalescing", "global_load_sectors 4194304, global_load_requests 131072"),
        ("bank-conflicts", "shared_wavefronts 32 times shared_requests"),
        ("bank-conflicts", "short scoreboard stalls at LDS"),
        ("occupancy-registers", "occupancy.limited_by registers, warps_per_sm 12"),
        ("occupancy-registers", "register usage prevents more blocks from being resident"),
        ("occupancy-shared-memory", "occupancy.limited_by shared, blocks_per_sm 1"),
        ("occupancy-shared-memory", "smem usage of 100 KB per block limits residency"),
        ("divergence", "divergent_branches 81920, lane_instructions / warp_instructions 7"),
        ("divergence", "average active threads per warp 11 of 32"),
        ("tiny-kernels", "bound launch, terms_ns launch 3350 of 4100"),
        ("tiny-kernels", "the grid has only 8 blocks on a GPU with 132 SMs"),
        ("fp32-bound", "bound fp32"),
        ("l2-reuse", "bound l2, terms_ns l2 120000 dram 20000"),
        ("spills", "ptxas: 512 bytes spill stores, 480 bytes spill loads"),
        ("tail-effect", "last wave of blocks only fills 10 % of the GPU"),
        ("atomics", "bound atomics, atomic_serializations 33 million"),
        ("latency-hiding", "bound latency"),
        ("dram-bound", "bound dram, 95 % of HBM bandwidth"),
        ("grid-stride-loops", "bound blocks"),
        ("special-functions", "bound special: expf dominates"),
        ("double-by-accident", "warp_instructions.fp64 in a float kernel"),
        ("index-arithmetic", "bound integer, modulo by a runtime size"),
        ("barriers", "stall barrier 60 % of the samples"),
        ("tensor-cores", "can I use tensor cores for a half precision gemm"),
        ("split-k", "gemm with small m and n and huge k"),
        ("online-softmax", "softmax reads the row three times"),
        ("warp-specialisation", "producer and consumer warps"),
    ],
)
def test_terms_of_the_model_and_of_people_find_their_page(
    knowledge: Knowledge, page: str, asked: str
) -> None:
    assert page in names(knowledge.search(Question(asked)))


def test_a_kernel_adds_to_what_is_said_and_does_not_drown_it(knowledge: Knowledge) -> None:
    found = knowledge.search(Question("bound atomics", kernel=BOTTLENECKS["bank conflicts"].kernel))
    assert names(found)[0] == "atomics"
    assert "bank-conflicts" in names(found)


def test_pages_on_what_the_architecture_lacks_are_left_out(knowledge: Knowledge) -> None:
    asked = "TMA bulk tensor copy cp.async.bulk mbarrier"
    assert names(knowledge.search(Question(asked, "sm_90")))[0] == "bulk-copies"
    assert names(knowledge.search(Question(asked)))[0] == "bulk-copies"
    assert "bulk-copies" not in names(knowledge.search(Question(asked, "sm_80")))
    assert "bulk-copies" in names(knowledge.search(Question(asked, "sm_100a")))


@pytest.mark.parametrize(
    "asked",
    [
        "",
        '"',
        "'; DROP TABLE page; --",
        "NEAR(a b, 3) AND NOT (c OR",
        "names:spills ^spills spills* -spills +",
        "\0\n\t\x1b[31m",
        "(((((",
        "{a b} : c",
        "\ud800 \U0010ffff",
        "x" * 1_000_000,
        "l2 " * 100_000,
    ],
)
def test_no_question_is_an_error(knowledge: Knowledge, asked: str) -> None:
    knowledge.search(Question(asked, asked[:100], asked))
    # The index is what it was.
    assert names(knowledge.search(Question("spill stores")))[0] == "spills"


def test_syntax_of_the_search_means_nothing(knowledge: Knowledge) -> None:
    assert names(knowledge.search(Question("spill NOT stores"))) == names(
        knowledge.search(Question("spill stores"))
    )


def test_nothing_is_found_for_what_nobody_wrote_about(knowledge: Knowledge) -> None:
    assert knowledge.search(Question("zzyzx")) == ()


def test_the_same_question_has_the_same_answer(knowledge: Knowledge) -> None:
    asked = question("tail", "counters")
    assert knowledge.search(asked) == knowledge.search(asked)


def test_a_sqlite_without_full_text_search_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: Any, **__: Any) -> Any:
        raise sqlite3.OperationalError("no such module: fts5")

    assert Knowledge.open().notes == ()
    monkeypatch.setattr(knowledge_search.FullTextIndex, "__init__", lacking)
    knowledge = Knowledge.open()
    assert knowledge.notes == (WITHOUT_FTS5,)
    assert names(knowledge.search(Question("spill stores")))[0] == "spills"


def test_users_documents_come_after_the_pages_and_cannot_crowd_them_out(knowledge: Knowledge) -> None:
    text = "uncoalesced access strided access coalesced sectors per request " * 30
    stuffed = tuple(
        Passage(f"{number}.md", text, text, text, f"{number}.md", Origin.USER) for number in range(50)
    )
    full_text = WITHOUT_FTS5 not in knowledge.notes
    crowded = Knowledge(pages(), UserDocuments(stuffed), full_text=full_text)
    asked = question("uncoalesced", "counters")
    found = crowded.search(asked)
    assert [one for one in found if one.origin is Origin.OWN] == list(knowledge.search(asked))
    assert [one.origin for one in found[-2:]] == [Origin.USER, Origin.USER]
    assert len(found) == 5


def test_a_users_document_is_found_by_its_words_and_by_the_kernel(knowledge: Knowledge) -> None:
    own = Passage(
        "gpu.md",
        "Our cluster",
        "Atomics",
        "On frobnicators use the atomic contention unit.",
        "gpu.md",
        Origin.USER,
    )
    other = Passage("b.md", "Lunch", "", "Soup.", "b.md", Origin.USER)
    full_text = WITHOUT_FTS5 not in knowledge.notes
    with_own = Knowledge((), UserDocuments((other, own)), full_text=full_text)
    assert with_own.search(Question("frobnicator")) == (own,)
    assert with_own.search(Question(kernel="atomicAdd(&a[b], 1);")) == (own,)


def test_a_page_is_ranked_by_its_names_before_its_text(knowledge: Knowledge) -> None:
    named = KnowledgePage("a", "Widgets", "gizmo", ())
    mentioning = KnowledgePage("b", "Other", "thing", (("Pitfalls", "gizmo"),))
    unrelated = [KnowledgePage(f"c{number}", "Third", "stuff", ()) for number in range(5)]
    full_text = WITHOUT_FTS5 not in knowledge.notes
    both = Knowledge((mentioning, named, *unrelated), UserDocuments(), full_text=full_text)
    assert names(both.search(Question("gizmo"))) == ["a", "b"]
