"""A launch on other buffers than those that are called as its arrays are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt.protocol import BufferArgument, BufferMember, Launch, StructArgument, SymbolWrite

if TYPE_CHECKING:
    from pytest_cudaopt.protocol import Argument, MemberArgument


def on_other_buffers(step: Launch, names: Mapping[str, str]) -> Launch:
    """Return the launch with each buffer in `names` replaced, in structs and for variables too."""

    def other(argument: Argument) -> Argument:
        match argument:
            case BufferArgument(buffer=name):
                return BufferArgument(names.get(name, name))
            case StructArgument(struct=members, bytes=size):
                return StructArgument(tuple(map(other_member, members)), size)
        return argument

    def other_member(member: MemberArgument) -> MemberArgument:
        if isinstance(member, BufferMember):
            return BufferMember(names.get(member.buffer, member.buffer), member.offset)
        return member

    symbols = tuple(SymbolWrite(one.symbol, names.get(one.buffer, one.buffer)) for one in step.symbols)
    return replace(step, arguments=tuple(map(other, step.arguments)), symbols=symbols)
