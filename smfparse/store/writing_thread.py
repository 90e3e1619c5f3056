"""A thread that writes while the caller goes on: Parquet is packed beside the decoding."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class WritingThread:
    """Does work in the order in which it comes.

    most_bytes  of what waits for it; beyond, the caller waits
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._pool = ThreadPoolExecutor(1, "writing")
        self._waiting: deque[tuple[Future[None], int]] = deque()
        self._bytes = 0

    def do(self, work: Callable[[], None], size: int = 0) -> None:
        """Have work done that holds about `size` bytes. Raises what earlier work raised."""
        while self._waiting and (
            self._waiting[0][0].done() or self._bytes + size > self._most_bytes
        ):
            self._wait_for_first()
        self._waiting.append((self._pool.submit(work), size))
        self._bytes += size

    def wait(self) -> None:
        """Wait until all is done. Raises what any of it raised."""
        while self._waiting:
            self._wait_for_first()

    def stop(self) -> None:
        """End the thread; what it did not begin is not done."""
        self._pool.shutdown(cancel_futures=True)

    def _wait_for_first(self) -> None:
        first, size = self._waiting.popleft()
        self._bytes -= size
        first.result()
