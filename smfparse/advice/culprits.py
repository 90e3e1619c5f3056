"""The jobs responsible for findings: those with most puts, gets or backouts, and others.

One query covers all findings, so rows are read once for any number of findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from smfparse.advice.declaration import Rule
from smfparse.advice.findings import MOST_JOBS, Figure, Finding
from smfparse.advice.judging import held_rows, name_of_all
from smfparse.advice.links import USES, Links, Manager, place_of

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog


DEPTHS = name_of_all("queue")
"""The rows of the subject with the depth of a queue."""
_FILLS = "fills"
"""The value of `who` in rules about objects that contain queues: page sets and pools."""
_ASKED = "asked_findings"
_WAITED = """
    sum(time_us) + greatest(sum(puts - gets), 0) * (any_value("last") - any_value("first")) / 2
"""
"""SQL: total time of messages on a queue; a message that stays counts for half of the finding."""

Asked: TypeAlias = tuple[int, str]
"""The number of a finding, and the object whose rows are requested."""


def with_jobs(
    found: Iterable[Finding],
    catalog: Catalog,
    held: Collection[str],
    links: Mapping[Manager, Links],
) -> list[Finding]:
    """Return findings with the responsible jobs, if class 3 shows them.

    held   names of the subjects whose rows SQL can read
    links  the related objects in each queue manager
    """
    several = [replace(each, jobs=(each.job,)) if each.job else each for each in found]
    asked = {
        number: each.cause.who
        for number, each in enumerate(several)
        if not each.job and isinstance(each.cause, Rule) and each.cause.who
    }
    filled = [number for number, ask in asked.items() if ask == _FILLS]
    queues = _fullest(several, filled, catalog, held, links)
    for number, queue in queues.items():
        fullest = Figure("most on queue {}", queue, "text")
        several[number] = replace(several[number], evidence=[fullest, *several[number].evidence])
    if USES not in held:
        return several
    for ask in ("puts", "gets"):
        wanted = [(at, several[at].object) for at, asks in asked.items() if asks == ask]
        wanted += list(queues.items()) if ask == "puts" else []
        during = f"coalesce(sum(CASE WHEN is_during THEN {ask} END), 0)"
        users = names_during(several, wanted, USES, "job", f"sum({ask})", catalog, first_by=during)
        for number, jobs in users.items():
            several[number] = replace(several[number], job=jobs[0], jobs=jobs[:MOST_JOBS])
    return several


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
            names = names_during(several, left, table, "object", amount, catalog)
            found |= {number: queues[0] for number, queues in names.items()}
    return found


def names_during(
    several: Sequence[Finding],
    asked: Sequence[Asked],
    table: str,
    by: str,
    amount: str,
    catalog: Catalog,
    *,
    first_by: str = "",
) -> Mapping[int, Sequence[str]]:
    """Return names of rows at the time of findings, by number of finding, the largest first.

    table     rows with system, qmgr, object, start and seconds
    by        SQL of the name
    amount    SQL of the aggregate that ranks the names
    first_by  SQL of the aggregate that ranks before `amount`, with `is_during` for rows at that
              time; names of other times are returned too
    """
    if not asked:
        return {}
    mains = [several[at].main for at, _ in asked]
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
    rows = held_rows(
        catalog,
        f"""
        SELECT number, {by} AS name
        FROM (
            SELECT *, epoch_us(start) < "last"
                AND epoch_us(start + to_seconds(seconds)) > "first" AS is_during
            FROM {table} JOIN {_ASKED} USING (system, qmgr, object)
        )
        WHERE is_during OR {bool(first_by)}
        GROUP BY number, {by}
        HAVING {amount} > 0
        ORDER BY number, {first_by or amount} DESC, {amount} DESC, {by}
        """,
    )
    found: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        if row["name"]:
            found[row["number"]].append(row["name"])
    return found


BACKOUTS = "backouts_of_tasks"
"""The name under which the catalog holds the rows of backouts.sql."""
_ABOUT = {"TASK-BACKOUT": "job", "Q-ROLLBACK": "queue"}
"""Rules about backouts, and the column with the subject of their findings."""
_WORDS = {"queue": "most backouts with queue {}", "transaction": "most backouts by transaction {}"}


def with_backouts(found: Iterable[Finding], catalog: Catalog) -> list[Finding]:
    """Return findings; findings about backouts name the job, the queue and the transaction."""
    several = list(found)
    for rule, column in _ABOUT.items():
        asked = [
            (number, getattr(each, "job" if column == "job" else "object"))
            for number, each in enumerate(several)
            if each.rule == rule
        ]
        for by in ("job", "queue", "transaction"):
            if by != column:
                _name(several, asked, column, by, catalog)
    return several


def _name(
    several: list[Finding], asked: Sequence[Asked], column: str, by: str, catalog: Catalog
) -> None:
    """Name the job, queue or transaction with the most backouts in each requested finding."""
    table = f"(SELECT *, {column} AS object FROM {BACKOUTS})"
    named = names_during(several, asked, table, f'"{by}"', "sum(backouts)", catalog)
    for number, names in named.items():
        if by == "job":
            several[number] = replace(several[number], job=names[0], jobs=names[:MOST_JOBS])
        else:
            most = Figure(_WORDS[by], names[0], "text")
            several[number] = replace(several[number], evidence=[*several[number].evidence, most])
