"""The slots of a queue manager's time, by day and hour in local time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from smfparse.metrics.calendar import SECOND_US
from smfparse.summarizing.figures import Times

_HOUR_US = 3600 * SECOND_US
_FIRST_WEEKEND_DAY = 5


@dataclass(frozen=True)
class Calendar:
    """The slots of time, one hour each, by day and hour of the clock, up to the last day.

    A day is the number of a date (`date.toordinal`). The last day contains the middle of the last
    interval, so an interval that continues after midnight does not start another day. When clocks
    go back, one hour has two slots; when they go forward, one hour has no slot.
    """

    times: Times
    days: Mapping[int, Mapping[int, Sequence[int]]]
    last: int

    @classmethod
    def of(cls, times: Times) -> Calendar:
        """Return the calendar of times that `by_hour` returned."""
        last = times.local(times.latest).toordinal()
        days: dict[int, dict[int, list[int]]] = {last: {}}
        for slot in range(times.slots):
            local = times.local(times.first + slot * _HOUR_US)
            if (day := local.toordinal()) <= last:
                days.setdefault(day, {}).setdefault(local.hour, []).append(slot)
        return cls(times, days, last)

    def slots(self, day: int, hours: Collection[int]) -> list[int]:
        """Return the slots of some hours of a day, including slots without data."""
        found = self.days.get(day, {})
        return [slot for hour in hours for slot in found.get(hour, ())]

    def hours(self, day: int, there: Collection[int]) -> list[int]:
        """Return the hours of a day that contain at least one of the slots `there`."""
        return sorted(
            hour
            for hour, slots in self.days.get(day, {}).items()
            if any(slot in there for slot in slots)
        )

    def day_of(self) -> dict[int, int]:
        """Return the day of each slot."""
        return {
            slot: day
            for day, hours in self.days.items()
            for slots in hours.values()
            for slot in slots
        }

    def length(self, day: int) -> int:
        """Return the number of clock hours of a day: 23 if clocks go forward on this day."""
        begin, end = (
            self.times.clock.moment(_midnight(dt.datetime.fromordinal(each)))
            for each in (day, day + 1)
        )
        return len({self.times.local(at).hour for at in range(begin, end, _HOUR_US)})


def by_hour(times: Times) -> Times:
    """Return times that begin at midnight of the first day, with slots of one hour."""
    first = times.clock.moment(_midnight(times.local(times.first)))
    slots = -(-(times.last - first) // _HOUR_US)
    return replace(times, first=first, last=first + slots * _HOUR_US, slots=slots)


def at_weekend(day: int) -> bool:
    """Whether a day is a Saturday or a Sunday."""
    return dt.date.fromordinal(day).weekday() >= _FIRST_WEEKEND_DAY


def _midnight(local: dt.datetime) -> dt.datetime:
    return dt.datetime.combine(local, dt.time())
