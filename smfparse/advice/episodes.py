"""The times at which a condition was true: runs of intervals, and episodes of several runs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smfparse.metrics.calendar import SECOND_US, ends_of

_SLACK = 0.1
"""Maximum delay of an interval that follows another without a gap, as a share of its length."""


class Run(NamedTuple):
    """Consecutive crossed intervals.

    start, end  start of the first and end of the last interval, microseconds since 1970, UTC
    intervals   number of intervals
    seconds     total length of the intervals
    """

    start: int
    end: int
    intervals: int
    seconds: float


class Intervals(NamedTuple):
    """Intervals in which a rule was evaluated, in the order of time.

    starts   int64 (intervals,): start, microseconds since 1970, UTC
    seconds  float64 (intervals,): length
    crossed  bool (intervals,): whether the condition is true
    """

    starts: NDArray[np.int64]
    seconds: NDArray[np.float64]
    crossed: NDArray[np.bool_]


def runs(
    starts: NDArray[np.int64], seconds: NDArray[np.float64], crossed: NDArray[np.bool_]
) -> list[Run]:
    """Return the runs of crossed intervals among the evaluated intervals of an object.

    starts, seconds, crossed  as in `Intervals`; a gap between two intervals ends a run
    """
    ends = ends_of(starts, seconds)
    slack = _SLACK * seconds * SECOND_US
    follows = np.r_[False, starts[1:] - ends[:-1] <= slack[1:]]
    begins = crossed & ~(np.r_[False, crossed[:-1]] & follows)
    numbers = np.cumsum(begins)[crossed] - 1
    first = np.flatnonzero(begins)
    last = (
        np.flatnonzero(crossed)[np.r_[numbers[1:] != numbers[:-1], True]] if len(first) else first
    )
    counts, lengths = np.bincount(numbers), np.bincount(numbers, seconds[crossed])
    return [
        Run(int(starts[a]), int(ends[b]), int(n), float(s))
        for a, b, n, s in zip(first, last, counts, lengths, strict=True)
    ]


def episodes(found: Sequence[Run], usual: float) -> list[Run]:
    """Return episodes: runs with at most one interval between them are combined.

    found  runs in the order of time
    usual  median length of an interval, seconds
    """
    joined: list[Run] = []
    apart = (1 + _SLACK) * usual * SECOND_US
    for run in found:
        if joined and run.start - joined[-1].end <= apart:
            before = joined.pop()
            run = Run(
                before.start,
                run.end,
                before.intervals + run.intervals,
                before.seconds + run.seconds,
            )
        joined.append(run)
    return joined


def together(several: Sequence[Intervals]) -> Intervals:
    """Return the union of the intervals of several objects, crossed if crossed for any object."""
    starts, seconds, crossed = map(np.concatenate, zip(*several, strict=True))
    its, first, numbers = np.unique(starts, return_index=True, return_inverse=True)
    return Intervals(its, seconds[first], np.bincount(numbers, crossed) > 0)


def main_episode(found: Sequence[Run], usual: float) -> Run:
    """Return the episode with the most crossed seconds; of equal episodes, the first."""
    return max(episodes(found, usual), key=lambda each: each.seconds)


def touches(found: Sequence[Run], start: int, end: int) -> bool:
    """Whether a run overlaps the time from start to end; `found`: runs in the order of time."""
    at = bisect_left(found, end, key=lambda each: each.start)
    return at > 0 and found[at - 1].end > start


def overlapped(found: Sequence[Run], spans: Sequence[tuple[int, int]]) -> float:
    """Return the seconds in spans of runs that begin in a span.

    found  runs, in the order of time
    spans  start and end of each span, in the order of time
    """
    seconds, at = 0.0, 0
    for run in found:
        while at < len(spans) and spans[at][1] <= run.start:
            at += 1
        if at == len(spans):
            break
        start, end = spans[at]
        if run.start >= start:
            share = (min(run.end, end) - run.start) / max(run.end - run.start, 1)
            seconds += share * run.seconds
    return seconds
