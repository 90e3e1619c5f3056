"""Descriptions of tables, views, columns, measures and fields, by name, as documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Any

from smfparse.decoding.dictionary import (
    TableColumn,
    columns,
    fields_named,
    near_names,
    table_names,
    title,
)
from smfparse.errors import RequestError
from smfparse.layout.columns import Field
from smfparse.metrics.measures import WAYS, Measure, metrics_of, subjects
from smfparse.metrics.views import columns_meant, view, view_names, words_in
from smfparse.rendering.document import Cells, Column, Document, Facts, Section, Table
from smfparse.rendering.text import aligned


@dataclass(frozen=True)
class Relation:
    """A table or view.

    made_of  names of the tables that a view reads; empty for a table
    """

    name: str
    title: str
    columns: tuple[TableColumn, ...]
    made_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A column, a measure, or a field of a control block.

    name   name with its table or subject as a prefix, or with its block and byte offset (hex)
    facts  known properties (type, unit, ...) by name
    """

    name: str
    meaning: str
    facts: Mapping[str, str] = field(default_factory=dict)


def every_relation() -> list[Relation]:
    """Return all tables, then all views."""
    return [
        *map(_table, table_names()),
        *map(_view, view_names()),
    ]


def described(name: str) -> Relation | list[Entry]:
    """Return the table or view `name`, or the columns, measures and fields of that name.

    Fields are returned only if no column or measure has the name.

    name  upper or lower case; columns and measures can have a table or subject as a prefix

    Raises RequestError for an unknown name, with similar names.
    """
    if name.lower() in table_names():
        return _table(name.lower())
    if name.lower() in view_names():
        return _view(name.lower())
    found = [_column(table, column) for table, column in columns_meant(name)]
    if found := [*found, *starmap(_measure, measures_meant(name))]:
        return found
    if mapped := fields_named(name):
        return [_field(block, each) for block, each in mapped]
    near = near_names(name, view_names()) if name else []
    way_out = f"near: {', '.join(near)}" if near else "see smfparse describe"
    raise RequestError(f"no table, view, column or measure {name}; {way_out}")


def measures_meant(name: str) -> list[tuple[str, Measure]]:
    """Return (subject, measure) for each measure of that name: task_busy, or log.task_busy."""
    subject, _, own = name.lower().rpartition(".")
    return [
        (each.name, each.measures[own])
        for each in subjects().values()
        if own in each.measures and subject in ("", each.name)
    ]


def _table(name: str) -> Relation:
    return Relation(name, title(name), columns(name))


def _view(name: str) -> Relation:
    found = view(name)
    return Relation(name, found.title, tuple(found.columns), tuple(found.tables))


def _column(table: str, column: TableColumn) -> Entry:
    facts = {"type": column.arrow, "unit": column.unit}
    if table in table_names():
        facts["since"] = column.since or "all versions"
        facts["field"] = column.place
        facts["over intervals"] = str(column.combine)
    else:
        facts["formula"] = column.place
    return Entry(f"{table}.{column.name}", column.doc, _existing(facts))


def _measure(subject: str, found: Measure) -> Entry:
    facts = {
        "type": found.type,
        "unit": found.unit,
        "formula": found.formula,
        "over intervals": "the sum of one part divided by the sum of the other"
        if found.per
        else WAYS[found.combine],
    }
    return Entry(f"{subject}.{found.name}", found.doc, _existing(facts))


def _field(block: str, found: Field) -> Entry:
    times = f", {found.count} times" if found.count > 1 else ""
    facts = {
        "kind": found.kind.fact,
        "width": f"{found.kind.width} bytes{times}",
        "unit": found.kind.unit,
    }
    return Entry(f"{block}+{found.offset:04X} {found.name}", found.doc, _existing(facts))


def _existing(facts: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in facts.items() if value}


_OF_TABLE = ("Column", "Type", "Unit", "Since", "Field", "Meaning")
_OF_VIEW = ("Column", "Type", "Unit", "Meaning", "Formula")
_LISTED = (Column("Name"), Column("Columns", right=True), Column("Title"))


def description(name: str | None) -> Document:
    """Explain `name`; None: list all tables and views. Raises RequestError for an unknown name."""
    if name is None:
        return _List(every_relation())
    try:
        found = described(name)
    except RequestError:
        if elsewhere := _elsewhere(name):
            raise RequestError(f"{name} is {elsewhere}") from None
        raise
    if isinstance(found, Relation):
        return _RelationColumns(found)
    measures = {f"{subject}.{each.name}" for subject, each in measures_meant(name)}
    return _Entries(name, [_placed(each) if each.name in measures else each for each in found])


def _elsewhere(name: str) -> str:
    """Return "a report; see ..." if another command explains the name; '': no command does."""
    from smfparse.advice.declaration import diagnoses, rules
    from smfparse.reports.declaration import is_report, report

    if is_report(name):
        return f"a report; see smfparse report {report(name).name} --explain"
    wanted = name.upper()
    if wanted in rules() or wanted in diagnoses():
        return f"a finding; see smfparse check --explain {wanted}"
    return ""


def _placed(measure: Entry) -> Entry:
    shown = {kind: ", ".join(names) for kind, names in uses_of(measure.name).items() if names}
    return replace(measure, facts={**measure.facts, **shown})


def uses_of(measure: str) -> dict[str, list[str]]:
    """Return {kind: names} of the views, reports, lines, panels and rules that use a measure."""
    from smfparse.advice.declaration import rules
    from smfparse.advice.declaration import subjects as looked_at
    from smfparse.advice.judging import sql_of_rule
    from smfparse.dashboard.declaration import panels
    from smfparse.reports.declaration import Report, declared
    from smfparse.summarizing.figures import lines

    subject, _, own = measure.partition(".")
    of_views = (each for each in map(view, view_names()) if each.subject == subject)
    of_reports = (each for each in declared().values() if isinstance(each, Report))
    of_rules = (each for each in rules().values() if looked_at()[each.subject].of == subject)
    return {
        "views": [each.name for each in of_views if own in {c.name for c in each.columns}],
        "reports": [
            each.name
            for each in of_reports
            if each.subject == subject and own in {f.measure or f.name for f in each.figures}
        ],
        "summary": [name for name, each in lines().items() if measure in metrics_of(each.metric)],
        "page": [name for name, each in panels().items() if measure in metrics_of(each.metric)],
        "rules": [
            each.id for each in of_rules if any(own in words_in(sql) for sql in sql_of_rule(each))
        ],
    }


class _List(Document):
    """A list of all tables and views."""

    title = "Tables and views"

    def __init__(self, found: Sequence[Relation]) -> None:
        self._found = found

    def sections(self) -> Iterator[Section]:
        rows = ((each.name, str(len(each.columns)), each.title) for each in self._found)
        yield Section("", [Table(_LISTED, rows)])

    def facts(self) -> Iterator[Facts]:
        tables = [
            {"name": each.name, "columns": len(each.columns), "title": each.title}
            for each in self._found
        ]
        yield Facts({"tables": tables}, indent=2)

    def printed(self) -> Iterator[str]:
        rows = [(each.name, f"{len(each.columns):>4} columns", each.title) for each in self._found]
        return aligned([Column("")] * 3, rows, heading=False)


class _RelationColumns(Document):
    """The columns of a table or view."""

    def __init__(self, found: Relation) -> None:
        self._found = found
        of = f". A view of {', '.join(found.made_of)}" if found.made_of else ""
        self.title = f"{found.name}: {found.title}{of}"

    def sections(self) -> Iterator[Section]:
        yield Section("", [self._table()])

    def facts(self) -> Iterator[Facts]:
        head: dict[str, Any] = {"name": self._found.name, "title": self._found.title}
        if self._found.made_of:
            head["view_of"] = list(self._found.made_of)
        table = self._table()
        names = [column.heading.lower() for column in table.columns]
        rows = [dict(zip(names, cells, strict=True)) for cells in table.rows]
        yield Facts({**head, "columns": rows}, indent=2)

    def printed(self) -> Iterator[str]:
        table = self._table()
        yield from (self.title, "")
        yield from aligned(table.columns, table.rows)

    def _table(self) -> Table:
        rows: list[Cells]
        columns = self._found.columns
        if self._found.made_of:
            rows = [(c.name, c.arrow, c.unit or "", c.doc, c.place) for c in columns]
            return Table([*map(Column, _OF_VIEW)], rows)
        rows = [(c.name, c.arrow, c.unit or "", c.since, c.place, c.doc) for c in columns]
        return Table([*map(Column, _OF_TABLE)], rows)


class _Entries(Document):
    """The columns, fields and measures that one name matches."""

    def __init__(self, name: str, found: Sequence[Entry]) -> None:
        self.title = name
        self._found = found

    def sections(self) -> Iterator[Section]:
        names = list(dict.fromkeys(name for each in self._found for name in each.facts))
        rows = (
            (each.name, each.meaning, *(each.facts.get(name, "") for name in names))
            for each in self._found
        )
        columns = [Column(name.capitalize()) for name in ("name", "meaning", *names)]
        yield Section("", [Table(columns, rows)])

    def facts(self) -> Iterator[Facts]:
        found = [{"name": e.name, "meaning": e.meaning, **e.facts} for e in self._found]
        yield Facts({"found": found}, indent=2)

    def printed(self) -> Iterator[str]:
        for each in self._found:
            yield f"{each.name}: {each.meaning}"
            for name, value in each.facts.items():
                yield f"    {name:<16}{value}"
