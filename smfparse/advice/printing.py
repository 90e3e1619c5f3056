"""The results of `check` as a document: text for one screen, tables, and values for programs.

Rows of findings have the same names and values in JSON, CSV and Arrow. For automation, findings are
written as JUnit XML, or as metrics in the text format of Prometheus.
"""

from __future__ import annotations

import datetime as dt
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from smfparse.advice.commands import ANY_INPUT, Commands
from smfparse.advice.declaration import CONSTRAINT, SEVERITIES
from smfparse.advice.findings import Figure, Finding
from smfparse.advice.running import Checked
from smfparse.advice.wording import (
    about,
    evidence,
    expected,
    finding_lines,
    frequency,
    heading,
    in_short,
    moment_text,
    nothing_to,
    shown,
    span_text,
    whose,
)
from smfparse.rendering.document import Column, Document, Facts, Section, Table, Values
from smfparse.rendering.figures import plural, visible
from smfparse.rendering.text import FAINT, FINDINGS, HEAD, HEADLINE, Mark

SCHEMA = pa.schema(
    [
        ("severity", pa.int32()),
        ("rule", pa.string()),
        ("name", pa.string()),
        ("system", pa.string()),
        ("qmgr", pa.string()),
        ("object", pa.string()),
        ("job", pa.string()),
        ("start", pa.timestamp("us")),
        ("end", pa.timestamp("us")),
        ("persistence", pa.string()),
        ("crossed", pa.int64()),
        ("evaluated", pa.int64()),
        ("share", pa.float64()),
        ("longest_run", pa.int64()),
        ("figure", pa.string()),
        ("peak", pa.float64()),
        ("peak_at", pa.timestamp("us")),
        ("typical", pa.float64()),
        ("total", pa.float64()),
        ("impact", pa.float64()),
        ("impact_kind", pa.string()),
        ("since", pa.string()),
        ("evidence", pa.string()),
        ("expect", pa.string()),
        ("explained_by", pa.string()),
    ]
)
"""Columns of findings. `explained_by` is the diagnosis that explains a finding; '': none."""
_WORDS = ("evidence", "expect", "explained_by")
"""The last columns. Only tables contain them."""


def row(finding: Finding) -> dict[str, Any]:
    """Return a finding by column name, without the columns _WORDS."""
    kind, amount = finding.impact or ("", None)
    others = {
        "share": round(finding.share, 6),
        "longest_run": finding.longest.intervals if finding.longest else 0,
        "figure": shown(finding.figure) if finding.figure else "",
        "impact": amount,
        "impact_kind": kind,
    }
    return {
        name: others[name] if name in others else getattr(finding, name)
        for name in SCHEMA.names[: -len(_WORDS)]
    }


def rows(findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    """Yield findings with all columns, each followed by the findings that it explains."""
    for each in findings:
        yield _whole_row(each, each.under)
        for under in each.explains:
            yield _whole_row(under, each.rule)


def _whole_row(finding: Finding, explained_by: str) -> dict[str, Any]:
    words = (evidence(finding), expected(finding), explained_by)
    return row(finding) | dict(zip(_WORDS, words, strict=True))


def table(findings: Iterable[Finding]) -> pa.Table:
    """Return findings as a pyarrow.Table of SCHEMA."""
    return pa.Table.from_pylist(list(rows(findings)), SCHEMA)


_MARGIN = 13
"""Number of characters before a sentence: two blanks, a label, blanks."""
_ENDS = "Gone since the baseline|Silenced|Healthy|Seen once|Not evaluated"
"""Regular expression for the first words of the lines after the findings."""
_IN_FULL = 4
"""Number of findings that are shown in full, whatever their severity."""


class CheckDocument(Document):
    """Findings as a document.

    commands   makes the commands that show the evidence
    at_length  whether all findings are shown in full
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
            if self._at_length or each.severity <= CONSTRAINT or number < _IN_FULL:
                yield from ("", f"SEV{each.severity} {heading(each)}")
                for word, sentence in finding_lines(each, self._commands):
                    yield from _wrapped(word, sentence, self.room)
        rest = [] if self._at_length else self._checked.findings[_IN_FULL:]
        short = [each for each in rest if each.severity > CONSTRAINT]
        if short:
            yield ""
        for each in short:
            yield from _line(in_short(each), self.room)
        yield from self._ends()

    def sections(self) -> Iterator[Section]:
        """Yield a section of queue managers, one per finding, and one with the further results."""
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
        """Yield all results as names and values."""
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
        """Yield one line per queue manager: its time span, and its findings by severity."""
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


_FAILING = 3
"""Least serious severity of findings that are failed test cases."""
_METRICS = {
    "share": "Share of the evaluated time in which the condition holds",
    "crossed_intervals": "Intervals in which the condition holds",
    "evaluated_intervals": "Intervals in which the rule was evaluated",
    "impact": "Impact, in the unit that the label kind names",
}


def junit_lines(checked: Checked) -> Iterator[str]:
    """Yield findings as JUnit XML: failed test cases for severities 1 to 3, otherwise passed cases.

    Rules without data are skipped test cases.
    """
    failed = sum(each.severity <= _FAILING for each in checked.findings)
    skipped = sum(len(rules) for _, rules in checked.not_evaluated)
    tests = max(1, len(checked.findings) + skipped)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites tests="{tests}" failures="{failed}" skipped="{skipped}">'
    yield (
        f'<testsuite name="smfparse check" tests="{tests}" failures="{failed}" '
        f'errors="0" skipped="{skipped}">'
    )
    if not checked.findings and not skipped:
        yield '<testcase classname="smfparse" name="nothing found"/>'
    for each in checked.findings:
        yield from _case(each)
    for trace, rules in checked.not_evaluated:
        for rule in rules:
            yield f'<testcase classname="not evaluated" name="{rule}">'
            yield f"<skipped message={_attribute(trace)}/>"
            yield "</testcase>"
    yield from ("</testsuite>", "</testsuites>")


def _case(finding: Finding) -> Iterator[str]:
    name = f"{finding.rule} {about(finding)}"
    place = f"{finding.system}.{finding.qmgr}"
    yield f"<testcase classname={_attribute(place)} name={_attribute(name)}>"
    text = f"{span_text(finding.start, finding.end)}, {frequency(finding)}. {evidence(finding)}"
    text = visible(f"{text}. {finding.cause.do}")
    if finding.severity <= _FAILING:
        kind = f"severity {finding.severity}: {SEVERITIES[finding.severity]}"
        yield (
            f"<failure type={_attribute(kind)} message={_attribute(finding.name)}>"
            f"{escape(text)}</failure>"
        )
    else:
        yield f"<system-out>{escape(text)}</system-out>"
    yield "</testcase>"


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def metric_lines(checked: Checked) -> Iterator[str]:
    """Yield counts by severity, and values of each finding, in the text format of Prometheus."""
    yield "# HELP smfparse_findings Findings by severity"
    yield "# TYPE smfparse_findings gauge"
    for severity in SEVERITIES:
        count = sum(each.severity == severity for each in checked.findings)
        yield f'smfparse_findings{{severity="{severity}"}} {count}'
    for name, words in _METRICS.items():
        yield f"# HELP smfparse_finding_{name} {words}"
        yield f"# TYPE smfparse_finding_{name} gauge"
        for each in checked.findings:
            kind, amount = each.impact or ("", None)
            value = {
                "share": each.share,
                "crossed_intervals": each.crossed,
                "evaluated_intervals": each.evaluated,
                "impact": amount,
            }[name]
            if value is not None:
                label = f',kind="{kind}"' if name == "impact" else ""
                yield f"smfparse_finding_{name}{{{_labels(each)}{label}}} {value:.9g}"


def _labels(finding: Finding) -> str:
    labels = {
        "severity": str(finding.severity),
        "rule": finding.rule,
        "system": finding.system,
        "qmgr": finding.qmgr,
        "object": finding.object,
        "job": finding.job,
    }
    return ",".join(f'{name}="{_quoted(text)}"' for name, text in labels.items())


def _quoted(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')
