"""Rules over rows that a test writes: the fields that matter, all others as in an idle interval."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pyarrow as pa

from smfparse.advice.declaration import Rule, rules, subjects
from smfparse.advice.judging import State, filled, subject_query, wanted
from smfparse.advice.policy import NO_POLICY, Policy
from smfparse.advice.running import Checked, run_rules
from smfparse.decoding.arrow import schema
from smfparse.decoding.selection import Selection
from smfparse.metrics.calendar import calendar_macros
from smfparse.metrics.views import named_macros
from smfparse.query.catalog import Catalog
from smfparse.query.relations import Connection, connected

START = dt.datetime(2026, 3, 4, 9, tzinfo=dt.timezone.utc)  # noqa: UP017 - as in the tables
SECONDS = 600.0
ABSENT = "NULL"
"""What a case writes for a field that the release does not have."""
_WHEN = "interval_no"
"""What a row says beside its fields: of which interval it is, from 0."""
_COPIES = "copies"
"""So many rows are alike, but for the number of their record (from `record_no`), and their task."""
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
    found = []
    for file in sorted(_CASES.glob("*.toml")):
        for rule, entry in tomllib.loads(file.read_text("utf-8")).items():
            base, limits = entry.pop("base", {}), entry.pop("limits", {})
            found += [Case(rule, name, _merged(base, rows), limits) for name, rows in entry.items()]
    return tuple(found)


def _merged(base: Rows, changed: Rows) -> Rows:
    """Return the rows of `base` with fields changed; a table may have more rows in either."""
    found = {}
    for table in {**base, **changed}:
        first, second = base.get(table, []), changed.get(table, [])
        count = max(len(first), len(second))
        padded = [[*each, *[{}] * (count - len(each))] for each in (first, second)]
        found[table] = [{**a, **b} for a, b in zip(*padded, strict=True)]
    return found


def states(some: Sequence[Case]) -> list[set[int | None]]:
    """Return what the rule of each case says of its rows; all cases are asked at once."""
    found: list[set[int | None]] = [set() for _ in some]
    for which, numbers in _by_rules(some):
        columns = ", ".join(f'"{each.id}"' for each in which)
        for row in _asked(which, some, numbers, f"SELECT input_no, {columns} FROM ({{}})"):
            found[row["input_no"]].add(row[some[row["input_no"]].rule])
    return found


def severities(some: Sequence[Case]) -> list[int]:
    """Return the class of what the rule of each case says over its rows that crossed."""
    found = dict[int, int]()
    for (which,), numbers in _by_rules(some, alone=True):
        severity = filled(which, which.severity_sql or str(which.severity))
        crossed = f'"{which.id}" = {State.CROSSED.value}'
        query = f"SELECT input_no, {severity} AS severity FROM ({{}}) WHERE {crossed} GROUP BY ALL"
        found |= {row["input_no"]: row["severity"] for row in _asked([which], some, numbers, query)}
    return [found[number] for number in range(len(some))]


def _by_rules(some: Sequence[Case], alone: bool = False) -> Iterator[tuple[list[Rule], list[int]]]:
    """Yield rules that one query can ask together, with the numbers of their cases."""
    groups = defaultdict[tuple[str, str], list[int]](list)
    for number, case in enumerate(some):
        own = case.rule if alone or case.limits else ""
        groups[rules()[case.rule].subject, own].append(number)
    for numbers in groups.values():
        limits = {some[each].rule: some[each].limits for each in numbers}
        known = wanted(limits)
        yield [known[each] for each in limits], numbers


def _asked(
    which: Sequence[Rule], some: Sequence[Case], numbers: Sequence[int], query: str
) -> list[dict[str, Any]]:
    """Return the rows of a query over those of the subject; each case is an input of its own."""
    subject = subjects()[which[0].subject]
    tables = defaultdict[str, list[Mapping[str, Any]]](list)
    for each in numbers:
        unknown = some[each].rows.keys() - {*subject.tables}
        assert not unknown, f"{subject.name} does not read {unknown}"
        own = {"input_no": each, "system": f"S{each}", "source": f"{each}", "qqstqnam": f"Q{each}"}
        own["task_source"] = own["source"]
        for table, rows in some[each].rows.items():
            known = {name: own[name] for name in own.keys() & _names(table)}
            tables[table] += [
                {"block_no": _block_no(table, at)} | known | row for at, row in enumerate(rows)
            ]
    asked = subject_query(subject, which)
    bench = Bench(tables, subject.tables)
    bench.define(named_macros(asked, calendar_macros()))
    numbered = f"SELECT *, system[2:]::INTEGER AS input_no FROM ({asked})"
    return cast(list[dict[str, Any]], bench.arrow(query.format(numbered)).to_pylist())


def checked(rows: Rows, policy: Policy = NO_POLICY) -> Checked:
    tables = dict.fromkeys(each for subject in subjects().values() for each in subject.tables)
    return run_rules(cast(Catalog, Bench(rows, tables)), policy)


class Bench:
    """A catalog of tables that a test has written; one at a time, on one connection."""

    zone = None
    inputs = SimpleNamespace(selection=Selection())

    def __init__(self, rows: Rows, tables: Iterable[str]) -> None:
        self.connection = _connection()
        for table in tables:
            wanted = [*rows.get(table, [])]
            if _held.get(table) != wanted:
                _make(self.connection, table, wanted)
                _held[table] = wanted

    def define(self, macros: str) -> None:
        self.connection.execute(macros)

    def hold(self, name: str, table: Any) -> None:
        self.connection.register(name, table)

    def arrow(self, query: str) -> Any:
        return self.connection.sql(query).to_arrow_table()

    def arrows_of_filled(
        self, queries: Sequence[str], others: Sequence[str], shared: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Yield rows; None for queries that name no table with rows."""
        yield from map(self.arrow, others)
        filled = {table for table, rows in _held.items() if rows}
        for each in queries:
            yield self.arrow(each) if filled.intersection(re.findall(r"\w+", each)) else None


@cache
def _connection() -> Connection:
    connection = connected()
    connection.execute("CREATE SCHEMA inputs; SET TimeZone = 'UTC'")
    return connection


def _make(connection: Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    rows = [each for row in rows for each in _copies(row)]
    for row in rows:
        assert row.keys() <= _names(table), f"{table} has no {row.keys() - _names(table)}"
    full = [_usual(row, _block_no(table, at)) | row for at, row in enumerate(rows)]
    said = set().union(*full)
    arrays = []
    for column in _columns(table):
        default, kind = _default(column), _plain(column.type)
        values = [row.get(column.name, default) for row in full] if column.name in said else []
        known = pa.array([None if each == ABSENT else each for each in values], kind)
        arrays.append(known if values else pa.repeat(pa.scalar(default, kind), len(full)))
    held = pa.Table.from_arrays(arrays, names=[each.name for each in _columns(table)])
    connection.register(f"held_{table}", held)
    connection.execute(f"CREATE OR REPLACE TABLE inputs.{table} AS SELECT * FROM held_{table}")


@cache
def _columns(table: str) -> Sequence[Any]:
    return [pa.field("input_no", pa.int32()), *schema(table)]


@cache
def _names(table: str) -> frozenset[str]:
    return frozenset({_WHEN, _COPIES, "task_thread", *(each.name for each in _columns(table))})


def _copies(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if _COPIES not in row:
        return [row]
    fields = {"block_no": 1, "record_no": 1, **row}
    first = fields["record_no"]
    return [
        fields | {"record_no": first + number, "task_thread": number}
        for number in range(fields.pop(_COPIES))
    ]


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _block_no(table: str, at: int) -> int:
    """Return the block that the row at a place is of. A record has one QJST."""
    return 1 if table in ("qjst", "qjst_io") else at + 1


def _usual(row: Mapping[str, Any], block_no: int) -> dict[str, Any]:
    start = START + dt.timedelta(seconds=row.get(_WHEN, 0) * SECONDS)
    end = start + dt.timedelta(seconds=SECONDS)
    return {
        "input_no": 0, "system": "SYSA", "qmgr": "QM01", "qsg": None, "mq_version": "9.4.0",
        "source": "day.smf", "record_no": row.get("record_no", 1),
        "record_offset": row.get("record_no", 1),
        "block_no": row.get("block_no", block_no), "utc_offset": 0, "interval_start": start,
        "interval_seconds": SECONDS, "time": end, "smf_time": end.replace(tzinfo=None),
        "counted_at": (end - dt.timedelta(seconds=SECONDS / 2)).replace(tzinfo=None),
        "task_source": "day.smf", "task_record_no": row.get("record_no", 1),
        "task_record_offset": row.get("task_record_no", row.get("record_no", 1)),
    }  # fmt: skip


@cache
def _default(column: Any) -> Any:
    kind = _plain(column.type)
    if pa.types.is_string(kind) or pa.types.is_timestamp(kind):
        return None
    return False if pa.types.is_boolean(kind) else 0
