"""What a person should know before they believe a kernel that was declared from a description. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.generate.generation import Generation


def text(given: Generation) -> str:
    """Return the review as Markdown."""
    supplied = given.supplied
    has_module = supplied.signature is None and supplied.reference is None
    lines = [
        f"# {given.name}, declared from a description",
        "",
        f"> {' '.join(given.description.split())}",
        "",
        f"{given.asking.model.name} wrote what is below, in {given.asking.answers} answers, "
        f"{given.asking.repairs} of them repaired ({given.asking.usage.total} tokens).",
        "",
        "## Before you believe it",
        "",
    ]
    if supplied.reference is None:
        lines += [
            f"- **Nobody has checked the reference.** {given.origin[:1].upper()}{given.origin[1:]}: that two",
            "  answers to one description agree says nothing of what you meant by it. Read",
            f"  `{given.reference.name}` and compare it with what you want.",
        ]
    lines += [
        "- Are the sizes, dtypes and contents of the inputs those you will use? Add your own cases.",
        "- Are `rtol` and `atol` what your application needs?",
        "- Is it measured at the sizes that matter to you?",
        "",
        "## What was checked",
        "",
        *(f"- {sentence}" for sentence in given.said),
        "",
        "## Files",
        "",
        *(f"- `{name}`: {what}" for name, what in _files(given, has_module)),
        "",
    ]
    if has_module:
        lines += [
            f"`pytest test_{given.name}.py` in a copy of this folder runs it. The reference runs in the",
            "sandbox as long as the declaration says `sandboxed(...)`.",
            "",
        ]
    return "\n".join(lines)


def _files(given: Generation, has_module: bool) -> list[tuple[str, str]]:
    files = [(f"test_{given.name}.py", "the declaration")] if has_module else []
    if given.supplied.initial_kernel is None:
        files.append((given.source.name, "the first kernel, plain"))
    if given.supplied.reference is None:
        files += [
            (given.reference.name, "the reference it is held to"),
            (given.second_reference.name, "another one, written without seeing the first"),
        ]
    return files
