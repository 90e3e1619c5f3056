"""The catalogue of rules and diagnoses in words: for `check --explain` and docs/rules.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from smfparse.advice.declaration import (
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

Labelled = tuple[str, str]
"""A label and its text."""
_KNOWN = re.compile(r"CASE WHEN (\w+ IS NOT NULL|has_io) THEN (.*) END")
"""SQL around a condition that requires values in its fields; it is not shown."""
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
    return _LIMIT.sub(lambda name: _number(name[1], rule.limits[name[1]]), shown)


def _number(name: str, limit: Limit) -> str:
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
    """Return the ids of rules and diagnoses that match names or patterns; commas separate these.

    option  name of the option that contains the patterns, for the message

    Raises RequestError if no rule or diagnosis matches a pattern.
    """
    names = (each.strip() for text in patterns for each in text.split(","))
    return frozenset(each.id for name in names for each in chosen(name, option))
