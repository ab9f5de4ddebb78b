"""How much memory there is, and a bound on what a piece of code may take."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from pytest_cudaopt.host_memory import at_most_more, available_bytes


def test_the_machine_says_what_is_available() -> None:
    available = available_bytes()
    assert available is None or available > 1 << 20


def test_what_takes_more_than_it_may_is_a_memory_error() -> None:
    with at_most_more(64 << 20):
        assert np.zeros(16 << 20, np.uint8).size
        with pytest.raises(MemoryError):
            np.zeros(1 << 30, np.uint8)


def test_the_limit_ends_with_the_block() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(KeyError), at_most_more(64 << 20):
        raise KeyError

    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert np.zeros(1 << 30, np.uint8).size
