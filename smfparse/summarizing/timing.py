"""The times with data of a queue manager, and the slots of time for its metrics."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from smfparse.calendar.intervals import SECOND_US, Calendar
from smfparse.selecting.zones import Zone
from smfparse.summarizing.spreading import Axis
from smfparse.vectors import Floats, Ints

_MINUTE_US = 60 * SECOND_US
_SLOTS = 48
"""Slots of a queue manager without intervals of its own, at most."""


@dataclass(frozen=True)
class Times:
    """When there is data of a queue manager, in microseconds since 1970, UTC.

    first, last  the time that its intervals cover
    slots        parts of that time, as long as intervals usually are
    """

    calendar: Calendar
    first: int
    last: int
    slots: int

    @classmethod
    def of(cls, calendar: Calendar) -> Times:
        """Return the times of a queue manager."""
        first, last = calendar.first, calendar.last
        if calendar.is_recorded and calendar.typical:
            slots = round((last - first) / (calendar.typical * SECOND_US))
        else:
            last = max(last, first + _MINUTE_US)
            slots = min((last - first) // _MINUTE_US, _SLOTS)
        return cls(calendar, first, last, max(slots, 1))

    @property
    def key(self) -> tuple[str, str]:
        """Whose times they are: system and queue manager."""
        return self.calendar.key

    @property
    def system(self) -> str:
        """The system."""
        return self.calendar.system

    @property
    def qmgr(self) -> str:
        """The queue manager."""
        return self.calendar.qmgr

    @property
    def name(self) -> str:
        """The queue manager and its system."""
        return " on ".join(filter(None, (self.qmgr, self.system)))

    @property
    def mq_version(self) -> str:
        """The newest version of MQ that it has in its time."""
        return self.calendar.mq_version

    @property
    def clock(self) -> Zone:
        """What makes local times of moments."""
        return self.calendar.clock

    @property
    def latest(self) -> int:
        """The middle of the last interval: the day of that is the last day."""
        whole = self.calendar.whole
        return int(((self.calendar.starts + self.calendar.ends) // 2)[whole].max())

    @property
    def offset(self) -> int:
        """Seconds that local time is ahead of UTC at the end."""
        return self.clock.offset(self.last - 1)

    @property
    def slot(self) -> int:
        """How long a slot of time is."""
        return -(-(self.last - self.first) // self.slots)

    @cached_property
    def starts(self) -> Ints:
        """When each slot begins."""
        found: Ints = self.first + self.slot * np.arange(self.slots, dtype=np.int64)
        return found

    @property
    def axis(self) -> Axis:
        """The slots."""
        return Axis(self.starts, self.starts + self.slot, np.zeros(self.slots, np.bool_))

    @property
    def covered(self) -> Floats:
        """Of how many seconds of each slot there is data."""
        return self.calendar.covered(self.starts, self.starts + self.slot)

    def local(self, microseconds: int) -> dt.datetime:
        """Return a moment as local time of the system."""
        return self.clock.local(microseconds)
