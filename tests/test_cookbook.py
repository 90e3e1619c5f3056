"""The queries of the cookbook answer on every file: raw, as a dataset, and in DuckDB alone.

What they answer on the page is held where the page is made (tools/docs.py --check).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import smfparse
from smfparse import views
from smfparse.columns import table_names
from smfparse.dataset import write_dataset
from smfparse.generate import generate
from smfparse.tables import open_inputs
from tests.real import REAL_DATA, needs_real_data

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
QUESTIONS = dict(re.findall(r"^### (.*?)\n.*?^```sql\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
FIXTURES = sorted(path.name for path in (ROOT / "fixtures").glob("*.smf"))
REAL = sorted(path.name for path in REAL_DATA.glob("*.dat")) if REAL_DATA else ["none"]

Opened = tuple[duckdb.DuckDBPyConnection, ...]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Opened]]:
    """Open an SMF file: as it is, as a dataset, and this in DuckDB; each file once."""
    connections = []

    @cache
    def of(path: Path) -> Opened:
        folder = tmp_path_factory.mktemp("cookbook") / "dataset"
        write_dataset(open_inputs([path]), folder)
        connections.append(connection := duckdb.connect())
        for table in table_names():
            connection.execute(f"CREATE VIEW {table} AS FROM '{folder}/{table}/*.parquet'")
        connection.execute(views.script())
        of_ours = [smfparse.open(each).connect() for each in (path, folder)]
        connections.extend(of_ours)
        return *of_ours, connection

    yield of
    for each in connections:
        each.close()


def answers(opened: Opened, question: str) -> list[dict[str, Any]]:
    """Return the answer to a question, which must be one in all three ways."""
    raw, *others = (each.sql(QUESTIONS[question]).to_arrow_table().to_pylist() for each in opened)
    assert [raw, raw] == others
    rows: list[dict[str, Any]] = raw
    return rows


def made(path: Path, *, dense: bool) -> Path:
    generate(
        path,
        qmgrs=["QM01", "QM02"],
        system="SYSA",
        start=dt.datetime(2026, 3, 4, 9),
        utc_offset=dt.timedelta(),
        interval=dt.timedelta(minutes=30),
        version="10.0.0",
        seed=1,
        tasks=8,
        queues=3,
        count=4,
        dense=dense,
    )
    return path


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("day") / "day.smf", dense=False)


@pytest.fixture(scope="module")
def worst(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("worst") / "dense.smf", dense=True)


def test_there_are_as_many_questions_as_queries() -> None:
    assert len(QUESTIONS) == PAGE.count("```sql\n") >= 20


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_an_answer(
    opened: Callable[[Path], Opened], day: Path, tmp_path: Path, question: str
) -> None:
    if "FROM damage" in QUESTIONS[question]:
        assert answers(opened(day), question) == []
        cut = tmp_path / "cut.smf"
        cut.write_bytes(day.read_bytes()[:-1])
        assert len(answers(opened(cut), question)) == 1
    else:
        found = answers(opened(day), question)
        assert found
        assert smfparse.open(day).sql(QUESTIONS[question]).to_pylist() == found


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("fixture", FIXTURES)
def test_a_question_is_answered_alike_on_a_fixture(
    opened: Callable[[Path], Opened], fixture: str, question: str
) -> None:
    answers(opened(ROOT / "fixtures" / fixture), question)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_where_all_counters_are_full(
    opened: Callable[[Path], Opened], worst: Path, question: str
) -> None:
    answers(opened(worst), question)


@needs_real_data
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", REAL)
def test_a_question_is_answered_alike_on_a_real_file(
    opened: Callable[[Path], Opened], name: str, question: str
) -> None:
    assert REAL_DATA is not None
    answers(opened(REAL_DATA / name), question)
