"""Measures: figures of a subject, declared once, right for an interval and for any time.

A subject is what rows are about: a log manager, a buffer pool. `subjects/<name>.sql` makes the
macro `<name>_facts`: a row of an interval, with what its measures need. `subjects/<name>.toml`
declares the measures. Each is an amount of a row, and what it is divided by:

    mb_written = { amount = "copy_pages / 256" }              the sum
    io_busy = { amount = "...", per = "interval_seconds" }    the sum of `amount` by that of `per`
    longest_write = { amount = "longest", combine = "max" }   the greatest

    "io_{copy}_count" = { ... }                               one for each `copy` of `each`

So it is the same figure of an interval, of a section of 15 minutes and of a day. A counter of the
table is a measure by itself, with the name of its field: how it combines, its declaration says.

Macros, of the names of tables:

    <name>_rows        a row of each interval, with every measure, and `<measure>_amount` and
                       `<measure>_per` of those that are divided
    <name>_by_section  a row of each section
    <name>_by_qmgr     a row of each queue manager
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Annotated

from smfparse.declarations import Key, Where, read_table, toml
from smfparse.layout import TIMESTAMP, Column, Combine, Duration
from smfparse.tables import TABLES

_FOLDER = Path(__file__).with_name("subjects")
SCHEMA = "inputs"
"""The schema in which tables and views have `input_no`."""
_OVERALL = re.compile(r"\boverall\((\w+)\)")
_COMBINED = {
    Combine.MAX: "max({0})",
    Combine.MIN: "min({0})",
    Combine.LAST: "arg_max({0}, sequence)",
    Combine.NONE: "arg_max({0}, sequence)",
}
_WAYS = {
    "sum": "added",
    "max": "the greatest",
    "min": "the least",
    "last": "that of the last row",
    "largest": "that of the row whose `by` is the greatest",
}
"""How amounts of several rows become one."""
_ORDERED = ("last", "largest")
"""Those that need the order of rows."""
_TOGETHER = {"sum": "total", "min": "trough"}
_TYPES = ("double", "int64", "string", TIMESTAMP)


@dataclass(frozen=True)
class Measure:
    """A figure of a subject."""

    name: str
    amount: Annotated[str, Key("SQL of what a row has, of the columns of `<subject>_facts`")]
    doc: Annotated[str, Key("what it says")]
    formula: Annotated[str, Key("how it comes about, in IBM's field names")]
    unit: Annotated[str, Key("its unit", "none")] = ""
    per: Annotated[str, Key("SQL of what it is divided by", "nothing")] = ""
    combine: Annotated[str, Key("how amounts become one", among=_WAYS)] = "sum"
    by: Annotated[str, Key("SQL of what says which of the rows is shown", "none")] = ""
    type: Annotated[str, Key("Arrow type", among=_TYPES)] = "double"

    @property
    def of_row(self) -> str:
        """SQL of the measure of one row."""
        return f"({self.amount}) / nullif({self.per}, 0)" if self.per else self.amount

    @property
    def of_rows(self) -> str:
        """SQL of the measure of several rows, an aggregate."""
        if self.per:
            known = f"CASE WHEN ({self.amount}) IS NOT NULL THEN {self.per} END"
            return f"total({self.amount}) / nullif(total({known}), 0)"
        if self.combine == "last":
            return f"arg_max({self.amount}, sequence)"
        if self.combine == "largest":
            return f"of_largest({self.amount}, {self.by}, sequence)"
        if self.combine != "sum":
            return f"{self.combine}({self.amount})"
        if self.type == "int64":
            return f"TRY_CAST(sum({self.amount}) AS BIGINT)"
        return f"total({self.amount})"


@dataclass(frozen=True)
class Subject:
    """What rows are about.

    tables    whose names its macros take; the first has its rows
    facts     columns of `<name>_facts` that conditions may name, besides fields and measures
    keys      fields that tell the objects of a queue manager apart
    object    SQL of what an object is called; a queue manager has one without a name
    noun      what stands in front of that name
    measures  by name, without those that are fields
    """

    name: str
    title: str
    tables: tuple[str, ...]
    facts: tuple[str, ...]
    keys: tuple[str, ...]
    object: str
    noun: str
    measures: Mapping[str, Measure]

    @property
    def called(self) -> str:
        """SQL of the name of an object with its noun."""
        return f"{quoted(f'{self.noun} ')} || {self.object}" if self.noun else self.object

    def columns(self) -> Iterator[str]:
        """Yield the names of the columns of `<name>_rows` that others may ask for."""
        yield from self.facts
        yield from (each.name for each in TABLES[self.tables[0]].columns)
        for each in self.measures.values():
            yield each.name
            if each.per:
                yield f"{each.name}_amount"
                yield f"{each.name}_per"

    def rows(self, schema: str) -> str:
        """Return what gives its rows, behind FROM, of the tables of a schema."""
        tables = ", ".join(quoted(f"{schema}.{each}") for each in self.tables)
        return f"{self.name}_rows({tables})"

    def macros(self) -> Iterator[str]:
        """Yield the SQL that makes its macros, each at the start of a line."""
        given = ", ".join(f"rows_of_{table}" for table in self.tables)
        if self._file.exists():
            yield self._file.read_text("utf-8")
        yield self._macro("rows", given, f"SELECT *, {', '.join(self._of_row())} FROM {{}}")
        for grain, own in (("section", ["section"]), ("qmgr", ["system", "qmgr"])):
            keys = ", ".join([*own, *self.keys])
            columns = ", ".join([keys, *self._of_rows(ordered=grain == "section")])
            yield self._macro(f"by_{grain}", given, f"SELECT {columns} FROM {{}} GROUP BY {keys}")

    def _macro(self, name: str, given: str, query: str) -> str:
        facts = f"{self.name}_facts({given})" if self._file.exists() else f"query_table({given})"
        text = query.format(facts)
        return f"CREATE OR REPLACE MACRO {self.name}_{name}({given}) AS TABLE {text};\n"

    @property
    def _file(self) -> Path:
        """The file of its facts; a subject without one has those of its table."""
        return _FOLDER / f"{self.name}.sql"

    def _of_row(self) -> Iterator[str]:
        for each in self.measures.values():
            yield f"{each.of_row} AS {each.name}"
            if each.per:
                yield f"{each.amount} AS {each.name}_amount"
                yield f"{each.per} AS {each.name}_per"

    def _of_rows(self, *, ordered: bool) -> Iterator[str]:
        yield "total(interval_seconds) AS interval_seconds"
        for column in TABLES[self.tables[0]].columns:
            is_ordered = column.combine in (Combine.LAST, Combine.NONE)
            if column.name not in self.keys and (ordered or not is_ordered):
                yield f"{combined(column)} AS {column.name}"
        for each in self.measures.values():
            if ordered or each.combine not in _ORDERED:
                yield f"{each.of_rows} AS {each.name}"


@cache
def subjects() -> Mapping[str, Subject]:
    """Return all subjects by name. Raises RequestError for a wrong declaration."""
    return {each.stem: _subject(each) for each in sorted(_FOLDER.glob("*.toml"))}


def _subject(file: Path) -> Subject:
    where = Where(str(file))
    spec = toml(file, where)
    measures = {}
    for family, declared in spec["measures"].items():
        each = where.at("measures").at(family)
        for values in product(*spec["each"].values() if "{" in family else ()):
            named = dict(zip(spec["each"], values, strict=True)) if values else {}
            name, own = family.format(**named), {k: v.format(**named) for k, v in declared.items()}
            measures[name] = Measure(name, **read_table(Measure, own, each))
    for time, counter in averaged(spec["tables"][0]):
        name = f"{time}_average"
        formula = f"{time.upper()} / {counter.upper()}"
        measures[name] = Measure(
            name, time, "Average", formula, "microseconds", f"timed({counter}, {time})"
        )
    return Subject(
        file.stem,
        spec["title"],
        tuple(spec["tables"]),
        tuple(spec.get("facts", ())),
        tuple(spec.get("keys", ())),
        spec.get("object", "''"),
        spec.get("noun", ""),
        measures,
    )


def over_time(metric: str | Mapping[str, str]) -> str:
    """Return the query for what objects were in each interval, by which figures over time are made.

    metric  the measure, or field, as `log.task_busy`; or several, by what their objects are called

    Columns: system, qmgr, object, start (UTC), seconds, amount, and per, which is NULL where the
    measure is not divided by anything.
    """
    if isinstance(metric, str):
        return _over_time(metric)
    return " UNION ALL ".join(_over_time(each, quoted(name)) for name, each in metric.items())


def _over_time(metric: str, shown: str = "") -> str:
    name, _, of = metric.partition(".")
    subject = subjects()[name]
    declared = subject.measures.get(of)
    amount, per = (declared.amount, declared.per) if declared else (of, "")
    return (
        f"SELECT system, qmgr, {shown or subject.called} AS object, interval_start AS start, "
        f"interval_seconds AS seconds, ({amount})::DOUBLE AS amount, "
        f"({per or 'NULL'})::DOUBLE AS per "
        f"FROM {subject.rows(SCHEMA)} WHERE amount IS NOT NULL"
    )


def way_of(metric: str | Mapping[str, str]) -> str:
    """Return how rows of `over_time` become one figure: average, peak, trough or total."""
    name, _, of = _first(metric).partition(".")
    declared = subjects()[name].measures.get(of)
    if declared is None:
        return "total"
    return "average" if declared.per else _TOGETHER.get(declared.combine, "peak")


def _first(metric: str | Mapping[str, str]) -> str:
    return metric if isinstance(metric, str) else next(iter(metric.values()))


def with_overall(sql: str) -> str:
    """Return an aggregate over rows of a subject, with `overall(measure)` for a measure of them."""
    return _OVERALL.sub(r"(sum(\1_amount) / nullif(sum(\1_per), 0))", sql)


def combined(column: Column) -> str:
    """Return the SQL of a column over several rows, as its declaration says: an aggregate.

    Sums of integers are kept 64 bits wide: DuckDB's are wider than Arrow and Parquet can hold. One
    that does not fit, as of damaged counters, is NULL. The last value is that of the row with the
    greatest `sequence`.
    """
    if column.combine is Combine.SUM:
        if column.shown.arrow == "double":
            return f"total({column.name})"
        wide = "UBIGINT" if column.shown.arrow.startswith("u") else "BIGINT"
        return f"TRY_CAST(sum({column.name}) AS {wide})"
    return _COMBINED[column.combine].format(column.name)


def averaged(table: str) -> Iterator[tuple[str, str]]:
    """Yield the times of a table that are divided by a count, and what counts."""
    for column in TABLES[table].columns:
        kind = column.field.kind
        if isinstance(kind, Duration) and kind.counter is not None:
            yield column.name, kind.counter


def quoted(text: str) -> str:
    """Return `text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


@cache
def metric_macros() -> str:
    """Return the SQL that makes the macros of all subjects."""
    return "".join(text for each in subjects().values() for text in each.macros())
