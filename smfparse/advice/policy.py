"""The policy of a site, and the comparison of findings with earlier findings.

A policy is a TOML file: limits, minimum runs, objects and silenced findings. The dataclasses here
declare its keys, and docs/check.md shows an example. Options of the command override the policy.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from smfparse.advice.declaration import (
    UNITS,
    Diagnosis,
    diagnoses,
    number_text,
    rules,
    unknown_rule,
)
from smfparse.advice.findings import Finding
from smfparse.declarations import Key, Where, expected, read_table, toml
from smfparse.errors import RequestError

if TYPE_CHECKING:
    from smfparse.advice.running import Checked

Limits = Mapping[str, Mapping[str, float]]
"""Changed limits, by rule and by name of the limit."""
_OTHER_UNIT = 1000
"""Ratio to the declared limit from which a changed limit is assumed to be in another unit."""
_FORM = "write RULE=VALUE for the first limit of a rule, or RULE.NAME=VALUE for another one"


def _date(value: Any, where: Where, _before: Mapping[str, Any]) -> dt.date:
    found: dt.date = expected(dt.date, value, "a date, as 2026-12-31", where)
    return found


@dataclass(frozen=True)
class Silence:
    """Findings that a site silences."""

    rule: Annotated[str, Key("a rule or diagnosis, or a pattern")]
    reason: Annotated[str, Key("the reason, for the output")]
    until: Annotated[
        dt.date, Key("last day on which a silenced finding begins", read=_date, written="a date")
    ]
    qmgr: Annotated[str, Key("a queue manager, or a pattern")] = "*"
    object: Annotated[str, Key("an object, or a pattern")] = "*"

    def covers(self, finding: Finding) -> bool:
        """Whether this entry matches a finding."""
        pairs = (
            (finding.rule, self.rule),
            (finding.qmgr, self.qmgr),
            (finding.object, self.object),
        )
        named = all(fnmatchcase(*each) for each in pairs)
        return named and finding.start.date() <= self.until


@dataclass(frozen=True)
class Policy:
    """The policy of a site."""

    limits: Annotated[
        Mapping[str, float], Key('limits: `LOG-RESPONSE = 1200`, `"LOG-BUSY.pages" = 90`', "none")
    ] = field(default_factory=dict)
    runs: Annotated[
        Mapping[str, float], Key("by rule: minimum number of consecutive crossed intervals", "1")
    ] = field(default_factory=dict)
    objects: Annotated[
        Mapping[str, tuple[str, ...]], Key("by rule: the objects to report, or patterns", "all")
    ] = field(default_factory=dict)
    silence: Annotated[tuple[Silence, ...], Key("findings that are not shown", "none")] = ()

    def wants(self, finding: Finding) -> bool:
        """Whether the policy allows a finding, by its object and its number of intervals."""
        patterns = self.objects.get(finding.rule, ("*",))
        longest = finding.longest.intervals if finding.longest else 1
        named = any(fnmatchcase(finding.object, each) for each in patterns)
        return named and longest >= self.runs.get(finding.rule, 1)

    def silence_of(self, finding: Finding) -> Silence | None:
        """Return the entry that silences a finding; None: the finding is shown."""
        return next((each for each in self.silence if each.covers(finding)), None)


NO_POLICY = Policy()


def changed_limits(changed: Mapping[str, float]) -> Limits:
    """Return limits by rule and name. Raises RequestError for an unknown limit.

    changed  numbers by `LOG-RESPONSE` or `LOG-BUSY.pages`; the last value for a limit counts
    """
    found: dict[str, dict[str, float]] = {}
    for name, value in changed.items():
        rule, _, limit = name.partition(".")
        if rule in diagnoses():
            its = ", ".join(diagnoses()[rule].core)
            raise RequestError(
                f"limit={name}: {rule} combines rules; use a limit of {its}", "limit"
            )
        if rule not in rules():
            raise unknown_rule(rule, "limit", rules())
        limits = rules()[rule].limits
        if not limits or (limit and limit not in limits):
            names = ", ".join(f"{rule}.{each}" for each in limits)
            there = f"use {names}" if limits else "leave it out"
            raise RequestError(f"limit={name}: {rule} has no such limit; {there}", "limit")
        which = limit or next(iter(limits))
        _check_unit(name, which, value, limits[which].value)
        found.setdefault(rule, {})[which] = value
    return found


def _check_unit(name: str, limit: str, value: float, usual: float) -> None:
    """Raise RequestError for a value that seems to be in another unit than the limit."""
    known = limit in UNITS and value > 0 and usual > 0
    if known and max(value / usual, usual / value) >= _OTHER_UNIT:
        far = f"{number_text(limit, value)} is far from {number_text(limit, usual)}"
        raise RequestError(f"limit={name}: {far}; give it in {UNITS[limit]}", "limit")


def parsed_limits(texts: Iterable[str]) -> dict[str, float]:
    """Return numbers by name, from `RULE=VALUE` and `RULE.NAME=VALUE`. Raises RequestError."""
    found = {}
    for text in texts:
        name, equals, number = text.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError as error:
            what = "not a number" if equals else "no value"
            raise RequestError(f"limit={text}: {what}; {_FORM}", "limit") from error
    return found


def site_policy(path: Path | None, limits: Mapping[str, float]) -> Policy:
    """Return the policy in a file (None: no file), with limits replaced by `limits`.

    Raises RequestError with the place of an error in the file.
    """
    policy = NO_POLICY
    if path is not None:
        where = Where(str(path))
        policy = Policy(**read_table(Policy, toml(path, where), where))
        for key in ("limits", "runs", "objects"):
            for name in getattr(policy, key):
                where.at(key).check("rule", name.partition(".")[0], rules())
        known = [*rules(), *diagnoses()]
        for number, each in enumerate(policy.silence):
            if not any(fnmatchcase(name, each.rule) for name in known):
                raise where.at("silence").at(number).unknown("rule", each.rule, known)
    changed = {**policy.limits, **limits}
    changed_limits(changed)
    return replace(policy, limits=changed)


NEW, WORSE, SAME = "new", "worse", "as before"
_LARGER = 1.2
"""Ratio to the earlier figure, or to the earlier share of time, above which a finding is worse."""


def compared_with(now: Checked, earlier: Checked) -> Checked:
    """Return `now` with new, worse or same in each finding, and the findings that are gone.

    Findings that diagnoses explain are compared as well.
    """
    before = {_name(each): each for top in earlier.findings for each in top.whole()}
    there = {_name(each) for top in now.findings for each in top.whole()}
    return replace(
        now,
        findings=[_marked(each, before) for each in now.findings],
        gone=[each for each in earlier.findings if _name(each) not in there],
    )


def _name(finding: Finding) -> tuple[str, ...]:
    """Return rule and key. A job found in class 3 is omitted: that trace may be off."""
    cause = finding.cause
    of = rules().get(cause.whose or cause.core[0]) if isinstance(cause, Diagnosis) else cause
    *place, job = finding.key
    return finding.rule, *place, "" if of and of.who else job


def _marked(finding: Finding, before: Mapping[tuple[str, ...], Finding]) -> Finding:
    """Set `since`, the result of the comparison, in a finding and in those that it explains."""
    explained = [_marked(each, before) for each in finding.explains]
    since = _compared(finding, before.get(_name(finding)))
    return replace(finding, since=since, explains=explained)


def _compared(now: Finding, before: Finding | None) -> str:
    if before is None:
        return NEW
    longer = now.share > _LARGER * before.share
    return WORSE if now.severity < before.severity or longer or _is_worse(now, before) else SAME


def _is_worse(now: Finding, before: Finding) -> bool:
    """Whether the worst value of a figure exceeds the earlier worst value by the ratio _LARGER."""
    new, old = now.peak, before.peak
    if new is None or old is None:
        return False
    return new * _LARGER < old if now.worst_is_lowest else new > _LARGER * old
