"""The source of a report's rows: records and SQL.

The SQL of a report is a file with placeholders for measures, or is made from a subject and figures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smfparse.declarations import Where
from smfparse.decoding.dictionary import TABLES
from smfparse.metrics.figures import aggregates
from smfparse.metrics.measures import Subject, metric_subject, subject_names, subject_of
from smfparse.schemas import REGISTRY, TRACES

if TYPE_CHECKING:
    from smfparse.reports.declaration import Figure

_MEASURE = re.compile(r"\bmeasure\((\w+)\.(\w+)\)")
_FIGURES = re.compile(r"\bfigures_of_(\w+)")
_MEASURES = re.compile(r"\bmeasures_of_(\w+)")


def origin(main: Sequence[str], tables: Sequence[str]) -> dict[str, Any]:
    """Return the trace that writes the records of `main`, and the names of the records read."""
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

    figures_of_wqst        the figures from a table, of groups of rows or of single rows
    measures_of_task       the figures from a subject, combined over rows of its facts
    measure(log.io_busy)   one measure, figure or not, combined over rows of facts
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
    """Return the SQL columns of the figures whose measures are in `there`.

    there  SQL of each measure
    """
    sources = ((each.measure.removeprefix(f"{subject}."), each.name) for each in figures)
    return ", ".join(f'{there[source]} AS "{name}"' for source, name in sources if source in there)
