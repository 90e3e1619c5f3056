"""The queries of the cookbook answer on every file, and count what they say.

What they answer on the page is held where the page is made (tools/docs.py --check).
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import smfparse
from tests.support import smf
from tests.support.builders import put
from tests.support.generated import generate_dump
from tests.support.paths import PROJECT
from tests.support.published import SENDER, channels
from tests.support.real import FILES
from tests.support.searching import LONG, some
from tests.support.smf import ENDED, MINUTE, START, block, queue, record, task_token, who

pytestmark = pytest.mark.slow

PAGE = (PROJECT / "docs" / "sql.md").read_text(encoding="utf-8")
QUESTIONS = dict(re.findall(r"^### (.*?)\n.*?^```sql\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))

YEARS = dt.timedelta(days=9000)


def used(number: int, token: bytes) -> bytes:
    """A queue of which everything that the questions ask for was counted `number` times."""
    names = "getn putn validget validput putjcn putpmsg putpwg getsmsg gets"
    counts = dict.fromkeys(names.split(), number)
    return queue("PAY.IN", token, **counts, getct=1e6 * number)


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """Two queue managers whose tasks have equal tokens: 116/1, its 116/2, and a 116/2 without.

    Besides a channel that is at work and one of its instances that is not, and a shared queue, of
    which a partial record does not tell the depth.
    """
    token, orphan, made = task_token(1), task_token(2), []
    for qmgr, job, (first, second, alone) in (
        ("VTS1", "R001", (1, 2, 4)),
        ("VTS2", "R002", (8, 16, 32)),
    ):
        latched = smf.task(token, wtascmn=first, latches={19: (1, first, 1)})
        made += [
            smf.task_record(latched, used(first, token), by=who(job), qmgr=qmgr),
            smf.more_queues(used(second, token), by=who(job), qmgr=qmgr),
            smf.more_queues(used(alone, orphan), by=who("LOST"), qmgr=qmgr),
        ]
    gone = SENDER | {"qcststrt": ENDED - YEARS, "qcstludt": ENDED - YEARS}
    shared = {"qqstqnam": "PAY.IN", "qqstflag": "QQSTDISP"}
    part = block("QQST", **shared | {"qqstflag": "QQSTDISP QQSTPART"})
    depths = [record(block("QQST", **shared, qqstdpth=10)), record(part, start=START + MINUTE)]
    path = tmp_path_factory.mktemp("split") / "split.smf"
    with smfparse.open(put(path, *made, channels(SENDER, gone), *depths)).connect() as connection:
        yield connection


OF_QUEUES = {"R001": 3, "R002": 24, "LOST": 36}
OF_TASKS = {"R001": 1, "R002": 8}
JOINS: dict[str, tuple[str, dict[str, int] | int]] = {
    "Which queues cost the most CPU?": ("gets_and_puts", 2 * 63),
    "What does each kind of call cost?": ("calls", 2 * 63 + 9),
    "Which jobs cost the most, and on which queues?": ("cpu_seconds", OF_QUEUES),
    "Which jobs commit the most?": ("commits", OF_TASKS),
    "Which puts force a log write?": ("forced_by_puts", OF_QUEUES),
    "How long do messages stay on a queue?": ("messages", 63),
    "How large are the messages of each queue?": ("messages", 63),
    "How many messages are put to a waiting getter?": ("to_waiting_getter", 63),
    "Where do MQGET calls wait?": ("gets", 63),
    "Which gets have to search for their message?": ("messages_skipped", 63),
    "Which tasks wait for latches?": ("waits", OF_TASKS),
}
"""Question to a figure, and what it adds up to: of each job, where the answer names jobs."""


def all_of(question: str) -> str:
    return QUESTIONS[question].replace("LIMIT 5", "")


def test_an_answer_counts_every_record_of_a_task_once(split: duckdb.DuckDBPyConnection) -> None:
    for question, (column, expected) in JOINS.items():
        found: Counter[str] = Counter()
        for row in split.sql(all_of(question)).to_arrow_table().to_pylist():
            found[row.get("job", "")] += row[column]
        assert found == (expected if isinstance(expected, dict) else {"": expected}), question
    rows = split.sql(all_of("Which jobs cost the most, and on which queues?")).to_arrow_table()
    assert sum(rows["tasks"].to_pylist()) == 4  # those of two queue managers with one token are two


def test_every_question_about_class_3_is_held_to_what_was_counted() -> None:
    assert len(QUESTIONS) == PAGE.count("```sql\n") >= 20
    about = re.compile(r"(?:FROM|JOIN) (?:wqst|wtas|wtid|task|queue_activity|api_cost)\b|wtas_")
    assert {each for each, query in QUESTIONS.items() if about.search(query)} == {*JOINS}


def test_rates_are_of_active_channels_and_depths_of_the_last_record(
    split: duckdb.DuckDBPyConnection,
) -> None:
    query = all_of("Which channels are busy, and do they fill their batches?")
    (row,) = split.sql(query).fetchall()
    assert row[1:5] == ("MQ89_1", "Sender", 2 * 2998, round(2998 / 122.253258, 2))
    (row,) = split.sql(all_of("Which queues are deep, or contain old messages?")).fetchall()
    assert (row[1], row[3]) == ("PAY.IN", None)


@pytest.mark.fuzz
def test_every_question_has_an_answer(tmp_path: Path) -> None:
    """Also where all counters are full; in a long run of any file."""
    day = generate_dump(tmp_path / "day.smf", version="10.0.0", count=4)
    worst = generate_dump(tmp_path / "dense.smf", version="10.0.0", count=2, dense=True)
    cut = put(tmp_path / "cut.smf", day.read_bytes()[:-1])
    of_damage = [each for each, query in QUESTIONS.items() if "FROM damage" in query]
    every = [*QUESTIONS]
    for path, questions in (
        *((day, some(every, 9)), (cut, of_damage), (worst, some(every, 2))),
        *((each, every) for each in FILES if LONG),
    ):
        with smfparse.open(path).connect() as connection:
            for question in questions:
                found = bool(connection.sql(QUESTIONS[question]).fetchall())
                assert path not in (day, cut) or found == (path == cut or question not in of_damage)
