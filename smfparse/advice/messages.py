"""Reports of rules, with a line per true condition, like MP1B's messages; findings in reports.

A report that declares rules instead of SQL has the conditions and minimum samples of `check`, but
no episodes, diagnoses and responsible jobs. Other reports can contain, after the rows of each page,
the findings of `check` about the names in these rows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from smfparse.advice.declaration import CONSTRAINT, Rule, subjects
from smfparse.advice.findings import Figure, Finding
from smfparse.advice.judging import (
    KEYS,
    Judged,
    State,
    filled,
    held_rows,
    judged,
    value_column,
    wanted,
)
from smfparse.advice.running import run_rules
from smfparse.advice.wording import shown
from smfparse.errors import RequestError
from smfparse.metrics.views import named_macros
from smfparse.reports.declaration import Report
from smfparse.reports.running import Row, report_macros, report_table, run_report
from smfparse.reports.sections import HIDDEN, SECTION_COLUMNS, TOTAL, Sections

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

_INSTANT = pa.timestamp("us", "UTC")
_CLOCK = pa.timestamp("us")
_KINDS = {
    **dict.fromkeys(("utc_offset", "record_no", "intervals", "crossed", "evaluated"), pa.int64()),
    **dict.fromkeys(("interval_seconds", "value", "share"), pa.float64()),
    **dict.fromkeys(("interval_start", "interval_end", "worst_at"), _INSTANT),
    **dict.fromkeys(("smf_time", "time", "bucket"), _CLOCK),
    "began_before": pa.bool_(),
}
"""Types of columns by name; all others are text."""
_OF_INTERVAL = "interval"
"""The kind of a line about a single interval."""
_MIDDLE = "local_time(start + INTERVAL 500 milliseconds * seconds, utc_offset::BIGINT)"
"""SQL of the middle of an interval, local time; NULL if it is impossible because of damage."""


def message_table(
    which: Report, catalog: Catalog, sections: Sections | None, asked: Mapping[str, Any]
) -> pa.Table:
    """Return the rows of a report of rules as a pyarrow.Table."""
    names = (*SECTION_COLUMNS, "line", *(each.name for each in which.figures))
    kinds = pa.schema([(name, _KINDS.get(name, pa.string())) for name in names])
    return pa.Table.from_pylist(message_rows(which, catalog, sections, asked), kinds)


def message_rows(
    which: Report, catalog: Catalog, sections: Sections | None, asked: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of a report of rules, in order of period and severity.

    Raises RequestError if `every` requests rows of single intervals and `sections` longer periods.
    """
    each_interval = which.values(asked)["every"]
    if each_interval and sections is not None:
        raise RequestError(
            "every= excludes interval= and total=; give one of them", "every", "interval", "total"
        )
    bucket = "start" if each_interval else _bucket(sections or TOTAL)
    catalog.define(named_macros(bucket, report_macros(catalog)))
    known = wanted({})
    chosen = {name: known[name] for name in which.rules}
    found = []
    for rows in judged(catalog, chosen, {}, whole=True):
        for rule in rows.rules:
            crossed = held_rows(catalog, _crossed(rows, rule, bucket))
            found += [
                (_place(rule, each), _row(rule, each, of_interval=each_interval))
                for each in crossed
            ]
    return [row for _, row in sorted(found, key=itemgetter(0))]


def _bucket(sections: Sections) -> str:
    """Return the SQL of the start of the period that contains an interval; NULL: whole input."""
    if not sections.seconds:
        return "NULL::TIMESTAMP"
    return (
        f"time_bucket(INTERVAL {sections.seconds} seconds, TRY({_MIDDLE}), TIMESTAMP '1970-01-01')"
    )


def _crossed(rows: Judged, rule: Rule, bucket: str) -> str:
    """Return the query for the crossed rows of a rule, combined by object and period.

    bucket  SQL of the start of the period
    """
    keys = f"{', '.join(KEYS)}, bucket"
    counted = f'NOT excluded AND "{rule.id}" IN ({State.CLEAR.value}, {State.CROSSED.value})'
    worst = f'ORDER BY "{value_column(rule)}" {"" if rule.lowest else "DESC"} NULLS LAST, start'
    return f"""
    SELECT
        {keys}, {filled(rule, rule.severity_sql or str(rule.severity))} AS severity,
        any_value(utc_offset)::INTEGER AS utc_offset,
        count(*) AS crossed, any_value(evaluated) AS evaluated,
        coalesce(round(100 * sum(seconds) / nullif(any_value(all_seconds), 0), 6), 0) AS share,
        round(sum(seconds), 6) AS interval_seconds, min(start) AS interval_start,
        max(TRY(start + INTERVAL 1 second * seconds)) AS interval_end,
        first("{value_column(rule)}" {worst}) AS value, first(start {worst}) AS worst_at
    FROM (
        SELECT *, count(*) OVER its AS evaluated, sum(seconds) OVER its AS all_seconds
        FROM (SELECT *, {bucket} AS bucket FROM {rows.name} WHERE {counted})
        WINDOW its AS (PARTITION BY {keys})
    )
    WHERE "{rule.id}" = {State.CROSSED.value}
    GROUP BY {keys}
    HAVING sum(seconds) >= {rule.least_share} * any_value(all_seconds)
    """


def _place(rule: Rule, crossed: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of a row."""
    moment, name = crossed["bucket"], crossed["object"] or ""
    number = int(name) if name.isdecimal() else -1
    of = (crossed["system"] or "", crossed["qmgr"] or "")
    ranked = (crossed["severity"], -crossed["share"], rule.id)
    return moment is not None, moment or 0, *of, *ranked, number, name, crossed["job"] or ""


def _row(rule: Rule, crossed: Mapping[str, Any], *, of_interval: bool) -> dict[str, Any]:
    """Return a row of the report: a crossed condition, and the texts of its rule."""
    value = crossed["value"]
    own = rule.mp1b.format(value) if rule.mp1b and value is not None else ""
    kind = subjects()[rule.subject].object
    about = " ".join(filter(None, (kind, crossed["object"], crossed["job"])))
    return {
        **dict.fromkeys(SECTION_COLUMNS),
        **{name: crossed[name] for name in crossed if name != "severity"},
        "section": {"interval": crossed["bucket"]},
        "bucket": None if of_interval else crossed["bucket"],
        "intervals": crossed["evaluated"],
        "line": _OF_INTERVAL if of_interval else "",
        "rule": rule.id,
        "grade": "W" if crossed["severity"] <= CONSTRAINT else "I",
        "message": own or ": ".join(filter(None, (about, rule.name))),
        "action": rule.do,
        "figure": shown(Figure(rule.figure.text, value, rule.figure.style)),
        "bound": ", ".join(f"{name} {each.value:g}" for name, each in rule.limits.items()),
        "origin": rule.source,
    }


_LINE = "finding"
"""Kind of line of a row about a finding."""


def pages(
    which: Report, catalog: Catalog, sections: Sections | None, asked: Mapping[str, Any]
) -> Generator[Row]:
    """Yield the rows of a report, and after each page the findings about names in its rows."""
    rows = list(run_report(which, catalog, sections, **asked))
    yield from _with_findings(which, catalog, rows) if rows else ()


def pages_table(
    which: Report, catalog: Catalog, sections: Sections | None, asked: Mapping[str, Any]
) -> pa.Table:
    """Return the rows of `pages` as a pyarrow.Table."""
    found = report_table(which, catalog, sections, **asked)
    if not found.num_rows:
        return found
    rows = _with_findings(which, catalog, found.to_pylist())
    return pa.Table.from_pylist(list(rows), found.schema)


def _with_findings(which: Report, catalog: Catalog, rows: Sequence[Row]) -> Iterator[Row]:
    first = which.findings[0]
    found = run_rules(catalog, of_names=True).findings

    def page(row: Row) -> tuple[Any, ...]:
        return row.get("section"), row["bucket"], row["system"], row["qmgr"], row[first]

    for _, its in groupby(rows, page):
        its_rows = list(its)
        yield from its_rows
        names = {row[name] for row in its_rows for name in which.findings} - {None}
        for each in found:
            if _is_about(each, its_rows[0], names):
                yield _cells(each, its_rows[0], first)


def _is_about(finding: Finding, row: Row, names: set[str]) -> bool:
    """Whether a finding concerns the queue manager of a row, and one of the names."""
    if (finding.system, finding.qmgr) != (row["system"], row["qmgr"]):
        return False
    return not names.isdisjoint({finding.object, finding.job, *finding.jobs})


def _cells(finding: Finding, row: Row, first: str) -> dict[str, Any]:
    kept = (first, "system", "qmgr", *HIDDEN, *SECTION_COLUMNS)
    return {name: row[name] if name in kept else None for name in row} | {
        "line": _LINE,
        "severity": finding.severity,
        "rule": finding.rule,
        "finding": finding.name,
        "object": finding.object,
        "first_at": finding.start,
        "last_at": finding.end,
        "crossed_share": 100 * finding.share,
    }
