"""The name of the model: the same for the same sources, wherever they lie and whoever builds them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HARNESS = Path(__file__).parents[1] / "harness_cpp"
CMAKE = shutil.which("cmake")

pytestmark = pytest.mark.skipif(CMAKE is None, reason="needs cmake, which names the model when it builds")


def digest(sources: Path, output: Path) -> str:
    """Return what the build would name the model of `sources`."""
    defines = (f"-DSOURCE_DIR={sources}", f"-DOUTPUT={output}")
    script = HARNESS / "model_digest.cmake"
    subprocess.run([str(CMAKE), *defines, "-P", str(script)], check=True, capture_output=True)
    found = re.search(r'return "([0-9a-f]{12})";', output.read_text())
    assert found is not None
    return found[1]


def copied(folder: Path) -> Path:
    shutil.copytree(HARNESS / "src", folder / "src")
    return folder


def test_equal_sources_have_one_name_in_any_folder(tmp_path: Path) -> None:
    copy = copied(tmp_path / "elsewhere")
    assert digest(copy, tmp_path / "a.cpp") == digest(HARNESS, tmp_path / "b.cpp")


@pytest.mark.parametrize(
    ("file", "is_another"),
    [
        ("src/model/device_table.cpp", True),
        ("src/sim/access_cost.cpp", True),
        ("src/sim/l1.hpp", True),
        ("src/ptx/parser.cpp", True),
        ("src/device.cpp", True),
        ("src/protocol/answer.cpp", False),
        ("src/cuda/context.cpp", False),
    ],
)
def test_what_decides_a_counter_is_part_of_the_name(file: str, is_another: bool, tmp_path: Path) -> None:
    copy = copied(tmp_path)
    before = digest(copy, tmp_path / "a.cpp")
    (copy / file).write_text((copy / file).read_text() + "\n")
    assert (digest(copy, tmp_path / "b.cpp") != before) is is_another


def test_a_file_of_another_name_is_another_model(tmp_path: Path) -> None:
    copy = copied(tmp_path)
    before = digest(copy, tmp_path / "a.cpp")
    (copy / "src/sim/l1.cpp").rename(copy / "src/sim/l2.cpp")
    assert digest(copy, tmp_path / "b.cpp") != before


def test_an_unchanged_name_is_not_written_again(tmp_path: Path) -> None:
    output = tmp_path / "model_digest.cpp"
    digest(HARNESS, output)
    written = output.stat().st_mtime_ns
    digest(HARNESS, output)
    assert output.stat().st_mtime_ns == written
