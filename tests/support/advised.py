"""Rules over rows that a test writes: the fields that matter, all others as in an idle interval."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa

from smfparse.advice import NO_POLICY, Checked, Policy, Rule, rules, run_rules, subjects
from smfparse.advice.judging import State, subject_query, value_column, wanted
from smfparse.calendar import calendar_macros
from smfparse.query import Catalog, Connection, connected
from smfparse.tables import named_macros, schema, view_macros

START = dt.datetime(2026, 3, 4, 9, tzinfo=dt.timezone.utc)  # noqa: UP017 - as in the tables
SECONDS = 600.0
ABSENT = "NULL"
"""What a case writes for a field that the release does not have."""
_WHEN = "interval_no"
"""What a row says beside its fields: of which interval it is, from 0."""
_COPIES = "copies"
"""So many rows are alike, but for the number of their record."""
_CASES = Path(__file__).parent.parent / "advice" / "cases"
Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Fields of rows, by table."""
_held: dict[str, list[Mapping[str, Any]]] = {}
"""What the tables of the connection hold: most cases change one table and leave the others."""


class Case(NamedTuple):
    """One entry of a file of cases: the rows of tables, and the state that the rule gives."""

    rule: str
    name: str
    rows: Rows
    limits: Mapping[str, float]


@cache
def cases() -> tuple[Case, ...]:
    """Return the cases of all rules."""
    return tuple(_cases())


def _cases() -> Iterator[Case]:
    for file in sorted(_CASES.glob("*.toml")):
        for rule, entry in tomllib.loads(file.read_text("utf-8")).items():
            base, limits = entry.pop("base", {}), entry.pop("limits", {})
            for name, rows in entry.items():
                yield Case(rule, name, _merged(base, rows), limits)


def _merged(base: Rows, changed: Rows) -> Rows:
    """Return the rows of `base` with fields changed; a table may have more rows in either."""
    found = {}
    for table in {**base, **changed}:
        first, second = base.get(table, []), changed.get(table, [])
        count = max(len(first), len(second))
        padded = [[*each, *[{}] * (count - len(each))] for each in (first, second)]
        found[table] = [{**a, **b} for a, b in zip(*padded, strict=True)]
    return found


def states(
    rule: str, rows: Rows, limits: Mapping[str, float] = {}
) -> list[tuple[int | None, float | None]]:
    """Return what a rule says of each row of its subject over tables, and the figure.

    limits  those that the site gives
    """
    which = wanted({rule: limits})[rule]
    found = _asked(which, rows, f'"{rule}", "{value_column(which)}"')
    return [tuple(each.values()) for each in found]


def rank(rule: str, rows: Rows) -> int:
    """Return the class of what a rule says over all rows that crossed."""
    which = rules()[rule]
    crossed = f'WHERE "{rule}" = {State.CROSSED.value}'
    ((number,),) = [
        each.values() for each in _asked(which, rows, which.ranks or str(which.rank), crossed)
    ]
    return int(number)


def _asked(which: Rule, rows: Rows, shown: str, where: str = "") -> list[dict[str, Any]]:
    """Return what SQL shows of the rows of a rule's subject over tables."""
    subject = subjects()[which.subject]
    unknown = rows.keys() - {*subject.tables}
    assert not unknown, f"{which.subject} does not read {unknown}"
    bench, query = Bench(rows, subject.tables), subject_query(subject, [which])
    bench.define(named_macros(query, view_macros() + calendar_macros()))
    found = bench.arrow(f"SELECT {shown} FROM ({query}) {where}")
    return cast(list[dict[str, Any]], found.to_pylist())


def checked(rows: Rows, policy: Policy = NO_POLICY) -> Checked:
    """Return what all rules say of rows."""
    tables = dict.fromkeys(each for subject in subjects().values() for each in subject.tables)
    return run_rules(cast(Catalog, Bench(rows, tables)), policy)


class Bench:
    """A catalog of tables that a test has written; one at a time, on one connection."""

    zone = None

    def __init__(self, rows: Rows, tables: Iterable[str]) -> None:
        self.connection = _connection()
        for table in tables:
            wanted = [*rows.get(table, [])]
            if _held.get(table) != wanted:
                _make(self.connection, table, wanted)
                _held[table] = wanted

    def define(self, macros: str) -> None:
        self.connection.execute(macros)

    def arrow(self, query: str) -> Any:
        return self.connection.sql(query).to_arrow_table()

    def arrows_of_filled(self, queries: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        return map(self.arrow, [*queries, *others])


@cache
def _connection() -> Connection:
    connection = connected()
    connection.execute("CREATE SCHEMA inputs; SET TimeZone = 'UTC'")
    return connection


def _make(connection: Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Make a table with rows."""
    columns = _columns(table)
    rows = [each for row in rows for each in _copies(row)]
    known = {_WHEN, *(each.name for each in columns)}
    for row in rows:
        assert row.keys() <= known, f"{table} has no {row.keys() - known}"
    usual = [_usual(row, number) | row for number, row in enumerate(rows)]
    arrays = [pa.array([_value(each, row) for row in usual], _plain(each.type)) for each in columns]
    held = pa.Table.from_arrays(arrays, names=[each.name for each in columns])
    connection.register(f"held_{table}", held)
    connection.execute(f"CREATE OR REPLACE TABLE inputs.{table} AS SELECT * FROM held_{table}")


@cache
def _columns(table: str) -> Sequence[Any]:
    return [pa.field("input_no", pa.int32()), *schema(table)]


def _copies(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if _COPIES not in row:
        return [row]
    fields = {name: value for name, value in row.items() if name != _COPIES}
    return [{"block_no": 1, **fields, "record_no": number + 1} for number in range(row[_COPIES])]


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _usual(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the keys of a usual interval."""
    start = START + dt.timedelta(seconds=row.get(_WHEN, 0) * SECONDS)
    end = start + dt.timedelta(seconds=SECONDS)
    return {
        "input_no": 0, "system": "SYSA", "qmgr": "QM01", "qsg": None, "mq_version": "9.4.0",
        "source": "day.smf", "record_no": row.get("record_no", 1),
        "record_offset": row.get("record_no", 1),
        "block_no": row.get("block_no", number + 1), "utc_offset": 0, "interval_start": start,
        "interval_seconds": SECONDS, "time": end, "smf_time": end.replace(tzinfo=None),
        "counted_at": (end - dt.timedelta(seconds=SECONDS / 2)).replace(tzinfo=None),
        "task_source": "day.smf", "task_record_no": row.get("record_no", 1),
        "task_record_offset": row.get("task_record_no", row.get("record_no", 1)),
    }  # fmt: skip


def _value(column: Any, row: Mapping[str, Any]) -> Any:
    """Return the value of a column: as written, as the keys of a usual interval, or 0."""
    if column.name in row:
        return None if row[column.name] == ABSENT else row[column.name]
    kind = _plain(column.type)
    if pa.types.is_string(kind) or pa.types.is_timestamp(kind):
        return None
    return False if pa.types.is_boolean(kind) else 0
