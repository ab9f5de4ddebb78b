"""A session's report: what of it is shown, as Markdown and as a page that needs nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from reported_rows import CHECKED, FAULT, LEFT_OUT, ROWS, SESSION, SLOWER

from pytest_cudaopt.html_report import html_report
from pytest_cudaopt.markdown_report import escaped, markdown_report
from pytest_cudaopt.session_report import SessionReport, shortened
from pytest_cudaopt.table import RowStage

MARKDOWN = r"""# CUDA kernels on cuda:0 (NVIDIA H200)

7 items: 4 passed, 1 fault, 1 not run, 1 slower

**budget of 300 s spent: 1 item not run: saxpy\[sanitize\]**

## Failed

- `test_saxpy.py::saxpy[check-n1021]` at `saxpy.cu:16`: FAULT: reads x\[1021\] \<of 1021\>
- `test_softmax.py::softmax[latency-n4096]` at `softmax.cu:12`: SLOWER: 31 %

## Kernels

| kernel | case | status | found | gate |
| --- | --- | --- | --- | --- |
| `test_saxpy.py::saxpy` | n1 | passed |  |  |
|  | n1021 | **fault** |  |  |
|  | sanitize | not run |  |  |
| `test_softmax.py::softmax` | n4096 | **slower** | 5.43 us batch, IQR 0.22 %<br>31 % slower than the baseline, 4.14 us -\> 5.43 us | **slower** |
|  | n8192 | passed | 5.43 us batch, IQR 0.22 %<br>too few blocks<br>warning: the clock moved | unsure |
|  | sanitize | passed | 5 cases<br>waived: RACE at softmax.cu:31 |  |
|  | optimize | passed | 7.40 us -\> 4.14 us measured, 1.79x with BLOCK=256 in 7 attempts<br>certificate: right at 6 declared cases<br>results/run-003 |  |

pytest-cudaopt 9.9, 2026-11-30 12:00 UTC
"""  # noqa: E501 - a table's row is one line


def test_the_markdown_is_as_shown_here():
    assert markdown_report(SESSION) == MARKDOWN


def test_without_verdicts_there_is_no_column_for_them():
    assert "| kernel | case | status | found |\n" in markdown_report(SessionReport((CHECKED,)))


@pytest.mark.parametrize("text", ["a|b", "a\nb", "<b>", "`x`", "[l](h)", "a_b_c", "x\\", "&lt;", "# h"])
def test_no_text_is_markup(text):
    plain = re.sub(r"\\(.)", r"\1", escaped(text))

    assert plain == " ".join(text.split())
    assert not re.search(r"(?<!\\)[|<`\[_&#]", escaped(text).replace("\\\\", ""))


def test_the_cut_names_a_few_and_counts_the_others():
    rows = tuple(replace(LEFT_OUT, kernel=f"test_k.py::k{number}") for number in range(12))
    cut = SessionReport(rows, budget_s=90.5).cut

    assert cut is not None
    assert cut.startswith("budget of 90.5 s spent: 12 items not run: k0[sanitize], k1[sanitize], ")
    assert cut.endswith("k7[sanitize] and 4 more")
    assert SessionReport((CHECKED,), budget_s=90.5).cut is None


def test_a_case_that_fails_at_its_latency_is_shown_as_failed():
    (kernel,) = SessionReport((replace(CHECKED, kernel=SLOWER.kernel, case="n4096"), SLOWER)).kernels

    assert [(case.case, case.status, case.verdict) for case in kernel.cases] == [
        ("n4096", "slower", "slower")
    ]


def test_several_devices_are_named_with_their_kernels():
    other = replace(CHECKED, kernel="test_z.py::z", device="sim")

    assert [kernel.device for kernel in SessionReport((CHECKED, other)).kernels] == [CHECKED.device, "sim"]
    assert "on sim" in markdown_report(SessionReport((CHECKED, other)))
    assert '<p class="soft">on sim</p>' in html_report(SessionReport((CHECKED, other)))


def test_the_short_report_has_what_is_not_simply_right():
    short = shortened(SESSION)

    assert [row.case for row in short.rows] == ["n1021", "sanitize", "n4096", "n8192"]
    assert short.failed == SESSION.failed


class Page(HTMLParser):
    """Reads a page strictly: every element that is opened is closed, in order."""

    EMPTY = frozenset({"meta", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.attributes: set[str] = set()
        self.tags: set[str] = set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_says_everything_the_markdown_says():
    words = " ".join(Page(html_report(SESSION)).words)

    for row in ROWS:
        for text in (row.kernel, row.case, row.status, row.verdict, row.gate, *row.waived, *row.notes):
            assert text in words
    for failed in SESSION.failed:
        for text in (failed.item, failed.summary, failed.text, f"{failed.file}:{failed.line}"):
            assert text in words
    assert SESSION.cut in words
    assert SESSION.made in words


def test_the_page_needs_nothing_else():
    text = html_report(SESSION)
    page = Page(text)

    assert page.tags.isdisjoint({"script", "link", "img", "iframe"})
    assert page.attributes.isdisjoint({"src", "href", "style", "onclick"})
    assert not re.search(r"url\(|@import|https?:", text)
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


def test_the_page_shows_hostile_names_as_text():
    hostile = '<script>alert("x")</script>'
    row = replace(SLOWER, case=hostile, gate=hostile, latency_text=hostile, device=hostile)
    text = html_report(SessionReport((row,), (replace(FAULT, item=hostile, text=hostile),)))

    assert "<script" not in text
    assert hostile in " ".join(Page(text).words)


@pytest.mark.parametrize("write", [markdown_report, html_report])
def test_a_session_without_kernels_says_so(write):
    assert "no kernel items were run" in write(SessionReport(()))


def test_what_became_of_a_baseline_is_noted_once_with_its_case():
    recorded = replace(SLOWER, baseline_note="baseline of n4096 recorded")
    report = SessionReport((replace(recorded, position=0, stage=RowStage.CHECK), recorded))
    ((case,),) = [kernel.cases for kernel in report.kernels]

    assert case.notes == (SLOWER.gate, "baseline of n4096 recorded")
    assert "baseline of n4096 recorded" in markdown_report(report)
    assert "baseline of n4096 recorded" in html_report(report)
