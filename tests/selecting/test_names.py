"""Selection by names: the rows about a job, transaction, queue or channel, from every input."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding import Decoder, Needs
from smfparse.errors import DamageLog
from smfparse.inputs import ReadOptions, open_inputs, workers
from smfparse.query import Catalog
from smfparse.selecting import Selection
from smfparse.tables import RECORD, coded_schema, decoded_tables, schema, wanted_tables
from smfparse.writing import write_dataset
from tests.inputs.test_ranges import Here, small_chunks
from tests.support import smf
from tests.support.builders import (
    NOTHING,
    Section,
    chunk_of,
    foreign_record,
    named_block,
    qwhs_short,
    rdw,
    smf_record,
)
from tests.support.command import run
from tests.support.oracle import (
    LATE,
    LENGTHS,
    NAMED,
    ODD_DATES,
    QMGRS,
    Asked,
    Oracle,
    Rows,
    counted,
    local_times,
)
from tests.support.real import every_file
from tests.support.searching import search
from tests.support.short_records import (
    MAKERS,
    NOON,
    UTC,
    channels,
    class1,
    depths,
    job_queues,
    job_task,
    lasting,
    lasting_task,
    statistics,
    with_date,
)

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]


def write(path: Path, records: Iterable[bytes]) -> Path:
    path.write_bytes(rdw(records))
    return path


def rows(path: Path, asked: Selection | None = None, jobs: int = 1) -> Rows:
    """Return all tables, read at once."""
    parts: dict[str, list[Any]] = {table: [] for table in decoded_tables()}
    options = ReadOptions(asked or Selection(), jobs=jobs)
    for table, batch in open_inputs([path], options).batches(wanted_tables(decoded_tables())):
        parts[table].append(batch)
    return {
        table: pl.DataFrame(pa.Table.from_batches(found, coded_schema(table)).cast(schema(table)))
        for table, found in parts.items()
    }


def differing(found: Mapping[str, pl.DataFrame], expected: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return the tables that are not as expected."""
    return [table for table, frame in expected.items() if not frame.equals(found[table])]


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort rows, of which DuckDB gives no order, and let every reader's types be the same."""
    keys = [each for each in ("source", "record_no", "block_no") if each in rows.columns]
    header = ("system", "qmgr", "smf_time", "counted_at", "utc_offset", "task_record_no")
    keys += [each for each in header if each in rows.columns]
    index = [each for each in ("latch", "phase", "verb", "request") if each in rows.columns]
    return rows.select(*keys, *index).sort(*keys, *index)


def from_sql(path: Path, asked: Selection) -> Rows:
    with Catalog(open_inputs([path], ReadOptions(asked))) as catalog:
        return {
            table: pl.DataFrame(catalog.arrow(f"SELECT * FROM {table}"))
            for table in (*NAMED, "qist", "qpst", "qsph")
        }


def stored(path: Path, folder: Path, asked: Selection | None = None) -> Path:
    write_dataset(open_inputs([path], ReadOptions(asked or Selection())), folder)
    return folder


SOME = [
    job_task("PAY01", "", [("PAY.IN", "PAY.IN"), ("ALIAS", "PAY.OUT")], 1, program="PAY1"),
    statistics(NOON),
    class1("PAY01", transaction="PAY1"),
    job_task("CICSA", "TO.QM02", [("OTHER", "OTHER")], 2),
    job_queues("CICSA", "TO.QM02", [("pay.in", "pay.in"), ("X", "X")], 2),
    job_queues("CICSA", "TO.QM02", [("MORE", "MORE")], 2),
    job_task("PAY01", "", [], 1),
    depths("PAY.IN", "OTHER", "PAY.OUT"),
    channels("TO.QM02", "TO.QM03"),
    class1("", ("QMAC",)),
    class1("CICSA", ("QWAC",)),
    job_queues("LOST", "TO.QM03", [("PAY.OUT", "")], 9, program="PSBPAY01"),
    job_task("", "", [("", "")], 3),
    job_task("GONE", "", [("PAY.IN", "PAY.IN")], 4, wtid=False),
    job_queues("GONE", "", [("LATER", "LATER")], 4),
]
"""Records, from 1."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The records as a file and as a dataset."""
    path = write(tmp_path_factory.mktemp("names") / "some.smf", SOME)
    return path, stored(path, path.parent / "tables")


INVENTORY: list[tuple[dict[str, Any], list[int]]] = [
    ({"job": "PAY01"}, [1, 3, 7]),
    ({"job": "pay*"}, [1, 3, 7]),
    ({"job": "CICS?"}, [4, 5, 6]),
    ({"job": "PAY01,LOST"}, [1, 3, 7, 12]),
    ({"job": ["PAY01", "LOST"]}, [1, 3, 7, 12]),
    ({"job": "*"}, [1, 3, 4, 5, 6, 7, 12, 15]),
    ({"job": "GONE"}, [15]),
    ({"job": "ZZ"}, []),
    ({"transaction": "PAY1"}, [1, 3]),
    ({"transaction": "psb*"}, [12]),
    ({"transaction": "PAY1", "queue": "ALIAS"}, [1]),
    ({"queue": "PAY.IN"}, [1, 4, 5, 6, 8, 14, 15]),
    ({"queue": "PAY.OUT"}, [1, 8, 12]),
    ({"queue": "MORE"}, [4, 5, 6]),
    ({"queue": "*"}, [1, 4, 5, 6, 8, 12, 14, 15]),
    ({"channel": "TO.QM02"}, [4, 5, 6, 9]),
    ({"channel": "*3"}, [9, 12]),
    ({"job": "PAY01", "queue": "OTHER"}, []),
    ({"job": "CICSA", "queue": "PAY.IN"}, [4, 5, 6]),
    ({"job": "CICSA", "queue": "MORE", "channel": "TO*"}, [4, 5, 6]),
    ({"job": "PAY01", "type": "116(0)"}, [3]),
    ({"queue": "PAY.IN", "type": "116(2)"}, [5, 6, 15]),
    ({"job": "PAY01", "qmgr": "ZZ"}, []),
]
"""What is asked for, and the records of which a row is left."""
WHOLE = [{"queue": ["MORE", "*X*"]}, {"transaction": ["PAY1", "PSB*"]}]


def test_the_inventory_has_the_records_of_which_a_row_is_left(both: tuple[Path, Path]) -> None:
    for asked, expected in INVENTORY:
        for path in both:
            found = open_inputs([path], ReadOptions(Selection.of(**asked))).arrow("record")
            assert found["record_no"].to_pylist() == expected, asked


def test_a_table_alone_or_selected_before_has_the_rows_of_the_oracle(
    both: tuple[Path, Path], tmp_path: Path
) -> None:
    oracle = Oracle(rows(both[0]))
    for number, asked in enumerate(WHOLE):
        chosen, expected = Selection.of(**asked), oracle.rows(**asked)
        inputs = open_inputs(both[:1], ReadOptions(chosen))
        for table in (*NAMED, "qist", "qsph"):
            assert pl.DataFrame(inputs.arrow(table)).equals(expected[table]), table
        first = stored(both[0], tmp_path / f"first{number}", chosen)
        second = stored(first, tmp_path / f"second{number}", chosen)
        assert not differing(rows(second), expected)


PATTERNS = {
    "job": ("PAY01", "PAY*", "*a", "????2", "*", "NO,CICSA"),
    "transaction": ("PAY1", "psb*", "*1", "*", "NO,PAY?"),
    "queue": ("PAY.IN", "*.OUT", "*'S", "PAY.??", "*", "NO"),
    "channel": ("TO*", "*/?", "*", "app/1"),
}
ABOUT = [
    *SOME,
    job_task("pay02", "APP/1", [("pay.out", "SYSTEM.Q'S")], 1, "MQ02", program="pay2"),
    job_task("CICSA", "", [("SYSTEM.Q'S", "PAY.IN"), ("", "")], 2, "MQ02", wtid=False),
    job_queues("pay02", "APP/1", [("PAY.IN", "")], 1, "MQ02", program="PSBPAY01"),
    job_queues("", "", [("pay.out", "pay.out")], 3, "MQ02", wtid=False),
    class1("pay02", ("QWAC",), "MQ02", "pay2"),
    class1("CICSA", (), "MQ01", "PAY1"),
    channels("APP/1", ""),
    channels(),
    depths("SYSTEM.Q'S", ""),
    statistics(NOON, qmgr="MQ02"),
    foreign_record(3, NOON),
]


def records() -> st.SearchStrategy[list[bytes]]:
    """Records about names, and of many moments, systems and queue managers."""
    made, systems = local_times(), st.sampled_from(["SYS1", "SYS2"])
    late = st.sampled_from(LATE).map(lambda late: dt.timedelta(microseconds=late))
    dated = st.sampled_from(MAKERS).flatmap(
        lambda make: st.builds(make, made, systems, st.sampled_from(QMGRS))
    )
    long = st.sampled_from((lasting, lasting_task)).flatmap(
        lambda make: st.builds(make, made, st.sampled_from(LENGTHS), late)
    )
    odd = st.sampled_from([None] * 12 + list(ODD_DATES))
    about = st.sampled_from(range(len(ABOUT))).map(lambda number: ABOUT[number])  # a short repr
    each = st.one_of(about, st.builds(with_date, st.one_of(dated, long), odd))
    return st.lists(each, min_size=1, max_size=16).filter(has_sound_date)


def has_sound_date(made: list[bytes]) -> bool:
    """Whether some record has a date that there is: else a file is no dump."""
    return any(each[10:14].hex().upper() not in ODD_DATES for each in made)


NAMES = st.fixed_dictionaries(
    {option: st.lists(st.sampled_from(each), max_size=2) for option, each in PATTERNS.items()}
)


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
    path = write(folder / "dump.smf", made)
    dataset = stored(path, folder / "tables")
    by = data.draw(st.sampled_from(["headers", "names", "both"]))
    asked = None if by == "names" else Asked(data)
    names = {} if by == "headers" else data.draw(NAMES)
    chosen = Selection.of(**(asked.options() if asked else {}), **names)
    whole = rows(path)
    for table, frame in whole.items():
        when = [counted(row) for row in frame.iter_rows(named=True)]
        assert frame["counted_at"].to_list() == when, table
    expected = Oracle(whole).rows(asked and asked.takes, **names)
    for each in (path, dataset):
        assert not differing(rows(each, chosen), expected)
    found = from_sql(dataset, chosen)
    assert all(in_order(rows).equals(in_order(expected[name])) for name, rows in found.items())
    small_chunks(monkeypatch, 40_000)
    monkeypatch.setattr(workers, "ProcessPoolExecutor", Here)
    assert not differing(rows(path, chosen, jobs=2), expected)


def test_a_selection_names_the_options_that_some_tables_cannot_answer() -> None:
    every = {"job": "A", "queue": "B", "channel": "C"}
    cases: list[tuple[dict[str, str], list[str], tuple[str, ...]]] = [
        ({}, ["qjst"], ()),
        ({"job": "A"}, ["qjst", "qpst"], ("job",)),
        ({"job": "A"}, ["qjst", "wtas"], ()),
        (every, ["qqst"], ("job", "channel")),
        (every, ["wqst_cf"], ()),
        ({"job": "A", "queue": "B"}, ["qmac", "qwac"], ("queue",)),
        (every, [RECORD], ()),
        ({"queue": "B"}, [], ("queue",)),
    ]
    for asked, tables, expected in cases:
        assert Selection.of(**asked).unknown_to(tables) == expected, (asked, tables)


def test_names_are_as_long_as_they_can_be() -> None:
    longest = {"job": "*A234567?*", "queue": "*" + "Q" * 48, "channel": "C" * 20}
    assert not Selection.of(**longest).everything


def test_damage_is_reported_of_all_records_in_which_a_name_is_looked_for() -> None:
    lost = Section([named_block("WQST", 2800)], offset=9999)
    bad = smf_record(116, 1, Section([smf.who("B")]), NOTHING, lost, area=qwhs_short(UTC))
    damage = DamageLog()
    decoder = Decoder(Needs(wanted_tables(["wqst"]), Selection.of(job="A")), damage)
    found = list(decoder.decode([chunk_of(job_task("A", queues=[("Q", "Q")]), bad)]))
    assert sum(batch.num_rows for _, batch in found) == 1
    assert [each.record_no for each in damage.details] == [2]


@pytest.mark.sampled(3)
@every_file
def test_fixtures_and_real_files_have_the_rows_of_the_oracle(path: Path) -> None:
    whole = Oracle(rows(path))
    for asked in ({"job": ["*"]}, {"queue": ["S*"]}):
        assert not differing(rows(path, Selection.of(**asked)), whole.rows(**asked))


def test_info_counts_the_records_about_a_name(both: tuple[Path, Path]) -> None:
    options = ("--job", "CICSA", "--queue", "*.in", "--channel", "TO*")
    for path in both:
        shown = run("info", path, "--format", "json", *options)
        assert json.loads(shown.stdout)["records"] == 3
