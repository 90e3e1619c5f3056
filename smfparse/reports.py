"""Reports: one SQL file and one declaration each, in `smfparse/sql`.

`<name>.sql` gives the numbers, one row a section; `<name>.toml` says what each figure is called, in
which form it is shown, and by which formula and fields it comes about. Text, CSV, JSON, `--explain`
and the reference in docs/reports.md are all made from the two.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

from smfparse.errors import RequestError
from smfparse.layout import version_key
from smfparse.sections import Sections, statements

if TYPE_CHECKING:
    from smfparse.catalog import Catalog

Row: TypeAlias = Mapping[str, Any]
"""One section: keys, and figures as the SQL gives them."""

ABSENT = "-"
"""A figure whose inputs are not in the data."""
WHOLE_SECONDS_SINCE = (9, 3, 0)
"""The release from which the interval line is written in whole seconds."""

EVIDENCE = {
    "field": "the field itself",
    "published": "a formula that IBM published, or that published figures confirm",
    "inferred": "our reading of the fields; IBM has not published the formula",
}
_CSV_KEYS = ("z/OS", "QM", "Date", "Time")
_CSV_TAIL = ("VRM", "QSG", "Interval start", "Interval seconds")
_FORMULA_STARTS = ("=", "+", "-", "@")
_NUMBER = re.compile(r"-?[0-9.]+")


def _count(value: Any) -> str:
    return str(int(value))


def _truncated(value: Any) -> str:
    return str(math.trunc(value))


def _rounded(value: Any) -> str:
    return f"{value:.0f}"


def _decimal(value: Any) -> str:
    return f"{value:.3f}"


def _percent(value: Any) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _instant(value: Any) -> str:
    return f"{value:%Y/%m/%d,%H:%M:%S.%f}"


FORMS: Mapping[str, tuple[Callable[[Any], str], str]] = {
    "count": (_count, "whole number"),
    "truncated": (_truncated, "truncated to a whole number"),
    "rounded": (_rounded, "rounded to a whole number"),
    "decimal": (_decimal, "three decimals"),
    "percent": (_percent, "up to two decimals"),
    "instant": (_instant, "local time of the system"),
    "text": (str, "text"),
}


@dataclass(frozen=True)
class Figure:
    """One figure of a report.

    name      column of the SQL, key in JSON
    csv       CSV header
    form      key of FORMS
    formula   how it comes about, in IBM's field names
    evidence  key of EVIDENCE
    suffix    what stands behind it in text, where there is a value
    note      what to know to read it
    """

    name: str
    csv: str
    form: str
    formula: str
    evidence: str = "field"
    suffix: str = ""
    note: str = ""

    def shown(self, value: Any) -> str:
        """Return the value in its form, `-` where there is none."""
        return ABSENT if value is None else FORMS[self.form][0](value)


@dataclass(frozen=True)
class Report:
    """A report: its declaration and its SQL.

    dd       MP1B's DD names for it
    trace    the command that makes the data
    record   where the data stands
    tables   the tables its SQL reads
    text     template of a section's lines, `{figure:width}`
    grouped  tables combined by section, with the columns they are grouped by besides
    """

    name: str
    title: str
    dd: tuple[str, ...]
    trace: str
    record: str
    tables: tuple[str, ...]
    text: str
    grouped: Mapping[str, Sequence[str]]
    figures: tuple[Figure, ...]
    sql: str

    def absent(self) -> str:
        """Say which trace to start where the input does not have the data."""
        return (
            f"no data for the report {self.name}: the input has no {self.record}. "
            f"{self.trace} makes the queue manager write it."
        )


@dataclass(frozen=True)
class _Shown:
    """A figure in a text template: padded, with its unit behind it."""

    text: str
    suffix: str

    def __format__(self, spec: str) -> str:
        padded = format(self.text, spec)
        return padded if self.text == ABSENT else padded + self.suffix


@cache
def report(name: str) -> Report:
    """Return the report called `name`, by its own name or one of MP1B's DD names.

    Raises RequestError where there is none.
    """
    folder = resources.files("smfparse") / "sql"
    for each in names():
        spec = tomllib.loads((folder / f"{each}.toml").read_text(encoding="utf-8"))
        if name.lower() == each or name.upper() in spec["dd"]:
            figures = tuple(Figure(**figure) for figure in spec.pop("figure"))
            spec |= {"dd": tuple(spec["dd"]), "figures": figures, "tables": tuple(spec["tables"])}
            return Report(name=each, sql=(folder / f"{each}.sql").read_text("utf-8"), **spec)
    raise RequestError(f"no report {name}; there are {', '.join(names())}")


@cache
def names() -> tuple[str, ...]:
    """Return the names of all reports."""
    folder = resources.files("smfparse") / "sql"
    found = (each.name.removesuffix(".toml") for each in folder.iterdir())
    return tuple(sorted(each for each in found if "." not in each))


def run(
    which: Report, catalog: Catalog, sections: Sections = Sections.RECORDED
) -> list[dict[str, Any]]:
    """Return the sections of a report in time order, figures as the SQL gives them."""
    for statement in statements(sections, which.tables, which.grouped):
        catalog.execute(statement)
    rows: list[dict[str, Any]] = catalog.arrow(which.sql).to_pylist()
    return rows


def _vrm(row: Row) -> str:
    """Return the release as MP1B prints it: 930, and 100000 for MQ 10."""
    if row["mq_version"] is None:
        return ABSENT
    parts = version_key(row["mq_version"])
    if parts[0] < 10:
        return "".join(map(str, parts))
    return "".join(f"{part:02}" for part in parts)


def _local(row: Row, moment: dt.datetime | None) -> dt.datetime | None:
    """Return a UTC moment in the local time of the section's system."""
    if moment is None or row["utc_offset"] is None:
        return None
    zone = dt.timezone(dt.timedelta(seconds=row["utc_offset"]))
    return moment.astimezone(zone)


def _date_and_time(row: Row) -> tuple[str, str]:
    taken = row["smf_time"]
    return (ABSENT, ABSENT) if taken is None else (f"{taken:%Y/%m/%d}", f"{taken:%H:%M:%S}")


def _interval_line(row: Row) -> str:
    start, end = _local(row, row["interval_start"]), _local(row, row["interval_end"])
    seconds = row["interval_seconds"]
    version = row["mq_version"]
    whole = version is None or version_key(version) >= WHOLE_SECONDS_SINCE
    if start is None or end is None:
        return f"From {ABSENT} to {ABSENT}, duration {ABSENT} seconds."
    if whole:
        moments = [f"{each:%Y/%m/%d,%H:%M:%S}" for each in (start, end)]
        return f"From {moments[0]} to {moments[1]}, duration {math.trunc(seconds)} seconds."
    return f"From {_instant(start)} to {_instant(end)} duration {seconds:.6f} seconds"


def _shown(figure: Figure, row: Row) -> str:
    value = row[figure.name]
    return figure.shown(_local(row, value) if figure.form == "instant" else value)


def text(which: Report, rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of the report as MP1B prints it, an empty line between sections."""
    first = True
    for row in rows:
        if not first:
            yield ""
        first = False
        date, time = _date_and_time(row)
        yield f"{row['system'] or ABSENT},{row['qmgr'] or ABSENT},{date},{time},VRM:{_vrm(row)},"
        yield _interval_line(row)
        shown = {each.name: _Shown(_shown(each, row), each.suffix) for each in which.figures}
        yield from which.text.strip("\n").format_map(shown).splitlines()
    if first:
        yield which.title


def csv_lines(which: Report, rows: Iterable[Row]) -> Iterator[str]:
    """Yield a header and a line a section; what is absent is empty."""
    yield _csv_line([*_CSV_KEYS, *(each.csv for each in which.figures), *_CSV_TAIL])
    for row in rows:
        start = _local(row, row["interval_start"])
        cells = [row["system"], row["qmgr"], *_date_and_time(row)]
        cells += [_plain(each, row) for each in which.figures]
        cells += [_vrm(row), row["qsg"], start and start.isoformat(), row["interval_seconds"]]
        yield _csv_line([_csv_cell(cell) for cell in cells])


def _plain(figure: Figure, row: Row) -> str:
    """Return a figure for CSV: moments in ISO 8601."""
    value = row[figure.name]
    if figure.form != "instant":
        return figure.shown(value)
    local = _local(row, value)
    return ABSENT if local is None else local.isoformat()


def _csv_cell(value: Any) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    if value is None or value == ABSENT:
        return ""
    if (
        isinstance(value, str)
        and value.startswith(_FORMULA_STARTS)
        and not _NUMBER.fullmatch(value)
    ):
        return f"'{value}"
    return str(value)


def _csv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def json_text(which: Report, rows: Iterable[Row]) -> str:
    """Return the report as JSON: figures in full, moments in UTC and in local time."""
    sections = [_json_section(row) for row in rows]
    return json.dumps({"report": which.name, "sections": sections}, indent=2)


def _json_section(row: Row) -> dict[str, Any]:
    section: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dt.datetime):
            section[name] = value.isoformat()
            if value.tzinfo is not None:
                local = _local(row, value)
                section[f"{name}_local"] = local and local.isoformat()
        else:
            section[name] = value
    return section


def lines(which: Report, rows: Sequence[Row], form: str) -> Iterator[str]:
    """Yield the lines of the report in the form text, csv or json."""
    if form == "json":
        return iter([json_text(which, rows)])
    return csv_lines(which, rows) if form == "csv" else text(which, rows)


def explain(which: Report) -> Iterator[str]:
    """Yield the lines that say how each figure comes about."""
    yield f"{which.name}: {which.title}"
    yield f"Data: {which.record} ({which.trace}). MP1B: {', '.join(which.dd)}."
    yield ""
    for each in which.figures:
        yield f"{each.csv} [{each.name}] = {each.formula}"
        yield f"    {FORMS[each.form][1]}; {EVIDENCE[each.evidence]}"
        if each.note:
            yield f"    {each.note}"
