"""The intervals of a queue manager, and how rows of any length are spread over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

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
    """Intervals in the order of time, microseconds UTC, that do not overlap."""

    starts: Counts
    ends: Counts

    @property
    def seconds(self) -> Numbers:
        """How long each interval is."""
        found: Numbers = (self.ends - self.starts) / SECOND_US
        return found

    @property
    def after_gap(self) -> Flags:
        """Which intervals begin later than the one before them ends."""
        lengths = self.ends - self.starts
        slack = np.maximum(_LEAK * float(np.median(lengths)), SECOND_US)
        found: Flags = np.r_[False, self.starts[1:] - self.ends[:-1] > slack]
        return found


class Spread(NamedTuple):
    """Which rows are in which intervals, and with which share of the row."""

    rows: Counts
    cells: Counts
    shares: Numbers


def axis_of(times: Times, spans: Sequence[Mapping[str, Any]]) -> Axis:
    """Return the intervals of a queue manager.

    Those of its statistics, else of its channel initiator. Without either, parts of its time.

    spans  rows of its intervals: kind, start (microseconds UTC), seconds
    """
    if not times.intervals:
        starts = times.first + times.slot * np.arange(times.slots, dtype=np.int64)
        return Axis(starts, starts + times.slot)
    best = min(each["kind"] for each in spans)
    found = sorted(
        (each["start"], each["start"] + round(each["seconds"] * SECOND_US))
        for each in spans
        if each["kind"] == best
    )
    kept: list[tuple[int, int]] = []
    for start, end in found:
        follows = not kept or (start + end) // 2 > kept[-1][1]
        if start >= times.first and end > start and follows:
            kept.append((max(start, kept[-1][1]) if kept else start, end))
    pairs = np.array(kept, np.int64).reshape(-1, 2)
    return Axis(pairs[:, 0], pairs[:, 1])


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
