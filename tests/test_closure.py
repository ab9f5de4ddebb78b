"""What a source may include: resolved by us, read once, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from judged_kernels import axpy
from test_compile import asked, cache, compiled, failure  # noqa: F401 - fixtures

from pytest_cudaopt.closure import Closure, Place, close, close_over
from pytest_cudaopt.compile import compile_candidate, source_module
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.protocol import Compile, Request
from pytest_cudaopt.rewritten import Rewritten, rewrite

# A toolkit of a distribution has its headers among the system's.
TOOLCHAIN = ("cuda_fp16.h", "cub/cub.cuh", "cuda.h", "stdint.h", "unistd.h")


def tree(folder: Path, **files: str) -> None:
    """Write files; `__` in a name is a slash, a single `_` the dot of the suffix."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def closed(source: str, folder: Path, include: Iterable[str] = (), stub: Iterable[str] = ()) -> Closure:
    return close(source, Place(folder, tuple(folder / name for name in include), tuple(stub)))


def written(closure: Closure) -> Rewritten:
    return rewrite(closure, TOOLCHAIN.__contains__)


def test_headers_are_followed_and_named_relative_to_the_source(tmp_path: Path) -> None:
    tree(tmp_path, src__a_h='#include "b.h"\nint a;\n', src__b_h="int b;\n", lib__c_h="int c;\n")
    got = written(closed('#include "a.h"\n#include <c.h> // c\nint k;\n', tmp_path / "src", ["../lib"]))
    assert got.source == "#include <./a.h>\n#include <../lib/c.h> // c\nint k;\n"
    assert got.headers == {
        "./a.h": "#include <./b.h>\nint a;\n",
        "./b.h": "int b;\n",
        "../lib/c.h": "int c;\n",
    }


def test_headers_of_one_name_in_different_folders_stay_apart(tmp_path: Path) -> None:
    tree(
        tmp_path,
        one__x_h='#include "y.h"\n',
        one__y_h="int one;",
        two__x_h='#include "y.h"\n',
        two__y_h="int two;",
    )
    got = written(closed('#include "one/x.h"\n#include "two/x.h"\n', tmp_path))
    assert got.headers["./one/x.h"] == "#include <./one/y.h>\n"
    assert got.headers["./two/x.h"] == "#include <./two/y.h>\n"


def test_a_file_under_two_names_is_one_header(tmp_path: Path) -> None:
    tree(tmp_path, x_h="#pragma once\n")
    (tmp_path / "link.h").symlink_to(tmp_path / "x.h")
    got = written(closed('#include "x.h"\n#include "link.h"\n', tmp_path))
    assert got.source == "#include <./x.h>\n#include <./x.h>\n"


def test_headers_that_include_each_other_are_read_once(tmp_path: Path) -> None:
    tree(tmp_path, x_h='#include "y.h"', y_h='#include "x.h"')
    assert list(closed('#include "x.h"', tmp_path).headers.texts) == ["x.h", "y.h"]


def test_beside_the_file_comes_before_folders_which_come_in_order(tmp_path: Path) -> None:
    tree(tmp_path, x_h="beside", one__x_h="one", two__x_h="two")
    closure = closed('#include "x.h"\n#include <x.h>\n', tmp_path, ["two", "one"])
    assert written(closure).source == "#include <./x.h>\n#include <./two/x.h>\n"


def test_headers_of_the_toolchain_stay_as_they_are(tmp_path: Path) -> None:
    closure = closed('#include <cuda_fp16.h>\n#include "cub/cub.cuh"\n', tmp_path)
    assert written(closure).source == "#include <cuda_fp16.h>\n#include <cub/cub.cuh>\n"


@pytest.mark.parametrize(
    ("directive", "reason"),
    [
        ('#include "/etc/passwd"', "it is absolute"),
        ("#include </etc/passwd>", "it is absolute"),
        ('#include "../out.h"', 'it leaves the include folders. Add include=[".."]'),
        ("#include <../../../../etc/passwd>", "no such file; searched the source's folder, lib"),
        (
            '#include "no.h"',
            "no such file; searched the source's folder, lib, and the CUDA headers. Name its",
        ),
        ("#include <no.h>", "no such file; searched lib, and the CUDA headers"),
        ("#include NAME", "its name is computed by a macro. Write the name itself"),
        (
            "#include <vector>",
            "host-only header. Put host code between '#ifndef __CUDACC_RTC__' and '#endif'",
        ),
        ("#include <unistd.h>", "host-only header"),
        ("#include_next <x.h>", "include_next <x.h>: #include_next is not supported. Write a plain #include"),
        ('#embed "x.h"', "#embed is not supported"),
        ('#import "x.h"', "#import is not supported"),
        ('#include ""', "it names no file"),
        ("#define __THRUST_HOST_SYSTEM_ROOT /etc", "it changes what the toolchain includes"),
        ('#include "zero.h"', "it holds a zero byte"),
    ],
)
def test_what_cannot_be_included_becomes_an_error_in_its_place(
    tmp_path: Path, directive: str, reason: str
) -> None:
    tree(tmp_path, out_h="", src__x_h="", src__zero_h="\0", src__lib__y_h="")
    source = written(closed(f"int a;\n  {directive} // c\nint b;\n", tmp_path / "src", ["lib"])).source
    first, error, last, _ = source.split("\n")
    assert (first, last) == ("int a;", "int b;")
    assert error.startswith("  #error cudaopt: ")
    assert reason in error


def test_a_directive_over_several_lines_leaves_the_line_numbers(tmp_path: Path) -> None:
    source = written(closed("#inc\\\nlude \\\n<vector>\nint b;\n", tmp_path)).source
    assert source.split("\n")[3] == "int b;"


def test_a_stub_wins_over_folders_and_is_named(tmp_path: Path) -> None:
    tree(tmp_path, lib__torch__x_h="#error read")
    got = written(
        closed('#include <torch/x.h>\n#include "torch/y.h"\nint b;\n', tmp_path, ["lib"], ["torch/*"])
    )
    assert got == Rewritten("\n\nint b;\n", {}, ("torch/x.h", "torch/y.h"))


def test_probes_are_answered_from_the_closure(tmp_path: Path) -> None:
    tree(tmp_path, x_h="")
    names = ['"x.h"', '"no.h"', "<cuda.h>", "<limits>", "<vector>", "</etc/passwd>", "<t/x>"]
    lines = [f"#if __has_include({name})" for name in names]
    got = written(closed("\n".join(lines), tmp_path, stub=["t/*"]))
    assert got.source == "\n".join(f"#if {answer}" for answer in (1, 0, 1, 1, 0, 0, 1))


def test_a_directive_hidden_in_a_raw_string_stops_the_compiler(tmp_path: Path) -> None:
    source = written(closed('int a;\nR"(\n#include "x.h"\n)"', tmp_path)).source
    assert source.startswith("#error cudaopt: line 3: an #include in a raw string")


def test_texts_are_those_of_the_time_of_reading_and_read_again_when_changed(tmp_path: Path) -> None:
    tree(tmp_path, x_h="old")
    first = closed('#include "x.h"', tmp_path)
    tree(tmp_path, x_h="newer")
    assert first.headers.texts == {"x.h": "old"}
    assert closed('#include "x.h"', tmp_path).headers.texts == {"x.h": "newer"}


def test_an_unchanged_header_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, x_h="text")
    first = closed('#include "x.h"\nint a;', tmp_path)
    read: list[Path] = []
    read_text = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path, **how: read.append(path) or read_text(path, **how))
    assert closed('#include "x.h"\nint b;', tmp_path).headers is first.headers
    assert closed("int c;\n\n#include <x.h>", tmp_path, ["."]).headers.texts == {"x.h": "text"}
    assert read == []
    tree(tmp_path, x_h="another")
    closed('#include "x.h"\nint b;', tmp_path)
    assert read == [tmp_path / "x.h"]


def test_a_header_that_appears_in_front_of_another_is_taken(tmp_path: Path) -> None:
    tree(tmp_path, lib__x_h="behind")
    assert closed('#include "x.h"', tmp_path, ["lib"]).headers.texts == {"lib/x.h": "behind"}
    tree(tmp_path, x_h="before")
    assert closed('#include "x.h"', tmp_path, ["lib"]).headers.texts == {"x.h": "before"}


# Declared and compiled.

HELPER = "#pragma once\n__device__ inline float shifted(float v) { return v + 1.0f; }\n"
USE = ("extern", '#include "shift.h"\n#include "shift.h"\nextern')
CALL = ("a * x[i] + 1.0f", "shifted(a * x[i])")


def with_header(folder: Path, **declared: object) -> Kernel:
    tree(folder, lib__shift_h=HELPER)
    return axpy(folder, USE, CALL, include=[str(folder / "lib")], **declared)


def test_a_changed_header_is_another_candidate_and_compiled_again(
    tmp_path: Path,
    sim: Device,
    cache: Path,  # noqa: F811
    asked: list[Request],  # noqa: F811
) -> None:
    kernel = with_header(tmp_path)
    first = kernel.start()
    compiled(kernel, sim)
    compiled(kernel, sim)
    assert len(asked) == 1
    tree(tmp_path, lib__shift_h=HELPER.replace("1.0f", "2.0f"))
    assert kernel.start().digest != first.digest
    compiled(kernel, sim)
    compiled(kernel, sim, first)
    assert len(asked) == 2


def test_an_error_in_a_header_is_named_as_the_user_names_it(tmp_path: Path, sim: Device) -> None:
    kernel = with_header(tmp_path)
    tree(tmp_path, lib__shift_h=HELPER.replace("v +", "w +"))
    (error, *_) = failure(kernel, sim).diagnostics
    assert (error.file, error.line) == ("lib/shift.h", 2)
    tree(tmp_path, shift_h=HELPER.replace("v +", "w +"))
    (error, *_) = failure(kernel, sim).diagnostics
    assert (error.file, error.line) == ("shift.h", 2)


def test_users_headers_do_not_replace_the_toolchains_own(tmp_path: Path, sim: Device) -> None:
    # cooperative_groups.h includes "info.h" and "helpers.h" of its own.
    tree(tmp_path, info_h="#define INFO 1\n", helpers_h="#define HELPERS 1\n", cuda__fp16_hpp="#error taken")
    (tmp_path / "cuda_fp16.hpp").write_text("#error taken\n")
    includes = "".join(
        f"#include {name}\n"
        for name in ('"info.h"', '"helpers.h"', "<cooperative_groups.h>", "<cuda_fp16.h>", "<cuda_runtime.h>")
    )
    compiled(axpy(tmp_path, ("extern", f"{includes}static_assert(INFO && HELPERS);\nextern")), sim)


def test_an_error_of_an_include_bites_only_where_it_is_active(tmp_path: Path, sim: Device) -> None:
    compiled(axpy(tmp_path, ("extern", "#ifndef __CUDACC_RTC__\n#include <vector>\n#endif\nextern")), sim)
    (error, *_) = failure(axpy(tmp_path, ("extern", "#include <vector>\nextern")), sim).diagnostics
    assert (error.file, error.line) == ("axpy.cu", 3)
    assert "include <vector>: host-only header" in error.text


def test_what_a_stub_hides_is_said_in_the_compile_error(tmp_path: Path, sim: Device) -> None:
    use = ("extern", "#include <lib/shift.h>\nextern")
    failed = failure(axpy(tmp_path, use, CALL, stub=["lib/*"]), sim)
    assert "lib/shift.h: empty because of stub=" in failed.finding.message
    assert "lib/shift.h: empty because of stub=" in failed.diagnostics[0].text


def test_cuda_h_can_be_included(tmp_path: Path, sim: Device) -> None:
    compiled(
        axpy(tmp_path, ("extern", "#include <cuda.h>\nstatic_assert(sizeof(CUtensorMap) == 128);\nextern")),
        sim,
    )


def test_a_folder_that_is_not_there_is_refused_at_the_declaration(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"include=: expected folders.*no folder .*nowhere"):
        axpy(tmp_path, include=[str(tmp_path / "nowhere")])


@pytest.mark.parametrize("name", ["include", "stub"])
def test_one_text_is_no_list(tmp_path: Path, name: str) -> None:
    with pytest.raises(DeclarationError, match=rf"{name}=: expected a list such as .*, got 'csrc'"):
        axpy(tmp_path, **{name: "csrc"})


def test_folders_are_relative_to_the_declaring_module(tmp_path: Path) -> None:
    here = Path(__file__).parent
    assert axpy(tmp_path, include=["golden"]).include == (Path(os.path.normpath(here / "golden")),)


HOSTILE = [
    '#include "{secret}"',
    "#include <{secret}>",
    '#include "{up}"',
    "#include <{up}>",
    '#define F "{secret}"\n#include F',
    "%:inc\\\nlude <{secret}>",
    "#inc??/\nlude <{secret}>",
    "??=include <{secret}>",
    '#if 0\nR"(\n#endif\n#include <{secret}>\n#if 0\n)"\n#endif',
    "#if 0\nit's /*\n#endif\n#include <{secret}>\n#if 0\n*/\n#endif",
    "/\\\n* c *\\\n/ #include <{secret}>",
    "// x??/\n#include <{secret}>",
    '#define Q R"(\n#include <{secret}>\n//)"',
    "constexpr char c = u8'\"';\n#include <{secret}>\n// \"",
]


@pytest.mark.parametrize("standard", ["c++03", "c++14", "c++17"])
def test_no_spelling_reads_a_file_outside(tmp_path: Path, sim: Device, standard: str) -> None:
    secret = tmp_path / "outside" / "hidden.h"
    tree(tmp_path, outside__hidden_h="#error STOLEN\n", src__x_h="")
    up = "../" * 20 + str(secret)[1:]
    kernel = axpy(tmp_path / "src", options=[f"-std={standard}"])
    texts = [text.format(secret=secret, up=up) for text in HOSTILE]
    sources = [f"{text}\n{kernel.read_source()}" for text in texts]
    answers = [
        compile_candidate(kernel, kernel.candidate(one, kernel.source), sim, Budget()) for one in sources
    ]
    assert [text for text, answer in zip(texts, answers, strict=True) if "STOLEN" in repr(answer)] == []
    # Left to the compiler, most of them do.
    stolen = [text for text, one in zip(texts, sources, strict=True) if reads_secret(kernel, one, sim)]
    assert len(stolen) > len(texts) // 2


def reads_secret(kernel: Kernel, source: str, sim: Device) -> bool:
    """Compile `source` as it is, which nothing but this test does."""
    module = source_module(kernel, kernel.start(), sim)
    request = replace(
        sim.new_request("hostile"), modules=(replace(module, source=source),), steps=(Compile("candidate"),)
    )
    return "STOLEN" in repr(sim.ask(request))


def test_headers_kept_from_earlier_stand_for_files_that_changed_or_went(tmp_path: Path) -> None:
    tree(tmp_path, src__a_h='#include "b.h"\n#include <c.h>\n', src__b_h="int b;\n", lib__c_h="int c;\n")
    source = '#include "a.h"\n#include <c.h>\n#if __has_include("b.h")\nint k;\n#endif\n'
    earlier = closed(source, tmp_path / "src", ["../lib"])
    before = written(earlier)
    tree(tmp_path, src__a_h="int other;\n", src__new_h="")
    (tmp_path / "src" / "b.h").unlink()
    assert written(closed(source, tmp_path / "src", ["../lib"])) != before
    kept = close_over(source, earlier.place, earlier.headers.texts)
    assert written(kept) == before
    assert kept.headers.texts == earlier.headers.texts


def test_only_what_was_kept_can_be_included(tmp_path: Path) -> None:
    tree(tmp_path, a_h="int a;\n")
    kept = close_over('#include "a.h"\n#include "b.h"\n', Place(tmp_path), {"b.h": "int b;\n"})
    assert list(kept.headers.texts) == ["b.h"]
    assert [one.header for one in kept.source.includes] == [None, "./b.h"]
