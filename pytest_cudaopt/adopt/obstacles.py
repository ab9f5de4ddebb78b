"""What stands between a kernel and a declaration of it, each with what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from pytest_cudaopt.adopt.compiling import CompiledFile, Confirmed
from pytest_cudaopt.adopt.declarations import FunctionParameter, KernelDeclaration
from pytest_cudaopt.adopt.structs import struct_name
from pytest_cudaopt.adopt.tokens import Scanned

_TMA = frozenset({"CUtensorMap", "CUtensorMap_st"})
_TEXTURES = frozenset({"cudaTextureObject_t", "cudaSurfaceObject_t", "texture", "surface"})
_TEXTURE_CALL = re.compile(r"^(tex[123]D\w*|tex1Dfetch|surf[123]D(read|write)\w*)$")
_GRID_SYNC = frozenset({"this_grid", "grid_group"})
_CLUSTER = frozenset({"this_cluster", "cluster_group", "cluster_arrive", "cluster_wait"})
_RUNTIME_CALL = re.compile(r"^cuda[A-Z]\w*$")
_RUNTIME_TYPES = re.compile(r"(_t|Error|Object)$")
_PLACE = re.compile(r"^.*(?=\([^()]*\)$)")
_VECTOR = re.compile(r"^(u?(char|short|int|long|longlong)|float|double|half|__half|__nv_bfloat16)[1-4]$")
_HOST_HEADERS = ("torch/*", "ATen/*", "c10/*", "pybind11/*", "thrust/*", "*.hpp")
# Headers that are provided when a kernel is compiled, wherever they are missing.
_PROVIDED = frozenset(
    {"type_traits", "cstdint", "cmath", "limits", "utility", "array", "tuple", "algorithm", "cassert"}
    | {"cstddef", "cuda_runtime.h", "cuda_runtime_api.h", "stdint.h", "math.h", "assert.h", "stddef.h"}
)


@dataclass(frozen=True)
class Obstacle:
    """One thing in the way. `blocks` says that no declaration can be written as long as it is there."""

    what: str
    advice: str
    line: int = 0
    blocks: bool = False

    def __str__(self) -> str:
        where = f" (line {self.line})" if self.line else ""
        return f"{self.what}{where}: {self.advice}"


def of_file(compiled: CompiledFile, base: Path) -> list[Obstacle]:
    """Return what stands in the way of the file's kernels alike; folders are shown relative to `base`."""
    found: list[Obstacle] = []
    for header, places in compiled.places.items():
        others = ", ".join(_shown(place, base) for place in places[1:])
        advice = f"if it is another ({others}), write --include with that folder"
        found.append(
            Obstacle(f"header {header} is in several folders, {_shown(places[0], base)} was taken", advice)
        )
    for header in compiled.stubs:
        if header not in _PROVIDED:
            found.append(_missing_header(header))
    if compiled.host_code:
        lines = ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in compiled.host_code)
        of_one = len(compiled.host_code) == 1 and "to" not in lines
        advice = (
            "write '#ifndef __CUDACC_RTC__' before it and '#endif' behind it, or put the kernels "
            "between '// @cudaopt begin NAME' and '// @cudaopt end'"
        )
        found.append(
            Obstacle(
                f"host code in the way of the compiler ({'line' if of_one else 'lines'} {lines})", advice
            )
        )
    return found


def of_kernel(
    scanned: Scanned, kernel: KernelDeclaration, structs: Mapping[str, object], confirmed: Confirmed | None
) -> list[Obstacle]:
    """Return what stands in the way of one kernel."""
    found = [*_of_declaration(kernel), *_of_parameters(kernel, structs), *_of_body(scanned, kernel)]
    if confirmed is not None and confirmed.error:
        found.append(Obstacle(f"does not compile: {confirmed.error}", _advice_for_error(confirmed.error)))
    # The instructions behind the first of a line are there because of it.
    lines = {_PLACE.sub("", note): note for note in reversed(confirmed.unsupported if confirmed else ())}
    for note in reversed(lines.values()):
        found.append(Obstacle(note, "it needs a GPU: run with --cudaopt-device cuda:0"))
    return found


def _advice_for_error(error: str) -> str:
    if "is undefined" in error:
        return "if the build defines it, write defines={...}; else mend it"
    if "cannot determine which instance" in error:
        return "write template arguments that fit into entry="
    return "mend that first"


def stub_patterns(headers: Iterable[str]) -> tuple[str, ...]:
    """Return what `stub=` would need for headers that were found nowhere."""
    return tuple(dict.fromkeys(_stub_pattern(header) for header in headers if header not in _PROVIDED))


def _stub_pattern(header: str) -> str:
    return next((pattern for pattern in _HOST_HEADERS if fnmatch(header, pattern)), header)


def _missing_header(header: str) -> Obstacle:
    pattern = _stub_pattern(header)
    return Obstacle(
        f"header {header} was not found, and was taken as empty",
        f"write --include DIR if a folder has it; stub=[{pattern!r}] keeps it out if it is for the host",
    )


def _of_declaration(kernel: KernelDeclaration) -> Iterator[Obstacle]:
    if kernel.body is None:
        yield Obstacle("it is only declared here", "adopt the file that defines it", kernel.line, blocks=True)
    if kernel.in_class:
        yield Obstacle("it is inside a class", "move it to a namespace", kernel.line, blocks=True)
    for parameter in kernel.template:
        if parameter.type in ("pack", "template", "function pointer"):
            yield Obstacle(
                f"template parameter '{parameter.name}' is a {parameter.type}",
                "write the arguments into entry= yourself",
                kernel.line,
            )
    if "__cluster_dims__" in kernel.attributes:
        yield _cluster(kernel.attributes["__cluster_dims__"], kernel.line)


def _cluster(extents: str, line: int) -> Obstacle:
    return Obstacle("it is launched in clusters", f"add cluster=({extents}) to its launch rule", line)


def _of_parameters(kernel: KernelDeclaration, structs: Mapping[str, object]) -> Iterator[Obstacle]:
    for parameter in kernel.parameters:
        if obstacle := _of_parameter(kernel, parameter, structs):
            yield obstacle


def _of_parameter(
    kernel: KernelDeclaration, parameter: FunctionParameter, structs: Mapping[str, object]
) -> Obstacle | None:
    subject, base = f"parameter '{parameter.name}' ({parameter.spelling})", parameter.type.base
    if parameter.type.odd:
        advice = "wrap it in a __global__ function of plain pointers and scalars"
        return Obstacle(f"{subject} is a {parameter.type.odd}", advice, kernel.line, blocks=True)
    if base in _TMA:
        advice = "no marker makes a tensor map; test the kernel with its host code"
        return Obstacle(f"{subject} is a TMA descriptor", advice, kernel.line, blocks=True)
    if base in _TEXTURES or base.startswith(("texture<", "surface<")):
        advice = "no marker makes a texture; read through a plain pointer instead"
        return Obstacle(f"{subject} is a texture or surface", advice, kernel.line, blocks=True)
    if base == "void" or (_VECTOR.match(base) and parameter.type.dtype({}) is None):
        advice = "declare it as a pointer to the elements and cast inside the kernel"
        return Obstacle(f"{subject} has no dtype", advice, kernel.line, blocks=True)
    if struct_name(base) in structs and not parameter.type.pointers:
        return Obstacle(
            f"{subject} is a struct by value", "check the members of its Struct(...)", kernel.line
        )
    return None


def _of_body(scanned: Scanned, kernel: KernelDeclaration) -> Iterator[Obstacle]:
    if kernel.body is None:
        return
    told: set[str] = set()
    for at in range(kernel.body[0], kernel.body[1]):
        obstacle = _of_token(scanned, at)
        if obstacle is not None and obstacle.what not in told:
            told.add(obstacle.what)
            yield obstacle


def _of_token(scanned: Scanned, at: int) -> Obstacle | None:
    token, following = scanned.tokens[at], scanned.tokens[at + 1].text
    text, line = token.text, token.line
    if text == "<<<":
        return Obstacle("it launches kernels itself", "dynamic parallelism is not supported", line)
    if text in _GRID_SYNC:
        return Obstacle("it synchronises the grid", "add 'cooperative' to its launch rule", line)
    if text in _CLUSTER:
        return _cluster("2, 1, 1", line)
    if _TEXTURE_CALL.match(text) and following in ("(", "<"):
        return Obstacle(f"it reads a texture ({text})", "read through a plain pointer instead", line)
    if _RUNTIME_CALL.match(text) and following == "(" and not _RUNTIME_TYPES.search(text):
        return Obstacle(f"it calls {text}", "a call of the runtime belongs to the host", line)
    return None


def _shown(folder: Path, base: Path) -> str:
    return str(folder.relative_to(base)) if folder.is_relative_to(base) else str(folder)
