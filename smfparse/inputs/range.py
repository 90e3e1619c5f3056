"""Parts of SMF files, decoded separately, with facts about earlier records; the log of the inputs.

The log contains damage, unknown bytes and duplicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from smfparse.decoding.arrow import Batch, Wanted
from smfparse.decoding.decoder import Before, Decoder, Gathered
from smfparse.decoding.duplicates import Duplicates, Recorder, Seen, Turn, days_of, fingerprints
from smfparse.decoding.matching import Needs, queue_tasks
from smfparse.decoding.tasks import TASK_KINDS
from smfparse.errors import DamageError, DamageLog
from smfparse.inputs.options import DEFAULTS, ReadOptions
from smfparse.inputs.others import Others, is_streamed
from smfparse.progress import PROGRESS
from smfparse.reading.chunks import WHOLE_SOURCE, Chunk, Part, with_dumps
from smfparse.reading.places import Place
from smfparse.reading.reader import Input
from smfparse.vectors import Ints


@dataclass
class Log:
    """The log of the inputs.

    damage         damage in the inputs
    unknown        number of bytes that no column contains, by block or section
    count_unknown  whether `unknown` is counted
    duplicates     number of records omitted because an earlier dump contains them, by path of the
                   file
    records        collector of the fingerprints of all records; None: not collected
    """

    damage: DamageLog = field(default_factory=DamageLog)
    unknown: Counter[str] = field(default_factory=Counter)
    count_unknown: bool = False
    duplicates: dict[Place, int] = field(default_factory=dict)
    records: Recorder | None = None

    def add(self, other: Log) -> None:
        """Add the entries of `other`, a log about later bytes."""
        self.damage.extend(other.damage)
        self.unknown.update(other.unknown)
        self.duplicates.update(other.duplicates)
        if self.records is not None and other.records is not None:
            for each in other.records.seen:
                self.records.add(each)

    def anew(self) -> Log:
        """Return an empty log with the settings of this log."""
        records = None if self.records is None else Recorder()
        damage = DamageLog(strict=self.damage.strict)
        return Log(damage, count_unknown=self.count_unknown, records=records)


Batches: TypeAlias = Iterator[tuple[str, Batch]]
"""Names of tables, each with rows of the table."""


@dataclass(frozen=True)
class Range:
    """A part of an SMF file, and the requested data; `duplicates`, if given, are omitted.

    options  only selection and limits are used
    tasks    the result of `queue_tasks` for the file; None: `queue_tasks` is called when needed
    turn     state of the sequential read of all files; None: files are not read in sequence
    others   all inputs that are read with the file; None: no other inputs
    """

    file: Input
    wanted: Wanted
    part: Part = WHOLE_SOURCE
    options: ReadOptions = DEFAULTS
    duplicates: Duplicates | None = field(default=None, compare=False)
    tasks: Ints | None = field(default=None, compare=False)
    turn: Turn | None = field(default=None, compare=False)
    others: Others | None = field(default=None, compare=False)

    @property
    def path(self) -> Place:
        """Place of the file."""
        return self.file.path

    @property
    def rest(self) -> Range:
        """The range from the start of the part to the end of the file."""
        return replace(self, part=self.part.rest)

    def batches(self, log: Log, gathered: Gathered | None = None) -> Batches:
        """Decode the part; yield the wanted columns of each table, in record order.

        gathered  buffer that joins rows with rows of other ranges; None: all rows are yielded

        Raises UnsoundError, at the end, if the part is not as planned.
        """
        part = self.part
        damage = DamageLog() if part.is_planned else log.damage
        decoder = self._decoder(log, gathered)
        read = _Counted(self._chunks(damage, decoder.needs, log))
        try:
            yield from decoder.decode(self._to_be_decoded(read, log))
        except DamageError as error:
            if not part.is_planned:
                raise
            raise UnsoundError from error  # damage before the part may be the cause
        last, others = decoder.last_tasks, self.others
        if last is not None and others is not None and is_streamed(self.file):
            others.note(self.file.name, last)
        if part.is_planned and (damage or read.records != part.records):
            raise UnsoundError

    def read(self, damage: DamageLog, needs: Needs, log: Log) -> Iterator[Chunk]:
        """Yield the chunks of the part without duplicates; `damage` collects damage of the file."""
        return self._to_be_decoded(self._chunks(damage, needs, log), log)

    def _chunks(self, damage: DamageLog, needs: Needs, log: Log) -> Iterator[Chunk]:
        kinds = needs.kinds if log.records is None else None
        found = PROGRESS.follow(self.file.chunks(damage, self.part, kinds), self.part.start)
        return with_dumps(found, self.part) if needs.dumps else found

    def _to_be_decoded(self, found: Iterable[Chunk], log: Log) -> Iterator[Chunk]:
        """Yield the chunks of the part without duplicates, which are counted in `log`."""
        if log.records is None:
            yield from self._once(found, self.turn)
        else:
            yield from self._recorded(found, log.records)
        if self.duplicates is not None and (count := self.duplicates.count(self.path)):
            log.duplicates[self.path] = count

    def _decoder(self, log: Log, gathered: Gathered | None) -> Decoder:
        limits, earlier = self.options.limits, self._earlier
        return Decoder(
            needs_of(self.wanted, self.options, log) if gathered is None else gathered.needs,
            log.damage,
            again=lambda: self._again(self.part.rest),
            before=Before(self.part.start, partial(self._again, earlier)) if earlier else None,
            unknown=log.unknown,
            tasks=self.find_tasks,
            limits=limits,
            gathered=gathered,
            elsewhere=self.others,
        )

    @property
    def _earlier(self) -> Part | None:
        """The range in which earlier records are searched; None: nothing precedes the part."""
        return self.part.before(self.options.limits.look_back_bytes) if self.part.start else None

    def find_tasks(self) -> Ints:
        """Return the starts of tasks with a selected queue.

        A blind part is searched for its own tasks only; for other parts the whole file is searched.
        """
        if self.tasks is not None:
            return self.tasks
        reach = self.options.limits.look_back_bytes
        found = self._again(self.part.around(reach), TASK_KINDS)
        queues = self.options.selection.queues
        own = queue_tasks(found, queues, reach, self.others)
        if self.others is None:
            return own
        return np.union1d(own, self.others.named(self.file.name, queues))

    def _again(self, part: Part, kinds: Ints | None = None) -> Iterator[Chunk]:
        """Read a part of the file without reporting damage: another read reports the damage."""
        turn = None if self.turn is None else self.turn.again()
        return self._once(self.file.chunks(DamageLog(), part, kinds), turn)

    def _once(self, found: Iterable[Chunk], turn: Turn | None = None) -> Iterator[Chunk]:
        if self.duplicates is None:
            return iter(found)
        return self.duplicates.kept(self.path, found, turn)

    def _recorded(self, found: Iterable[Chunk], records: Recorder) -> Iterator[Chunk]:
        """Yield the same as `_once`; `records` receives the fingerprints of all records."""
        for each in found:
            chunk = each._replace(prints=fingerprints(each))
            left, kept = chunk, np.ones(len(chunk.start), np.bool_)
            if self.duplicates is not None:
                left = self.duplicates.without(self.path, chunk, self.turn)
            if left is not chunk:
                kept = np.isin(chunk.record_no, left.record_no)
            records.add(Seen(self.path, chunk.prints, days_of(chunk), kept))
            if len(left.start):
                yield left


def needs_of(wanted: Wanted, options: ReadOptions, log: Log) -> Needs:
    """Return the `Needs` of a decoder for the requested rows."""
    return Needs(wanted, options.selection, unknown=log.count_unknown)


def gathered_for(
    wanted: Wanted, options: ReadOptions, log: Log, *, prompt: bool = False
) -> Gathered:
    """Return the buffer that gathers the rows of several ranges.

    prompt  whether rows are yielded as soon as possible, in more batches
    """
    return Gathered(needs_of(wanted, options, log), options.limits, prompt=prompt)


class UnsoundError(Exception):
    """The records of a part are not the planned records."""


class _Counted:
    """An iterator over chunks that counts their records."""

    def __init__(self, found: Iterable[Chunk]) -> None:
        self._found = found
        self.records = 0

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self._found:
            self.records += len(chunk.start)
            yield chunk
