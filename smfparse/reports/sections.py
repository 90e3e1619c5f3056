"""Sections of a report: the records that are combined under one heading.

A section is one recorded interval of a queue manager, all records in a clock interval
(`interval=`), all records with one SMF time, or the whole input (`total=True`). The SQL of a report
can read each of its tables in two forms:

    sectioned.<table>   every row, with its `section`
    grouped.<table>     one row per section and value of the grouping columns: every column, and
                        every measure of the table's subject, combined over the rows of the group

`sectioned.keys` has one row per section: owner, time and irregularities of the section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from smfparse.decoding.dictionary import RECORD, TABLES
from smfparse.errors import RequestError
from smfparse.metrics.measures import Subject, subject_of
from smfparse.query.projection import Slicing
from smfparse.reports.marks import (
    COMPARED,
    STATISTICS,
    STATISTICS_OF_ALL,
    compared_intervals,
    interval_marks,
    local_time,
    task_marks,
)
from smfparse.schemas import ACCOUNTING, DUMP_HEADER, DUMP_TRAILER, SIGNATURES
from smfparse.schemas import STATISTICS as STATISTICS_TYPE

_SECTION = {
    "record": ("{source} AS source", "{offset} AS record_offset"),
    "span": ("input_no", "system", "qmgr", "{began} AS began"),
    "moment": ("input_no", "system", "qmgr", "smf_time"),
    "interval": ("system", "qmgr", "{bucket} AS interval"),
    "total": ("system", "qmgr"),
    "clock": ("{bucket} AS interval",),
    "all": ("TRUE AS everything",),
}
"""Columns that identify a section, by extent of the sections."""
OF_TASKS = "transaction"
"""Column of the view `transactions`, by which rows of class 3 tables can be grouped."""
DECLARED = ("record", "span", "moment", "total", "all")
"""Extents that the declaration of a report can name; any other extent is a length."""
_SEQUENCE = "(coalesce(time, smf_time), source, record_no, block_no)"
"""SQL of the sort key of rows; the row with the highest key is the last row of a section."""
_LENGTH_US = "round(CASE WHEN interval_seconds BETWEEN 0 AND 1e9 THEN interval_seconds * 1e6 END)"
"""SQL of the length of an interval, microseconds; NULL above thirty years, a sign of damage."""
_END = f"interval_start + to_microseconds({_LENGTH_US}::BIGINT)"
_BUCKET = "time_bucket(INTERVAL {} seconds, counted_at, TIMESTAMP '1970-01-01')"
"""SQL of the start of the clock interval in which a record counts."""
_BEGAN = f"coalesce({local_time('interval_start')}, smf_time)"
"""SQL of the start of an interval, local time; for a record without an interval, its SMF time."""
_LAST = ("mq_version", "utc_offset")
"""Key columns of a group that contain the values of the group's last row."""
_LAST_OF_KEYS = ("system", "qmgr", "qsg", "mq_version", "utc_offset", "source", "record_no")
"""Columns of `sectioned.keys` that contain the values of the section's last row."""
OF_STATISTICS = "section, system, qmgr, interval_start, interval_end, interval_seconds"
"""Columns of STATISTICS_OF_ALL, which the query for a slice reads."""
_TIMES_OF_KEYS = ("smf_time", "time", "interval_start", "interval_end")
SECTION_COLUMNS = (
    *_LAST_OF_KEYS,
    *_TIMES_OF_KEYS,
    "bucket",
    "intervals",
    "interval_seconds",
    "marks",
    "began_before",
)
"""All columns of `sectioned.keys` besides `section`."""
TEMPLATE_KEYS = ("system", "qmgr", "date", "time", "vrm", "start", "end")
"""Keys of a section that a template can show."""
CSV_KEYS = (*TEMPLATE_KEYS, "from", *SECTION_COLUMNS)
"""Keys of a section that CSV can show."""
OFFSET, START_OFFSET = "utc_offset", "start_offset"
"""Columns with local time minus UTC, seconds, in the last and in the first row of a section. They
differ if clocks were changed between these rows.
"""
HIDDEN = ("section", START_OFFSET)
"""Columns that are not shown."""
_LAST_ONE = "arg_max({0}, sequence)"
_AGREE = (
    f"count({OFFSET}) = count(*) AND count(DISTINCT (system, {OFFSET})) "
    f"= count(DISTINCT system) * count(DISTINCT {OFFSET})"
)
"""SQL condition: all systems have the same offsets, and so the same local time."""
SHARED_NAMES = "shared_names"
"""Column of sections across queue managers: whether two queue managers have the same name."""
_SHARED_NAMES = (
    "count(DISTINCT CASE WHEN qmgr IS NOT NULL THEN (system, qmgr) END) > count(DISTINCT qmgr)"
)
_ALIKE = "CASE WHEN min({0}) = max({0}) AND count({0}) = count(*) THEN max({0}) END"
"""SQL of the value that all rows of a section share; NULL: the values differ."""
_MOMENT = (
    f"CASE WHEN type NOT IN ({DUMP_HEADER}, {DUMP_TRAILER}) OR subtype IN {SIGNATURES} "
    "THEN smf_time END"
)
_DAY = 86_400
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": _DAY}
_LENGTH = re.compile(r"([1-9][0-9]*)([smhd])")


class Sections(NamedTuple):
    """The extent of the sections of a report.

    by       for each queue manager: record; span (a recorded interval, in one or more records);
             moment (records with the same SMF time); interval (a clock interval); total. For all
             queue managers together: clock (a clock interval); all
    seconds  length of a clock interval; the first one begins at midnight, local time
    """

    by: str
    seconds: int = 0

    @classmethod
    def of(cls, text: str) -> Sections:
        """Return the sections of a declaration: one of DECLARED, or a length such as 15m."""
        return cls(text) if text in DECLARED else every(text)

    @property
    def combining(self) -> bool:
        """Whether a section can combine several intervals. If so, statistics define its time."""
        return self.by in ("total", "all", "interval", "clock")

    @property
    def across(self) -> bool:
        """Whether a section is about all queue managers together."""
        return self.by in ("clock", "all")

    def together(self) -> Sections:
        """Return sections of the same length for all queue managers together."""
        return Sections("clock", self.seconds) if self.by == "interval" else ONE_SECTION


RECORDED = Sections("record")
TOTAL = Sections("total")
ONE_SECTION = Sections("all")


def every(text: str) -> Sections:
    """Return sections of a length: 30s, 1m, 15m, 1h, 1d.

    Raises RequestError unless the length divides a day, so intervals begin at the same times daily.
    """
    found = _LENGTH.fullmatch(text.strip().lower())
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not found or _DAY % seconds:
        raise RequestError(
            f"interval={text}: expected a length that divides a day; "
            "use a number and s, m, h or d: 30s, 15m, 1h",
            "interval",
        )
    return Sections("interval", seconds)


def statements(
    sections: Sections, tables: Sequence[str], grouped: Mapping[str, Sequence[str]], queries: str
) -> Iterator[str]:
    """Yield the SQL that creates the views `sectioned` and `grouped` for `queries`.

    grouped  by table with a view `grouped`: its grouping columns in addition to the section
    """
    yield "CREATE SCHEMA IF NOT EXISTS sectioned"
    yield "CREATE SCHEMA IF NOT EXISTS grouped"
    for table in dict.fromkeys((*tables, *([STATISTICS] if sections.combining else []))):
        of_tasks = OF_TASKS in grouped.get(table, ())
        yield (
            f"CREATE OR REPLACE VIEW sectioned.{table} AS "
            f"SELECT {_section(sections, table)} AS section, {_SEQUENCE} AS sequence, "
            f"{_END} AS interval_end, * "
            f"FROM {_with_transactions(table) if of_tasks else f'inputs.{table}'}"
        )
    for table in filter(lambda each: f"grouped.{each}" in queries, grouped):
        by = None if sections == RECORDED else grouped[table]
        rows = _grouped(subject_of(table, tables), by)
        yield f"CREATE OR REPLACE VIEW grouped.{table} AS {rows}"


def _with_transactions(table: str) -> str:
    return (
        f'(SELECT i.*, t."{OF_TASKS}" FROM inputs.{table} AS i '
        "LEFT JOIN transactions('inputs.wtid') AS t "
        "ON t.of_source = coalesce(i.task_source, i.source) "
        "AND t.task_record = coalesce(i.task_record_offset, i.record_offset))"
    )


def _section(sections: Sections, table: str) -> str:
    """Return the SQL of the section of a row. All records of a task in an interval count as one."""
    source, offset = "source", "record_offset"
    if _is_task(table):
        source, offset = (
            "coalesce(task_source, source)",
            "coalesce(task_record_offset, record_offset)",
        )
    parts = []
    for each in _SECTION[sections.by]:
        value, _, name = each.partition(" AS ")
        value = value.format(
            source=source,
            offset=offset,
            began=_BEGAN,
            bucket=_BUCKET.format(sections.seconds),
        )
        parts.append(f"'{name or value}': {value}")
    return f"{{{', '.join(parts)}}}"


def _is_task(table: str) -> bool:
    return table != RECORD and TABLES[table].task


def _grouped(subject: Subject, by: Sequence[str] | None) -> str:
    """Return the SQL of rows with measures, grouped by section and `by`; None: not grouped."""
    rows = f"FROM {subject.facts_of('sectioned')}"
    if by is None:
        measures = (f"{each.of_row} AS {name}" for name, each in subject.measures.items())
        return f"SELECT {', '.join(['*', *measures])} {rows}"
    keys = ["section", *(f'"{each}"' for each in by)]
    columns = {each: f"arg_max({each}, sequence)" for each in _LAST}
    columns |= {"interval_seconds": "total(interval_seconds)"} | subject.over_rows()
    shown = (f"{sql} AS {name}" for name, sql in columns.items() if name not in by)
    return f"SELECT {', '.join([*keys, *shown])} {rows} GROUP BY {', '.join(keys)}"


def section_keys(
    sections: Sections, main: Sequence[str], *, sliced: bool = False, held: bool = False
) -> str:
    """Return the query for the sections, one row each: owner, time and irregularities.

    main    the tables whose rows define the sections; if a section has rows of two tables, its
            intervals come from the first table
    sliced  whether the tables contain only the rows of some sections or names: see `slicing`
    held    whether the tables contain only rows of selected names. If so, the time of a section
            comes from the rows of all names
    """
    following = _following(main)
    if main[0] == RECORD:
        marks = task_marks(0, statistics=False, local=True)
    elif following is None:
        marks = task_marks(
            sections.seconds, statistics=sections.combining, sliced=sliced, held=held
        )
    else:
        marks = interval_marks(following, sliced=sliced)
    of_keys = _ALIKE if sections.across else _LAST_ONE
    last = {name: of_keys.format(name) for name in _LAST_OF_KEYS}
    offsets = {OFFSET: _LAST_ONE.format(OFFSET), START_OFFSET: f"arg_min({OFFSET}, interval_end)"}
    if sections.across:
        other = f"min({OFFSET})" if sections.combining else "NULL"
        offsets = {
            name: f"CASE WHEN {_AGREE} THEN {sql} ELSE {other} END" for name, sql in offsets.items()
        }
        offsets[SHARED_NAMES] = _SHARED_NAMES
    keys = ", ".join(f"{sql} AS {name}" for name, sql in (last | offsets).items())
    begins = "section.interval" if sections.seconds else "NULL::TIMESTAMP"
    return f"""
    WITH members AS ({_members(main)}),
    named AS (
        SELECT section, {keys}, max(smf_time) AS smf_time, max(time) AS time,
            min(interval_start) AS interval_start, max(interval_end) AS interval_end
        FROM members GROUP BY section
    ),
    {marks}
    SELECT
        named.* REPLACE (
            coalesce(first_start, interval_start) AS interval_start,
            coalesce(last_end, interval_end) AS interval_end
        ),
        {begins} AS bucket, marked.* EXCLUDE (section, first_start, last_end)
    FROM named LEFT JOIN marked USING (section)
    """


def slicing(
    sections: Sections, main: Sequence[str], tables: Iterable[str], query: str, *, held: bool
) -> Slicing:
    """Return the `Slicing` of a query, so that it can be run for some sections at a time.

    query  the query for a slice; its keys are `section_keys` with `sliced`
    held   whether STATISTICS_OF_ALL exists, with the statistics of all names
    """
    members, following = f"WITH members AS ({_members(main)})", _following(main)
    common = {}
    if following is not None:
        common[COMPARED] = f"{members}, {compared_intervals(following)}"
    elif sections.combining and not held:
        common[STATISTICS_OF_ALL] = f"SELECT {OF_STATISTICS} FROM sectioned.{STATISTICS}"
    time = "section.interval" if sections.seconds else "time"
    return Slicing(
        f"{members} SELECT section, max({time}) AS time FROM members GROUP BY section",
        {table: _section(sections, table) for table in tables},
        common,
        query,
    )


def _following(main: Sequence[str]) -> list[int] | None:
    """Return the indexes in `main` of tables without task rows; None: the first table has tasks."""
    tasks = [number for number, table in enumerate(main) if _is_task(table)]
    if tasks[:1] == [0]:
        return None
    return [each for each in range(len(main)) if each not in tasks]


def _members(main: Sequence[str]) -> str:
    """Return the query for the rows that define the sections; `main`: index of a row's table."""
    own = ("section", "sequence", "input_no", "interval_seconds")
    names = ", ".join((*own, *_LAST_OF_KEYS, *_TIMES_OF_KEYS))
    counted = [table != RECORD and TABLES[table].counted for table in main]
    return " UNION ALL ".join(
        f"SELECT {number} AS main, {names}, {'' if has_one else 'NULL::BIGINT AS '}sequence_no, "
        f"{'' if _is_task(table) else 'NULL::UBIGINT AS '}task_started_tod "
        f"FROM {_with_intervals(table)}"
        for number, (table, has_one) in enumerate(zip(main, counted, strict=True))
    )


def _with_intervals(table: str) -> str:
    """Return the SQL of the rows of a table with `interval_start` and `interval_end`.

    In the table `record`, the interval of a record ends at its SMF time. Its length is the recorded
    length, at most the median of the record type; 0 if a record counts at its SMF time. A record of
    the SMF dump program has no interval, because the program may run a day later.
    """
    if table != RECORD:
        return f"sectioned.{table}"
    is_known = "counted_at < smf_time AND interval_seconds BETWEEN 0 AND 1e9"
    lengths = "".join(
        f"WHEN {is_known} AND type = {each} THEN least(interval_seconds, (SELECT "
        f"median(interval_seconds) FROM sectioned.{RECORD} WHERE {is_known} AND type = {each})) "
        for each in (STATISTICS_TYPE, ACCOUNTING)
    )
    length = f"to_microseconds((1e6 * CASE {lengths} ELSE 0 END)::BIGINT)"
    moment = f"{_MOMENT} - {length} AS interval_start, {_MOMENT} AS interval_end"
    return f"(SELECT * REPLACE ({moment}, 0 AS interval_seconds) FROM sectioned.{RECORD})"
