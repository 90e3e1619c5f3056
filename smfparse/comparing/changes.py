"""Two sets of records side by side: what each call costs before and after, and what is no noise.

Each side is summed up by queue manager, job, queue, verb and interval (`compare.sql`). A figure is
a sum over a sum, over all intervals of a side; `significance` tells by its spread from interval to
interval whether it changed.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from smfparse.comparing.significance import Spread, changed, holm
from smfparse.errors import RequestError
from smfparse.query.catalog import Catalog
from smfparse.reports.running import prepare
from smfparse.reports.sections import EVERYTHING
from smfparse.tables import quoted
from smfparse.vectors import Floats

if TYPE_CHECKING:
    from smfparse.inputs.sources import Inputs

NAMES = ("qmgr", "job", "queue", "verb")
"""What rows can be told apart by."""
COLUMNS = (*NAMES, "figure", "before", "after", "difference", "ratio", "significant")
TOLERANCE = 0.06
"""What IBM's regression tests allow from one run to the next."""
TABLES = ("wtas", "wtid", "wqst", "qjst", "qjst_io", "qmst", "qpst", "qest")
_SIDE = "side"


_TIMES = f"""
    WITH told AS (
        SELECT interval_seconds, interval_start, interval_end, utc_offset, true AS of_task
        FROM {_SIDE}.wtas WHERE NOT wtasaeot
        UNION ALL
        SELECT interval_seconds, interval_start, interval_end, utc_offset, false
        FROM {_SIDE}.qmst
        UNION ALL
        SELECT NULL, interval_start, interval_end, utc_offset, true FROM {_SIDE}.wtas WHERE wtasaeot
    ),
    usual AS (SELECT median(interval_seconds) AS length FROM told GROUP BY of_task)
    SELECT
        (SELECT max(length) FROM usual) AS length,
        (SELECT min(length) FROM usual) AS shortest,
        min(interval_start) FILTER (
            interval_seconds / (SELECT max(length) FROM usual) BETWEEN 0.9 AND 1.1
        ) AS first,
        min(interval_start AT TIME ZONE 'UTC' + to_seconds(utc_offset)) AS began,
        max(interval_end AT TIME ZONE 'UTC' + to_seconds(utc_offset)) AS ended
    FROM told
"""
"""How long intervals are, of tasks or queue managers, and when they were."""
_ALL = 10 * 365 * 86_400
"""Seconds of an interval where none is recorded: all is one."""
_NEVER = dt.datetime.fromtimestamp(0, dt.UTC)


KINDS = {
    "calls": "calls of a name",
    "task": "tasks of a job",
    "log": "log",
    "messages": "messages",
    "pool": "buffer pool",
    "structure": "coupling facility structure",
}
"""What rows of `compare.sql` are of: those of calls and tasks are told apart by what is asked for,
all others by queue manager."""


@dataclass(frozen=True)
class Measure:
    """A figure: a sum over a sum of rows of a kind of `compare.sql`, times a factor.

    name     as rows have it; {part}: a buffer pool or structure
    kind     key of KINDS
    amount   a column
    per      a column, or `seconds` of all intervals of the queue manager, or `commits` of the job
    formula  in IBM's field names
    unit     of the figure
    steady   whether intervals tell of it independently: see `significance.changed`
    """

    name: str
    kind: str
    amount: str
    per: str
    formula: str
    unit: str = ""
    factor: float = 1.0
    steady: bool = False


MEASURES = (
    Measure(
        "cpu_per_second", "calls", "cpu", "seconds", "CPU time of the verb / seconds", "us a second"
    ),
    Measure(
        "cpu_per_call", "calls", "cpu", "calls", "CPU time of the verb / calls", "us", steady=True
    ),
    Measure(
        "elapsed_per_call", "calls", "elapsed", "calls", "elapsed time of the verb / calls", "us"
    ),
    Measure("calls_per_second", "calls", "calls", "seconds", "calls of the verb / seconds"),
    Measure(
        "cpu_per_commit",
        "calls",
        "cpu",
        "commits",
        "CPU time of the verb / WTASCMN of the job",
        "us",
    ),
    Measure(
        "log_wait_per_call",
        "calls",
        "log_wait",
        "calls",
        "(GETJWET + GETJCET) / GETN; likewise PUT, PUT1, SET",
        "us",
    ),
    Measure(
        "page_set_wait_per_call",
        "calls",
        "page_set_wait",
        "calls",
        "GETPSET / GETN; likewise PUT, PUT1",
        "us",
    ),
    Measure(
        "suspended_per_call",
        "calls",
        "suspended",
        "calls",
        "GETSUSET / GETN; likewise OPEN, CLOSE, PUT, PUT1",
        "us",
    ),
    Measure("pages_old_per_second", "task", "pages_old", "seconds", "WTASGPO / seconds"),
    Measure("pages_new_per_second", "task", "pages_new", "seconds", "WTASGPN / seconds"),
    Measure("log_bytes_per_second", "task", "log_bytes", "seconds", "WTASJWB / seconds", "bytes"),
    Measure(
        "log_force_wait", "task", "log_force_elapsed", "log_forces", "WTASJCET / WTASJCN", "us"
    ),
    Measure(
        "log_mb_per_second",
        "log",
        "log_pages",
        "seconds",
        "QJSTIOCI of the busiest copy / 256 / seconds",
        "MB",
        1 / 256,
    ),
    Measure("log_pages_per_io", "log", "all_log_pages", "log_ios", "QJSTIOCI / QJSTIOCOUNT"),
    Measure(
        "log_io_busy",
        "log",
        "log_io_busy",
        "seconds",
        "100 x QJSTIOTOTSUS of the busiest copy / interval",
        "%",
        1e-4,
    ),
    Measure("puts_per_second", "messages", "puts", "seconds", "(QMSTPUT + QMSTPUT1) / seconds"),
    Measure("gets_per_second", "messages", "gets", "seconds", "QMSTGET / seconds"),
    Measure("opens_per_second", "messages", "opens", "seconds", "QMSTOPEN / seconds"),
    Measure(
        "pool_{part}_used",
        "pool",
        "used",
        "buffers",
        "100 x (QPSTNBUF - QPSTCBSL) / QPSTNBUF, at the lowest",
        "%",
        100.0,
    ),
    Measure("pool_{part}_gets_per_second", "pool", "gets", "seconds", "QPSTGETP / seconds"),
    Measure("pool_{part}_reads_per_second", "pool", "reads", "seconds", "QPSTRIO / seconds"),
    Measure("pool_{part}_writes_per_second", "pool", "writes", "seconds", "QPSTWIO / seconds"),
    Measure(
        "pool_{part}_reads_per_get", "pool", "reads", "gets", "100 x QPSTRIO / QPSTGETP", "%", 100.0
    ),
    Measure("pool_{part}_pages_per_write", "pool", "pages_written", "writes", "QPSTTPW / QPSTWIO"),
    Measure("cf_{part}_single_per_second", "structure", "singles", "seconds", "QESTCSEC / seconds"),
    Measure(
        "cf_{part}_single_elapsed",
        "structure",
        "single_elapsed",
        "singles",
        "QESTSSTC / QESTCSEC",
        "us",
    ),
    Measure(
        "cf_{part}_multiple_per_second", "structure", "multiples", "seconds", "QESTCMEC / seconds"
    ),
    Measure(
        "cf_{part}_multiple_elapsed",
        "structure",
        "multiple_elapsed",
        "multiples",
        "QESTMSTC / QESTCMEC",
        "us",
    ),
)
"""In the order in which they stand for a name."""


@dataclass(frozen=True)
class Side:
    """One of the two: sums by name and interval, and how long the intervals were.

    rows     as `compare.sql` has them
    seconds  kind, qmgr, bucket, seconds: how long rows of a kind were recorded; those of tasks are
             of the kind calls
    first    when the first interval began, local time of its system; None: there is none
    last     when the last one ended
    """

    rows: pl.DataFrame
    seconds: pl.DataFrame
    first: dt.datetime | None = None
    last: dt.datetime | None = None

    @property
    def intervals(self) -> int:
        """How many intervals there are."""
        return self.seconds["bucket"].n_unique()

    @property
    def qmgrs(self) -> list[str]:
        """The queue managers, in the order of their names."""
        return sorted(self.seconds["qmgr"].drop_nulls().unique())

    @property
    def calls(self) -> bool:
        """Whether calls are told: whether there is class 3 accounting."""
        return not self.rows.filter(kind="calls").is_empty()

    def total(self, kind: str) -> float:
        """Return the seconds of a kind; those of several queue managers at one time count once."""
        longest = self.seconds.filter(kind=kind).group_by("bucket").agg(pl.max("seconds"))
        return float(longest["seconds"].sum())

    @property
    def cpu_per_second(self) -> float | None:
        """Microseconds of CPU a second in all calls; None where none are told."""
        seconds = self.total("calls")
        return float(self.rows.filter(kind="calls")["cpu"].sum()) / seconds if seconds else None

    def renamed(self, renames: Iterable[Rename]) -> Side:
        """Return it with other names of queue managers, jobs and queues."""
        renames = list(renames)
        names = [
            pl.coalesce(*(each.on(pl.col(name)) for each in renames), name).alias(name)
            for name in ("qmgr", "job", "queue")
        ]
        rows, seconds = self.rows.with_columns(names), self.seconds.with_columns(names[0])
        return replace(self, rows=rows, seconds=seconds)


def absent(before: Side, after: Side) -> str:
    """Return what to say where a side tells no calls."""
    sides = {"before": before, "after": after}
    lacking = [name for name, side in sides.items() if not side.calls]
    return (
        f"no class 3 accounting {' and '.join(lacking)}, so no calls to compare (116 subtype 1: "
        "WTAS, WQST): START TRACE(ACCTG) CLASS(3) makes the queue manager write it"
    )


@dataclass(frozen=True)
class Split:
    """The records of intervals on one side of a local time."""

    at: dt.datetime
    after: bool

    def condition(self) -> str:
        """Return it in SQL. Of an interval its middle counts."""
        half = "(epoch_us(interval_end) - epoch_us(interval_start)) // 2"
        middle = f"interval_start + to_microseconds({half})"
        local = f"({middle}) AT TIME ZONE 'UTC' + to_seconds(utc_offset)"
        sign = ">=" if self.after else "<"
        return f"coalesce({local}, smf_time) {sign} TIMESTAMP {quoted(self.at.isoformat(' '))}"


def measured(inputs: Inputs, split: Split | None = None, interval: int | None = None) -> Side:
    """Sum up the records of `inputs`, or those of them on one side of a time.

    interval  seconds of an interval, not less than they were recorded; None: as they were recorded
    """
    with Catalog(inputs) as catalog:
        prepare(catalog, EVERYTHING, TABLES, {}, ("wtas",))
        catalog.execute(f"CREATE SCHEMA {_SIDE}")
        for table in TABLES:
            where = f" WHERE {split.condition()}" if split else ""
            catalog.execute(
                f"CREATE VIEW {_SIDE}.{table} AS SELECT * FROM sectioned.{table}{where}"
            )
        (times,) = catalog.arrow(_TIMES).to_pylist()
        length = max(interval, times["shortest"] or 0) if interval else times["length"] or _ALL
        catalog.set_variable("bucket_us", round(1e6 * length))
        catalog.set_variable("first_bucket", times["first"] or _NEVER)
        rows = pl.DataFrame(catalog.arrow(_sql()))
    seconds = rows.filter(kind="seconds").select("qmgr", "bucket", "seconds", kind="of_kind")
    others = rows.filter(pl.col("kind") != "seconds").drop("seconds", "of_kind")
    return Side(others, seconds, times["began"], times["ended"])


def _sql() -> str:
    return (resources.files("smfparse.comparing") / "compare.sql").read_text("utf-8")


@dataclass(frozen=True)
class Rename:
    """Names of the first side that are called otherwise on the second: LQ% = SQ%."""

    old: str
    new: str

    @classmethod
    def of(cls, text: str) -> Rename:
        """Return what OLD=NEW says. Raises RequestError where it does not."""
        old, equals, new = (part.strip().replace("*", "%") for part in text.partition("="))
        if not (equals and old and new) or max(old.count("%"), new.count("%")) > 1:
            raise RequestError(
                f"--rename {text}: it is OLD=NEW, names or patterns with one % each: LQ%=SQ%"
            )
        if new.count("%") > old.count("%"):
            raise RequestError(f"--rename {text}: OLD has no % that NEW's could stand for")
        return cls(old, new)

    def on(self, column: pl.Expr) -> pl.Expr:
        """Return what names are called on the second side; null: they are not this one."""
        pattern = f"(?i)^{re.escape(self.old).replace('%', '(.*)')}$"
        new = column.str.replace(pattern, self.new.replace("$", "$$").replace("%", "${1}"))
        return pl.when(column.str.contains(pattern)).then(new)


def check(by: Iterable[str]) -> None:
    """Raise RequestError for what rows cannot be told apart by."""
    for name in by:
        if name not in NAMES:
            raise RequestError(f"--by {name}: it takes {', '.join(NAMES)}")


def compared(
    before: Side,
    after: Side,
    by: Sequence[str] = NAMES,
    renames: Iterable[Rename] = (),
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Return COLUMNS, a row for each name and figure that either side has.

    by         the columns of NAMES that rows are told apart by; the others are empty
    renames    what is called otherwise on the second side
    tolerance  ratio from which on a change counts

    `significant` is null where there are too few intervals to tell, or a side has no such name.
    Significant rows come first, and those that change the CPU time most.
    """
    check(by)
    if tolerance < 0:
        raise RequestError(f"tolerance {tolerance}: a ratio, 0 or more; 0.06 is 6 percent")
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
    others = [pl.lit(None, pl.String).alias(name) for name in NAMES if name not in names]
    return _ordered(_judged(rows.with_columns(others), tolerance))


def _figures(side: Side, by: Sequence[str]) -> pl.DataFrame:
    """Return a row a name and measure: value, variance, intervals, and calls that it comes from."""
    commits = _commits(side, by)
    found: list[pl.DataFrame] = []
    for kind in KINDS:
        if kind == "task" and "job" not in by:
            continue
        own = ["kind", *_names_of(kind, by)]
        sums = _summed(side.rows.filter(kind=kind), own)
        if sums.is_empty() and found:
            continue
        wholes = {"seconds": _seconds(side, kind, by), "commits": commits}
        for number, measure in enumerate(MEASURES):
            if measure.kind == kind:
                values = _measured(sums, own, wholes.get(measure.per), measure)
                found.append(values.with_columns(measure=pl.lit(number)))
    rows = pl.concat(found, how="diagonal")
    return rows if "part" in rows.columns else rows.with_columns(part=pl.lit(None, pl.String))


def _names_of(kind: str, by: Sequence[str]) -> list[str]:
    """Return the columns that tell rows of a kind apart."""
    if kind == "calls":
        return list(by)
    if kind == "task":
        return [name for name in by if name in ("qmgr", "job")]
    return [*(name for name in by if name == "qmgr"), "part"]


def _summed(rows: pl.DataFrame, own: list[str]) -> pl.DataFrame:
    """Return sums by name and interval; null: nothing is told."""
    amount = pl.col(pl.Float64)
    return rows.group_by(*own, "bucket").agg(pl.when(amount.is_not_null().any()).then(amount.sum()))


def _seconds(side: Side, kind: str, by: Sequence[str]) -> pl.DataFrame:
    """Return by interval, and queue manager if that is asked for, how long it was."""
    rows = side.seconds.filter(kind="calls" if kind == "task" else kind)
    own = ["kind", *(name for name in by if name == "qmgr"), "bucket"]
    return rows.with_columns(kind=pl.lit(kind)).group_by(own).agg(per=pl.max("seconds"))


def _commits(side: Side, by: Sequence[str]) -> pl.DataFrame:
    """Return by interval, and queue manager and job if these are asked for, all commits."""
    own = ["kind", *(name for name in by if name in ("qmgr", "job")), "bucket"]
    return side.rows.filter(kind="calls", verb="commit").group_by(own).agg(per=pl.sum("calls"))


def _measured(
    sums: pl.DataFrame, own: list[str], whole: pl.DataFrame | None, measure: Measure
) -> pl.DataFrame:
    """Return a row a name: the figure, and how it varies.

    The variance is that of a ratio of sums, each interval held against the figure without it
    (jackknife).

    whole  what the figure is per, of all intervals, as seconds are also of those in which there was
           nothing of a name; None: a column of the sums tells
    """
    told = sums.filter(pl.col(measure.amount).is_not_null())
    if whole is None:
        whole = told.select(*own, "bucket", per=pl.col(measure.per).fill_null(0))
    on = [name for name in whole.columns if name not in ("bucket", "per")]
    per, total = pl.col("per"), pl.col("total")
    without = pl.when(per < total).then((total / (total - per)).sqrt()).otherwise(0.0)
    totals = (
        whole.with_columns(total=per.sum().over(on))
        .filter(total > 0)
        .group_by(on)
        .agg(
            total=pl.first("total"),
            intervals=pl.first("total") ** 2 / (per**2).sum(),
            square=((per * without) ** 2).sum(),
        )
    )
    amount, rate, square = pl.col("amount"), pl.first("rate"), pl.first("square")
    return (
        told.select(*own, "bucket", amount=measure.amount, busy=pl.col("calls").fill_null(0))
        .join(whole, on=[*on, "bucket"], how="left", nulls_equal=True)
        .with_columns(per.fill_null(0))
        .join(totals, on=on, nulls_equal=True)
        .with_columns(rate=amount.sum().over(own) / total)
        .group_by(own)
        .agg(
            value=rate * measure.factor,
            intervals=pl.first("intervals"),
            busy=pl.sum("busy"),
            variance=pl.first("intervals")
            / amount.sum() ** 2
            * (
                (((amount - pl.col("rate") * per) * without) ** 2).sum()
                + rate**2 * (square - ((per * without) ** 2).sum())
            ),
        )
    )


def _judged(rows: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Add difference, ratio, and whether the change is significant."""
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.log(_floats(rows, "value_after") / _floats(rows, "value"))
    chance = np.full(rows.height, np.nan)
    families = rows.with_row_index("place").group_by("measure", "verb").agg("place")
    for measure, place in families.select("measure", "place").iter_rows():
        alike = rows[place]
        busy = np.nan_to_num(_floats(alike, "busy")) + np.nan_to_num(_floats(alike, "busy_after"))
        before, after = _spread(alike, ""), _spread(alike, "_after")
        steady = MEASURES[measure].steady
        chance[place] = changed(change[place], before, after, busy, tolerance, steady)
    significant = pl.Series("significant", holm(chance))
    told = pl.Series(np.isfinite(chance))
    return rows.with_columns(
        before="value",
        after="value_after",
        difference=pl.col("value_after") - pl.col("value"),
        ratio=pl.when(pl.col("value") != 0).then(pl.col("value_after") / pl.col("value")),
        significant=pl.when(told).then(significant),
    )


def _floats(rows: pl.DataFrame, column: str) -> Floats:
    found: Floats = rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return found


def _spread(rows: pl.DataFrame, side: str) -> Spread:
    known = np.nan_to_num(_floats(rows, f"variance{side}"), posinf=0.0)
    return Spread(known, np.nan_to_num(_floats(rows, f"intervals{side}")))


def _ordered(rows: pl.DataFrame) -> pl.DataFrame:
    """Return COLUMNS in order, without what is nothing on both sides."""
    part = pl.col("part").fill_null("").str.strip_chars()
    figure = pl.col("measure").replace_strict(
        {number: each.name for number, each in enumerate(MEASURES)}, return_dtype=pl.String
    )
    before, after = pl.col("before").fill_null(0), pl.col("after").fill_null(0)
    effects = rows.filter(measure=0).select(*NAMES, effect=(after - before).abs())
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
