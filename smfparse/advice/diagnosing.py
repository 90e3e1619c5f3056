"""Diagnoses: findings about related objects that occur at the same time and have one cause.

Findings of a rule with `together` are first combined into one finding per queue manager. A cause
is compared only with findings about related objects (`links`), so the cost does not grow with the
square of the number of findings.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import filter as matching
from functools import cache

from smfparse.advice.declaration import (
    CONSTRAINT,
    HOURS,
    Diagnosis,
    Rule,
    diagnoses,
    rules,
    subjects,
)
from smfparse.advice.findings import MOST_JOBS, Figure, Finding, natural
from smfparse.advice.judging import episodes, overlapped, runs, together, touches
from smfparse.advice.links import Links, Manager, Place, Placed
from smfparse.metrics.calendar import SECOND_US
from smfparse.rendering.figures import few


def merged(found: Iterable[Finding], links: Mapping[Manager, Links]) -> Iterator[Finding]:
    """Yield findings; findings of a rule with `together` are combined for each queue manager.

    links  related objects of each queue manager
    """
    several: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for each in found:
        if isinstance(each.cause, Rule) and each.cause.together:
            several[each.rule, each.system, each.qmgr].append(each)
        else:
            yield each
    for (_, *manager), its in several.items():
        yield _merged(its, links.get((manager[0], manager[1])))


def _merged(its: Sequence[Finding], links: Links | None) -> Finding:
    """Return a finding with the intervals of all, and the figures of that with the most impact.

    The combined finding has the start and end of the longest episode that overlaps the finding with
    the most impact.
    """
    ranked = sorted(its, key=lambda each: (-_amount(each), natural(each.object), each.job))
    first = ranked[0]
    whole = together([each.intervals for each in its if each.intervals])
    found = runs(*whole)
    several = episodes(found, first.usual)
    own = (each for each in several if touches(first.runs, each.start, each.end))
    main = max(own, key=lambda each: each.seconds)
    names = [each.object or each.job for each in ranked]
    jobs = list(dict.fromkeys(name for each in ranked for name in (each.job, *each.jobs) if name))
    one = len(its) == 1
    kinds = [first.cause.where] if isinstance(first.cause, Rule) and first.cause.where else []
    things = used_by(jobs, kinds, links) if links else ()
    return replace(
        first,
        object=first.object if one else "",
        kind=first.kind if one else "",
        job=jobs[0] if jobs else "",
        jobs=jobs,
        runs=found,
        start=first.local(main.start),
        end=first.local(main.end),
        intervals=None,
        evaluated=len(whole.starts),
        crossed=int(whole.crossed.sum()),
        seconds=float(whole.seconds.sum()),
        seconds_crossed=float(whole.seconds[whole.crossed].sum()),
        impact=_impact_of_all(its),
        evidence=[*_names(first, names), *things, *first.evidence],
    )


def _names(first: Finding, names: Sequence[str]) -> Iterator[Figure]:
    """Yield the names of several merged findings, and the name that has the shown figures."""
    if len(names) > 1:
        kind = first.kind or "job"
        yield Figure(f"{kind}s {{}}", few(sorted(names, key=natural)), "text")
        yield Figure("figures of {}", names[0], "text")


def used_by(jobs: Sequence[str], kinds: Iterable[str], links: Links) -> Iterator[Figure]:
    """Yield the objects of each kind that jobs use, as far as the data shows them.

    From the second kind on, an object must be related to an object of the previous kind.
    """
    before: set[Place] = set()
    for kind in kinds:
        of_jobs = set().union(*(links.of(("job", job)) for job in jobs[:MOST_JOBS]))
        found = {each for each in of_jobs if each[0] == kind}
        if before:
            found = {each for each in found if before & links.of(each)}
        if not found:
            return
        before = found
        names = sorted((name for _, name in found), key=natural)
        yield Figure(f"they use {kind} {{}}", few(names), "text")


def _amount(finding: Finding) -> float:
    return finding.impact[1] if finding.impact else 0.0


def _impact_of_all(its: Sequence[Finding]) -> tuple[str, float] | None:
    """Return the sum of the impacts of findings; None: no finding has an impact."""
    known = [each.impact for each in its if each.impact]
    return (known[0][0], sum(amount for _, amount in known)) if known else None


_OR_UNKNOWN = "?"
"""Suffix of a required rule that counts as true if its trace is absent."""
_MOSTLY = 0.5
"""A cause explains a finding if its time contains this share of the finding's crossed time."""
_NEARLY_ALL = 0.9
"""The same share for findings of severity 1 or 2 from another subject than the cause."""
_EMPTIES = ("pool", "page set")
_AFTER = 0.5
"""Time for which a pool or page set may stay full after a cause, as a share of the cause's time."""


def diagnosed(
    found: Sequence[Finding],
    declared: Mapping[str, Diagnosis],
    known: Mapping[Manager, Collection[str]],
    links: Mapping[Manager, Links],
) -> list[Finding]:
    """Return diagnoses with the findings that they explain, and all other findings.

    known  rules that were evaluated for each queue manager
    links  related objects of each queue manager
    """
    by_manager: dict[Manager, list[Finding]] = defaultdict(list)
    for each in found:
        by_manager[each.system, each.qmgr].append(each)
    shown: list[Finding] = []
    for manager, its in by_manager.items():
        own = _Diagnosing(its, known.get(manager, ()), links.get(manager, Links((), ())))
        shown += own.diagnosed(declared)
    return shown


class _Diagnosing:
    """The diagnoses of a queue manager. A core is a finding that defines object and time of one."""

    def __init__(self, found: Sequence[Finding], known: Collection[str], links: Links) -> None:
        self._found, self._links = Placed(found, links), links
        self._known = known
        self._by_rule: dict[str, list[Finding]] = defaultdict(list)
        for each in found:
            self._by_rule[each.rule].append(each)
        self._shown = Placed((each for each in found if not _is_sign(each)), links)

    def diagnosed(self, declared: Mapping[str, Diagnosis]) -> list[Finding]:
        for which in declared.values():
            for core in self._cores(which):
                if self._can_diagnose(which, core):
                    self._diagnose(which, core)
        return list(self._shown)

    def _diagnose(self, which: Diagnosis, core: Finding) -> None:
        """Replace findings by the diagnosis that explains them."""
        is_of_all = any(_coincides(core, each) for each in self._found.near(core, [which.of_all]))
        its = {core.rule, *_explained_by(which)}
        near = self._shown if is_of_all else self._shown.near(core, its)
        explained = [each for each in near if _explains(which, core, each, of_all=is_of_all)]
        self._shown.remove(explained)
        cause = self._with_waiting(which, self._cause_of(which, core, explained))
        if is_of_all:
            named = replace(which, name=which.name_of_all or which.name)
            cause = replace(cause, cause=named, object="", kind="")
        self._shown.add(cause)

    def _can_diagnose(self, which: Diagnosis, core: Finding) -> bool:
        """Whether the core is not explained yet, and `is_last` of the diagnosis permits it."""
        if which.is_last and any(each.severity <= CONSTRAINT for each in self._shown):
            return False
        return _is_sign(core) or core in self._shown

    def _cores(self, which: Diagnosis) -> Iterator[Finding]:
        """Yield one core finding for each object about which the diagnosis holds.

        If an object has several core findings, the first is used, in order of the rules in `core`
        and then of `place`.
        """
        taken: set[str] = set()
        for rule in which.core:
            for each in sorted(self._by_rule.get(rule, ()), key=lambda each: each.place):
                if each.object not in taken and self._holds(which, each):
                    taken.add(each.object)
                    yield each

    def _holds(self, which: Diagnosis, core: Finding) -> bool:
        """Whether all rules of `needs`, and none of `without`, are true at the time of the core."""
        if _is_too_serious(which, core):
            return False
        required = {each.removesuffix(_OR_UNKNOWN) for group in which.needs for each in group}
        at_the_time = {each.rule for each in self._near(core, {*required, *which.without})}
        for group in which.needs:
            names = {each.removesuffix(_OR_UNKNOWN) for each in group}
            unknown = any(each.endswith(_OR_UNKNOWN) for each in group)
            unknown = unknown and not names & {*self._known}
            if not unknown and not names & at_the_time:
                return False
        return not at_the_time.intersection(which.without)

    def _cause_of(self, which: Diagnosis, core: Finding, explained: Sequence[Finding]) -> Finding:
        """Return a diagnosis with the findings that it explains, the most serious first."""
        under = sorted(explained, key=lambda each: each.place)
        jobs = self._jobs(which, core)
        start, end = _span(which, core, under)
        return replace(
            core,
            start=start,
            end=end,
            cause=which,
            severity=min([which.severity, *(each.severity for each in under)]),
            job=jobs[0] if jobs else core.job,
            jobs=jobs,
            impact=_impact(which, under),
            move=None,
            explains=under,
        )

    def _jobs(self, which: Diagnosis, core: Finding) -> Sequence[str]:
        """Return the responsible jobs: the jobs in findings of the rule `whose`, or of the core."""
        near = self._near(core, [which.whose]) if core.object else self._during(core, which.whose)
        theirs = sorted(near, key=lambda each: each.place)
        return list(dict.fromkeys(each.job for each in theirs if each.job)) or core.jobs

    def _near(self, core: Finding, asked: Collection[str]) -> Iterator[Finding]:
        """Yield findings of the rules `asked` at the time of a core, about related objects."""
        main = core.main
        its = self._found.near(core, asked)
        yield from (each for each in its if touches(each.runs, main.start, main.end))

    def _during(self, core: Finding, rule: str) -> Iterator[Finding]:
        main = core.main
        its = self._by_rule.get(rule, ())
        yield from (each for each in its if touches(each.runs, main.start, main.end))

    def _with_waiting(self, which: Diagnosis, cause: Finding) -> Finding:
        """Return a diagnosis with the waiting jobs, or with the trace that would show them."""
        if not which.waiting:
            return cause
        if which.waiting not in self._known:
            return replace(cause, untold=subjects()[rules()[which.waiting].subject].trace)
        waiting = sorted(self._during(cause, which.waiting), key=lambda each: each.place)
        theirs = [job for each in waiting for job in each.jobs]
        things = used_by(theirs, which.where, self._links)
        return replace(cause, jobs=theirs, evidence=[*cause.evidence, *things])


def _span(
    which: Diagnosis, core: Finding, under: Sequence[Finding]
) -> tuple[dt.datetime, dt.datetime]:
    """Return the period of a core and of overlapping findings of core rules about its object."""
    its = [
        each
        for each in under
        if each.rule in which.core
        and each.object == core.object
        and each.start <= core.end
        and core.start <= each.end
    ]
    its.append(core)
    return min(each.start for each in its), max(each.end for each in its)


def _is_sign(finding: Finding) -> bool:
    return isinstance(finding.cause, Rule) and finding.cause.is_sign


def _coincides(core: Finding, other: Finding) -> bool:
    """Whether another finding is about the same object, and at the time of the core."""
    main = core.main
    return core.object == other.object and touches(other.runs, main.start, main.end)


def _explains(which: Diagnosis, core: Finding, other: Finding, *, of_all: bool) -> bool:
    """Whether a diagnosis explains a finding: it names the finding's rule, and the times agree.

    Another diagnosis is explained only if all findings that it explains are named too.

    core    the finding that defines object and time of the diagnosis
    of_all  whether the diagnosis concerns all objects together
    """
    if other is core:
        return True
    if _is_too_serious(which, other):
        return False
    if other.rule == core.rule and other.object != core.object and not of_all:
        return False
    names = {other.rule, *(each.rule for each in other.explains)}
    return names <= _explained_by(which) and _is_of_its_time(core, other)


@cache
def _explained_by(which: Diagnosis) -> frozenset[str]:
    """Return the ids of rules and diagnoses that a diagnosis can explain."""
    known = [*rules(), *diagnoses()]
    return frozenset(name for pattern in which.explains for name in matching(known, pattern))


def _is_too_serious(which: Diagnosis, finding: Finding) -> bool:
    """Whether a finding is too serious to be the effect of intended work."""
    return which.by_design and finding.severity < which.severity


def _is_of_its_time(core: Finding, other: Finding) -> bool:
    """Whether enough of another finding's crossed time is in the time of a cause.

    If both have the same subject, whole episodes that touch the cause count. Otherwise, an episode
    counts only with its seconds in the time of the cause, and only if it begins at most one
    interval before the cause.
    """
    apart = int(max(core.usual, other.usual) * SECOND_US)
    its = episodes(other.runs, other.usual)
    if _subject(core) == _subject(other):
        together = [
            each for each in its if touches(core.runs, each.start - apart, each.end + apart)
        ]
        return sum(each.seconds for each in together) >= _MOSTLY * other.seconds_crossed
    after = _AFTER if other.kind in _EMPTIES else 0.0
    spans = [
        (each.start - apart, each.end + apart + int(after * (each.end - each.start)))
        for each in episodes(core.runs, core.usual)
    ]
    needed = _NEARLY_ALL if other.severity <= CONSTRAINT else _MOSTLY
    return overlapped(its, spans) >= needed * other.seconds_crossed


def _subject(finding: Finding) -> str:
    return finding.cause.subject if isinstance(finding.cause, Rule) else ""


def _impact(which: Diagnosis, under: Sequence[Finding]) -> tuple[str, float] | None:
    """Return the impact of a diagnosis: the largest sum of the impacts of a rule.

    Of hours to a limit, the fewest count. The kind of impact is the kind declared for a core rule,
    otherwise for the rule about waiting jobs.
    """
    kinds = (rules()[each].impact[0] for each in (*which.core, which.waiting) if each)
    kind = next(filter(None, kinds), "")
    by_rule: dict[str, list[float]] = defaultdict(list)
    for each in under:
        if each.impact and each.impact[0] == kind:
            by_rule[each.rule].append(each.impact[1])
    if not by_rule:
        return None
    if kind == HOURS:
        return kind, min(map(min, by_rule.values()))
    return kind, max(map(sum, by_rule.values()))
