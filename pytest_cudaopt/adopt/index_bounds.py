"""Which size a body's index runs up to."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_cudaopt.adopt.declarations import KernelDeclaration
from pytest_cudaopt.adopt.tokens import Scanned

_GOES_ON = frozenset({"*", "+", "-", "/", "%", "["})


def bound_of(scanned: Scanned, kernel: KernelDeclaration, index: str, sizes: Sequence[str]) -> str:
    """Return the size that `index` is compared with, or the outermost for a block's own index; or nothing."""
    if kernel.body is None or not index or not sizes:
        return ""
    texts = scanned.texts(*kernel.body)
    for at, text in enumerate(texts):
        if text != index:
            continue
        # `>=` is two tokens.
        limit = next((k for signs, k in ((["<"], 2), ([">", "="], 3)) if texts[at + 1 : at + k] == signs), 0)
        compared = texts[at + limit : at + limit + 2] if limit else []
        if len(compared) == 2 and compared[0] in sizes:
            return "" if compared[1] in _GOES_ON else compared[0]
    for at in range(len(texts) - 2):
        if texts[at : at + 2] == [index, "="] and _is_block(texts[at + 2 :]):
            return sizes[0]
    return ""


def _is_block(texts: Sequence[str]) -> bool:
    return list(texts[:2]) == ["blockIdx", "."] and list(texts[3:4]) in ([";"], [","])
