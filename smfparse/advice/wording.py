"""Findings in words: when, how often, who, with what evidence, and the command that shows it."""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Iterator, Sequence

from smfparse.advice.declaration import IMPACTS, Rule
from smfparse.advice.findings import Figure, Finding, Once
from smfparse.advice.trends import Move
from smfparse.rendering import ABSENT, STYLES

_SHOWN_JOBS = 5
_KINDS = {"queue": "--queue", "channel": "--channel"}
"""Options that select an object."""
_ONE_DAY = 10
"""Characters of a date."""


def shown(figure: Figure) -> str:
    """Return a figure in its words."""
    known = figure.value is not None
    return figure.text.replace("{}", STYLES[figure.style][0](figure.value) if known else ABSENT)


def moment_text(moment: dt.datetime) -> str:
    """Return a local time, without seconds where these are 0."""
    return f"{moment:%Y/%m/%d %H:%M:%S}".removesuffix(":00")


def span_text(start: dt.datetime, end: dt.datetime, zone: str = "") -> str:
    """Return from when to when: the date once where both have it, and the zone asked for."""
    first, last = moment_text(start), moment_text(end)
    if first[:_ONE_DAY] == last[:_ONE_DAY]:
        last = last[_ONE_DAY + 1 :]
    return f"{first} to {last} {zone}".rstrip()


def about(finding: Finding | Once) -> str:
    """Return what a finding is about: queue manager, object and job."""
    return " ".join(filter(None, (finding.qmgr or finding.system, finding.object, finding.job)))


def often(finding: Finding) -> str:
    """Return how often a condition held: persistent, 14 of 16 intervals, 88 % of the time."""
    share = f"{finding.crossed} of {finding.evaluated} intervals, {_percent(finding.share)}"
    longest = finding.longest
    if longest is None or longest.intervals == finding.crossed:
        return f"{finding.persistence}: {share}"
    span = span_text(finding.local(longest.start), finding.local(longest.end))
    return f"{finding.persistence}: {share}, longest run {longest.intervals} ({span})"


def _percent(share: float) -> str:
    return "under 1 % of the time" if share < 0.01 else f"{100 * share:.0f} % of the time"


def peak(finding: Finding) -> str:
    """Return the worst value and when it was."""
    if finding.figure is None or finding.peak is None:
        return ""
    words = shown(finding.figure)
    if finding.crossed == 1 or finding.peak_at is None:
        return words
    return f"{words} at the worst ({moment_text(finding.peak_at)})"


def evidence(finding: Finding) -> str:
    """Return the figures that show it, and what it costs."""
    parts = [peak(finding), *(shown(each) for each in finding.evidence)]
    if finding.impact:
        kind, amount = finding.impact
        parts.append(f"impact {amount:.3g} {IMPACTS[kind]}")
    if finding.move:
        parts.append(_moving(finding.move))
    return "; ".join(filter(None, parts))


def _moving(move: Move) -> str:
    """Return by how much a figure moves, and when it is at its limit."""
    ends = f", at the limit in {move.hours:,.0f} hours" if move.hours is not None else ""
    if move.soonest is not None and move.latest is not None:
        ends += f" ({move.soonest:,.0f} to {move.latest:,.0f})"
    return f"{move.per_hour:+.3g} an hour{ends}"


def expected(finding: Finding) -> str:
    """Return what a change gives: what the planner makes of its figures, then what is published."""
    parts = [*(shown(each) for each in finding.planned), finding.cause.expect]
    return "; ".join(filter(None, parts))


def whose(finding: Finding) -> str:
    """Return the jobs behind it."""
    if len(finding.jobs) < 2:
        return ""
    more = len(finding.jobs) - _SHOWN_JOBS
    return ", ".join(finding.jobs[:_SHOWN_JOBS]) + (f" and {more} more" if more > 0 else "")


def command(finding: Finding, inputs: Sequence[str]) -> str:
    """Return the command that shows the evidence; '': no report does."""
    report = finding.cause.report or next(
        (each.cause.report for each in finding.explains if each.cause.report), ""
    )
    return _called(f"report {report}", finding, inputs) if report else ""


def plan_command(finding: Finding, inputs: Sequence[str]) -> str:
    """Return the command that works out what a change gives; '': no planner does."""
    plan = finding.cause.plan
    return _called(f"capacity {plan}", finding, inputs) if plan else ""


def _called(name: str, finding: Finding, inputs: Sequence[str]) -> str:
    """Return a command on the inputs, of the object and the time of a finding."""
    few = shlex.join(inputs) if 0 < len(inputs) < 3 else "INPUT..."
    return " ".join([f"smfparse {name} {few}", *_selection(finding)])


def _selection(finding: Finding) -> Iterator[str]:
    if finding.qmgr:
        yield f"--qmgr {finding.qmgr}"
    if finding.kind in _KINDS and finding.object:
        yield f"{_KINDS[finding.kind]} {shlex.quote(finding.object)}"
    if finding.job and finding.kind != "channel":
        yield f"--job {shlex.quote(finding.job)}"
    yield f"--from {_asked(finding.start)} --until {_asked(finding.end)}"
    if finding.clock.name:
        yield f"--tz {finding.clock.name}"


def _asked(moment: dt.datetime) -> str:
    return moment.isoformat(timespec="minutes" if not moment.second else "seconds")


def finding_lines(finding: Finding, inputs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a finding: a word that stands before it, and the sentence."""
    cause = finding.cause
    yield "when", f"{span_text(finding.start, finding.end)}, {often(finding)}"
    yield "baseline", finding.since
    yield "who", whose(finding)
    yield "evidence", evidence(finding)
    yield "means", cause.means
    yield "do", cause.do
    yield "expect", expected(finding)
    yield "not if", cause.not_if
    if finding.changed:
        changed = (f"{name} {value:g}" for name, value in finding.changed.items())
        yield "limits", f"changed: {', '.join(changed)}"
    if isinstance(cause, Rule) and cause.apars:
        yield "APARs", "; ".join(cause.apars)
    yield "show", command(finding, inputs)
    yield "plan", plan_command(finding, inputs)
    for each in finding.explains:
        yield "explains", f"{each.rank} {heading(each)}: {peak(each)}, {often(each)}"


def heading(finding: Finding) -> str:
    """Return a finding in one line: `D2 QM01: the log is slow, not full`."""
    return f"{finding.rule} {about(finding)}: {finding.name}"


def in_short(finding: Finding) -> str:
    """Return a finding in one line, with its class, its worst value and how persistent it is."""
    return f"{finding.rank} {heading(finding)}: {peak(finding)}, {finding.persistence}"
