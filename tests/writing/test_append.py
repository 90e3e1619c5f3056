"""Files added to a dataset, as if it had been made of all of them at once, and compacted."""

from __future__ import annotations

import datetime as dt
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.errors import InputError, OutputError, RequestError
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.progress import PROGRESS
from smfparse.store.database import MANIFEST
from smfparse.store.manifest import GIVEN, RECORDS
from smfparse.store.writer import only_writer
from smfparse.writing.append import append_dataset
from smfparse.writing.compacting import Compacted, compact_dataset
from smfparse.writing.dataset import write_dataset
from tests.inputs.test_ranges import Here
from tests.support import command
from tests.support.builders import foreign_record, put
from tests.support.datasets import (
    convert,
    dataset_files,
    files_below,
    identity_of,
    read_manifest,
    rows_of,
    with_views,
)
from tests.support.mixed_records import Each, many, several
from tests.support.paths import FIXTURES
from tests.support.searching import search

pytestmark = pytest.mark.slow
SMF = FIXTURES / "qm100.smf"
HEADER = foreign_record(2)
SUMS = ("inputs", "selection", "tables", "duplicates", "unknown_bytes", "damage_count")


def cut(path: Path) -> Path:
    return put(path, path.read_bytes()[:-3])


def grown(folder: Path, paths: Sequence[Path], **options: Any) -> Path:
    for path in paths:
        smfparse.convert(path, folder, append=True, **options)
    return folder


@pytest.fixture(scope="module")
def pieces() -> list[bytes]:
    """The records of a file with all kinds of them, each as it stands in a file."""
    data = SMF.read_bytes()
    offsets = open_inputs([SMF]).arrow("record")["record_offset"].to_pylist()
    return [data[start:end] for start, end in zip(offsets, [*offsets[1:], None], strict=True)]


@pytest.fixture
def dumps(tmp_path: Path, pieces: list[bytes]) -> list[Path]:
    """Three dumps, each of which overlaps with the one before; the last two are cut."""
    size = len(pieces) // 4
    cuts = [(0, 2 * size), (size, 3 * size), (2 * size, None)]
    found = [put(tmp_path / f"{n}.smf", HEADER, *pieces[a:b]) for n, (a, b) in enumerate(cuts)]
    return [found[0], *map(cut, found[1:])]


HOW: tuple[dict[str, Any], ...] = (
    {},
    {"jobs": 3, "limits": Limits(chunk_bytes=8192, max_spanned=8192, least_unit=1)},
    {"selection": smfparse.Selection.of(queue=["*"])},
    {"selection": smfparse.Selection.of(type=["116"]), "limits": Limits(fingerprints=5, merged=5)},
    {"keep_duplicates": True},
)


@given(
    st.sampled_from([{**each, "partition": divided} for each in HOW for divided in (False, True)]),
    st.lists(st.lists(several(12), min_size=1, max_size=3), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
)
@search(3)
def test_any_dumps_in_any_steps_are_as_if_converted_at_once(
    tmp_path_factory: pytest.TempPathFactory,
    how: dict[str, Any],
    found: list[list[list[Each]]],
    chance: random.Random,
) -> None:
    """Each step adds some dumps, most of which are cut; a dump has records of those before it."""
    place = tmp_path_factory.mktemp("steps")
    earlier, every = list[bytes](), list[Path]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smfparse.inputs.workers.ProcessPoolExecutor", Here)
        for step in found:
            paths = []
            for each in step:
                own = [b"".join(record.pieces()) for record in each]
                records = [*chance.sample(earlier, chance.randint(0, len(earlier))), *own]
                chance.shuffle(records)
                earlier += own
                number = len(every) + len(paths)  # no dump is another one
                records.insert(0, foreign_record(100 + number))
                path = put(place / f"{number}.smf", HEADER, *records)
                paths.append(cut(path) if chance.random() < 0.7 else path)
            smfparse.convert(paths, place / "steps", append=True, **how)
            every += paths
        smfparse.convert(every, place / "once", **how)
    assert rows_of(place / "steps") == rows_of(place / "once")
    made, once = read_manifest(place / "steps"), read_manifest(place / "once")
    assert {each: made[each] for each in SUMS} == {each: once[each] for each in SUMS}
    assert once["damage_count"] == smfparse.open(place / "steps").inputs.lost.count


def test_an_input_is_known_by_its_records_whatever_its_name(tmp_path: Path) -> None:
    """Rows of a record belong together by the name of the input and the number of the record."""
    folder = tmp_path / "tables"
    first, again, other, third = (
        put(tmp_path / f"{name}.smf", HEADER, foreign_record(kind))
        for name, kind in (("first", 30), ("again", 30), ("other", 31), ("third", 32))
    )
    convert(first, "--to", folder)
    before = files_below(folder)
    for name, stdin in ((again, b""), ("-", first.read_bytes())):
        assert convert(name, "--to", folder, "--append", stdin=stdin).stderr.splitlines() == [
            f"smfparse: {name}: already in the dataset; skipped",
            f"smfparse: {folder}: 0 rows added in 0 tables",
        ]
        assert files_below(folder) == before
    said = convert(again, other, "--to", folder, "--append").stderr
    assert f"{again}: already in the dataset; skipped" in said
    convert("-", "--to", folder, "--append", stdin=third.read_bytes())
    put(first, HEADER, foreign_record(33))
    said = convert(first, "--to", folder, "--append").stderr
    assert f"{first}: another input has this name; renamed to {first}#2\n" in said
    names, inputs = [str(first), str(other), "-", f"{first}#2"], read_manifest(folder)["inputs"]
    assert [each["name"] for each in inputs] == names
    expected = {"bytes": third.stat().st_size, "identity": identity_of(third)}
    assert expected.items() <= inputs[2].items()
    found = smfparse.open(folder).arrow("record")
    assert found["type"].to_pylist() == [2, 30, 31, 32, 33]
    assert found["source"].unique().to_pylist() == names
    files = [*(folder / RECORDS).iterdir()]  # 16 bytes a record; those of short files are joined
    assert {*files} == {folder / each for each in read_manifest(folder)["records"]}
    assert sum(each.stat().st_size for each in files) == 16 * 5
    assert len(files) < 4


def test_what_cannot_be_added_changes_nothing(dumps: list[Path], tmp_path: Path) -> None:
    folder, second = tmp_path / "tables", tmp_path / "second"
    smfparse.convert(dumps[0], folder)
    smfparse.convert(folder, second)
    before = files_below(tmp_path)
    selected = smfparse.Selection.of(qmgr=["QM01"])
    for given_to, what, said, options in (
        (folder, second, "a dataset cannot be appended", {}),
        (folder, dumps[1], "with another selection", {"selection": selected}),
        (folder, dumps[1], "without partition=True", {"partition": True}),
        (second, dumps[0], "keeps no record fingerprints", {}),
    ):
        with pytest.raises(RequestError, match=said):
            smfparse.convert(what, given_to, append=True, **options)
    convert(dumps[0], "--to", folder, "--append", "--force", code=2)
    assert files_below(tmp_path) == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("mine")
    convert(dumps[0], "--to", tmp_path / "mine", "--append", code=2)


def test_a_text_file_in_a_folder_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only once, however often the folder is added."""
    monkeypatch.chdir(tmp_path)
    Path("README.txt").write_text("not of SMF")
    for number in range(2):
        put(Path(f"{number}.smf"), HEADER, foreign_record(30 + number))
        said = convert(".", "--to", "tables", "--append", code=4).stderr
        assert ("README.txt: byte 0x0" in said, "a dataset" in said) == (True, False)
    assert [each.source for each in open_inputs(["tables"]).lost.details] == ["README.txt"]


def test_a_file_that_grows_while_it_is_read_is_refused(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = grown(tmp_path / "tables", dumps[:1])
    before, batches = files_below(folder), Inputs.batches

    def growing(self: Inputs, *arguments: Any) -> Iterator[Any]:
        yield from batches(self, *arguments)
        dumps[1].write_bytes(dumps[1].read_bytes() + HEADER)

    with monkeypatch.context() as patch:
        patch.setattr(Inputs, "batches", growing)
        with pytest.raises(InputError, match=r"1\.smf: changed while it was read; run again"):
            grown(folder, dumps[1:2])
    assert files_below(folder) == before
    grown(folder, dumps[1:2])
    assert read_manifest(folder)["inputs"][-1]["bytes"] == dumps[1].stat().st_size


def test_appends_at_the_same_time_are_as_one_by_one(dumps: list[Path], tmp_path: Path) -> None:
    folder, said = tmp_path / "tables", list[str]()
    folder.mkdir()
    soon = Limits(wait_seconds=0.01)
    waiting = f"{folder}: another smfparse is writing there; waiting for it"
    with ThreadPoolExecutor(2) as pool, PROGRESS.told_by(said.append):
        with only_writer(folder):
            for options in ({"append": True}, {"force": True}):
                with pytest.raises(OutputError, match="another smfparse is writing there; run aga"):
                    smfparse.convert(dumps[0], folder, limits=soon, **options)  # type: ignore[arg-type]
            assert all(each.name.startswith(MANIFEST) for each in folder.iterdir())
            runs = [pool.submit(grown, folder, [each]) for each in dumps[1:]]
            while said != 3 * [waiting]:
                assert wait(runs, 0.01).not_done == {*runs}
        assert [run.result() for run in runs] == [folder, folder]
    order = [Path(each["name"]) for each in read_manifest(folder)["inputs"]]
    assert sorted(order) == dumps[1:]
    smfparse.convert(order, tmp_path / "once")
    assert rows_of(folder) == rows_of(tmp_path / "once")
    assert read_manifest(folder)["duplicates"] == read_manifest(tmp_path / "once")["duplicates"] > 0
    assert {*dataset_files(read_manifest(folder)), MANIFEST, *GIVEN} == files_below(folder).keys()


SPOILT: tuple[Callable[[Path], object], ...] = (
    Path.unlink,
    lambda file: file.write_bytes(b""),
    lambda file: file.write_bytes(file.read_bytes()[:-5]),
)


def test_nothing_is_added_where_a_file_is_not_whole(dumps: list[Path], tmp_path: Path) -> None:
    smfparse.convert(dumps[0], tmp_path / "whole")
    for number, spoil in enumerate((Path.unlink, *SPOILT)):
        folder = Path(shutil.copytree(tmp_path / "whole", tmp_path / f"{number}"))
        (file,) = folder.glob(f"{RECORDS}/part-*.bin" if number else "record/part-*.parquet")
        spoil(file)
        before = files_below(folder)
        with pytest.raises(InputError, match=f"{file}: .*; convert again"):
            grown(folder, dumps[1:2])
        assert files_below(folder) == before


def test_damage_and_names_of_all_inputs_are_known(dumps: list[Path], tmp_path: Path) -> None:
    """However many appends there were; and fingerprints of other days are not read."""
    few, folder = ReadOptions(limits=Limits(merged=40)), tmp_path / "parts"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("not of SMF")
    called = tmp_path / "notes" / "DUMP.smf"
    for number, dump in enumerate(dumps):
        called.write_bytes(dump.read_bytes())
        again = called if number == 1 else tmp_path / "notes"
        append_dataset(open_inputs([again], few), folder)
    whole = read_manifest(folder)
    assert [each["name"] for each in whole["inputs"]] == [str(called), f"{called}#2", f"{called}#3"]
    assert whole["damage_count"] == 3  # the text file, and two dumps that are cut
    once = write_dataset(open_inputs(dumps), tmp_path / "once")
    assert whole["tables"] == once["tables"] | {"damage": 3}
    assert whole["duplicates"] == once["duplicates"]
    found, expected = (open_inputs([each]).arrow("wqst") for each in (folder, tmp_path / "once"))
    less = ["source", "task_source"]
    assert found.drop_columns(less).equals(expected.drop_columns(less))
    before = files_below(folder)
    assert len(append_dataset(open_inputs(dumps), folder).known) == len(dumps)
    assert files_below(folder) == before

    for run in (folder / RECORDS).iterdir():
        run.unlink()
    old, new = tmp_path / "old.smf", tmp_path / "new.smf"
    old.write_bytes(foreign_record(30, dt.datetime(1999, 1, 1)) * 3)
    new.write_bytes(foreign_record(2))
    alone = ReadOptions(limits=Limits(merged=1))
    assert append_dataset(open_inputs([old], alone), folder).rows["record"] == 3
    with pytest.raises(InputError, match="was not found"):
        append_dataset(open_inputs([new]), folder)


# The files of many appends put together ----------------------------------------------------------

KEPT = ("tables", "duplicates", "unknown_bytes", "damage_count", "selection", "types", "records")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three dumps, each of which overlaps with the one before."""
    place = tmp_path_factory.mktemp("dumps")
    records = [b"".join(each.pieces()) for each in many(160, 3)]
    for n in range(3):
        (place / f"{n}.smf").write_bytes(b"".join(records[40 * n : 40 * n + 60]))
    return sorted(place.iterdir())


def check_kept(folder: Path, before: dict[str, Any], manifest: dict[str, Any]) -> None:
    """The dataset has the rows and sums that it had, and no file but those that it names."""
    found = read_manifest(folder)
    assert {key: found[key] for key in KEPT} == {key: manifest[key] for key in KEPT}
    assert sorted(map(str, found["inputs"])) == sorted(map(str, manifest["inputs"]))
    assert rows_of(folder) == before
    assert {*dataset_files(read_manifest(folder)), MANIFEST, *GIVEN} == files_below(folder).keys()
    for name in (each for names in found["files"].values() for each in names):
        expected, *days = found["rows"][name]
        assert pq.read_metadata(folder / name).num_rows == expected
        assert days == sorted(days)


def check_order(folder: Path, manifest: dict[str, Any], group_rows: int) -> None:
    """New files have rows in the order of day, queue manager and time in each row group."""
    for name in {*read_manifest(folder)["files"]["record"]} - {*manifest["files"]["record"]}:
        file = pq.ParquetFile(folder / name)
        for number in range(file.num_row_groups):
            found = [
                (each["counted_at"].date(), each["qmgr"] or "~~~~~", each["counted_at"])
                for each in file.read_row_group(number, ["counted_at", "qmgr"]).to_pylist()
            ]
            assert found == sorted(found)
            assert len(found) <= group_rows


def test_files_of_many_appends_become_few_with_the_same_rows(
    mixed: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = grown(tmp_path / "tables", mixed, partition=True)
    before, manifest = rows_of(folder), read_manifest(folder)
    short = Limits(file_rows=15, group_rows=5)
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    shortened = compact_dataset(other, short)
    assert shortened.before > shortened.after > 0
    assert max(Counter(each.parent for each in other.rglob("*.parquet")).values()) > 1
    check_kept(other, before, manifest)
    check_order(other, manifest, short.group_rows)
    assert compact_dataset(other, short) == Compacted()
    there = set(folder.rglob("*.parquet"))
    done = command.run("compact", folder, code=0)
    check_kept(folder, before, manifest)
    after = set(folder.rglob("*.parquet"))
    assert len({each.parent for each in after}) == len(after)
    gone, new = len(there - after), len(after - there)
    assert f"{folder}: {gone:,} files became {new:,}, with " in done.output
    assert gone > 2 * new
    names = files_below(folder)
    assert command.run("compact", folder).output == f"smfparse: {folder}: nothing to compact\n"
    assert append_dataset(open_inputs(mixed), folder).known == tuple(map(str, mixed))
    assert files_below(folder) == names
    with with_views(folder, monkeypatch, "wqst") as database:
        assert database.sql("FROM wqst").to_arrow_table().num_rows == before["wqst"].num_rows


@given(sizes=st.tuples(st.integers(1, 60), st.integers(1, 30), st.booleans()))
@search(1)
@pytest.mark.long
def test_any_sizes_of_files_and_row_groups_keep_the_rows(
    tmp_path_factory: pytest.TempPathFactory, mixed: list[Path], sizes: tuple[int, int, bool]
) -> None:
    file_rows, group_rows, partition = sizes
    limits = Limits(file_rows=file_rows, group_rows=group_rows)
    place = tmp_path_factory.mktemp("any")
    folder = grown(place / "tables", mixed, partition=partition, limits=limits)
    before, manifest = rows_of(folder), read_manifest(folder)
    done = compact_dataset(folder, limits)
    check_kept(folder, before, manifest)
    assert done.before >= done.after
    check_order(folder, manifest, group_rows)
    assert compact_dataset(folder, limits) == Compacted()
    known = append_dataset(open_inputs(mixed, ReadOptions(limits=limits)), folder).known
    assert len(known) == len(mixed)


def test_what_is_no_sound_dataset_is_left_alone(mixed: list[Path], tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="not a dataset; give the folder"):
        smfparse.compact(tmp_path / "none")
    assert command.run("compact", tmp_path).exit_code == 2
    folder = grown(tmp_path / "tables", mixed[:2])
    with only_writer(folder), pytest.raises(OutputError, match="another smfparse is writing there"):
        compact_dataset(folder, Limits(wait_seconds=0))
    file = sorted((folder / "wqst").iterdir())[0]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    before = files_below(folder)
    with pytest.raises(InputError, match="changed since it was written"):
        smfparse.compact(folder)
    assert files_below(folder) == before
