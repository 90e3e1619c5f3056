"""Parts of files decoded by several processes: what one process gives, whatever is in the files."""

from __future__ import annotations

import multiprocessing
import pickle
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.arrow import Wanted, coded_schema, schema, wanted_tables
from smfparse.decoding.decoder import Decoder
from smfparse.decoding.dictionary import decoded_tables, table_names
from smfparse.errors import Damage, InputError
from smfparse.inputs import sources, workers
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.inputs.range import Log, Range, UnsoundError
from smfparse.limits import LIMITS
from smfparse.reading import reader
from smfparse.reading.chunks import Chunk, Part, Window
from smfparse.reading.reader import Input
from smfparse.writing.dataset import write_dataset
from tests.support.builders import put
from tests.support.mixed_records import TABLES, Each, many, written
from tests.support.real import every_file
from tests.support.searching import of_many, search, some
from tests.support.sharing import cut
from tests.support.variants import BY_NAME

ALL = wanted_tables(table_names())
MIXED = wanted_tables(TABLES)
CAPACITY = 8192
"""Bytes of a chunk of files that are made here."""
HUGE = 80_000
"""Bytes of a chunk of files whose records are as long as SMF allows."""
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]
Alter: TypeAlias = Callable[[bytes, random.Random], bytes]


class Found(NamedTuple):
    """All that there is to say of inputs, by as many processes as there are; rows by table."""

    rows: dict[str, Any]
    damage: list[Damage]
    damages: int
    unknown: Counter[str]


def found_in(paths: Iterable[Path], jobs: int, wanted: Wanted = ALL) -> Found:
    inputs = open_inputs(paths, ReadOptions(jobs=jobs))
    inputs.log.count_unknown = True
    rows = rows_of(inputs.batches(wanted), wanted)
    return Found(rows, inputs.damage.details, inputs.damage.count, inputs.log.unknown)


def rows_of(batches: Iterable[tuple[str, Any]], wanted: Wanted) -> dict[str, Any]:
    """Return tables, and of a table without columns how many rows it has."""
    parts: dict[str, list[Any]] = {table: [] for table in wanted}
    for table, batch in batches:
        parts[table].append(batch)
    found = {}
    for table, each in parts.items():
        rows = pa.Table.from_batches(each, schema=coded_schema(table, wanted[table]))
        plain = pa.schema([schema(table).field(name) for name in rows.column_names])
        found[table] = rows.cast(plain) if rows.num_columns else rows.num_rows
    return found


class Here:
    """Stands in for the processes: what they would do is done at once, by this one."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.count = arguments[0]

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(work(*arguments))))
        except InputError as error:
            future.set_exception(error)
        return future

    def shutdown(self, **options: Any) -> None:
        pass


def small_chunks(monkeypatch: pytest.MonkeyPatch, capacity: int) -> None:
    if sys.platform == "linux":  # what is patched here is so in copies of this process as well
        monkeypatch.setattr(workers, "_context", lambda: multiprocessing.get_context("fork"))
    small = {"chunk_bytes": capacity, "max_spanned": capacity // 2, "most_unit": 2 * capacity}
    for name, value in (small | {"least_unit": 1}).items():
        monkeypatch.setitem(vars(LIMITS), name, value)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small files be cut before any record into many parts, which this process decodes.

    What a part looks back for is mostly in the one or two in front of it.
    Nothing is mapped: records of the fixtures are longer than a chunk is here, and never else.
    """
    small_chunks(monkeypatch, CAPACITY)
    monkeypatch.setitem(vars(LIMITS), "look_back_bytes", 2 * CAPACITY)
    monkeypatch.setattr(reader, "are_short", lambda kinds: False)
    monkeypatch.setattr(reader, "_can_start", lambda chunk: True)
    monkeypatch.setattr(workers, "ProcessPoolExecutor", Here)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    return put(tmp_path / "mixed.smf", written(many(300, 1))[0])


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    return put(tmp_path / "sound.smf", written(many(60, 9))[0])


def assert_cut(path: Path, least: int) -> None:
    """Several processes have so many parts of a file, at least."""
    assert sum(map(len, cut(open_inputs([path], ReadOptions(jobs=3)), ALL))) >= least


@pytest.mark.sampled(2)
@every_file
def test_several_processes_give_what_one_gives(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_chunks(monkeypatch, HUGE)
    assert_cut(path, path.stat().st_size // (4 * HUGE))
    assert found_in([path], 3) == found_in([path], 1)


def test_files_and_datasets_are_in_order(mixed: Path, sound: Path, tmp_path: Path, here: None):
    write_dataset(open_inputs([mixed]), tmp_path / "dataset")
    paths = [sound, tmp_path / "dataset", put(tmp_path / "again.smf", written(many(100, 4))[0])]
    assert found_in(paths, 2, MIXED) == found_in(paths, 1, MIXED)


WANTED: list[Wanted] = [
    {"wqst": frozenset({"task_record_no"})},
    {"qsph": frozenset({"utc_offset", "system"}), "wqst": frozenset({"correl"})},
    {"record": frozenset({"utc_offset", "record_no"})},
    {"record": frozenset(), "wqst": frozenset(), "qjst": frozenset()},
]


def test_a_part_is_not_sound_where_a_record_is_missing(tmp_path: Path) -> None:
    content, starts = written([Each("clock", 0, 0, 0)] * 4)
    file = Input(put(tmp_path / "a.smf", content), "a.smf")
    for records in (1, 2, 3):
        with nullcontext() if records == 2 else pytest.raises(UnsoundError):
            list(Range(file, MIXED, Part(0, starts[2], 1, records)).batches(Log()))


def flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 5, 50])):
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def spliced(data: bytes, chance: random.Random, taken: list[int], put: bytes = b"") -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + put + data[at + chance.choice(taken) :]


def lost_segments(data: bytes, chance: random.Random) -> bytes:
    pieces = [piece for each in many(200, chance.random()) for piece in each.pieces()]
    return b"".join(piece for piece in pieces if chance.random() > 0.02)


def bad_headers(data: bytes, chance: random.Random) -> bytes:
    """Records without a date: one, some in a row, or all behind a place."""
    starts = written(many(300, 2))[1]
    first = chance.randrange(len(starts))
    changed = bytearray(data)
    for at in starts[first : first + chance.choice([1, 20, 200])]:
        changed[at + 12] = 0xFF
    return bytes(changed)


def orphans(data: bytes, chance: random.Random) -> bytes:
    """Segments that go on with nothing, at a place where a record starts."""
    at = chance.choice(written(many(300, 2))[1])
    middle = bytes.fromhex("01000300") + bytes(252)
    return data[:at] + middle * chance.choice([1, 10, 40]) + data[at:]


ALTERATIONS: dict[str, Alter] = {
    "flipped": flipped,
    "inserted": lambda data, chance: spliced(data, chance, [0], chance.randbytes(50)),
    "without some": lambda data, chance: spliced(data, chance, [1, 4, 300]),
    "zeroed": lambda data, chance: spliced(data, chance, [40], bytes(40)),
    "padded": lambda data, chance: data + bytes(chance.choice([1, 3, 4, 5000])),
    "truncated": lambda data, chance: data[: chance.randrange(1, len(data))],
    "lost segments": lost_segments,
    "bad headers": bad_headers,
    "orphans": orphans,
}
alteration = st.sampled_from([*ALTERATIONS.values()])
LONG_CONTENT = written(many(2500, 2))[0]


def damaged(path: Path, alter: Alter, seed: int) -> Path:
    """Write a file of two halves, of which only the second is altered."""
    content = written(many(300, 2))[0]
    return put(path, content[:30_000], alter(content, random.Random(seed)))


@given(alter=alteration, seed=st.integers(0, 2**32), wanted=st.sampled_from([MIXED, *WANTED]))
@search(5)
def test_rows_and_damage_are_the_same_for_several_processes(
    tmp_path: Path, here: None, alter: Alter, seed: int, wanted: Wanted
) -> None:
    path = damaged(tmp_path / "damaged.smf", alter, seed)
    assert found_in([path], 4, wanted) == found_in([path], 1, wanted)


@given(alter=alteration, seed=st.integers(0, 2**32))
@search(3)
def test_a_mapped_file_gives_what_one_that_is_read_gives(tmp_path: Path, alter: Alter, seed: int):
    """A file is mapped where the records that are wanted are mostly in one piece."""
    path = put(tmp_path / "damaged.smf", LONG_CONTENT, alter(LONG_CONTENT, random.Random(seed)))
    wanted: Wanted = {"qist": None}
    mapped: list[int] = []
    map_file = Window._mapped

    def counted(window: Window) -> Any:
        mapped.append(window.base)
        return map_file(window)

    with pytest.MonkeyPatch.context() as patch:
        small_chunks(patch, HUGE)
        patch.setattr(Window, "_mapped", counted)
        found = rows_of(Range(Input(path, str(path)), wanted).batches(log := Log()), wanted)
        everything = rows_of(Range(Input(path, str(path)), MIXED).batches(whole := Log()), MIXED)
    assert mapped
    assert found["qist"] == everything["qist"]
    both = (each.damage.details for each in (log, whole))
    files, all_files = ([each for each in some if each.record_no is None] for some in both)
    assert files == all_files


def test_damage_is_the_same_with_all_tables_or_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With all tables no second look is needed."""
    (tmp_path / "notes.txt").write_text("no dump")
    for name, alter in ALTERATIONS.items():
        (tmp_path / "damaged.smf").write_bytes(alter(written(many(300, 2))[0], random.Random(3)))
        alone = open_inputs([tmp_path]).arrow("damage").to_pylist()
        assert any("skipped" in each["reason"] for each in alone)
        with monkeypatch.context() as patch:
            patch.delattr(Inputs, "_find_damage")
            found = rows_of(open_inputs([tmp_path]).batches(ALL), ALL)
        assert found["damage"].to_pylist() == alone, name


def test_nothing_is_left_of_what_a_part_wrote_that_was_given_up(tmp_path: Path, here: None) -> None:
    """The first bytes of the file are lost records, so each later part was decoded in vain."""
    first, _ = Each("task", 0, 0, 0, (100,)).pieces()
    path = put(tmp_path / "a.smf", written(many(20, 1))[0], first, written(many(280, 1))[0])
    folder = tmp_path / "tables"
    write_dataset(open_inputs([path], ReadOptions(jobs=6)), folder)
    assert [each.name for each in (folder / "record").iterdir()] == ["part-00000.parquet"]
    assert open_inputs([folder]).arrow("record").num_rows == 300


@of_many("seed", some(range(12), 2))
def test_files_that_are_decoded_together_give_what_they_give_one_after_the_other(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks, clocks and stubs know of no record of another file, though names are the same."""
    chance = random.Random(seed)
    data = [written(many(chance.randrange(200, 300), seed * 10 + each % 7))[0] for each in range(9)]
    for place in chance.sample(range(9), 4):
        what = chance.choice([each for each in ALTERATIONS if each != "bad headers"])
        data[place] = ALTERATIONS[what](data[place], chance)
    bodies = [each.body() for each in many(30, 5)]
    data += [BY_NAME[name].write(bodies).data for name in ("bdw", "length", "none")]
    paths = [put(tmp_path / f"{number:02}.smf", each) for number, each in enumerate(data)]
    decoded: list[int] = []
    add = Decoder._add

    def counted(decoder: Decoder, chunk: Chunk) -> None:
        decoded.append(max(1, len(chunk.sources)))
        add(decoder, chunk)

    monkeypatch.setattr(Decoder, "_add", counted)
    tables = dict.fromkeys(decoded_tables())
    together = found_in(paths, 1, tables)
    monkeypatch.setattr(sources, "_SMALL", LIMITS.chunk_bytes)
    assert together == found_in(paths, 1, tables)
    assert decoded[0] > 1  # files of the first chunk
    assert decoded[1:] == [1] * sum(decoded[:1])
