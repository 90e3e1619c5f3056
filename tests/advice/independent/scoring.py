"""What findings say of independent days, against what was planted in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

import smfparse
from smfparse.advice.declaration import CONSTRAINT
from smfparse.advice.findings import Finding
from tests.advice.independent.cases import Case, cases, healthy, system_of

TO_KNOW = 4
AT_ONCE = 12
"""So many days are read by one scan."""


@dataclass(frozen=True)
class Verdict:
    """Whether what is said of a day is right; None: the day does not ask for it.

    false    findings of severity 1 and 2 of a day without a cause of these
    to_know  findings of severity 4
    """

    name: str
    cause: bool | None = None
    who: bool | None = None
    time: bool | None = None
    stands: bool | None = None
    false: Sequence[str] = ()
    to_know: int = 0
    first: str = ""

    @property
    def wrong(self) -> str:
        """Return what is wrong, in words; '': nothing."""
        parts = [
            name for name in ("cause", "who", "time", "stands") if getattr(self, name) is False
        ]
        parts += [f"false {each}" for each in self.false]
        return ", ".join(parts) and f"{self.name}: {', '.join(parts)} ({self.first})"


def verdicts(names: Sequence[str], folder: Path) -> Iterator[Verdict]:
    """Yield what is said of cases and healthy days, by name."""
    known = {**cases(), **healthy()}
    for limits, of_limits in groupby([known[each] for each in names], lambda case: case.limits):
        while chosen := list(islice(of_limits, AT_ONCE)):
            data = [each.data(number) for number, each in enumerate(chosen)]
            for case, found in zip(chosen, _checked(data, limits, folder), strict=True):
                yield verdict(case, found)


def healthy_verdict(name: str, found: Sequence[Finding], case: Case | None = None) -> Verdict:
    """Return what is said of a day without a cause of severity 1 or 2."""
    beside = case.beside if case else ()
    serious = [each for each in found if each.severity <= CONSTRAINT and each.rule not in beside]
    false = [repr(each) for each in serious] + (_absent(case, found) if case else [])
    to_know = sum(each.severity == TO_KNOW for each in found)
    return Verdict(name, false=false, to_know=to_know, first=_first(found))


def _absent(case: Case, found: Sequence[Finding]) -> list[str]:
    every = (each for top in found for each in top.whole())
    return [repr(each) for each in every if each.rule in case.absent]


def _checked(
    data: Sequence[bytes], limits: Mapping[str, float], folder: Path
) -> list[list[Finding]]:
    """Return the findings of each day; one scan checks all."""
    files = [folder / f"{number}.smf" for number in range(len(data))]
    for file, each in zip(files, data, strict=True):
        file.write_bytes(each)
    found = smfparse.open(files).check(limits=limits).findings
    by_system: Mapping[str, list[Finding]] = {system_of(at): [] for at in range(len(data))}
    for each in found:
        by_system[each.system].append(each)
    return list(by_system.values())


def verdict(case: Case, found: Sequence[Finding]) -> Verdict:
    """Return whether findings are what a case asks for."""
    if not case.first:
        return healthy_verdict(case.name, found, case)
    first = found[0] if found else None
    cause = first is not None and first.rule in case.first
    cause = cause and (not case.object or (first is not None and first.object == case.object))
    told = {each.rule for each in found} | {f"{each.rule}:{each.object}" for each in found}
    stands = not told.isdisjoint(case.stands) if case.stands else None
    who = time = None
    if case.who:
        who = first is not None and bool({*case.who} & {first.job, *first.jobs})
    if first is not None and cause and case.is_timed and not case.stands:
        midnight = first.start.replace(hour=0, minute=0, second=0)
        ends = ((first.start, case.since), (first.end, case.until))
        apart = [abs((at - midnight).total_seconds() / 3600 - hour) for at, hour in ends]
        time = max(apart) <= case.site.minutes / 60 + 0.01
    return Verdict(case.name, cause, who, time, stands, _absent(case, found), first=_first(found))


def _first(found: Sequence[Finding]) -> str:
    return repr(found[0]) if found else "nothing found"
