"""What the graph passes from node to node: numbers and names only.

Sources, evaluations and attempts stay in the run and its folder; in the state they would be copied into
every checkpoint.
"""

from __future__ import annotations

from typing import TypedDict

from pytest_cudaopt.optimize.summary import StopReason


class RunState(TypedDict, total=False):
    """`best` is the number of the incumbent."""

    best: int
    stopped_because: StopReason
    stopped_detail: str


class BranchState(TypedDict):
    """One of the proposals of a round: what will be attempt `number`, a variation of attempt `parent`."""

    number: int
    parent: int
