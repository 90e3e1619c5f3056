"""When a condition held: runs of intervals, and the episodes that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SECOND_US = 1_000_000
"""Microseconds of a second: times here are microseconds since 1970, UTC."""
_SLACK = 0.1
"""Share of an interval up to which the next may begin later, and still follow it."""
_FIRST = 3
"""An interval that does not follow another covers what came before, if so many medians long."""
_STUB = 0.5
"""One behind a gap that is shorter than this many medians follows a restart."""


class Run(NamedTuple):
    """Crossed intervals that follow one another.

    start, end  microseconds since 1970, UTC
    intervals   how many
    seconds     how long they are
    """

    start: int
    end: int
    intervals: int
    seconds: float

    def overlaps(self, start: int, end: int) -> bool:
        """Whether the run and a time have a moment in common."""
        return self.start < end and start < self.end


def ends_of(starts: NDArray[np.int64], seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return when intervals end."""
    ends: NDArray[np.int64] = starts + (seconds * SECOND_US).astype(np.int64)
    return ends


def excluded(starts: NDArray[np.int64], seconds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which intervals of a queue manager show something else than what is usual.

    starts, seconds  of rows, in any order; several rows may be of one interval

    The first one after a start of the trace can cover all that came before, and is known by its
    length. One after a restart is short, and pools and the log are not yet as they usually are.
    """
    if not len(starts):
        return np.zeros(0, bool)
    order = np.lexsort((seconds, starts))
    begins, lengths = starts[order], seconds[order]
    new = np.r_[True, (np.diff(begins) != 0) | (np.diff(lengths) != 0)]
    begins, lengths = begins[new], lengths[new]
    median = float(np.median(lengths))
    ends = np.maximum.accumulate(ends_of(begins, lengths))
    apart = np.r_[np.inf, begins[1:] - ends[:-1]]
    alone = apart > _SLACK * median * SECOND_US
    odd = alone & (lengths > _FIRST * median)
    odd[1:] |= (alone & (lengths < _STUB * median))[1:]
    found = np.empty(len(starts), bool)
    found[order] = odd[np.cumsum(new) - 1]
    return found


def runs(
    starts: NDArray[np.int64], seconds: NDArray[np.float64], crossed: NDArray[np.bool_]
) -> list[Run]:
    """Return the runs of crossed intervals among those of an object that were evaluated.

    starts, seconds, crossed  of intervals, in the order of time; a gap between two ends a run
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
    """Return the runs put together where no more than one interval lies between two.

    found  in the order of time
    usual  seconds of an interval
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


def main_episode(found: Sequence[Run], usual: float) -> Run:
    """Return the episode in which most seconds crossed; of several, the first."""
    return max(episodes(found, usual), key=lambda each: each.seconds)
