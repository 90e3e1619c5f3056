"""Valid SMF 115 and 116 records out of nothing: the declarations of schemas/ read the other way.

A block of each kind is built once through construct; everything after that works on whole batches
of records, as decoding does. Memory holds one batch: some intervals of all queue managers.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from smfparse.errors import OutputError, RequestError
from smfparse.layout import UNIX_EPOCH, US_PER_SECOND
from smfparse.schemas import QWST, REGISTRY, TASK, TRIPLET
from smfparse.synthetic.interval import SyntheticInterval
from smfparse.synthetic.record_parts import RecordMaker
from smfparse.synthetic.records import SHAPES, Envelope
from smfparse.synthetic.segments import SegmentWriter
from smfparse.synthetic.sequence import in_order
from smfparse.synthetic.workload import Site, Tasks

BATCH_BYTES = 16 << 20
SMF_LIMIT = 32_756
"""Bytes of the longest record that SMF takes."""

_NAME = re.compile(r"[A-Z0-9@#$]{1,4}")
_VERSION = re.compile(r"([6-9]\.\d|\d\d\.\d\d?)\.\d\d?")
_US = dt.timedelta(microseconds=1)
_QUARTER = dt.timedelta(minutes=15)


@dataclass(frozen=True)
class Scenario:
    """What is to be in a dump.

    qmgrs       names, 1 to 4 characters each
    system      SMF id of the z/OS system, 1 to 4 characters
    start       start of the first interval, local time of the z/OS system (no tzinfo)
    utc_offset  local time minus UTC, a multiple of 15 minutes
    interval    of statistics and accounting, from a second to a day
    version     MQ version from "6.0.0" on: version.release.modification
    seed        of the random numbers, not negative
    tasks       class 3 tasks per queue manager and interval
    queues      queues per task, on average; no more than fit one record
    dense       every counter, time and flag word is random: the worst case for speed and size

    Raises RequestError for values that make no dump.
    """

    qmgrs: tuple[str, ...]
    system: str
    start: dt.datetime
    utc_offset: dt.timedelta
    interval: dt.timedelta
    version: str
    seed: int
    tasks: int
    queues: int
    dense: bool = False

    def __post_init__(self) -> None:
        if not self.qmgrs or len(set(self.qmgrs)) < len(self.qmgrs):
            raise RequestError("queue managers: at least one, each once")
        for name in (*self.qmgrs, self.system):
            if _NAME.fullmatch(name) is None:
                raise RequestError(f"{name!r}: a queue manager or system has 1-4 of A-Z 0-9 @ # $")
        offset = self.utc_offset
        if offset % _QUARTER or abs(offset) > dt.timedelta(hours=14):
            raise RequestError(f"UTC offset {offset}: quarters of an hour, up to 14 hours")
        if not dt.timedelta(seconds=1) <= self.interval <= dt.timedelta(days=1):
            raise RequestError(f"interval {self.interval}: from one second to 24 hours")
        if self.start.tzinfo is not None or self.start.year < 1972:
            raise RequestError(f"start {self.start}: local time of the z/OS system, from 1972")
        if _VERSION.fullmatch(self.version) is None:
            raise RequestError(f"MQ version {self.version}: like 9.3.0, from 6.0.0 on")
        _check_numbers(seed=self.seed, tasks=self.tasks, queues=self.queues)

    def dump(self) -> _Dump:
        """Return what writes the dump."""
        offset, interval = self.utc_offset // _US, self.interval // _US
        site = Site(
            self.qmgrs, self.version, self.seed, interval, self.tasks, self.queues, self.dense
        )
        systems = (self.system,) * len(self.qmgrs)
        envelope = Envelope(systems, self.qmgrs, self.version, offset, interval)
        return _Dump(site, envelope, (self.start - self.utc_offset - UNIX_EPOCH) // _US)


def generate(
    target: Path | BinaryIO,
    *,
    qmgrs: Sequence[str],
    system: str,
    start: dt.datetime,
    utc_offset: dt.timedelta,
    interval: dt.timedelta,
    version: str,
    seed: int,
    tasks: int,
    queues: int,
    count: int = 1,
    size: int | None = None,
    dense: bool = False,
) -> None:
    """Write an SMF dump of queue managers of one system; the same arguments give the same bytes.

    target  path, or a binary stream to write to
    count   intervals
    size    bytes to reach, instead of `count`: as many intervals as that takes

    The others are those of a `Scenario`. Raises RequestError for arguments that make no dump,
    OutputError where the file cannot be written.
    """
    version += ".0" * (2 - version.count("."))
    dump = Scenario(
        *(tuple(qmgrs), system, start, utc_offset, interval, version, seed, tasks, queues, dense)
    ).dump()
    _check_numbers(least=1, count=count, size=1 if size is None else size)
    written(target, lambda stream: dump.write(stream, count, size))


def written(target: Path | BinaryIO, write: Callable[[BinaryIO], None]) -> None:
    """Have a dump written to a path or a stream; raise OutputError where that is not possible."""
    if not isinstance(target, Path):
        write(target)
        return
    try:
        with target.open("wb") as stream:
            write(stream)
    except OSError as error:
        raise OutputError(f"{target}: {error.strerror or error}") from error


def _check_numbers(least: int = 0, **numbers: int) -> None:
    for name, number in numbers.items():
        if number < least:
            raise RequestError(f"{name} {number}: at least {least}")


def most_queues(version: str, envelope: Envelope) -> int:
    """Return how many queues fit a task's record."""
    shape = SHAPES[TASK]
    fixed = QWST.size + shape.triplets * TRIPLET.size + envelope.area_bytes(shape)
    wtid, wtas, wqst = (each.length_at(version) for each in REGISTRY[TASK].values())
    return (SMF_LIMIT - fixed - wtid - wtas) // wqst


class _Dump:
    """All intervals, batch by batch, between a dump's header and trailer."""

    def __init__(self, site: Site, envelope: Envelope, start: int) -> None:
        self.site = site
        self.envelope = envelope
        self.start = start
        self.tasks = Tasks(site, start, most_queues(site.version, envelope))

    def write(self, stream: BinaryIO, count: int, size: int | None) -> None:
        step = sum(len(part) for part in self._records(0, 1))
        if size is not None:
            count = -(-size // step)
        segments = SegmentWriter(stream)
        segments.write(iter([memoryview(self.envelope.headers.dump_header(self.start))]))
        several = max(BATCH_BYTES // step, 1)
        for first in range(0, count, several):
            segments.write(self._records(first, min(several, count - first)))
        end = self.start + count * self.site.interval + US_PER_SECOND
        segments.write(iter([memoryview(self.envelope.headers.dump_trailer(end))]))

    def _records(self, first: int, times: int) -> Iterator[memoryview]:
        """Give the records of some intervals in the order in which they were written."""
        offset = self.envelope.offset
        interval = SyntheticInterval(self.tasks, offset, self.start, first, times)
        kinds = RecordMaker(interval).parts()
        return in_order(self.envelope, kinds)
