"""A record that is in two dumps is counted once, whatever the files, the parts and the question."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import operator
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smfparse.decoding import duplicates
from smfparse.decoding.duplicates import FINGERPRINT, Seen
from smfparse.decoding.selection import ALL_RECORDS, Selection
from smfparse.inputs import workers
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.reading import reader
from smfparse.store.manifest import read_files
from smfparse.writing import making
from smfparse.writing.dataset import write_dataset
from smfparse.writing.making import Runs
from tests.inputs.test_ranges import CAPACITY, MIXED, Here, small_chunks
from tests.support.builders import UTC_NOON, chunk_of, foreign_record, put, rdw
from tests.support.command import run
from tests.support.mixed_records import Each, many
from tests.support.searching import search

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
NOON = UTC_NOON.replace(tzinfo=None)
HOUR = dt.timedelta(hours=1)


def header(hour: int = 0) -> bytes:
    return foreign_record(2, NOON + hour * HOUR)


def trailer(hour: int = 0) -> bytes:
    return foreign_record(3, NOON + hour * HOUR)


def work(number: int, kind: str = "task") -> bytes:
    return b"".join(Each(kind, 0, number, number % 7).pieces())


def kept(
    paths: Iterable[Path], jobs: int = 1, selection: Selection = ALL_RECORDS, **options: bool
) -> list[tuple[str, int]]:
    """Return name and record number of what is counted."""
    inputs = open_inputs(paths, ReadOptions(selection, jobs=jobs, **options))
    rows = inputs.arrow("record").select(["source", "record_no"]).to_pylist()
    return [(Path(row["source"]).name, row["record_no"]) for row in rows]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small files be cut before any record into many parts, which this process decodes."""
    small_chunks(monkeypatch, CAPACITY)
    monkeypatch.setattr(reader, "_can_start", lambda chunk: True)
    monkeypatch.setattr(workers, "ProcessPoolExecutor", Here)


def test_damage_does_not_hide_a_duplicate(tmp_path: Path) -> None:
    dateless = bytearray(work(5))
    dateless[12] = 0xFF
    path = put(tmp_path / "a", header(1), work(1), dateless, header(2), work(1), work(2)[:-3])
    inputs = open_inputs([path])
    assert kept([path]) == [("a", 1), ("a", 2), ("a", 3)]
    list(inputs.batches({"record": None}))
    assert (inputs.duplicates, inputs.damage.count) == (1, 2)


def test_records_of_two_datasets_are_not_compared(tmp_path: Path) -> None:
    """Records of files are compared with those of both."""
    path = put(tmp_path / "a", header(), work(1))
    other = put(tmp_path / "b", header(), work(1), work(2))
    for name in ("one", "two"):
        write_dataset(open_inputs([path]), tmp_path / name)
    both = [tmp_path / "one", tmp_path / "two"]
    rows = kept(both)
    assert len(rows) == 4
    assert kept([other, *both]) == [("b", 3), *rows]


@pytest.fixture
def overlapping(tmp_path: Path) -> list[Path]:
    """Two files, each of two dumps; each dump begins with the end of the one before."""
    records, dumps = [b"".join(each.pieces()) for each in many(200, 5)], []
    for hour in range(4):
        dumps += [header(hour), *records[45 * hour : 45 * hour + 60], trailer(hour)]
    return [put(tmp_path / "first.smf", *dumps[:124]), put(tmp_path / "second.smf", *dumps[124:])]


def test_a_dump_behind_damage_is_found_by_the_part_that_has_it(tmp_path: Path, here: None) -> None:
    """The plan of a file ends where its segments are not sound; the last part goes on."""
    orphan = bytes.fromhex("00100200") + bytes(12)
    dump = b"".join([header(), *map(work, range(60))])
    path = put(tmp_path / "damaged", dump, orphan, dump, dump)
    one, more = (open_inputs([path], ReadOptions(jobs=jobs)) for jobs in (1, 4))
    assert one.arrow("record").equals(more.arrow("record"))
    assert one.log.duplicates == more.log.duplicates == {path: 122}


def test_a_selection_does_not_change_what_is_a_duplicate(overlapping: list[Path]) -> None:
    everything = set(kept(overlapping))
    for name, asked in (("type", "116"), ("system", "SYS1"), ("qmgr", "QM1"), ("since", "1300")):
        chosen = Selection.of(**{name: [asked]})
        twice = set(kept(overlapping, selection=chosen, keep_duplicates=True))
        assert set(kept(overlapping, selection=chosen)) == everything & twice
        assert everything & twice < twice, asked


def test_rows_that_are_left_are_those_of_the_records_that_are(overlapping: list[Path]) -> None:
    """Whichever columns: of some, records are not even made contiguous."""
    place = operator.itemgetter("source", "record_no")
    inputs = open_inputs(overlapping)
    places = {*map(place, inputs.arrow("record").to_pylist())}
    for table in MIXED:
        batches = inputs.batches({table: frozenset({"source", "record_no"})})
        rows = [place(row) for _, batch in batches for row in batch.to_pylist()]
        every = open_inputs(overlapping, ReadOptions(keep_duplicates=True)).arrow(table)
        assert rows == [row for row in map(place, every.to_pylist()) if row in places], table
        assert len(rows) < every.num_rows


def test_a_task_is_found_in_the_dump_that_keeps_it(tmp_path: Path) -> None:
    """Its queues are in the next dump, which has the task again."""
    task, queues = work(1), work(1, "queues")
    path = put(tmp_path / "a", header(1), task, header(2), task, queues)
    found = open_inputs([path]).arrow("wqst").to_pylist()
    assert [row["record_no"] for row in found] == [2, 5, 5]
    assert {row["task_record_no"] for row in found if row["record_no"] == 5} == {2}


# A model ----------------------------------------------------------------------------------------


def modelled(files: Sequence[Sequence[bytes]]) -> list[tuple[str, int]]:
    """Return the file and the number of each record that is counted."""
    earlier, dump, found = set[bytes](), set[bytes](), []
    for file, records in enumerate(files):
        for number, record in enumerate(records, 1):
            if record[5] == 2 or number == 1:
                earlier, dump = earlier | dump, set()
            if record[4:] not in earlier:
                found.append((str(file), number))
            dump.add(record[4:])
    return found


OTHER_END = work(1)[:-1] + b"\x01"
POOL = [header(0), header(1), trailer(), *map(work, range(4)), OTHER_END]
CUTS = st.one_of(st.just(()), st.lists(st.integers(1, 13), min_size=1, max_size=2, unique=True))


@given(
    files=st.lists(
        st.lists(st.tuples(st.sampled_from(POOL), CUTS), min_size=1, max_size=25),
        min_size=1,
        max_size=3,
    ),
    jobs=st.integers(1, 3),
    block=st.sampled_from([1, 2, 3, 1 << 16]),
)
@search(25)
def test_records_are_those_of_a_model(
    tmp_path: Path,
    here: None,
    monkeypatch: pytest.MonkeyPatch,
    files: list[list[tuple[bytes, Sequence[int]]]],
    jobs: int,
    block: int,
) -> None:
    """However many hashes are looked at at once."""
    monkeypatch.setattr(duplicates, "_BLOCK", block)
    paths = []
    for place, records in enumerate(files):
        spans = {number: sorted(cuts) for number, (_, cuts) in enumerate(records) if cuts}
        paths.append(put(tmp_path / f"{place}", rdw([record for record, _ in records], spans)))
    assert kept(paths, jobs) == modelled([[record for record, _ in records] for records in files])


SEEN = st.tuples(st.binary(min_size=16, max_size=16), st.integers(0, 3), st.booleans())
"""Fingerprint, day, and whether it is kept."""


@given(
    batches=st.lists(st.lists(SEEN, max_size=4), max_size=6),
    most=st.integers(1, 8),
    most_days=st.sampled_from([2, 9]),
)
@example([[(bytes([16 - day]) * 16, day, True) for day in range(4)]], 5, 2)
@search(25)
def test_fingerprints_are_handed_on_day_by_day_and_none_is_lost_or_added(
    monkeypatch: pytest.MonkeyPatch,
    batches: list[list[tuple[bytes, int, bool]]],
    most: int,
    most_days: int,
) -> None:
    monkeypatch.setattr(making, "_MOST_DAYS", most_days)
    handed: list[Any] = []
    recorder = Runs(handed.append, most)
    for each in batches:
        some = np.array([found for found, _, _ in each], FINGERPRINT)
        days = np.array([0x0126001 + day for _, day, _ in each], np.int32)
        recorder.add(Seen(Path("a"), some, days, np.array([kept for *_, kept in each], np.bool_)))
        assert sum(each.kept.sum() for each in recorder.seen) < most
    assert all(len(run.fingerprints) >= most for run in handed)
    handed += [recorder.take(), recorder.take()]
    assert len(handed[-1].fingerprints) == 0
    every = [(found, day) for each in batches for found, day, kept in each if kept]
    taken: list[bytes] = []
    for part in handed:
        found = [bytes(each).ljust(16, b"\0") for each in part.fingerprints]
        taken += found
        assert len(part.days or ()) <= most_days
        for day, count in {"": len(found)}.items() if part.days is None else part.days.items():
            own, found = found[:count], found[count:]
            assert own == sorted(own)
            assert not day or {(each, int(day[-1]) - 1) for each in own} <= set(every)
        assert not found
    assert sorted(taken) == sorted(found for found, _ in every)
    whole = hashlib.sha256(b"".join(found for each in batches for found, _, _ in each)).hexdigest()
    assert str(recorder.identities[Path("a")]) == whole


# What it costs ----------------------------------------------------------------------------------


def never_searched(*arguments: Any) -> Any:
    raise AssertionError("searched")


def test_a_single_dump_is_not_searched(tmp_path: Path, here: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(duplicates, "find_duplicates", never_searched)
    for name in ("record_hashes", "digests"):
        monkeypatch.setattr(duplicates, name, never_searched)
    for jobs, start in ((1, header()), (4, header()), (1, work(0))):
        path = put(tmp_path / "a", start, *map(work, range(1, 100)), trailer())
        assert [number for _, number in kept([path], jobs)] == [*range(1, 102)]
    with pytest.raises(AssertionError, match="searched"):
        kept([put(tmp_path / "c", header(), *map(work, range(100)), header())])


def test_readings_that_end_or_wait_change_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(duplicates, "find_duplicates", never_searched)
    dumps = [[header(hour), work(hour), header(hour + 8), work(hour + 8)] for hour in range(3)]
    inputs = open_inputs(put(tmp_path / f"{hour}", *dump) for hour, dump in enumerate(dumps))
    readings = [inputs.batches({"record": None}, prompt=True) for _ in range(2)]
    rows = [next(each)[1].num_rows for each in readings]
    assert inputs.any_rows()
    assert inputs.arrow("record").num_rows == 12
    rest = [sum(batch.num_rows for _, batch in each) for each in readings]
    assert [one + other for one, other in zip(rows, rest, strict=True)] == [12, 12]


# What is said -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_command_tells_how_many_were_left_out(tmp_path: Path) -> None:
    dump = [header(), *map(work, range(3)), trailer()]
    path, folder = put(tmp_path / "a", *dump, *dump), tmp_path / "tables"
    said = (
        "smfparse: 5 records are also in an earlier dump and are counted once "
        "(--keep-duplicates keeps them)"
    )
    query = "SELECT count(*) AS n FROM record r JOIN wtas w USING (record_no)"
    calls: list[tuple[object, ...]] = [
        ("info", path, "--format", "json"),
        ("sql", path, query),
        ("convert", path, "--to", folder),
    ]
    done = [run(*call) for call in calls]
    assert {(each.exit_code, each.stderr.splitlines().count(said)) for each in done} == {(0, 1)}
    assert "earlier dump" not in run(*calls[0], "--keep-duplicates").output
    found = json.loads(done[0].stdout)
    assert (found["records"], found["duplicates"]) == (5, 5)
    manifest = read_files(folder)
    assert (manifest["duplicates"], manifest["tables"]["record"]) == (5, 5)
    path = put(tmp_path / "a", header(1), work(1), header(2), work(1))
    assert "1 record is also in an earlier dump and is counted once." in run("info", path).stdout


def test_digests_are_of_the_bytes_behind_the_rdw() -> None:
    record = work(1)
    (digest,) = duplicates.digests(chunk_of(record)).tolist()
    assert bytes(digest) == hashlib.sha256(record[4:]).digest()[:8]
