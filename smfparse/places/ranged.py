"""A file elsewhere as a stream of bytes that may be sought: ranges, some of them ahead.

What breaks is tried again, a few times; then BrokenError says why no more comes.
"""

from __future__ import annotations

import io
import os
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smfparse.places.systems import in_words

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_FIRST, _MORE, _MOST = 1 << 16, 4, 4 << 20
"""Bytes of the first range, how many times as many the next has, and how many at most."""
_AHEAD = 4
"""Ranges that are asked for before they are needed, where a file is read on and on."""
_TRIES = 4
_MARK = 16
"""Bytes by which it is seen that the end of a range did not come."""
_WAIT = 0.1
"""Seconds before the second try; before each later one four times as many."""


class BrokenError(OSError):
    """A file elsewhere of which no more comes, however often it is tried."""


class RangedFile(io.RawIOBase):
    """Reads a file of pyarrow's. It holds `_AHEAD` ranges of `_MOST` bytes, and the one in use.

    opened  opens the file; asked for each range that is read at the same time as others
    """

    def __init__(self, opened: Callable[[], Any], scheme: str) -> None:
        super().__init__()
        self._open = opened
        self._scheme = scheme
        with in_words(scheme):
            self._files = deque([opened()])
            self.size: int = self._files[0].size()
        self._at = 0
        self._held, self._held_at = memoryview(b""), 0
        self._next, self._length, self._in_turn = 0, _FIRST, 0
        self._ahead: deque[Future[bytes]] = deque()
        self._threads: ThreadPoolExecutor | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what there is at once. Raises BrokenError."""
        if self._at >= self.size or not len(buffer):
            return 0
        place = self._at - self._held_at
        if not 0 <= place < len(self._held):
            self._held, self._held_at, place = memoryview(self._range()), self._at, 0
        found = self._held[place : place + len(buffer)]
        memoryview(buffer).cast("B")[: len(found)] = found
        self._at += len(found)
        return len(found)

    def close(self) -> None:
        if not self.closed:
            self._forget()
            if self._threads is not None:
                self._threads.shutdown(cancel_futures=True)
            for each in self._files:
                each.close()
        super().close()

    def _range(self) -> bytes:
        """Return the next range, which starts where the file is read."""
        goes_on = self._at == self._held_at + len(self._held) and self._in_turn
        if not goes_on:
            self._forget()
            self._next, self._length, self._in_turn = self._at, _FIRST, 0
        self._in_turn += 1
        asked = self._ahead.popleft() if self._ahead else None
        found = self._fetch(*self._take()) if asked is None else asked.result()
        self._look_ahead()
        return found

    def _take(self) -> tuple[int, int]:
        """Return where the next range starts, and its bytes."""
        start, length = self._next, min(self._length, self.size - self._next)
        self._next += length
        self._length = min(_MORE * self._length, _MOST)
        return start, length

    def _look_ahead(self) -> None:
        """Ask for ranges that come next, the more the longer the file was read on."""
        wanted = min(self._in_turn - 1, _AHEAD)
        while len(self._ahead) < wanted and self._next < self.size:
            if self._threads is None:
                from concurrent.futures import ThreadPoolExecutor  # slow to load

                self._threads = ThreadPoolExecutor(_AHEAD)
            self._ahead.append(self._threads.submit(self._fetch, *self._take()))

    def _forget(self) -> None:
        for each in self._ahead:
            each.cancel()
        self._ahead.clear()

    def _fetch(self, start: int, length: int) -> bytes:
        """Return a range. Raises BrokenError where it does not come."""
        room, wait, reason = bytearray(length), _WAIT, ""
        for number in range(_TRIES):
            if number:
                time.sleep(wait)
                wait *= _MORE
            try:
                if self._fill(room, start):
                    return bytes(room)
                reason = "the connection gave fewer bytes than the file has"
            except OSError as error:
                reason = error.strerror or str(error)
        raise BrokenError(None, f"{reason}; tried {_TRIES} times at byte {start:,}")

    def _fill(self, room: bytearray, start: int) -> bool:
        """Read a range; return whether all of it came.

        Of a response that is too short, pyarrow says that it has all bytes, and leaves those at the
        end of the buffer as they were: so it is seen whether these are.
        """
        mark = os.urandom(min(_MARK, len(room)))
        room[-len(mark) :] = mark
        with in_words(self._scheme):
            file = self._files.pop() if self._files else self._open()
            try:
                file.seek(start)
                count = file.readinto(room)
            finally:
                self._files.append(file)
        return count == len(room) and not room.endswith(mark)
