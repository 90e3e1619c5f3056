"""UTC offsets of z/OS systems, and intervals of MQ 7 statistics, derived from nearby records.

The offset converts local times to UTC. MQ records show it, except records with a stub of QWHS
(115/5 to 115/7). Other records get the offset of a nearby record of their system.

A site can set its TOD clock ahead of UTC by the leap seconds. Local time is then less than TOD
clock time plus offset, by a constant that can be derived from each record.

Statistics of MQ 7 do not contain their interval: it is the time since the previous record of the
same system, queue manager and subtype. The first record of a source has no interval.

The distance to other records is limited, in bytes of the source, so neither result depends on the
start of the read part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from smfparse.decoding.records import HeaderAreas, Records
from smfparse.layout.clocks import US_PER_SECOND
from smfparse.layout.kinds import ENCODING, Values
from smfparse.limits import LIMITS
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import Headers
from smfparse.schemas import QWHS, STATISTICS, STUB_RECORDS
from smfparse.vectors import Bools, Ints

if TYPE_CHECKING:
    from smfparse.decoding.decoder import Ahead, Before

_QUARTER = 15 * 60
_LEAST_AHEAD, _MOST_AHEAD = 5, 60
"""Minimum and maximum seconds that a TOD clock can be ahead of UTC (leap seconds since 1999: 22 to
27).
"""
_HUNDREDTHS_US = 20_000
"""Two hundredths of a second in microseconds: SMF times are not exact enough for less."""


class Clock(NamedTuple):
    """A record with a known offset: byte of the source, and seconds ahead of UTC."""

    place: int
    seconds: int


class Shown(NamedTuple):
    """Records with a known offset, in order.

    system   uint32 (records,): bytes of the system id as a number
    place    int64 (records,): byte of the source where the record starts
    seconds  int64 (records,): seconds that local time is ahead of UTC
    """

    system: Values
    place: Ints
    seconds: Ints


def shown_by(records: Records) -> Shown:
    """Return the records of a chunk with a known offset."""
    time = HeaderAreas(records).number("qwhsstck")
    seconds, known = own_offsets(records, *time)
    return Shown(systems_of(records)[known], records.chunk.offset[known], seconds[known])


def systems_of(records: Records) -> Values:
    """Return the bytes of each record's system id as a number, uint32 (records,)."""
    system: Values = records.headers.raw("sm115sid").view(np.uint32)[:, 0]
    return system


class Made(NamedTuple):
    """The times at which MQ made records (QWHSSTCK).

    time   int64 (records,): microseconds since 1970, corrected to UTC
    known  bool (records,): whether the time is known
    ahead  int64 (records,): seconds that the TOD clock was ahead of UTC
    """

    time: Ints
    known: Bools
    ahead: Ints


def made_at(areas: HeaderAreas) -> Made:
    """Return the times at which the records of a chunk were made."""
    tod, known = areas.number("qwhsstck")
    local, dated = areas.records.headers.time
    ahead = seconds_ahead(local, tod, known & dated)
    return Made(tod - ahead * US_PER_SECOND, known, ahead)


def own_offsets(records: Records, utc: Ints, known: Bools) -> tuple[Ints, Bools]:
    """Return the offset of each record, in seconds, and which offsets are known.

    utc    times at which the records were made, microseconds since 1970
    known  whether the time is known
    """
    local, dated = records.headers.time
    seconds = np.rint((local - utc) / (_QUARTER * US_PER_SECOND)).astype(np.int64) * _QUARTER
    return seconds, known & dated & (np.abs(seconds) <= 24 * 3600)


def seconds_ahead(local: Ints, tod: Ints, known: Bools) -> Ints:
    """Return for each record the seconds that the TOD clock was ahead of UTC; 0: none, or unknown.

    SMF writes a record after MQ made it, so without leap seconds the SMF time is at most a
    hundredth of a second before the time of MQ.

    local  SMF times of records, microseconds since 1970
    tod    TOD clock times at which the records were made, microseconds since 1970
    known  whether both times are known
    """
    quarter = _QUARTER * US_PER_SECOND
    behind = (tod - local + quarter // 2) % quarter - quarter // 2
    seconds = -((_HUNDREDTHS_US - behind) // US_PER_SECOND)
    is_ahead = known & (seconds >= _LEAST_AHEAD) & (seconds <= _MOST_AHEAD)
    return np.where(is_ahead, seconds, 0)


class Clocks:
    """The last known UTC offset of each system, from chunk to chunk of a source.

    before  finds the last offsets before the part that is read; None: no bytes before it
    ahead   finds the next offsets in the source; None: not possible
    reach   maximum bytes from a record without an offset to the record that supplies it
    """

    def __init__(
        self,
        before: Before | None = None,
        ahead: Ahead | None = None,
        reach: int = LIMITS.look_back_bytes,
    ) -> None:
        self._before = before
        self._ahead = ahead
        self._reach = reach
        self._last: dict[bytes, Clock] = {}

    def fill(
        self, system: Values, place: Ints, offset: Ints, known: Bools, without: Bools
    ) -> tuple[Ints, Bools]:
        """Return the offsets of all records of a chunk, and which are known.

        The records `without` UTC get the offset of the nearest earlier record of their system
        within the reach, otherwise of the nearest later record.

        system, place  as in `Shown`, for all records of the chunk
        """
        offset, filled = offset.copy(), known.copy()
        every, which = _distinct(system)
        asking = without & ~known
        for row, name in enumerate(every):
            own = which == row
            shows, needs = np.flatnonzero(own & known), np.flatnonzero(own & asking)
            if needs.size:
                shown = Shown(system[shows], place[shows], offset[shows])
                found = self._found(name, shown, place[needs], int(place[-1]))
                offset[needs], filled[needs] = found
            if shows.size:
                self._last[name] = Clock(int(place[shows[-1]]), int(offset[shows[-1]]))
        return offset, filled

    def _found(self, system: bytes, shown: Shown, place: Ints, end: int) -> tuple[Ints, Bools]:
        """Return the offsets of records of a system at `place`, and which are found.

        shown  records of the chunk with a known offset of the system
        end    byte of the source where the last record of the chunk starts
        """
        earlier = np.array(self._earlier(system, shown, place), np.int64).reshape(-1, 2)
        clocks = np.concatenate([earlier, np.stack([shown.place, shown.seconds], axis=1)])
        seconds, found = _near(clocks, place, self._reach)
        lost = place[~found]
        if self._ahead is not None and lost.size and not (clocks[:, 0] > lost[-1]).any():
            later = self._ahead.first(system, end, int(lost[-1]) + self._reach)
            if later is not None:
                seconds, found = _near(np.append(clocks, [later], 0), place, self._reach)
        return seconds, found

    def _earlier(self, system: bytes, shown: Shown, place: Ints) -> list[Clock]:
        """Return the last record with an offset before the chunk; empty: none is near enough."""
        if system not in self._last and self._before is not None:
            first = place[: np.searchsorted(place, shown.place[0])] if shown.place.size else place
            if self._before.is_near(first, self._reach):
                self._last = self._before.clocks | self._last
                self._before = None
        return [self._last[system]] if system in self._last else []


def _near(clocks: Ints, place: Ints, reach: int) -> tuple[Ints, Bools]:
    """Return for each place the offset of the nearest clock, if possible before the place.

    Also return for which places a clock is at most `reach` bytes away.

    clocks  (clocks, 2): as in `Clock`, in order
    """
    if not len(clocks):
        return np.zeros(len(place), np.int64), np.zeros(len(place), np.bool_)
    at, seconds = clocks.T
    later = np.searchsorted(at, place)
    before, behind = np.maximum(later - 1, 0), np.minimum(later, len(at) - 1)
    early = (later > 0) & (place - at[before] <= reach)
    found = early | ((later < len(at)) & (at[behind] - place <= reach))
    return np.where(early, seconds[before], seconds[behind]), found


def _distinct(system: Values) -> tuple[list[bytes], Ints]:
    """Return the distinct system ids of records, and the index of each record's system id."""
    if (system == system[:1]).all():  # as in most chunks
        every, which = system[:1], np.zeros(len(system), np.int64)
    else:
        every, which = np.unique(system, return_inverse=True)
    return [each.tobytes() for each in every], which


_MQ_8 = "8".encode(ENCODING)[0]
"""First character of SM115REL in the first release whose records contain intervals."""
_LONGEST_US = 25 * 3600 * US_PER_SECOND
"""Maximum microseconds of an interval (STATIME is at most 24 hours): a longer time is a gap."""


class Written(NamedTuple):
    """Records of statistics without an interval, in order.

    owner  int64 (records,): index of the record in the chunk
    key    V10 (records,): system, queue manager, subtype
    place  int64 (records,): byte of the source where the record starts
    time   int64 (records,): time at which the record was made, microseconds since 1970, UTC
    """

    owner: Ints
    key: Values
    place: Ints
    time: Ints


def is_spaced(chunk: Chunk) -> bool:
    """Whether records of a chunk may depend on previous records: statistics of MQ 7 or older."""
    headers = Headers(chunk.buffer, chunk.start, chunk.length)
    return bool((headers.is_mq & (headers.raw("sm115rel")[:, 0] < _MQ_8)).any())


def written_without_interval(records: Records, made: Made) -> Written:
    """Return the statistics records of a chunk whose QWHS ends before the interval."""
    area = HeaderAreas(records).part(QWHS)
    is_short = np.zeros(len(records), np.bool_)
    is_short[area.owner] = area.length < QWHS.field("qwhsdurn").end
    is_short &= made.known & (records.type == STATISTICS)
    for stub in STUB_RECORDS:
        is_short[records.of(stub)] = False
    owner = np.flatnonzero(is_short)
    parts = [records.headers.raw(name)[owner] for name in ("sm115sid", "sm115SSI", "sm115stf")]
    key = np.ascontiguousarray(np.hstack(parts)).view("V10")[:, 0]
    return Written(owner, key, records.chunk.place[owner], made.time[owner])


class Spacing:
    """The last records of a source, from chunk to chunk, for the time since the previous record.

    before  the records before the read part; None: no earlier records
    reach   maximum bytes from the start of the previous record to the start of a record
    """

    def __init__(self, before: Before | None = None, reach: int = LIMITS.look_back_bytes) -> None:
        self._before = before
        self._reach = reach
        self._last: dict[bytes, tuple[int, int]] = {}
        """Place and time of the last record, by key."""

    def intervals(self, records: Records, made: Made) -> tuple[Ints, Ints]:
        """Return indexes of MQ 7 records with a known interval, and its start (us since 1970)."""
        written = written_without_interval(records, made)
        if not written.owner.size:
            return written.owner, written.time
        if self._before is not None and self._before.is_near(written.place[:1], self._reach):
            self._last = self._before.written | self._last
            self._before = None
        start, place = written.time.copy(), np.full(len(written.time), -self._reach - 1)
        for key in np.unique(written.key):
            rows = np.flatnonzero(written.key == key)
            first = self._last.get(key.tobytes(), (-self._reach - 1, 0))
            places, times = written.place[rows], written.time[rows]
            place[rows] = np.r_[first[0], places[:-1]]
            start[rows] = np.r_[first[1], times[:-1]]
            self._last[key.tobytes()] = int(places[-1]), int(times[-1])
        length = written.time - start
        held = (written.place - place <= self._reach) & (length > 0) & (length <= _LONGEST_US)
        return written.owner[held], start[held]
