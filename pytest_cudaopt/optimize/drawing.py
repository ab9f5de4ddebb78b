"""The agent's graph as a picture, drawn by a program of this machine; nothing is sent anywhere."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from pytest_cudaopt.durable import write_atomically
from pytest_cudaopt.errors import EnvironmentFault, why_unreadable
from pytest_cudaopt.optimize.graph import build, mermaid

_TIMEOUT_S = 120.0


def write_svg(path: Path, *, find: Callable[[str], str | None] = shutil.which) -> str:
    """Draw the graph to `path`, and return which program drew it.

    Raises EnvironmentFault if there is none, if it fails, or if the file cannot be written.
    """
    with tempfile.TemporaryDirectory() as name:
        text, drawn = Path(name) / "graph", Path(name) / "graph.svg"
        if (program := find("mmdc")) is not None:
            text.write_text(mermaid(), encoding="utf-8")
            _run([program, "--input", str(text), "--output", str(drawn), "--quiet"], drawn)
        elif (program := find("dot")) is not None:
            text.write_text(dot(), encoding="utf-8")
            _run([program, "-Tsvg", str(text), "-o", str(drawn)], drawn)
        else:
            raise EnvironmentFault(
                "drawing the graph",
                expected="mmdc (mermaid-cli) or dot (graphviz) on PATH",
                got="neither",
                next_step="Install one, such as with: apt-get install graphviz; or paste what "
                "'cudaopt graph' prints where mermaid is shown",
            )
        try:
            write_atomically(path, drawn.read_bytes())
        except OSError as error:
            raise EnvironmentFault(str(path), expected="to be written", got=why_unreadable(error)) from error
    return program


def dot() -> str:
    """Return the graph in graphviz's language; what depends on the state is dashed."""
    graph = build().get_graph(xray=True)
    lines = [f'  "{node}" [label="{node.rpartition(":")[2].strip("_")}"];' for node in graph.nodes]
    for edge in graph.edges:
        style = " [style=dashed]" if edge.conditional else ""
        lines.append(f'  "{edge.source}" -> "{edge.target}"{style};')
    return "\n".join(["digraph agent {", "  node [shape=box];", *lines, "}", ""])


def _run(command: list[str], drawn: Path) -> None:
    try:
        ended = subprocess.run(  # noqa: S603 - a program on PATH, on our own text
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFault(command[0], expected="to draw the graph", got=str(error)) from error
    if ended.returncode != 0 or not drawn.exists():
        got = (ended.stderr or ended.stdout).strip() or f"exit code {ended.returncode}"
        raise EnvironmentFault(command[0], expected="to draw the graph", got=got)
