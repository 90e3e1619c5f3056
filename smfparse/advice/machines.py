"""Findings for automation: JUnit XML, and metrics in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from smfparse.advice.declaration import SEVERITIES
from smfparse.advice.findings import Finding
from smfparse.advice.running import Checked
from smfparse.advice.wording import about, evidence, frequency, span_text
from smfparse.rendering.figures import visible

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
    """Yield findings as metrics in the text format of Prometheus, one sample per finding."""
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
