"""Views: joined tables with readable names of columns; an SQL file and a declaration per view.

`definitions/<name>.sql` is a SELECT over the tables of the schema `inputs`. Their column `input_no`
is the number of the dataset: joined rows must have the same number. `<name>.toml` declares the
columns after the keys:

    depth = "qqstdpth"                     a field: its meaning, unit and type
    depth = { field = "qqstdpth", ... }    a field with another description or unit
    puts = { sum = "putn" }                the sum of a field
    busy = { formula = ..., doc = ... }    computed; a double, unless `type` is given
    mb_written = "log.mb_written"          a measure of a subject

A view of a `subject` needs no SQL: its rows are the rows of the subject. If SQL exists, the SQL
returns these rows with additional columns, which are not measures or fields of the subject. A
column with the name of a key declares the meaning of the key in this view. `macros.sql` contains
macros for the SQL of views and of reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from smfparse.decoding.dictionary import (
    KEY_COLUMNS,
    TableColumn,
    columns,
    columns_named,
    meaning,
    table_names,
    title,
)
from smfparse.metrics.measures import (
    SCHEMA,
    Subject,
    makers,
    metric_subject,
    quoted,
    subjects,
    summed,
)

_FOLDER = Path(__file__).with_name("definitions")
_MACROS = re.compile(r"^(?=CREATE OR REPLACE MACRO )", re.M)
_MACRO = re.compile(r"MACRO (\w+)")
_CALLED = re.compile(r"(\w+)\(")
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"^\s*--.*", re.MULTILINE)
_NO_KEYS = ("record_offset", "block_no")
"""Key columns that a view contains only if its declaration names them."""


class View(NamedTuple):
    """A view.

    title    meaning of a row
    tables   names of the tables that the SQL reads
    columns  columns, in which `place` is the formula
    sql      SELECT statement, with `input_no` as the first column
    subject  name of the subject whose measures are columns; '': none
    """

    name: str
    title: str
    tables: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    sql: str
    subject: str = ""

    def statements(self) -> Iterator[str]:
        """Yield the statements that create the view; the tables and macros must exist."""
        yield f"CREATE OR REPLACE VIEW {SCHEMA}.{self.name} AS\n{self.sql}"
        yield (
            f"CREATE OR REPLACE VIEW {self.name} AS\n"
            f"SELECT * EXCLUDE (input_no) FROM {SCHEMA}.{self.name}"
        )


@cache
def view_names() -> tuple[str, ...]:
    """Return the names of all views."""
    found = (each.name for each in _FOLDER.iterdir())
    return tuple(sorted(each.removesuffix(".toml") for each in found if each.endswith(".toml")))


@cache
def view(name: str) -> View:
    """Return the view `name`, one of `view_names()`."""
    spec = _spec(name)
    declared: Mapping[str, Any] = spec["columns"]
    keys = [each for each in KEY_COLUMNS if each.name not in (*_NO_KEYS, *declared)]
    found = {each.name: each for each in keys} | {
        each: _column(each, spec["tables"], text if isinstance(text, dict) else {"field": text})
        for each, text in declared.items()
    }
    order = [each.name for each in KEY_COLUMNS if each.name in found and each.name not in _NO_KEYS]
    order += [each for each in found if each not in order]
    return View(
        name,
        spec["title"],
        tuple(spec["tables"]),
        tuple(found[each] for each in order),
        _sql(name, spec, keys),
        spec.get("subject", ""),
    )


@cache
def _spec(name: str) -> Mapping[str, Any]:
    import tomllib  # slow to load, and for views alone

    return tomllib.loads(_text(f"{name}.toml"))


def _sql(name: str, spec: Mapping[str, Any], keys: Sequence[TableColumn]) -> str:
    """Return the SQL of a view: text of its file, or a SELECT of its columns from its subject."""
    file = _FOLDER / f"{name}.sql"
    if "subject" not in spec:
        sums = {name: each["sum"] for name, each in spec["columns"].items() if "sum" in each}
        texts = (
            f"{summed(field, _wide(_field(field, spec['tables']).arrow))} AS {name}"
            for name, field in sums.items()
        )
        return file.read_text("utf-8").strip().replace("sums_of_fields", ", ".join(texts))
    subject = metric_subject(spec["subject"])
    selected = ["input_no", *(each.name for each in keys)]
    selected += (f'"{source}" AS "{column}"' for column, source in shown_in(name, subject))
    rows = f"({file.read_text('utf-8').strip()})" if file.exists() else subject.rows()
    return f"SELECT {', '.join(selected)} FROM {rows}"


def shown_in(name: str, subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield (column of a view, field or measure of the subject)."""
    fields = {each.name for each in columns(subject.tables[0])}
    for column, text in _spec(name)["columns"].items():
        field = text if isinstance(text, str) else text.get("sum", text.get("field", ""))
        _, is_measure, source = field.rpartition(".")
        yield column, source if is_measure or source in fields else column


def relations() -> tuple[str, ...]:
    """Return the names of all tables and views."""
    return (*table_names(), *view_names())


def columns_of(name: str) -> tuple[TableColumn, ...]:
    """Return the columns of a table or view."""
    return view(name).columns if name in view_names() else tuple(columns(name))


def columns_meant(name: str) -> list[tuple[str, TableColumn]]:
    """Return (table or view, column) for each column of that name.

    name  name of a column, in upper or lower case, or IBM's name of its field; a table or view can
          be the prefix: wqst.putn
    """
    relation, _, column = name.lower().rpartition(".")
    found = columns_named(column)
    found += [(each, c) for each in view_names() for c in columns_of(each) if c.name == column]
    return [(each, c) for each, c in found if relation in ("", each)]


def title_of(name: str) -> str:
    """Return the one-line description of a table or view."""
    return view(name).title if name in view_names() else title(name)


def view_macros() -> str:
    """Return the SQL that creates all macros: those of subjects, views and reports."""
    return _text("macros.sql") + "".join(
        text for each in subjects().values() for text in each.macros()
    )


def named_macros(queries: str, more: str = "") -> str:
    """Return the SQL that creates the macros in `queries`, and the macros that these macros use.

    The order of macros is kept: a scalar macro cannot be created before a macro that it uses.

    more  SQL that creates macros in addition to `view_macros`; each CREATE starts a line
    """
    common, own = _macros(_text("macros.sql")), _macros(more)

    def text_of(name: str) -> str:
        of_subject = _macros_of(makers()[name]) if name in makers() else {}
        return common.get(name) or own.get(name) or of_subject.get(name, "")

    found = _called(queries, text_of)
    return "".join(found[name] for name in (*common, *makers(), *own) if name in found)


def own_macros(query: str, macros: str) -> str:
    """Return the SQL of the macros in `macros` that a query uses, directly or by other macros."""
    return "".join(_called(query, lambda name: _macros(macros).get(name, "")).values())


def _called(queries: str, text_of: Callable[[str], str]) -> dict[str, str]:
    found: dict[str, str] = {}
    names = {*_CALLED.findall(queries)}
    while names:
        new = {name: text for name in names if (text := text_of(name))}
        found |= new
        names = {other for text in new.values() for other in _CALLED.findall(text)} - found.keys()
    return found


@cache
def _macros_of(subject: str) -> Mapping[str, str]:
    return _macros("".join(metric_subject(subject).macros()))


@cache
def _macros(macros: str) -> Mapping[str, str]:
    return {_MACRO.findall(each)[0]: each for each in _MACROS.split(macros)[1:]}


def comments(kind: str, name: str, wanted: frozenset[str] | None = None) -> Iterator[str]:
    """Yield the statements that comment a table or view and its columns.

    kind    TABLE or VIEW, as created in the database
    wanted  the columns of a table; None: all except columns on request
    """
    yield f"COMMENT ON {kind} {name} IS {quoted(title_of(name))}"
    for each in columns_of(name) if wanted is None else columns(name, wanted):
        yield f'COMMENT ON COLUMN {name}."{each.name}" IS {quoted(meaning(each))}'


def views_script(tables: Iterable[str] | None = None) -> str:
    """Return the SQL that creates all views in a DuckDB without smfparse.

    tables  the tables in the schema `main`; None: all tables. Views of other tables are omitted

    The SQL also creates macros, and the schema `inputs`.
    """
    there = set(table_names() if tables is None else tables)
    made = [each for each in map(view, view_names()) if there.issuperset(each.tables)]
    needed = sorted({table for each in made for table in each.tables})
    statements = [
        "SET TimeZone = 'UTC'",
        view_macros().strip().removesuffix(";"),
        f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
        *(
            f"CREATE OR REPLACE VIEW {SCHEMA}.{table} AS SELECT 0 AS input_no, * FROM main.{table}"
            for table in needed
        ),
        *(text for each in made for text in (*each.statements(), *comments("VIEW", each.name))),
    ]
    return "".join(f"{statement};\n" for statement in statements)


@lru_cache(maxsize=1024)
def words_in(text: str) -> frozenset[str]:
    """Return the words of an SQL or Arrow expression, including names, without comment lines."""
    return frozenset(_WORD.findall(_COMMENT.sub("", text)))


def _column(name: str, tables: Sequence[str], declared: Mapping[str, str]) -> TableColumn:
    """Return a declared column; the field supplies properties that are not declared."""
    own = {each: declared[each] for each in ("doc", "unit") if each in declared}
    if "sum" in declared:
        field = _field(declared["sum"], tables)
        place = f"sum({_formula(field)})"
        return field._replace(name=name, arrow=_wide(field.arrow), place=place, **own)  # type: ignore[arg-type]
    if "." in declared.get("field", ""):
        subject, _, measure = declared["field"].partition(".")
        each = metric_subject(subject).measures[measure]
        found = TableColumn(name, each.type, each.doc, each.unit or None, place=each.formula)
        return found._replace(**own)  # type: ignore[arg-type]
    if "field" in declared:
        field = _field(declared["field"], tables)
        return field._replace(name=name, place=_formula(field), **own)  # type: ignore[arg-type]
    return TableColumn(
        name,
        declared.get("type", "double"),
        declared["doc"],
        declared.get("unit"),
        place=declared["formula"],
    )


def _field(name: str, tables: Sequence[str]) -> TableColumn:
    return next(each for table in tables for each in columns(table) if each.name == name)


def _formula(field: TableColumn) -> str:
    return field.place.split()[-1].upper() if field.place else ""


def _wide(arrow: str) -> str:
    """Return the type of a sum: 64 bits wide, as in `summed`."""
    return {"double": "double", "uint64": "uint64"}.get(arrow, "int64")


def _text(file: str) -> str:
    return (_FOLDER / file).read_text(encoding="utf-8")
