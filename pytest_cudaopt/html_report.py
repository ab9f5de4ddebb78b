"""A session's report as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from pytest_cudaopt.session_report import CasePart, FailedItem, KernelPart, SessionReport
from pytest_cudaopt.table import Mood, mood_of

# Colours of both themes have a contrast of at least 4.5 against what they stand on.
_STYLE = """\
:root { color-scheme: light dark; --page: #ffffff; --ink: #1c2128; --soft: #57606a; --line: #d0d7de;
  --panel: #f6f8fa; --good: #116329; --bad: #b3141f; --warning: #7d4e00; }
@media (prefers-color-scheme: dark) { :root { --page: #0d1117; --ink: #e6edf3; --soft: #9198a1;
  --line: #30363d; --panel: #161b22; --good: #57c46a; --bad: #ff8078; --warning: #dbab0a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 70rem; background: var(--page);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .75rem; }
h3 { font: 600 1rem/1.4 ui-monospace, monospace; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; }
p { margin: .25rem 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.good { color: var(--good); } .bad { color: var(--bad); } .warning { color: var(--warning); }
.bad, .warning { font-weight: 600; }
.counts { display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; margin: .75rem 0; list-style: none; }
.counts li { border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .75rem;
  background: var(--panel); }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 400; font-size: .875rem; }
td.case { font-family: ui-monospace, monospace; font-size: .9rem; width: 16rem; overflow-wrap: anywhere; }
td.status, td.gate { width: 7rem; }
td p { margin: 0; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; background: var(--panel); }
summary { padding: .5rem .75rem; cursor: pointer; overflow-wrap: anywhere; }
summary code { font-size: .9rem; word-break: break-all; }
footer { margin-top: 2rem; }
pre { margin: 0; padding: .75rem; border-top: 1px solid var(--line); overflow-x: auto;
  font: .85rem/1.45 ui-monospace, monospace; }
@media (max-width: 40rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { display: grid; grid-template-columns: 1fr auto; padding: .4rem 0;
    border-bottom: 1px solid var(--line); }
  td, td.case, td.status, td.gate { width: auto; padding: 0; border: 0; }
  td.found { grid-column: 1 / -1; } td.gate { grid-column: 1 / -1; }
  td:empty { display: none; } td.gate::before { content: "gate: "; color: var(--soft); font-weight: 400; } }
"""


def html_report(report: SessionReport) -> str:
    """Return the whole page: what failed first, then every kernel's cases."""
    title = escape(report.title)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>\n{_STYLE}</style>",
            "</head>",
            "<body>",
            f"<header>\n<h1>{title}</h1>",
            *_head(report),
            "</header>",
            "<main>",
            *_failures(report.failed),
            *_kernels(report),
            "</main>",
            f'<footer><p class="soft">{escape(report.made)}</p></footer>',
            "</body>",
            "</html>",
            "",
        ]
    )


def _head(report: SessionReport) -> Iterator[str]:
    for text, mood in report.device_notes:
        yield _p(text, "bad" if mood is Mood.BAD else "soft")
    if not report.rows:
        yield _p(report.summary)
        return
    counts = (f"<li>{count} {_span(status, mood_of(status))}</li>" for status, count in report.counts)
    yield f'<ul class="counts">{"".join(counts)}</ul>'
    if report.cut is not None:
        yield _p(report.cut, "warning")


def _failures(failed: Iterable[FailedItem]) -> Iterator[str]:
    for number, one in enumerate(failed):
        if number == 0:
            yield "<h2>Failed</h2>"
        head = f'<code>{escape(one.item)}</code><br><span class="bad">{escape(one.summary)}</span>'
        place = f'<p class="soft">{escape(one.file)}:{one.line}</p>'
        # The first stands open: most often it is the only one.
        opened = " open" if number == 0 else ""
        text = escape(one.text.strip("\n"))
        yield f"<details{opened}><summary>{head}{place}</summary><pre>{text}</pre></details>"


def _kernels(report: SessionReport) -> Iterator[str]:
    if report.rows:
        yield "<h2>Kernels</h2>"
    for kernel in report.kernels:
        yield "<section>"
        yield f"<h3>{escape(kernel.kernel)}</h3>"
        if kernel.device:
            yield _p(f"on {kernel.device}", "soft")
        yield from _table(kernel, with_gate=report.has_verdicts)
        yield "</section>"


def _table(kernel: KernelPart, *, with_gate: bool) -> Iterator[str]:
    names = ["case", "status", *(["gate"] if with_gate else []), "found"]
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    yield f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>"
    for case in kernel.cases:
        yield _case(case, with_gate=with_gate)
    yield "</tbody>\n</table>"


def _case(case: CasePart, *, with_gate: bool) -> str:
    gate = f'<td class="gate">{_span(case.verdict, case.verdict_mood)}</td>' if with_gate else ""
    found = "".join([*map(_p, case.found), *(_p(note, "soft") for note in case.notes)])
    return (
        f'<tr><td class="case">{escape(case.case)}</td>'
        f'<td class="status">{_span(case.status, case.mood)}</td>{gate}<td class="found">{found}</td></tr>'
    )


def _p(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _span(text: str, mood: Mood) -> str:
    if not text:
        return ""
    return escape(text) if mood is Mood.PLAIN else f'<span class="{mood}">{escape(text)}</span>'
