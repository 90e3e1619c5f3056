"""What a selection takes out of all rows, worked out from the decoded tables in another way."""

from __future__ import annotations

import datetime as dt
import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import polars as pl
from hypothesis import strategies as st

from smfparse.tables import RECORD

TASK_TABLES = ("wtid", "wtas", "wtas_latch", "wtas_cf")
QUEUE_TABLES = ("wqst", "wqst_cf")
NAMED = (*TASK_TABLES, *QUEUE_TABLES, "qwac", "qmac", "qqst", "qcst", RECORD)
"""Every table that can have rows."""
Rows: TypeAlias = dict[str, pl.DataFrame]
"""The rows of every table."""
QMGRS = ("MQ01", "mq02", "CSQ", "Q.1'", "")
QMGR_PATTERNS = ("MQ01", "MQ*", "mq0?", "*", "C?Q", "Q.?'", "*1*", "ZZ")
DAYS = (dt.date(2025, 12, 31), dt.date(2026, 1, 1), dt.date(2026, 3, 4), dt.date(1969, 12, 31))
CLOCKS = (
    dt.time(0, 0),
    dt.time(8, 0),
    dt.time(8, 0, 59, 990_000),
    dt.time(8, 1),
    dt.time(23, 59, 59, 990_000),
)
ODD_DATES = ("0126000F", "0126366C", "0126999F", "0200001F")
KINDS = ((115, None), (115, (2, 2)), (115, (5, 215)), (116, (1, 1)), (116, (2, 9)), (2, None))
DAY = dt.timedelta(days=1)
MINUTE = dt.timedelta(minutes=1)
MICROSECOND = dt.timedelta(microseconds=1)


LENGTHS = (1e-6, 2e-6, 0.5, 1800, 1800.000001, 86_400, 90_000, 90_000.000001, 1e6, 9e12)
"""Seconds of intervals, believable and not."""
LATE = (0, 20_000, -20_000, 3_600_000_000, -3_600_000_000, 7_190_000_000, 7_210_000_000, 10**13)
"""Microseconds between the end of an interval and its SMF time."""


def counted(row: Mapping[str, Any]) -> dt.datetime | None:
    """Return when a row's record counts, by the rule: in plain Python, and exact.

    A record counts at the middle of its interval, but no earlier than half an hour before its end;
    without interval at its SMF time. An interval is believed if it ends within two hours of the SMF
    time.
    """
    taken: dt.datetime | None = row["smf_time"]
    start, seconds, offset = (
        row[each] for each in ("interval_start", "interval_seconds", "utc_offset")
    )
    if None in (taken, start, seconds, offset):
        return taken
    if not 0 < seconds <= 1e9:
        return taken
    length = round(Fraction(seconds) * 1_000_000) * MICROSECOND
    begin: dt.datetime = start.replace(tzinfo=None) + dt.timedelta(seconds=offset)
    if abs(begin + length - row["smf_time"]) > dt.timedelta(hours=2):
        return taken
    return max(begin + length // 2, begin + length - dt.timedelta(minutes=30))


def local_times() -> st.SearchStrategy[dt.datetime]:
    return st.builds(dt.datetime.combine, st.sampled_from(DAYS), st.sampled_from(CLOCKS))


class Asked:
    """A selection, drawn; its texts for the code under test, and what it means for the oracle."""

    def __init__(self, data: st.DataObject) -> None:
        draw = data.draw
        some = st.lists(st.sampled_from(QMGR_PATTERNS), max_size=2)
        self.qmgrs = draw(some)
        self.systems = draw(st.lists(st.sampled_from(["SYS1", "*2", "SYS?"]), max_size=1))
        self.start, self.end = (
            draw(st.none() | st.tuples(local_times(), st.booleans())) for _ in "12"
        )
        if self.start and self.end and self.end[0] < self.start[0]:
            self.start, self.end = self.end, self.start
        clock = st.none() | st.sampled_from(CLOCKS)
        self.opens, self.closes = draw(clock), draw(clock)
        self.kinds = draw(st.lists(st.sampled_from(KINDS), max_size=2))
        self.smf_time = draw(st.booleans())

    def options(self) -> dict[str, Any]:
        """Return what `Selection.of` takes."""
        ends = []
        for moment, clock in ((self.start, self.opens), (self.end, self.closes)):
            day = (
                []
                if moment is None
                else [f"{moment[0]:{'%Y%j' if moment[1] else '%Y-%m-%dT%H:%M'}}"]
            )
            ends.append(day + ([] if clock is None else [f"{clock:%H%M}"]))
        kinds = [
            str(kind) if span is None else f"{kind}({span[0]}:{span[1]})"
            for kind, span in self.kinds
        ]
        return {
            "qmgr": self.qmgrs,
            "system": self.systems,
            "since": ends[0],
            "until": ends[1],
            "type": kinds,
            "smf_time": self.smf_time,
        }

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Whether a row of `record` is asked for."""
        return all(self._conditions(row))

    def _conditions(self, row: Mapping[str, Any]) -> Iterator[bool]:
        for column, patterns in (("qmgr", self.qmgrs), ("system", self.systems)):
            name = row[column]
            if patterns:
                yield name is not None and any(
                    fnmatch.fnmatchcase(name.upper(), pattern.upper()) for pattern in patterns
                )
        if self.start or self.end or self.opens or self.closes:
            moment = row["smf_time"] if self.smf_time else counted(row)
            yield moment is not None and self._at(moment)
        if self.kinds:
            yield any(
                row["type"] == kind
                and (span is None or row["subtype"] in range(span[0], span[1] + 1))
                for kind, span in self.kinds
            )

    def _at(self, moment: dt.datetime) -> bool:
        midnight = dt.time()
        found = True
        if self.start:
            start, day = self.start
            found &= moment >= (dt.datetime.combine(start, midnight) if day else _minute(start))
        if self.end:
            end, day = self.end
            last = dt.datetime.combine(end, midnight) + DAY if day else _minute(end) + MINUTE
            found &= moment < last
        minute = moment.hour * 60 + moment.minute
        opens = 0 if self.opens is None else self.opens.hour * 60 + self.opens.minute
        closes = 24 * 60 if self.closes is None else self.closes.hour * 60 + self.closes.minute
        if opens <= closes:
            return found and opens <= minute <= closes
        return found and (minute >= opens or minute <= closes)


def _minute(moment: dt.datetime) -> dt.datetime:
    return moment.replace(second=0, microsecond=0)


class Oracle:
    """What a selection takes out of all rows, by polars."""

    def __init__(self, whole: Rows) -> None:
        self.whole = {
            table: frame.with_columns(
                task=pl.coalesce("task_record_no", "record_no")
                if "task_record_no" in frame.columns
                else "record_no"
            )
            for table, frame in whole.items()
        }

    def rows(
        self,
        takes: Callable[[Mapping[str, Any]], bool] | None = None,
        job: Sequence[str] = (),
        transaction: Sequence[str] = (),
        queue: Sequence[str] = (),
        channel: Sequence[str] = (),
    ) -> Rows:
        """Return the rows of each table; `takes`: whether a row of `record` is asked for."""
        found = dict(self.whole)
        if job:
            self._keep(found, self._by_job(job))
        if transaction:
            self._keep(found, self._by_transaction(transaction))
        if queue:
            self._keep(found, self._by_queue(queue))
        if channel:
            self._keep(found, self._by_channel(channel))
        if job or transaction or queue or channel:
            left = [found[each].select("source", "record_no") for each in NAMED if each != RECORD]
            found[RECORD] = self._semi(self.whole[RECORD], pl.concat(left), "record_no")
        if takes:
            record = self.whole[RECORD]
            taken = record.filter([takes(row) for row in record.iter_rows(named=True)])
            found = {table: self._semi(frame, taken, "record_no") for table, frame in found.items()}
        return {table: frame.drop("task") for table, frame in found.items()}

    def _keep(self, found: Rows, kept: Rows) -> None:
        for table, frame in found.items():
            some = kept.get(table)
            found[table] = (
                frame.clear() if some is None else self._semi(frame, some, "record_no", "block_no")
            )

    def _semi(self, frame: pl.DataFrame, other: pl.DataFrame, *on: str) -> pl.DataFrame:
        columns = ["source", *on]
        return frame.filter(
            pl.struct(columns).is_in(other.select(pl.struct(columns)).to_series().implode())
        )

    def _like(self, table: str, patterns: Sequence[str], *columns: str) -> pl.DataFrame:
        def hit(row: Mapping[str, Any]) -> bool:
            return any(
                row[column] and fnmatch.fnmatchcase(row[column].upper(), pattern.upper())
                for column in columns
                for text in patterns
                for pattern in text.split(",")
            )

        frame = self.whole[table]
        return frame.filter([hit(row) for row in frame.iter_rows(named=True)])

    def _records(self, tables: Iterable[str], named: pl.DataFrame, on: str) -> Rows:
        return {table: self._semi(self.whole[table], named, on) for table in tables}

    def _by_job(self, patterns: Sequence[str]) -> Rows:
        tasks = self._like("wtid", patterns, "wtidccn")
        first = self._like("qmac", patterns, "qwhccn")
        return self._records([*TASK_TABLES, *QUEUE_TABLES], tasks, "record_no") | self._records(
            ["qwac", "qmac"], first, "record_no"
        )

    def _by_transaction(self, patterns: Sequence[str]) -> Rows:
        tasks = self._like("wtid", patterns, "transaction", "psb")
        first = self._like("qmac", patterns, "transaction", "psb")
        return self._records([*TASK_TABLES, *QUEUE_TABLES], tasks, "record_no") | self._records(
            ["qwac", "qmac"], first, "record_no"
        )

    def _by_queue(self, patterns: Sequence[str]) -> Rows:
        used = self._like("wqst", patterns, "objname", "basename")
        return self._records(TASK_TABLES, used, "task") | {
            "wqst": used,
            "wqst_cf": self._semi(self.whole["wqst_cf"], used, "record_no", "block_no"),
            "qqst": self._like("qqst", patterns, "qqstqnam"),
        }

    def _by_channel(self, patterns: Sequence[str]) -> Rows:
        tasks = self._like("wtid", patterns, "wtidchl")
        return self._records([*TASK_TABLES, *QUEUE_TABLES], tasks, "record_no") | {
            "qcst": self._like("qcst", patterns, "qcstchnm")
        }
