"""Each rule, just above and just below its limit, below its sample, and where fields are absent."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from smfparse.advice.declaration import diagnoses, rules, subjects
from smfparse.advice.judging import subject_query
from smfparse.declarations import Where
from smfparse.decoding.dictionary import TABLES, columns
from smfparse.errors import RequestError
from smfparse.metrics.calendar import calendar_macros
from smfparse.metrics.figures import figures, phrase
from smfparse.metrics.views import named_macros, words_in
from smfparse.simulating.declaration import VERSIONS
from tests.support.advised import ABSENT, Case, Rows, cases, severities, states

FACTS = Path(__file__).parent.parent / "facts" / "advice.csv"
EXPECTED = {"above": {1}, "below": {0}, "few": {3}, "older": {None}, "alarm": {0, 2, 3, None}}
"""What at least one row of a case has to be; of `below` and `alarm` none is crossed."""
OF_CLASS = [each for each in cases() if each.name.startswith("severity_")]
"""Cases that name the severity of a finding: `severity_3`."""


@pytest.mark.slow
def test_rules_cross_their_limits_where_their_cases_say() -> None:
    some = [each for each in cases() if each not in OF_CLASS]
    assert len(some) > 700
    wrong = []
    for case, found in zip(some, states(some), strict=True):
        kind = case.name.split("_")[0]
        if not found & EXPECTED[kind] or (kind != "above" and 1 in found):
            wrong.append((case.rule, case.name, found))
    assert wrong == []


def test_the_class_of_a_finding_depends_on_its_values() -> None:
    wanted = {(each.rule, each.name): int(each.name.split("_")[1]) for each in OF_CLASS}
    assert dict(zip(wanted, severities(OF_CLASS), strict=True)) == wanted


def test_every_rule_has_its_cases() -> None:
    known = defaultdict(set)
    for case in cases():
        known[case.rule].add(case.name.split("_")[0])
    missing = {}
    for rule in rules().values():
        wanted = {"above", "below"} | ({"few"} if rule.minimum != "TRUE" else set())
        wanted |= {"older"} if rule.versions else set()
        wanted |= {"severity"} if rule.severity_sql else set()
        if lacks := wanted - known[rule.id]:
            missing[rule.id] = lacks

    assert not missing


def test_the_catalogue_is_what_is_published_and_nothing_else() -> None:
    with FACTS.open(encoding="utf-8") as file:
        published = {row["rule"]: set(row["classes"].split()) for row in csv.DictReader(file)}
    declared = {each.id: str(each.severity) for each in rules().values() if not each.is_sign}

    assert declared.keys() == published.keys()
    assert not {name for name, severity in declared.items() if severity not in published[name]}


def test_diagnoses_name_rules_that_exist() -> None:
    known = {*rules(), *diagnoses()}
    for which in diagnoses().values():
        named = {each.removesuffix("?") for group in which.needs for each in group}
        named |= {*which.core, *which.without, *which.explains} | {which.whose or which.core[0]}
        unknown = {each for each in named if not any(fnmatchcase(rule, each) for rule in known)}
        assert not unknown, which.id
    assert diagnoses().keys() == {f"D{number}" for number in range(1, 27)}


def test_rules_that_name_no_work_decide_no_diagnosis_of_work() -> None:
    """The report `application` leaves them out."""
    of = {each.id: subjects()[each.subject] for each in rules().values()}
    apart = {each for each in of if not of[each].names_work}
    objects, jobs = {"queue", "channel", "agent"}, {"task_use", "queue_use"}
    work = {each for each in of if of[each].name in jobs or of[each].object in objects}
    work |= {each.id for each in rules().values() if each.who and not of[each.id].is_whole}
    assert len(apart) > 30
    assert not apart & work
    for which in diagnoses().values():
        named = {
            *which.core,
            *which.without,
            *(each.rstrip("?") for group in which.needs for each in group),
        }
        if any(fnmatchcase(each, name) for each in work for name in which.explains):
            assert not [each for each in apart for name in named if fnmatchcase(each, name)]


def test_evidence_sums_no_quotient() -> None:
    for rule in rules().values():
        of = subjects()[rule.subject].of
        known = figures(of) if of else {}
        assert [each.sql for each in rule.evidence if f"{each.sql}_per" in known] == [], rule.id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "{100 * lost per lost + kept}% lost",
            ("{}% lost", "percent", "(100 * lost) / nullif(lost + kept, 0)",
             "sum(100 * lost) / nullif(sum(lost + kept), 0)", "100 * lost > {a} * (lost + kept)"),
        ),
        (
            "up to {least(used per size, 1):tenths}",
            ("up to {}", "tenths", "least((used) / nullif(size, 0), 1)",
             "least(sum(used) / nullif(sum(size), 0), 1)",
             "least((used) / nullif(size, 0), 1) > {a}"),
        ),
        ("{sum(lost)} lost", ("{} lost", "grouped", "lost", "sum(lost)", "lost > {a}")),
        ("{busy}% busy", ("{}% busy", "percent", "busy", "", "busy > {a}")),
        ("{n::BIGINT - 1:count}", ("{}", "count", "n::BIGINT - 1", "", "n::BIGINT - 1 > {a}")),
    ],
)  # fmt: skip
def test_the_form_of_a_figure_shows_what_rows_make_of_it(text: str, expected: tuple[str, ...]):
    found = phrase(text, Where("a.toml"), {})
    crossing = found.crossing("{a}", lowest=False)
    assert (found.text, found.style, found.of_row, found.of_rows, crossing) == expected


def test_a_phrase_has_one_figure_and_a_style_that_exists() -> None:
    for text, wrong in (("lost", "one figure"), ("{a} {b}", "found 2"), ("{a:roundd}", "rounded")):
        with pytest.raises(RequestError, match=wrong):
            phrase(text, Where("a.toml"), {})


# Fields that came with a later release: rules that need them are not evaluated without them


@pytest.mark.slow
def test_rules_are_evaluated_where_the_release_has_their_fields() -> None:
    some = [each for case in cases() if case.name == "above" for each in in_releases(case)]
    assert {each.name for each in some} == {"older", "newer"}
    wrong = [
        (case.rule, case.name, found)
        for case, found in zip(some, states(some), strict=True)
        if found and (found == {None}) != (case.name == "older")
    ]
    assert wrong == []


def in_releases(case: Case) -> Iterator[Case]:
    """Yield a case in the last release without the fields of its rule, and in the first with."""
    least = numbers(rules()[case.rule].versions or "0")
    without = releases(rules()[case.rule].subject)
    older = [each for each in without if numbers(each) < least]
    newer = [each for each in without if numbers(each) >= least]
    for name, versions in (("older", older[-1:]), ("newer", newer[:1])):
        for version in versions:
            yield case._replace(name=name, rows=in_release(case.rows, version, without[version]))


@cache
def releases(subject: str) -> dict[str, frozenset[tuple[str, str]]]:
    """Return the columns that a subject reads and a release lacks, of each that differs."""
    found: dict[str, frozenset[tuple[str, str]]] = {}
    some = [each for each in rules().values() if each.subject == subject and each.complete]
    query = subject_query(subjects()[subject], some)
    words = words_in(query + named_macros(query, calendar_macros()))
    for version in VERSIONS:
        read = frozenset(
            (table, name)
            for table in subjects()[subject].tables
            for name in lacking(table, version)
            if name in words
        )
        if read not in found.values():
            found[version] = read
    return found


def in_release(rows: Rows, version: str, without: frozenset[tuple[str, str]]) -> Rows:
    """Return rows as a release writes them: without the fields that came later."""
    return {
        table: [
            row
            | {"mq_version": version}
            | {name: ABSENT for where, name in without if where == table}
            for row in some
        ]
        for table, some in rows.items()
        if known_since(table) <= numbers(version)
    }


def lacking(table: str, version: str) -> Iterator[str]:
    for each in columns(table):
        word, _, least = each.since.rpartition(" ")
        if word:
            known = TABLES[table].block.version_word_at(version)
            if known is not None and known < int(least):
                yield each.name
        elif least and numbers(version) < numbers(least):
            yield each.name


def known_since(table: str) -> tuple[int, ...]:
    """Return the first release that writes a table, as far as its fields show."""
    lengths = TABLES[table].block.lengths if table in TABLES else [""]
    return min(numbers(each or "0") for each in lengths)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
