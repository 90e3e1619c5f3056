"""How a figure moves over intervals: least squares, and when it arrives at a limit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smfparse.advice.declaration import Rule
from smfparse.advice.episodes import SECOND_US
from smfparse.advice.judging import Judged, trend_columns

_LEAST = 8
"""So many intervals are needed."""
_CHANCE = 0.05
_HOUR = 3600


class Move(NamedTuple):
    """How a figure moves.

    per_hour  by how much
    hours     until it arrives at its limit; None: it does not, or there is no limit
    """

    per_hour: float
    hours: float | None


def move_of(judged: Judged, rule: Rule, rows: NDArray[np.int64]) -> Move | None:
    """Return how the figure that a rule follows moves over rows; None: no more than by chance."""
    if rule.trend is None:
        return None
    value, limit = (judged.number(each)[rows] for each in trend_columns(rule))
    known = ~np.isnan(value)
    times, amounts = judged.starts[rows][known] / SECOND_US, value[known]
    slope = slope_of(times, amounts)
    if slope is None:
        return None
    ends = limit[known][-1] - amounts[-1]
    hours = ends / slope / _HOUR if not math.isnan(ends) and ends * slope > 0 else None
    return Move(slope * _HOUR, hours)


def slope_of(times: NDArray[np.float64], values: NDArray[np.float64]) -> float | None:
    """Return by how much values rise a second; None: by chance, or too few of them."""
    if len(times) < _LEAST or not np.ptp(times) or not np.ptp(values):
        return None
    x, y = times - times.mean(), values - values.mean()
    slope = float(x @ y / (x @ x))
    left = float(((y - slope * x) ** 2).sum())
    if left == 0:
        return slope
    t = abs(slope) * math.sqrt((len(x) - 2) * float(x @ x) / left)
    return slope if _tail(t, len(x) - 2) < _CHANCE else None


def _tail(t: float, freedom: int) -> float:
    """Return how likely a t of this size or more is by chance, on both sides.

    Student's distribution, whose integral is a finite sum for whole degrees of freedom
    (Abramowitz and Stegun, 26.7.3 and 26.7.4).
    """
    angle = math.atan(t / math.sqrt(freedom))
    cos, sin = math.cos(angle), math.sin(angle)
    term = cos if freedom % 2 else 1.0
    total = 0.0
    for each in range(2 + freedom % 2, freedom, 2):
        total += term
        term *= cos * cos * (each - 1) / each
    total += term if freedom > 1 else 0.0
    inside = 2 / math.pi * (angle + (sin * total if freedom > 1 else 0.0))
    return 1 - (inside if freedom % 2 else sin * total)
