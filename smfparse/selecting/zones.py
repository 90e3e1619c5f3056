"""Time zones: the one rule by which moments become local times where a user names a zone.

Without one, local times are those of the z/OS system, as records show them; never the
workstation's. The rules of zones are those of pytz, which every installation has: the system's are
not there on Windows, and DuckDB has others.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

import numpy as np

from smfparse.errors import RequestError, did_you_mean
from smfparse.layout import US_PER_DAY, US_PER_SECOND
from smfparse.vectors import Ints

_FIRST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_LAST = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)
"""No SMF date is later; offsets beyond these two are those of that time."""
_STEP = dt.timedelta(days=7)
"""No zone changes its offset twice in less time."""
_SECOND = dt.timedelta(seconds=1)
_NEAR = 3


@dataclass(frozen=True)
class Zone:
    """A time zone, as a table of offsets. Moments are microseconds since 1970.

    changes  moments in UTC from which on an offset holds, in their order
    offsets  seconds that local time is ahead of UTC: before the first change, and from each on
    """

    name: str
    changes: tuple[int, ...]
    offsets: tuple[int, ...]

    def offset(self, moment: int) -> int:
        """Return the seconds that local time is ahead of UTC at a moment in UTC."""
        return self.offsets[bisect_right(self.changes, moment)]

    def each_offset(self, moments: Ints) -> Ints:
        """Return what `offset` does for each of several moments."""
        which = np.searchsorted(np.array(self.changes, np.int64), moments, side="right")
        found: Ints = np.array(self.offsets, np.int64)[which]
        return found

    def local(self, moment: int) -> dt.datetime:
        """Return a moment in UTC as local time, without a zone."""
        epoch = _FIRST.replace(tzinfo=None)
        return epoch + dt.timedelta(microseconds=moment, seconds=self.offset(moment))

    def moment(self, local: dt.datetime) -> int:
        """Return the first moment in UTC at which it is this local time, or would be."""
        seen = (local - _FIRST.replace(tzinfo=None)) // dt.timedelta(microseconds=1)
        near = (self.offset(seen - US_PER_DAY), self.offset(seen + US_PER_DAY))
        several = [seen - each * US_PER_SECOND for each in near]
        return min((each for each in several if self.local(each) == local), default=several[0])

    def sql(self, moment: str) -> str:
        """Return the SQL of `offset`: an integer, NULL where the moment is.

        moment  SQL of microseconds, as of `epoch_us`
        """
        if not self.changes:
            return f"(CASE WHEN {moment} IS NOT NULL THEN {self.offsets[0]} END)"
        before = f"len(list_filter({[*self.changes]}, lambda change: change <= {moment}))"
        return f"({[*self.offsets]}[1 + CASE WHEN {moment} IS NOT NULL THEN {before} END])"


@cache
def fixed_zone(seconds: int) -> Zone:
    """Return the zone of a system whose clock is always so many seconds ahead of UTC."""
    return Zone("", (), (seconds,))


def parse_zone(text: str) -> Zone:
    """Return the zone that a text names: utc, or a name of IANA, in any case.

    Raises RequestError for another text, with names that are near.
    """
    import pytz  # slow to load, and seldom asked for

    known = {name.lower(): name for name in ("UTC", *pytz.all_timezones)}
    asked = text.strip().lower()
    if asked not in known:
        near = [known[each] for each in _near(asked, [*known])]
        way_out = did_you_mean(near, "write it like Europe/Berlin")
        raise RequestError(f"tz={text!r} is not utc or a time zone of IANA; {way_out}", "tz")
    return _zone(known[asked])


def _near(asked: str, names: list[str]) -> list[str]:
    """Return names that are like a text; those of its place come first: berlin, new york."""
    place = asked.rpartition("/")[2].replace(" ", "_")
    places = {each.rpartition("/")[2]: each for each in reversed(names)}
    same = [each for each in names if place and each.rpartition("/")[2] == place]
    alike = get_close_matches(asked, names, _NEAR, 0.8)
    alike += [places[each] for each in get_close_matches(place, places, _NEAR, 0.75)]
    return list(dict.fromkeys([*same, *alike]))[:_NEAR]


@cache
def _zone(name: str) -> Zone:
    """Return the table of a zone: each change is looked for where two weeks differ."""
    from zoneinfo import ZoneInfo

    import pytz

    with pytz.open_resource(name) as file:
        rules = ZoneInfo.from_file(file, name)

    def offset(moment: dt.datetime) -> int:
        shown = moment.astimezone(rules).utcoffset()
        assert shown is not None
        return int(shown.total_seconds())

    changes, offsets, before = [], [offset(_FIRST)], _FIRST
    while before < _LAST:
        later = before + _STEP
        if offset(later) != offsets[-1]:
            low, high = before, later
            while high - low > _SECOND:
                middle = (low + (high - low) / 2).replace(microsecond=0)
                low, high = (middle, high) if offset(middle) == offsets[-1] else (low, middle)
            changes.append((high - _FIRST) // _SECOND * US_PER_SECOND)
            offsets.append(offset(later))
        before = later
    return Zone(name, tuple(changes), tuple(offsets))
