"""Comparison of findings with the findings of an earlier time: new, gone or worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from smfparse.advice.declaration import Diagnosis, rules
from smfparse.advice.findings import Finding

if TYPE_CHECKING:
    from smfparse.advice.running import Checked

NEW, WORSE, SAME = "new", "worse", "as before"
_LARGER = 1.2
"""Ratio to the earlier figure, or to the earlier share of time, above which a finding is worse."""


def compared_with(now: Checked, earlier: Checked) -> Checked:
    """Return `now`, with each finding compared with the findings of an earlier time.

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
    """Return rule and key, without a job found in class 3 accounting, which may be off."""
    cause = finding.cause
    of = rules().get(cause.whose or cause.core[0]) if isinstance(cause, Diagnosis) else cause
    *place, job = finding.key
    return finding.rule, *place, "" if of and of.who else job


def _marked(finding: Finding, before: Mapping[tuple[str, ...], Finding]) -> Finding:
    """Return a finding, and findings that it explains, with `since`: result of the comparison."""
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
