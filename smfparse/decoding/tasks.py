"""The 116/1 record that a 116/2 record continues.

If a task uses more queues than fit into a 116/1 record, further queues are in 116/2 records. A
116/2 record continues the nearest earlier 116/1 record of the same system, queue manager and task
token. The token alone is not enough, because a task writes a 116/1 record in every interval, and
the token contains addresses that other queue managers use as well.

The distance between the two records is limited, in bytes of the source. So the result does not
depend on the start of the read part, and only a limited number of bytes before a part is read.

SMF can switch files between a 116/1 record and its 116/2 record. So a 116/2 record at the start of
a source may continue a 116/1 record at the end of another source. In this case, SMF times limit the
distance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from smfparse.decoding.records import Blocks, Records
from smfparse.layout.clocks import US_PER_SECOND, Instant
from smfparse.layout.columns import Field
from smfparse.layout.kinds import Values
from smfparse.limits import LIMITS
from smfparse.schemas import CONTINUATION, TASK, WQST, WTAS
from smfparse.vectors import Bools, Ints, gather

if TYPE_CHECKING:
    from smfparse.decoding.decoder import Before

TASK_KINDS = np.array([smf_type << 16 | subtype for smf_type, subtype in (TASK, CONTINUATION)])
"""Kinds of the records of tasks, as in `kinds_of`."""
APART_US = 30_000_000
"""Maximum difference of the SMF times of a 116/1 record and a 116/2 record in another source, in
microseconds. MQ writes the two in succession, within hundredths of a second; the 116/1 record of
the previous interval is farther away.
"""
_PLACE_BITS = 40
"""Number of bits for a place in a source."""
_TOKEN_AT = WTAS.field("wtasstrt")
_CORREL = WQST.field("correl")


class Tasks(NamedTuple):
    """116/1 records, in order.

    key      V24 (tasks,): system, queue manager, token
    numbers  int64 (tasks, 8): 0 place of the record; 1 record_no; 2, 3 start and end of the
             interval, microseconds UTC; 4, 5 whether (1) start and end are known; 6 SMF time,
             microseconds; 7 source: 0 is the read source, other numbers are other sources (with an
             unknown record_no)
    """

    key: Values
    numbers: Ints

    @property
    def place(self) -> Ints:
        """Places of the records in their source."""
        return self.numbers[:, 0]

    @property
    def time(self) -> Ints:
        """SMF times of the records, microseconds since 1970."""
        return self.numbers[:, 6]

    @property
    def source(self) -> Ints:
        """Numbers of the sources that contain the records."""
        return self.numbers[:, 7]

    def where(self, keep: Bools) -> Tasks:
        """Return the tasks for which `keep` is true."""
        return Tasks(self.key[keep], self.numbers[keep])

    def last(self, within: int) -> Tasks:
        """Return the tasks up to `within` microseconds before the last task of their system."""
        last, system = np.zeros_like(self.time), _systems(self.key)
        for each in np.unique(system):
            last[system == each] = self.time[system == each].max()
        return self.where(self.time >= last - within)

    def of_source(self, number: int) -> Tasks:
        """Return the same tasks, as tasks of the source with this number."""
        numbers = self.numbers.copy()
        numbers[:, 7] = number
        return Tasks(self.key, numbers)


NO_TASKS = Tasks(np.zeros(0, "V24"), np.zeros((0, 8), np.int64))


class Continued(NamedTuple):
    """116/2 records whose 116/1 record is not in the same source.

    key   V24 (records,): as in `Tasks`
    time  int64 (records,): SMF time, microseconds since 1970
    """

    key: Values
    time: Ints

    def where(self, keep: Bools) -> Continued:
        """Return the records for which `keep` is true."""
        return Continued(self.key[keep], self.time[keep])

    @property
    def by_system(self) -> dict[int, Continued]:
        """Return the records by system: the bytes of the system id as a number."""
        system = _systems(self.key)
        return {int(each): self.where(system == each) for each in np.unique(system)}


class Elsewhere(Protocol):
    """The 116/1 records at the ends of other sources."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the other sources; source number n has index n - 1."""

    def tasks(self, source: str, lost: Continued) -> Tasks:
        """Return the tasks that the records `lost` at the start of a source may continue."""


def _systems(key: Values) -> Values:
    system: Values = np.ascontiguousarray(key).view(np.uint32).reshape(len(key), 6)[:, 0]
    return system


def tasks_of(records: Records, ahead: Ints) -> tuple[Ints, Tasks]:
    """Return the indexes of a chunk's 116/1 records with a WTAS, and their tasks.

    ahead  int64 (records,): seconds that the TOD clock is ahead of UTC
    """
    found = _first(records.blocks(WTAS), WTAS.field("wtasinte"))
    begin, has_begin = _instant(records, found, "wtasints")
    end, has_end = _instant(records, found, "wtasinte")
    chunk, owner = records.chunk, found.owner
    place = chunk.place[owner], chunk.record_no[owner]
    time = records.headers.time[0][owner]
    later = ahead[owner] * US_PER_SECOND
    known = has_begin, has_end, time, np.zeros_like(time)
    numbers = np.stack([*place, begin - later, end - later, *known], axis=1)
    return owner, Tasks(_keys(records, found, _TOKEN_AT), numbers)


def tokens_of(records: Records) -> tuple[Ints, Values]:
    """Return the indexes of the records that identify their task, and the tokens of these tasks.

    A token is two doublewords: uint64 (records, 2). It is in WTAS, or in the first WQST of a 116/2.
    """
    queues = records.blocks(WQST)
    later = _first(queues.where(records.is_of([CONTINUATION])[queues.owner]), _CORREL)
    first = _first(records.blocks(WTAS), WTAS.field("wtaswtas"))
    raw = [
        gather(records.chunk.buffer, found.at + field.offset, _CORREL.kind.width)
        for found, field in ((first, _TOKEN_AT), (later, _CORREL))
    ]
    words = np.ascontiguousarray(np.concatenate(raw)).view(">u8").astype(np.uint64)
    return np.concatenate([first.owner, later.owner]), words


def in_source(offset: Ints | int, source: Ints | int) -> Ints:
    """Return places in several sources as distinct numbers; in source 0, the places themselves."""
    found: Ints = np.asarray(offset) + (np.asarray(source) << _PLACE_BITS)
    return found


def sources_in(numbers: Ints) -> Ints:
    """Return the numbers of the sources, from results of `in_source`."""
    return numbers >> _PLACE_BITS


def joined_tasks(several: list[Tasks]) -> Tasks:
    """Return the tasks of one or more chunks together."""
    return Tasks(
        np.concatenate([each.key for each in several]),
        np.concatenate([each.numbers for each in several]),
    )


class TaskLinks:
    """The 116/1 records that 116/2 records in later chunks may continue.

    before     the records before the read part; None: no earlier records
    reach      maximum bytes from the start of a 116/1 record to the start of its 116/2 record
    elsewhere  the 116/1 records in other sources; None: no other sources
    """

    def __init__(
        self,
        before: Before | None = None,
        reach: int = LIMITS.look_back_bytes,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._before = before
        self._reach = reach
        self._elsewhere = elsewhere
        self._seen: list[Tasks] = []

    @property
    def last(self) -> Tasks:
        """The tasks that later records may continue."""
        return joined_tasks([NO_TASKS, *self._seen])

    def link(self, records: Records, tasks: Tasks) -> tuple[Ints, Ints, Bools]:
        """Return indexes of 116/2 records, `numbers` of their tasks, and which tasks are known.

        tasks  the tasks of the chunk
        """
        self._remember(tasks, int(records.chunk.place[0]))
        queues = records.blocks(WQST)
        later = _first(queues.where(records.is_of([CONTINUATION])[queues.owner]), _CORREL)
        if not len(later):
            return later.owner, NO_TASKS.numbers, np.zeros(0, np.bool_)
        key, place = _keys(records, later, _CORREL), records.chunk.place[later.owner]
        known = joined_tasks(self._seen)
        which, found = _nearest(known, key, place, self._reach)
        if self._before is not None and self._before.is_near(place[~found], self._reach):
            self._seen.append(self._before.tasks)
            self._before = None
            known = joined_tasks(self._seen)
            which, found = _nearest(known, key, place, self._reach)
        numbers = known.numbers[which[found]]
        if self._elsewhere is None or found.all():
            return later.owner, numbers, found
        every = np.zeros((len(found), 8), np.int64)
        every[found] = numbers
        self._link_elsewhere(self._elsewhere, records, later.owner, key, every, found)
        return later.owner, every[found], found

    def _link_elsewhere(
        self,
        elsewhere: Elsewhere,
        records: Records,
        owner: Ints,
        key: Values,
        numbers: Ints,
        found: Bools,
    ) -> None:
        """Search other sources for the tasks of 116/2 records, and update `numbers` and `found`.

        owner  indexes of the 116/2 records
        found  which tasks are known
        """
        chunk, (time, dated) = records.chunk, records.headers.time
        lost = np.flatnonzero(~found & dated[owner] & (chunk.offset[owner] < self._reach))
        which = chunk.which[owner[lost]] if chunk.sources else np.zeros(len(lost), np.int64)
        for number in np.unique(which).tolist():
            some = lost[which == number]
            source = chunk.sources[number] if chunk.sources else chunk.source
            asked = Continued(key[some], time[owner[some]])
            known = elsewhere.tasks(source, asked)
            index, hit = latest_tasks(known, asked)
            numbers[some[hit]] = known.numbers[index[hit]]
            found[some[hit]] = True

    def _remember(self, tasks: Tasks, place: int) -> None:
        """Add the tasks of a chunk that starts at `place`; remove tasks that are out of reach."""
        least = place - self._reach
        self._seen = [each for each in self._seen if len(each.key) and each.place[-1] >= least]
        self._seen.append(tasks)


def _first(found: Blocks, last: Field) -> Blocks:
    return found.where((found.number == 1) & (found.length >= last.end))


def _instant(records: Records, found: Blocks, name: str) -> tuple[Ints, Bools]:
    each = WTAS.field(name)
    assert isinstance(each.kind, Instant)
    values, present = each.kind.values(records.read(found.at, each))
    assert present is not None
    return values, present


def _keys(records: Records, found: Blocks, token: Field) -> Values:
    width = _CORREL.kind.width
    parts = [
        records.headers.raw("sm115sid")[found.owner],
        records.headers.raw("sm115SSI")[found.owner],
        gather(records.chunk.buffer, found.at + token.offset, width),
    ]
    return np.ascontiguousarray(np.hstack(parts)).view("V24")[:, 0]


def _nearest(known: Tasks, key: Values, place: Ints, reach: int) -> tuple[Ints, Bools]:
    """Return for each key the index of the last known task before `place`, and whether it exists.

    The task must start at most `reach` bytes before `place`.
    """
    index, hit = _last(known.key, key, [np.concatenate([known.place, place])])
    hit[hit] = place[hit] - known.place[index[hit]] <= reach
    return index, hit


def latest_tasks(known: Tasks, asked: Continued) -> tuple[Ints, Bools]:
    """Return for each record the index of the last known task before it, and whether it exists.

    The SMF time of the task must be at most APART_US before that of the record. If several sources
    contain the task, the task in the first source is used: the others are duplicates.
    """
    none = np.zeros(len(asked.key), np.int64)
    orders = [
        np.concatenate([known.place, none]),
        np.concatenate([-known.source, none + 1]),
        np.concatenate([known.time, asked.time]),
    ]
    index, hit = _last(known.key, asked.key, orders)
    hit[hit] = asked.time[hit] - known.time[index[hit]] <= APART_US
    return index, hit


def _last(known: Values, asked: Values, orders: list[Ints]) -> tuple[Ints, Bools]:
    """Return for each asked key the index of the last equal known key, and whether there is one.

    orders  int64 (known and asked keys,): sort keys; the last is the primary key
    """
    _, same = np.unique(np.concatenate([known, asked]), return_inverse=True)
    order = np.lexsort((*orders, same))
    is_task = order < len(known)
    last = np.maximum.accumulate(np.where(is_task, np.arange(len(order)), -1))
    task = order[np.maximum(last, 0)]
    found = (last >= 0) & (same[task] == same[order])
    index, hit = np.zeros(len(order), np.int64), np.zeros(len(order), np.bool_)
    index[order], hit[order] = task, found
    return index[len(known) :], hit[len(known) :]
