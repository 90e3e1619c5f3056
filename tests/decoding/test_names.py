"""Selection by names: the rows about a job, transaction, queue or channel, from every input."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.arrow import wanted_tables
from smfparse.decoding.decoder import Decoder
from smfparse.decoding.dictionary import RECORD, decoded_tables
from smfparse.decoding.matching import Needs
from smfparse.decoding.selection import Selection
from smfparse.errors import DamageLog
from smfparse.inputs import workers
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.query.catalog import Catalog
from smfparse.writing.dataset import write_dataset
from tests.inputs.test_ranges import Here, rows_of, small_chunks
from tests.support import builders, oracle, smf
from tests.support import short_records as short
from tests.support.command import in_json
from tests.support.searching import search

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]


def rows(path: Path, asked: Selection | None = None, jobs: int = 1) -> oracle.Rows:
    """Return all tables, read at once."""
    options, wanted = ReadOptions(asked or Selection(), jobs=jobs), wanted_tables(decoded_tables())
    found = rows_of(open_inputs([path], options).batches(wanted), wanted)
    return {table: pl.DataFrame(each) for table, each in found.items()}


def differing(found: Mapping[str, pl.DataFrame], expected: Mapping[str, pl.DataFrame]) -> list[str]:
    return [table for table, frame in expected.items() if not frame.equals(found[table])]


KEYS = (
    *("source", "record_no", "block_no", "system", "qmgr", "smf_time", "counted_at", "utc_offset"),
    *("task_record_no", "latch", "phase", "verb", "request"),
)
"""Columns by which rows of DuckDB are compared, which have no order."""


def stored(path: Path, folder: Path, asked: Selection | None = None) -> Path:
    write_dataset(open_inputs([path], ReadOptions(asked or Selection())), folder)
    return folder


SOME = [
    short.job_task("PAY01", "", [("PAY.IN", "PAY.IN"), ("ALIAS", "PAY.OUT")], 1, program="PAY1"),
    short.statistics(short.NOON),
    short.class1("PAY01", transaction="PAY1"),
    short.job_task("CICSA", "TO.QM02", [("OTHER", "OTHER")], 2),
    short.job_queues("CICSA", "TO.QM02", [("pay.in", "pay.in"), ("X", "X")], 2),
    short.job_queues("CICSA", "TO.QM02", [("MORE", "MORE")], 2),
    short.job_task("PAY01", "", [], 1),
    short.depths("PAY.IN", "OTHER", "PAY.OUT"),
    short.channels("TO.QM02", "TO.QM03"),
    short.class1("", ("QMAC",)),
    short.class1("CICSA", ("QWAC",)),
    short.job_queues("LOST", "TO.QM03", [("PAY.OUT", "")], 9, program="PSBPAY01"),
    short.job_task("", "", [("", "")], 3),
    short.job_task("GONE", "", [("PAY.IN", "PAY.IN")], 4, wtid=False),
    short.job_queues("GONE", "", [("LATER", "LATER")], 4),
]
"""Records, from 1."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The records as a file and as a dataset."""
    path = builders.put(tmp_path_factory.mktemp("names") / "some.smf", *SOME)
    return path, stored(path, path.parent / "tables")


ASKED: list[dict[str, Any]] = [
    {"queue": ["MORE", "*X*"]}, {"transaction": ["PAY1", "PSB*"]}, {"job": ["PAY01,LOST"]},
    {"job": ["*"]}, {"job": ["GONE"]}, {"job": ["ZZ"]},
    {"transaction": ["PAY1"], "queue": ["ALIAS"]}, {"queue": ["PAY.IN"]},
    {"queue": ["PAY.??"], "channel": ["*3"]}, {"channel": ["TO.QM02"]},
    {"job": ["CICS?"], "queue": ["MORE"], "channel": ["TO*"]},
]  # fmt: skip


def test_names_select_the_rows_of_the_oracle(both: tuple[Path, Path], tmp_path: Path) -> None:
    """Also of a table alone, and of a dataset that was selected before."""
    whole = oracle.Oracle(rows(both[0]))
    for number, asked in enumerate(ASKED):
        chosen, expected = Selection.of(**asked), whole.rows(**asked)
        for path in both:
            assert not differing(rows(path, chosen), expected), asked
        for table in (*oracle.NAMED, "qist", "qsph") if number < 2 else ():
            found = open_inputs(both[:1], ReadOptions(chosen)).arrow(table)
            assert pl.DataFrame(found).equals(expected[table]), table
    first = stored(both[0], tmp_path / "first", Selection.of(**ASKED[0]))
    second = stored(first, tmp_path / "second", Selection.of(**ASKED[0]))
    assert not differing(rows(second), whole.rows(**ASKED[0]))


def test_names_select_what_is_of_a_job_or_of_a_whole_task(both: tuple[Path, Path]) -> None:
    """The oracle is right about what it is like: records of which a row is left."""
    for asked, expected in (
        ({"job": "*"}, [1, 3, 4, 5, 6, 7, 12, 15]),
        ({"transaction": "PAY1"}, [1, 3]),
        ({"queue": "PAY.IN"}, [1, 4, 5, 6, 8, 14, 15]),
        ({"channel": "TO.QM02"}, [4, 5, 6, 9]),
        ({"queue": "PAY.IN", "type": "116(2)"}, [5, 6, 15]),
    ):
        found = open_inputs(both[:1], ReadOptions(Selection.of(**asked))).arrow("record")
        assert found["record_no"].to_pylist() == expected, asked


PATTERNS = {
    "job": ("PAY01", "PAY*", "*a", "????2", "*", "NO,CICSA"),
    "transaction": ("PAY1", "psb*", "*1", "*", "NO,PAY?"),
    "queue": ("PAY.IN", "*.OUT", "*'S", "PAY.??", "*", "NO"),
    "channel": ("TO*", "*/?", "*", "app/1"),
}
ABOUT = [
    *SOME, short.job_task("pay02", "APP/1", [("pay.out", "SYSTEM.Q'S")], 1, "MQ02", program="pay2"),
    short.job_task("CICSA", "", [("SYSTEM.Q'S", "PAY.IN"), ("", "")], 2, "MQ02", wtid=False),
    short.job_queues("pay02", "APP/1", [("PAY.IN", "")], 1, "MQ02", program="PSBPAY01"),
    short.job_queues("", "", [("pay.out", "pay.out")], 3, "MQ02", wtid=False),
    short.class1("pay02", ("QWAC",), "MQ02", "pay2"), short.class1("CICSA", (), "MQ01", "PAY1"),
    short.channels("APP/1", ""), short.channels(), short.depths("SYSTEM.Q'S", ""),
    short.statistics(short.NOON, qmgr="MQ02"), builders.foreign_record(3, short.NOON),
]  # fmt: skip


def records() -> st.SearchStrategy[list[bytes]]:
    """Records about names, and of many moments, systems and queue managers."""
    made, systems = oracle.local_times(), st.sampled_from(["SYS1", "SYS2"])
    late = st.sampled_from(oracle.LATE).map(lambda late: dt.timedelta(microseconds=late))
    dated = st.sampled_from(short.MAKERS).flatmap(
        lambda make: st.builds(make, made, systems, st.sampled_from(oracle.QMGRS))
    )
    long = st.sampled_from((short.lasting, short.lasting_task)).flatmap(
        lambda make: st.builds(make, made, st.sampled_from(oracle.LENGTHS), late)
    )
    odd = st.sampled_from([None] * 12 + list(oracle.ODD_DATES))
    about = st.sampled_from(range(len(ABOUT))).map(lambda number: ABOUT[number])  # a short repr
    each = st.one_of(about, st.builds(short.with_date, st.one_of(dated, long), odd))
    # A file without a valid date is no dump.
    return st.lists(each, min_size=1, max_size=16).filter(
        lambda made: any(one[10:14].hex().upper() not in oracle.ODD_DATES for one in made)
    )


NAMED = {name: st.lists(st.sampled_from(each), max_size=2) for name, each in PATTERNS.items()}
NAMES = st.fixed_dictionaries(NAMED)


@search(4)
@given(made=records(), data=st.data())
def test_a_file_its_parts_a_dataset_and_sql_give_what_is_asked_for(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    made: list[bytes],
    data: st.DataObject,
) -> None:
    """Asked is by headers, by names, or by both."""
    folder = tmp_path_factory.mktemp("names")
    path = builders.put(folder / "dump.smf", *made)
    dataset = stored(path, folder / "tables")
    by = data.draw(st.sampled_from(["headers", "names", "both"]))
    asked = None if by == "names" else oracle.Asked(data)
    names = {} if by == "headers" else data.draw(NAMES)
    chosen = Selection.of(**(asked.options() if asked else {}), **names)
    whole = rows(path)
    for table, frame in whole.items():
        when = [oracle.counted(row) for row in frame.iter_rows(named=True)]
        assert frame["counted_at"].to_list() == when, table
    expected = oracle.Oracle(whole).rows(asked and asked.takes, **names)
    for each in (path, dataset):
        assert not differing(rows(each, chosen), expected)
    with Catalog(open_inputs([dataset], ReadOptions(chosen))) as catalog:
        for table in (*oracle.NAMED, "qist", "qpst", "qsph"):
            keys = [each for each in KEYS if each in expected[table].columns]
            found = pl.DataFrame(catalog.arrow(f"SELECT {', '.join(keys)} FROM {table}"))
            assert found.sort(keys).equals(expected[table].select(keys).sort(keys)), table
    small_chunks(monkeypatch, 40_000)
    monkeypatch.setattr(workers, "ProcessPoolExecutor", Here)
    assert not differing(rows(path, chosen, jobs=2), expected)


def test_a_selection_names_the_options_that_some_tables_cannot_answer() -> None:
    every = {"job": "A", "queue": "B", "channel": "C"}
    cases: list[tuple[dict[str, str], list[str], tuple[str, ...]]] = [
        ({}, ["qjst"], ()), ({"job": "A"}, ["qjst", "qpst"], ("job",)),
        ({"job": "A"}, ["qjst", "wtas"], ()), (every, ["qqst"], ("job", "channel")),
        (every, ["wqst_cf"], ()), ({"job": "A", "queue": "B"}, ["qmac", "qwac"], ("queue",)),
        ({"job": "A"}, ["damage"], ("job",)), (every, [RECORD], ()),
        ({"queue": "B"}, [], ("queue",)),
    ]  # fmt: skip
    for asked, tables, expected in cases:
        assert Selection.of(**asked).unknown_to(tables) == expected, (asked, tables)


def test_damage_is_reported_of_all_records_in_which_a_name_is_looked_for() -> None:
    lost = builders.Section([builders.named_block("WQST", 2800)], offset=9999)
    sections = builders.Section([smf.who("B")]), builders.NOTHING, lost
    bad = builders.smf_record(116, 1, *sections, area=builders.qwhs_short(short.UTC))
    damage = DamageLog()
    decoder = Decoder(Needs(wanted_tables(["wqst"]), Selection.of(job="A")), damage)
    found = list(decoder.decode([builders.chunk_of(short.job_task("A", queues=[("Q", "Q")]), bad)]))
    assert sum(batch.num_rows for _, batch in found) == 1
    assert [each.record_no for each in damage.details] == [2]


def test_info_counts_the_records_about_a_name(both: tuple[Path, Path]) -> None:
    options = ("--job", "CICSA", "--queue", "*.in", "--channel", "TO*")
    for path in both:
        assert in_json("info", path, *options)["records"] == 3
