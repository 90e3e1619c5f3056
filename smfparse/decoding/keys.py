"""The key columns of every table: system, queue manager, times and source.

SMF times are local times, TOD clock values of MQ are UTC, and QWHSTIME is a local time in TOD
format. The offset of the z/OS system is SMF time minus TOD clock value, rounded to 15 minutes. TOD
clock values are corrected if the clock is ahead of UTC.

The interval of a record comes from QWHS, for class 3 records from WTAS. The zone of the workstation
has no effect. Each text of a key column is stored once per source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from smfparse.decoding.clocks import Clocks, Made, Spacing, made_at, own_offsets, systems_of
from smfparse.decoding.duplicates import fingerprints
from smfparse.decoding.records import HeaderAreas, Records
from smfparse.decoding.tasks import TaskLinks, Tasks, in_source, tasks_of, tokens_of
from smfparse.decoding.zones import counting_time
from smfparse.layout.clocks import STCK_UNITS_PER_US, US_PER_SECOND, believed_seconds
from smfparse.layout.kinds import ENCODING, Mask, Raw, Text, Values
from smfparse.reading.chunks import Chunk, offset_of
from smfparse.schemas import QWHX_RELEASE, STUB_RECORDS, TASK
from smfparse.vectors import Bools, Ints, distinct, strings


class TextColumn:
    """The distinct texts of a key column of a source; rows contain codes of these texts."""

    def __init__(self, spell: Callable[[bytes], str | None]) -> None:
        self._spell = spell
        self._codes: dict[bytes, int] = {}
        self._texts: list[str | None] = []

    def codes(self, raw: Raw) -> Values:
        """Return the code of each row of `raw`, uint8 (rows, width): int32 (rows,)."""
        places, each = distinct(raw)
        return np.array([self._code(word.tobytes()) for word in each], np.int32)[places]

    def __len__(self) -> int:
        return len(self._texts)

    def _code(self, raw: bytes) -> int:
        if raw not in self._codes:
            self._codes[raw] = len(self._texts)
            self._texts.append(self._spell(raw))
        return self._codes[raw]

    def array(self) -> Any:
        """Return the texts by code, as an Arrow array."""
        return strings(word or "" for word in self._texts)

    def known(self, codes: Values) -> Mask:
        """Return which codes have a text; None: all."""
        if None not in self._texts:
            return None
        return np.array([word is not None for word in self._texts])[codes]


def _no_blanks(spell: Callable[[bytes], str]) -> Callable[[bytes], str | None]:
    return lambda raw: spell(raw) or None


def text_columns() -> dict[str, TextColumn]:
    """Return the storage for the texts of the key columns of one source, by column."""
    return {
        "system": TextColumn(Text(4).spell),
        "qmgr": TextColumn(Text(4).spell),
        "qsg": TextColumn(_no_blanks(Text(4).spell)),
        "mq_version": TextColumn(_version),
        "subsystem": TextColumn(Text(4).spell),
    }


def _version(releases: bytes) -> str | None:
    """Return the version, such as 9.3.0 for 930, or 10.0.0 for 946 with 100000 in QWHXREL."""
    release, long_release = (part.decode(ENCODING) for part in (releases[:3], releases[3:]))
    if releases[:3] >= QWHX_RELEASE:
        parts = [long_release[at : at + 2] for at in (0, 2, 4)]
    else:
        parts = list(release)
    if not all(part.isdecimal() for part in parts):
        return None
    return ".".join(str(int(part)) for part in parts)


_TOD_INTERVALS = ((115, 231), (116, 10))
"""Records whose QWHSDURN counts TOD units; in other records it counts microseconds."""
_QUARTER_US = 15 * 60 * US_PER_SECOND
_LATE_US = 5 * US_PER_SECOND
"""Maximum microseconds from the end of an interval to QWHSSTCK: some seconds on a busy system."""

Interval: TypeAlias = tuple[Ints, Values, Bools, Bools]
"""One row per record: start (microseconds since 1970, UTC), seconds, and whether each is known."""


def declared(areas: HeaderAreas, time: tuple[Ints, Bools], offset: tuple[Ints, Bools]) -> Interval:
    """Return the intervals by QWHSDURN and QWHSTIME; `time` is QWHSSTCK (us since 1970, UTC)."""
    length, timed = areas.number("qwhsdurn")
    units = np.full(len(length), US_PER_SECOND, np.float64)
    for record in _TOD_INTERVALS:
        units[areas.records.of(record)] = US_PER_SECOND * STCK_UNITS_PER_US
    seconds = length.astype(np.uint64) / units
    timed &= believed_seconds(seconds)
    start, started = _starts(areas, np.where(timed, seconds, 0), timed, time, offset)
    return start, seconds, started, timed


def _starts(
    areas: HeaderAreas,
    seconds: Values,
    timed: Bools,
    time: tuple[Ints, Bools],
    offset: tuple[Ints, Bools],
) -> tuple[Ints, Bools]:
    """Return the starts of intervals, microseconds since 1970, UTC, and which are known.

    The approximate start, QWHSSTCK minus QWHSDURN, is in UTC. The exact start, QWHSTIME, is in
    local time. Its UTC offset differs from that of the record if clocks were changed in the
    interval. The difference between the two starts, without whole quarters of an hour, corrects the
    approximate start.
    """
    local, started = areas.number("qwhstime")
    ahead_of_utc, has_offset = offset
    end, has_end = time
    begin = end - np.rint(seconds * US_PER_SECOND).astype(np.int64)
    ahead = np.rint((local - begin) / _QUARTER_US).astype(np.int64) * _QUARTER_US
    beyond = local - begin - ahead
    exact = begin + np.where(np.abs(beyond) <= _LATE_US, beyond, 0)
    start = np.where(has_end & timed, exact, local - ahead_of_utc * US_PER_SECOND)
    return start, started & has_offset


def put_task_intervals(intervals: Interval, owner: Ints, numbers: Ints) -> None:
    """Set the intervals of the class 3 records `owner`; `numbers`: as in `Tasks`."""
    start, seconds, started, timed = intervals
    begin, end = numbers[:, 2], numbers[:, 3]
    start[owner], started[owner] = begin, numbers[:, 4] == 1
    seconds[owner], timed[owner] = (end - begin) / US_PER_SECOND, numbers[:, 5] == 1


KeyColumn: TypeAlias = tuple[Values, Mask]
"""Values, one row per record, and which are present; None: all."""


class KeyColumns:
    """The key columns of a chunk, each computed once, on first use.

    texts  texts of the key columns by name: values of text columns are codes in them
    """

    def __init__(
        self,
        records: Records,
        clocks: Clocks,
        links: TaskLinks,
        spacing: Spacing,
        texts: Mapping[str, TextColumn],
    ) -> None:
        self.records = records
        self.rows = len(records)
        self.areas = HeaderAreas(records)
        self._clocks = clocks
        self._links = links
        self._spacing = spacing
        self._texts = texts

    def column(self, name: str) -> KeyColumn:
        """Return a key column, or a column of `record` from the SMF header."""
        return _COLUMNS[name](self)

    def known(self, name: str) -> tuple[Values, Bools]:
        """Return a key column that is a time or the UTC offset, and which values are known."""
        values, known = _COLUMNS[name](self)
        assert known is not None
        return values, known

    def carry(self, *, clocks: bool, tasks: bool) -> None:
        """Make the clocks or tasks of this chunk known to later chunks."""
        if clocks:
            _ = self.offset
        if tasks:
            _ = self._continued

    def text(self, name: str, raw: Values) -> Values:
        """Return the codes of the texts of a column: int32 (rows,)."""
        return self._texts[name].codes(raw)

    @property
    def task_offset(self) -> Ints:
        """Byte of the 116/1 record of each record's task, or of the record itself if it has none.

        If the 116/1 record is in another source, the higher bits contain the number of that source.
        """
        offset, known = self.task_record_offset
        source, _ = self.task_source
        return in_source(np.where(known, offset, self.records.chunk.offset), source)

    @property
    def task_record_no(self) -> tuple[Ints, Bools]:
        """Record number of the 116/1 record of each record's task, and which are known."""
        number, known = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.bool_)
        if not self.records.chunk.numbered:
            return number, known
        first = self.records.of(TASK)
        number[first], known[first] = self.records.chunk.record_no[first], True
        owner, numbers = self._continued
        number[owner], known[owner] = numbers[:, 1], numbers[:, 7] == 0
        return number, known

    @property
    def task_source(self) -> tuple[Ints, Bools]:
        """Source, as in `Tasks`, of the 116/1 record of each record's task, and which are known."""
        source, known = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.bool_)
        known[self.records.of(TASK)] = True
        owner, numbers = self._continued
        source[owner], known[owner] = numbers[:, 7], True
        return source, known

    @property
    def task_record_offset(self) -> tuple[Ints, Bools]:
        """Byte of the 116/1 record of each record's task, and which are known."""
        offset, known = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.bool_)
        first = self.records.of(TASK)
        offset[first], known[first] = self.records.chunk.offset[first], True
        owner, numbers = self._continued
        offset[owner], known[owner] = offset_of(numbers[:, 0]), True
        return offset, known

    @cached_property
    def task_token(self) -> tuple[Values, Bools]:
        """Token of each record's task, uint64 (rows, 2), and which are known."""
        token, known = np.zeros((self.rows, 2), np.uint64), np.zeros(self.rows, np.bool_)
        owner, words = tokens_of(self.records)
        token[owner], known[owner] = words, True
        return token, known

    @cached_property
    def made(self) -> Made:
        """Time at which each record was made (QWHSSTCK)."""
        return made_at(self.areas)

    @property
    def time(self) -> tuple[Ints, Bools]:
        """Time when each record was made (microseconds since 1970, UTC), and which are known."""
        return self.made.time, self.made.known

    @cached_property
    def offset(self) -> tuple[Ints, Bools]:
        """Seconds that local time is ahead of UTC, and which are known."""
        seconds, known = own_offsets(self.records, *self.time)
        without = ~self.records.is_mq
        for record in STUB_RECORDS:
            without[self.records.of(record)] = True
        system, place = systems_of(self.records), self.records.chunk.place
        return self._clocks.fill(system, place, seconds, known, without)

    @cached_property
    def counted_at(self) -> tuple[Ints, Bools]:
        """Local time at which each record counts (us since 1970), and which are known."""
        taken, dated = self.records.headers.time
        start, seconds, _, known = self.interval
        offset, local = self.offset
        start = start + offset * US_PER_SECOND
        known = known & local
        known[self._spaced[0]] = False
        return counting_time(taken, start, seconds, known), dated

    @cached_property
    def interval(self) -> Interval:
        """Interval of each record."""
        start, seconds, started, timed = declared(self.areas, self.time, self.offset)
        first, tasks = self._tasks
        for owner, numbers in ((first, tasks.numbers), self._continued):
            put_task_intervals((start, seconds, started, timed), owner, numbers)
        spaced, begin = self._spaced
        start[spaced], started[spaced], timed[spaced] = begin, True, True
        seconds[spaced] = (self.time[0][spaced] - begin) / US_PER_SECOND
        return start, seconds, started, timed & started

    @cached_property
    def _spaced(self) -> tuple[Ints, Ints]:
        """MQ 7 records whose interval starts at the previous record, and these starts."""
        return self._spacing.intervals(self.records, self.made)

    @cached_property
    def _tasks(self) -> tuple[Ints, Tasks]:
        """The 116/1 records with a WTAS, and their tasks."""
        return tasks_of(self.records, self.made.ahead)

    @cached_property
    def _continued(self) -> tuple[Ints, Ints]:
        """The 116/2 records whose 116/1 record is known, and `numbers` of the 116/1 record."""
        owner, numbers, known = self._links.link(self.records, self._tasks[1])
        return owner[known], numbers


def _system(keys: KeyColumns) -> KeyColumn:
    return keys.text("system", keys.records.headers.raw("sm115sid")), None


def _qmgr(keys: KeyColumns) -> KeyColumn:
    return keys.text("qmgr", keys.records.headers.raw("sm115SSI")), keys.records.is_mq


def _qsg(keys: KeyColumns) -> KeyColumn:
    raw, held = keys.areas.extension("qwhxqsg")
    return keys.text("qsg", raw), held


def _mq_version(keys: KeyColumns) -> KeyColumn:
    release, _ = keys.areas.extension("qwhxrel")
    releases = np.hstack([keys.records.headers.raw("sm115rel"), release])
    return keys.text("mq_version", releases), keys.records.is_mq


def _subsystem(keys: KeyColumns) -> KeyColumn:
    headers = keys.records.headers
    return keys.text("subsystem", headers.raw("sm115SSI")), headers.has_subtype


def _interval_start(keys: KeyColumns) -> KeyColumn:
    start, _, started, _ = keys.interval
    return start, started


def _interval_seconds(keys: KeyColumns) -> KeyColumn:
    _, seconds, _, timed = keys.interval
    return seconds, timed


def _numbers(chunk: Chunk, numbers: Ints) -> KeyColumn:
    """Return record numbers as a key column: in a blind range they are unknown."""
    return numbers, None if chunk.numbered else np.zeros(len(chunk.start), np.bool_)


def _task_word(keys: KeyColumns, number: int) -> KeyColumn:
    token, known = keys.task_token
    return token[:, number], known


_COLUMNS: Mapping[str, Callable[[KeyColumns], KeyColumn]] = {
    "system": _system,
    "qmgr": _qmgr,
    "qsg": _qsg,
    "mq_version": _mq_version,
    "smf_time": lambda keys: keys.records.headers.time,
    "counted_at": lambda keys: keys.counted_at,
    "time": lambda keys: keys.time,
    "utc_offset": lambda keys: keys.offset,
    "interval_start": _interval_start,
    "interval_seconds": _interval_seconds,
    "record_no": lambda keys: _numbers(keys.records.chunk, keys.records.chunk.record_no),
    "record_offset": lambda keys: (keys.records.chunk.offset, None),
    "task_source": lambda keys: keys.task_source,
    "task_record_no": lambda keys: keys.task_record_no,
    "task_record_offset": lambda keys: keys.task_record_offset,
    "task_started_tod": lambda keys: _task_word(keys, 0),
    "task_thread": lambda keys: _task_word(keys, 1),
    "sequence_no": lambda keys: keys.areas.number("qwhsiseq"),
    "seconds_ahead": lambda keys: (keys.made.ahead, keys.made.known),
    "type": lambda keys: (keys.records.type, None),
    "subtype": lambda keys: (keys.records.subtype, keys.records.headers.has_subtype),
    "subsystem": _subsystem,
    "length": lambda keys: (keys.records.chunk.length, None),
    "flags": lambda keys: (keys.records.headers.number("sm115flg"), None),
    "fingerprint": lambda keys: (fingerprints(keys.records.chunk), None),
    "dump_start": lambda keys: _numbers(keys.records.chunk, keys.records.chunk.dump),
}
"""Functions that return key columns, except `source` and `block_no`, and columns of `record`."""
BY_OFFSET = frozenset(("counted_at", "utc_offset", "interval_start", "interval_seconds"))
"""Key columns that depend on the UTC offset of a system, which may come from other records."""
