"""Related objects: a queue with its page set, pool, structure, jobs and channels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from smfparse.advice.findings import Finding
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
"""Columns of the rows, and the kinds of objects in them."""


class Links:
    """The related objects of a queue manager.

    Two objects are related if a queue uses both, or if one is a queue that uses the other or is
    used by it. An object without a link in the data may be related to any object.
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
        """Link the queue among some objects with the others; without a queue, link all with all."""
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
    """Return the object of a finding; if several jobs wait, the queue manager."""
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

    Related objects are looked up, so the cost grows only with the findings. Only objects without
    links are compared with all other kinds.
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
        """Yield the findings of rules about the same object, or (possibly) related ones."""
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
