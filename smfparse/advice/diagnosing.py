"""Diagnoses: findings that hold at the same time and have one cause are put under it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from smfparse.advice.declaration import CONSTRAINT, IMPACTS, Diagnosis, Rule, rules, subjects
from smfparse.advice.episodes import Run, episodes, main_episode
from smfparse.advice.findings import Finding
from smfparse.calendar import SECOND_US

_OR_UNKNOWN = "?"
"""Behind a rule that is needed: it counts as holding where its trace is absent."""
_MOSTLY = 0.5
"""Share of what crossed that has to be of the time of a cause, to be explained by it."""


def diagnosed(
    found: Sequence[Finding], declared: Mapping[str, Diagnosis], known: Collection[str]
) -> list[Finding]:
    """Return findings, each under the diagnosis that explains it; what no diagnosis has stays.

    known  the rules that could be evaluated
    """
    shown = [each for each in found if not _is_sign(each)]
    for which in declared.values():
        for core in _cores(which, found, known):
            if not _may_be(which, core, shown):
                continue
            is_of_all = any(each.rule == which.of_all and _beside(core, each) for each in found)
            explained = [each for each in shown if _explains(which, core, each, of_all=is_of_all)]
            shown = [each for each in shown if each not in explained]
            cause = _cause_of(which, core, explained, found)
            cause = _with_waiting(which, cause, known)
            shown.append(replace(cause, object="", kind="") if is_of_all else cause)
    return shown


def _may_be(which: Diagnosis, core: Finding, shown: Sequence[Finding]) -> bool:
    """Whether a core is not explained yet and, where that is asked for, nothing is at a limit."""
    limits = (each for each in shown if each.rank <= CONSTRAINT and _same_manager(core, each))
    return (core in shown or _is_sign(core)) and not (which.is_last and any(limits))


def _same_manager(one: Finding, other: Finding) -> bool:
    return (one.system, one.qmgr) == (other.system, other.qmgr)


def _is_sign(finding: Finding) -> bool:
    return isinstance(finding.cause, Rule) and finding.cause.is_sign


def _cores(which: Diagnosis, found: Sequence[Finding], known: Collection[str]) -> Iterator[Finding]:
    """Yield the finding at the core of each object for which the conditions hold together.

    Where several rules of the core found the same object, the first of them in the declaration is
    taken.
    """
    taken: set[tuple[str, str, str]] = set()
    for rule in which.core:
        for each in found:
            place = each.system, each.qmgr, each.object
            if each.rule == rule and place not in taken and _holds(which, each, found, known):
                taken.add(place)
                yield each


def _holds(
    which: Diagnosis, core: Finding, found: Sequence[Finding], known: Collection[str]
) -> bool:
    """Whether at the time of the core all that is needed holds, and nothing that rules it out."""
    at_the_time = {each.rule for each in found if _beside(core, each)}
    for group in which.needs:
        names = {each.removesuffix(_OR_UNKNOWN) for each in group}
        unknown = {each for each in group if each.endswith(_OR_UNKNOWN)} and not names & {*known}
        if not unknown and not names & at_the_time:
            return False
    return not at_the_time.intersection(which.without)


def _beside(core: Finding, other: Finding) -> bool:
    """Whether another finding is of the same queue manager and the time of the core."""
    if not _same_manager(core, other):
        return False
    if core.kind and core.kind == other.kind and core.object != other.object:
        return False
    main = _main(core)
    return any(each.overlaps(main.start, main.end) for each in other.runs)


def _main(finding: Finding) -> Run:
    return main_episode(finding.runs, finding.usual)


def _explains(which: Diagnosis, core: Finding, other: Finding, *, of_all: bool) -> bool:
    """Whether most of another finding began in the time of the core, or just after it.

    of_all  whether the cause is one of all objects
    """
    if not _same_manager(core, other):
        return False
    if other is core:
        return True
    named = any(fnmatchcase(other.rule, each) for each in which.explains)
    if not named or (other.rule == core.rule and other.object != core.object and not of_all):
        return False
    apart = int(max(core.usual, other.usual) * SECOND_US)
    spans = [(each.start - apart, each.end + apart) for each in core.runs]
    its = episodes(other.runs, other.usual)
    together = [each for each in its if any(each.overlaps(*span) for span in spans)]
    return sum(each.seconds for each in together) >= _MOSTLY * other.seconds_crossed


def _cause_of(
    which: Diagnosis, core: Finding, explained: Sequence[Finding], found: Sequence[Finding]
) -> Finding:
    """Return a diagnosis with what it explains, the most serious first."""
    under = sorted(explained, key=lambda each: each.place)
    jobs = _jobs(which, core, found)
    return replace(
        core,
        cause=which,
        rank=min([which.rank, *(each.rank for each in under)]),
        job=jobs[0] if jobs else core.job,
        jobs=jobs,
        impact=_impact(under),
        move=None,
        explains=under,
    )


def _jobs(which: Diagnosis, core: Finding, found: Sequence[Finding]) -> Sequence[str]:
    """Return whose the cause is: the jobs that the rule `whose` found, or those of the core."""
    theirs = [each for each in found if each.rule == which.whose and _beside(core, each)]
    theirs.sort(key=lambda each: each.place)
    return list(dict.fromkeys(each.job for each in theirs if each.job)) or core.jobs


def _with_waiting(which: Diagnosis, cause: Finding, known: Collection[str]) -> Finding:
    """Return a diagnosis with the jobs that wait for it, or the trace that would tell them."""
    if not which.waiting:
        return cause
    if which.waiting not in known:
        return replace(cause, untold=subjects()[rules()[which.waiting].subject].trace)
    theirs = [each.job for each in cause.explains if each.rule == which.waiting]
    return replace(cause, jobs=theirs)


def _impact(under: Sequence[Finding]) -> tuple[str, float] | None:
    """Return the largest impact of one kind; kinds are never added or compared."""
    for kind in IMPACTS:
        amounts = [each.impact[1] for each in under if each.impact and each.impact[0] == kind]
        if amounts:
            return kind, min(amounts) if kind == "hours" else max(amounts)
    return None
