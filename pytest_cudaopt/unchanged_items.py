"""`--cudaopt-changed`: items left out since nothing of their kernels changed, and what is said of them.

Under pytest-xdist each worker finds the same, and the controller, which has no items, says it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_cudaopt.changed import why_all_changed, why_changed
from pytest_cudaopt.collect import KernelItem
from pytest_cudaopt.declaring_files import declaring_files
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.session import CHANGED_KEY, KernelSession

if TYPE_CHECKING:
    from pytest_cudaopt.git_revision import Revision


def deselect(config: pytest.Config, items: list[pytest.Item], revision: Revision) -> None:
    """Take the items of unchanged kernels out of `items`, and leave for the session what is to be said."""
    session = KernelSession.of(config)
    reasons = _reasons([item for item in items if isinstance(item, KernelItem)], session, revision)
    unchanged = [item for item in items if isinstance(item, KernelItem) and not reasons[item.work.kernel_id]]
    if unchanged:
        config.hook.pytest_deselected(items=unchanged)
        left_out = set(unchanged)
        items[:] = [item for item in items if item not in left_out]
    session.unchanged_kernels = sum(not reason for reason in reasons.values())
    session.changed_lines = list(_lines(reasons, revision, verbose=config.get_verbosity() > 0))
    if (output := getattr(config, "workeroutput", None)) is not None:
        output[CHANGED_KEY] = [session.unchanged_kernels, session.changed_lines]


def take_over(output: Mapping[str, Any], session: KernelSession) -> None:
    """Leave for the controller's session what a worker's output says."""
    unchanged, lines = output[CHANGED_KEY]
    session.unchanged_kernels = unchanged
    # All workers say the same; at the end, since what came of their collection is over by then.
    session.parting_lines += [line for line in lines if line not in session.parting_lines]


def _reasons(items: list[KernelItem], session: KernelSession, revision: Revision) -> dict[str, str]:
    """Return by kernel's id what of it changed; "" for nothing."""
    kernels = {item.work.kernel_id: item for item in items}
    compdb = session.root / session.settings.compdb if session.settings.compdb else None
    try:
        every = why_all_changed(revision, session.root, compdb) if kernels else ""
    except CudaoptError as error:
        every = error.short
    return {kernel_id: every or _reason(item, revision) for kernel_id, item in kernels.items()}


def _reason(item: KernelItem, revision: Revision) -> str:
    kernel = item.work.kernel
    try:
        # A kernel that a function of another module declares stands on both.
        files = declaring_files({item.path, Path(kernel.location.file)}, revision.root)
        return why_changed(kernel, files, revision)
    except CudaoptError as error:
        return error.short


def _lines(reasons: dict[str, str], revision: Revision, *, verbose: bool) -> Iterator[str]:
    if not reasons:
        return
    unchanged = sum(not reason for reason in reasons.values())
    kernels = "kernel" if len(reasons) == 1 else "kernels"
    yield f"cudaopt: {unchanged} of {len(reasons)} {kernels} unchanged since {revision}"
    if verbose:
        yield from (f"  {kernel_id}: {reason}" for kernel_id, reason in reasons.items() if reason)
