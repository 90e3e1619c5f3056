"""Rules over small files: what has no rows is not asked for, and nothing else differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from smfparse.advice import CheckDocument, rules, run_rules, subjects
from smfparse.advice.judging import subject_query
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import LIMITS, Limits
from smfparse.query import Catalog
from smfparse.rendering import lines
from smfparse.tables import named_macros, view_macros
from tests.support.advised import Bench
from tests.support.paths import PROJECT


@pytest.mark.parametrize("name", subjects())
def test_a_subject_of_tables_without_rows_has_none(name: str) -> None:
    subject = subjects()[name]
    some = [each for each in rules().values() if each.subject == name and each.complete]
    query = subject_query(subject, some)
    bench = Bench({}, subject.tables)
    bench.define(named_macros(query, view_macros()))
    assert bench.arrow(query).num_rows == 0


def checked_lines(path: Path, whole_bytes: int) -> list[str]:
    """Return what check says of a file, all of it."""
    opened = open_inputs([path], ReadOptions(limits=Limits(whole_bytes=whole_bytes)))
    with Catalog(opened) as catalog:
        document = CheckDocument(run_rules(catalog), [path.name], at_length=True)
    return [line for form in ("text", "json") for line in lines(document, form)]


@pytest.mark.parametrize("name", ["qm60", "qm01-930"])
def test_a_small_file_is_checked_as_a_large_one(name: str) -> None:
    path = PROJECT / "fixtures" / f"{name}.smf"
    assert checked_lines(path, LIMITS.whole_bytes) == checked_lines(path, 0)
