"""The two sides of a comparison: sums by queue manager, job, queue, verb, interval and hour."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from smfparse.errors import RequestError
from smfparse.metrics.measures import quoted
from smfparse.query.catalog import Catalog
from smfparse.rendering.figures import plural
from smfparse.reports.running import prepare
from smfparse.reports.sections import ONE_SECTION
from smfparse.summarizing.compare_figures import compare_sql, sql_of

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs

SIDE_TABLES = ("wtas", "wtid", "wqst", "qjst", "qjst_io", "qmst", "qpst", "qest", "qcst")
_BUCKET_OF = """
    CREATE MACRO {side}.bucket_of(started, ended) AS time_bucket(
        to_microseconds({bucket_us}),
        started + to_microseconds((epoch_us(ended) - epoch_us(started)) // 2), {first}
    )
"""
"""SQL of a macro: start (UTC) of the compared interval with the middle of a recorded interval."""
_NEVER = dt.datetime.fromtimestamp(0, dt.UTC)
_MOMENT = dt.timedelta(seconds=0.5)
"""Maximum time from the end of an interval to the records of its tasks."""
_ALL = 10 * 365 * 86_400
"""Length in seconds of the only interval, if no intervals are recorded."""


@dataclass(frozen=True)
class Side:
    """One side: sums by name and interval, and the length of the intervals.

    rows        sums from `compare.sql`, without the rows of the kind `seconds`
    seconds     columns kind, qmgr, bucket, seconds: recorded seconds in an interval, by kind of
                row. Sums of calls and of tasks are divided by the seconds of the kind `calls`: the
                statistics intervals in which class 3 was on. Without statistics, they are the
                seconds that tasks cover, as in the kind `tasks`
    utc_offset  local time of the system minus UTC at the end of the side, seconds
    first       start of the first statistics interval, local time; without statistics, of the first
                task interval; None: no interval
    last        end of the last such interval, local time; None: no interval
    spanning    number of task records that began before the split and count after it
    left_out    number of excluded intervals, by kind (first, stub)
    """

    rows: pl.DataFrame
    seconds: pl.DataFrame
    utc_offset: int = 0
    first: dt.datetime | None = None
    last: dt.datetime | None = None
    spanning: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def intervals(self) -> int:
        """Number of compared intervals with data."""
        return self.seconds.filter(pl.col("kind") != "tasks")["bucket"].n_unique()

    @property
    def qmgrs(self) -> list[str]:
        """Names of the queue managers, in order."""
        return sorted(self.seconds["qmgr"].drop_nulls().unique())

    @property
    def calls(self) -> bool:
        """Whether the side contains calls: class 3 accounting."""
        return not self.rows.filter(kind="calls").is_empty()

    def total(self, kind: str) -> float:
        """Return the recorded seconds of a kind. Of several queue managers, the longest counts."""
        longest = self.seconds.filter(kind=kind).group_by("bucket").agg(pl.max("seconds"))
        return float(longest.select(ordered_sum(pl.col("seconds"))).item())

    @property
    def facts(self) -> dict[str, Any]:
        """Return facts about the side for JSON: local times, seconds by kind."""
        return {
            "from": self.first and self.first.isoformat(),
            "to": self.last and self.last.isoformat(),
            "intervals": self.intervals,
            "qmgrs": self.qmgrs,
            "class_3_seconds": self.total("calls"),
            "task_seconds": self.total("tasks"),
            "statistics_seconds": self.total("message_manager"),
            "cpu_per_second": self.cpu_per_second,
            "left_out": dict(self.left_out),
        }

    @property
    def cpu_per_second(self) -> float | None:
        """Microseconds of CPU per second in all calls; None: no calls."""
        seconds = self.total("calls")
        cpu = self.rows.filter(kind="calls").select(ordered_sum(pl.col("cpu"))).item()
        return float(cpu) / seconds if seconds else None

    def renamed(self, renames: Iterable[Rename]) -> Side:
        """Return the side with queue managers, jobs and queues renamed."""
        renames = list(renames)
        names = [
            pl.coalesce(*(each.on(pl.col(name)) for each in renames), name).alias(name)
            for name in ("qmgr", "job", "queue")
        ]
        rows, seconds = self.rows.with_columns(names), self.seconds.with_columns(names[0])
        return replace(self, rows=rows, seconds=seconds)


def ordered_sum(amount: pl.Expr) -> pl.Expr:
    """Return the sum of doubles, which has the same last digit for any order of rows."""
    return amount.sort().sum()


_UNIT = 2.0**60
"""Fixed-point scale: amounts are multiplied by it and added as integers of 128 bits."""


def summed(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the sums of all amounts by names; null if all amounts are null.

    The sums have the same last digit for any order of rows. `ordered_sum` is slower for many
    groups, because it sorts each group.
    """
    whole = pl.col(pl.Int128)
    return (
        rows.with_columns((pl.col(pl.Float64) * _UNIT).round().cast(pl.Int128, strict=False))
        .group_by(names)
        .agg(pl.when(whole.count() > 0).then(whole.sum()))
        .with_columns(whole.cast(pl.Float64) / _UNIT)
    )


OF_QUEUES = (
    "queues are selected: calls on these only, without commits, other calls, pages and log of tasks"
)
"""Message if rows are selected by queue."""


def spanning(after: Side) -> str:
    """Return the message for task records that began before the split and count after it."""
    return (
        f"{plural(after.spanning, 'task record')} began before the split and count after it, where "
        "most of their time is"
    )


def left_out(before: Side, after: Side) -> Iterator[str]:
    """Yield a message for each side with excluded intervals."""
    for name, side in {"before": before, "after": after}.items():
        if side.left_out:
            number = sum(side.left_out.values())
            yield (
                f"{name}: {plural(number, 'interval')} excluded, with a start of the queue manager "
                f"or time before the trace: {shown_left_out(side)}"
            )


def shown_left_out(side: Side) -> str:
    """Return the text of the numbers of excluded intervals of a side, by kind; '': none."""
    return ", ".join(f"{number:,} {mark}" for mark, number in side.left_out.items())


def absent(before: Side, after: Side) -> str:
    """Return the message for sides without calls."""
    sides = {"before": before, "after": after}
    lacking = [name for name, side in sides.items() if not side.calls]
    return (
        f"no class 3 accounting {' and '.join(lacking)}, so no calls to compare (116 subtype 1: "
        "WTAS, WQST): START TRACE(ACCTG) CLASS(3) writes the data"
    )


@dataclass(frozen=True)
class _Split:
    """The records before a local time `at`, or from this time on (`after`)."""

    at: dt.datetime
    after: bool

    @property
    def moment(self) -> str:
        """The time of the split in SQL."""
        return f"TIMESTAMP {quoted(self.at.isoformat(' '))}"

    @property
    def condition(self) -> str:
        """The SQL condition for the records of this side."""
        return f"counted_at {'>=' if self.after else '<'} {self.moment}"

    def has(self, counted_at: dt.datetime | None) -> bool:
        """Whether a record that counts at this local time is on this side; None: on no side."""
        return counted_at is not None and (counted_at >= self.at) == self.after


def measured(inputs: Inputs, interval: int | None = None) -> Side:
    """Return all records of `inputs` as one side.

    interval  length of an interval, seconds, at least as recorded; None: the recorded length
    """
    (found,) = measured_apart(inputs, None, interval)
    return found


def measured_apart(inputs: Inputs, at: dt.datetime | None, interval: int | None) -> list[Side]:
    """Return the records of `inputs` before and after the local time `at`; None: as one side.

    The inputs are read twice, for the times and for the sums. They are read once more if intervals
    are excluded, because the times change.
    """
    splits = [_Split(at, after=after) for after in (False, True)] if at else [None]
    sides = {f"side_{number}": split for number, split in enumerate(splits)}
    with Catalog(inputs) as catalog:
        catalog.set_variable("of_queues", catalog.of_queues)
        queries = " ".join([sql_of("odd"), sql_of("times"), compare_sql("side", 0, 0)])
        prepare(catalog, ONE_SECTION, SIDE_TABLES, {}, queries, {})
        of_times = [_make_views(catalog, *each, []) for each in sides.items()]
        odd, *times = _asked(catalog, [sql_of("odd"), *of_times])
        if odd:
            of_times = [_make_views(catalog, *each, odd) for each in sides.items()]
            times = _asked(catalog, of_times)
        rows = [row for (row,) in times]
        asked = [_summing(catalog, *each, interval) for each in zip(sides, rows, strict=True)]
        sums = [*map(pl.DataFrame, catalog.arrows_of_filled([], asked))]
    return [_side(*each, odd) for each in zip(sums, rows, splits, strict=True)]


def _asked(catalog: Catalog, queries: Sequence[str]) -> list[list[dict[str, Any]]]:
    return [each.to_pylist() for each in catalog.arrows_of_filled([], queries)]


def _make_views(
    catalog: Catalog, side: str, split: _Split | None, odd: Sequence[Mapping[str, Any]]
) -> str:
    """Make a schema with the rows of a side, and return the query for the times of the side.

    split  the records of the side; None: all records
    odd    excluded intervals, as rows of `odd.sql`
    """
    chosen = " AND ".join([split.condition if split else "TRUE", *map(_outside, odd)])
    catalog.execute(f"CREATE SCHEMA IF NOT EXISTS {side}")
    for table in SIDE_TABLES:
        rows = f"SELECT * FROM sectioned.{table} WHERE {chosen}"
        catalog.execute(f"CREATE OR REPLACE VIEW {side}.{table} AS {rows}")
    split_at = split.moment if split and split.after else "NULL"
    return sql_of("times").format(side=side, split_at=split_at)


def _summing(catalog: Catalog, side: str, times: Mapping[str, Any], interval: int | None) -> str:
    """Create the macro `bucket_of` of a side; return the query for the sums of the side."""
    recorded = times["length"] or _ALL
    length = round(1e6 * (max(interval, times["shortest"] or 0) if interval else recorded))
    first = _in_sql(times["first"] or _NEVER)
    catalog.execute(_BUCKET_OF.format(side=side, bucket_us=length, first=first))
    return compare_sql(side, length, round(1e6 * recorded))


def _side(
    sums: pl.DataFrame,
    times: Mapping[str, Any],
    split: _Split | None,
    odd: Sequence[Mapping[str, Any]],
) -> Side:
    seconds = sums.filter(kind="seconds").select("qmgr", "bucket", "seconds", kind="of_kind")
    others = sums.filter(pl.col("kind") != "seconds").drop("seconds", "of_kind")
    here = (each["mark"] for each in odd if not split or split.has(each["counted_at"]))
    return Side(
        others,
        seconds,
        times["utc_offset"] or 0,
        times["began"],
        times["ended"],
        times["spanning"],
        Counter(here),
    )


def _outside(odd: Mapping[str, Any]) -> str:
    """Return the SQL condition that excludes an interval, and the tasks that ended in it."""
    names = " AND ".join(
        f"{name} IS NOT DISTINCT FROM {'NULL' if odd[name] is None else quoted(odd[name])}"
        for name in ("system", "qmgr")
    )
    start, end = (_in_sql(odd["interval_start"]), _in_sql(odd["interval_end"] + _MOMENT))
    times = f"(interval_end > {start} OR interval_start = {start}) AND interval_end <= {end}"
    return f"NOT coalesce({names} AND {times}, FALSE)"


def _in_sql(moment: dt.datetime) -> str:
    return f"TIMESTAMPTZ {quoted(moment.isoformat())}"


@dataclass(frozen=True)
class Rename:
    """A change of names: a pattern on the first side, and the names on the second: LQ%=SQ%."""

    old: str
    new: str

    @classmethod
    def of(cls, text: str) -> Rename:
        """Return the rename from a text OLD=NEW. Raises RequestError for any other text."""
        old, equals, new = (part.strip().replace("*", "%") for part in text.partition("="))
        if not (equals and old and new) or max(old.count("%"), new.count("%")) > 1:
            raise RequestError(
                f"renames={text}: expected OLD=NEW; give names, or patterns with one %: LQ%=SQ%",
                "renames",
            )
        if new.count("%") > old.count("%"):
            raise RequestError(
                f"renames={text}: NEW has a % and OLD has none; write one in OLD", "renames"
            )
        return cls(old, new)

    def on(self, column: pl.Expr) -> pl.Expr:
        """Return the new names of a column's names that match `old`; null: no match."""
        pattern = f"(?i)^{re.escape(self.old).replace('%', '(.*)')}$"
        new = column.str.replace(pattern, self.new.replace("$", "$$").replace("%", "${1}"))
        return pl.when(column.str.contains(pattern)).then(new)


HOUR_COLUMNS = (
    *("hour", "calls_before", "calls_after", "cpu_before", "cpu_after"),
    *("elapsed_before", "elapsed_after", "ratio"),
)


def hours(before: Side, after: Side) -> pl.DataFrame:
    """Return a row of HOUR_COLUMNS for each hour of the day, local time, with data on both sides.

    Calls are per second; CPU and elapsed time are microseconds per call. `ratio` is after / before,
    of CPU or elapsed time, whichever changed more. The hour with the largest change comes first.
    The same hour of several days is one row.
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
    """Return the rows of `hours` for JSON, in the order of the day."""
    number = pl.col(pl.Float64)
    return found.sort("hour").with_columns(pl.when(number.is_finite()).then(number)).to_dicts()
