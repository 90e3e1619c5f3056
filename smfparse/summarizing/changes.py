"""Changes from one side of a comparison to the other, and whether they are significant.

A figure is a quotient of two sums over all intervals of a side: microseconds per call, bytes per
second. The spread of a figure is its variance between intervals. Because intervals are few, the
spread of similar rows is also used: an empirical Bayes estimate (Smyth 2004, "Linear models
and empirical Bayes methods for assessing differential expression in microarray experiments"), with
a trend over the calls of a row. The test is whether the change is greater than a tolerance
(McCarthy and Smyth 2009, "Testing significance relative to a fold-change threshold is a TREAT").
The level of the test holds for all rows together (Holm 1979).

Formulas: NIST Digital Library of Mathematical Functions, 5.11 (series for large numbers), 5.15
(recurrence), 8.17 (incomplete beta function and its continued fraction).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import lgamma

import numpy as np
import polars as pl

from smfparse.errors import RequestError
from smfparse.summarizing.compare_figures import (
    CALLS,
    COMMITS,
    EFFECT,
    MEASURES,
    ROW_KINDS,
    SECONDS,
    TASK,
    Measure,
)
from smfparse.summarizing.sides import Rename, Side, ordered_sum, summed
from smfparse.vectors import Bools, Floats

_LARGE = 12.0
"""Smallest argument for which the series are exact to the last digits."""
_DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760)
_TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
"""Coefficients of the series of `digamma` and `trigamma` in powers of 1 / x²."""
_TINY = 1e-300
_EXACT = 1e-15
_MOST_TERMS = 10_000
"""Maximum number of terms of the continued fraction, reached only for NaN."""
_lgamma = np.vectorize(lgamma, otypes=[float])


def digamma(x: Floats) -> Floats:
    """Return the derivative of the logarithm of gamma; x > 0."""
    less, x = _shifted(x, 1)
    found: Floats = np.log(x) - 1 / (2 * x) + _series(_DIGAMMA, x) / x**2 - less
    return found


def trigamma(x: Floats) -> Floats:
    """Return the derivative of digamma; x > 0."""
    more, x = _shifted(x, 2)
    found: Floats = 1 / x + 1 / (2 * x**2) + _series(_TRIGAMMA, x) / x**3 + more
    return found


def trigamma_inverse(value: float, most: float) -> float:
    """Return x, at most `most`, with trigamma(x) = `value`, by bisection."""
    low, high = 1e-3, most
    if value <= float(trigamma(np.array(high))):
        return most
    while high - low > _EXACT * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if float(trigamma(np.array(middle))) > value:
            low = middle
        else:
            high = middle
    return high


def student(freedom: Floats, t: Floats) -> Floats:
    """Return the distribution function of Student's t at `t`; `freedom` is at least 1."""
    whole = freedom + t * t
    half: Floats = np.full_like(freedom, 0.5)
    tail = _beta(freedom / whole, t * t / whole, freedom * half, half) / 2
    found: Floats = np.where(t > 0, 1 - tail, tail)
    return found


def _shifted(x: Floats, power: int) -> tuple[Floats, Floats]:
    """Return the sum of 1 / x^power over x, x + 1, ... below _LARGE, and the first x above."""
    x, total = x.copy(), np.zeros(x.shape)
    while (small := x < _LARGE).any():
        total += np.where(small, x ** -float(power), 0)
        x += small
    return total, x


def _series(coefficients: tuple[float, ...], x: Floats) -> Floats:
    return np.asarray(np.polyval(coefficients[::-1], x**-2.0), np.float64)


def _beta(x: Floats, rest: Floats, a: Floats, b: Floats) -> Floats:
    """Return the regularized incomplete beta function of x; `rest`: 1 - x without rounding."""
    other = x > (a + 1) / (a + b + 2)
    with np.errstate(divide="ignore"):
        front = a * np.log(x) + b * np.log(rest) + _lgamma(a + b) - _lgamma(a) - _lgamma(b)
    first, second = np.where(other, b, a), np.where(other, a, b)
    part = np.exp(front) / (first * _fraction(np.where(other, rest, x), first, second))
    found: Floats = np.where(other, 1 - part, part)
    return found


def _fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return the continued fraction of the incomplete beta function (Lentz's method)."""
    value, above, below = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    for term in _terms(x, a, b):
        below = 1 / _not_zero(1 + term * below)
        above = _not_zero(1 + term / above)
        value = value * above * below
        if (np.abs(above * below - 1) < _EXACT).all():
            break
    return value


def _terms(x: Floats, a: Floats, b: Floats) -> Iterator[Floats]:
    for m in range(_MOST_TERMS):
        yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        k = m + 1
        yield k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))


def _not_zero(numbers: Floats) -> Floats:
    found: Floats = np.where(numbers == 0, _TINY, numbers)
    return found


LEVEL = 0.02
"""Maximum probability that any row is significant although nothing changed."""
_LEAST = 1e-8
"""Smallest plausible variance: a deviation of 0.01% between intervals."""
_FEWEST_ROWS = 10
"""Minimum number of rows for an estimate of the spread of similar rows."""
_FEWEST_INTERVALS = 2.5
"""Minimum equivalent number of intervals per side, for a figure that drifts (not `steady`)."""
_QUANTILE = 0.9
_LEAST_DRIFT = 0.01
"""Smallest variance of a figure that drifts: a deviation of 10% between intervals."""
_CERTAIN = 1e6
"""Degrees of freedom if all rows have the same variance."""


@dataclass(frozen=True)
class Spread:
    """The variation of a figure between intervals, for the rows of one side.

    variance   float64 (rows,): variance of an interval, divided by the square of the figure
    intervals  float64 (rows,): equivalent number of intervals of equal weight; 0: no intervals
    """

    variance: Floats
    intervals: Floats

    @property
    def freedom(self) -> Floats:
        """Degrees of freedom of the variance."""
        return np.maximum(self.intervals - 1, 0)


def changed(
    change: Floats, before: Spread, after: Spread, busy: Floats, tolerance: float, steady: bool
) -> Floats:
    """Return the p-value of each change, float64 (rows,); NaN if it cannot be judged.

    change     float64 (rows,): logarithm of after / before
    busy       float64 (rows,): number of calls from which the figure is computed; 0: not from calls
    tolerance  minimum relative change that counts: 0.06 is 6%
    steady     whether each interval is an independent measurement of the figure, such as CPU per
               call. Other figures, such as rates and waits, drift with the load: more intervals do
               not reduce the error, and the variance of each row is at least the quantile
               _QUANTILE of the variances of all rows
    """
    freedom = before.freedom + after.freedom
    pooled = before.freedom * before.variance + after.freedom * after.variance
    variance = np.divide(pooled, freedom, out=np.zeros_like(pooled), where=freedom > 0)
    if steady:
        variance, more = _moderated(variance, freedom, busy)
        freedom = freedom + more
        error = np.sqrt(variance * (_inverse(before.intervals) + _inverse(after.intervals)))
        judged = (freedom >= 1) & (before.intervals > 0) & (after.intervals > 0)
    else:
        error = np.sqrt(2 * _roughest(variance, freedom))
        judged = np.minimum(before.intervals, after.intervals) >= _FEWEST_INTERVALS
    judged &= np.isfinite(change)
    size, limit = np.abs(change[judged]), np.log1p(tolerance)
    chance = np.full(len(change), np.nan)
    chance[judged] = sum(
        student(freedom[judged], (limit * sign - size) / error[judged]) for sign in (1, -1)
    )
    found: Floats = np.minimum(chance, 1)
    return found


def _inverse(numbers: Floats) -> Floats:
    found: Floats = np.divide(1, numbers, out=np.zeros_like(numbers), where=numbers > 0)
    return found


def _roughest(variance: Floats, freedom: Floats) -> Floats:
    """Return variances, each at least the quantile _QUANTILE of the variances of all rows."""
    known = freedom >= 1
    rough = np.quantile(variance[known], _QUANTILE) if known.sum() >= _FEWEST_ROWS else 0.0
    return np.maximum(variance, max(rough, _LEAST_DRIFT))


def _moderated(variance: Floats, freedom: Floats, busy: Floats) -> tuple[Floats, float]:
    """Return variances combined with those of similar rows, and the added degrees of freedom."""
    variance = np.maximum(variance, _LEAST)
    known = freedom >= 1
    if known.sum() < _FEWEST_ROWS:
        return variance, 0.0
    half = freedom[known] / 2
    level = np.log(variance[known]) - digamma(half) + np.log(half)
    activity = np.log1p(busy)
    degree = 1 if np.ptp(activity[known]) > 0 else 0
    trend = np.polyfit(activity[known], level, degree)
    rest = level - np.polyval(trend, activity[known])
    excess = float((rest @ rest) / (len(rest) - 1 - degree) - trigamma(half).mean())
    prior = 2 * trigamma_inverse(excess, _CERTAIN / 2)
    shift = float(digamma(np.array(prior / 2))) - np.log(prior / 2)
    common = np.exp(np.polyval(trend, activity) + shift)
    shared = (prior * common + freedom * variance) / (prior + freedom)
    return np.where(known, shared, common), prior


def holm(chance: Floats, level: float = LEVEL) -> Bools:
    """Return whether each row is significant if all rows are tested together, bool (rows,)."""
    judged = np.flatnonzero(np.isfinite(chance))
    order = judged[np.argsort(chance[judged], kind="stable")]
    limits = level / np.arange(len(order), 0, -1)
    over = np.flatnonzero(chance[order] > limits)
    found = np.zeros(len(chance), np.bool_)
    found[order[: over[0] if over.size else len(order)]] = True
    return found


NAMES: tuple[str, ...] = ("qmgr", "job", "queue", "verb")
"""Columns that rows can be grouped by."""
_SECONDS = ("before_seconds", "after_seconds")
HARDLY = 1000.0
"""A name is hardly present on one side if its values differ by at least this factor."""
COLUMNS = (*NAMES, "figure", "before", "after", "difference", "ratio", "significant", *_SECONDS)
TOLERANCE = 0.06
"""Relative change between runs that IBM's regression tests accept: 6%."""


def check_by(by: Iterable[str]) -> None:
    """Raise RequestError for a column that rows cannot be grouped by."""
    for name in by:
        if name not in NAMES:
            raise RequestError(f"by={name}: unknown name; it takes {', '.join(NAMES)}", "by")


def compared(
    before: Side,
    after: Side,
    by: Sequence[str] = NAMES,
    renames: Iterable[Rename] = (),
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Return COLUMNS: one row per name and figure of either side.

    by         the columns of NAMES to group by; other columns of NAMES are null
    renames    changes of names from the first side to the second side
    tolerance  minimum relative change that counts: 0.06 is 6%

    `significant` is null if a side has too few intervals to judge, or does not contain the name.
    `before_seconds` and `after_seconds` are the divisors of a rate per second, null for other
    figures. Significant rows come first, then rows with the largest change in CPU time.
    """
    check_by(by)
    if tolerance < 0:
        raise RequestError(
            f"tolerance={tolerance}: negative; give a ratio of 0 or more: 0.06 is 6 percent",
            "tolerance",
        )
    names = [name for name in NAMES if name in by]
    sides = [_figures(side, names) for side in (before.renamed(renames), after)]
    rows = sides[0].join(
        sides[1],
        on=[*names, "part", "measure"],
        how="full",
        coalesce=True,
        nulls_equal=True,
        suffix="_after",
    )
    rows = rows.sort(*names, "part", "measure")
    others = [pl.lit(None, pl.String).alias(name) for name in NAMES if name not in names]
    return _ordered(_judged(rows.with_columns(others), tolerance))


def _figures(side: Side, by: Sequence[str]) -> pl.DataFrame:
    """Return one row per name and measure: value, variance, intervals, calls, and seconds."""
    rows = pl.concat(_figures_by_kind(side, by), how="diagonal")
    return rows if "part" in rows.columns else rows.with_columns(part=pl.lit(None, pl.String))


def _figures_by_kind(side: Side, by: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Yield the figures of each kind of rows. Kinds without rows are omitted, except the first."""
    commits = _commits(side, by)
    for number, kind in enumerate(ROW_KINDS):
        own = ["kind", *_names_of(kind, by)]
        sums = summed(side.rows.filter(kind=kind), [*own, "bucket"])
        if (kind == TASK and "job" not in by) or (sums.is_empty() and number):
            continue
        wholes = {SECONDS: _seconds(side, kind, by), COMMITS: commits}
        for place, measure in enumerate(MEASURES):
            if measure.kind == kind:
                values = _values(sums, own, wholes.get(measure.per), measure)
                seconds = pl.col("total") if measure.per == SECONDS else pl.lit(None, pl.Float64)
                yield values.with_columns(measure=pl.lit(place), seconds=seconds).drop("total")


def _names_of(kind: str, by: Sequence[str]) -> list[str]:
    if kind == CALLS:
        return list(by)
    if kind == TASK:
        return [name for name in by if name in ("qmgr", "job")]
    return [*(name for name in by if name == "qmgr"), "part"]


def _seconds(side: Side, kind: str, by: Sequence[str]) -> pl.DataFrame:
    rows = side.seconds.filter(kind=CALLS if kind == TASK else kind)
    own = ["kind", *(name for name in by if name == "qmgr"), "bucket"]
    return rows.with_columns(kind=pl.lit(kind)).group_by(own).agg(per=pl.max("seconds"))


def _commits(side: Side, by: Sequence[str]) -> pl.DataFrame:
    own = ["kind", *(name for name in by if name in ("qmgr", "job")), "bucket"]
    return (
        side.rows.filter(kind=CALLS, verb="commit")
        .group_by(own)
        .agg(per=ordered_sum(pl.col("calls")))
    )


def _values(
    sums: pl.DataFrame, own: list[str], whole: pl.DataFrame | None, measure: Measure
) -> pl.DataFrame:
    """Return one row per name: the figure, its variance, and its divisor `total`.

    The variance is a jackknife estimate: each interval is compared with the figure of all other
    intervals.

    whole  divisors by interval, also for intervals without rows of a name; None: the divisor is a
           column of `sums`
    """
    known = sums.filter(pl.col(measure.amount).is_not_null())
    if whole is None:
        whole = known.select(*own, "bucket", per=pl.col(measure.per).fill_null(0))
    on = [name for name in whole.columns if name not in ("bucket", "per")]
    amount, per, total = pl.col("amount"), pl.col("per"), pl.col("total")
    rate, square, intervals = pl.first("rate"), pl.first("square"), pl.first("intervals")
    apart = ordered_sum(((amount - pl.col("rate") * per) * _WITHOUT) ** 2)
    absent = rate**2 * (square - ordered_sum((per * _WITHOUT) ** 2))
    return (
        known.select(*own, "bucket", amount=measure.amount, busy=pl.col("calls").fill_null(0))
        .join(whole, on=[*on, "bucket"], how="left", nulls_equal=True)
        .with_columns(per.fill_null(0))
        .join(_totals(whole, on), on=on, nulls_equal=True)
        .with_columns(rate=ordered_sum(amount).over(own) / total)
        .group_by(own)
        .agg(
            pl.first("total"),
            value=rate,
            intervals=intervals,
            busy=ordered_sum(pl.col("busy")),
            variance=intervals / ordered_sum(amount) ** 2 * (apart + absent),
        )
    )


_WITHOUT = (
    pl.when(pl.col("per") < pl.col("total"))
    .then((pl.col("total") / (pl.col("total") - pl.col("per"))).sqrt())
    .otherwise(0.0)
)
"""Jackknife weight of the deviation of an interval."""


def _totals(whole: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Return by `on`: total of `per`, equivalent number of intervals, sum of weighted squares."""
    per, total = pl.col("per"), pl.col("total")
    return (
        whole.with_columns(total=ordered_sum(per).over(on))
        .filter(total > 0)
        .group_by(on)
        .agg(
            total=pl.first("total"),
            intervals=pl.first("total") ** 2 / ordered_sum(per**2),
            square=ordered_sum((per * _WITHOUT) ** 2),
        )
    )


def _judged(rows: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Return rows with difference, ratio, and whether the change is significant."""
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.log(_floats(rows, "value_after") / _floats(rows, "value"))
    chance = np.full(rows.height, np.nan)
    families = (
        rows.with_row_index("place").group_by("measure", "verb", maintain_order=True).agg("place")
    )
    for measure, place in families.select("measure", "place").iter_rows():
        alike = rows[place]
        busy = np.nan_to_num(_floats(alike, "busy")) + np.nan_to_num(_floats(alike, "busy_after"))
        before, after = _spread(alike, ""), _spread(alike, "_after")
        steady = MEASURES[measure].steady
        chance[place] = changed(change[place], before, after, busy, tolerance, steady)
    significant = pl.Series("significant", holm(chance))
    hardly = pl.Series(np.abs(np.nan_to_num(change)) >= np.log(HARDLY))  # hardly on one side
    known = pl.Series(np.isfinite(chance)) & (significant | ~hardly)
    return rows.with_columns(
        before="value",
        after="value_after",
        difference=pl.col("value_after") - pl.col("value"),
        ratio=pl.when(pl.col("value") != 0).then(pl.col("value_after") / pl.col("value")),
        before_seconds="seconds",
        after_seconds="seconds_after",
        significant=pl.when(known).then(significant),
    )


def _floats(rows: pl.DataFrame, column: str) -> Floats:
    found: Floats = rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return found


def _spread(rows: pl.DataFrame, side: str) -> Spread:
    known = np.nan_to_num(_floats(rows, f"variance{side}"), posinf=0.0)
    return Spread(known, np.nan_to_num(_floats(rows, f"intervals{side}")))


def _ordered(rows: pl.DataFrame) -> pl.DataFrame:
    """Return COLUMNS in order, without figures that are 0 or absent on both sides."""
    part = pl.col("part").fill_null("").str.strip_chars()
    figure = pl.col("measure").replace_strict(
        {number: each.name for number, each in enumerate(MEASURES)}, return_dtype=pl.String
    )
    before, after = pl.col("before").fill_null(0), pl.col("after").fill_null(0)
    place = [each.name for each in MEASURES].index(EFFECT)
    effects = rows.filter(measure=place).select(*NAMES, effect=(after - before).abs())
    found = rows.filter((before != 0) | (after != 0)).join(
        effects, on=NAMES, how="left", nulls_equal=True
    )
    changed_first = pl.col("significant").fill_null(value=False).not_()
    pool = part.cast(pl.Int64, strict=False)
    return (
        found.sort(changed_first, -pl.col("effect"), *NAMES, "measure", pool, part, nulls_last=True)
        .with_columns(figure=figure.str.replace("{part}", part, literal=True))
        .select(COLUMNS)
    )
