"""Findings as text (time, frequency, responsible jobs, evidence), and rules and diagnoses as text.

The texts of rules and diagnoses are for `check --explain` and docs/rules.md.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby

from smfparse.advice.commands import Commands
from smfparse.advice.declaration import (
    HOURS,
    IMPACTS,
    SEVERITIES,
    TAGS,
    UNITS,
    Diagnosis,
    Limit,
    Rule,
    diagnoses,
    number_text,
    rules,
    subjects,
    unknown_rule,
)
from smfparse.advice.findings import Figure, Finding, Move
from smfparse.rendering.figures import few, in_digits, styled

_MANY = 999.5
"""Least number that is shown with separators and without decimals: 1,000."""
_DIGITS = 3
"""Number of significant digits of impacts and rates; a larger whole part is shown in full."""
_SEPARATED = frozenset({"count", "rounded", "percent"})
"""Styles whose large numbers get separators in a phrase."""
_PLURAL = re.compile(r"(?<={} )(?!times (?:as|its|their)\b)([a-z]{2,}s)\b")
_GOES_ON = ("of ", "are ", "which ", "where ", "with ", "that ", "at most ")  # continuations
_ENDINGS = ("ies", "y"), ("ches", "ch"), ("s", "")  # plural, singular
_VERBS = (" are ", " is "), (" were ", " was "), (" have ", " has ")  # plural, singular
_LOST = "SMF-LOST"
"""Id of the rule that finds losses of SMF records."""
_LEAST_IMPACT = 0.001
_DATE = 10
"""Number of characters of a date."""


def shown(figure: Figure) -> str:
    """Return a figure in its phrase: `1,064 us per I/O`, `1 message deep`."""
    value = _number(figure)
    text = _of_one(figure.text) if value == "1" else figure.text
    return text.replace("{}", value)


def _number(figure: Figure) -> str:
    value, style = figure.value, figure.style
    if value is not None and style in _SEPARATED and abs(value) >= _MANY:
        return in_digits(value, _DIGITS)
    return styled(value, style)


def _of_one(text: str) -> str:
    found = _PLURAL.search(text)
    if not found:
        return text
    word = found[1]
    many, one = next(each for each in _ENDINGS if word.endswith(each[0]))
    rest = text[found.end() :]
    for plural, singular in _VERBS:
        rest = rest.replace(plural, singular)
    return text[: found.start()] + word.removesuffix(many) + one + rest


def moment_text(moment: dt.datetime) -> str:
    """Return a local time, without seconds if they are 0."""
    return f"{moment:%Y/%m/%d %H:%M:%S}".removesuffix(":00")


def span_text(start: dt.datetime, end: dt.datetime, zone: str = "") -> str:
    """Return a period, with the zone; a date that start and end share appears once.

    If the end is before the start, because clocks went back, the text shows this.
    """
    first, last = moment_text(start), moment_text(end)
    if first[:_DATE] == last[:_DATE]:
        last = last[_DATE + 1 :]
    back = " (clocks go back)" * (end < start)
    return f"{first} to {last} {zone}".rstrip() + back


def about(finding: Finding) -> str:
    """Return the subject of a finding: queue manager, object and job."""
    return " ".join(filter(None, (finding.qmgr or finding.system, finding.object, finding.job)))


def frequency(finding: Finding) -> str:
    """Return the frequency of a condition: `peak: 2 of 40 evaluated intervals, 5% of their time`.

    `the period as a whole`: only one interval was evaluated.
    """
    if finding.evaluated == 1:
        return "the period as a whole"
    time = "under 1%" if finding.share < 0.01 else f"{100 * finding.share:.0f}%"
    longest = finding.longest
    in_a_row = longest is not None and longest.intervals == finding.crossed
    between = " consecutive" if in_a_row and 1 < finding.crossed < finding.evaluated else ""
    which = f"{finding.crossed}{between} of {finding.evaluated} evaluated intervals"
    share = f"{which}, {time} of their time"
    if longest is None or in_a_row:
        return f"{finding.persistence}: {share}"
    span = span_text(finding.local(longest.start), finding.local(longest.end))
    return f"{finding.persistence}: {share}, longest run {longest.intervals} ({span})"


def peak(finding: Finding) -> str:
    """Return the worst value and its time; '': unknown."""
    if finding.figure is None or finding.peak is None:
        return ""
    words = shown(finding.figure)
    if finding.crossed == 1 or finding.peak_at is None:
        return words
    return f"{words} (worst interval: {moment_text(finding.peak_at)})"


def evidence(finding: Finding) -> str:
    """Return the figures of the evidence, and the impact."""
    parts = [peak(finding), *(shown(each) for each in finding.evidence)]
    if finding.impact and not (finding.move and finding.impact[0] == HOURS):
        kind, amount = finding.impact
        parts.append(f"impact: {_amount(amount)} {IMPACTS[kind][0]}")
    if finding.move:
        parts.append(_moving(finding.move))
    return _joined(filter(None, parts))


def _joined(parts: Iterable[str]) -> str:
    """Return parts separated by semicolons; a comma precedes a continuation."""
    text = ""
    for each in parts:
        mark = ", " if each.startswith(_GOES_ON) else "; "
        text += mark + each if text else each
    return text


def _amount(amount: float) -> str:
    return f"under {_LEAST_IMPACT}" if 0 < amount < _LEAST_IMPACT else in_digits(amount, _DIGITS)


def _moving(move: Move) -> str:
    """Return the change of a figure per hour, and the time until the figure reaches its limit."""
    ends = (
        f", at the limit in {in_digits(move.hours, _DIGITS)} hours"
        if move.hours is not None
        else ""
    )
    if ends and move.soonest is not None and move.latest is not None:
        soonest, latest = (in_digits(each, _DIGITS) for each in (move.soonest, move.latest))
        ends += f" ({soonest} to {latest})" if soonest != latest else ""
    sign = "+" if move.per_hour > 0 else "-"
    return f"{sign}{in_digits(abs(move.per_hour), _DIGITS)} {move.unit} per hour{ends}"


def expected(finding: Finding) -> str:
    """Return the effect of the action: values of the planner, then the published effect."""
    parts = [*(shown(each) for each in finding.planned), finding.cause.expect]
    return "; ".join(filter(None, parts))


def whose(finding: Finding) -> str:
    """Return the responsible or waiting jobs; '': only the job that the heading shows."""
    if finding.untold:
        return f"waiting jobs unknown: {finding.untold} is required"
    if not finding.job and finding.jobs:
        return f"{few(finding.jobs)} wait{'s' * (len(finding.jobs) == 1)}"
    return few(finding.jobs) if len(finding.jobs) > 1 else ""


def finding_lines(finding: Finding, commands: Commands) -> Iterator[tuple[str, str]]:
    """Yield the labels and texts of a finding."""
    cause = finding.cause
    yield "when", f"{span_text(finding.start, finding.end)}, {frequency(finding)}"
    yield "baseline", finding.since
    yield "who", whose(finding)
    yield "evidence", evidence(finding)
    yield "means", cause.means
    yield "do", cause.do
    yield "expect", expected(finding)
    yield "not if", cause.not_if
    if finding.changed:
        yield "limits", _limits(finding)
    if isinstance(cause, Rule) and cause.apars:
        yield "APARs", "; ".join(cause.apars)
    yield "show", commands.show(finding)
    yield "plan", commands.plan(finding)
    for its in _alike(finding.explains):
        yield "explains", _explained(its)


def _limits(finding: Finding) -> str:
    """Return all limits of the rule of a finding, because any of them can be crossed."""
    causes = (each.cause for each in finding.whole() if each.changed is finding.changed)
    rule = next(each for each in causes if isinstance(each, Rule))
    shown = (
        f"{name} {each.value:g}{' (changed)' * (name in finding.changed)}"
        for name, each in rule.limits.items()
    )
    return f"{rule.id}: {', '.join(shown)}"


def _alike(findings: Sequence[Finding]) -> Iterator[Sequence[Finding]]:
    """Yield groups of findings with the same severity and rule, in order of their first finding."""

    def kind(finding: Finding) -> tuple[int, str]:
        return finding.severity, finding.rule

    places = {which: -number for number, which in enumerate(map(kind, reversed(findings)))}
    for _, its in groupby(sorted(findings, key=lambda each: places[kind(each)]), kind):
        yield list(its)


def _explained(its: Sequence[Finding]) -> str:
    """Return one sentence about findings of a rule: all names, and the figures of the first."""
    first = its[0]
    names = [" ".join(filter(None, (each.object, job))) for each in its for job in _whose(each)]
    whose = " ".join(filter(None, (first.qmgr or first.system, few(names))))
    figures = ", ".join(filter(None, (peak(first), frequency(first))))
    which = f"{names[0]} " if len(names) > 1 else ""
    return f"SEV{first.severity} {first.rule} {whose}: {first.name}: {which}{figures}"


def _whose(finding: Finding) -> Sequence[str]:
    """Return all jobs of a finding without an object; otherwise its responsible job."""
    return [finding.job] if finding.object or not finding.jobs else finding.jobs


def heading(finding: Finding) -> str:
    """Return a finding in one line: `D2 QM01: the log is slow, not full`."""
    cause = f" (explained by {finding.under})" if finding.under else ""
    return f"{finding.rule} {about(finding)}: {finding.name}{cause}"


def losses_of(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings about lost SMF records, in the order of time."""
    return sorted((each for each in findings if each.rule == _LOST), key=lambda each: each.start)


def lost_text(findings: Iterable[Finding]) -> str:
    """Return a sentence about lost SMF records; '': none were lost."""
    losses = losses_of(findings)
    if not losses:
        return ""
    counts = [each.total for each in losses]
    known = sum(each for each in counts if each is not None)
    count = f"{known:,.0f}" if None not in counts else f"at least {known:,.0f}"
    several = f" in {len(losses)} losses" if len(losses) > 1 else ""
    span = span_text(losses[0].start, max(each.end for each in losses))
    return f"SMF lost {count} records{several}, {span}: metrics of that time are too low"


def nothing_to(verb: str) -> str:
    """Return the sentence about inputs without MQ records, for a command named by its verb."""
    return (
        f"No MQ statistics or class 3 accounting to {verb}; smfparse info counts the records, "
        "smfparse report class1 shows class 1."
    )


def in_short(finding: Finding) -> str:
    """Return a finding in one line: severity, worst value, and persistence of the condition."""
    figures = ", ".join(filter(None, (peak(finding), finding.persistence)))
    return f"SEV{finding.severity} {heading(finding)}: {figures}"


Labelled = tuple[str, str]
"""A label and its text."""
_KNOWN = re.compile(r"CASE WHEN (\w+ IS NOT NULL|has_io) THEN (.*) END")
"""SQL that evaluates a condition only if its fields have values; only the condition is shown."""
_WHERE = re.compile(r"CASE WHEN ((?:(?!CASE).)+?) THEN ((?:(?!ELSE).)+) END")
_CHOICE = re.compile(r"CASE WHEN ((?:(?!CASE).)+?) THEN (\S+) ELSE (\S+) END")
_IF_KNOWN = re.compile(r"coalesce\(((?:[^()]|\([^()]*\))*), (?:FALSE|TRUE|0)\)")
_WORD = re.compile(r"\b(?:AND|OR|NOT|BETWEEN|IN|LIKE|IS|NULL)\b")
_LIMIT = re.compile(r"\{(\w+)\}")
_US_OF_SECOND = 1e6


def chosen(name: str = "", option: str = "explain") -> list[Rule | Diagnosis]:
    """Return the rules and diagnoses that match a name or pattern; '': all.

    Raises RequestError if no rule or diagnosis matches.
    """
    known: list[Rule | Diagnosis] = [*diagnoses().values(), *rules().values()]
    found = [each for each in known if not name or fnmatchcase(each.id, name.upper())]
    if not found:
        raise unknown_rule(name, option, [each.id for each in known])
    return [each for each in found if name or not (isinstance(each, Rule) and each.is_sign)]


def explained(which: Rule | Diagnosis) -> Iterator[Labelled]:
    """Yield the labels and texts of a rule or diagnosis, without empty texts."""
    said = _of_rule(which) if isinstance(which, Rule) else _of_diagnosis(which)
    yield from (each for each in said if each[1])


def explain_lines(name: str = "") -> Iterator[str]:
    """Yield the catalogue as lines of text."""
    for number, each in enumerate(chosen(name)):
        yield from [""] if number else []
        yield f"{each.id}: {each.name} (severity {each.severity}, {SEVERITIES[each.severity]})"
        for word, text in explained(each):
            yield f"  {word.ljust(10)} {text}"


def _of_rule(rule: Rule) -> Iterator[Labelled]:
    subject = subjects()[rule.subject]
    yield "severity", _formula(rule, rule.severity_sql).removeprefix("(").removesuffix(")")
    yield "figure", rule.figure.text.replace("{}", "N")
    yield "condition", _formula(rule, rule.condition)
    yield "minimum", "" if rule.minimum == "TRUE" else _formula(rule, rule.minimum)
    yield "of", subject.object or "the queue manager"
    for name, limit in rule.limits.items():
        yield "limit", _limit(name, limit)
    yield from _shared(rule)
    yield "APARs", "; ".join(rule.apars)
    yield "note", rule.doubt
    yield "data", subject.trace + (f", MQ {rule.versions} or newer" if rule.versions else "")


def _formula(rule: Rule, sql: str) -> str:
    """Return a condition as a formula over columns of its subject, without the SQL around it."""
    shown = " ".join(sql.split())
    shown = _WHERE.sub(r"\1 AND (\2)", _KNOWN.sub(r"\2", shown))
    while (without := _IF_KNOWN.sub(r"\1", shown)) != shown:
        shown = without
    shown = _CHOICE.sub(r"(\2 if \1, otherwise \3)", shown)
    shown = _WORD.sub(lambda word: word[0].lower(), shown)
    return _LIMIT.sub(lambda name: _limit_text(name[1], rule.limits[name[1]]), shown)


def _limit_text(name: str, limit: Limit) -> str:
    return number_text(name, limit.value) if limit.known else name


def _limit(name: str, limit: Limit) -> str:
    shown = number_text(name, limit.value) if limit.known else "given by the site"
    if UNITS.get(name) == "us" and limit.value >= _US_OF_SECOND / 100:
        shown += f", {limit.value / _US_OF_SECOND:g} s"
    source = limit.source.removeprefix("ours").lstrip(": ")
    return f"{name} = {shown} ({TAGS[limit.tag]}{f': {source}' if source else ''})"


def _of_diagnosis(which: Diagnosis) -> Iterator[Labelled]:
    yield "severity", f"{which.severity}, or that of a more serious finding that it explains"
    yield "found by", ", ".join(which.core)
    for each in which.needs:
        names = " or ".join(name.removesuffix("?") for name in each)
        unknown = ", where there is data" if any(name.endswith("?") for name in each) else ""
        yield "with", names + unknown
    yield "without", ", ".join(which.without)
    yield "explains", ", ".join(which.explains)
    yield from _shared(which)


def _shared(which: Rule | Diagnosis) -> Iterator[Labelled]:
    yield "means", which.means
    yield "do", which.do
    yield "expect", which.expect
    yield "not if", which.not_if
    limits = which.limits.values() if isinstance(which, Rule) else ()
    yield (
        "source",
        "" if which.source in {"ours", *(each.source for each in limits)} else which.source,
    )
    yield "report", which.report
    yield "plan", _plan(which)


def _plan(which: Rule | Diagnosis) -> str:
    """Return the command of the planner, and the phrases of its figures in a finding."""
    if not which.plan:
        return ""
    planned = which.planned.says if isinstance(which, Rule) and which.planned else ()
    said = "; ".join(text.replace("{}", "N") for text, _, _ in planned)
    return f"smfparse capacity {which.plan}{f': {said}' if said else ''}"


def chosen_ids(patterns: Iterable[str], option: str = "only") -> frozenset[str]:
    """Return the ids of rules and diagnoses that match names or patterns, separated by commas.

    option  name of the option that contains the patterns, for the message

    Raises RequestError if no rule or diagnosis matches a pattern.
    """
    names = (each.strip() for text in patterns for each in text.split(","))
    return frozenset(each.id for name in names for each in chosen(name, option))
