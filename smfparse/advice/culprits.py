"""Who is behind a finding about a queue: the job that puts or gets most there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from smfparse.advice.declaration import Rule
from smfparse.advice.episodes import main_episode
from smfparse.advice.findings import Finding
from smfparse.advice.judging import held_rows
from smfparse.metrics import quoted

if TYPE_CHECKING:
    from smfparse.query import Catalog

USES = "subject_queue_use"
"""The rows of the subject with the use that a job makes of a queue."""
_MOST = 5
"""So many jobs are named."""


def with_jobs(
    found: Iterable[Finding], catalog: Catalog, held: Collection[str]
) -> Iterator[Finding]:
    """Yield findings with the jobs behind them, where class 3 shows these.

    held  the names of the subjects' rows that SQL can read
    """
    for each in found:
        ask = each.cause.who if isinstance(each.cause, Rule) else ""
        if each.job:
            yield replace(each, jobs=(each.job,))
        elif ask and USES in held and (jobs := _jobs(each, ask, catalog)):
            yield replace(each, job=jobs[0], jobs=jobs)
        else:
            yield each


def _jobs(finding: Finding, ask: str, catalog: Catalog) -> list[str]:
    """Return who uses the queue most at the time of a finding; else at any time."""
    main = main_episode(finding.runs, finding.usual)
    during = (
        f"epoch_us(start) < {main.end} AND epoch_us(start + to_seconds(seconds)) > {main.start}"
    )
    rows = held_rows(
        catalog,
        f"SELECT job FROM {USES} WHERE system = {quoted(finding.system)} "
        f"AND qmgr = {quoted(finding.qmgr)} AND object = {quoted(finding.object)} "
        f"GROUP BY job HAVING sum({ask}) > 0 "
        f"ORDER BY coalesce(sum(CASE WHEN {during} THEN {ask} END), 0) DESC, sum({ask}) DESC, job "
        f"LIMIT {_MOST}",
    )
    return [each["job"] for each in rows]
