"""LazyFrames give what Arrow tables give, and the decoder is asked for no more than they need."""

from __future__ import annotations

import datetime as dt
import operator
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.decoding.selection import ALL_RECORDS, Selection
from smfparse.errors import DamageError, InputError, RequestError
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import LIMITS
from smfparse.query.lazy import narrowed
from smfparse.reading.reader import Input
from smfparse.writing.dataset import write_dataset
from tests.support.builders import put, rdw
from tests.support.generated import generate_dump
from tests.support.searching import search
from tests.support.short_records import channels, class1, job_queues, job_task

pytestmark = pytest.mark.slow

START = dt.datetime(2026, 3, 4, 11)
NOON = dt.datetime(2026, 3, 4, 12)
NAMES = ("PAY.IN", "pay.in", "PAY*", "A,B", "", "PAY.I", "A'B")
"""Names in records: blank, in lower case, and with what a selection reads as a pattern."""
CHUNKS = 3


def generated(path: Path, seed: int, count: int, tasks: int = 6) -> Path:
    hour = dt.timedelta(hours=1)
    made = {"version": "9.3.2", "seed": seed, "tasks": tasks, "queues": 8, "count": count}
    return generate_dump(path, start=START, utc_offset=hour, interval=hour, **made)


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files and a dataset: tasks, channels and all other tables."""
    folder = tmp_path_factory.mktemp("polars")
    odd = [
        *(job_task(name[:8], name, [(name, "Q"), ("Q", name)], 7, "MQ01") for name in NAMES),
        *(job_queues(name[:8], "", [(name, name)], 7, "mq01") for name in NAMES),
        *(class1(name[:8]) for name in NAMES),
        channels(*NAMES),
    ]
    (folder / "odd.smf").write_bytes(rdw(odd))
    write_dataset(open_inputs([generated(folder / "stored.smf", 1, 1)]), folder / "set")
    return [generated(folder / "some.smf", 2, 2), folder / "set", folder / "odd.smf"]


TABLES = ("wqst", "wtid", "qcst", "qmac", "record", "qjst", "wqst_cf")


@cache
def eager(data: smfparse.SmfData, table: str) -> pl.DataFrame:
    return pl.DataFrame(data.arrow(table))


@pytest.fixture(scope="module")
def data(dumps: list[Path]) -> Iterator[smfparse.SmfData]:
    yield smfparse.open(dumps)
    eager.cache_clear()


def test_every_table_is_that_of_arrow(data: smfparse.SmfData) -> None:
    for table in data.tables:
        found, expected = data.polars(table), eager(data, table)
        assert found.collect_schema() == expected.schema, table
        assert found.collect().equals(expected), table


COMPARED = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
TEXTS = {"system", "qmgr", "objname", "basename", "wtidccn", "wtidchl", "qcstchnm", "qwhccn"}
NEAR = [dt.timedelta(microseconds=rest) for rest in (-1_000_000, -1, 0, 1, 10_000, 1_000_000)]


def comparisons(frame: pl.DataFrame) -> st.SearchStrategy[pl.Expr]:
    """Conditions that a selection may be able to ask."""
    texts = sorted(TEXTS & set(frame.columns))
    words = sorted({*NAMES, "QM01", "QM*", "qm02", "SYSA", "PAY*    ", "Q", "MQ01"})
    words += sorted({text for name in texts for text in frame[name].head(20) if text})
    taken = [frame[name].unique().sort().to_list() for name in ("smf_time", "counted_at")]
    moments = [time + near for times in taken for time in times for near in NEAR]
    moments += [dt.datetime.min, dt.datetime.max]
    text, word = map(st.sampled_from, (texts, words))
    moment = st.integers(0, len(moments) - 1).map(lambda place: moments[place])  # a short repr
    some, closed = st.lists(word | st.none(), max_size=3), ["both", "left", "right", "none"]
    time = st.sampled_from([pl.col("smf_time"), pl.col("counted_at")])
    sides = st.tuples(time, moment) | st.tuples(text.map(lambda name: pl.col(name)), word)
    sign = st.sampled_from(COMPARED)
    return st.one_of(
        st.builds(lambda op, pair: op(*pair), sign, sides),
        st.builds(lambda op, pair: op(pl.lit(pair[1]), pair[0]), sign, sides),
        st.builds(pl.Expr.is_between, time, moment, moment, st.sampled_from(closed)),
        st.builds(lambda name, values: pl.col(name).is_in(values), text, some),
    )


def others(frame: pl.DataFrame) -> st.SearchStrategy[pl.Expr]:
    text = st.sampled_from([pl.col(each) for each in sorted(TEXTS & set(frame.columns))])
    word, number = (
        st.sampled_from(NAMES),
        st.sampled_from([pl.col("record_no"), pl.col("block_no")]),
    )
    return st.one_of(
        st.builds(lambda col, value: col.is_in([value, None], nulls_equal=True), text, word),
        st.builds(lambda col, value: col.eq_missing(pl.lit(value)), text, word),
        st.builds(pl.Expr.is_null, text),
        st.builds(lambda col: col.str.to_lowercase() == "pay.in", text),
        st.builds(operator.eq, text, text),
        st.builds(lambda col, op: op(col, 3), number, st.sampled_from(COMPARED)),
        st.builds(lambda col: col > col.mean(), number),
    )


def conditions(frame: pl.DataFrame) -> st.SearchStrategy[pl.Expr]:
    return st.recursive(
        st.one_of(comparisons(frame), others(frame)),
        lambda inner: st.one_of(
            st.builds(operator.and_, inner, inner),
            st.builds(operator.or_, inner, inner),
            st.builds(operator.invert, inner),
        ),
        max_leaves=5,
    )


SELECTIONS = (
    ALL_RECORDS,
    Selection.of(qmgr=["QM*"], since=["1200"]),
    Selection.of(since=["1200"], smf_time=True),
)


@search(45)
@given(drawn=st.data())
def test_a_query_has_the_rows_of_the_table(data: smfparse.SmfData, drawn: st.DataObject) -> None:
    table = drawn.draw(st.sampled_from(TABLES))
    whole = eager(data, table)
    filters = drawn.draw(st.lists(comparisons(whole) | conditions(whole), max_size=2))
    shown = drawn.draw(st.lists(st.sampled_from(whole.columns), min_size=1, max_size=4))
    start, rows = drawn.draw(st.tuples(st.integers(0, 3), st.integers(0, 50)))
    first = drawn.draw(st.none() | st.integers(0, 50))
    asked = drawn.draw(st.sampled_from(SELECTIONS))
    engine = drawn.draw(st.sampled_from(["auto", "streaming"]))
    chosen = smfparse.SmfData(Inputs(data.inputs.sources, options=ReadOptions(asked)))
    expected = whole if asked.everything else pl.DataFrame(chosen.arrow(table))

    def query(frame: pl.LazyFrame) -> pl.LazyFrame:
        frame = frame if first is None else frame.head(first)
        for each in filters:
            frame = frame.filter(each)
        return frame.select(list(dict.fromkeys(shown))).slice(start, rows)

    made = query(chosen.polars(table)).collect(engine=engine)
    assert made.equals(query(expected.lazy()).collect())


def test_rows_are_as_many_without_a_column(data: smfparse.SmfData) -> None:
    behind = pl.col("record_no") > 3
    for table in ("wqst", "damage"):
        rows = eager(data, table)
        for frame, whole in (
            (data.polars(table), rows),
            (data.polars(table).filter(behind), rows.filter(behind)),
        ):
            assert frame.with_row_index().select("index").collect().height == whole.height
        assert data.arrow(table, []).num_rows == rows.height
        assert sum(batch.num_rows for batch in data.batches(table, [])) == rows.height


SECOND, SOON = dt.timedelta(seconds=1), START + dt.timedelta(microseconds=5)
BY_SMF_TIME = Selection(start=START, end=NOON + SECOND, smf_time=True)
ASKED: list[tuple[str, pl.Expr, Selection]] = [
    ("wqst", pl.col("qmgr") == "QM01", Selection(qmgrs=frozenset({"QM01"}))),
    ("wqst", pl.lit("SYSA") == pl.col("system"), Selection(systems=frozenset({"SYSA"}))),
    ("wqst", pl.col("basename") == "A,b", Selection(queues=frozenset({"A,b"}))),
    ("qqst", pl.col("qqstqnam") == "A", Selection(queues=frozenset({"A"}))),
    ("wtid", pl.col("wtidccn").is_in(["A", "B"]), Selection(jobs=frozenset({"A", "B"}))),
    ("qmac", pl.col("qwhccn") == "A", Selection(jobs=frozenset({"A"}))),
    ("qcst", pl.col("qcstchnm") == "A", Selection(channels=frozenset({"A"}))),
    (
        "wtid",
        (pl.col("wtidchl") == "A") & (pl.col("qmgr") == "Q") & (pl.col("record_no") > 3),
        Selection(qmgrs=frozenset({"Q"}), channels=frozenset({"A"})),
    ),
    ("record", (pl.col("smf_time") >= SOON) & (pl.col("smf_time") < NOON), BY_SMF_TIME),
    ("record", pl.col("smf_time").is_between(START, NOON), BY_SMF_TIME),
    ("record", pl.lit(START) < pl.col("counted_at"), Selection(start=START)),
    ("record", pl.lit(NOON) >= pl.col("counted_at"), Selection(end=NOON + SECOND)),
    (
        "qjst",
        pl.col("counted_at").is_between(START, NOON) & (pl.col("smf_time") < START),
        Selection(start=START, end=NOON + SECOND),
    ),
    ("wqst", (pl.col("qmgr") == "A") | (pl.col("qmgr") == "B"), ALL_RECORDS),
    ("wqst", pl.col("qmgr") != "QM01", ALL_RECORDS),
    ("wqst", pl.col("qmgr") > "QM01", ALL_RECORDS),
    ("wqst", pl.col("qmgr") == pl.col("system"), ALL_RECORDS),
    ("wqst", pl.col("basename") == "", ALL_RECORDS),
    ("wqst", pl.col("putn") == 1, ALL_RECORDS),
    ("wtid", pl.col("wtidchl").is_in([f"Q{number}" for number in range(2000)]), ALL_RECORDS),
]


def test_what_a_selection_can_ask_is_asked_of_the_decoder() -> None:
    for table, condition, asked in ASKED:
        assert narrowed(ALL_RECORDS, table, condition) == asked, condition


def test_a_selection_is_not_asked_less_than_before_nor_for_the_other_time() -> None:
    before = Selection(qmgrs=frozenset({"QM*"}), start=NOON, end=NOON + dt.timedelta(hours=1))
    of_qmgr, times = pl.col("qmgr") == "QM01", (START, dt.datetime.max)
    assert narrowed(before, "wqst", of_qmgr & pl.col("counted_at").is_between(*times)) == before
    asked: tuple[dict[str, Any], ...] = ({"start": NOON}, {"end": NOON}, {"daily": (0, 3600)})
    for smf_time, each in product((False, True), asked):
        other = pl.col("counted_at" if smf_time else "smf_time")
        before = Selection(**each, smf_time=smf_time)
        assert narrowed(before, "record", other.is_between(START, NOON)) == before


def test_only_needed_columns_are_decoded(data: smfparse.SmfData, monkeypatch: pytest.MonkeyPatch):
    asked, original = list[Any](), Inputs.batches

    def batches(self: Inputs, wanted: Any, **options: bool) -> Any:
        asked.append(wanted)
        return original(self, wanted, **options)

    monkeypatch.setattr(Inputs, "batches", batches)
    sums = data.polars("wqst").filter(pl.col("qmgr") == "QM01").group_by("basename")
    sums.agg(pl.col("putn").sum()).collect()
    assert asked == [{"wqst": {"basename", "putn", "qmgr"}}]
    assert data.polars("qjst").select(pl.len()).collect().item()
    assert len(asked[1]["qjst"]) == 1


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of several chunks, each with rows of all tables."""
    path = generated(tmp_path_factory.mktemp("large") / "large.smf", 3, 9, tasks=60)
    assert path.stat().st_size > CHUNKS << 21
    path.with_name("second.smf").write_bytes(path.read_bytes())
    return path


SMALL = replace(LIMITS, chunk_bytes=1, least_unit=1)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The records of the chunks that are read."""
    found, original = list[int](), Input.chunks

    def chunks(*arguments: Any, **options: Any) -> Any:
        for chunk in original(*arguments, **options):
            found.append(len(chunk.start))
            yield chunk

    monkeypatch.setattr(Input, "chunks", chunks)
    return found


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_limit_ends_the_reading(jobs: int, large: Path, read: list[int]) -> None:
    """Nor are later files looked at; a filter goes on until it has its rows."""
    several = smfparse.open([large, large.with_name("second.smf")], jobs=jobs, limits=SMALL)
    for table, rows in (("wqst", 1), ("qjst", 1), ("wqst", 10)):
        read.clear()
        assert several.polars(table).limit(rows).collect().height == rows
        assert len(read) == 1
    read.clear()
    frame = smfparse.open(large, limits=SMALL).polars("qjst")
    assert frame.filter(pl.col("qmgr") == "QM02").head(1).collect(engine="streaming").height == 1
    until_found = len(read)  # polars asks for some chunks ahead
    read.clear()
    frame.collect()
    assert len(read) > max(until_found, CHUNKS)


@pytest.mark.long
def test_a_process_can_end_while_polars_reads_ahead(large: Path) -> None:
    """The generator is slow, so that polars is in it for sure when the query has its rows."""
    script = f"""
import time
import polars as pl
import smfparse
from smfparse.limits import LIMITS
from smfparse.query import lazy
vars(LIMITS).update(chunk_bytes=1)
made = lazy._frame
def slow(*arguments):
    time.sleep(0.2)
    return made(*arguments)
lazy._frame = slow
rows = smfparse.open({str(large)!r}).polars("wqst").filter(pl.col("putn") >= 0)
print(rows.head(10).collect().height)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "10\n", "")


def test_errors_are_those_of_reading(dumps: list[Path], tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no table wqzz"):
        smfparse.open(dumps).polars("wqzz")
    damaged = put(tmp_path / "damaged.smf", dumps[0].read_bytes()[:-7])
    with pytest.raises(DamageError, match=r"damaged\.smf"):
        smfparse.open(damaged, strict=True).polars("wqst").collect()
    data = smfparse.open(damaged)
    data.polars("wqst").select("putn").collect()
    assert len(data.damage) == 1
    damaged.unlink()
    with pytest.raises(InputError, match=r"damaged\.smf"):
        data.polars("wqst").collect()


def test_a_connection_has_and_keeps_every_table(dumps: list[Path], data: smfparse.SmfData) -> None:
    connection = smfparse.open(dumps).connect()
    assert {*data.tables} <= {name for (name,) in connection.sql("SHOW TABLES").fetchall()}
    joined = "SELECT count(*) FROM wqst JOIN wtid USING (source, record_no)"
    first, second = (connection.sql(joined).fetchall() for _ in range(2))
    assert first == second != [(0,)]
    ((moment,),) = connection.sql("SELECT min(time) FROM wqst").fetchall()
    assert moment == eager(data, "wqst")["time"].min()
    connection.close()
