"""What a compiled kernel takes, held against its limits. Pure: the numbers are the compiler's.

It judges instances that the declared cases need, and shared memory at these cases' launches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.resource_limits import ResourceLimits
from pytest_cudaopt.waivers import Waived

if TYPE_CHECKING:
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.evaluation import Resources
    from pytest_cudaopt.launch import LaunchConfiguration

# A limit that is nearer than an eighth is as low as it should be: compilers differ by a few registers.
_NEAR = 8
_KINDS = {
    "registers": FindingKind.REGISTERS_EXCEEDED,
    "spill_bytes": FindingKind.SPILL_EXCEEDED,
    "shared_bytes": FindingKind.SHARED_EXCEEDED,
    "stack_bytes": FindingKind.STACK_EXCEEDED,
}


@dataclass(frozen=True)
class Taken:
    """What an instance takes: registers and stack of a thread, spills of the code, shared memory of a block.

    `shared_bytes` are those of its largest launch, which is that of `largest_case` (empty: no launch has
    dynamic ones).
    """

    entry: str
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    static_shared_bytes: int
    shared_bytes: int
    stack_bytes: int
    largest_case: str = ""

    @property
    def spill_bytes(self) -> int:
        return self.spill_store_bytes + self.spill_load_bytes

    def text_of(self, name: str) -> str:
        """Say how much of a resource it takes, and what that is made of."""
        if name == "registers":
            return f"{self.registers} registers per thread"
        if name == "spill_bytes":
            parts = f"{self.spill_store_bytes} stored, {self.spill_load_bytes} loaded"
            return f"{self.spill_bytes} bytes spilled ({parts})"
        if name == "stack_bytes":
            return f"{self.stack_bytes} bytes of stack per thread"
        at = f" at {self.largest_case}" if self.largest_case else ""
        return f"{self.shared_bytes} bytes of shared memory per block ({self.static_shared_bytes} static){at}"


@dataclass(frozen=True)
class LimitsJudged:
    """What the instances of a kernel take, and which limits they exceed; what is waived stands apart.

    `compiled_for` names the architecture and the compiler, `no_launch` the cases without a launch, at which
    shared memory is not known.
    """

    limits: ResourceLimits
    compiled_for: str
    taken: tuple[Taken, ...]
    findings: tuple[Finding, ...] = ()
    waived: tuple[Waived, ...] = ()
    no_launch: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Say what is taken of what is allowed, and what the limits could be where they are far above."""
        used, given = _most(self.taken), self.limits.given
        lower = [f"{name}={used[name]}" for name, most in given.items() if _is_far_below(used[name], most)]
        return self.figures + (f"; could be {', '.join(lower)}" if lower else "")

    @property
    def figures(self) -> str:
        """Say what is taken of what is allowed, by the instance that takes most of each."""
        used, given = _most(self.taken), self.limits.given
        shown = {
            "registers": _of(used["registers"], "registers", given.get("registers"), str),
            "spill_bytes": _of(used["spill_bytes"], "spilled", given.get("spill_bytes"), _bytes),
            "shared_bytes": _of(used["shared_bytes"], "shared", given.get("shared_bytes"), _bytes),
            "stack_bytes": _of(used["stack_bytes"], "stack", given.get("stack_bytes"), _bytes),
        }
        # Stacks are of interest to whoever limits them.
        return ", ".join(text for name, text in shown.items() if name != "stack_bytes" or name in given)


def taken(
    kernel: Kernel, resources: Mapping[str, Resources], launches: Mapping[Case, LaunchConfiguration]
) -> tuple[Taken, ...]:
    """Return what each instance takes; `resources` are by entry, `launches` those of the declared cases."""
    return tuple(
        _taken(kernel, one.entry, resources[one.entry], _of_entry(kernel, launches, one.entry))
        for one in kernel.instances
    )


def exceeded(
    limits: ResourceLimits, taken: Sequence[Taken], compiled_for: str, file: str, line: int | None
) -> tuple[Finding, ...]:
    """Return a finding for each limit that an instance exceeds, at the place of the kernel."""
    return tuple(
        Finding(
            _KINDS[name],
            f"{_named(one, taken)}{one.text_of(name)}, limits() allows {most} ({compiled_for})",
            file=file,
            line=line,
        )
        for one in taken
        for name, most in limits.given.items()
        if getattr(one, name) > most
    )


def _of_entry(
    kernel: Kernel, launches: Mapping[Case, LaunchConfiguration], entry: str
) -> dict[str, LaunchConfiguration]:
    """Return the launches of an instance by case id; an empty grid launches nothing."""
    return {
        kernel.id_of(case): launch
        for case, launch in launches.items()
        if not launch.is_empty and kernel.at(case).entry == entry
    }


def _taken(kernel: Kernel, entry: str, used: Resources, launches: Mapping[str, LaunchConfiguration]) -> Taken:
    largest = max(launches, key=lambda case_id: launches[case_id].shared_bytes, default="")
    dynamic = launches[largest].shared_bytes if largest else 0
    return Taken(
        entry=entry,
        registers=used.registers,
        spill_store_bytes=used.spill_store_bytes,
        spill_load_bytes=used.spill_load_bytes,
        static_shared_bytes=used.static_shared_bytes,
        shared_bytes=used.static_shared_bytes + dynamic,
        stack_bytes=used.stack_bytes,
        largest_case=largest if dynamic else "",
    )


def _named(one: Taken, taken: Sequence[Taken]) -> str:
    return f"{one.entry}: " if len(taken) > 1 else ""


def _most(taken: Sequence[Taken]) -> dict[str, int]:
    return {name: max((getattr(one, name) for one in taken), default=0) for name in _KINDS}


def _is_far_below(used: int, most: int) -> bool:
    return used < most and _NEAR * (most - used) >= most


def _of(used: int, what: str, most: int | None, shown: Callable[[int], str]) -> str:
    allowed = "" if most is None or used == most == 0 else f" of {shown(most)}"
    return f"{shown(used)} {what}{allowed}"


def _bytes(number: int) -> str:
    """Write bytes without rounding."""
    return f"{number // 1024} KiB" if number and number % 1024 == 0 else f"{number} B"
