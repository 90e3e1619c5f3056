"""Related objects of findings: a queue with its page set, pool, structure, jobs and channels.

The responsible jobs of a finding are the jobs with the most puts, gets or backouts. Each query
covers all findings, so rows are read once for any number of findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from smfparse.advice.declaration import Rule
from smfparse.advice.findings import MOST_JOBS, Figure, Finding
from smfparse.advice.judging import held_rows, name_of_all

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

Place: TypeAlias = tuple[str, str]
"""A kind of object and its name: `("pool", "3")`."""
Manager: TypeAlias = tuple[str, str]
"""System and queue manager."""
LINKS = "linked_things"
"""The name under which the catalog holds the rows of links.sql."""
USES = name_of_all("queue_use")
"""The rows of the subject about the use of queues by jobs."""
WHOLE: Place = ("", "")
"""The place of objects that belong to the whole queue manager."""
_JOB = "job"
_KINDS = {"queue": "queue", "page_set": "page set", "pool": "pool", "structure": "structure",
          "channel": "channel"}  # fmt: skip
"""Kinds of objects, by column of links.sql."""


class Links:
    """The related objects of a queue manager.

    A queue is linked to its page set, pool, structure, jobs and channels. Two objects are related
    if they are linked, or linked to the same queue. An object without links may be related to any.
    """

    def __init__(
        self, rows: Iterable[Mapping[str, Any]], jobs: Iterable[Mapping[str, Any]]
    ) -> None:
        self._linked: dict[Place, set[Place]] = defaultdict(set)
        for row in rows:
            some = [(kind, row[name]) for name, kind in _KINDS.items() if row[name] is not None]
            self._link(some)
        for row in jobs:
            self._link([("queue", row["object"]), (_JOB, row["job"])])

    def _link(self, some: Collection[Place]) -> None:
        """Link the queue with the other objects; without a queue, link all with each other."""
        centre = [each for each in some if each[0] == "queue"] or list(some)
        for one in centre:
            for other in some:
                self._linked[one].add(other)
                self._linked[other].add(one)

    def knows(self, place: Place) -> bool:
        """Whether the data links an object to others."""
        return place in self._linked

    def of(self, place: Place) -> set[Place]:
        """Return the objects related to an object, including itself."""
        own = self._linked.get(place, set())
        found = {place, *own}
        for each in own:
            if each[0] == "queue" and place[0] != "queue":
                found |= self._linked[each]
        return found


def place_of(finding: Finding) -> Place:
    """Return the object of a finding, otherwise its only job, otherwise WHOLE."""
    if finding.object:
        return finding.kind, finding.object
    return (_JOB, finding.job) if finding.job and len(finding.jobs) < 2 else WHOLE


def all_links(catalog: Catalog, held: Collection[str]) -> Mapping[Manager, Links]:
    """Return the links of each queue manager, from rows that the catalog holds."""
    rows = _by_manager(held_rows(catalog, f"FROM {LINKS}"))
    jobs: Mapping[Manager, list[Mapping[str, Any]]] = {}
    if USES in held:
        jobs = _by_manager(
            held_rows(catalog, f"SELECT DISTINCT system, qmgr, object, job FROM {USES}")
        )
    return {each: Links(rows.get(each, ()), jobs.get(each, ())) for each in {*rows, *jobs}}


def _by_manager(rows: Iterable[Mapping[str, Any]]) -> Mapping[Manager, list[Mapping[str, Any]]]:
    found: dict[Manager, list[Mapping[str, Any]]] = defaultdict(list)
    for each in rows:
        found[each["system"] or "", each["qmgr"] or ""].append(each)
    return found


class Placed:
    """Findings of a queue manager by rule and by object.

    Related objects are looked up, so the cost is linear in the number of findings. Only objects
    without links are compared with all objects of other kinds.
    """

    def __init__(self, findings: Iterable[Finding], links: Links) -> None:
        self._links = links
        self._of: dict[str, dict[str, dict[Place, dict[int, Finding]]]] = {}
        self._loose: dict[tuple[str, str], set[Place]] = defaultdict(set)
        self._last = 0
        for each in findings:
            self.add(each)

    def add(self, finding: Finding) -> None:
        """Add a finding at the end."""
        self._last += 1
        place = place_of(finding)
        kinds = self._of.setdefault(finding.rule, {})
        kinds.setdefault(place[0], {}).setdefault(place, {})[self._last] = finding
        if self._is_loose(place):
            self._loose[finding.rule, place[0]].add(place)

    def remove(self, some: Iterable[Finding]) -> None:
        """Remove findings."""
        for each in some:
            its = self._at(each)
            for number in [number for number, known in its.items() if known is each]:
                del its[number]

    def __iter__(self) -> Iterator[Finding]:
        kinds = (places for its in self._of.values() for places in its.values())
        yield from _in_order(its for places in kinds for its in places.values())

    def __contains__(self, finding: object) -> bool:
        return isinstance(finding, Finding) and any(
            each is finding for each in self._at(finding).values()
        )

    def near(self, finding: Finding, rules: Iterable[str]) -> Iterator[Finding]:
        """Yield the findings of rules about the object of a finding, or about related objects."""
        place = place_of(finding)
        linked = self._links.of(place)
        found: list[Mapping[int, Finding]] = []
        by_kind = [(rule, *each) for rule in rules for each in self._of.get(rule, {}).items()]
        for rule, kind, places in by_kind:
            if kind and kind == place[0]:
                found.append(places.get(place, {}))
            elif self._is_loose(place):
                found += places.values()
            else:
                found += (places.get(each, {}) for each in linked | self._loose[rule, kind])
        yield from _in_order(found)

    def _at(self, finding: Finding) -> dict[int, Finding]:
        place = place_of(finding)
        return self._of.get(finding.rule, {}).get(place[0], {}).get(place, {})

    def _is_loose(self, place: Place) -> bool:
        """Whether the data links an object to no other."""
        return place == WHOLE or not self._links.knows(place)


def _in_order(several: Iterable[Mapping[int, Finding]]) -> Iterator[Finding]:
    numbered = [item for its in several for item in its.items()]
    yield from (each for _, each in sorted(numbered, key=lambda item: item[0]))


DEPTHS = name_of_all("queue")
"""The rows of the subject with the depth of a queue."""
_FILLS = "fills"
"""The value of `who` in rules about objects that contain queues: page sets and pools."""
_ASKED = "asked_findings"
_WAITED = """
    sum(time_us) + greatest(sum(puts - gets), 0) * (any_value("last") - any_value("first")) / 2
"""
"""SQL: total time of messages on a queue. A message that remains counts with half the duration."""

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
    """Return the names in rows at the time of each finding, by its number, the largest first.

    several   the findings; the index is the number
    table     rows with system, qmgr, object, start and seconds
    by        SQL of the name
    amount    SQL of the aggregate that ranks the names
    first_by  SQL of an aggregate that ranks before `amount`; `is_during` selects rows at the time
              of the finding, because names in rows of other times are returned too
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
"""Rules about backouts, and the column that their findings are about."""
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
    """Add the job, queue or transaction with the most backouts to each requested finding."""
    table = f"(SELECT *, {column} AS object FROM {BACKOUTS})"
    named = names_during(several, asked, table, f'"{by}"', "sum(backouts)", catalog)
    for number, names in named.items():
        if by == "job":
            several[number] = replace(several[number], job=names[0], jobs=names[:MOST_JOBS])
        else:
            most = Figure(_WORDS[by], names[0], "text")
            several[number] = replace(several[number], evidence=[*several[number].evidence, most])
