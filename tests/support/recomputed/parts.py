"""Decoded tables in sections of all queue managers, and rows compared with those of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl

from smfparse import reports
from smfparse.inputs import Inputs
from smfparse.reports import Sections
from smfparse.tables import RECORD
from tests.support.oracle import TASK_TABLES, counted

Row: TypeAlias = dict[str, Any]
Lines: TypeAlias = tuple[str, Sequence[str], Sequence[Row]]
"""A kind of line, the columns that tell its rows apart, and its rows, each with its section."""


class Frames(dict[str, pl.DataFrame]):
    """Tables of inputs, each decoded when it is first asked for."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__()
        self._inputs = inputs

    def __missing__(self, table: str) -> pl.DataFrame:
        self[table] = pl.DataFrame(self._inputs.arrow(table))
        return self[table]


class Tables:
    """Tables of inputs, each row with its `section`: the interval of the clock, or True for all.

    of_queues  whether they have the calls on some queues only, and so not all that tasks did
    """

    def __init__(
        self, frames: Mapping[str, pl.DataFrame], sections: Sections, of_queues: bool = False
    ) -> None:
        self._frames, self._seconds, self.of_queues = frames, sections.seconds, of_queues

    def __getitem__(self, table: str) -> pl.DataFrame:
        frame = self._frames[table]
        of_statistics = pl.col("type") == 115 if table == RECORD else pl.lit(False)
        of_task = table in (*TASK_TABLES, "wqst", "wqst_cf")
        number = pl.coalesce("task_record_no", "record_no") if of_task else pl.col("record_no")
        frame = frame.with_columns(
            task_record=number,
            counted=pl.Series(_counted(frame, of_statistics), dtype=pl.Datetime("us")),
        )
        interval = pl.col("counted").dt.truncate(f"{self._seconds or 1}s")
        return frame.with_columns(section=interval if self._seconds else pl.lit(True))


def _counted(frame: pl.DataFrame, of_statistics: pl.Expr) -> list[Any]:
    """Return when each row counts; records of MQ 7 hold no interval, so at their SMF time."""
    columns = ["smf_time", "interval_start", "interval_seconds", "utc_offset"]
    release = pl.col("mq_version").str.extract("^([0-9]+)").cast(pl.Int64)
    derived = (of_statistics & (release < 8)).fill_null(False)
    told = frame.select(*columns, derived=derived)
    return [
        row[0] if row[-1] else counted(dict(zip(columns, row, strict=False)))
        for row in told.iter_rows()
    ]


def check(report: str, lines: Iterable[Lines], rows: Sequence[Mapping[str, Any]]) -> int:
    """Compare the rows of some kinds; return how many numbers were not zero."""
    figures = {each.name for each in reports.report(report).figures}
    numbers = 0
    for line, keys, expected in lines:
        found = {
            (*row["section"].values(), *(row[key] for key in keys)): row
            for row in rows
            if row["line"] == line
        }
        wanted = {(row["section"], *(row[key] for key in keys)): row for row in expected}
        assert found.keys() == wanted.keys(), line
        for key, row in wanted.items():
            for name in figures & row.keys():
                assert same(found[key][name], row[name]), (key, name, found[key][name], row[name])
                numbers += isinstance(row[name], int | float) and bool(row[name])
    return numbers


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, float) and found is not None:
        return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-12)
    return bool(found == wanted)
