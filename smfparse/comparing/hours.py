"""Hours of the day on both sides: calls per second, and cost per call."""

from __future__ import annotations

from typing import Any

import polars as pl

from smfparse.comparing.sides import Side, ordered_sum

HOUR_COLUMNS = (
    *("hour", "calls_before", "calls_after", "cpu_before", "cpu_after"),
    *("elapsed_before", "elapsed_after", "ratio"),
)


def hours(before: Side, after: Side) -> pl.DataFrame:
    """Return HOUR_COLUMNS: one row per hour of the day, local time, with data on both sides.

    Calls are per second; CPU and elapsed time are microseconds per call. `ratio` is the ratio of
    CPU time or of elapsed time, whichever changed more. The hour with the largest change comes
    first. The same hour of several days is one row.
    """
    first, second = (_hours(side) for side in (before, after))
    found = first.join(second, on="hour", suffix="_after").rename(
        {each: f"{each}_before" for each in ("calls", "cpu", "elapsed")}
    )
    changes = [
        (pl.col(f"{each}_after") / pl.col(f"{each}_before")).log().abs().fill_nan(0)
        for each in ("cpu", "elapsed")
    ]
    ratios = [pl.col(f"{each}_after") / pl.col(f"{each}_before") for each in ("cpu", "elapsed")]
    ratio = pl.when(changes[0] > changes[1]).then(ratios[0]).otherwise(ratios[1])
    return (
        found.with_columns(ratio=ratio, change=pl.max_horizontal(*changes))
        .sort(-pl.col("change"), "hour", nulls_last=True)
        .select(HOUR_COLUMNS)
    )


def _hours(side: Side) -> pl.DataFrame:
    """Return calls per second, and CPU and elapsed time per call, by hour of the day."""
    calls = side.rows.filter(kind="calls")
    seconds = side.seconds.filter(kind="calls").group_by("bucket").agg(pl.max("seconds"))
    amounts = [
        ordered_sum(pl.col(each)).alias(each)
        for each in ("calls", "cpu", "elapsed", "cpu_of", "elapsed_of")
    ]
    lengths = _by_hour(seconds, side).group_by("hour").agg(ordered_sum(pl.col("seconds")))
    return (
        _by_hour(calls, side)
        .group_by("hour")
        .agg(amounts)
        .join(lengths, on="hour")
        .filter(pl.col("seconds") > 0)
        .select(
            "hour",
            calls=pl.col("calls") / pl.col("seconds"),
            cpu=_ratio("cpu"),
            elapsed=_ratio("elapsed"),
        )
    )


def _ratio(name: str) -> pl.Expr:
    of = pl.col(f"{name}_of")
    return pl.when(of > 0).then(pl.col(name) / of)


def _by_hour(rows: pl.DataFrame, side: Side) -> pl.DataFrame:
    local = pl.col("bucket").dt.offset_by(f"{side.utc_offset}s")
    return rows.filter(pl.col("bucket").is_not_null()).with_columns(hour=local.dt.hour())


def facts_of(found: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the hours for JSON, in the order of the day."""
    number = pl.col(pl.Float64)
    return found.sort("hour").with_columns(pl.when(number.is_finite()).then(number)).to_dicts()
