"""Marks of irregular intervals in a section, and the time in the heading of a section.

`interval_marks` and `task_marks` return SQL common table expressions, for use after WITH. The last
expression is `marked`, with one row per section:

    first_start, last_end  start and end of the section's time
    intervals              number of intervals in the section
    interval_seconds       total length of these intervals
    marks                  text about irregularities of these intervals; NULL: no irregularities
    began_before           number of task intervals that began before `first_start`; NULL: the
                           section is one record, or has no tasks

The expressions read `members`, the rows of the sections. Its column `main` is the index of the
table of a row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smfparse.decoding.zones import Zone

STATISTICS = "qmst"
"""Table that defines the intervals of statistics."""
COMPARED = "compared_intervals"
"""Table with the kind of each interval, for queries whose `members` are only some rows."""
STATISTICS_OF_ALL = "intervals_of_statistics"
"""Table of all intervals of statistics, for queries whose STATISTICS contain only some rows."""
COVERED_OF_ALL = "covered_of_all"
"""Table of the time that class 3 rows cover, for queries whose `members` are of selected names."""


def local_time(moment: str) -> str:
    """Return SQL that converts a moment in UTC to local time of the system."""
    return f"local_time({moment}, utc_offset)"


def zone_macros(zone: Zone | None) -> str:
    """Return the SQL of the macro `local_time` for a zone; '' for None: keep the system's time."""
    if zone is None:
        return ""
    seconds = zone.sql("epoch_us(moment)")
    return (
        "CREATE OR REPLACE MACRO local_time(moment, utc_offset) AS\n"
        f"    moment AT TIME ZONE 'UTC' + to_seconds({seconds});\n"
    )


_WORDS = """
        SELECT
            section, first_start, last_end, intervals, interval_seconds,
            CASE WHEN typical IS NOT NULL
                THEN format(', not in the median of {} seconds', seconds_text(typical)) ELSE ''
            END AS beside,
            nullif(concat_ws('; ',
                CASE WHEN stubs > 0 THEN concat(
                    format('stub: {} of {}, {} seconds, as after a start',
                        stubs, intervals, seconds_text(stub_seconds)), beside) END,
                CASE WHEN firsts > 0 THEN concat(
                    format('first: {} of {}, {} seconds, covers what came before',
                        firsts, intervals, seconds_text(first_seconds)), beside) END,
                CASE WHEN long > 0 THEN format(
                    'long: {} of {}, over 1.5 x the median of {} seconds', long, intervals,
                    seconds_text(typical)) END,
                CASE WHEN gap > 0 THEN format('gap: {} seconds', seconds_text(gap)) END,
                CASE WHEN restarts > 0 THEN format('restart: {}', restarts) END,
                CASE WHEN missing > 0 THEN format('missing: {} by QWHSISEQ', missing) END,
                CASE WHEN overlap > 0 THEN format('overlap: {} seconds', seconds_text(overlap)) END,
                CASE WHEN began_before > 0 THEN format('spanning: {} of {} began before',
                    began_before, tasks) END
            ), '') AS marks,
            began_before
        FROM counted LEFT JOIN earlier USING (section)
    """
_INTERVALS = """
    intervals AS (
        SELECT DISTINCT
            section, interval_start, interval_end, interval_seconds, sequence_no, utc_offset,
            {{'main': main, 'input_no': input_no, 'system': system, 'qmgr': qmgr,
                'start': interval_start}} AS span
        FROM members WHERE interval_end IS NOT NULL AND main IN ({following})
        QUALIFY main = min(main) OVER (PARTITION BY section)
    ),
    """
_COMPARED = """
    spans AS (
        SELECT span, span.start AS started, max(interval_end) AS ended,
            max(interval_seconds) AS seconds, max(sequence_no) AS sequence_no,
            max(utc_offset) AS utc_offset,
            {'main': span.main, 'system': span.system, 'qmgr': span.qmgr} AS alike
        FROM intervals GROUP BY span
    ),
    compared AS (SELECT * FROM intervals_in_order('spans')),
    """
_COUNTED = """
    ends AS (
        SELECT section, min(interval_start) AS first_start, max(interval_end) AS last_end
        FROM intervals GROUP BY section
    ),
    earlier AS (
        SELECT section, count(*) AS tasks,
            count_if(of_tasks.interval_start < first_start - INTERVAL 1 SECOND)::BIGINT
                AS began_before
        FROM (
            SELECT section, interval_start FROM members
            WHERE main NOT IN ({following}) AND interval_end IS NOT NULL
            QUALIFY main = min(main) OVER (PARTITION BY section)
        ) AS of_tasks JOIN ends USING (section)
        GROUP BY section
    ),
    counted AS (
        SELECT section, any_value(first_start) AS first_start, any_value(last_end) AS last_end,
            count(*) AS intervals, total(seconds) AS interval_seconds, max(typical) AS typical,
            count_if(kind = 'stub') AS stubs,
            total(CASE WHEN kind = 'stub' THEN seconds END) AS stub_seconds,
            count_if(kind = 'first') AS firsts,
            total(CASE WHEN kind = 'first' THEN seconds END) AS first_seconds,
            count_if(kind = 'long') AS long, total(gap) AS gap, total(overlap) AS overlap,
            count_if(is_restart) AS restarts, sum(missing)::BIGINT AS missing
        FROM (SELECT DISTINCT section, span FROM intervals)
            JOIN compared USING (span) JOIN ends USING (section)
        GROUP BY section
    ),
    """


def interval_marks(main: Iterable[int], *, sliced: bool = False) -> str:
    """Return the SQL of marks of consecutive intervals: stub, first, long, ...

    main    numbers of the tables with consecutive intervals; other tables contain tasks
    sliced  whether `members` are only some rows, and COMPARED contains all intervals
    """
    following = ", ".join(map(str, main))
    compared = f"compared AS (SELECT * FROM {COMPARED})," if sliced else _COMPARED
    return (
        f"{_INTERVALS.format(following=following)} {compared} "
        f"{_COUNTED.format(following=following)} "
        f"marked AS (SELECT * EXCLUDE (beside) FROM ({_WORDS}))"
    )


def compared_intervals(main: Iterable[int]) -> str:
    """Return the query for COMPARED: each interval, compared with the previous intervals.

    main  as in `interval_marks`
    """
    intervals = _INTERVALS.format(following=", ".join(map(str, main)))
    return f"{intervals} {_COMPARED.rstrip().rstrip(',')} SELECT * FROM compared"


_KNOWN = "FROM first_statistics('{}')"
_NOT_KNOWN = "SELECT system, qmgr, NULL::BIGINT AS known_since FROM tasks WHERE FALSE"
_COVERED = "FROM covered_seconds('tasks', '{}')"
_COVERED_OF_ALL = (
    f"FROM {COVERED_OF_ALL} UNION ALL BY NAME FROM ({_COVERED}) "
    f"WHERE section NOT IN (SELECT section FROM {COVERED_OF_ALL})"
)
_WITHOUT_STATISTICS = """
        SELECT section,
            arg_min(interval_start, {0}) AS first_start, arg_max(interval_end, {1}) AS last_end,
            (max({1}) - min({0})) / 1e6 AS seconds
        FROM tasks GROUP BY section"""
_MOMENT = (
    "CASE WHEN longest = 0 "
    "THEN 'moment: records without an interval are counted at their SMF time' END"
)
_CHANGE = (
    "coalesce(utc_offset - min(utc_offset) OVER (PARTITION BY section, system), 0)::BIGINT "
    "AS clock_change, NULL::INTEGER AS utc_offset"
)
"""SQL of a system's UTC offset minus its smallest UTC offset in the section, seconds."""
_TASKS = """
    tasks AS (
        SELECT section, system, qmgr, {offset}, interval_start, interval_end, task_started_tod
        FROM members
        QUALIFY main = min(main) OVER (PARTITION BY section)
    ),
    known AS ({known}),
    bounded AS (
        SELECT t.*,
            known_part(
                task_span(interval_start, interval_end, task_started_tod), known_since
            ) AS part,
            ((part).ended - (part).began) / 1e6 AS its_seconds, coalesce(a.ahead, 0) AS ahead
        FROM tasks AS t
        LEFT JOIN known AS k
            ON k.system IS NOT DISTINCT FROM t.system AND k.qmgr IS NOT DISTINCT FROM t.qmgr
        LEFT JOIN clocks_ahead('tasks') AS a ON a.section = t.section AND a.system = t.system
    ),
    covered AS ({covered}),
    summed AS (
        SELECT section, count(*) AS intervals, max(its_seconds) AS longest,
            CASE
                WHEN longest > c.seconds
                THEN make_timestamp(min(part.began + ahead)) ELSE c.first_start
            END AS first_start,
            CASE
                WHEN longest > c.seconds
                THEN make_timestamp(max(part.ended + ahead)) ELSE c.last_end
            END AS last_end,
            c.seconds AS own_seconds,
            CASE WHEN count({before}) > 0 THEN count_if({before})::BIGINT END AS began_before
        FROM bounded AS t LEFT JOIN covered AS c USING (section)
        GROUP BY section, c.first_start, c.last_end, c.seconds
    ),
    marked AS (
        SELECT section, first_start, last_end, intervals,
            greatest(own_seconds, longest) AS interval_seconds,
            nullif(concat_ws('; ',
                CASE WHEN began_before > 0 THEN format('spanning: {{}} of {{}} began before',
                    began_before, intervals) END,
                {moment},
                CASE WHEN longest > 1.5 * own_seconds THEN format(
                    'longer: up to {{}} seconds, more than the {{}} of the section',
                    seconds_text(longest), seconds_text(own_seconds)) END
            ), '') AS marks,
            began_before
        FROM summed
    )"""


def task_marks(
    seconds: int,
    *,
    statistics: bool,
    sliced: bool = False,
    held: bool = False,
    local: bool = False,
) -> str:
    """Return the SQL of marks of task intervals, which overlap and can begin before their section.

    If statistics exist for the period in which the tasks ended, the time of the section is the time
    that its tasks cover (`covered_time` of the calendar), and rates are divided by it. This time is
    at least as long as the part of each task that counts, so no rate is too high.

    seconds     length of sections that are clock intervals; 0: other sections
    statistics  whether a view of the table STATISTICS exists
    sliced      whether this view has only some rows, and STATISTICS_OF_ALL has all rows
    held        whether COVERED_OF_ALL exists
    local       whether the times of intervals are local times of the system, not UTC
    """
    table = STATISTICS_OF_ALL if sliced else f"sectioned.{STATISTICS}"
    before = "epoch_us(t.interval_start) + ahead < epoch_us(c.first_start) - 1000000"
    if seconds:
        before = f"{local_time('t.interval_start')} < section.interval - INTERVAL 1 SECOND"
    began, ended = "epoch_us(interval_start)", "epoch_us(interval_end)"
    if local:
        began, ended = (f"{each} - 1_000_000 * clock_change" for each in (began, ended))
    covered = _WITHOUT_STATISTICS.format(began, ended)
    return _TASKS.format(
        offset=_CHANGE if local else "utc_offset",
        known=_KNOWN.format(table) if statistics else _NOT_KNOWN,
        covered=(_COVERED_OF_ALL if held else _COVERED).format(table) if statistics else covered,
        before=before if statistics else "NULL::BOOLEAN",
        moment=_MOMENT if local else "NULL",
    )
