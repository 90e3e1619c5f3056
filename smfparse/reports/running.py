"""Reports: one SQL file and one declaration each, in `smfparse/reports/definitions`.

`<name>.sql` gives the numbers, with the `section` that a row is of; `<name>.toml` says what each
figure is called, in which style it is shown, and by which formula and fields it comes about. Text,
CSV, JSON, `--explain` and the reference in docs/reports.md are all made from the two. What the SQL
of several reports needs is in `macros.sql`, and what views need as well in `views/macros.sql`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

from smfparse.errors import RequestError
from smfparse.layout import Column
from smfparse.rendering.figures import ABSENT, STYLES
from smfparse.reports.options import parsed
from smfparse.reports.sections import EVERYTHING, RECORDED, Sections, statements
from smfparse.tables import TABLES, view_macros

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

Row: TypeAlias = Mapping[str, Any]
"""A row of a report: the keys of its section, and figures as the SQL gives them."""

EVIDENCE = {
    "field": "the field itself",
    "published": "a formula that IBM published, or that published figures confirm",
    "inferred": "our reading of the fields; IBM has not published the formula",
}
_DD_CSV = "CSV"
"""What the name of a report may have behind it, as MP1B's CSV files do."""
_CSV_KEYS = {"z/OS": "system", "QM": "qmgr", "Date": "date", "Time": "time"}
_ORDER = "keys.time, keys.system, keys.qmgr, keys.source, keys.record_no, rows.section"


@dataclass(frozen=True)
class Figure:
    """One figure of a report.

    name      column of the SQL, key in JSON
    csv       CSV header; '': not in CSV
    style     key of STYLES
    formula   how it comes about, in IBM's field names
    evidence  key of EVIDENCE
    suffix    what stands behind it in text, where there is a value
    note      what to know to read it
    absent    what is shown where there is no value
    """

    name: str
    csv: str
    style: str
    formula: str
    evidence: str = "field"
    suffix: str = ""
    note: str = ""
    absent: str = ABSENT

    def shown(self, value: Any) -> str:
        """Return the value in its style."""
        return self.absent if value is None else STYLES[self.style][0](value)


@dataclass(frozen=True)
class Block:
    """The rows of one kind of line as a table in text: a line above, headings, and columns.

    columns  name of a figure or key, its heading, and format: '<8'
    """

    title: str
    columns: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Report:
    """A report: its declaration and its SQL.

    title     what it shows
    dd        MP1B's DD names for it
    trace     the command that makes the data
    record    where the data stands
    nothing   what is said where the report is empty; '': that the input has no such record
    tables    the tables its SQL reads
    main      those of them whose rows make the sections
    section   what makes a section unless something else is asked for: see `Sections.of`
    order     SQL of the order of rows in a section
    grouped   tables combined by section, with the columns they are grouped by besides
    options   what else it can be asked for (see `smfparse.options`), and the values unless told
    choices   of options that take names: which
    text      templates of the lines of a row; the column `line` tells which one it takes
    blocks    instead of templates: the table that the rows of a kind of line make
    text_only  those whose rows only text has: CSV and JSON have the figures in other rows
    csv_lines  those whose rows CSV has, as MP1B's has only some; empty: all others
    top       a line above everything
    heading   lines above the rows of a section
    header    whether a section begins with whose it is, and from when to when
    csv_keys  CSV headers of the keys in front, and which key each is
    """

    name: str
    title: str
    dd: tuple[str, ...]
    trace: str
    record: str
    nothing: str
    tables: tuple[str, ...]
    main: tuple[str, ...]
    section: str
    order: str
    grouped: Mapping[str, Sequence[str]]
    options: Mapping[str, Any]
    choices: Mapping[str, Sequence[str]]
    text: Mapping[str, str]
    blocks: Mapping[str, Block]
    text_only: frozenset[str]
    csv_lines: frozenset[str]
    top: str
    heading: str
    header: bool
    csv_keys: Mapping[str, str]
    figures: tuple[Figure, ...]
    sql: str

    def has(self, line: str, form: str) -> bool:
        """Whether the rows of a kind of line are in the form text, csv or json."""
        if form == "text":
            return True
        if form == "csv" and self.csv_lines:
            return line in self.csv_lines
        return line not in self.text_only

    @property
    def across(self) -> bool:
        """Whether its sections are about all queue managers together; its rows tell them apart."""
        return self.section == EVERYTHING.by

    def left_out(self, asked: Mapping[str, Any]) -> frozenset[str]:
        """Return the columns of text that rows are not told apart by, as they were asked for."""
        by = self.values(asked).get("by", ())
        return frozenset(each.replace("-", "_") for each in self.choices.get("by", ())).difference(
            by
        )

    def values(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of its options. Raises RequestError for those that it cannot take."""
        return parsed(self.name, self.options, self.choices, asked)

    def absent(self) -> str:
        """Say which trace to start where the input does not have the data."""
        if self.nothing:
            return f"{self.nothing}. The data comes with {self.trace.rstrip(',')}."
        return (
            f"no data for the report {self.name}: the input has no {self.record}. "
            f"{self.trace} makes the queue manager write it."
        )


@cache
def report(name: str) -> Report:
    """Return the report called `name`, by its own name or one of MP1B's DD names.

    Raises RequestError where there is none.
    """
    for each in names():
        if is_report(name, each):
            return _report(each, _spec(each))
    raise RequestError(f"no report {name}; there are {', '.join(names())}")


def is_report(name: str, *among: str) -> bool:
    """Whether a report, one of `among` if such are given, is called `name`."""
    return any(
        name.upper().replace("_", "-") in (each.upper(), each.upper() + _DD_CSV, *_spec(each)["dd"])
        for each in among or names()
    )


@cache
def names() -> tuple[str, ...]:
    """Return the names of all reports."""
    found = (each.name for each in _folder().iterdir())
    return tuple(sorted(each.removesuffix(".toml") for each in found if each.endswith(".toml")))


def _folder() -> Any:
    return resources.files("smfparse.reports") / "definitions"


@cache
def _spec(name: str) -> dict[str, Any]:
    spec: dict[str, Any] = tomllib.loads((_folder() / f"{name}.toml").read_text("utf-8"))
    return spec


def _report(name: str, spec: Mapping[str, Any]) -> Report:
    tables, text = tuple(spec["tables"]), spec.get("text", {})
    return Report(
        name=name,
        title=spec["title"],
        dd=tuple(spec["dd"]),
        trace=spec["trace"],
        record=spec["record"],
        nothing=spec.get("nothing", ""),
        tables=tables,
        main=tuple(spec.get("main", tables[:1])),
        section=spec.get("section", RECORDED.by),
        order=spec.get("order", ""),
        grouped=spec.get("grouped", {}),
        options=spec.get("options", {}),
        choices=spec.get("choices", {}),
        text=text if isinstance(text, Mapping) else {"": text},
        blocks={
            line: Block(
                told["title"], tuple((each[0], each[1], each[2]) for each in told["columns"])
            )
            for line, told in spec.get("blocks", {}).items()
        },
        text_only=frozenset(spec.get("text_only", ())),
        csv_lines=frozenset(spec.get("csv_lines", ())),
        top=spec.get("top", ""),
        heading=spec.get("heading", ""),
        header=spec.get("header", True),
        csv_keys=spec.get("csv_keys", _CSV_KEYS),
        figures=tuple(_figure(each, told, tables) for each, told in spec["figures"].items()),
        sql=(_folder() / f"{name}.sql").read_text("utf-8"),
    )


def _figure(name: str, told: str | Mapping[str, Any], tables: Sequence[str]) -> Figure:
    """Return a figure; what is not told of one that is a field comes from the field."""
    spec = {"csv": told} if isinstance(told, str) else dict(told)
    if "formula" not in spec:
        spec = _of_field(name, tables) | spec
    return Figure(name, **spec)


def _of_field(name: str, tables: Sequence[str]) -> dict[str, Any]:
    column = next((c for each in tables for c in TABLES[each].columns if c.name == name), None)
    if column is None:
        raise RequestError(f"the figure {name} is no field of {', '.join(tables)}: give a formula")
    return {"formula": column.field.name.upper(), "note": column.doc, "style": _style(column)}


def _style(column: Column) -> str:
    arrow = column.shown.arrow
    if arrow == "bool":
        return "flag"
    if arrow == "string":
        return "text"
    if arrow.startswith("timestamp"):
        return "instant"
    return "rounded" if arrow == "double" else "count"


def run(
    which: Report, catalog: Catalog, sections: Sections | None = None, **asked: Any
) -> Generator[dict[str, Any], None, None]:
    """Yield the rows of a report, sections in time order, figures as the SQL gives them.

    Close it if it is not read to the end: files stay spooled until then.

    sections  what makes a section; None: what the report's declaration says
    asked     options of the report: see `smfparse.options`

    Raises RequestError for an option that the report does not take.
    """
    with closing(catalog.stream(_query(which, catalog, sections, asked))) as batches:
        for batch in batches:
            yield from batch.to_pylist()


def table(which: Report, catalog: Catalog, sections: Sections | None = None, **asked: Any) -> Any:
    """Return the rows that `run` yields as a pyarrow.Table, but for what tells their section."""
    found = catalog.arrow(_query(which, catalog, sections, asked))
    return found.drop_columns(["section"])


def _query(
    which: Report, catalog: Catalog, sections: Sections | None, asked: Mapping[str, Any]
) -> str:
    """Make the views that a report reads, and return its query."""
    sections = sections or Sections.of(which.section)
    if which.across:
        sections = sections.together()
    for name, value in which.values(asked).items():
        catalog.set_variable(name, value)
    prepare(catalog, sections, which.tables, which.grouped, which.main)
    order = f"{_ORDER}, {which.order}" if which.order else _ORDER
    own = "section, system, qmgr" if which.across else "section"
    return (
        f"SELECT rows.section, keys.* EXCLUDE ({own}), rows.* EXCLUDE (section) "
        f"FROM ({which.sql}) AS rows JOIN sectioned.keys AS keys USING (section) ORDER BY {order}"
    )


def prepare(
    catalog: Catalog,
    sections: Sections,
    tables: Sequence[str],
    grouped: Mapping[str, Sequence[str]],
    main: Sequence[str],
) -> None:
    """Make the macros and the views that queries read: see `sections.statements`."""
    catalog.define(view_macros())
    catalog.define((resources.files("smfparse.reports") / "macros.sql").read_text("utf-8"))
    for statement in statements(sections, tables, grouped, main):
        catalog.execute(statement)


def explain(which: Report) -> Iterator[str]:
    """Yield the lines that say how each figure comes about."""
    yield f"{which.name}: {which.title}"
    yield f"Data: {which.record} ({which.trace}). MP1B: {', '.join(which.dd) or 'not there'}."
    yield ""
    for each in which.figures:
        yield f"{each.csv or each.name} [{each.name}] = {each.formula}"
        yield f"    {STYLES[each.style][1]}; {EVIDENCE[each.evidence]}"
        if each.note:
            yield f"    {each.note}"
