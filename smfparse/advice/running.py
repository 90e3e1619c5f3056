"""Evaluation of all rules over open inputs in one scan: findings, diagnoses, missing traces."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from smfparse.advice.declaration import Diagnosis, Rule, diagnoses, sql_of, subjects
from smfparse.advice.diagnosing import diagnosed, merged
from smfparse.advice.findings import Finding, found, seen_once
from smfparse.advice.judging import Judged, judged, wanted
from smfparse.advice.links import BACKOUTS, LINKS, all_links, with_backouts, with_jobs
from smfparse.advice.policy import NO_POLICY, Policy, Silence, changed_limits
from smfparse.metrics.calendar import ends_of

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog


@dataclass(frozen=True)
class Manager:
    """A queue manager of the input, and the local time that its data covers.

    zone  name of the requested zone; '': times are local times of its system

    The other fields are facts of its calendar.
    """

    system: str
    qmgr: str
    start: dt.datetime
    end: dt.datetime
    zone: str = ""
    intervals: int = 0
    interval_seconds: float = 0.0
    gaps: int = 0
    gap_seconds: float = 0.0
    restarts: int = 0
    missing_intervals: int = 0
    derived: bool = False


@dataclass(frozen=True)
class Checked:
    """The result of the rules for the inputs.

    managers       the queue managers with data for a rule
    findings       ranked, the most serious first; a diagnosis contains the findings it explains
    good           findings about a good state
    seen_once      findings whose samples are below the minimum, in order of the rules
    not_evaluated  each missing trace, and the rules that need it
    silenced       findings that the policy of the site silences, and the entry with the reason
    gone           findings of the baseline that no longer exist
    """

    managers: Sequence[Manager] = ()
    findings: Sequence[Finding] = ()
    good: Sequence[Finding] = ()
    seen_once: Sequence[Finding] = ()
    not_evaluated: Sequence[tuple[str, Sequence[str]]] = ()
    silenced: Sequence[tuple[Finding, Silence]] = ()
    gone: Sequence[Finding] = ()

    @property
    def table(self) -> Any:
        """Findings as a pyarrow.Table, each followed by the findings that it explains."""
        from smfparse.advice.printing import table

        return table(self.findings)

    def __repr__(self) -> str:
        lines = (f"SEV{each.severity} {each!r}" for each in self.findings)
        return "\n".join((f"<{len(self.findings)} findings", *lines)) + ">"


@dataclass
class _Evaluated:
    """The results so far.

    once    findings whose samples are below the minimum
    known   ids of evaluated rules, by queue manager
    held    names of the rows that SQL can read
    filled  subjects with rows
    """

    findings: list[Finding] = field(default_factory=list)
    once: list[Finding] = field(default_factory=list)
    known: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    held: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    managers: dict[tuple[str, str], Manager] = field(default_factory=dict)


def run_rules(
    catalog: Catalog,
    policy: Policy = NO_POLICY,
    only: Collection[str] = (),
    also: Mapping[str, str] = MappingProxyType({}),
    *,
    of_names: bool = False,
) -> Checked:
    """Evaluate rules over the inputs of a catalog.

    policy    limits, minimum runs, objects and silenced findings of the site
    only      rules and diagnoses to return; empty: all
    also      further queries by name, for the same scan; the catalog holds their rows by this name
    of_names  whether to omit rules whose findings name no job or queue
    """
    limits = changed_limits(policy.limits)
    asked = wanted(limits)
    if of_names:
        asked = {name: each for name, each in asked.items() if subjects()[each.subject].names_work}
    so_far = _Evaluated()
    own = {LINKS: sql_of("links"), BACKOUTS: sql_of("backouts")}
    for rows in judged(catalog, asked, {**own, **also}):
        so_far.held.update(rows.named)
        if len(rows.starts):
            so_far.filled.add(rows.subject.name)
        _add_managers(so_far.managers, rows)
        for rule in rows.rules:
            _evaluate(rule, rows, catalog, so_far)
    links = all_links(catalog, so_far.held)
    named = with_jobs(filter(policy.wants, so_far.findings), catalog, so_far.held, links)
    several = [
        replace(each, changed=limits.get(each.rule, {})) for each in with_backouts(named, catalog)
    ]
    for name in so_far.held:
        catalog.connection.unregister(name)
    loud = list(merged((each for each in several if not policy.silence_of(each)), links))
    good = [each for each in loud if _is_good(each)]
    bad = [each for each in loud if not _is_good(each)]
    causes = diagnosed(bad, diagnoses(), so_far.known, links)
    known = [each for each in causes if not only or each.rule in only]
    causes = [each for cause in causes for each in _loud(cause, policy)]
    shown = sorted(
        (each for cause in causes for each in _wanted(cause, only)), key=lambda each: each.place
    )
    return Checked(
        managers=[so_far.managers[key] for key in sorted(so_far.managers)],
        findings=shown,
        good=[each for each in good if not only or each.rule in only],
        seen_once=[each for each in so_far.once if not only or each.rule in only],
        not_evaluated=list(
            _not_evaluated(asked, set().union(*so_far.known.values()), so_far.filled)
        ),
        silenced=[
            (each, silence)
            for each in (*several, *known)
            if (silence := policy.silence_of(each)) is not None
        ],
    )


def _loud(cause: Finding, policy: Policy) -> Iterator[Finding]:
    """Yield a finding; in place of a silenced diagnosis, the findings that it explains.

    Findings of its core rules, and of the rule that names the waiting jobs, are silenced with it.
    """
    if policy.silence_of(cause) is None:
        yield cause
    elif isinstance(cause.cause, Diagnosis):
        for each in cause.explains:
            if each.rule not in (*cause.cause.core, cause.cause.waiting):
                yield from _loud(each, policy)


def _wanted(finding: Finding, only: Collection[str], under: str = "") -> Iterator[Finding]:
    """Yield a finding if `only` contains its rule; otherwise, the explained findings in `only`.

    under  the diagnosis that explains it
    """
    if not only or finding.rule in only:
        yield replace(finding, under=under)
    else:
        for each in finding.explains:
            yield from _wanted(each, only, finding.rule)


def _is_good(finding: Finding) -> bool:
    return isinstance(finding.cause, Rule) and finding.cause.is_good


def _evaluate(rule: Rule, rows: Judged, catalog: Catalog, so_far: _Evaluated) -> None:
    states = rows.states(rule)
    for group in rows.groups_of(states >= 0):
        so_far.known[rows.keys[group][:2]].add(rule.id)
    so_far.findings += found(rows, rule, states, catalog)
    if rule.shows_few:
        so_far.once += seen_once(rows, rule, states)


def _add_managers(managers: dict[tuple[str, str], Manager], rows: Judged) -> None:
    """Add the queue managers in rows, with the covered time; ignore rows of a whole system."""
    if rows.subject.of_system:
        return
    ends = ends_of(rows.starts, rows.seconds)
    first = np.flatnonzero(np.diff(rows.groups, prepend=-1)).tolist()
    for begin, end in zip(first, [*first, len(ends)][1:], strict=True):
        system, qmgr, *_ = rows.keys[rows.groups[begin]]
        clock = rows.clock(begin)
        calendar = rows.calendars.get((system, qmgr))
        first_us, last_us = rows.starts[begin:end].min(), ends[begin:end].max()
        if calendar:
            first_us, last_us = calendar.first, calendar.last
        start, last = clock.local(int(first_us)), clock.local(int(last_us))
        known = managers.get((system, qmgr), Manager(system, qmgr, start, last))
        managers[system, qmgr] = Manager(
            system,
            qmgr,
            min(known.start, start),
            max(known.end, last),
            clock.name,
            **(calendar.facts if calendar else {}),
        )


def _not_evaluated(
    asked: Mapping[str, Rule], known: Collection[str], filled: Collection[str]
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the missing traces, each with the rules that need it.

    Subjects that are not in use, such as shared queues, have no data although their trace is on.
    They are omitted.

    known   the evaluated rules
    filled  the subjects that have rows
    """
    proven = (subjects()[each] for each in filled)
    written = {each.trace for each in proven if each.proves_trace}
    by_trace: dict[str, list[str]] = defaultdict(list)
    for rule in asked.values():
        trace = subjects()[rule.subject].trace
        is_unused = rule.subject not in filled and trace in written
        if rule.id not in known and not rule.is_sign and not is_unused:
            newer = f", MQ {rule.versions} or newer" if rule.subject in filled else ""
            by_trace[trace + (newer if rule.versions else "")].append(rule.id)
    yield from sorted(by_trace.items())
