"""Changes from one side of a comparison to the other, and whether they are significant.

A figure is a quotient of two sums over all intervals of a side (`measures`). `significance`
compares the change of a figure with the variation of the figure between intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl

from smfparse.comparing.measures import (
    CALLS,
    COMMITS,
    EFFECT,
    MEASURES,
    ROW_KINDS,
    SECONDS,
    TASK,
    Measure,
)
from smfparse.comparing.sides import Rename, Side, ordered_sum, summed
from smfparse.comparing.significance import Spread, changed, holm
from smfparse.errors import RequestError
from smfparse.vectors import Floats

NAMES: tuple[str, ...] = ("qmgr", "job", "queue", "verb")
"""Columns that rows can be grouped by."""
_SECONDS = ("before_seconds", "after_seconds")
HARDLY = 1000.0
"""A name is hardly present on one side if the sides differ by at least this factor."""
COLUMNS = (*NAMES, "figure", "before", "after", "difference", "ratio", "significant", *_SECONDS)
TOLERANCE = 0.06
"""Ratio of change between runs that IBM's regression tests accept."""


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
    renames    names of the first side that differ on the second side
    tolerance  relative change above which a change counts: 0.06 is 6%

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
    """Yield the figures of each kind of rows; a kind without rows is omitted, except the first."""
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

    The variance of the figure, a ratio of sums, is a jackknife estimate: each interval is compared
    with the figure of all other intervals.

    whole  divisors of all intervals, because seconds also count in intervals without calls of a
           name; None: the divisor is a column of `sums`
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
"""Factor of an interval's deviation from the figure of all other intervals (jackknife)."""


def _totals(whole: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Return, by `on`, the total of `per`, weighted squares, and equivalent number of intervals."""
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
