"""What can be wrong with the files of a run: it is named with its place, and nothing is begun."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

# Made-up projects forget what they import, and half of this cannot be imported anew.
import pytest_cudaopt.optimize.graph  # noqa: F401
from conftest import Project

FILES = Path(__file__).parent.parent / "example_kernels" / "files"
NOT_JUDGED = 2
WHOLE = None


@pytest.fixture
def files(project: Project) -> Project:
    for file in FILES.iterdir():
        if file.is_file():
            shutil.copy(file, project.path)
    return project


def broken(
    file: str, old: str | None, new: str, what: str, got: str, advice: str = ""
) -> tuple[str, str | None, str, str, str, str]:
    return file, old, new, what, got, advice


X = '{"name": "x", "role": "in", "dtype": "f32", "shape": ["rows", "cols"]}'
ROWS = '{"name": "rows", "role": "scalar", "dtype": "i32"}'
DESCRIPTION = '"description": "Row-wise softmax.",'
BROKEN = {
    # sig.json
    "no JSON": broken(
        "sig.json", WHOLE, "{'kernel': 1}", "sig.json", "Expecting property name", "double quotes"
    ),
    "an empty file": broken("sig.json", WHOLE, "", "sig.json", "Expecting value"),
    "a list": broken("sig.json", WHOLE, "[]", "sig.json", "[]"),
    "not UTF-8": broken("sig.json", WHOLE, "\udcff", "signature sig.json", "not UTF-8"),
    "nested deeply": broken("sig.json", WHOLE, "[" * 100_000, "sig.json", "nested too deeply"),
    "NaN": broken("sig.json", "1e-5", "NaN", "sig.json", "NaN, which JSON does not have"),
    "beyond floats": broken("sig.json", "1e-5", "1e999", "sig.json", "1e999, which is beyond all floats"),
    "a key twice": broken("sig.json", DESCRIPTION, DESCRIPTION * 2, "sig.json", "'description' twice"),
    "an unknown key": broken(
        "sig.json", '"tolerance"', '"tolerances"', "sig.json: tolerances", "'tolerances'", "'tolerance'?"
    ),
    "no parameters": broken(
        "sig.json", '"parameters"', '"entry": "softmax", "types"', "sig.json", "kernel, entry"
    ),
    "a kernel's name": broken("sig.json", '"softmax"', '"soft max"', "sig.json: kernel", '"soft max"'),
    "no list": broken("sig.json", WHOLE, '{"kernel": "k", "parameters": {}}', "sig.json: parameters", "{}"),
    "a parameter's key": broken(
        "sig.json", '"in", "dtype"', '"in", "dtpe"', "sig.json: parameters[0].dtpe", "'dtpe'", "'dtype'?"
    ),
    "a role": broken(
        "sig.json", '"role": "in"', '"role": "ins"', "sig.json: parameters[0].role", '"ins"', "'in'?"
    ),
    "no role": broken("sig.json", '"role": "in", ', "", "sig.json: parameters[0]", "name, dtype, shape"),
    "a dtype": broken(
        "sig.json", '"f32"', '"float32"', "sig.json: parameters[0].dtype", '"float32"', "'f32'?"
    ),
    "an extent": broken(
        "sig.json", '["rows", "cols"]', '["rows", 1.5]', "sig.json: parameters[0].shape[1]", "1.5"
    ),
    "an expression": broken(
        "sig.json", '["rows", "cols"]', '["rows", "2 *"]', "sig.json: parameters[0].shape[1]: expression", ""
    ),
    "an unknown size": broken(
        "sig.json",
        '["rows", "cols"]',
        '["rows", "col"]',
        "sig.json: parameter 'x': 'col'",
        "'col'",
        "'cols'?",
    ),
    "no shape": broken(
        "sig.json", ', "shape": ["rows", "cols"]', "", "sig.json: parameters[0]", "name, role, dtype"
    ),
    "a name twice": broken(
        "sig.json", X, f"{X}, {X}", "sig.json: parameters[1]", "'x' a second time", "Rename"
    ),
    "a float as a size": broken(
        "sig.json", ROWS, ROWS.replace("i32", "f32"), "sig.json: parameters[2]", "neither"
    ),
    "what an In cannot have": broken(
        "sig.json", '"shape"', '"exact": true, "shape"', "sig.json: parameters[0].exact", "'exact'"
    ),
    "no output": broken("sig.json", '"role": "out"', '"role": "in"', "sig.json: parameters", "none"),
    "a Python function": broken(
        "sig.json",
        '"shape"',
        '"values": {"generator": "callable", "function": "pages"}, "shape"',
        "sig.json: parameters[0].values",
        "a Python function, pages",
        "test module",
    ),
    "a generator": broken(
        "sig.json",
        '"shape"',
        '"values": {"generator": "unifrom"}, "shape"',
        "sig.json: parameters[0].values.generator",
        '"unifrom"',
        "'uniform'?",
    ),
    "what a generator needs": broken(
        "sig.json",
        '"shape"',
        '"values": {"generator": "integers", "low": 1}, "shape"',
        "sig.json: parameters[0].values",
        "generator, low",
        '"high"',
    ),
    "a generator's order": broken(
        "sig.json",
        '"shape"',
        '"values": {"generator": "uniform", "low": 2, "high": 1}, "shape"',
        "sig.json: parameters[0].values: uniform(2, 1)",
        "2 > 1",
    ),
    "an accept function": broken(
        "sig.json", DESCRIPTION, '"accept": "is_top_k",', "sig.json: accept", "is_top_k, a Python function"
    ),
    "a tolerance": broken("sig.json", "1e-5", "-1", "sig.json: tolerance: rtol=", "-1"),
    "a tolerance's size": broken("sig.json", "1e-5", '"1e-3 * k"', "sig.json: rtol: '1e-3 * k'", "'k'"),
    "a launch rule": broken(
        "sig.json",
        DESCRIPTION,
        '"launch": "grid=(rows)",',
        "sig.json: launch: launch rule 'grid=(rows)'",
        "grid",
    ),
    "a domain": broken(
        "sig.json", DESCRIPTION, '"domain": {"rows": [1]},', "sig.json: domain.rows", "[1]", "[1, 512]"
    ),
    "a domain's order": broken(
        "sig.json", DESCRIPTION, '"domain": {"rows": [9, 1]},', "sig.json: domain: domain['rows']", "(9, 1)"
    ),
    "a condition": broken(
        "sig.json", DESCRIPTION, '"where": ["rows"],', "sig.json: where: where[0]", "'rows'"
    ),
    "a folder": broken("sig.json", DESCRIPTION, '"include": ["inc"],', "sig.json: include[0]", "no folder "),
    "types": broken("sig.json", DESCRIPTION, '"types": {"T": ["half"]},', "sig.json: types.T[0]", '"half"'),
    "work": broken("sig.json", '"bytes"', '"byte"', "sig.json: work.byte", "'byte'", "'bytes'?"),
    # cases.json
    "no case": broken("cases.json", WHOLE, "[]", "cases.json: cases", "[]", '{"sizes"'),
    "an object of cases": broken("cases.json", WHOLE, '{"sizes": {}}', "cases.json: cases", '{"sizes": {}}'),
    "no measured case": broken("cases.json", ', "measure": true', "", "cases.json: cases", "none of 4"),
    "a size": broken("cases.json", '"cols": 1031', '"cols": -1', "cases.json: cases[2].sizes.cols", "-1"),
    "a size as a text": broken("cases.json", "1031", '"1031"', "cases.json: cases[2].sizes.cols", '"1031"'),
    "a size as a float": broken("cases.json", "1031", "1031.0", "cases.json: cases[2].sizes.cols", "1031.0"),
    "a misspelt size": broken(
        "cases.json", '"cols": 17', '"col": 17', "cases.json: cases[1]", "rows, col", "'cols'?"
    ),
    "a missing size": broken("cases.json", ', "cols": 17', "", "cases.json: cases[1]", "rows", "cols=..."),
    "a case twice": broken(
        "cases.json", '"rows": 3, "cols": 17', '"rows": 1, "cols": 1', "cases.json: cases[1]", ""
    ),
    "a case's key": broken(
        "cases.json", '"measure"', '"measured"', "cases.json: cases[3].measured", "'measured'"
    ),
    "a flag": broken("cases.json", "true", '"yes"', "cases.json: cases[3].measure", '"yes"'),
    "a weight": broken("cases.json", "true", 'true, "weight": 0', "cases.json: cases[3].weight", "0"),
    "a seed": broken("cases.json", "true", 'true, "seed": -1', "cases.json: cases[3].seed", "-1"),
    "an array to leave out": broken(
        "cases.json", "true", 'true, "absent": ["x"]', "cases.json: cases[3]", "x=None", "optional=True"
    ),
    "a dtype of no type": broken(
        "cases.json", "true", 'true, "types": {"T": "f16"}', "cases.json: cases[3].T", "the dtype f16"
    ),
    # ref.py
    "a syntax error": broken(
        "ref.py", "def softmax(x, y)", "def softmax(x, y", "module ref.py", "SyntaxError"
    ),
    "an import": broken("ref.py", "import numpy", "import nunpy", "module ref.py", "No module named 'nunpy'"),
    "an exit": broken(
        "ref.py", "import numpy as np", "raise SystemExit(0)", "module ref.py", "SystemExit: 0"
    ),
    "no function": broken("ref.py", WHOLE, "softmax = 3", "reference ", "3"),
    "two functions": broken(
        "ref.py", WHOLE, "def a(x): ...\ndef b(x): ...", "reference ", "a, b", "ref.py::a"
    ),
    "what nobody gives": broken(
        "ref.py", "(x, y)", "(x, y, col)", "reference *'softmax'", "'col'", "'cols'?"
    ),
    "positions": broken("ref.py", "(x, y)", "(x, y, /)", "reference *'softmax'", "x before a '/'", "Remove"),
    # k.cu
    "a source not UTF-8": broken("k.cu", WHOLE, "\udcff", "initial kernel ", "not UTF-8"),
    # example.json
    "a config's key": broken(
        "example.json",
        "max_iterations",
        "max_iteration",
        "example.json: max_iteration",
        "'max_iteration'",
        "s'?",
    ),
    "a config's object": broken("example.json", '"offline"', "{}", "example.json: model", "{}"),
    "a config's file": broken("example.json", '"sig.json"', "3", "example.json: signature", "3"),
    "a config's path": broken(
        "example.json", '"sig.json"', '"sign.json"', "signature *sign.json", "No such file"
    ),
    "a reference's path": broken(
        "example.json", '"ref.py"', '"rf.py"', "reference *rf.py", "no such file", "ref.py"
    ),
    "a reference's kind": broken("example.json", '"ref.py"', '"ref.txt"', "reference", "ref.txt'"),
    "a source's path": broken(
        "example.json", '"k.cu"', '"q.cu"', "initial kernel *q.cu", "No such file", "k.cu"
    ),
    "a file it leaves out": broken(
        "example.json",
        '"reference": "ref.py",',
        "",
        "kernel to optimise",
        "no --reference",
        "--reference FILE",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_named_with_its_place(files: Project, name: str) -> None:
    file, old, new, what, got, advice = BROKEN[name]
    if old is None:
        (files.path / file).write_bytes(new.encode(errors="surrogateescape"))
    else:
        text = (files.path / file).read_text()
        assert old in text
        files.write(file, text.replace(old, new, 1))
    result = files.cudaopt("optimize", "--config", "example.json")
    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines([f"DECLARATION: {pattern(what)}*", f"  got  *{pattern(got)}*"])
    if advice:
        result.stderr.fnmatch_lines([f"  next  *{pattern(advice)}*"])
    assert "Traceback" not in result.stderr.str()
    assert not (files.path / "results").exists()


def pattern(text: str) -> str:
    """Return what matches the text alone; its stars match anything."""
    return text.replace("[", "[[]")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"max_iterations": 2', '"max_iterations": "many"', "max_iterations in example.json"),
        ('"max_iterations": 2', '"max_iterations": 0', "max_iterations in example.json"),
        ('"sim"', '"gpu"', "device in example.json"),
        ('"offline"', '"replay:"', "model in example.json"),
        ('"offline"', '"replay:none.jsonl"', "--optimize-model replay:*none.jsonl"),
    ],
)
def test_an_option_that_makes_no_sense_is_named_with_its_file(
    files: Project, old: str, new: str, words: str
) -> None:
    files.edit("example.json", old, new)
    result = files.cudaopt("optimize", "--config", "example.json")
    assert result.ret == NOT_JUDGED
    output = [*result.stdout.lines, *result.stderr.lines]
    pytest.LineMatcher(output).fnmatch_lines([f"SETTINGS: {words}*"])


@pytest.mark.parametrize(
    ("arguments", "got"),
    [
        ((), "neither"),
        (("--signature", "sig.json"), "no --reference, no --initial-kernel, no --input-cases"),
        (("test_scale.py::scale", "--reference", "ref.py"), "test_scale.py::scale and --reference"),
        (("test_scale.py::scale", "--config", "example.json"), "test_scale.py::scale and --signature, *"),
        (("test_scale.py",), "'test_scale.py'"),
        (("--config", "none.json"), "No such file or directory"),
    ],
)
def test_what_is_to_be_optimised_must_be_said_once(
    files: Project, arguments: tuple[str, ...], got: str
) -> None:
    result = files.cudaopt("optimize", *arguments)
    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["DECLARATION: *", f"  got       {got}"])


def test_the_files_as_they_are_are_right(files: Project) -> None:
    result = files.cudaopt("optimize", "--config", "example.json", "--max-iterations=1")
    assert result.ret == 0
