"""When there is data of a queue manager, and the slots of time that its figures are put into."""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

from smfparse.advice import SECOND_US
from smfparse.selecting import Zone

_MINUTE_US = 60 * SECOND_US
_SLOTS = 48
"""Slots of a queue manager without intervals of its own, at most."""
_APART = 0.02
"""Share of an interval, or a second where that is more, by which the next one begins later where
there is a gap between them."""
_STUB = 0.9
"""An interval behind a gap that is shorter than this many usual ones follows a restart."""
_FIRST = 3
"""One behind a gap that is longer than so many usual ones covers what came before the trace."""


@dataclass(frozen=True)
class Times:
    """When there is data of a queue manager, in microseconds since 1970, UTC.

    clock        what makes local times of moments
    first, last  the time that its intervals cover
    latest       the middle of the last interval: the day of that is the last day
    slots        parts of that time, as long as intervals usually are
    usual        seconds of an interval
    intervals    how many; 0: there is none, the times are those of tasks and channels
    gap_seconds  of all gaps together
    restarts     gaps that a short interval follows
    """

    system: str
    qmgr: str
    mq_version: str
    clock: Zone
    first: int
    last: int
    latest: int
    slots: int = 1
    usual: float = 0.0
    intervals: int = 0
    gaps: int = 0
    gap_seconds: float = 0.0
    restarts: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Whose times they are: system and queue manager."""
        return self.system, self.qmgr

    @property
    def offset(self) -> int:
        """Seconds that local time is ahead of UTC at the end."""
        return self.clock.offset(self.last - 1)

    @property
    def slot(self) -> int:
        """How long a slot of time is."""
        return -(-(self.last - self.first) // self.slots)

    def local(self, microseconds: int) -> dt.datetime:
        """Return a moment as local time of the system."""
        return self.clock.local(microseconds)


def times_of(rows: Sequence[Mapping[str, Any]], zone: Zone | None = None) -> list[Times]:
    """Return the times of each queue manager.

    rows  as `times.sql` gives them, in any order
    zone  whose local times are shown; None: those of each system
    """
    found = []
    ordered = sorted(rows, key=lambda row: (_key(row), row["kind"], row["start"], row["seconds"]))
    for (system, qmgr), own in groupby(ordered, key=_key):
        _, best = next(groupby(own, key=lambda row: row["kind"]))
        found.append(_times(system, qmgr, list(best), zone))
    return found


def _key(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["system"] or "", row["qmgr"] or ""


def _times(system: str, qmgr: str, rows: Sequence[Mapping[str, Any]], zone: Zone | None) -> Times:
    """Return the times of rows of one kind, in the order of time."""
    usual = statistics.median(row["seconds"] for row in rows) * SECOND_US
    spans = [(row["start"], int(row["seconds"] * SECOND_US)) for row in rows]
    whole = list(_without_first(spans, usual)) if usual else spans
    first, last = whole[0][0], max(map(sum, whole))
    found = Times(
        system,
        qmgr,
        mq_version=max(row["mq_version"] or "" for row in rows),
        clock=zone or _clock(rows),
        first=first,
        last=last,
        latest=max(start + length // 2 for start, length in whole),
    )
    if not usual:
        slots = min(max((last - first) // _MINUTE_US, 1), _SLOTS)
        return replace(found, last=max(last, first + _MINUTE_US), slots=slots)
    gaps = list(_gaps(whole, usual))
    return replace(
        found,
        usual=usual / SECOND_US,
        slots=max(round((last - first) / usual), 1),
        intervals=len(whole),
        gaps=len(gaps),
        gap_seconds=sum(gap for gap, _ in gaps) / SECOND_US,
        restarts=sum(length < _STUB * usual for _, length in gaps),
    )


def _clock(rows: Sequence[Mapping[str, Any]]) -> Zone:
    """Return the clock of the system, as its records show it.

    Where clocks were changed, the new offset holds from the first interval on that has it.
    """
    known = [row for row in rows if row["utc_offset"] is not None]
    first = known[0]["utc_offset"] if known else 0
    changes = [
        (row["start"], row["utc_offset"])
        for before, row in pairwise(known)
        if row["utc_offset"] != before["utc_offset"]
    ]
    return Zone("", tuple(at for at, _ in changes), (first, *(offset for _, offset in changes)))


def _without_first(spans: Sequence[tuple[int, int]], usual: float) -> Iterator[tuple[int, int]]:
    """Yield starts and lengths without intervals that cover what came before the trace.

    All of them where there is no other.
    """
    end, found = None, []
    for start, length in spans:
        alone = end is None or start - end > _slack(usual)
        end = max(end or 0, start + length)
        if not (alone and length > _FIRST * usual):
            found.append((start, length))
    yield from found or spans


def _gaps(spans: Sequence[tuple[int, int]], usual: float) -> Iterator[tuple[int, int]]:
    """Yield each gap between intervals, and the length of the interval behind it."""
    end, _ = spans[0]
    for start, length in spans:
        if start - end > _slack(usual):
            yield start - end, length
        end = max(end, start + length)


def _slack(usual: float) -> float:
    return max(_APART * usual, SECOND_US)
