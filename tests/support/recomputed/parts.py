"""Tables in sections, and rows compared with those of a report."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from smfparse.inputs import Inputs
from smfparse.reports import Sections
from smfparse.tables import RECORD
from tests.support.oracle import counted

TASK_TABLES = ("wtid", "wtas", "wtas_latch", "wtas_cf", "wqst", "wqst_cf")
Row = Mapping[str, Any]


def c(name: str) -> pl.Expr:
    """A number as it is used in a ratio."""
    return pl.col(name).cast(pl.Float64)


def ratio(above: pl.Expr, below: pl.Expr, times: float = 1) -> pl.Expr:
    """One number by another; nothing where that is 0."""
    below = below.cast(pl.Float64)
    return pl.when(below != 0).then(above.cast(pl.Float64) * times / below)


def total(column: str | pl.Expr) -> pl.Expr:
    """A sum that is nothing where there is nothing to add."""
    each = pl.col(column) if isinstance(column, str) else column
    return pl.when(each.is_not_null().any()).then(each.sum())


def whole(name: str) -> pl.Expr:
    """A counter, wide enough to be added."""
    return pl.col(name).cast(pl.Int64)


class Tables:
    """The decoded tables of inputs, each row with the section that it belongs to.

    of_queues  whether they have the calls on some queues only, and so not all that tasks did
    """

    def __init__(
        self,
        frames: Mapping[str, pl.DataFrame],
        sections: Sections,
        of_queues: bool = False,
    ) -> None:
        self.frames, self.sections, self.of_queues = frames, sections, of_queues
        self._sectioned: dict[str, pl.DataFrame] = {}

    @cached_property
    def keys(self) -> list[str]:
        """The columns that make a section."""
        names = {
            "record": ["source", "record_offset"],
            "span": ["system", "qmgr", "began"],
            "moment": ["system", "qmgr", "smf_time"],
            "interval": ["system", "qmgr", "interval"],
            "total": ["system", "qmgr"],
            "clock": ["interval"],
            "all": ["everything"],
        }
        return [f"section_{name}" for name in names[self.sections.by]]

    def __getitem__(self, table: str) -> pl.DataFrame:
        if table not in self._sectioned:
            self._sectioned[table] = self._in_sections(table)
        return self._sectioned[table]

    def _in_sections(self, table: str) -> pl.DataFrame:
        frame = self.frames[table]
        record, place, source = (pl.col(each) for each in ("record_no", "record_offset", "source"))
        of_statistics = pl.lit(table not in TASK_TABLES)
        if table in TASK_TABLES:
            record = pl.coalesce("task_record_no", "record_no")
            place = pl.coalesce("task_record_offset", "record_offset")
            source = pl.coalesce("task_source", "source")
        if table == RECORD:
            of_statistics = pl.col("type") == 115
        local = pl.col("interval_start").dt.replace_time_zone(None) + pl.duration(
            seconds=pl.col("utc_offset")
        )
        frame = frame.with_columns(
            task_record=record,
            counted=pl.Series(_counted(frame, of_statistics), dtype=pl.Datetime("us")),
            section_source=source,
            section_record_offset=place,
            section_system="system",
            section_qmgr="qmgr",
            section_smf_time="smf_time",
            section_began=pl.coalesce(local, pl.col("smf_time")),
            section_everything=pl.lit(True),
        )
        every = f"{self.sections.seconds}s"
        if self.sections.seconds:
            frame = frame.with_columns(section_interval=pl.col("counted").dt.truncate(every))
        return frame


def _counted(frame: pl.DataFrame, of_statistics: pl.Expr) -> list[Any]:
    """Return when each row counts; records of MQ 7 hold no interval, so at their SMF time."""
    columns = ["smf_time", "interval_start", "interval_seconds", "utc_offset"]
    release = pl.col("mq_version").str.extract("^([0-9]+)").cast(pl.Int64)
    derived = (of_statistics & (release < 8)).fill_null(False)
    told = frame.select(*columns, derived=derived)
    known = {
        row: row[0] if row[-1] else counted(dict(zip(columns, row, strict=False)))
        for row in told.unique().iter_rows()
    }
    return [known[row] for row in told.iter_rows()]


@dataclass(frozen=True)
class Part:
    """Rows of a report of one kind.

    frame  the section, what tells rows apart, and figures
    by     the columns that tell the rows of a section apart
    where  what columns of these rows say
    """

    frame: pl.DataFrame
    by: Sequence[str] = ()
    where: Mapping[str, Any] = field(default_factory=dict)

    def figures(self) -> list[str]:
        """Return the columns that are compared."""
        return [name for name in self.frame.columns if not name.startswith("section_")]

    def takes(self, row: Row) -> bool:
        """Whether a row of the report is one of these."""
        return all(row[name] == value for name, value in self.where.items())


def check(parts: Iterable[Part], rows: Sequence[Row], keys: Sequence[str]) -> int:
    """Compare rows of a report with its parts; return how many numbers were not zero.

    Every row has to be of one part, and every row of a part has to be there.
    """
    counted, numbers = 0, 0
    for part in parts:
        mine = [row for row in rows if part.takes(row)]
        counted += len(mine)
        numbers += _check_part(part, mine, keys)
    assert counted == len(rows), f"{len(rows) - counted} rows are of no kind"
    return numbers


def _check_part(part: Part, rows: Sequence[Row], keys: Sequence[str]) -> int:
    found, wanted = defaultdict(list), defaultdict(list)
    for row in rows:
        section = [_section_value(row["section"], name) for name in keys]
        found[*section, *(row[name] for name in part.by)].append(row)
    for row in part.frame.iter_rows(named=True):
        wanted[*(row[name] for name in (*keys, *part.by))].append(row)
    assert found.keys() == wanted.keys(), (part.where, found.keys() ^ wanted.keys())
    figures = part.figures()
    numbers = 0
    for key, expected in wanted.items():
        assert len(found[key]) == len(expected), key
        if len(expected) > 1:
            for rows_of_key in (found[key], expected):
                rows_of_key.sort(key=lambda row: [_rank(row[name]) for name in figures])
        for row, want in zip(found[key], expected, strict=True):
            for name in figures:
                assert same(row[name], want[name]), (key, name, row[name], want[name])
                numbers += isinstance(want[name], int | float) and bool(want[name])
    return numbers


def _section_value(section: Row, name: str) -> Any:
    return section[name.removeprefix("section_")]


def _rank(value: Any) -> tuple[bool, str, float]:
    if isinstance(value, int | float):
        return True, "", round(value, 6)
    return value is not None, str(value), 0


def same(found: Any, wanted: Any) -> bool:
    """Whether a value is the one wanted, or one of a list: where several would do."""
    if isinstance(wanted, list):
        return any(same(found, each) for each in wanted)
    if isinstance(wanted, float) and found is not None:
        return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(wanted, bool) or isinstance(found, bool):
        return found is wanted
    return bool(found == wanted)


class Frames(dict[str, pl.DataFrame]):
    """Tables of inputs, each decoded when it is first asked for."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__()
        self._inputs = inputs

    def __missing__(self, table: str) -> pl.DataFrame:
        self[table] = pl.DataFrame(self._inputs.arrow(table))
        return self[table]
