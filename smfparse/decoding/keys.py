"""The key columns that every table carries: which system and queue manager, when, and where from.

Times: SMF writes local time, the TOD clocks of MQ are UTC, and QWHSTIME is TOD format but local
already. The offset of the z/OS system is the difference of the two, rounded to 15 minutes because
the SMF header counts hundredths of a second. Nothing here knows the workstation's zone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from smfparse.decoding.records import Blocks, Records
from smfparse.decoding.tasks import TASK, TaskLinks, Tasks, task_blocks, task_keys
from smfparse.layout import STCK_UNITS_PER_US, Block, Instant, Mask, Numeric, Raw, Text, Values
from smfparse.schemas import QWHC, QWHS, QWHX, STUB_RECORDS, WTAS
from smfparse.vectors import Bools, Ints, distinct

STUB = 1
"""QWHSLEN of the 4-byte form that 115/5-7 have."""
STUB_BYTES = 4
SHORT = QWHS.field("qwhstime").offset
"""QWHSLEN of the form without an interval; QWHC follows it in 116/0-2."""
QWHX_RELEASE = "946".encode("cp500")
_TOD_INTERVALS = ((115, 231), (116, 10))
"""Records whose QWHSDURN counts TOD units; it is microseconds in the others."""
_US = 1_000_000
_QUARTER = 15 * 60


LookAhead: TypeAlias = Callable[[frozenset[bytes]], tuple[dict[bytes, int], bool]]


@dataclass
class Clocks:
    """The UTC offset of each system, carried from chunk to chunk of a source.

    offsets     the last one seen
    first       the first one seen
    look_back   finds the last offsets before the part of the source that is read
    look_ahead  finds first offsets in the whole source until those of some systems are known;
                returns them, and whether it went to the end
    """

    offsets: dict[bytes, int] = field(default_factory=dict)
    first: dict[bytes, int] = field(default_factory=dict)
    look_ahead: LookAhead | None = None
    look_back: Callable[[], dict[bytes, int]] | None = None

    def fill(
        self, system: Values, offset: Ints, known: Bools, without: Bools
    ) -> tuple[Ints, Bools]:
        """Give the records `without` UTC the offset of the nearest earlier one of their system.

        Else that of the nearest later one, else none.

        system  uint32 (records,): the bytes of its id as a number
        """
        offset, filled = offset.copy(), known.copy()
        every, which = _systems(system)
        asking = without & ~known
        for row, name in enumerate(every):
            own = which == row
            places, needing = np.flatnonzero(own & known), np.flatnonzero(own & asking)
            if needing.size and not (places.size and places[0] < needing[0]):
                self._ask(name, ahead=not places.size)
            if places.size:
                self.first.setdefault(name, int(offset[places[0]]))
            self._fill_system(needing, places, self.offsets.get(name), offset, filled)
            if places.size:
                self.offsets[name] = int(offset[places[-1]])
        return offset, filled

    def _ask(self, system: bytes, *, ahead: bool) -> None:
        """Look for an offset of a system, if none is known yet: back, and ahead if asked to."""
        if system not in self.offsets and self.look_back is not None:
            self.offsets = self.look_back() | self.offsets
            self.look_back = None
        if ahead and system not in self.offsets and self.look_ahead is not None:
            first, whole = self.look_ahead(frozenset({system}))
            self.offsets = first | self.offsets
            self.look_ahead = None if whole else self.look_ahead

    @staticmethod
    def _fill_system(
        needing: Ints, places: Ints, earlier: int | None, offset: Ints, filled: Bools
    ) -> None:
        """Fill the rows `needing` one of a system; `places` are its rows that have their own."""
        if earlier is None and not places.size:
            return
        before = np.searchsorted(places, needing) - 1
        early = before < 0
        if early.any():
            offset[needing[early]] = offset[places[0]] if earlier is None else earlier
        offset[needing[~early]] = offset[places[before[~early]]]
        filled[needing] = True


def _systems(system: Values) -> tuple[list[bytes], Ints]:
    """Return the ids of the systems of records, and for each record which one it is of."""
    if (system == system[:1]).all():  # as in most chunks
        every, which = system[:1], np.zeros(len(system), np.int64)
    else:
        every, which = np.unique(system, return_inverse=True)
    return [each.tobytes() for each in every], which


class Words:
    """The distinct texts of a key column of a source: a column of them is a column of codes."""

    def __init__(self, spell: Callable[[bytes], str | None]) -> None:
        self._spell = spell
        self._codes: dict[bytes, int] = {}
        self._words: list[str | None] = []

    def codes(self, raw: Raw) -> Values:
        """Return the code of each row of `raw`, uint8 (rows, width): int32 (rows,)."""
        places, each = distinct(raw)
        return np.array([self._code(word.tobytes()) for word in each], np.int32)[places]

    def __len__(self) -> int:
        return len(self._words)

    def _code(self, raw: bytes) -> int:
        if raw not in self._codes:
            self._codes[raw] = len(self._words)
            self._words.append(self._spell(raw))
        return self._codes[raw]

    def array(self) -> Any:
        """Return the texts by code, as an Arrow array."""
        return pa.array([word or "" for word in self._words], pa.string())

    def known(self, codes: Values) -> Mask:
        """Return where codes stand for a text; None: everywhere."""
        if None not in self._words:
            return None
        return np.array([word is not None for word in self._words])[codes]


def _no_blanks(spell: Callable[[bytes], str]) -> Callable[[bytes], str | None]:
    return lambda raw: spell(raw) or None


def words() -> dict[str, Words]:
    """Return what the texts of the key columns of one source are kept in."""
    return {
        "system": Words(Text(4).spell),
        "qmgr": Words(Text(4).spell),
        "qsg": Words(_no_blanks(Text(4).spell)),
        "mq_version": Words(_version),
        "subsystem": Words(Text(4).spell),
    }


class KeyColumns:
    """The key columns of a chunk, a row a record, each computed once, when first asked for.

    A column is values and where they are present (None: everywhere); texts are codes of `words`.
    """

    def __init__(
        self, records: Records, clocks: Clocks, links: TaskLinks, known: Mapping[str, Words]
    ) -> None:
        self.records = records
        self.rows = len(records)
        self._clocks = clocks
        self._links = links
        self._words = known
        self._headers: dict[str, Blocks] = {}

    def column(self, name: str) -> tuple[Values, Mask]:
        """Return a key column, or one of `record` that is of the SMF header."""
        make: Callable[[], tuple[Values, Mask]] = getattr(self, f"_{name}")
        return make()

    def carry(self, *, clocks: bool, tasks: bool) -> None:
        """Make sure that later chunks know the clocks or tasks of this one."""
        if clocks:
            _ = self._offset
        if tasks:
            _ = self._continued

    def header(self, block: Block) -> Blocks:
        """Return where QWHS, QWHC or QWHX is, for the records that have it.

        `length` is what is there of it, so that a shorter form gives NULL for the rest.
        """
        if block.name not in self._headers:
            self._headers[block.name] = self._find_header(block)
        return self._headers[block.name]

    def placed(self, block: Block, owner: Ints) -> tuple[Ints, Ints]:
        """Return position and length of such a block for the records `owner`; length 0: none."""
        area = self.header(block)
        at, length = self.records.chunk.start.copy(), np.zeros(self.rows, np.int64)
        at[area.owner], length[area.owner] = area.at, area.length
        return at[owner], length[owner]

    @property
    def task_number(self) -> Ints:
        """Number of the record that tells the task: its 116/1, or if there is none itself."""
        number, known = self._task_record_no()
        return np.where(known, number, self.records.chunk.record_no)

    def _find_header(self, block: Block) -> Blocks:
        area = self.records.area
        own = np.minimum(self._qwhslen, area.length)
        if block is QWHS:
            return Blocks(area.owner, area.at, np.maximum(own, STUB_BYTES), area.number)
        short = (own == SHORT) & (area.length >= SHORT + QWHC.size)
        if block is QWHC:
            found = Blocks(area.owner, area.at + SHORT, area.length - SHORT, area.number)
            return found.where(short)
        skip = np.where(short, SHORT + QWHC.size, np.where(own == STUB, STUB_BYTES, own))
        there = (area.length >= skip + QWHX.size) & self._extended[area.owner]
        return Blocks(area.owner, area.at + skip, area.length - skip, area.number).where(there)

    @cached_property
    def _qwhslen(self) -> Ints:
        raw = self.records.read(self.records.area.at, QWHS.field("qwhslen"))
        return raw.view(">u2")[:, 0].astype(np.int64)

    @cached_property
    def _extended(self) -> Bools:
        """Whether the release is one that writes QWHX (the flag bit is not to be trusted)."""
        raw = self.records.headers.raw("sm115rel")
        least = np.frombuffer(QWHX_RELEASE, np.uint8)
        extended: Bools = _big_endian(raw) >= _big_endian(least[None, :])[0]
        return self.records.is_mq & extended

    def _qwhs_field(self, name: str) -> tuple[Ints, Bools]:
        """Return a number of QWHS, a value a record, and where the record has it."""
        each = QWHS.field(name)
        assert isinstance(each.kind, Numeric)
        found = self.header(QWHS)
        found = found.where(found.length >= each.end)
        values, present = each.kind.values(self.records.read(found.at, each))
        return self._spread(found, values.astype(np.int64), present)

    def _spread(self, found: Blocks, values: Ints, present: Mask) -> tuple[Ints, Bools]:
        spread, known = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.bool_)
        spread[found.owner] = values
        known[found.owner] = True if present is None else present
        return spread, known

    @cached_property
    def _stck(self) -> tuple[Ints, Bools]:
        return self._qwhs_field("qwhsstck")

    @cached_property
    def _offset(self) -> tuple[Ints, Bools]:
        local, dated = self.records.headers.time
        utc, known = self._stck
        seconds = np.rint((local - utc) / (_QUARTER * _US)).astype(np.int64) * _QUARTER
        known = known & dated & (np.abs(seconds) <= 24 * 3600)
        system = self.records.headers.raw("sm115sid").view(np.uint32)[:, 0]
        without = ~self.records.is_mq
        for record in STUB_RECORDS:
            without[self.records.of(record)] = True
        return self._clocks.fill(system, seconds, known, without)

    @cached_property
    def _interval(self) -> tuple[Ints, Values, Bools, Bools]:
        """Start in UTC microseconds, seconds, and where each is known."""
        local, started = self._qwhs_field("qwhstime")
        offset, known = self._offset
        start, started = local - offset * _US, started & known
        length, timed = self._qwhs_field("qwhsdurn")
        units = np.full(self.rows, _US, np.float64)
        for record in _TOD_INTERVALS:
            units[self.records.of(record)] = _US * STCK_UNITS_PER_US
        seconds = length.astype(np.uint64) / units
        self._task_interval(start, started, seconds, timed)
        return start, seconds, started, timed & started

    def _task_interval(self, start: Ints, started: Bools, seconds: Values, timed: Bools) -> None:
        """Class 3 records say their interval in WTAS, and 116/2 takes that of its 116/1."""
        for owner, numbers in (self._tasks, self._continued):
            begin, end = numbers[:, 1], numbers[:, 2]
            start[owner], started[owner] = begin, numbers[:, 3] == 1
            seconds[owner], timed[owner] = (end - begin) / _US, numbers[:, 4] == 1

    @cached_property
    def _tasks(self) -> tuple[Ints, Ints]:
        """The 116/1 records that have a WTAS, and their numbers as in `Tasks`."""
        found = task_blocks(self.records)
        begin, has_begin = _instant(self.records, found, "wtasints")
        end, has_end = _instant(self.records, found, "wtasinte")
        record_no = self.records.chunk.record_no[found.owner]
        return found.owner, np.stack([record_no, begin, end, has_begin, has_end], axis=1)

    @cached_property
    def _continued(self) -> tuple[Ints, Ints]:
        """The 116/2 records whose 116/1 is known, and its numbers."""
        keys = task_keys(self.records, task_blocks(self.records))
        owner, numbers, known = self._links.link(self.records, Tasks(keys, self._tasks[1]))
        return owner[known], numbers

    def _system(self) -> tuple[Values, Mask]:
        return self._words["system"].codes(self.records.headers.raw("sm115sid")), None

    def _qmgr(self) -> tuple[Values, Mask]:
        return self._words["qmgr"].codes(self.records.headers.raw("sm115SSI")), self.records.is_mq

    def _subsystem(self) -> tuple[Values, Mask]:
        raw = self.records.headers.raw("sm115SSI")
        return self._words["subsystem"].codes(raw), self.records.headers.has_subtype

    def _qsg(self) -> tuple[Values, Mask]:
        raw, held = self._qwhx_raw("qwhxqsg")
        return self._words["qsg"].codes(raw), held

    def _qwhx_raw(self, name: str) -> tuple[Values, Bools]:
        each = QWHX.field(name)
        found = self.header(QWHX)
        raw = np.zeros((self.rows, each.kind.width), np.uint8)
        held = np.zeros(self.rows, np.bool_)
        raw[found.owner] = self.records.read(found.at, each)
        held[found.owner] = True
        return raw, held

    def _mq_version(self) -> tuple[Values, Mask]:
        release, _ = self._qwhx_raw("qwhxrel")
        releases = np.hstack([self.records.headers.raw("sm115rel"), release])
        return self._words["mq_version"].codes(releases), self.records.is_mq

    def _smf_time(self) -> tuple[Values, Mask]:
        return self.records.headers.time

    def _time(self) -> tuple[Values, Mask]:
        return self._stck

    def _utc_offset(self) -> tuple[Values, Mask]:
        return self._offset

    def _interval_start(self) -> tuple[Values, Mask]:
        start, _, started, _ = self._interval
        return start, started

    def _interval_seconds(self) -> tuple[Values, Mask]:
        _, seconds, _, timed = self._interval
        return seconds, timed

    def _record_no(self) -> tuple[Values, Mask]:
        chunk = self.records.chunk
        return chunk.record_no, None if chunk.numbered else np.zeros(len(chunk.start), np.bool_)

    def _record_offset(self) -> tuple[Values, Mask]:
        return self.records.chunk.offset, None

    def _length(self) -> tuple[Values, Mask]:
        return self.records.chunk.length, None

    def _flags(self) -> tuple[Values, Mask]:
        return self.records.headers.number("sm115flg"), None

    def _type(self) -> tuple[Values, Mask]:
        return self.records.type, None

    def _subtype(self) -> tuple[Values, Mask]:
        return self.records.subtype, self.records.headers.has_subtype

    def _task_record_no(self) -> tuple[Ints, Bools]:
        number, known = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.bool_)
        if not self.records.chunk.numbered:
            return number, known
        first = self.records.of(TASK)
        number[first], known[first] = self.records.chunk.record_no[first], True
        owner, numbers = self._continued
        number[owner], known[owner] = numbers[:, 0], True
        return number, known


def _instant(records: Records, found: Blocks, name: str) -> tuple[Ints, Bools]:
    each = WTAS.field(name)
    assert isinstance(each.kind, Instant)
    values, present = each.kind.values(records.read(found.at, each))
    assert present is not None
    return values, present


def _big_endian(raw: Values) -> Ints:
    number = np.zeros(len(raw), np.int64)
    for column in raw.T:
        number = number << 8 | column
    return number


def _version(releases: bytes) -> str | None:
    """Return "9.3.0" for release 930, "10.0.0" for release 946 with 100000 in QWHXREL."""
    release, long_release = (part.decode("cp500") for part in (releases[:3], releases[3:]))
    if releases[:3] >= QWHX_RELEASE:
        parts = [long_release[at : at + 2] for at in (0, 2, 4)]
    else:
        parts = list(release)
    if not all(part.isdecimal() for part in parts):
        return None
    return ".".join(str(int(part)) for part in parts)
