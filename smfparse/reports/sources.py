"""The SQL of a report and the records that it requires; checks across the keys of a declaration.

The SQL of a report is a file with placeholders for measures, or it is made from the subject and the
figures. Every name that a declaration uses must be declared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, TypeAlias

from smfparse.declarations import Where
from smfparse.decoding.dictionary import TABLES, columns
from smfparse.errors import RequestError
from smfparse.metrics.figures import aggregates
from smfparse.metrics.measures import Subject, metric_subject, subject_names, subject_of
from smfparse.planning.plans import planner, wanted
from smfparse.rendering.figures import NUMBERS
from smfparse.reports.options import OPTIONS
from smfparse.reports.sections import CSV_KEYS, OF_TASKS, SECTION_COLUMNS, TEMPLATE_KEYS
from smfparse.schemas import REGISTRY, TRACES

if TYPE_CHECKING:
    from smfparse.reports.declaration import Figure, Report

_MEASURE = re.compile(r"\bmeasure\((\w+)\.(\w+)\)")
_FIGURES = re.compile(r"\bfigures_of_(\w+)")
_MEASURES = re.compile(r"\bmeasures_of_(\w+)")


def origin(main: Sequence[str], tables: Sequence[str]) -> dict[str, Any]:
    """Return `trace` and `record`: the trace for the records of `main`, and the names of records.

    Empty: the registry contains no such record.
    """
    wanted = {TABLES[each].block.name for each in main if each in TABLES}
    records = {
        record: {each.name for each in triplets.values()}
        for record, triplets in REGISTRY.items()
        if not wanted.isdisjoint(each.name for each in triplets.values())
    }
    if not records:
        return {}
    named = dict.fromkeys(TABLES[each].block.name for each in tables if each in TABLES)
    *others, last = (each for each in named if any(each in there for there in records.values()))
    blocks = f"{', '.join(others)} and {last}" if others else last
    kind, classes = TRACES[next(iter(records))].split(" ", 1)
    subtypes = " and ".join(f"{subtype}" for _, subtype in records)
    of = f"{next(iter(records))[0]} subtype{'s' if len(records) > 1 else ''} {subtypes}"
    return {"trace": f"START TRACE({kind}) CLASS({classes})", "record": f"{of}, {blocks}"}


def report_sql(file: Path, found: Mapping[str, Any]) -> str:
    """Return the SQL of a report: from its file, or from its subject; '': rules make the rows."""
    if found.get("rules"):
        return ""
    if "subject" in found and not file.exists():
        subject = metric_subject(found["subject"])
        return _of_subject(subject, found["figures"], found.get("grouped", {}))
    where = Where(str(file))
    try:
        sql = file.read_text("utf-8")
    except OSError as error:
        raise where.wrong("cannot be read; write the SQL") from error
    return _with_figures(sql, found, where)


def _of_subject(
    subject: Subject, figures: Sequence[Figure], grouped: Mapping[str, Sequence[str]]
) -> str:
    """Return the SQL of a report whose figures are measures, grouped by the keys of its rows."""
    keys = ["section", *grouped.get(subject.tables[0], subject.keys)]
    by = {each: f'"{each}"' for each in keys}
    named = [replace(each, measure=each.measure or each.name) for each in figures]
    shown = _shown(named, subject.name, subject.over_rows() | by)
    rows = subject.facts_of("sectioned")
    return f"SELECT section, {shown} FROM {rows} GROUP BY {', '.join(by.values())}"


def _with_figures(sql: str, found: Mapping[str, Any], where: Where) -> str:
    """Return SQL with its placeholders replaced by fields and measures.

    figures_of_wqst        the columns of all figures from a table, for rows or groups of rows
    measures_of_task       the columns of all figures from a subject, aggregated over its rows
    measure(log.io_busy)   the SQL of a measure, aggregated over the rows of its subject
    """
    figures: Sequence[Figure] = found["figures"]

    def of_table(mark: re.Match[str]) -> str:
        where.check("table of `tables`", mark[1], found["tables"])
        subject = subject_of(mark[1], found["tables"])
        there = {name: each for name, (each, _) in subject.columns().items()}
        if mark[1] in found.get("grouped", ()):
            there = {each: f'"{each}"' for each in subject.over_rows()}
        return _shown(figures, subject.name, there)

    def of_subject(mark: re.Match[str]) -> str:
        where.check("subject", mark[1], subject_names())
        return _shown(figures, mark[1], aggregates(mark[1]))

    def one(mark: re.Match[str]) -> str:
        name, measure = mark.groups()
        where.check("subject", name, subject_names())
        where.check(f"measure or field of {name}", measure, aggregates(name))
        return aggregates(name)[measure]

    return _MEASURE.sub(one, _MEASURES.sub(of_subject, _FIGURES.sub(of_table, sql)))


def _shown(figures: Sequence[Figure], subject: str, there: Mapping[str, str]) -> str:
    """Return the SQL columns of the figures whose measures are in `there`: SQL by measure."""
    sources = ((each.measure.removeprefix(f"{subject}."), each.name) for each in figures)
    return ", ".join(f'{there[source]} AS "{name}"' for source, name in sources if source in there)


_Uses: TypeAlias = Iterator[tuple[str, str, Collection[str], Collection[str]]]
"""Key of a declaration, kind of the names in its value, these names, and all valid names."""
_CONDITIONS = re.compile(r"((?:\{\?(?:\w+|\*)\})*)(.*)")
"""A line of a template: the conditions at its start, and the rest of the line."""


def check(which: Report, where: Where) -> None:
    """Raise RequestError if keys of a declaration contradict each other or use unknown names."""
    if not which.tables:
        raise where.at("tables").wrong("empty; name the tables that the SQL reads")
    if not (which.text or which.blocks):
        raise where.at("text").wrong("missing; add text or blocks")
    for uses in (
        _tables(which),
        _lines(which),
        _planned(which),
        _options(which),
        _figures(which, where),
    ):
        for key, what, names, there in uses:
            for name in names:
                where.at(key).check(what, name, there)
    try:
        which.values({})
    except RequestError as error:
        raise where.at("options").wrong(str(error)) from error


def _tables(which: Report) -> _Uses:
    yield "main", "table of `tables`", which.main, which.tables
    yield "grouped", "table of `tables`", which.grouped, which.tables
    for table, names in which.grouped.items():
        yield (
            f"grouped.{table}",
            "column",
            names,
            [*(each.name for each in columns(table)), OF_TASKS],
        )


def _lines(which: Report) -> _Uses:
    lines = (*which.text, *which.blocks)
    yield "text_only", "kind of line", which.text_only, lines
    yield "csv_lines", "kind of line", which.csv_lines, lines
    for header, key in which.csv_keys.items():
        yield f"csv_keys.{header}", "key of a section", [key], CSV_KEYS


def _planned(which: Report) -> _Uses:
    figures = [each.name for each in which.figures]
    yield "planned", "kind of line", which.planned, (*which.text, *which.blocks)
    for line, each in which.planned.items():
        there = [one.name for one in wanted(planner(each.planner).asked)]
        yield f"planned.{line}.inputs", f"input of the planner {each.planner}", each.inputs, there
        yield f"planned.{line}.figures", "figure", each.figures, figures


def _options(which: Report) -> _Uses:
    for name in which.options:
        yield f"options.{name}", "option", [name], OPTIONS
    for name in which.choices:
        yield f"choices.{name}", "option of `options`", [name], which.options
    yield "required", "option of `options`", which.required, which.options


def _figures(which: Report, where: Where) -> _Uses:
    figures = [each.name for each in which.figures]
    shown = (*figures, *TEMPLATE_KEYS)
    yield "findings", "figure", which.findings, figures
    numbers = [each.name for each in which.figures if each.style in NUMBERS]
    yield "ranked", "figure that is a number", [which.ranked] if which.ranked else [], numbers
    for name in figures:
        if name in SECTION_COLUMNS and not (which.across and name in ("system", "qmgr")):
            raise where.at(f"figures.{name}").wrong("a key of sections; give it another name")
    for line, template in which.text.items():
        place = where.at(f"text.{line}" if line else "text")
        for text in template.splitlines():
            conditions, rest = _CONDITIONS.fullmatch(text).groups()  # type: ignore[union-attr]
            yield place.key, "figure", re.findall(r"\w+", conditions), figures
            yield place.key, "figure", _placeholders(rest, place), shown
    for line, block in which.blocks.items():
        place = where.at(f"blocks.{line}.columns")
        for name, _, how in block.columns:
            yield place.key, "figure", [name], shown
            _check_format(how, place)


def _placeholders(template: str, where: Where) -> list[str]:
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise where.wrong(f"{template!r}: {error}; write {{name:>8}}, and {{{{ for {{") from error
    for _, _, how, _ in parts:
        _check_format(how or "", where)
    return [name for _, name, _, _ in parts if name is not None]


def _check_format(how: str, where: Where) -> None:
    try:
        format("", how)
    except ValueError as error:
        raise where.wrong(f"format {how!r}: {error}; write >8 or <8") from error
