"""What belongs together: a queue with its page set, pool, structure, jobs and channels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from smfparse.advice.findings import Finding
from smfparse.advice.judging import held_rows

if TYPE_CHECKING:
    from smfparse.query import Catalog

Place: TypeAlias = tuple[str, str]
"""A kind of thing and its name: `("pool", "3")`."""
Manager: TypeAlias = tuple[str, str]
"""System and queue manager."""
LINKS = "linked_things"
"""The name under which the catalog holds the rows of links.sql."""
USES = "subject_queue_use"
"""The rows of the subject with the use that a job makes of a queue."""
WHOLE: Place = ("", "")
"""The place of what is about the queue manager."""
_JOB = "job"
_KINDS = {"queue": "queue", "page_set": "page set", "pool": "pool", "structure": "structure",
          "channel": "channel"}  # fmt: skip
"""Columns of the rows, and the kinds of their things."""


class Links:
    """Which things of a queue manager belong together.

    Two do that one queue uses, or a queue and what uses it. What the data links to nothing may
    belong to anything.
    """

    def __init__(
        self, rows: Iterable[Mapping[str, Any]], jobs: Iterable[Mapping[str, Any]]
    ) -> None:
        self._users: dict[Place, set[Place]] = defaultdict(set)
        for row in rows:
            some = [(kind, row[name]) for name, kind in _KINDS.items() if row[name] is not None]
            self._link(some)
        for row in jobs:
            self._link([("queue", row["object"]), (_JOB, row["job"])])

    def _link(self, some: Collection[Place]) -> None:
        """Link things with the queue among them; without one, each with the others."""
        centre = [each for each in some if each[0] == "queue"] or list(some)
        for one in centre:
            for other in some:
                self._users[one].add(other)
                self._users[other].add(one)

    def knows(self, place: Place) -> bool:
        """Whether the data links a thing to others."""
        return place in self._users

    def of(self, place: Place) -> set[Place]:
        """Return the things that belong to one, itself among them."""
        own = self._users.get(place, set())
        found = {place, *own}
        for each in own:
            if each[0] == "queue" and place[0] != "queue":
                found |= self._users[each]
        return found


def place_of(finding: Finding) -> Place:
    """Return what a finding is about; what several jobs wait for is the queue manager's."""
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
    """Findings of a queue manager by what they are about."""

    def __init__(self, findings: Iterable[Finding], links: Links) -> None:
        self._links = links
        self._of: dict[Place, dict[int, Finding]] = defaultdict(dict)
        self._loose: set[Place] = set()
        self._last = 0
        for each in findings:
            self.add(each)

    def add(self, finding: Finding) -> None:
        """Add a finding behind all others."""
        self._last += 1
        place = place_of(finding)
        self._of[place][self._last] = finding
        if place == WHOLE or not self._links.knows(place):
            self._loose.add(place)

    def remove(self, some: Iterable[Finding]) -> None:
        """Take findings away."""
        gone = {id(each) for each in some}
        for place in {place_of(each) for each in some}:
            kept = {at: each for at, each in self._of[place].items() if id(each) not in gone}
            self._of[place] = kept

    def __iter__(self) -> Iterator[Finding]:
        yield from self._in_order(self._of)

    def __contains__(self, finding: object) -> bool:
        return isinstance(finding, Finding) and any(
            each is finding for each in self._of[place_of(finding)].values()
        )

    def near(self, finding: Finding) -> Iterator[Finding]:
        """Yield the findings about what belongs to the same thing, or may."""
        place = place_of(finding)
        if place == WHOLE or not self._links.knows(place):
            yield from (each for each in self if not _are_others(place, place_of(each)))
            return
        its = {*self._links.of(place), *self._loose}
        yield from self._in_order(each for each in its if not _are_others(place, each))

    def _in_order(self, places: Iterable[Place]) -> Iterator[Finding]:
        numbered = [item for each in places if each in self._of for item in self._of[each].items()]
        yield from (each for _, each in sorted(numbered, key=lambda item: item[0]))


def _are_others(one: Place, other: Place) -> bool:
    """Whether two are different things of one kind."""
    return bool(one[0]) and one[0] == other[0] and one[1] != other[1]
