"""The intervals of a queue manager, and how rows of any length are spread over them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smfparse.calendar import SECOND_US
from smfparse.summarizing import Times

Numbers: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

_LEAK = 0.02
"""A share of an interval that is no more than the difference of two clocks."""


class Axis(NamedTuple):
    """Intervals in the order of time, microseconds UTC, that do not overlap.

    after_gap  which of them begin later than the one before them ends
    """

    starts: Counts
    ends: Counts
    after_gap: Flags

    @property
    def seconds(self) -> Numbers:
        """How long each interval is."""
        found: Numbers = (self.ends - self.starts) / SECOND_US
        return found


class Spread(NamedTuple):
    """Which rows are in which intervals, and with which share of the row."""

    rows: Counts
    cells: Counts
    shares: Numbers


def axis_of(times: Times) -> Axis:
    """Return the intervals of a queue manager's calendar; without any, parts of its time."""
    calendar = times.calendar
    if not calendar.is_recorded:
        return Axis(times.starts, times.starts + times.slot, np.zeros(times.slots, bool))
    kept: list[tuple[int, int, bool]] = []
    found = zip(calendar.starts.tolist(), calendar.ends.tolist(), calendar.gaps > 0, strict=True)
    for start, end, after_gap in found:
        follows = not kept or (start + end) // 2 > kept[-1][1]
        if start >= times.first and end > start and follows:
            kept.append((max(start, kept[-1][1]) if kept else start, end, bool(after_gap)))
    starts, ends, gaps = (np.array(each) for each in zip(*kept, strict=True))
    return Axis(starts, ends, gaps)


def spread(axis: Axis, starts: Counts, seconds: Numbers) -> Spread:
    """Return how rows are spread over intervals: by the time that they have in common.

    A row of no length is in the interval that it is in. What is outside of all is left out.
    """
    ends = starts + np.maximum(seconds * SECOND_US, 1).astype(np.int64)
    first = np.searchsorted(axis.ends, starts, "right")
    counts = np.maximum(np.searchsorted(axis.starts, ends, "left") - first, 0)
    rows = np.repeat(np.arange(len(starts)), counts)
    cells = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[rows]
    common = np.minimum(ends[rows], axis.ends[cells]) - np.maximum(starts[rows], axis.starts[cells])
    shares = common / (ends - starts)[rows]
    is_leak = (shares < _LEAK) & (common < _LEAK * (axis.ends - axis.starts)[cells])
    shares = np.where(shares > 1 - _LEAK, 1.0, shares)
    return Spread(rows[~is_leak], cells[~is_leak], shares[~is_leak])


def groups(axis: Axis, most: int) -> Counts:
    """Return the number of the group of each interval: no more than about `most` groups.

    A group has intervals that follow one another without a gap.
    """
    size = -(-len(axis.starts) // most)
    gaps = axis.after_gap
    run = np.cumsum(gaps)
    begins = np.flatnonzero(np.r_[True, gaps[1:]])
    within = np.arange(len(run)) - begins[run]
    new = np.r_[True, gaps[1:] | (within[1:] % size == 0)]
    found: Counts = np.cumsum(new) - 1
    return found
