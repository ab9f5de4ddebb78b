"""Answers end in time and in size, however they come."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx2
import pytest

from pytest_cudaopt.optimize.bounded_transport import BoundedTransport


class Chunks(httpx2.SyncByteStream):
    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks

    def close(self) -> None:
        self.closed = True


class Sends(httpx2.BaseTransport):
    def __init__(self, chunks: list[bytes]) -> None:
        self.stream = Chunks(chunks)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(203, headers={"x-one": "1"}, stream=self.stream)


class Ticking:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 1.0
        return self.now_s


def get(inner: Sends, **bounds: float) -> httpx2.Response:
    limits = {"most_s": 100.0, "most_bytes": 100, **bounds}
    transport = BoundedTransport(
        inner, limits["most_s"], most_bytes=int(limits["most_bytes"]), clock=Ticking()
    )
    with httpx2.Client(transport=transport) as client:
        return client.get("http://127.0.0.1/")


class Silent(httpx2.BaseTransport):
    """Begins no answer until it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.released.wait()
        return httpx2.Response(200)


def test_an_answer_that_does_not_begin_is_a_timeout() -> None:
    inner = Silent()
    with httpx2.Client(transport=BoundedTransport(inner, 0.05)) as client:
        with pytest.raises(httpx2.ReadTimeout, match="does not begin"):
            client.get("http://127.0.0.1/")
        inner.released.set()


def test_requests_that_belong_together_share_the_time() -> None:
    # The clock is read once for both, and twice for each.
    transport = BoundedTransport(Sends([b"a"]), 4.0, clock=Ticking())
    with httpx2.Client(transport=transport) as client:
        with transport.together():
            for _ in range(2):
                assert client.get("http://127.0.0.1/").content == b"a"
            with pytest.raises(httpx2.ReadTimeout, match="no time is left"):
                client.get("http://127.0.0.1/")
        assert client.get("http://127.0.0.1/").content == b"a"


def test_what_the_inner_transport_raises_is_passed_on() -> None:
    class Refuses(httpx2.BaseTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            raise httpx2.ConnectError("refused")

    client = httpx2.Client(transport=BoundedTransport(Refuses(), 9.0))
    with client, pytest.raises(httpx2.ConnectError, match="refused"):
        client.get("http://127.0.0.1/")


def test_an_answer_within_bounds_passes_unchanged() -> None:
    inner = Sends([b"ab", b"c"])
    answer = get(inner)
    assert (answer.status_code, answer.headers["x-one"], answer.content) == (203, "1", b"abc")
    assert inner.stream.closed


@pytest.mark.parametrize(
    ("bounds", "words"), [({"most_s": 3}, "does not end"), ({"most_bytes": 2}, "more than 2 bytes")]
)
def test_an_answer_beyond_a_bound_is_a_timeout(bounds: dict[str, float], words: str) -> None:
    inner = Sends([b"a"] * 4)
    with pytest.raises(httpx2.ReadTimeout, match=words):
        get(inner, **bounds)
    assert inner.stream.closed
