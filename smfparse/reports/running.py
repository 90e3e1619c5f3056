"""Reports over a catalog: their rows, and the formulas of their figures.

All output formats, `--explain` and docs/reports.md are generated from the declaration of a report
(`declaration`). `macros.sql` contains the macros that only reports use.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from smfparse.errors import RequestError
from smfparse.metrics.calendar import calendar_macros
from smfparse.metrics.measures import quoted
from smfparse.metrics.views import named_macros
from smfparse.planning.plans import plan_of_measured
from smfparse.rendering.figures import STYLES
from smfparse.reports.declaration import EVIDENCE, Report
from smfparse.reports.marks import COVERED_OF_ALL, STATISTICS, STATISTICS_OF_ALL, zone_macros
from smfparse.reports.sections import (
    HIDDEN,
    OF_STATISTICS,
    ONE_SECTION,
    SHARED_NAMES,
    TOTAL,
    Sections,
    section_keys,
    slicing,
    statements,
)

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog
    from smfparse.query.projection import Slicing

Row: TypeAlias = Mapping[str, Any]
"""A row of a report: the keys of its section, and its figures, unformatted."""

_KEYS = "sectioned.keys"
"""Placeholder in the SQL of a report for the query of the keys of its sections."""
_COVERED, _STATISTICS = "sectioned.covered", "sectioned.statistics"
_QUEUE_TIME, _QUEUE_TIME_OF_ALL = "sectioned.queue_time", "queue_time_of_all"
_OF_QUEUES = "FROM queue_time('sectioned.qqst')"
_CHINITS, _CHINITS_OF_ALL = "'sectioned.qcct'", "channel_initiators_of_all"
"""Rows that contain the queue-sharing group of a queue manager, but no names."""
_TIME_QUERIES = {
    COVERED_OF_ALL: f"FROM covered_seconds('{{}}', 'sectioned.{STATISTICS}')",
    STATISTICS_OF_ALL: f"SELECT {OF_STATISTICS} FROM sectioned.{STATISTICS}",
}
"""If names are selected: queries over the rows of all names, by name of the result. See
`_with_time`."""
_QUEUE_TIME_QUERIES = {
    **_TIME_QUERIES,
    COVERED_OF_ALL: f"WITH class_3 AS ({_TIME_QUERIES[COVERED_OF_ALL]}) "
    f"FROM class_3 UNION ALL BY NAME {_OF_QUEUES} "
    "WHERE section NOT IN (SELECT section FROM class_3)",
    _QUEUE_TIME_OF_ALL: _OF_QUEUES,
}
"""_TIME_QUERIES of reports whose rates are also divided by the time of queue statistics."""
_OF_ALL = (TOTAL.by, ONE_SECTION.by)
"""Extents of sections that combine rows of all times; --interval does not change them."""
_VARIABLE = re.compile(r"getvariable\('(\w+)'\)")
_ORDER = "keys.bucket, keys.time, keys.system, keys.qmgr, keys.source, keys.record_no, rows.section"


def run_report(
    which: Report, catalog: Catalog, sections: Sections | None = None, **asked: Any
) -> Generator[dict[str, Any], None, None]:
    """Yield the rows of a report, with sections in order of time, and figures unformatted.

    Close the generator if it is not read to the end, because it deletes spooled files when it ends.

    sections  extent of a section; None: as declared by the report
    asked     options of the report: see `options`

    Raises RequestError for an option that the report does not have, or for a missing required
    option.
    """
    with closing(catalog.rows(*_queries(which, catalog, sections, asked))) as batches:
        for rows in batches:
            yield from (_with_plan(which, row) for row in rows)


def report_parts(
    which: Report, catalog: Catalog, sections: Sections | None = None, **asked: Any
) -> Generator[Any, None, None]:
    """Yield the rows of a report as pyarrow.Tables, at least one: the rows and columns of JSON.

    The types of columns come from the SQL of the report, independent of the values.
    """
    import pyarrow as pa

    with closing(catalog.parts(*_queries(which, catalog, sections, asked))) as found:
        for part in found:
            if which.planned:
                rows = [_with_plan(which, row) for row in part.to_pylist()]
                part = type(part).from_pylist(rows, part.schema)
            part = part.drop_columns([*HIDDEN])
            if which.text_only:
                shown = (which.has(line or "", "json") for line in part["line"].to_pylist())
                part = part.filter(pa.array(shown, pa.bool_()))
            yield part


def report_table(
    which: Report, catalog: Catalog, sections: Sections | None = None, **asked: Any
) -> Any:
    """Return the tables of `report_parts` as one pyarrow.Table."""
    import pyarrow as pa

    return pa.concat_tables(report_parts(which, catalog, sections, **asked))


def _queries(
    which: Report, catalog: Catalog, sections: Sections | None, asked: Mapping[str, Any]
) -> tuple[str, Slicing | None]:
    """Create the views of a report; return its query, and its `Slicing` (None: not possible)."""
    sections = sections or Sections.of(which.section)
    if which.across:
        sections = sections.together()
    of_tasks = bool(catalog.inputs.selection.by_name.keys() - {"queue"})
    values = {**which.values(asked), "of_queues": catalog.of_queues, "of_tasks": of_tasks}
    held = _COVERED in which.sql and _add_time_of_all(which, catalog, sections, values)
    whole = _with_time(which, held=held)
    keys = section_keys(sections, which.main, sliced=held, held=held)
    queries = f"{whole.sql} {which.busiest} {keys}"
    prepare(catalog, sections, which.tables, which.grouped, queries, values)
    if which.required and not any(values[name] for name in which.required):
        _refuse(which, catalog.arrow(_with_values(which.busiest, values)).to_pylist())
    query = _ordered(whole, catalog, keys, asked, values)
    if which.section in _OF_ALL or sections == TOTAL:
        return query, None
    keys = section_keys(sections, which.main, sliced=True, held=held)
    sliced = _with_time(which, held=held, sliced=True)
    some = _ordered(sliced, catalog, keys, asked, values)
    return query, slicing(sections, which.main, which.tables, some, held=held)


def _add_time_of_all(
    which: Report, catalog: Catalog, sections: Sections, values: Mapping[str, Any]
) -> bool:
    """Add tables with the covered time of all names; return False if no names are selected."""
    from smfparse.inputs.opening import with_all_names
    from smfparse.query.catalog import Catalog

    if not catalog.inputs.selection.by_name:
        return False
    connection = catalog.connection
    queries = _QUEUE_TIME_QUERIES if _QUEUE_TIME in which.sql else _TIME_QUERIES
    if _CHINITS in which.sql:
        queries = queries | {_CHINITS_OF_ALL: "FROM sectioned.qcct"}
    with Catalog(with_all_names(catalog.inputs)) as every:
        asked = [each.format(_rows(which)) for each in queries.values()]
        prepare(every, sections, which.tables, {}, " ".join(asked), values)
        found = every.arrows(asked)
        for name, rows in zip(queries, found, strict=True):
            connection.register("time_of_all", rows)
            connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM time_of_all")
            connection.unregister("time_of_all")
    return True


def _rows(which: Report) -> str:
    """Return the name of the class 3 rows of a report: all tasks, or only those on queues."""
    return "sectioned.wtas" if "wtas" in which.main else "sectioned.wqst"


def _with_time(which: Report, *, held: bool, sliced: bool = False) -> Report:
    """Return a report with the placeholders for covered time in its SQL replaced.

    Rates of class 3 are divided by covered time.

    sectioned.covered     one row per section: `section`, and `seconds` that rows of class 3 cover
    sectioned.queue_time  one row per section: `section`, and `seconds` that rows of QQST cover
    sectioned.statistics  the intervals of statistics, of all slices

    If rows are selected by job, queue or channel, these tables come from the inputs without this
    selection, because the rows of one name do not show the time in which other names were used.
    So do the rows of channel initiators.

    held    whether the catalog contains the results of _TIME_QUERIES, for all names
    sliced  whether the tables contain only the rows of some sections
    """
    statistics = STATISTICS_OF_ALL if held or sliced else f"sectioned.{STATISTICS}"
    covered = COVERED_OF_ALL if held else f"covered_seconds('{_rows(which)}', '{statistics}')"
    sql = which.sql.replace(_COVERED, covered).replace(_STATISTICS, statistics)
    sql = sql.replace(_CHINITS, f"'{_CHINITS_OF_ALL}'") if held else sql
    sql = sql.replace(_QUEUE_TIME, _QUEUE_TIME_OF_ALL if held else "queue_time('sectioned.qqst')")
    return replace(which, sql=sql)


def _with_plan(which: Report, row: dict[str, Any]) -> dict[str, Any]:
    planned = which.planned.get(row.get("line", ""))
    if planned is None:
        return row
    values = {name: row[column] for name, column in planned.inputs.items()}
    plan = plan_of_measured(planned.planner, values)
    figures = {name: plan.get(of) if plan else None for name, of in planned.figures.items()}
    return {**row, **figures}


def _refuse(which: Report, busiest: Sequence[Row]) -> None:
    """Raise RequestError for a missing required option, unless `busiest` is empty.

    busiest  rows with possible values of the option: option, name and cpu_seconds
    """
    if not busiest:
        return
    ways = " or ".join(f"{name}=" for name in which.required)
    rows = (f"{row['option']}={row['name']} ({row['cpu_seconds']:.3f})" for row in busiest)
    raise RequestError(
        f"the report {which.name} needs a name; give {ways}. "
        f"The busiest, by CPU seconds in calls: {', '.join(rows)}",
        *which.required,
    )


def _ordered(
    which: Report,
    catalog: Catalog,
    keys: str,
    asked: Mapping[str, Any],
    values: Mapping[str, Any],
) -> str:
    """Return the query for the rows of a report, in order, with the keys of their sections."""
    sql = which.sql.replace(_KEYS, f"({keys})")
    order, top = _ranking(which, asked)
    own = f"section, system, qmgr, {SHARED_NAMES}" if which.across else "section"
    marks = ["keys.marks"]
    if catalog.of_queues and which.queue_mark:
        marks.append(quoted(which.queue_mark))
    if which.name_mark and "system" not in values["by"]:
        marks.append(f"CASE WHEN keys.{SHARED_NAMES} THEN {quoted(which.name_mark)} END")
    marked = f"nullif(concat_ws('; ', {', '.join(marks)}), '')" if marks[1:] else marks[0]
    query = (
        f"SELECT rows.section, keys.* EXCLUDE ({own}) REPLACE ({marked} AS marks), "
        f"rows.* EXCLUDE (section) "
        f"FROM ({sql}) AS rows JOIN ({keys}) AS keys USING (section) "
        f"{top} ORDER BY {', '.join(filter(None, [_ORDER, order]))}"
    )
    return _with_values(query, values)


def _ranking(which: Report, asked: Mapping[str, Any]) -> tuple[str, str]:
    asks = which.is_rankable and (asked.get("sort") or asked.get("top"))
    values = which.values(asked) if asks else {"sort": "", "top": None}
    by_figure = values["sort"] and f"rows.{values['sort']} DESC NULLS LAST"
    within = ", ".join(filter(None, [by_figure, which.order]))
    order = ", ".join(filter(None, [which.kinds, within]))
    if values["top"] is None:
        return order, ""
    parts = ", ".join(["rows.section", *(["rows.line"] if which.kinds else [])])
    number = f"row_number() OVER (PARTITION BY {parts} ORDER BY {within})"
    return order, f"QUALIFY {number} <= {values['top']}"


def prepare(
    catalog: Catalog,
    sections: Sections,
    tables: Sequence[str],
    grouped: Mapping[str, Sequence[str]],
    queries: str,
    values: Mapping[str, Any],
) -> None:
    """Create the macros and views that `queries` read: see `sections.statements`.

    values  values for `getvariable` in macros; DuckDB reads other variables from the connection
    """
    views = ";\n".join(statements(sections, tables, grouped, queries))
    catalog.define(_with_values(named_macros(f"{queries} {views}", report_macros(catalog)), values))
    catalog.execute(views)


def _with_values(sql: str, values: Mapping[str, Any]) -> str:
    """Return SQL with each `getvariable` of a name in `values` replaced by the value.

    DuckDB plans a query with `getvariable` each time it is explained or run, and a query with
    literals only once. For small files, planning a report takes longer than running it.
    """

    def literal(found: re.Match[str]) -> str:
        name = found[1]
        return _literal(values[name]) if name in values else found[0]

    return _VARIABLE.sub(literal, sql)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{quoted(name)}: {_literal(of)}' for name, of in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return str(value)


def report_macros(catalog: Catalog) -> str:
    """Return the SQL of the macros of reports, with local time in the zone of the catalog."""
    own = Path(__file__).with_name("macros.sql").read_text("utf-8")
    return calendar_macros(catalog.inputs.selection) + own + zone_macros(catalog.zone)


def explain(which: Report) -> Iterator[str]:
    """Yield the lines that show the formula of each figure."""
    yield f"{which.name}: {which.title}"
    yield f"Data: {which.record} ({which.trace}). MP1B: {', '.join(which.dd) or 'none'}."
    if which.rules:
        yield f"Rules (details: `check --explain RULE`): {', '.join(which.rules)}."
    yield ""
    for each in which.figures:
        yield f"{each.csv or each.name} [{each.name}] = {each.formula}"
        yield f"    {STYLES[each.style][1]}; {EVIDENCE[each.evidence]}"
        if each.note:
            yield f"    {each.note}"
