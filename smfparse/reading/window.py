"""The bytes of a source that are in memory."""

from __future__ import annotations

import mmap

import numpy as np

from smfparse.errors import Damage, DamageLog
from smfparse.limits import Limits
from smfparse.reading.chunks import SLACK, Part
from smfparse.reading.packing import Unpacked
from smfparse.reading.segments import RDW_SIZE
from smfparse.vectors import Bytes


class Window:
    """A window of a source, in memory; it moves from the start of a part to its end.

    If the first record of a range is unknown (a blind range), the window starts before the range:
    a record whose header is in pieces is found only by a walk from the record before it. A packed
    source is read from its start.

    buffer    uint8; the bytes of the window start at `low`
    base      offset in the source of the first byte of the window
    capacity  maximum number of bytes of the window
    floor     offset in the source from which records belong to the range
    border    offset in the source from which records belong to the next range; None: no range
              follows, or reading stops at the end of this range
    """

    def __init__(self, data: Unpacked, part: Part, limits: Limits, maps: bool) -> None:
        is_blind = part.record_no is None
        self.buffer: Bytes = np.zeros(0, np.uint8)
        self.low = 0
        self.floor = part.start
        self.base = part.start
        if is_blind:
            self.base = max(part.start - limits.max_spanned, 0) if data.file is not None else 0
        self.capacity = limits.window_bytes
        self.border = part.end if is_blind else None
        self._behind_border = 2 * limits.max_spanned
        self._end = None if is_blind else part.end
        self._data = data
        self._maps = maps
        self._reads = False
        self._room = 0

    @property
    def ends_with_source(self) -> bool:
        """Whether the end of the part is the end of the source."""
        return self._end in (None, self._data.size)

    def offset(self, place: int) -> int:
        """Return the offset in the source of the byte at `place` in the buffer."""
        return self.base + place - self.low

    def goes_on(self, place: int) -> bool:
        """Whether records that start from `place` in the buffer on can belong to the range."""
        return self.border is None or self.offset(place) < self.border

    def owns(self, offset: int) -> bool:
        """Whether byte `offset` of the source belongs to the range."""
        return self.floor <= offset and (self.border is None or offset < self.border)

    def look(self, held: int) -> tuple[int, int, bool]:
        """Fill the window; its buffer already contains the first `held` bytes.

        Return how many of these bytes were kept (0: all bytes of the window are new), the end of
        the window in the buffer, and whether no data follows. If no spanned records are requested,
        the file is mapped, except near its end: a map copies nothing, and only the used bytes are
        read. To make spanned records contiguous in a map costs more than reading. After the end of
        a blind range, the window is only as long as a record can be.
        """
        if self.border is not None:
            left = max(self.border - self.base, 0)
            self.capacity = min(self.capacity, left + self._behind_border)
        limit = self._data.size if self._end is None else self._end
        far = limit is not None and self.base + self.capacity + SLACK <= limit
        if far and self._maps and self._data.mapped:
            self.buffer = self._mapped()
            return 0, self.capacity, False
        if not self._reads:
            left = self.capacity if limit is None else max(limit - self.base, 0)
            self._room = min(self.capacity, left)
            self.buffer = np.zeros(RDW_SIZE + self._room + SLACK, np.uint8)
            self.low, self._reads, held = RDW_SIZE, True, 0
            if self.base:
                assert self._data.file is not None
                self._data.file.seek(self.base)
        room = self._room if self._end is None else min(self._room, self._end - self.base)
        at = self.low + held
        end = at + self._data.fill(self.buffer.data[at : max(self.low + room, at)])
        return held, end, end < self.low + self.capacity

    def keep(self, used: int, end: int) -> int:
        """Move the start of the window to `used`; return the number of bytes left before `end`."""
        if self._reads:
            self.buffer[self.low : self.low + end - used] = self.buffer[used:end]
        self.base += used - self.low
        return end - used

    def _mapped(self) -> Bytes:
        assert self._data.file is not None
        start = self.base - self.base % mmap.ALLOCATIONGRANULARITY
        length = self.base - start + self.capacity + SLACK
        mapped = mmap.mmap(self._data.file.fileno(), length, access=mmap.ACCESS_COPY, offset=start)
        return np.frombuffer(mapped, np.uint8)[self.base - start :]


class Losses:
    """Notes about bytes of a source that could not be used."""

    def __init__(self, source: str, window: Window) -> None:
        self._source = source
        self._window = window
        self._found: list[Damage] = []
        self._once = -1

    def note_once(self, places: list[int], reason: str) -> None:
        """Note places in the buffer, in order, without lost bytes; omit places noted before."""
        for offset in map(self._window.offset, places):
            if offset > self._once:
                self.note_at(offset, 0, reason)
                self._once = offset

    def note(self, place: int, size: int, reason: str) -> None:
        """Note `size` bytes at `place` in the buffer."""
        self.note_at(self._window.offset(place), size, reason)

    def note_at(self, offset: int, size: int, reason: str) -> None:
        """Note `size` bytes at byte `offset` of the source."""
        self._found.append(Damage(self._source, offset, size, reason))

    def report(self, damage: DamageLog) -> None:
        """Move the notes about the range to `damage`, in the order of their offsets."""
        for each in sorted(self._found, key=lambda each: each.offset):
            if self._window.owns(each.offset):
                damage.add(each)
        self._found.clear()
