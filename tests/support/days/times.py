"""Intervals of a day, in the local time of a system whose clock may change."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

HOUR = dt.timedelta(hours=1)


@dataclass(frozen=True)
class Interval:
    """An interval of statistics.

    hour     hours from the start of the day to its start, without changes of the clock
    start    UTC
    east     local time minus UTC at its end
    number   from 1 since the queue manager started
    """

    hour: float
    start: dt.datetime
    seconds: float
    east: dt.timedelta
    number: int

    @property
    def end(self) -> dt.datetime:
        """Its end, UTC."""
        return self.start + dt.timedelta(seconds=self.seconds)

    @property
    def middle(self) -> float:
        """The hour in its middle."""
        return self.hour + self.seconds / 7200

    @property
    def local(self) -> dt.datetime:
        """Its start, local time by the clock at its end."""
        return (self.start + self.east).replace(tzinfo=None)


def hour_of(time: str) -> float:
    """Return hours of `8:30`; of `1:8:30`, those of the day after."""
    parts = [float(each) for each in time.split(":")]
    days = parts.pop(0) if len(parts) == 3 else 0.0
    return 24 * days + parts[0] + parts[1] / 60


def intervals(
    day: dt.date,
    minutes: float,
    east: float,
    *,
    hours: tuple[float, float] = (0, 24),
    change: tuple[float, float] | None = None,
    shorter: tuple[float, float] | None = None,
    gaps: Sequence[tuple[float, float]] = (),
    restarts: Sequence[float] = (),
) -> list[Interval]:
    """Return the intervals of a day.

    east      hours of local time minus UTC at midnight
    hours     the part of the day with data
    change    from which hour on local time minus UTC is other hours
    shorter   from which hour on intervals have other minutes
    gaps      hours without records; restarts begin behind a gap
    """
    midnight = dt.datetime.combine(day, dt.time(), dt.UTC) - east * HOUR
    found, at, number = list[Interval](), hours[0], 1200
    while at < hours[1] - 1e-9:
        length = shorter[1] if shorter and at >= shorter[0] - 1e-9 else minutes
        length = min(length, 60 * (hours[1] - at))
        gap = next((each for each in gaps if each[0] - 1e-9 <= at < each[1] - 1e-9), None)
        if gap:
            at, number = gap[1], 1 if gap[1] in restarts else number + 1
            continue
        ends = at + length / 60
        zone = change[1] if change and ends > change[0] + 1e-9 else east
        start = midnight + dt.timedelta(seconds=round(3600 * at, 3))
        found.append(Interval(at, start, 60 * length, zone * HOUR, number))
        at, number = ends, number + 1
    return found
