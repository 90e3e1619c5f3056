"""The results of `check` as a document: text for one screen, tables, and values for programs."""

from __future__ import annotations

import datetime as dt
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from smfparse.advice.commands import ANY_INPUT, Commands
from smfparse.advice.declaration import CONSTRAINT, SEVERITIES
from smfparse.advice.findings import Figure, Finding
from smfparse.advice.rows import SCHEMA, row, rows
from smfparse.advice.running import Checked
from smfparse.advice.wording import (
    about,
    expected,
    finding_lines,
    heading,
    in_short,
    moment_text,
    nothing_to,
    shown,
    span_text,
    whose,
)
from smfparse.rendering.document import Column, Document, Facts, Section, Table, Values
from smfparse.rendering.figures import plural
from smfparse.rendering.text import FAINT, FINDINGS, HEAD, HEADLINE, Mark

_MARGIN = 13
"""Number of characters before a sentence: two blanks, a label, blanks."""
_ENDS = "Gone since the baseline|Silenced|Healthy|Seen once|Not evaluated"
"""Regular expression for the first words of the lines after the findings."""
_ROOM = 4
"""Minimum number of findings that are shown in full."""


class CheckDocument(Document):
    """Findings as a document.

    commands   makes the commands that show the evidence
    at_length  whether every finding is shown in full
    """

    title = "Findings"
    marks = (HEADLINE, *FINDINGS, Mark(r"  [a-z][a-z ]{1,9}(?=  )", FAINT), Mark(_ENDS, HEAD))

    def __init__(
        self, checked: Checked, commands: Commands = ANY_INPUT, *, at_length: bool = False
    ) -> None:
        self._checked = checked
        self._commands = commands
        self._at_length = at_length

    def printed(self) -> Iterator[str]:
        """Yield the lines of text: queue managers, findings by severity, rules without data."""
        yield from self._managers()
        for number, each in enumerate(self._checked.findings):
            if self._at_length or each.severity <= CONSTRAINT or number < _ROOM:
                yield from ("", f"SEV{each.severity} {heading(each)}")
                for word, sentence in finding_lines(each, self._commands):
                    yield from _wrapped(word, sentence, self.room)
        rest = [] if self._at_length else self._checked.findings[_ROOM:]
        short = [each for each in rest if each.severity > CONSTRAINT]
        if short:
            yield ""
        for each in short:
            yield from _line(in_short(each), self.room)
        yield from self._ends()

    def sections(self) -> Iterator[Section]:
        """Yield one section per finding, then conditions true only once, and rules without data."""
        yield Section("", notes=list(self._managers()))
        for each in self._checked.findings:
            facts = [
                [word, sentence]
                for word, sentence in finding_lines(each, self._commands)
                if sentence
            ]
            yield Section(
                f"SEV{each.severity} {heading(each)}",
                [Table([Column("What"), Column("Value")], facts)],
            )
        rest = [each for each in self._ends() if each]
        if rest:
            yield Section("Further results", notes=rest)

    def tables(self) -> Iterator[Values]:
        """Yield one table: findings, each followed by the findings that it explains."""
        yield Values.of(self.title, SCHEMA.names, rows(self._checked.findings))

    def facts(self) -> Iterator[Facts]:
        """Yield findings by severity, conditions true only once, and rules not evaluated."""
        checked = self._checked
        yield Facts(
            {
                "managers": [_plains(asdict(each)) for each in checked.managers],
                "findings": [self.fact(each) for each in checked.findings],
                "healthy": [_fact(each) for each in checked.good],
                "seen_once": [_fact_of_once(each) for each in checked.seen_once],
                "not_evaluated": [
                    {"trace": trace, "rules": list(rules)} for trace, rules in checked.not_evaluated
                ],
                "silenced": [
                    _fact(each) | {"reason": why.reason, "until": why.until.isoformat()}
                    for each, why in checked.silenced
                ],
                "gone": [_fact(each) for each in checked.gone],
            },
            indent=2,
        )

    def fact(self, finding: Finding) -> dict[str, Any]:
        """Return a finding as names and values."""
        cause = finding.cause
        return _fact(finding) | {
            "jobs": list(finding.jobs),
            "who": whose(finding),
            "evidence": [_figure(each) for each in finding.evidence],
            "means": cause.means,
            "do": cause.do,
            "expect": expected(finding),
            "planned": [_figure(each) for each in finding.planned],
            "not_if": cause.not_if,
            "source": cause.source,
            "limits": dict(finding.changed),
            "show": self._commands.show(finding),
            "plan": self._commands.plan(finding),
            "explains": [self.fact(each) for each in finding.explains],
            "explained_by": finding.under,
        }

    def _managers(self) -> Iterator[str]:
        """Yield one line per queue manager: its time, and numbers of findings by severity."""
        for each in self._checked.managers:
            severities = [
                finding.severity
                for finding in self._checked.findings
                if finding.concerns(each.system, each.qmgr)
            ]
            counts = (
                f"{severities.count(severity)} {SEVERITIES[severity]}"
                for severity in SEVERITIES
                if severity in severities
            )
            summary = ", ".join(counts) or "no findings"
            names = f"{each.qmgr} on {each.system}" if each.qmgr else each.system
            yield f"{names}, {span_text(each.start, each.end, each.zone)}: {summary}"
        if not self._checked.managers:
            yield nothing_to("check")

    def _ends(self) -> Iterator[str]:
        yield from self._left_out()
        if self._checked.good:
            yield from ("", "Healthy")
        for each in self._checked.good:
            figure = f", {shown(each.figure)}" if each.figure else ""
            yield from _line(f"  {about(each)}: {each.name}{figure}", self.room)
        if self._checked.seen_once:
            yield from ("", "Seen once: too few calls or I/Os to judge")
        for once in self._checked.seen_once:
            figure = f", {shown(once.figure)}" if once.figure else ""
            moment = moment_text(once.peak_at or once.start)
            yield from _line(f"  {about(once)}: {once.name}{figure} ({moment})", self.room)
        yield from self._not_evaluated()

    def _not_evaluated(self) -> Iterator[str]:
        """Yield the number of rules without data; with `at_length`, also their required traces."""
        if not self._checked.not_evaluated:
            return
        total = sum(len(rules) for _, rules in self._checked.not_evaluated)
        more = "" if self._at_length else "; --all lists the traces that they require"
        yield from ("", f"Not evaluated: {plural(total, 'rule')} without data{more}")
        for trace, rules in self._checked.not_evaluated if self._at_length else ():
            yield from _line(f"  {plural(len(rules), 'rule')}: {trace}", self.room)

    def _left_out(self) -> Iterator[str]:
        """Yield findings that no longer exist, and silenced findings."""
        if self._checked.gone:
            yield from ("", "Gone since the baseline")
        for each in self._checked.gone:
            yield from _line(f"  SEV{each.severity} {heading(each)}", self.room)
        if self._checked.silenced:
            yield from ("", "Silenced by the policy")
        for each, why in self._checked.silenced:
            yield from _line(
                f"  {heading(each)} ({why.reason}; until {why.until:%Y/%m/%d})",
                self.room,
            )


def _line(text: str, room: int) -> Iterator[str]:
    yield from textwrap.wrap(text, room, subsequent_indent="    ", break_on_hyphens=False)


def _wrapped(word: str, sentence: str, room: int) -> Iterator[str]:
    """Yield the lines of a sentence after a label; no lines for an empty sentence.

    A command is not wrapped, so that it can be copied.
    """
    if word in ("show", "plan") and sentence:
        yield f"  {word}".ljust(_MARGIN) + sentence
    elif sentence:
        yield from textwrap.wrap(
            sentence,
            room,
            initial_indent=f"  {word}".ljust(_MARGIN),
            subsequent_indent=" " * _MARGIN,
            break_on_hyphens=False,
            break_long_words=False,
        )


def _fact(finding: Finding) -> dict[str, Any]:
    return _plains(row(finding))


def _plains(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, dt.datetime) else value
        for name, value in values.items()
    }


def _figure(figure: Figure) -> Mapping[str, Any]:
    return {"text": shown(figure), "value": figure.value}


def _fact_of_once(once: Finding) -> dict[str, Any]:
    names = ("severity", "rule", "name", "system", "qmgr", "object", "job")
    return _plains({name: getattr(once, name) for name in names}) | {
        "at": (once.peak_at or once.start).isoformat(),
        "intervals": once.crossed,
        "figure": once.figure.text if once.figure else "",
        "value": once.peak,
    }
