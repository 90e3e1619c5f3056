"""Comparison of findings with those of an earlier time: new, gone or worse."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from smfparse.advice.findings import Finding

if TYPE_CHECKING:
    from smfparse.advice.running import Checked

NEW, WORSE, SAME = "new", "worse", "as before"
_LARGER = 1.2
"""How many times worse a figure is, or how many times longer a condition holds, to be worse."""


def compared_with(now: Checked, earlier: Checked) -> Checked:
    """Return the result, with its findings compared with those of an earlier time."""
    before = {(each.rule, *each.key): each for each in earlier.findings}
    findings = [
        replace(each, since=_compared(each, before.pop((each.rule, *each.key), None)))
        for each in now.findings
    ]
    return replace(now, findings=findings, gone=list(before.values()))


def _compared(now: Finding, before: Finding | None) -> str:
    if before is None:
        return NEW
    longer = now.share > _LARGER * before.share
    return WORSE if now.severity < before.severity or longer or _is_worse(now, before) else SAME


def _is_worse(now: Finding, before: Finding) -> bool:
    """Whether the worst value of a figure is clearly worse than it was."""
    new, old = now.peak, before.peak
    if new is None or old is None:
        return False
    return new * _LARGER < old if now.worst_is_lowest else new > _LARGER * old
