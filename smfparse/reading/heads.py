"""A cache of the header positions of a buffer, for repeated searches after damage."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from smfparse.reading.headers import SMF_HEADER, headers_in
from smfparse.vectors import Bytes

_STRETCH = 1 << 14
"""Bytes that are searched at once."""


class Heads:
    """The headers of z/OS in a buffer, as `headers_in` finds them: each stretch is searched once.

    What the buffer has must not change meanwhile.
    """

    def __init__(self, buffer: Bytes) -> None:
        self.buffer = buffer
        self._found: dict[int, list[int]] = {}

    def between(self, low: int, end: int) -> Iterator[int]:
        """Give, in order, every place from `low` on where a header ends before `end`."""
        high = end - SMF_HEADER
        for number in range(low // _STRETCH, high // _STRETCH + 1):
            places = self._in(number)
            for index in range(bisect_left(places, low), len(places)):
                if places[index] > high:
                    return
                yield places[index]

    def _in(self, number: int) -> list[int]:
        found = self._found.get(number)
        if found is None:
            start = number * _STRETCH
            behind = min(start + _STRETCH + SMF_HEADER - 1, self.buffer.size)
            found = self._found[number] = headers_in(self.buffer, start, behind).tolist()
        return found
