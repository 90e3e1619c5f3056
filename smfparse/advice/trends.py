"""The change of a figure in the last hours, and the time until it reaches a limit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smfparse.advice.declaration import Rule
from smfparse.advice.judging import Judged, trend_columns
from smfparse.metrics.calendar import SECOND_US
from smfparse.planning.pages import seconds_to
from smfparse.planning.plans import LEAST_POINTS, slope

_HOUR = 3600
_RECENT = 3 * _HOUR
"""Seconds at the end of the data whose slope is extrapolated."""


class Move(NamedTuple):
    """The change of a figure.

    per_hour          change in `unit`
    unit              unit of the figure
    hours             hours until the figure reaches its limit; None: never, or no limit
    soonest, latest   90% confidence interval of `hours`; None: never
    """

    per_hour: float
    unit: str
    hours: float | None
    soonest: float | None
    latest: float | None


def move_of(judged: Judged, rule: Rule, rows: NDArray[np.int64]) -> Move | None:
    """Return the change of the figure in a rule's trend; None: only random changes."""
    if rule.trend is None:
        return None
    value, limit = (judged.number(each)[rows] for each in trend_columns(rule))
    known = ~np.isnan(value)
    times, amounts = judged.starts[rows][known] / SECOND_US, value[known]
    if not len(times):
        return None
    recent = times >= times[-1] - _RECENT
    if recent.sum() >= LEAST_POINTS:
        times, amounts = times[recent], amounts[recent]
    found = slope(np.column_stack([times - times[0], amounts]).tolist())
    if found is None:
        return None
    steepest, flattest = sorted((found.low, found.high), key=abs, reverse=True)
    ends = [
        _hours(limit[known][-1], amounts[-1], each) for each in (found.value, steepest, flattest)
    ]
    return Move(found.value * _HOUR, rule.trend.unit, *ends)


def _hours(limit: float, now: float, growth: float) -> float | None:
    """Return the hours until a figure reaches a limit; None: never, or already reached."""
    toward = math.copysign(1, growth)
    seconds = seconds_to(toward * limit, toward * now, toward * growth)
    return seconds / _HOUR if seconds is not None and seconds > 0 else None
