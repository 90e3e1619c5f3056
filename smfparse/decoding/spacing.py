"""The intervals of MQ 7 statistics, which do not contain them: the time since the previous record.

The previous record has the same system, queue manager and subtype. Its distance is limited, in
bytes of the source, as for the UTC offset (`clocks`), so an interval does not depend on the start
of the read part. The first record of a source has no previous record, and so no interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from smfparse.decoding.areas import HeaderAreas
from smfparse.decoding.clocks import Made
from smfparse.decoding.records import Records
from smfparse.layout.clocks import US_PER_SECOND
from smfparse.layout.kinds import Values
from smfparse.layout.texts import ENCODING
from smfparse.limits import LIMITS
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import Headers
from smfparse.schemas import QWHS, STATISTICS, STUB_RECORDS
from smfparse.vectors import Ints

if TYPE_CHECKING:
    from smfparse.decoding.lookback import Before

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
        """Return indexes of records with such an interval; its start (us since 1970, UTC)."""
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
