"""Structs by value and module variables through the real compiler and `sim`, below the package."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
from harness_client import COMPILE, LOAD, Json, Served, launch, module, request

SOURCE = """\
namespace ns {
struct Params { const float* x; int n; volatile float scale; float* const y; };
static __constant__ float taps[2][2];
__device__ int calls;
}
extern "C" __global__ void k(const ns::Params p) {
    if (threadIdx.x < p.n) p.y[threadIdx.x] = p.scale * p.x[threadIdx.x] + ns::taps[1][0] + ns::calls;
    if (threadIdx.x == 0) ns::calls += 1;
}
"""
MEMBERS = [
    {"name": "x", "offset": 0, "types": ["const float*", "float*"]},
    {"name": "n", "offset": 8, "types": ["int"]},
    {"name": "scale", "offset": 12, "types": ["float"]},
    {"name": "y", "offset": 16, "types": ["float*"]},
]
PARAMS: Json = {"name": "ns::Params", "bytes": 24, "members": MEMBERS}
SYMBOLS = [{"name": "ns::taps", "types": ["float"]}, {"name": "ns::calls", "types": ["int"]}]
ENTRIES = [{"name": "k", "parameters": [["ns::Params"]]}]
WRITES = [{"symbol": "ns::taps", "buffer": "taps"}, {"symbol": "ns::calls", "buffer": "calls"}]


def f32(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served() as serving:
        yield serving


@pytest.fixture(params=[True, False], ids=["line-tables", "at-once"])
def tables(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def compiled(served: Served, tables: bool, **changes: object) -> Json:
    keys = {"entries": ENTRIES, "structs": [PARAMS], "symbols": SYMBOLS, "line_tables": tables, **changes}
    return served.ask(request(COMPILE, modules=[module(SOURCE, **keys)]))


def test_a_layout_that_fits_is_accepted_whatever_its_qualifiers(served: Served, tables: bool) -> None:
    answer = compiled(served, tables)
    assert answer["status"] == "ok", answer
    lowered = answer["steps"][0]["lowered"]
    assert set(lowered) == {"k", "ns::taps", "ns::calls"}
    assert "taps" in lowered["ns::taps"]


def changed(name: str, /, **keys: object) -> Json:
    members = [member | keys if member["name"] == name else member for member in MEMBERS]
    return PARAMS | {"members": members}


@pytest.mark.parametrize(
    ("changes", "line", "reason"),
    [
        (
            {"structs": [PARAMS | {"bytes": 32}]},
            2,
            "struct 'ns::Params' is not as declared: it has 24 bytes, expected 32",
        ),
        ({"structs": [changed("n", offset=12)]}, 2, "member 'n' is at byte 8, expected 12"),
        (
            {"structs": [changed("x", types=["double*"])]},
            2,
            "member 'x' is 'const float *', expected 'double*'",
        ),
        ({"structs": [changed("n", name="m")]}, 2, 'not as declared: class "ns::Params" has no member "m"'),
        (
            {"structs": [PARAMS | {"name": "ns::Param"}]},
            0,
            'struct \'ns::Param\' is not as declared: namespace "ns" has no member "Param"',
        ),
        (
            {"symbols": [{"name": "ns::taps", "types": ["double"]}]},
            3,
            "variable 'ns::taps' is not as declared: its elements are 'float', expected 'double'",
        ),
        (
            {"symbols": [{"name": "ns::tabs", "types": ["float"]}]},
            0,
            'variable \'ns::tabs\' is not as declared: namespace "ns" has no member "tabs"',
        ),
    ],
)
def test_one_that_does_not_fit_is_an_error_at_its_line(
    served: Served, tables: bool, changes: Json, line: int, reason: str
) -> None:
    fault = compiled(served, tables, **changes)["fault"]
    assert fault["kind"] == "compile_error"
    told = [(one["line"], one["text"]) for one in fault["diagnostics"] if one["severity"] == "error"]
    assert told[0][0] == line
    assert told[0][1].startswith("cudaopt layout: ")
    assert reason in told[0][1]


def test_errors_of_the_source_come_before_those_of_its_layout(served: Served, tables: bool) -> None:
    keys = {"entries": ENTRIES, "structs": [PARAMS | {"bytes": 32}], "line_tables": tables}
    fault = served.ask(request(COMPILE, modules=[module(SOURCE + "int f( {", **keys)]))["fault"]
    assert "cudaopt layout" not in fault["message"]


def scene(*steps: Json, calls: int = 5) -> Json:
    """Return a request that launches on x = 1 .. 4 with taps 0, 0, 10, 0."""
    keys = {"entries": ENTRIES, "structs": [PARAMS], "symbols": SYMBOLS}
    buffers = [
        {"name": "x", "bytes": 16, "poison": f32(1, 2, 3, 4).hex(), "access": "read"},
        {"name": "y", "bytes": 16},
        {"name": "taps", "bytes": 16, "poison": f32(0, 0, 10, 0).hex(), "access": "read"},
        {"name": "calls", "bytes": 4, "poison": struct.pack("<i", calls).hex(), "access": "read"},
        {"name": "short", "bytes": 8, "access": "read"},
    ]
    return request(COMPILE, LOAD, *steps, modules=[module(SOURCE, **keys)], buffers=buffers)


def params(n: int = 4) -> Json:
    members = [
        {"offset": 0, "buffer": "x"},
        {"offset": 8, "scalar": "i32", "value": struct.pack("<i", n).hex()},
        {"offset": 12, "scalar": "f32", "value": f32(2).hex()},
        {"offset": 16, "buffer": "y"},
    ]
    return {"struct": members, "bytes": 24}


def equals(*values: float) -> Json:
    import hashlib

    return {"do": "compare_digest", "buffer": "y", "sha256": hashlib.sha256(f32(*values)).hexdigest()}


def test_a_struct_reaches_the_kernel_and_variables_are_written_before_each_launch(served: Served) -> None:
    step = launch("k", params()) | {"symbols": WRITES}
    right = equals(17, 19, 21, 23)
    answer = served.ask(scene(step, right, step, right))
    assert answer["status"] == "ok", answer
    assert [one["equal"] for one in answer["steps"] if one["do"] == "compare_digest"] == [True, True]


def test_a_variable_nobody_writes_is_what_the_module_says(served: Served) -> None:
    answer = served.ask(scene(launch("k", params()), equals(2, 4, 6, 8)))
    assert answer["steps"][-1]["equal"]


def test_measuring_writes_variables_too(served: Served) -> None:
    timed = launch("k", params()) | {"do": "measure", "symbols": WRITES}
    answer = served.ask(scene(timed))
    assert answer["steps"][-1]["kind"] == "modelled"


def test_pointers_within_a_struct_are_checked_like_others(served: Served) -> None:
    fault = served.ask(scene(launch("k", params(n=5))))["fault"]
    assert (fault["kind"], fault["buffer"], fault["element"]) == ("illegal_address", "x", 16)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (
            {"symbols": [{"symbol": "ns::taps", "buffer": "short"}]},
            "invalid_launch",
            "'ns::taps' has 16 bytes, expected the 8",
        ),
        (
            {"symbols": [{"symbol": "ns::tabs", "buffer": "taps"}]},
            "unknown_entry",
            "no __constant__ or __device__ variable 'ns::tabs'",
        ),
        (
            {"arguments": [params() | {"bytes": 32}]},
            "invalid_launch",
            "has 24 bytes, got 32 bytes (a struct)",
        ),
    ],
)
def test_a_launch_that_does_not_fit_is_refused(served: Served, change: Json, kind: str, words: str) -> None:
    fault = served.ask(scene(launch("k", params()) | change))["fault"]
    assert fault["kind"] == kind
    assert words in fault["message"]
