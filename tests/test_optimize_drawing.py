"""The agent's graph as a picture."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.optimize.drawing import dot, write_svg
from pytest_cudaopt.optimize.graph import mermaid

README = Path(__file__).parents[1] / "README.md"


def program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def on_path(*programs: Path):
    return lambda name: next((str(one) for one in programs if one.name == name), None)


def test_mermaids_own_program_comes_first(tmp_path: Path) -> None:
    mmdc = program(tmp_path, "mmdc", 'cp "$2" "$4"')
    other = program(tmp_path, "dot", "exit 1")
    assert write_svg(tmp_path / "graph.svg", find=on_path(other, mmdc)) == str(mmdc)
    assert (tmp_path / "graph.svg").read_text() == mermaid()


def test_graphviz_draws_it_as_well(tmp_path: Path) -> None:
    own = program(tmp_path, "dot", 'cp "$2" "$4"')
    assert write_svg(tmp_path / "graph.svg", find=on_path(own)) == str(own)
    assert (tmp_path / "graph.svg").read_text() == dot()
    assert '"gather" -> "decide";' in dot()
    assert '"branch:propose" -> "branch:tools" [style=dashed];' in dot()
    assert '"branch:propose" [label="propose"];' in dot()


@pytest.mark.skipif(shutil.which("dot") is None, reason="no dot on PATH")
def test_graphviz_understands_it(tmp_path: Path) -> None:
    write_svg(tmp_path / "graph.svg", find=lambda name: shutil.which(name) if name == "dot" else None)
    assert "<svg" in (tmp_path / "graph.svg").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [("echo no browser >&2; exit 3", "no browser"), ("exit 3", "exit code 3"), ("", "exit code 0")],
)
def test_a_program_that_fails_is_quoted(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(EnvironmentFault, match=f"dot.*to draw the graph.*{words}"):
        write_svg(tmp_path / "graph.svg", find=on_path(program(tmp_path, "dot", text)))
    assert not (tmp_path / "graph.svg").exists()


def test_without_a_program_it_is_said_which_to_install(tmp_path: Path) -> None:
    with pytest.raises(
        EnvironmentFault, match=r"mmdc \(mermaid-cli\) or dot \(graphviz\).*apt-get install graphviz"
    ):
        write_svg(tmp_path / "graph.svg", find=on_path())


def test_a_picture_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    own = program(tmp_path, "dot", 'cp "$2" "$4"')
    with pytest.raises(EnvironmentFault, match=r"absent/graph\.svg: expected to be written"):
        write_svg(tmp_path / "absent" / "graph.svg", find=on_path(own))


def test_a_graph_in_the_readme_is_the_graph() -> None:
    blocks = README.read_text().split("```mermaid\n")[1:]
    assert all(block.partition("```")[0] == mermaid() for block in blocks)
