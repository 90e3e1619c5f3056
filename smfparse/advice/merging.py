"""Findings of one rule about several jobs or objects, combined for each queue manager."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from smfparse.advice.declaration import Rule
from smfparse.advice.episodes import episodes, runs, together, touches
from smfparse.advice.findings import MOST_JOBS, Figure, Finding, natural
from smfparse.advice.links import Links, Manager, Place
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
    """Return one finding with the intervals of all, and the figures of the one with most impact.

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
        impact=_impact(its),
        evidence=[*_names(first, names), *things, *first.evidence],
    )


def _names(first: Finding, names: Sequence[str]) -> Iterator[Figure]:
    """Yield the names of all merged findings, and the name to which the figures belong."""
    if len(names) > 1:
        kind = first.kind or "job"
        yield Figure(f"{kind}s {{}}", few(sorted(names, key=natural)), "text")
        yield Figure("figures of {}", names[0], "text")


def used_by(jobs: Sequence[str], kinds: Iterable[str], links: Links) -> Iterator[Figure]:
    """Yield the objects of each kind that jobs use, as far as the data shows them.

    Objects of a further kind are included only if related to an object of the previous kind.
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


def _impact(its: Sequence[Finding]) -> tuple[str, float] | None:
    """Return the sum of the impacts of findings; None: no finding has an impact."""
    known = [each.impact for each in its if each.impact]
    return (known[0][0], sum(amount for _, amount in known)) if known else None
