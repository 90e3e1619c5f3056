"""Slopes of measured values, with their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import NamedTuple

from smfparse.planning.asking import Asked, wanted
from smfparse.planning.plans import Figure, Plan, Planner

LEAST_POINTS = 10
LEAST_CHANGE = 0.2
"""Minimum variation of the x of points, as a share of their mean."""
_Z = 1.6448536269514722
"""The value that a standard normal variable exceeds with a probability of 5%."""


class Slope(NamedTuple):
    """A slope by least squares, with its 90% confidence interval."""

    value: float
    low: float
    high: float


def too_few() -> str:
    """Return the reason for which points have no slope."""
    return f"fewer than {LEAST_POINTS} intervals, or only random changes in them"


def slope(points: Sequence[Sequence[float]]) -> Slope | None:
    """Return the slope of points (x, y); None: too few points, too similar x, or maybe 0."""
    xs, ys = [each[0] for each in points], [each[1] for each in points]
    if len(points) < LEAST_POINTS or max(xs) - min(xs) <= LEAST_CHANGE * abs(fmean(xs)):
        return None
    x, y = fmean(xs), fmean(ys)
    sxx = math.fsum((each - x) ** 2 for each in xs)
    value = math.fsum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sxx
    rest = math.fsum((b - y - value * (a - x)) ** 2 for a, b in zip(xs, ys, strict=True))
    free = len(points) - 2
    around = _student(free) * math.sqrt(rest / free / sxx)
    found = Slope(value, value - around, value + around)
    return None if found.low <= 0 <= found.high else found


def _student(free: int) -> float:
    """Return the value that Student's t exceeds in 5% of cases, to three digits."""
    first = (_Z**3 + _Z) / (4 * free)
    return _Z + first + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * free**2)


def plan_within(which: Planner, asked: Asked, intervals: Mapping[str, tuple[float, float]]) -> Plan:
    """Return the answer of a planner, with intervals of figures that depend on uncertain inputs.

    intervals  confidence intervals of inputs, by name
    """
    figures = which.figures(asked)
    bounds = {each.name: each.ask for each in wanted(type(asked))}
    ends = [
        [min(max(end, bounds[name].low), bounds[name].high) for end in interval]
        for name, interval in intervals.items()
    ]
    corners = [
        {
            each.name: each.value
            for each in which.figures(replace(asked, **dict(zip(intervals, some, strict=True))))
        }
        for some in product(*ends)
    ]
    return Plan(which, asked, [_within(each, corners) for each in figures])


def _within(figure: Figure, corners: Sequence[Mapping[str, float]]) -> Figure:
    found = [each[figure.name] for each in corners if figure.name in each]
    if len(set(found)) < 2:
        return figure
    return replace(figure, interval=(min(found), max(found)))
