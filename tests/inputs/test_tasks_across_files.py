"""Tasks whose 116/1 record and 116/2 records are in several files, as SMF switches at midnight.

The records are made by hand; which 116/1 a 116/2 goes on from is known by how they are made.
"""

from __future__ import annotations

import datetime as dt
import gzip
import itertools
import multiprocessing
import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smfparse.decoding.selection import Selection
from smfparse.inputs import others, workers
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.writing.append import append_dataset
from smfparse.writing.dataset import write_dataset
from tests.support.builders import foreign_record, put
from tests.support.searching import of_many, search, some
from tests.support.smf import more_queues, queue, task, task_record, task_token, who
from tests.support.variants import by_length, ftp_block, ftp_record, no_prefix

EAST = dt.timedelta(hours=2)
MIDNIGHT = dt.datetime(2026, 3, 5, tzinfo=dt.UTC) - EAST
"""Midnight where the records were written."""
ENDS = [MIDNIGHT + dt.timedelta(seconds=each) for each in (-60.0, -0.15, 60.0)]
"""When the intervals end; the records of the second are written until after midnight."""
TASKS = ("QM01", 1), ("QM02", 1), ("QM01", 2)
"""Queue manager and number of the token of each task: two have one token."""
APART = dt.timedelta(milliseconds=20)


class Made(NamedTuple):
    """A record, and the index of the 116/1 of its task and interval; of others its own."""

    data: bytes
    first: int


def made() -> list[Made]:
    """Three intervals of three tasks, a 116/1 and two 116/2 each."""
    found: list[Made] = []
    for interval, ended in enumerate(ENDS):
        for number, (qmgr, of_token) in enumerate(TASKS):
            token, first, by = task_token(of_token), len(found), who(f"JOB{number}")
            block = task(token, ended=ended, wtascmn=interval + 1, wtascmct=7)
            for part in range(3):
                at = ended + len(found) % 9 * APART
                name, puts = f"Q{number}.{part}", 2 ** len(found) % 1009 + 1
                used = queue(name, token, putn=puts, putct=3 * puts, putet=5 * puts, validput=puts)
                keys: dict[str, Any] = {"qmgr": qmgr, "by": by, "ended": at, "east": EAST}
                record = more_queues(used, **keys) if part else task_record(block, used, **keys)
                found.append(Made(record, first))
    return found


RECORDS = made()


def write(folder: Path, *some: Sequence[Made]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return [
        put(folder / f"day{number}.smf", *(each.data for each in part))
        for number, part in enumerate(some)
    ]


class Cut(NamedTuple):
    """Files of the records, and which record starts at which byte of which file."""

    paths: list[Path]
    where: dict[tuple[str, int], int]


def cut(folder: Path, *at: int) -> Cut:
    """Write the records to files that are cut in front of some."""
    pieces = [range(low, high) for low, high in itertools.pairwise([0, *at, len(RECORDS)])]
    paths = write(folder, *([RECORDS[each] for each in piece] for piece in pieces))
    where = {}
    for path, piece in zip(paths, pieces, strict=True):
        offset = 0
        for number in piece:
            where[str(path), offset] = number
            offset += len(RECORDS[number].data)
    return Cut(paths, where)


def check(inputs: Inputs, where: dict[tuple[str, int], int]) -> None:
    """Check that every record of a task knows its 116/1, and has its interval."""
    counts: Counter[str] = Counter()
    for table, batch in inputs.batches({"wqst": None, "wtid": None}):
        counts[table] += batch.num_rows
        for row in batch.to_pylist():
            first = RECORDS[where[row["source"], row["record_offset"]]].first
            assert where[row["task_source"], row["task_record_offset"]] == first
            is_here = row["task_source"] == row["source"]
            assert (row["task_record_no"] is not None) == is_here
            assert row["interval_start"] == ENDS[first // 9] - dt.timedelta(minutes=1)
            assert row["interval_seconds"] == 60
    assert counts == {"wqst": len(RECORDS), "wtid": len(RECORDS)}


@search(8)
@given(at=st.sets(st.integers(1, len(RECORDS) - 1), max_size=5), order=st.randoms())
@example(at={9}, order=random.Random(1))  # in front of the records of an interval
@example(at={18}, order=random.Random(2))
def test_it_does_not_matter_where_files_are_cut_and_in_which_order_they_are_named(
    tmp_path_factory: pytest.TempPathFactory, at: set[int], order: Any
) -> None:
    paths, where = cut(tmp_path_factory.mktemp("cut"), *sorted(at))
    order.shuffle(paths)
    check(open_inputs(paths), where)
    options = ReadOptions(limits=Limits(chunk_bytes=1, max_spanned=6 << 10))
    check(open_inputs(paths, options), where)


def test_records_of_the_dump_program_do_not_say_when_a_file_starts(tmp_path: Path) -> None:
    paths, where = cut(tmp_path, 10)
    dumped = (MIDNIGHT + EAST + dt.timedelta(hours=9)).replace(tzinfo=None)
    around = foreign_record(2, dumped), foreign_record(3, dumped)
    for path in paths:
        path.write_bytes(around[0] + path.read_bytes() + around[1])
    where = {(name, at + len(around[0])): each for (name, at), each in where.items()}
    check(open_inputs(paths), where)
    check(open_inputs(paths[::-1]), where)


def test_packed_files_know_the_same_and_are_unpacked_once_where_they_are_named_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, where = cut(tmp_path, 10, 11)
    for path in paths:
        path.write_bytes(gzip.compress(path.read_bytes()))
    check(open_inputs(paths[::-1]), where)
    monkeypatch.delattr(others, "last_tasks")
    check(open_inputs(paths), where)


@pytest.mark.parametrize("framing", [ftp_record, ftp_block, no_prefix, by_length])
def test_files_of_other_record_formats_know_the_same(tmp_path: Path, framing: Any) -> None:
    paths, _ = cut(tmp_path, 10)
    for path, part in zip(paths, (RECORDS[:10], RECORDS[10:]), strict=True):
        path.write_bytes(framing([each.data[4:] for each in part]).data)
    for named in (paths, paths[::-1]):
        found = pl.DataFrame(open_inputs(named).arrow("wqst")).sort("source", "record_no")
        own = found.select("task_source", "task_record_offset").rows()
        place = found.select("source", "record_offset").rows()
        assert own == [place[each.first] for each in RECORDS]
        assert found["interval_seconds"].to_list() == [60.0] * len(RECORDS)


def test_it_is_the_last_116_1_before_never_one_of_an_interval_before(tmp_path: Path) -> None:
    without = [each for each in RECORDS[:10] if each.first != 9]
    first, second = write(tmp_path, without, RECORDS[10:])
    for named in ([first, second], [second, first]):
        rows = open_inputs(named).arrow("wqst").to_pylist()
        lost = [each for each in rows if each["source"] == str(second)][:2]
        assert {(each["task_source"], each["interval_start"]) for each in lost} == {(None, None)}


def test_a_116_1_that_was_written_half_a_minute_before_is_another_one(tmp_path: Path) -> None:
    token = task_token(9)
    one = task_record(task(token, ended=ENDS[0]), ended=ENDS[0], east=EAST)
    for seconds, is_known in ((30, True), (31, False)):
        late = ENDS[0] + dt.timedelta(seconds=seconds)
        two = more_queues(queue("Q", token, putn=1), ended=late, east=EAST)
        paths = write(tmp_path, [Made(one, 0)], [Made(two, 0)])
        (row,) = open_inputs(paths).arrow("wqst").to_pylist()
        assert (row["interval_start"] is not None) == is_known


def test_of_a_116_1_in_two_dumps_the_one_that_is_kept_is_gone_on_from(tmp_path: Path) -> None:
    first, again, last = write(tmp_path, RECORDS[:10], RECORDS[9:10], RECORDS[10:])
    for named in itertools.permutations((first, again, last)):
        inputs = open_inputs(named)
        tasks = inputs.arrow("wtas").select(["source", "record_offset"]).to_pylist()
        queues = inputs.arrow("wqst").select(["task_source", "task_record_offset"]).to_pylist()
        assert len(queues) == len(RECORDS)
        assert {tuple(each.values()) for each in queues} == {tuple(each.values()) for each in tasks}


@pytest.mark.slow
def test_several_processes_know_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that are no copies of this one, as on macOS and Windows."""
    monkeypatch.setattr(workers, "_context", lambda: multiprocessing.get_context("spawn"))
    limits = Limits(chunk_bytes=8 << 10, max_spanned=6 << 10, least_unit=1, most_task=20_000)
    options = ReadOptions(jobs=2, limits=limits)
    paths, where = cut(tmp_path, 10)
    check(open_inputs(paths[::-1], options), where)
    with ThreadPoolExecutor(1) as executor:
        write_dataset(open_inputs(paths, options), tmp_path / "to", executor=executor)
    check(open_inputs([tmp_path / "to"]), where)


@pytest.mark.slow
@pytest.mark.parametrize(("at", "partition"), [(10, False), (14, True)])
def test_a_file_goes_on_from_a_dataset_that_is_read_with_it_or_to_which_it_is_added(
    tmp_path: Path, at: int, partition: bool
) -> None:
    (day1, day2), where = cut(tmp_path, at)
    data = tmp_path / "data"
    write_dataset(open_inputs([day1]), data, partition=partition)
    late = Selection.of(since="2026-03-05", smf_time=True)
    for named in ([data, day2], [day2, data]):
        check(open_inputs(named), where)
        [first, *_] = open_inputs(named, ReadOptions(late)).arrow("wqst").to_pylist()
        assert first["interval_seconds"] == 60
    append_dataset(open_inputs([day2]), data)
    check(open_inputs([data]), where)


def test_a_file_that_is_added_under_another_name_does_as_well(tmp_path: Path) -> None:
    (day1, day2), _ = cut(tmp_path, 10)
    write_dataset(open_inputs([day1]), tmp_path / "data")
    append_dataset(open_inputs([day2.replace(day1)]), tmp_path / "data")
    rows = open_inputs([tmp_path / "data"]).arrow("wqst").to_pylist()
    found = [(each["source"], each["task_source"]) for each in rows]
    assert [each for each in found if each[0] != each[1]] == [(f"{day1}#2", str(day1))] * 2
    assert all(each["interval_seconds"] == 60 for each in rows)


CHOSEN = [
    *({"queue": each} for each in ("Q0.1", "Q0.0", "Q0.2")),
    {"job": "JOB0"},
    *({"queue": each} for each in ("Q1.*", "*.2", "NONE")),
]


@of_many("asked", some(CHOSEN, 2), ids=str)
def test_a_selection_by_name_has_the_same_whole_tasks(tmp_path: Path, asked: Any) -> None:
    def found(*paths: Path) -> dict[str, list[Any]]:
        """Return the rows that are selected, by what identifies them wherever they are."""
        inputs = open_inputs(paths, ReadOptions(Selection.of(**asked)))
        keys = ("qmgr", "time", "interval_start")
        return {
            table: sorted(pl.DataFrame(inputs.arrow(table)).select(keys).rows())
            for table in ("wtas", "wtid", "wqst", "record")
        }

    wanted = found(*write(tmp_path / "whole", RECORDS))
    assert any(wanted.values()) == ("NONE" not in asked.values())
    for at in ((10,), (10, 11)):
        paths, _ = cut(tmp_path / str(at), *at)
        assert found(*paths) == found(*paths[::-1]) == wanted
