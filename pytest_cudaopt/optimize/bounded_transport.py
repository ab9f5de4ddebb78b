"""HTTP that ends: an answer may take so long and be so large, however the server dribbles it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2

_MOST_BYTES = 16 << 20


class BoundedTransport(httpx2.BaseTransport):
    """Passes requests to `inner`; raises httpx2.ReadTimeout once a request and its answer took `most_s`.

    A client's own timeouts start again with every byte that arrives.
    """

    def __init__(
        self,
        inner: httpx2.BaseTransport,
        most_s: float,
        *,
        most_bytes: int = _MOST_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._most_s = most_s
        self._most_bytes = most_bytes
        self._clock = clock
        self._shared = threading.local()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let all requests of this thread, such as one and its retries, take `most_s` together."""
        self._shared.end_s = self._clock() + self._most_s
        try:
            yield
        finally:
            del self._shared.end_s

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        end_s = getattr(self._shared, "end_s", None) or self._clock() + self._most_s
        left_s = end_s - self._clock()
        if left_s <= 0:
            raise httpx2.ReadTimeout("no time is left to ask again", request=request)
        response = self._begun(request, left_s)
        assert isinstance(response.stream, httpx2.SyncByteStream)  # noqa: S101 - a synchronous transport's
        bounded = _BoundedStream(response.stream, end_s, self._most_bytes, self._clock, request)
        return httpx2.Response(
            response.status_code, headers=response.headers, stream=bounded, extensions=response.extensions
        )

    def _begun(self, request: httpx2.Request, left_s: float) -> httpx2.Response:
        """Return the response once its headers are there; who dribbles them is left alone."""
        begun: queue.Queue[httpx2.Response | BaseException] = queue.Queue()

        def begin() -> None:
            try:
                begun.put(self._inner.handle_request(request))
            except BaseException as error:
                begun.put(error)

        threading.Thread(target=begin, daemon=True).start()
        try:
            response = begun.get(timeout=left_s)
        except queue.Empty:
            raise httpx2.ReadTimeout("the answer does not begin", request=request) from None
        if isinstance(response, BaseException):
            raise response
        return response

    def close(self) -> None:
        self._inner.close()


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(
        self,
        inner: httpx2.SyncByteStream,
        end_s: float,
        most_bytes: int,
        clock: Callable[[], float],
        request: httpx2.Request,
    ) -> None:
        self._inner = inner
        self._end_s = end_s
        self._most_bytes = most_bytes
        self._clock = clock
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        left = self._most_bytes
        for chunk in self._inner:
            left -= len(chunk)
            if left < 0:
                raise httpx2.ReadTimeout(
                    f"the answer has more than {self._most_bytes} bytes", request=self._request
                )
            if self._clock() > self._end_s:
                raise httpx2.ReadTimeout("the answer does not end", request=self._request)
            yield chunk

    def close(self) -> None:
        self._inner.close()
