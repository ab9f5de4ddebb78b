"""Overruns on a GPU: unmapped pages where the device has them, guard zones everywhere."""

from __future__ import annotations

import pytest
from harness_client import Json
from made_up_gpu import MadeUpGpu, buffer, floats, launch, request

pytest_plugins = ["made_up_gpu_fixtures"]

NAN, ONE = "0000c07f", "0000803f"
GUARDS = [{"do": "read_guards", "buffer": name} for name in ("x", "y")]


def guarded(n: int, **members: object) -> list[Json]:
    """Return x and y of n elements with guards."""
    return [
        buffer("x", n, access="read", guard_bytes=256, initial_file="x.bin"),
        buffer("y", n, access="write", guard_bytes=256) | members,
    ]


def launched(gpu: MadeUpGpu, entry: str, n: int = 8, *, poison: str = NAN) -> Json:
    """Return the answer to one launch with guards around both buffers."""
    steps = [{"do": "reset", "poison": poison}, launch(entry, n), *GUARDS]
    return gpu.ask(request(gpu, entry, *steps, n=n, buffers=guarded(n)))


def intact(answer: Json) -> tuple[bool, ...]:
    return tuple(step["intact"] for step in answer["steps"] if step["do"] == "read_guards")


@pytest.mark.parametrize("entry", ["writes_past_end", "adds_past_end", "reads_past_end"])
def test_an_overrun_into_the_unmapped_page_faults_at_once(gpu: MadeUpGpu, entry: str) -> None:
    answer = launched(gpu, entry)
    assert (answer["fault"]["kind"], answer["fault"]["step"]) == ("illegal_address", 2)
    assert answer["ending"] is True


def test_a_kernel_that_stays_inside_leaves_the_guards_as_they_were(gpu: MadeUpGpu) -> None:
    for n in (1, 7, 8, 1000):
        assert intact(launched(gpu, "copies", n)) == (True, True)


@pytest.mark.parametrize("n", [1, 7, 9, 1001])
def test_an_overrun_into_what_is_left_before_the_page_is_seen_in_the_guard(gpu: MadeUpGpu, n: int) -> None:
    assert intact(launched(gpu, "writes_past_end", n)) == (True, False)


def test_an_underrun_is_seen_in_the_guard_before(gpu: MadeUpGpu) -> None:
    assert intact(launched(gpu, "writes_before")) == (True, False)


@pytest.mark.parametrize("guard_pages", [0, 1])
def test_read_modify_write_past_the_end_needs_a_finite_poison_to_be_seen(
    gpu: MadeUpGpu, guard_pages: int
) -> None:
    gpu.change(guard_pages=guard_pages)
    assert intact(launched(gpu, "adds_past_end", 7)) == (True, True)
    assert intact(launched(gpu, "adds_past_end", 7, poison=ONE)) == (True, False)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [("copies", (True, True)), ("writes_past_end", (True, False)), ("writes_before", (True, False))],
)
def test_a_device_without_virtual_memory_has_guard_zones(
    gpu: MadeUpGpu, entry: str, expected: tuple[bool, ...]
) -> None:
    gpu.change(guard_pages=0)
    assert intact(launched(gpu, entry)) == expected


def test_a_write_to_an_input_faults_with_guard_pages_only(gpu: MadeUpGpu) -> None:
    assert launched(gpu, "writes_input")["fault"]["kind"] == "illegal_address"
    gpu.change(guard_pages=0)
    assert launched(gpu, "writes_input")["status"] == "ok"


def test_an_input_can_be_written_by_the_host_after_a_launch(gpu: MadeUpGpu) -> None:
    (gpu.folder / "other.bin").write_bytes(bytes(32))
    steps = [
        launch("copies", 8),
        {"do": "fill", "buffer": "x", "pattern": ONE},
        launch("copies", 8),
        {"do": "write", "buffer": "x", "file": "other.bin"},
        {"do": "reset"},
        launch("copies", 8),
        *GUARDS,
    ]
    answer = gpu.ask(request(gpu, "copies", *steps, buffers=guarded(8)))
    assert (answer["status"], intact(answer)) == ("ok", (True, True))


def test_work_still_queued_at_the_end_of_a_request_harms_no_later_one(gpu: MadeUpGpu) -> None:
    fill = {"do": "fill", "buffer": "y", "pattern": ONE}
    filled = request(gpu, "copies", buffers=guarded(8)) | {"modules": [], "steps": [fill]}
    with gpu.serve() as served:
        assert served.ask(filled)["status"] == "ok"
        assert served.ask(request(gpu, "copies", launch("copies", 8)))["status"] == "ok"


def test_an_input_aliased_by_an_output_stays_writable(gpu: MadeUpGpu) -> None:
    shared = [
        buffer("x", 8, access="read", guard_bytes=256, initial_file="x.bin"),
        {"name": "y", "bytes": 32, "alias": "x", "access": "write"},
    ]
    steps = [launch("adds_one", 8), {"do": "read", "buffer": "y", "file": "y.n0.bin"}]
    assert gpu.ask(request(gpu, "adds_one", *steps, buffers=shared))["status"] == "ok"
    assert floats((gpu.folder / "y.n0.bin").read_bytes()) == tuple(range(2, 10))


def pointers(gpu: MadeUpGpu) -> list[int]:
    return [int(value) for value in gpu.launches("copies")[-1].split()[5:7]]


@pytest.mark.parametrize(("n", "offset"), [(8, 0), (7, 0), (7, 4), (1000, 4), (1, 12)])
def test_pointers_are_aligned_as_promised(gpu: MadeUpGpu, n: int, offset: int) -> None:
    asked = request(gpu, "copies", launch("copies", n), n=n, buffers=guarded(n, offset_bytes=offset))
    assert gpu.ask(asked)["status"] == "ok"
    x, y = pointers(gpu)
    assert x % 32 == 0
    assert (y - offset) % (256 if offset else 32) == 0


def test_an_output_without_guards_is_a_plain_allocation(gpu: MadeUpGpu) -> None:
    gpu.ask(request(gpu, "copies", launch("copies", 8)))
    assert [pointer % 256 for pointer in pointers(gpu)] == [0, 0]


def test_a_buffer_of_no_bytes_is_legal(gpu: MadeUpGpu) -> None:
    empty = [{"name": name, "bytes": 0, "guard_bytes": 256} for name in "xy"]
    answer = gpu.ask(request(gpu, "copies", launch("copies", 0), *GUARDS, n=0, buffers=empty))
    assert (answer["status"], intact(answer)) == ("ok", (True, True))
