"""Requests to the harness as frozen dataclasses; `harness_cpp/PROTOCOL.md` says what each field means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_cudaopt import wire
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Resources

if TYPE_CHECKING:
    import numpy as np

    from pytest_cudaopt.dtypes import DType

PROTOCOL_VERSION = 1

Extent3 = tuple[int, int, int]


class Access(StrEnum):
    """What a kernel may do with a buffer."""

    READ = "read"
    WRITE = "write"
    READ_WRITE = "read_write"


@dataclass(frozen=True)
class Entry:
    """A kernel of a module; `parameters` lists the C++ types each of them may have."""

    name: str
    parameters: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True)
class Member:
    """A member of a struct: the byte it begins at, and the C++ types it may have."""

    name: str
    offset: int
    types: tuple[str, ...]


@dataclass(frozen=True)
class Struct:
    """A struct that a kernel takes by value, as the compiler is to find it."""

    name: str
    bytes: int
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Symbol:
    """A variable that launches write; `types` are the C++ types its elements may have."""

    name: str
    types: tuple[str, ...]


@dataclass(frozen=True)
class Module:
    """A source to compile, or (`ptx_file`, `cubin_file`, `lowered`, `resources`) what compiling it gave."""

    name: str
    file: str
    source: str | None = None
    source_file: str | None = None
    options: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    structs: tuple[Struct, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    architecture: str = "sm_90"
    line_tables: bool = True
    ptx_file: str | None = None
    cubin_file: str | None = None
    lowered: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, Resources] = field(default_factory=dict)


@dataclass(frozen=True)
class Buffer:
    """Device memory; `poison` is a hex pattern."""

    name: str
    bytes: int
    access: Access = Access.READ_WRITE
    element_bytes: int = 1
    offset_bytes: int = 0
    guard_bytes: int = 0
    alias: str | None = None
    initial_file: str | None = None
    tile_file: str | None = None
    poison: str | None = None


@dataclass(frozen=True)
class BufferArgument:
    """A buffer's pointer."""

    buffer: str


@dataclass(frozen=True)
class NullArgument:
    """A null pointer."""

    null: bool


@dataclass(frozen=True)
class ScalarArgument:
    """A scalar's bytes in memory order, as hex; `scalar` names its dtype."""

    scalar: str
    value: str

    @classmethod
    def of(cls, dtype: DType, value: np.generic) -> ScalarArgument:
        """Return `value`, which has `dtype`, as its bytes."""
        return cls(dtype.name.rstrip("_"), value.tobytes().hex())


@dataclass(frozen=True)
class BufferMember(BufferArgument):
    """A buffer's pointer, `offset` bytes into a struct."""

    offset: int


@dataclass(frozen=True)
class NullMember(NullArgument):
    """A null pointer, `offset` bytes into a struct."""

    offset: int


@dataclass(frozen=True)
class ScalarMember(ScalarArgument):
    """A scalar, `offset` bytes into a struct."""

    offset: int


MemberArgument = BufferMember | NullMember | ScalarMember


@dataclass(frozen=True)
class StructArgument:
    """A struct of `bytes`, passed by value."""

    struct: tuple[MemberArgument, ...]
    bytes: int


Argument = BufferArgument | NullArgument | ScalarArgument | StructArgument


@dataclass(frozen=True)
class SymbolWrite:
    """A variable of the module that becomes what `buffer` holds, before the launch."""

    symbol: str
    buffer: str


@dataclass(frozen=True)
class Compile:
    DO: ClassVar[str] = "compile"
    module: str


@dataclass(frozen=True)
class Load:
    DO: ClassVar[str] = "load"
    module: str


@dataclass(frozen=True)
class Reload:
    DO: ClassVar[str] = "reload"
    module: str


@dataclass(frozen=True)
class Fill:
    DO: ClassVar[str] = "fill"
    buffer: str
    pattern: str


@dataclass(frozen=True)
class Copy:
    DO: ClassVar[str] = "copy"
    from_: str
    to: str


@dataclass(frozen=True)
class Write:
    DO: ClassVar[str] = "write"
    buffer: str
    file: str


@dataclass(frozen=True)
class Reset:
    """Every buffer gets its initial contents again; the rest gets `poison`, or the pattern it had."""

    DO: ClassVar[str] = "reset"
    poison: str | None = None


class Order(StrEnum):
    """In which order blocks, and the warps of a block, have their turns on `sim`."""

    FORWARD = "forward"
    REVERSE = "reverse"
    RANDOM = "random"


@dataclass(frozen=True)
class Checks:
    """What `sim` looks for beside a launch.

    `accesses`: races, reads of unwritten memory, copies nobody waited for. `rounding`: what every float would
    be in float64. `touched`: counts the distinct bytes of global memory.
    """

    accesses: bool = False
    rounding: bool = False
    touched: bool = False


@dataclass(frozen=True)
class Arm:
    """One launch: what to execute, how large, on what."""

    module: str
    entry: str
    grid: Extent3
    block: Extent3
    arguments: tuple[Argument, ...]
    shared_bytes: int = 0
    cluster: Extent3 | None = None
    cooperative: bool = False
    symbols: tuple[SymbolWrite, ...] = ()


@dataclass(frozen=True)
class Launch(Arm):
    """`order_seed` is that of a random order."""

    DO: ClassVar[str] = "launch"
    checks: Checks = Checks()
    order: Order = Order.FORWARD
    order_seed: int = 0

    def arm(self, **changes: Any) -> Arm:
        """Return what is launched, without what `sim` looks for; `changes` are fields of an Arm."""
        return Arm(**{field.name: getattr(self, field.name) for field in fields(Arm)} | changes)


@dataclass(frozen=True)
class Read:
    """Writes `file`; with `if_changed`, only if the buffer differs from what the last read of it wrote."""

    DO: ClassVar[str] = "read"
    buffer: str
    file: str
    if_changed: bool = False


@dataclass(frozen=True)
class ReadGuards:
    DO: ClassVar[str] = "read_guards"
    buffer: str


@dataclass(frozen=True)
class ReadShadow:
    """Writes what each element of `dtype` would be in float64, and a byte for what that is worth."""

    DO: ClassVar[str] = "read_shadow"
    buffer: str
    dtype: str
    values_file: str
    states_file: str


@dataclass(frozen=True)
class Digest:
    DO: ClassVar[str] = "digest"
    buffer: str


@dataclass(frozen=True)
class CompareDigest:
    DO: ClassVar[str] = "compare_digest"
    buffer: str
    sha256: str


@dataclass(frozen=True)
class Capture:
    """An output of the launch that had `held_out` contents, and the file it goes to."""

    buffer: str
    file: str


@dataclass(frozen=True)
class Measure(Arm):
    """`contents` and `held_out` map buffers to files; an empty mapping stands for the initial contents.

    `by_line` asks `sim` for the counters of each source line too.
    """

    DO: ClassVar[str] = "measure"
    warmup: int = 10
    warmup_ms: float = 25.0
    samples: int = 100
    relative_error: float = 0.0
    max_samples: int = 10_000
    mode: str = "auto"
    contents: tuple[Mapping[str, str], ...] = ()
    held_out: Mapping[str, str] | None = None
    capture: tuple[Capture, ...] = ()
    by_line: bool = False

    @classmethod
    def of(cls, launch: Launch, **how: Any) -> Measure:
        """Return the step that times `launch`; `how` are this class's own fields."""
        return cls(**vars(launch.arm()), **how)


@dataclass(frozen=True)
class Interleave:
    """Times arms side by side, `launches` samples of each in each of `blocks`."""

    DO: ClassVar[str] = "interleave"
    arms: tuple[Arm, ...]
    blocks: int = 20
    launches: int = 10
    warmup: int = 10
    warmup_ms: float = 25.0
    mode: str = "auto"


@dataclass(frozen=True)
class AskLimits:
    DO: ClassVar[str] = "limits"


Step = (
    Compile
    | Load
    | Reload
    | Fill
    | Copy
    | Write
    | Reset
    | Launch
    | Read
    | ReadGuards
    | ReadShadow
    | Digest
    | CompareDigest
    | Measure
    | Interleave
    | AskLimits
)


@dataclass(frozen=True)
class SimOptions:
    """How `sim` executes; only `model` and `block_instructions` can change an answer."""

    threads: int = 0
    isa: str = "auto"
    model: str = "h200"
    block_instructions: int = 0


@dataclass(frozen=True)
class Request:
    """One program for the harness. `timeout_s` of 0 means none."""

    id: str
    nonce: str
    device: str
    steps: tuple[Step, ...]
    directory: str | None = None
    timeout_s: float = 0.0
    nvrtc: str | None = None
    sim: SimOptions = SimOptions()
    modules: tuple[Module, ...] = ()
    buffers: tuple[Buffer, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the request as the harness reads it."""
        members: dict[str, Any] = wire.to_json(self)
        return {"protocol": PROTOCOL_VERSION, **members}

    @classmethod
    def from_json(cls, value: Any) -> Request:
        """Read a request; raise HarnessError naming what does not fit."""
        return wire.from_json(cls, without_version(value, "request"), "request")


def without_version(value: Any, path: str) -> dict[str, Any]:
    """Return the members of a request or answer; raise HarnessError for another protocol version."""
    if not isinstance(value, dict):
        raise HarnessError(path, expected="an object", got=repr(value))
    members = dict(value)
    version = members.pop("protocol", None)
    if version != PROTOCOL_VERSION:
        raise HarnessError(f"{path}.protocol", expected=str(PROTOCOL_VERSION), got=repr(version))
    return members
