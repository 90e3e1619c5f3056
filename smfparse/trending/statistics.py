"""Robust statistics of days: the usual range, and growth that is more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import median

CHANCE = 0.05
"""Maximum probability by chance of significant growth."""
_SPREAD = 3 * 1.4826
"""Ratio of three standard deviations to the median absolute deviation."""
_FEW = 4
"""Number of values for which the usual range is twice as wide as for infinitely many values."""
_LEAST = 0.1
"""Minimum difference of an unusual value from the median, as a share of the median."""


def usual_range(values: Sequence[float], least: float = 0.0) -> tuple[float, float]:
    """Return the usual range of values, around their median; few values give a wider range.

    least  minimum difference of an unusual value from the median
    """
    middle = median(values)
    deviation = median(abs(each - middle) for each in values)
    spread = _SPREAD * (1 + _FEW / len(values)) * deviation
    around = max(spread, _LEAST * abs(middle), least)
    return max(middle - around, 0.0), middle + around


def growth(seasons: Sequence[Mapping[int, float]]) -> tuple[float, float] | None:
    """Return the growth per day (Theil-Sen), and its probability by chance (Kendall).

    seasons  values by day; days are compared only within a season, such as all Mondays

    Return None if no season has two days.
    """
    slopes: list[float] = []
    score, variance = 0, 0.0
    for season in seasons:
        pairs = list(combinations(sorted(season.items()), 2))
        slopes += [(late - early) / (last - first) for (first, early), (last, late) in pairs]
        score += sum((late > early) - (late < early) for (_, early), (_, late) in pairs)
        count = len(season)
        variance += count * (count - 1) * (2 * count + 5) / 18
    if not slopes:
        return None
    certain = max(abs(score) - 1, 0) / math.sqrt(variance)
    return median(slopes), math.erfc(certain / math.sqrt(2))
