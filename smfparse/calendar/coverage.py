"""Completeness of the data of a queue manager: missing data, and data that MQ did not record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from smfparse.calendar.intervals import Calendar
from smfparse.layout.members import version_key

COVERAGE = "coverage"
"""Name of the rows of `coverage_query` in a catalog."""
_APART = 1.5
"""Ratio of the lengths of two intervals above which the lengths are reported as different."""


class TraceClass(NamedTuple):
    """A trace class.

    name    name in commands: STAT(4)
    figure  column of `coverage_query` with the number of records
    record  type and subtype of the records
    since   first MQ release with the class
    """

    name: str
    figure: str
    record: tuple[int, int]
    since: tuple[int, ...]


_CLASSES = (
    TraceClass("STAT(1)", "statistics", (115, 2), (0,)),
    TraceClass("STAT(4)", "channel_initiator", (115, 231), (8,)),
    TraceClass("STAT(5)", "queue_statistics", (115, 216), (9, 3)),
    TraceClass("ACCTG(3)", "tasks", (116, 1), (0,)),
    TraceClass("ACCTG(4)", "channels", (116, 10), (8,)),
)


@dataclass(frozen=True)
class Coverage:
    """The completeness of the data of a queue manager.

    gaps            phrases about intervals that MQ wrote but the data does not contain
    lost            phrases about losses that intervals do not show: records lost by SMF, damage
    absent_classes  names of trace classes without records: STAT(4)
    switched_off    phrases about objects in use without STATQ or STATCHL
    notes           sentences about other facts that readers of the data must know
    is_judged       whether the data contains statistics, which are required to find gaps
    """

    system: str
    qmgr: str
    gaps: Sequence[str]
    lost: Sequence[str]
    absent_classes: Sequence[str]
    switched_off: Sequence[str]
    notes: Sequence[str]
    is_judged: bool

    @property
    def missing(self) -> list[str]:
        """Phrases about data that MQ wrote but the input does not contain."""
        return [*self.gaps, *self.lost]

    @property
    def answer(self) -> str:
        """Words for the completeness of the data."""
        if self.missing:
            return "incomplete"
        return "complete" if self.is_judged else "completeness unknown"

    @property
    def facts(self) -> dict[str, Any]:
        """Return the same facts for JSON."""
        return {
            "system": self.system,
            "qmgr": self.qmgr,
            "answer": self.answer,
            "missing": self.missing,
            "absent_classes": [*self.absent_classes],
            "switched_off": [*self.switched_off],
            "notes": [*self.notes],
        }


def coverage_query() -> str:
    """Return the query for the numbers of records and objects of each queue manager."""
    return Path(__file__).with_name("coverage.sql").read_text("utf-8")


def coverage_of(
    calendars: Mapping[tuple[str, str], Calendar],
    rows: Any,
    lost: Mapping[str, int | None],
    is_read: Callable[[int, int], bool] = lambda *_: True,
    damaged: int = 0,
) -> list[Coverage]:
    """Return the completeness of the data of each queue manager.

    rows      result of `coverage_query`, as a pyarrow.Table
    lost      number of records that SMF lost (type 7), by system; None: unknown number
    is_read   returns whether records of a type and subtype are read
    damaged   number of damaged places in the inputs, of unknown queue managers
    """
    figures = {(each["system"] or "", each["qmgr"] or ""): each for each in rows.to_pylist()}
    systems: dict[str, list[str]] = {}
    for system, qmgr in calendars:
        systems.setdefault(qmgr, []).append(system)
    found = []
    for key, calendar in sorted(calendars.items()):
        counts = dict(figures[key]["figures"]) if key in figures else {}
        found.append(
            Coverage(
                *key,
                gaps=[*_gaps(calendar)],
                lost=[*_lost(calendar, lost, damaged)],
                absent_classes=[*_absent(calendar, counts, is_read)],
                switched_off=[*_switched_off(counts)],
                notes=[*_notes(calendar, counts, systems[calendar.qmgr])],
                is_judged=calendar.is_recorded,
            )
        )
    return found


def length_text(seconds: float) -> str:
    """Return the text of a length of time: 30 minutes, 59.8 seconds."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= size and round(seconds) % size == 0:
            count = round(seconds) // size
            return f"{count} {unit if count > 1 else unit[:-1]}"
    return f"{seconds:.1f} seconds" if seconds < 600 else f"{seconds / 60:.0f} minutes"


def lengths_text(calendar: Calendar) -> str:
    """Return the text of the usual length of intervals: 30 minutes; if changed, 5 to 30 minutes."""
    low, high = calendar.usual_seconds
    if high <= _APART * low:
        return length_text(calendar.typical)
    first, unit = length_text(low), length_text(high).split()[1]
    return f"{first.removesuffix(f' {unit}')} to {length_text(high)}"


def _gaps(calendar: Calendar) -> Iterator[str]:
    """Yield phrases about gaps, except gaps before a restart, when the queue manager was down."""
    if calendar.is_recorded:
        gaps = calendar.gaps[~calendar.restarts]
        if count := int((gaps > 0).sum()):
            several = "gaps" if count > 1 else "gap"
            yield f"{count} {several} in the statistics, {length_text(float(gaps.sum()))} in total"
    if intervals := int(calendar.missing.sum()):
        several = "intervals" if intervals > 1 else "interval"
        yield f"{intervals:,} {several} missing by QWHSISEQ"


def _lost(calendar: Calendar, lost: Mapping[str, int | None], damaged: int) -> Iterator[str]:
    """Yield phrases about losses that intervals do not show."""
    if damaged:
        places = "place" if damaged == 1 else "places"
        yield f"damage at {damaged:,} {places} in the input"
    if calendar.system in lost:
        records = lost[calendar.system]
        count_text = "an unknown number of" if records is None else f"{records:,}"
        yield f"SMF of {calendar.system} lost {count_text} records (type 7)"


def _absent(
    calendar: Calendar, counts: Mapping[str, float], is_read: Callable[[int, int], bool]
) -> Iterator[str]:
    release = version_key(calendar.mq_version or "0")
    for each in _CLASSES:
        if not counts.get(each.figure) and release >= each.since and is_read(*each.record):
            yield each.name


def _switched_off(counts: Mapping[str, float]) -> Iterator[str]:
    for option, of, name in (
        ("STATQ", "queues", "queue_statistics"),
        ("STATCHL", "channels", "channels"),
    ):
        unknown, used = counts.get(f"unknown_{of}", 0), counts.get(f"used_{of}", 0)
        if unknown and counts.get(name):
            yield f"{option} is off for {unknown:.0f} of {used:.0f} {of} in use"


def _notes(
    calendar: Calendar, counts: Mapping[str, float], systems: Sequence[str]
) -> Iterator[str]:
    of_tasks = counts.get("task_seconds", 0.0)
    if calendar.is_recorded and calendar.typical and of_tasks:
        low, high = calendar.usual_seconds
        if max(low / of_tasks, of_tasks / high) > _APART:
            yield (
                f"intervals of statistics are {lengths_text(calendar)}, "
                f"of class 3 {length_text(of_tasks)}"
            )
    if not calendar.clock.name:
        for change, before, after in zip(
            calendar.clock.changes, calendar.clock.offsets, calendar.clock.offsets[1:], strict=False
        ):
            yield (
                f"the clock changed by {(after - before) / 60:+.0f} minutes at "
                f"{calendar.clock.local(change):%Y/%m/%d %H:%M}"
            )
    if len(systems) > 1:
        others = ", ".join(each for each in systems if each != calendar.system)
        yield f"{calendar.qmgr} is also the name of a queue manager on {others}"
    if calendar.derived:
        yield "the records contain no intervals (MQ 7); the time since the previous record is used"
