"""What a selection takes out of all rows, worked out from the decoded tables in another way."""

from __future__ import annotations

import datetime as dt
import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import polars as pl
from hypothesis import strategies as st

from smfparse.decoding.dictionary import RECORD

TASK_TABLES = ("wtid", "wtas", "wtas_latch", "wtas_cf")
QUEUE_TABLES = ("wqst", "wqst_cf")
NAMED = (*TASK_TABLES, *QUEUE_TABLES, "qwac", "qmac", "qqst", "qcst", RECORD)
"""Every table that can have rows."""
Rows: TypeAlias = dict[str, pl.DataFrame]
"""The rows of every table."""
QMGRS = ("MQ01", "mq02", "CSQ", "Q.1'", "")
QMGR_PATTERNS = ("MQ01", "MQ*", "mq0?", "*", "C?Q", "Q.?'", "*1*", "ZZ")
DAYS = (dt.date(2025, 12, 31), dt.date(2026, 1, 1), dt.date(2026, 3, 4), dt.date(1969, 12, 31))
_CLOCKS = "00:00 08:00 08:00:59.990 08:01 23:59:59.990"
CLOCKS = tuple(map(dt.time.fromisoformat, _CLOCKS.split()))
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
    names = ("interval_start", "interval_seconds", "utc_offset")
    start, seconds, offset = (row[each] for each in names)
    if None in (taken, start, seconds, offset) or not 0 < seconds <= 1e9:
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
        self.qmgrs = draw(st.lists(st.sampled_from(QMGR_PATTERNS), max_size=2))
        self.systems = draw(st.lists(st.sampled_from(["SYS1", "*2", "SYS?"]), max_size=1))
        moments = st.none() | st.tuples(local_times(), st.booleans())
        self.start, self.end = draw(moments), draw(moments)
        if self.start and self.end and self.end[0] < self.start[0]:
            self.start, self.end = self.end, self.start
        clock = st.none() | st.sampled_from(CLOCKS)
        self.opens, self.closes = draw(clock), draw(clock)
        self.kinds = draw(st.lists(st.sampled_from(KINDS), max_size=2))
        self.smf_time = draw(st.booleans())

    def options(self) -> dict[str, Any]:
        ends = []
        for moment, clock in ((self.start, self.opens), (self.end, self.closes)):
            forms = {True: "%Y%j", False: "%Y-%m-%dT%H:%M"}
            day = [f"{moment[0]:{forms[moment[1]]}}"] if moment else []
            ends.append(day + ([] if clock is None else [f"{clock:%H%M}"]))
        kinds = [f"{kind}({span[0]}:{span[1]})" if span else str(kind) for kind, span in self.kinds]
        found = {"qmgr": self.qmgrs, "system": self.systems, "type": kinds}
        return found | {"since": ends[0], "until": ends[1], "smf_time": self.smf_time}

    def takes(self, row: Mapping[str, Any]) -> bool:
        return all(self._conditions(row))

    def _conditions(self, row: Mapping[str, Any]) -> Iterator[bool]:
        for column, patterns in (("qmgr", self.qmgrs), ("system", self.systems)):
            if patterns:
                yield _like(row[column], patterns)
        if self.start or self.end or self.opens or self.closes:
            moment = row["smf_time"] if self.smf_time else counted(row)
            yield moment is not None and self._at(moment)
        if self.kinds:
            yield any(
                row["type"] == kind and (not span or row["subtype"] in range(span[0], span[1] + 1))
                for kind, span in self.kinds
            )

    def _at(self, moment: dt.datetime) -> bool:
        found = True
        if self.start:
            found &= moment >= _floor(*self.start)
        if self.end:
            found &= moment < _floor(*self.end) + (DAY if self.end[1] else MINUTE)
        opens, closes = self.opens or dt.time(), self.closes or dt.time.max
        times = [each.replace(second=0, microsecond=0) for each in (opens, moment.time(), closes)]
        opens, minute, closes = times
        if opens <= closes:
            return found and opens <= minute <= closes
        return found and (minute >= opens or minute <= closes)


def _floor(moment: dt.datetime, day: bool) -> dt.datetime:
    """Return the begin of the day or of the minute."""
    moment = moment.replace(second=0, microsecond=0)
    return moment.replace(hour=0, minute=0) if day else moment


def _like(name: str | None, patterns: Iterable[str]) -> bool:
    upper = (name or "").upper()
    return name is not None and any(fnmatch.fnmatchcase(upper, each.upper()) for each in patterns)


class Oracle:
    """What a selection takes out of all rows, by polars."""

    def __init__(self, whole: Rows) -> None:
        own = pl.col("record_no")
        task = pl.coalesce("task_record_no", own)
        self.whole = {
            name: each.with_columns(task=task if "task_record_no" in each.columns else own)
            for name, each in whole.items()
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
            self._keep(found, self._of_tasks(job, "wtidccn", "qwhccn"))
        if transaction:
            self._keep(found, self._of_tasks(transaction, "transaction psb", "transaction psb"))
        if queue:
            self._keep(found, self._by_queue(queue))
        if channel:
            kept = self._of_tasks(channel, "wtidchl", "")
            self._keep(found, kept | {"qcst": self._like("qcst", channel, "qcstchnm")})
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
            keys = "record_no", "block_no"
            found[table] = self._semi(frame, kept[table], *keys) if table in kept else frame.clear()

    def _semi(self, frame: pl.DataFrame, other: pl.DataFrame, *on: str) -> pl.DataFrame:
        key = pl.struct(["source", *on])
        return frame.filter(key.is_in(other.select(key).to_series().implode()))

    def _like(self, table: str, patterns: Sequence[str], columns: str) -> pl.DataFrame:
        some = [pattern for text in patterns for pattern in text.split(",")]
        frame, names = self.whole[table], columns.split()
        rows = frame.iter_rows(named=True)
        return frame.filter([any(_like(row[each] or None, some) for each in names) for row in rows])

    def _of_tasks(self, patterns: Sequence[str], columns: str, class_1: str) -> Rows:
        """Return the rows of tasks by columns of WTID, and of connections by those of QMAC."""
        found = dict.fromkeys([*TASK_TABLES, *QUEUE_TABLES], self._like("wtid", patterns, columns))
        found |= dict.fromkeys(["qwac", "qmac"], self._like("qmac", patterns, class_1))
        return {table: self._semi(self.whole[table], found[table], "record_no") for table in found}

    def _by_queue(self, patterns: Sequence[str]) -> Rows:
        used = self._like("wqst", patterns, "objname basename")
        tasks = {table: self._semi(self.whole[table], used, "task") for table in TASK_TABLES}
        return tasks | {
            "wqst": used,
            "wqst_cf": self._semi(self.whole["wqst_cf"], used, "record_no", "block_no"),
            "qqst": self._like("qqst", patterns, "qqstqnam"),
        }
