"""Measures: values of a subject, declared once, correct for an interval and for any period.

A subject is a kind of object that rows describe, such as log manager or buffer pool.
`subjects/<name>.sql` creates the macro `<name>_facts`: a row per object and interval, with the
values that the measures need. `subjects/<name>.toml` declares the measures. A measure has an amount
per row, and may have a divisor:

    mb_written = { amount = "copy_pages / 256" }              sum
    io_busy = { amount = "...", per = "interval_seconds" }    sum of `amount` / sum of `per`
    longest_write = { amount = "longest", combine = "max" }   maximum
    cpu_seconds = { amount = "cpu_us", scale = "1e6" }        sum of microseconds, in seconds

    "io_{copy}_count" = { ... }                               one per value of `copy` in `each`

A subject that is `like` another subject inherits all declarations of that subject. `verbs` declares
the API calls that a row counts, with the SQL of their columns (`Verb`). In SQL of the subject,
`[sum({calls}), ...]` becomes a list with one such expression per API call.

So one declaration defines a measure for an interval, a section of 15 minutes and a day. Each field
of the first table is also a measure; the declaration of the field defines how its values combine.

Macros, which take the names of tables:

    <name>_rows        a row per interval, with every measure, and `<measure>_amount` and
                       `<measure>_per` of measures with a divisor
    <name>_by_section  a row per object in a section
    <name>_of_section  a row per section: all objects together
    <name>_by_qmgr     a row per object of a queue manager
    <name>_by          a row per value of the last argument, an expression over facts and `object`
                       (name of an object); the column `key` contains the value
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from smfparse.declarations import Key, Where, as_type, families, read_table, toml
from smfparse.decoding.dictionary import TABLES, columns
from smfparse.layout.clocks import TIMESTAMP, Duration
from smfparse.layout.columns import Column
from smfparse.layout.kinds import Combine

_FOLDER = Path(__file__).with_name("subjects")
SCHEMA = "inputs"
"""The schema in which tables and views have `input_no`."""
AVERAGE = "Mean"
"""The description of measures that are a time divided by its counter."""
_MADE = re.compile(r"\bAS (\w+)")
"""Regular expression for names of facts in the SQL that computes the facts."""
_OF_VERBS = re.compile(r"\[([^\[\]]+), \.\.\.\]")
_MACRO = re.compile(r"^CREATE OR REPLACE MACRO (\w+)", re.M)
_ROWS = ("rows", "by_section", "of_section", "by_qmgr", "by")
"""The macros of each subject: see `Subject.macros`."""
_OVERALL = re.compile(r"\boverall\((\w+)\)")
_COMBINED = {
    Combine.MAX: "max({0})",
    Combine.MIN: "min({0})",
    Combine.LAST: "arg_max({0}, sequence)",
    Combine.NONE: "arg_max({0}, sequence)",
}
WAYS = {
    "sum": "added",
    "max": "the greatest",
    "min": "the least",
    "last": "value of the last row",
    "largest": "value of the row with the greatest `by`",
    "distinct": "number of different values",
}
"""Ways to combine the amounts of several rows."""
_ORDERED = ("last", "largest")
"""Ways that depend on the order of rows."""
_SHORT = {
    "percent": "%",
    "microseconds": "us",
    "seconds": "s",
    "megabytes": "MB",
    "megabytes per second": "MB/s",
}
_TOGETHER = {"sum": "total", "min": "trough"}
_TYPES = (
    "double",
    "int64",
    "int32",
    "uint64",
    "uint32",
    "bool",
    "string",
    TIMESTAMP,
    "timestamp[us]",
)
_AT_THE_END = "smf_time AT TIME ZONE 'UTC' - to_seconds(utc_offset) - INTERVAL 30 SECOND"
"""Time of a record without an interval: SMF writes the record at the end of an interval."""


@dataclass(frozen=True)
class Measure:
    """A declared measure of a subject."""

    name: str
    amount: Annotated[str, Key("SQL of the amount in a row, over the columns of `<subject>_facts`")]
    doc: Annotated[str, Key("description")]
    formula: Annotated[str, Key("formula in IBM's field names")]
    unit: Annotated[str, Key("its unit", "none")] = ""
    per: Annotated[str, Key("SQL of the divisor", "none")] = ""
    combine: Annotated[str, Key("how amounts are combined", among=WAYS)] = "sum"
    by: Annotated[str, Key("SQL of the value that decides which row is shown", "none")] = ""
    scale: Annotated[str, Key("SQL of the amount that equals one unit", "1")] = ""
    type: Annotated[str, Key("Arrow type", among=_TYPES)] = "double"

    @property
    def of_row(self) -> str:
        """SQL of the measure of one row."""
        if self.combine == "distinct":
            return f"(({self.amount}) IS NOT NULL)::BIGINT"
        if self.per:
            return f"({self.amount}) / nullif({self.per}, 0)"
        if self.scale:
            return f"({self.amount}) / {self.scale}"
        if self.type == "uint64" and not self.amount.isidentifier():
            return f"TRY_CAST({self.amount} AS UBIGINT)"  # a sum of damaged counters can be larger
        return self.amount

    @property
    def of_rows(self) -> str:
        """SQL aggregate of the measure over several rows."""
        if self.scale:
            return f"total({self.amount}) / {self.scale}"
        if self.per:
            known = f"CASE WHEN ({self.amount}) IS NOT NULL THEN {self.per} END"
            return f"total({self.amount}) / nullif(total({known}), 0)"
        if self.combine == "last":
            return f"arg_max({self.amount}, sequence)"
        if self.combine == "largest":
            return f"of_largest({self.amount}, {self.by}, sequence)"
        if self.combine == "distinct":
            return f"count(DISTINCT {self.amount})"
        if self.combine != "sum":
            return f"{self.combine}({self.amount})"
        return summed(self.amount, self.type)

    @property
    def short_unit(self) -> str:
        """The unit in charts and comparisons."""
        return _SHORT.get(self.unit, self.unit)

    def a_second(self) -> Self:
        """Return a measure of the amount per second; this measure must be a sum."""
        unit = f"{self.short_unit}/s" if self.unit else "per second"
        formula = f"({self.formula})" if " + " in self.formula else self.formula
        return replace(
            self,
            amount=self.of_row,
            per="interval_seconds",
            scale="",
            unit=unit,
            formula=f"{formula} / seconds",
        )


@dataclass(frozen=True)
class Verb:
    """SQL of the columns for an API call that rows of a subject count; times in microseconds."""

    elapsed: Annotated[str, Key("elapsed time of the calls")]
    cpu: Annotated[str, Key("CPU time of the calls")]
    calls: Annotated[str, Key("number of calls", "NULL")] = "NULL"
    log_write: Annotated[str, Key("waits for writes to the log", "NULL")] = "NULL"
    log_force: Annotated[str, Key("waits for forced writes", "NULL")] = "NULL"
    page_set: Annotated[str, Key("waits for page sets", "NULL")] = "NULL"
    suspended: Annotated[str, Key("suspended time of the calls", "NULL")] = "NULL"
    srb: Annotated[str, Key("CPU time in service request blocks, in addition to `cpu`", "NULL")] = (
        "NULL"
    )


@dataclass(frozen=True)
class Subject:
    """A kind of object that rows describe.

    tables    names of the tables that the macros read; the first table contains the rows
    facts     boolean columns of `<name>_facts`, which conditions can name
    keys      fields that distinguish the objects of a queue manager
    object    SQL of the name of an object; the SQL literal '' if it is the queue manager itself
    noun      the word before the name of an object
    report    name of the report that shows most of the measures; '': none
    view      name of the view that renames fields; '': none
    verbs     API calls that the rows count, by name
    measures  measures by name, without fields
    """

    name: str
    title: str
    tables: tuple[str, ...]
    facts: tuple[str, ...]
    keys: tuple[str, ...]
    object: str
    noun: str
    report: str
    view: str
    verbs: Mapping[str, Verb]
    measures: Mapping[str, Measure]

    @property
    def called(self) -> str:
        """SQL of the noun and the name of an object."""
        return f"{quoted(f'{self.noun} ')} || {self.object}" if self.noun else self.object

    def columns(self) -> dict[str, tuple[str, str]]:
        """Return {name: (SQL over a row of facts, Arrow type)} for fields and measures."""
        found = {each: (each, "bool") for each in self.facts}
        found |= {each: (each, "int32") for each in self.keys}
        for column in TABLES[self.tables[0]].columns:
            found[column.name] = column.name, column.shown.arrow
        for each in self.measures.values():
            found[each.name] = each.of_row, each.type
            if each.per:
                found[f"{each.name}_amount"] = each.amount, "double"
                found[f"{each.name}_per"] = each.per, "double"
        return found

    def rows(self, schema: str = "") -> str:
        """Return the FROM expression for rows with measures; `schema`: that of the tables."""
        tables = ", ".join(quoted(f"{schema}.{each}".lstrip(".")) for each in self.tables)
        return f"{self.name}_rows({tables})"

    def facts_of(self, schema: str, named: Collection[str] | None = None) -> str:
        """Return the FROM expression for rows with facts, from the tables of a schema.

        named  words of the query. If none of them is a column that the macro adds, the result is
               the table itself. None: the words are unknown, so the macro is used.
        """
        tables = [f"{schema}.{each}" for each in self.tables]
        if not self._file.exists():
            return tables[0]
        if named is not None and not {*_MADE.findall(self._file.read_text("utf-8"))} & {*named}:
            return tables[0]
        return f"{self.name}_facts({', '.join(map(quoted, tables))})"

    def over_rows(self) -> dict[str, str]:
        """Return {name: SQL aggregate over rows of facts} for fields and measures."""
        fields = {each.name: combined(each) for each in TABLES[self.tables[0]].columns}
        return fields | {name: each.of_rows for name, each in self.measures.items()}

    def macros(self) -> Iterator[str]:
        """Yield the SQL that creates the macros of the subject; each CREATE starts a line."""
        given = ", ".join(f"rows_of_{table}" for table in self.tables)
        if self._file.exists():
            yield _of_verbs(self._file.read_text("utf-8"), self.verbs)
        yield self._macro("rows", given, f"SELECT *, {', '.join(self._of_row())} FROM {{}}")
        yield self._grouped("by_section", given, ["section", *self.keys])
        if self.keys:
            yield self._grouped("of_section", given, ["section"])
        yield self._grouped("by_qmgr", given, ["system", "qmgr", *self.keys])
        shown = f"wanted AS key, {', '.join(self._of_rows(ordered=True))}"
        named = f"(SELECT *, {self.object} AS object FROM {{}})"
        yield self._macro("by", given, f"SELECT {shown} FROM {named} GROUP BY wanted", "wanted")

    def _grouped(self, name: str, given: str, keys: Sequence[str]) -> str:
        shown = ", ".join([*keys, *self._of_rows(ordered="section" in keys)])
        return self._macro(name, given, f"SELECT {shown} FROM {{}} GROUP BY {', '.join(keys)}")

    def _macro(self, name: str, given: str, query: str, *more: str) -> str:
        facts = f"{self.name}_facts({given})" if self._file.exists() else f"query_table({given})"
        text = query.format(facts)
        takes = ", ".join((given, *more))
        return f"CREATE OR REPLACE MACRO {self.name}_{name}({takes}) AS TABLE {text};\n"

    @property
    def _file(self) -> Path:
        """SQL file of the macro for facts; if it is missing, the first table contains the facts."""
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
def subject_names() -> tuple[str, ...]:
    """Return the names of all subjects."""
    return tuple(sorted(each.stem for each in _FOLDER.glob("*.toml")))


def subjects() -> Mapping[str, Subject]:
    """Return all subjects by name. Raises RequestError for a wrong declaration."""
    return {name: metric_subject(name) for name in subject_names()}


@cache
def metric_subject(name: str) -> Subject:
    """Return the subject `name`. Raises RequestError for a wrong declaration."""
    file = _FOLDER / f"{name}.toml"
    where = Where(str(file))
    spec = toml(file, where)
    if "like" in spec:
        other = toml(file.with_stem(spec["like"]), where)
        spec = other | spec | {"measures": other["measures"] | spec.get("measures", {})}
    verbs = as_type(Mapping[str, Verb], spec.get("verbs", {}), where.at("verbs"))
    measures = {}
    for family, name, declared in families(
        spec["measures"], spec.get("each", {}), where.at("measures")
    ):
        table = read_table(Measure, declared, where.at("measures").at(family))
        measures[name] = Measure(name, **table | {"amount": _of_verbs(table["amount"], verbs)})
    return Subject(
        file.stem,
        spec["title"],
        tuple(spec["tables"]),
        tuple(spec.get("facts", ())),
        tuple(spec.get("keys", ())),
        spec.get("object", "''"),
        spec.get("noun", ""),
        spec.get("report", ""),
        spec.get("view", ""),
        verbs,
        {**measures, **_averages(spec["tables"][0])},
    )


def subject_of(table: str, tables: Sequence[str]) -> Subject:
    """Return the subject whose rows are in `table`, and whose other tables are in `tables`.

    Without such a subject, return a subject whose only measures are averages of fields.
    """
    for name in subject_names():
        if f'"{table}"' in (_FOLDER / f"{name}.toml").read_text("utf-8"):  # reading all takes long
            each = metric_subject(name)
            if each.tables[0] == table and {*each.tables} <= {*tables}:
                return each
    return Subject(table, "", (table,), (), (), "''", "", "", "", {}, _averages(table))


def _of_verbs(sql: str, verbs: Mapping[str, Verb]) -> str:
    """Return SQL with `[sum({calls}), ...]` replaced by a list: the expression for each verb."""

    def listed(found: re.Match[str]) -> str:
        each = (found[1].format(verb=name, **vars(of)) for name, of in verbs.items())
        return f"[{', '.join(each)}]"

    return _OF_VERBS.sub(listed, sql)


def _averages(table: str) -> Mapping[str, Measure]:
    """Return the measures of a table that are a time divided by the counter of the time."""
    found = {}
    for column in TABLES[table].columns:
        kind, name = column.field.kind, f"{column.name}_average"
        if isinstance(kind, Duration) and kind.counter is not None:
            per, formula = (
                f"timed({kind.counter}, {column.name})",
                f"{column.name} / {kind.counter}",
            )
            found[name] = Measure(name, column.name, AVERAGE, formula.upper(), "microseconds", per)
    return found


def metrics_of(metric: str | Mapping[str, str]) -> tuple[str, ...]:
    """Return the measures that a declaration names, as `log.task_busy`; '': no measure."""
    return tuple(filter(None, (metric,) if isinstance(metric, str) else metric.values()))


def over_time(metric: str | Mapping[str, str], way: str = "") -> str:
    """Return the query for values over time: a row per object and interval.

    metric  the measure or field, as `log.task_busy`; or several, by the names shown as objects
    way     average, peak, trough or total: how several rows are combined; '': result of `way_of`

    Columns: system, qmgr, object, start (UTC), seconds, amount, and per (NULL: no divisor).
    """
    way = way or way_of(metric)
    if isinstance(metric, str):
        return _over_time(metric, way)
    return " UNION ALL ".join(_over_time(each, way, quoted(of)) for of, each in metric.items())


def _over_time(metric: str, way: str, shown: str = "") -> str:
    subject, measure = measure_of(metric)
    amount, per = measure.of_row, ""
    if measure.per and way == "average":
        amount, per = measure.amount, measure.per
    start, seconds = "interval_start", "interval_seconds"
    if TABLES[subject.tables[0]].stub:
        start, seconds = _AT_THE_END, "0"
    return (
        f"SELECT system, qmgr, {shown or subject.called} AS object, {start} AS start, "
        f"{seconds} AS seconds, ({amount})::DOUBLE AS amount, "
        f"({per or 'NULL'})::DOUBLE AS per "
        f"FROM {subject.rows(SCHEMA)} WHERE amount IS NOT NULL AND per IS DISTINCT FROM 0"
    )


def way_of(metric: str | Mapping[str, str]) -> str:
    """Return how several rows of `over_time` are combined: average, peak, trough or total."""
    _, measure = measure_of(metrics_of(metric)[0])
    return "average" if measure.per else _TOGETHER.get(measure.combine, "peak")


def measure_of(metric: str) -> tuple[Subject, Measure]:
    """Return the subject and the measure that a declaration names; a field counts as a measure."""
    name, _, of = metric.partition(".")
    subject = metric_subject(name)
    if of in subject.measures:
        return subject, subject.measures[of]
    field = next(each for each in columns(subject.tables[0]) if each.name == of)
    formula, unit, combine = of.upper(), field.unit or "", str(field.combine)
    return subject, Measure(of, of, field.doc, formula, unit, combine=combine)


def with_overall(sql: str) -> str:
    """Return SQL with `overall(measure)` replaced by the quotient of sums over `<name>_rows`."""
    return _OVERALL.sub(r"(sum(\1_amount) / nullif(sum(\1_per), 0))", sql)


def combined(column: Column) -> str:
    """Return the SQL aggregate of a column over several rows, as the declaration defines it.

    The last value is that of the row with the greatest `sequence`.
    """
    if column.combine is Combine.SUM:
        return summed(column.name, column.shown.arrow)
    return _COMBINED[column.combine].format(column.name)


def summed(column: str, arrow: str) -> str:
    """Return the SQL of the sum of a column of an Arrow type.

    Sums of integers are cast to 64 bits, because the sums of DuckDB are too wide for Arrow and
    Parquet. A sum that does not fit, as of damaged counters, is NULL.
    """
    if arrow == "double":
        return f"total({column})"
    return f"TRY_CAST(sum({column}) AS {'UBIGINT' if arrow.startswith('u') else 'BIGINT'})"


def quoted(text: str) -> str:
    """Return `text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


@cache
def makers() -> Mapping[str, str]:
    """Return {macro: subject that defines the macro}, without reading declarations of measures."""
    found: dict[str, str] = {}
    for name in subject_names():
        file = _FOLDER / f"{name}.sql"
        own = _MACRO.findall(file.read_text("utf-8")) if file.exists() else []
        found |= dict.fromkeys([*own, *(f"{name}_{each}" for each in _ROWS)], name)
    return found
