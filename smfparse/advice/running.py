"""From open inputs to findings: one scan, all rules, diagnoses, and what could not be told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from smfparse.advice.declaration import Rule, diagnoses, subjects
from smfparse.advice.diagnosing import diagnosed
from smfparse.advice.findings import Finding, Once, found, seen_once
from smfparse.advice.judging import judged, wanted

if TYPE_CHECKING:
    from smfparse.query import Catalog

Limits = Mapping[str, Mapping[str, float]]
"""Limits that are changed: by rule, then by name."""
_SEEN_ONCE = 3
"""The last class of which a condition below its minimum sample is told."""


@dataclass(frozen=True)
class Checked:
    """What the rules say of inputs.

    findings       ranked, the most serious first; those that a diagnosis explains are under it
    seen_once      conditions that held below the minimum sample, in the order of the rules
    not_evaluated  the trace that would tell, and the rules that need it
    """

    findings: Sequence[Finding] = ()
    seen_once: Sequence[Once] = ()
    not_evaluated: Sequence[tuple[str, Sequence[str]]] = field(default_factory=list)


def run_rules(catalog: Catalog, limits: Limits, only: Collection[str] = ()) -> Checked:
    """Evaluate rules over the inputs of a catalog.

    limits  those that are changed
    only    rules and diagnoses whose findings are wanted; empty: all
    """
    asked = wanted(limits)
    several: list[Finding] = []
    once: list[Once] = []
    known: set[str] = set()
    for rows in judged(catalog, asked):
        for rule in asked.values():
            if rule.subject != rows.subject.name:
                continue
            if (rows.states(rule) >= 0).any():
                known.add(rule.id)
            several += (
                replace(each, changed=limits.get(rule.id, {}))
                for each in found(rows, rule, catalog)
            )
            if rule.rank <= _SEEN_ONCE and not rule.is_sign:
                once += seen_once(rows, rule)
    ranked = sorted(diagnosed(several, diagnoses(), known), key=lambda each: each.place)
    shown = [each for each in ranked if not only or each.rule in only]
    return Checked(shown, once, _not_evaluated(asked, known))


def _not_evaluated(
    asked: Mapping[str, Rule], known: Collection[str]
) -> list[tuple[str, Sequence[str]]]:
    """Return the traces that rules would need, each with these rules."""
    by_trace: dict[str, list[str]] = defaultdict(list)
    for rule in asked.values():
        if rule.id not in known and not rule.is_sign:
            newer = f", MQ {rule.versions} or newer" if rule.versions else ""
            by_trace[subjects()[rule.subject].trace + newer].append(rule.id)
    return sorted(by_trace.items())
