"""Descriptions of tables, views, columns, measures and fields, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import starmap

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
from smfparse.metrics.measures import WAYS, Measure, subjects
from smfparse.metrics.views import columns_meant, view, view_names


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
