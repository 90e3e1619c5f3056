"""Who is behind findings: the job that puts or gets most, the queue that fills a pool most.

All findings are asked at once, so that rows are read once however many these are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from smfparse.advice.declaration import Rule
from smfparse.advice.episodes import main_episode
from smfparse.advice.findings import MOST_JOBS, Figure, Finding
from smfparse.advice.judging import held_rows
from smfparse.advice.links import USES, Links, Manager, place_of

if TYPE_CHECKING:
    from smfparse.query import Catalog

DEPTHS = "subject_queue"
"""The rows of the subject with the depth of a queue."""
_FILLS = "fills"
"""What a rule asks by whose finding is about what holds queues."""
_ASKED = "asked_findings"
_WAITED = """
    sum(time_us) + greatest(sum(puts - gets), 0) * (any_value("last") - any_value("first")) / 2
"""
"""SQL: how long messages were on a queue in all, those that stay for half of the time."""

Asked: TypeAlias = tuple[int, str]
"""The number of a finding, and the object of the rows that are asked for."""


def with_jobs(
    found: Iterable[Finding],
    catalog: Catalog,
    held: Collection[str],
    links: Mapping[Manager, Links],
) -> list[Finding]:
    """Return findings with the jobs behind them, where class 3 shows these.

    held   the names of the subjects' rows that SQL can read
    links  what belongs together in each queue manager
    """
    several = [replace(each, jobs=(each.job,)) if each.job else each for each in found]
    asked = {number: _asked(each) for number, each in enumerate(several) if _asked(each)}
    queues = _fullest(
        several, [number for number, ask in asked.items() if ask == _FILLS], catalog, held, links
    )
    for number, queue in queues.items():
        fullest = Figure("most on queue {}", queue, "text")
        several[number] = replace(several[number], evidence=[fullest, *several[number].evidence])
    if USES not in held:
        return several
    for ask in ("puts", "gets"):
        wanted = [(at, several[at].object) for at, asks in asked.items() if asks == ask]
        wanted += list(queues.items()) if ask == "puts" else []
        for number, jobs in _users(several, wanted, ask, catalog).items():
            several[number] = replace(several[number], job=jobs[0], jobs=jobs)
    return several


def _asked(finding: Finding) -> str:
    """Return how the job behind a finding is found; '': it is known, or not asked for."""
    is_open = not finding.job and isinstance(finding.cause, Rule)
    return finding.cause.who if is_open and isinstance(finding.cause, Rule) else ""


def _fullest(
    several: Sequence[Finding],
    numbers: Collection[int],
    catalog: Catalog,
    held: Collection[str],
    links: Mapping[Manager, Links],
) -> Mapping[int, str]:
    """Return the queue with the most messages in each pool or page set, at the finding's time."""
    asked: list[Asked] = []
    for number in numbers:
        its = links.get((several[number].system, several[number].qmgr))
        near = its.of(place_of(several[number])) if its else ()
        asked += [(number, name) for kind, name in sorted(near) if kind == "queue"]
    found: dict[int, str] = {}
    for table, amount in ((DEPTHS, "max(greatest(depth, highest_depth))"), (USES, _WAITED)):
        left = [each for each in asked if each[0] not in found]
        if left and table in held:
            rows = rows_during(
                several, left, table, f"object, {amount} AS amount", "object", catalog
            )
            for row in rows:
                found.setdefault(row["number"], row["object"])
    return found


def _users(
    several: Sequence[Finding], asked: Sequence[Asked], ask: str, catalog: Catalog
) -> Mapping[int, Sequence[str]]:
    """Return who uses a queue most at the time of a finding; else at any time."""
    if not asked:
        return {}
    found: dict[int, list[str]] = defaultdict(list)
    amounts = f"job, sum(CASE WHEN is_during THEN {ask} END) AS amount, sum({ask}) AS whole"
    for row in rows_during(several, asked, USES, amounts, "job", catalog, at_any_time=True):
        if row["whole"] and len(found[row["number"]]) < MOST_JOBS:
            found[row["number"]].append(row["job"])
    return {number: jobs for number, jobs in found.items() if jobs}


def rows_during(
    several: Sequence[Finding],
    asked: Sequence[Asked],
    table: str,
    columns: str,
    by: str,
    catalog: Catalog,
    *,
    at_any_time: bool = False,
) -> Sequence[Mapping[str, Any]]:
    """Return aggregates of rows at the time of findings, those with the largest amount first.

    table  rows with system, qmgr, object, start and seconds
    """
    mains = [main_episode(several[at].runs, several[at].usual) for at, _ in asked]
    catalog.connection.register(
        _ASKED,
        pa.table(
            {
                "number": [at for at, _ in asked],
                "system": [several[at].system for at, _ in asked],
                "qmgr": [several[at].qmgr for at, _ in asked],
                "object": [queue for _, queue in asked],
                "first": [each.start for each in mains],
                "last": [each.end for each in mains],
            }
        ),
    )
    last = "whole" if at_any_time else "amount"
    return held_rows(
        catalog,
        f"""
        SELECT number, {columns}
        FROM (
            SELECT *, epoch_us(start) < "last"
                AND epoch_us(start + to_seconds(seconds)) > "first" AS is_during
            FROM {table} JOIN {_ASKED} USING (system, qmgr, object)
        )
        WHERE is_during OR {at_any_time}
        GROUP BY number, {by}
        HAVING {last} > 0
        ORDER BY number, coalesce(amount, 0) DESC, {last} DESC, {by}
        """,
    )
