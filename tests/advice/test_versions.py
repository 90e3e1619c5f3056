"""Rules over fields that came with a later release: not evaluated where the release lacks them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from smfparse.advice import rules, subjects
from smfparse.synthetic import VERSIONS
from smfparse.tables import TABLES, columns
from tests.support.advised import ABSENT, Case, Rows, cases, states


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [each for each in cases() if each.name == "above"],
    ids=lambda each: each.rule,
)
def test_a_rule_is_evaluated_where_the_release_has_its_fields(case: Case) -> None:
    least = numbers(rules()[case.rule].versions or "0")
    without = releases(rules()[case.rule].subject)
    older = [each for each in without if numbers(each) < least]
    newer = [each for each in without if numbers(each) >= least]

    for version in {*older[-1:], *newer[:1]}:
        rows = in_release(case.rows, version, without[version])
        found = {state for state, _ in states(case.rule, rows, case.limits)}
        assert not found or (found == {None}) == (version in older), version


@cache
def releases(subject: str) -> dict[str, frozenset[tuple[str, str]]]:
    """Return the columns that a subject reads and a release lacks, of each that differs."""
    found: dict[str, frozenset[tuple[str, str]]] = {}
    words = {*re.findall(r"\w+", subjects()[subject].sql)}
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
        if there_since(table) <= numbers(version)
    }


def lacking(table: str, version: str) -> Iterator[str]:
    """Yield the columns of a table that a release does not have."""
    for each in columns(table):
        word, _, least = each.since.rpartition(" ")
        if word:
            known = TABLES[table].block.version_word_at(version)
            if known is not None and known < int(least):
                yield each.name
        elif least and numbers(version) < numbers(least):
            yield each.name


def there_since(table: str) -> tuple[int, ...]:
    """Return the first release that writes a table, as far as its fields tell."""
    lengths = TABLES[table].block.lengths if table in TABLES else [""]
    return min(numbers(each or "0") for each in lengths)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
