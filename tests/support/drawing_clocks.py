"""Clocks and sites as hypothesis draws them: see clocks.py for what they are."""

from __future__ import annotations

import datetime as dt

from hypothesis import strategies as st

from tests.support.clocks import HOUR, MINUTE, NONE, SECOND, Clock, Site, Task

_LENGTHS = (1, 2, 5, 7, 10, 15, 20, 30, 45, 60, 120, 180)
"""Minutes of intervals."""
_MOST = 130
"""Intervals of a kind, at most."""
_DAYS = ((3, 4), (3, 29), (5, 11), (10, 25), (12, 31))
_MIDNIGHTS = [dt.datetime(2026, *day, tzinfo=dt.UTC) for day in _DAYS]
"""Days like others, days on which clocks are changed, and the last of a year."""
_LAG = st.sampled_from([123, 1211]) | st.integers(-5_000_000, 5_000_000)
_LAGS = _LAG.map(lambda each: dt.timedelta(microseconds=each))
_SHARES = st.integers(1, 99)


@st.composite
def clocks(
    draw: st.DrawFn,
    number: int = 0,
    *,
    steady: bool = False,
    faults: bool = True,
    interrupted: bool = True,
    puts_only: bool = False,
    early: bool = True,
) -> Clock:
    """Draw a clock.

    number       of it in its site, which names its system and queue manager
    steady       whether the speed of the work is the same all the time
    faults       whether times of records can be missing, impossible or wrapped
    interrupted  whether the queue manager can be restarted, and statistics be missing
    puts_only    whether no task gets
    early        whether first records can cover hours before the first statistics
    """
    length = draw(st.integers(2, 14)) * HOUR
    fitting = [each * MINUTE for each in _LENGTHS if length / (each * MINUTE) <= _MOST]
    statime = draw(st.sampled_from(fitting))
    acctime = draw(st.one_of(st.just(statime), st.sampled_from(fitting)))
    begin = draw(st.sampled_from(_MIDNIGHTS)) + draw(st.integers(0, 23)) * HOUR
    begin += draw(st.one_of(st.just(NONE), st.integers(0, 3599).map(lambda each: each * SECOND)))
    most = statime // SECOND - 1
    phases = (st.just(NONE), st.none(), st.integers(0, most).map(lambda each: each * SECOND))
    verbs = ["put"] if puts_only else ["put", "get"]
    stops, lost = draw(_interruptions(begin, length, statime)) if interrupted else ((), frozenset())
    speeds = st.just([1]) if steady else st.lists(st.integers(0, 5), min_size=3, max_size=8)
    return Clock(
        system=f"S{number:03}", qmgr=f"Q{number:03}", begin=begin, length=length,
        tasks=draw(_tasks(number, verbs, early)), statime=statime, acctime=acctime,
        phase=draw(st.one_of(*phases)), lag=draw(_LAGS),
        late=draw(st.integers(0, 30)) * dt.timedelta(milliseconds=1),
        leap=draw(st.sampled_from([NONE, NONE, 27 * SECOND])),
        east=draw(st.integers(-48, 56)) * 15 * MINUTE, change=draw(_changes(begin, length)),
        stops=stops, lost=lost, odd=draw(_odd) if faults else (),
        wrapped=draw(st.frozensets(st.integers(0, 20), max_size=2 * faults)),
        speeds=tuple(draw(speeds)), first=draw(st.sampled_from([1, 2000])),
    )  # fmt: skip


_KINDS = st.sampled_from(["missing", "1900", "2042"])
_odd = st.dictionaries(st.integers(0, 20), _KINDS, max_size=2).map(lambda it: tuple(it.items()))


def _tasks(number: int, verbs: list[str], early: bool) -> st.SearchStrategy[tuple[Task, ...]]:
    before = st.just(NONE)
    if early:
        before |= st.integers(1, 40).map(lambda each: each * 47 * MINUTE)
    rest = st.integers(1, 40), st.sampled_from(verbs), before, st.sampled_from([False] * 3 + [True])
    names = (st.just(f"J{number:03}{each}") for each in "ABC")
    tasks = [st.builds(Task, each, *rest, st.booleans()) for each in names]
    return st.integers(1, 3).flatmap(lambda count: st.tuples(*tasks[:count]))


@st.composite
def _changes(
    draw: st.DrawFn, begin: dt.datetime, length: dt.timedelta
) -> tuple[dt.datetime, dt.timedelta] | None:
    """Draw a change of clocks within the data; at most one in three has one."""
    if draw(st.integers(0, 2)):
        return None
    at = begin + length * draw(_SHARES) / 100
    return at.replace(minute=0, second=0, microsecond=0), draw(st.sampled_from([HOUR, -HOUR]))


@st.composite
def _interruptions(
    draw: st.DrawFn, begin: dt.datetime, length: dt.timedelta, statime: dt.timedelta
) -> tuple[tuple[tuple[dt.datetime, dt.timedelta], ...], frozenset[int]]:
    """Draw restarts, at most two, and intervals of statistics that are missing.

    The queue manager is away for a fifth of an interval at least, so that it is a gap by any
    measure, and is there for an hour before and after.
    """
    stops = []
    for share in sorted(draw(st.sets(st.sampled_from([30, 70]), max_size=2))):
        at = begin + (length * share / 100) // SECOND * SECOND + draw(st.integers(0, 599)) * SECOND
        away = max(MINUTE, statime / 5) + draw(st.integers(0, 9)) * MINUTE
        if at - begin >= HOUR and begin + length - at - away >= HOUR:
            stops.append((at, away))
    if not stops and length / statime >= 6 and draw(st.booleans()):
        return (), frozenset({draw(st.integers(1, length // statime - 3))})
    return tuple(stops), frozenset()


@st.composite
def sites(draw: st.DrawFn, /, most: int = 8, **which: bool) -> Site:
    """Draw a site of so many clocks at most; which: as of `clocks`."""
    made = [draw(clocks(number, **which)) for number in range(draw(st.integers(1, most)))]
    return Site(tuple(made), draw(st.integers(0, 1000)))
