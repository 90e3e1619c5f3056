"""Sections of a report: which statistics records are shown as one.

A section is one interval of a queue manager as it was recorded, or with `--total` the whole input
of one. Each table is seen in two ways by a report's SQL:

    sectioned.<table>   every row, with the `section` it belongs to
    grouped.<table>     a row a section (and a value of the columns grouped by): every column is
                        combined as its declaration says: sum, max, min or last
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from smfparse.fields import Combine
from smfparse.layout import Column
from smfparse.schemas import TABLES


class Sections(StrEnum):
    """What makes a section."""

    RECORDED = "recorded"
    TOTAL = "total"


_SECTION = {
    Sections.RECORDED: ("input_no", "source", "record_no"),
    Sections.TOTAL: ("system", "qmgr"),
}
"""What tells a section. Source and record number alone do not: two datasets can both have been made
from a file of one name."""
_ORDER = "coalesce(time, smf_time)"
"""By what the last value of a section is told."""
_END = "interval_start + to_microseconds(round(interval_seconds * 1e6)::BIGINT)"
_KEYS = {
    "interval_start": "min(interval_start)",
    "interval_end": "max(interval_end)",
    "interval_seconds": "sum(interval_seconds)",
    "time": "max(time)",
    "smf_time": "max(smf_time)",
}
_LAST_KEYS = ("qsg", "mq_version", "utc_offset", "source", "record_no")
_COMBINED = {
    Combine.SUM: "sum({0})",
    Combine.MAX: "max({0})",
    Combine.MIN: "min({0})",
    Combine.LAST: f"arg_max({{0}}, {_ORDER})",
    Combine.NONE: f"arg_max({{0}}, {_ORDER})",
}


def statements(
    sections: Sections, tables: Iterable[str], grouped: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield the SQL that makes the views of `tables`.

    `grouped` names those that are combined, and the columns they are grouped by besides.
    """
    yield "CREATE SCHEMA IF NOT EXISTS sectioned"
    yield "CREATE SCHEMA IF NOT EXISTS grouped"
    section = ", ".join(f"'{name}': {name}" for name in _SECTION[sections])
    for table in tables:
        yield (
            f"CREATE OR REPLACE VIEW sectioned.{table} AS "
            f"SELECT {{{section}}} AS section, {_END} AS interval_end, * FROM inputs.{table}"
        )
    for table, by in grouped.items():
        rows = f"SELECT * FROM sectioned.{table}"
        if sections is not Sections.RECORDED:
            rows = _combined(table, by)
        yield f"CREATE OR REPLACE VIEW grouped.{table} AS {rows}"


def _combined(table: str, by: Sequence[str]) -> str:
    columns = ["section", *by, "section.system AS system", "section.qmgr AS qmgr"]
    columns += [f"arg_max({name}, {_ORDER}) AS {name}" for name in _LAST_KEYS]
    columns += [f"{combined} AS {name}" for name, combined in _KEYS.items()]
    columns += [
        f"{_COMBINED[column.combine].format(column.name)}{_cast(column)} AS {column.name}"
        for column in TABLES[table].columns
        if column.name not in by
    ]
    return (
        f"SELECT {', '.join(columns)} FROM sectioned.{table} GROUP BY {', '.join(['section', *by])}"
    )


def _cast(column: Column) -> str:
    """Keep sums of integers 64 bits wide: DuckDB's are wider than Arrow and Parquet can hold."""
    if column.combine is Combine.SUM and column.part.arrow.startswith(("int", "uint")):
        return "::UBIGINT" if column.part.arrow.startswith("u") else "::BIGINT"
    return ""
