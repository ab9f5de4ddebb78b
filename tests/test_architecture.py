"""Layers: who may import whom, and what loading the plugin may cost."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pytest_cudaopt"

# A module imports from its own layer and those below.
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "errors",
        "dtypes",
        "expressions",
        "wire",
        "durable",
        "cache",
        "file_lock",
        "rounding",
        "float_expressions",
        "duration_text",
    ),
    (
        "__init__",
        "values",
        "parameters",
        "structs",
        "formals",
        "strided",
        "cases",
        "launch",
        "launch_fields",
        "directive_checks",
        "misspelt_directives",
        "directives",
        "includes",
        "header_files",
        "closure",
        "shims",
        "rewritten",
        "regions",
        "macros",
        "compdb",
        "candidate",
        "case_product",
        "contract",
        "size_space",
        "size_hints",
        "size_pools",
        "draw_sizes",
        "index_values",
        "properties",
        "families",
        "value_families",
        "arranged_families",
        "integer_families",
        "number_families",
        "instances",
        "decorated",
        "declare",
        "declared",
        "declared_parameters",
        "declared_thresholds",
        "declared_batch",
        "declaration_checks",
        "case_checks",
        "amounts",
        "markers",
        "tiled",
        "arguments",
        "finding",
        "rounding_error",
        "ptx",
        "module_state",
        "narrowing",
        "tripwire",
        "waivers",
        "resource_limits",
        "resources_taken",
        "sanitized",
        "line_counters",
        "evaluation",
        "paired",
        "gated",
        "gate",
        "gate_reason",
        "recorded",
        "incumbent",
        "git_revision",
        "revision_files",
        "against",
        "declaring_files",
        "changed",
        "declared_facts",
        "baseline",
        "baseline_place",
        "baseline_document",
        "baseline_text",
        "option_text",
        "settings",
        "tolerance",
        "criterion",
        "fingerprint",
        "reference_source",
        "torch_reference",
        "sandbox",
        "sandboxed_function",
        "project",
        "ini_file",
        "load",
    ),
    (
        "protocol",
        "answers",
        "serving",
        "harness",
        "driver",
        "nvrtc_search",
        "toolchain",
        "scratch",
        "gpu_lock",
        "gpu_state",
        "device",
        "compile",
        "compile_notes",
        "machine_code",
        "ptx_code",
        "machine",
    ),
    (
        "reference",
        "reference_call",
        "reference_cache",
        "kernel_reference",
        "expectation",
        "unwritten",
        "accept",
        "validate",
        "scan",
        "substitutes",
        "loose_tolerance",
        "host_memory",
        "prepared_case",
        "prepare",
        "buffers",
        "stray",
        "case_request",
        "run",
        "shadow_run",
        "outputs",
        "agreement",
        "contents",
        "measure",
        "interleave",
        "rebuilt",
        "gate_measured",
        "gate_modelled",
        "modelled_causes",
        "gate_on_sim",
        "timed_case",
        "gate_case",
        "localise",
        "peaks",
        "peak_measurement",
        "plausible",
        "sanitize",
        "touched",
        "achieved",
        "reasons",
        "checked",
        "witness",
        "by_chance",
        "allowance",
        "differential",
        "precision",
        "error_share",
        "neighbours",
        "stricter",
        "trials",
        "large_offsets",
        "batch",
        "probe",
        "probed",
        "decoys",
        "other_buffers",
        "partly_other",
        "draw_cases",
        "sanitize_cases",
        "fuzz",
        "drawn",
        "mutate",
        "baseline_update",
        "baseline_files",
    ),
    (
        "pipeline",
        "case_judge",
        "new_tripwires",
        "logic_gaps",
        "judge_limits",
        "rung",
        "probe_rung",
        "ladder",
        "plans",
        "certificate",
        "replay",
        "strength",
        "strength_judges",
    ),
    (
        "report",
        "finding_text",
        "comparison_text",
        "rounding_text",
        "excerpts",
        "plots",
        "table",
        "latency_text",
        "baseline_merge",
        "baseline_lines",
        "baseline_tree",
        "baseline_prune",
        "baseline_apply",
        "verdict_json",
        "requirements",
        "session_report",
        "markdown_report",
        "html_report",
        "github",
        "strength_report",
    ),
    ("optimize", "adopt", "from_files"),
    (
        "plugin",
        "session",
        "collect",
        "items",
        "item_work",
        "benchmark_bridge",
        "session_budget",
        "unchanged_items",
        "session_end",
        "sanitize_item",
        "limits_item",
        "contract_item",
        "fuzz_item",
        "latency_item",
        "cli",
        "doctor",
        "kernel_rows",
        "peak_rows",
        "rerun",
        "command_settings",
        "strength_command",
        "optimize_command",
        "baseline_command",
    ),
)
LAYER_OF = {module: number for number, modules in enumerate(LAYERS) for module in modules}

# Heavy or risky libraries, and the only modules that may import them.
CONFINED = {
    "langgraph": ("optimize",),
    "openai": ("optimize",),
    "matplotlib": ("plots",),
    "pytest": ("plugin", "session", "collect", "benchmark_bridge", "session_end", "unchanged_items"),
    "rich": ("cli", "doctor"),
    "hypothesis": ("fuzz",),
}
LIGHT_PLUGIN = ("numpy", "openai", "langgraph", "matplotlib", "cuda", "hypothesis", "rich", "ml_dtypes")


def _name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _sources(root: Path) -> dict[str, str]:
    """Return every module's text by dotted name below the package; `__init__` is the package itself."""
    return {_name(path, root): path.read_text() for path in root.rglob("*.py")}


def _imports(text: str, modules: Mapping[str, object]) -> set[str]:
    """Return imported modules: `.x` for this package's x, plain names for others. Functions count."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {_own(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports of this package absolutely"
            base = _own(node.module or "")
            for alias in node.names:
                inner = f"{base}.{alias.name}" if base != "." else f".{alias.name}"
                found.add(inner if inner.removeprefix(".") in modules else base)
    return found


def _own(module: str) -> str:
    if module == "pytest_cudaopt":
        return "."
    return f".{module.removeprefix('pytest_cudaopt.')}" if module.startswith("pytest_cudaopt.") else module


def _top(module: str) -> str:
    return module.split(".")[0] or "__init__"


def violations(sources: Mapping[str, str]) -> list[str]:
    """Return what breaks the layering, one sentence each."""
    found = [f"{name}: has no layer" for name in sources if _top(name) not in LAYER_OF]
    for name, text in sources.items():
        importer = _top(name)
        for imported in sorted(_imports(text, sources)):
            if imported.startswith("."):
                target = _top(imported[1:])
                if LAYER_OF.get(target, 99) > LAYER_OF.get(importer, -1):
                    found.append(f"{name}: imports {target} from a layer above")
            elif importer not in CONFINED.get(_top(imported), (importer,)):
                found.append(f"{name}: imports {_top(imported)}")
    return found


def test_every_module_imports_only_from_its_layer_and_below() -> None:
    assert violations(_sources(PACKAGE)) == []


def test_every_module_of_the_list_exists() -> None:
    present = {_top(name) for name in _sources(PACKAGE)}
    assert {name for layer in LAYERS for name in layer} == present


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("launch", "from pytest_cudaopt import pipeline", "launch: imports pipeline from a layer above"),
        ("launch", "from pytest_cudaopt.pipeline import x", "launch: imports pipeline from a layer above"),
        ("launch", "import pytest_cudaopt.pipeline", "launch: imports pipeline from a layer above"),
        ("report", "def f():\n    import pytest_cudaopt.plugin", "report: imports plugin from a layer above"),
        ("pipeline", "from pytest_cudaopt.optimize.graph import x", "pipeline: imports optimize from a"),
        ("pipeline", "if 1:\n    import openai", "pipeline: imports openai"),
        ("cli", "from langgraph.graph import StateGraph", "cli: imports langgraph"),
        ("optimize.nodes", "from hypothesis import given", "optimize.nodes: imports hypothesis"),
        ("novelty", "", "novelty: has no layer"),
    ],
)
def test_a_module_that_breaks_the_layering_is_reported(name: str, text: str, complaint: str) -> None:
    made_up = {"pipeline": "", "plugin": "", "optimize.graph": "", name: text}
    assert any(found.startswith(complaint) for found in violations(made_up))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pipeline", "from pytest_cudaopt import errors, launch\nfrom pytest_cudaopt.errors import X"),
        ("optimize.graph", "import langgraph\nfrom pytest_cudaopt.optimize import nodes"),
        ("cli", "import numpy.random\nfrom pytest_cudaopt import __version__"),
    ],
)
def test_a_module_within_the_layering_is_not_reported(name: str, text: str) -> None:
    assert violations({"errors": "", "launch": "", "optimize.nodes": "", name: text}) == []


def cycle(sources: Mapping[str, str]) -> list[str]:
    """Return modules that import each other in a circle at load time; empty if there is none."""
    imports = {name: _loaded(text, sources) for name, text in sources.items()}
    finished: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in finished or name not in imports:
            return []
        for imported in sorted(imports[name]):
            if found := visit(imported, [*path, name]):
                return found
        finished.add(name)
        return []

    return next((found for name in imports if (found := visit(name, []))), [])


def _loaded(text: str, sources: Mapping[str, str]) -> set[str]:
    # Only what runs when the module is loaded: neither functions nor `if TYPE_CHECKING`.
    statements = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    top = ast.unparse(ast.Module(statements, []))
    return {name[1:] for name in _imports(top, sources) if name.startswith(".") and name != "."}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycle(_sources(PACKAGE)) == []


def test_a_circle_is_found() -> None:
    circle = {
        "a": "from pytest_cudaopt import b",
        "b": "from pytest_cudaopt.c import x",
        "c": "import pytest_cudaopt.a",
    }
    assert cycle(circle) == ["a", "b", "c", "a"]
    assert cycle({**circle, "c": "def f():\n    import pytest_cudaopt.a"}) == []


def _loaded_libraries(statement: str) -> set[str]:
    code = f"import pytest, sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_loading_the_plugin_loads_nothing_heavy() -> None:
    added = _loaded_libraries("import pytest_cudaopt.plugin") - _loaded_libraries("pass")
    assert added & set(LIGHT_PLUGIN) == set()
    assert "pytest_cudaopt" in added


def test_a_heavy_import_would_be_noticed() -> None:
    assert "numpy" in _loaded_libraries("import pytest_cudaopt.validate") - _loaded_libraries("pass")
