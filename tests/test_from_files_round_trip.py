"""What a run writes about a kernel can be read back as the same kernel."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_declaration import EVERYTHING, everything

from pytest_cudaopt.arguments import bind
from pytest_cudaopt.compdb import Flags
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.from_files.kernel import KernelFiles, kernel_of
from pytest_cudaopt.load import kernels_in
from pytest_cudaopt.optimize.record import RunFolder
from pytest_cudaopt.reference import compute_expected
from pytest_cudaopt.reference_source import ReferenceSource

ROOT = Path(__file__).parent.parent
MODULES = sorted([*ROOT.glob("example_kernels/test_*.py"), *ROOT.glob("tests/kernels/test_*.py")])
DECLARED = {
    f"{module.stem}::{name}": declared for module in MODULES for name, declared in kernels_in(module).items()
}
# They hold Python functions: contents that are drawn by one, or outputs that are judged by one.
NOT_DATA = {
    "test_attention::paged_decode": "block_tables",
    "test_attention::rotary": "cosines_sines",
    "test_ranking::top_k": "accept",
}
SAME = [
    "name",
    "entry",
    "parameters",
    "sizes",
    "derived",
    "cases",
    "case_ids",
    "launch",
    "obligations",
    "defines",
    "options",
    "work",
    "doc",
    "types",
    "contract",
    "stub",
    "inherited",
    "limits",
    "gate",
    "batch",
]


def written(declared: Kernel, results: Path) -> KernelFiles:
    """Have a run write down what it was given."""
    folder = RunFolder.create(results)
    folder.write_start(declared, declared.start(), {})
    (reference,) = folder.path.glob("reference.*")
    names = ("signature.json", reference.name, "initial.cu", "input_cases.json")
    return KernelFiles(*(str(folder.path / name) for name in names))


def smallest(declared: Kernel) -> Any:
    return min(declared.cases, key=lambda one: int(np.prod(list(one.by_name.values()), dtype=object)))


def assert_same(read: Kernel, declared: Kernel) -> None:
    for name in SAME:
        assert getattr(read, name) == getattr(declared, name), name
    for bound in ("rtol", "atol"):
        given, expected = getattr(read.tolerance, bound), getattr(declared.tolerance, bound)
        assert (given is None) == (expected is None)
        sizes = read.all_sizes(read.cases[0])
        assert given is None or given.evaluate(sizes) == expected.evaluate(sizes)
    assert read.start().source == declared.start().source
    assert read.start().launch == declared.start().launch
    assert sorted(read.start().headers.values()) == sorted(declared.start().headers.values())
    one = smallest(read)
    arguments, expected = bind(read, one), bind(declared, one)
    for name, array in expected.arrays.items():
        assert array.tobytes() == arguments.arrays[name].tobytes()
    assert arguments.scalars == expected.scalars
    if isinstance(declared.reference, ReferenceSource):
        assert isinstance(read.reference, ReferenceSource)
        assert read.reference.entry == declared.reference.entry
        return
    outputs, wanted = compute_expected(read, arguments), compute_expected(declared, expected)
    for name, array in wanted.arrays.items():
        assert array.tobytes() == outputs.arrays[name].tobytes()


@pytest.mark.parametrize("name", [name for name in DECLARED if name not in NOT_DATA])
def test_a_declaration_of_data_is_read_back_the_same(name: str, tmp_path: Path) -> None:
    assert_same(kernel_of(written(DECLARED[name], tmp_path)), DECLARED[name])


@pytest.mark.parametrize("name", NOT_DATA)
def test_a_python_function_in_a_declaration_is_named_and_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="a Python function") as caught:
        kernel_of(written(DECLARED[name], tmp_path))
    assert "test module" in (caught.value.next_step or "")
    assert "signature.json" in caught.value.what


@pytest.fixture
def declared_everything(tmp_path: Path) -> Kernel:
    source = tmp_path / "every.cu"
    source.write_text(EVERYTHING)
    fields = {field.name: getattr(everything, field.name) for field in dataclasses.fields(everything)}
    inherited = Flags(defines=(("NDEBUG", "1"),), options=("--fmad=false",))
    return Kernel(**{**fields, "source": source, "inherited": inherited})


def test_everything_that_is_data_is_read_back(declared_everything: Kernel, tmp_path: Path) -> None:
    files = written(declared_everything, tmp_path / "results")
    read = kernel_of(files)
    assert_same(read, declared_everything)
    assert read.reference_sizes == ("k",)
    assert [one.at for one in read.waivers] == ["initial.cu:31", "csrc/other.cuh", "initial.cu"]
    text = Path(files.reference).read_text()
    assert "# A comment that stays." in text
    assert "OFFSET = 3" in text
    assert "EVERYTHING" not in text
    assert "@kernel" not in text


def test_what_is_written_of_what_was_read_is_the_same(declared_everything: Kernel, tmp_path: Path) -> None:
    first = written(declared_everything, tmp_path / "results")
    second = written(kernel_of(first), tmp_path / "results")
    assert second != first
    for key in ("signature", "input_cases"):
        before, after = (json.loads(Path(getattr(files, key)).read_text()) for files in (first, second))
        assert after == before


def test_nothing_that_a_declaration_says_is_forgotten() -> None:
    """A new field of Kernel is to be written to signature.json and read from it."""
    from_elsewhere = {"source", "location", "reference", "reference_sizes", "pytestmark"}
    elsewhere_tested = {"tolerance", "include", "waivers", "accept"}
    known = {*SAME, *from_elsewhere, *elsewhere_tested} - {"case_ids"}
    assert {field.name for field in dataclasses.fields(Kernel)} == known


GARBAGE = (None, True, 0, -1, 1.5, "", "x", "1 +", [], {}, [None], {"a": None}, 10**400, "9" * 5000, "é")


def places(value: Any, found: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value of a JSON document."""
    yield found
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*found, key))


def replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(value[place[0]], place[1:], new)
    return copy


@pytest.mark.parametrize("key", ["signature", "input_cases"])
def test_garbage_anywhere_is_read_or_refused_with_the_file_it_is_in(
    declared_everything: Kernel, tmp_path: Path, key: str
) -> None:
    files = written(declared_everything, tmp_path / "results")
    path = Path(getattr(files, key))
    content = json.loads(path.read_text())
    content = {**content, "instances": []} if key == "signature" else content
    refused = [
        str(error)
        for number, place in enumerate(places(content))
        # Each place gets a third of it, its neighbours the rest.
        for garbage in GARBAGE[number % 3 :: 3]
        if (error := refusal(files, path, replaced(content, place, garbage))) is not None
    ]
    assert len(refused) > 150
    assert [text for text in refused if ".json" not in text and "reference.py" not in text] == []


def refusal(files: KernelFiles, path: Path, content: Any) -> DeclarationError | None:
    path.write_text(json.dumps(content))
    try:
        kernel_of(files)
    except DeclarationError as error:
        return error
    return None
