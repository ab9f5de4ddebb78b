"""Arrays that repeat one tile: what they hold, what they take, and that they are given back."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import numpy as np
import pytest

from pytest_cudaopt.dtypes import bf16
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.tiled import LARGE, TILE_ELEMENTS, can_tile, tiled

pytestmark = pytest.mark.skipif(not can_tile(), reason="Linux only")


def resident_bytes(process: str = "self") -> int:
    match = re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    assert match is not None
    return int(match.group(1)) * 1024


def mappings() -> int:
    return len(Path("/proc/self/maps").read_text().splitlines())


def test_an_element_is_that_of_the_tile_however_far_away_it_is() -> None:
    tile = np.arange(TILE_ELEMENTS, dtype=np.float32)
    array = tiled(tile, (LARGE // 64 + 3, 64))

    flat = array.reshape(-1)
    for place in (0, 1, TILE_ELEMENTS, LARGE - 1, LARGE, flat.size // 2, flat.size - 1):
        assert flat[place] == place % TILE_ELEMENTS
    assert array[-1, -1] == (array.size - 1) % TILE_ELEMENTS


def test_an_offset_that_wraps_at_a_power_of_two_meets_another_element_of_the_tile() -> None:
    assert all(TILE_ELEMENTS % (1 << 16) == 0 and (1 << bits) % TILE_ELEMENTS for bits in range(31, 41))


def test_a_large_array_takes_the_memory_of_few_tiles() -> None:
    before = resident_bytes()
    array = tiled(np.ones(TILE_ELEMENTS, np.float32), (LARGE + 5,))

    assert array.nbytes > 8 << 30
    assert array[-1] == 1
    assert resident_bytes() < before + (64 << 20)


def test_an_array_smaller_than_its_tile_is_a_part_of_it() -> None:
    assert tiled(np.arange(1 << 16, dtype=np.int32), (2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_types_that_numpy_lacks_are_kept() -> None:
    array = tiled(np.full(1 << 16, 1.5).astype(bf16.numpy), (1 << 17,))

    assert array.dtype == bf16.numpy
    assert float(array[-1]) == 1.5


def test_nobody_can_write_to_it() -> None:
    array = tiled(np.zeros(1 << 16, np.float32), (8,))

    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.setflags(write=True)


def test_the_last_view_gives_the_memory_back() -> None:
    gc.collect()
    before = mappings()
    array = tiled(np.zeros(TILE_ELEMENTS, np.float32), (LARGE,))
    part = array[5:9]
    del array
    gc.collect()

    assert mappings() > before + 100
    assert part.tolist() == [0, 0, 0, 0]
    del part
    gc.collect()
    assert mappings() < before + 50


def test_an_array_beyond_all_addresses_is_an_environment_fault() -> None:
    with pytest.raises(EnvironmentFault, match="memory and addresses"):
        tiled(np.zeros(1 << 16, np.float32), (1 << 57,))
