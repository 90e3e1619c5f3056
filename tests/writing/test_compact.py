"""A dataset of many appends put together: the same rows, in fewer files, also when killed."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.errors import InputError, OutputError, RequestError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import LIMITS, Limits
from smfparse.store import (
    EARLIER,
    GIVEN,
    MANIFEST,
    PARTIAL,
    VIEWS,
    every_file,
    read_head,
    read_manifest,
)
from smfparse.tables import table_names
from smfparse.writing import Compacted, append_dataset, compact_dataset, write_dataset
from smfparse.writing.dataset import alone_in
from tests.support import command
from tests.support.mixed_records import many
from tests.support.searching import search
from tests.writing.test_append import (
    chosen,
    counted_from_0,
    files_below,
    forks,
    found_by_manifest,
    killed_at,
    moments_of,
    put,
    rows,
    some,
)

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]
KEPT = ("inputs", "tables", "duplicates", "unknown_bytes", "damage_count", "selection", "types")
every_form = pytest.mark.parametrize("partition", [False, True], ids=["whole", "divided"])


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four dumps, each of which overlaps with the one before."""
    place = tmp_path_factory.mktemp("dumps")
    records = [b"".join(each.pieces()) for each in many(200, 3)]
    return [put(place / f"{n}.smf", records[40 * n : 40 * n + 60]) for n in range(4)]


def grown(
    folder: Path, dumps: list[Path], *, partition: bool = False, limits: Limits = LIMITS
) -> Path:
    """Add dumps one by one."""
    for each in dumps:
        inputs = open_inputs([each], ReadOptions(limits=limits))
        append_dataset(inputs, folder, partition=partition)
    return folder


def check_whole(folder: Path, before: dict[str, Any], manifest: dict[str, Any]) -> None:
    """The dataset has the rows and sums that it had, and no file but those that it names."""
    found = read_manifest(folder)
    assert {key: found[key] for key in KEPT} == {key: manifest[key] for key in KEPT}
    assert found["records"] == manifest["records"]
    assert found["record_days"] == manifest["record_days"]
    assert rows(folder) == before
    assert {*every_file(folder), MANIFEST, *GIVEN} == files_below(folder).keys()
    places = Counter(PurePosixPath(each).parent for each in every_file(folder) if "/part-" in each)
    tables = {place: count for place, count in places.items() if place.parts[0] in table_names()}
    assert set(tables.values()) == {1}
    for names in found["files"].values():
        for name in names:
            expected, *days = found["rows"][name]
            assert pq.read_metadata(folder / name).num_rows == expected
            assert days == sorted(days)


@every_form
def test_files_of_many_appends_become_few_with_the_same_rows(
    partition: bool, dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = grown(tmp_path / "tables", dumps[:3], partition=partition)
    before, manifest = rows(folder), read_manifest(folder)
    there = set(folder.rglob("*.parquet"))
    done = command.run("compact", folder)
    assert done.exit_code == 0, done.output
    check_whole(folder, before, manifest)
    after = set(folder.rglob("*.parquet"))
    gone, new = len(there - after), len(after - there)
    assert f"{folder}: {gone:,} files became {new:,}, with " in done.output
    assert gone > 2 * new
    names = files_below(folder)
    again = command.run("compact", folder)
    assert again.exit_code == 0
    assert again.output == f"smfparse: {folder}: nothing to put together\n"
    assert files_below(folder) == names
    append_dataset(open_inputs(dumps), folder)
    once = write_dataset(open_inputs(dumps), tmp_path / "once", partition=partition)
    expected = rows(tmp_path / "once")
    assert rows(folder) == expected
    assert read_manifest(folder)["duplicates"] >= once["duplicates"] > 50
    monkeypatch.chdir(folder)
    with duckdb.connect() as database:
        database.execute(Path(VIEWS).read_text(encoding="utf-8"))
        for table in ("record", "wqst", "qpst", "damage"):
            found = database.sql(f"SELECT count(*) FROM {table}").fetchall()
            assert found == [(expected[table].num_rows,)]


def test_rows_are_in_the_order_of_queue_manager_and_time(dumps: list[Path], tmp_path: Path) -> None:
    folder = grown(tmp_path / "tables", dumps)
    compact_dataset(folder, Limits(group_rows=50))
    (name,) = read_manifest(folder)["files"]["record"]
    file = pq.ParquetFile(folder / name)
    assert file.num_row_groups > 2
    for number in range(file.num_row_groups):
        group = file.read_row_group(number, ["counted_at", "qmgr"])
        found = [
            (each["counted_at"].date(), each["qmgr"] or "~~~~~", each["counted_at"])
            for each in group.to_pylist()
        ]
        assert found == sorted(found)
        assert file.metadata.row_group(number).num_rows <= 50


@given(st.integers(1, 40), st.integers(1, 60), st.integers(1, 30), st.booleans())
@search(4)
def test_any_sizes_of_files_parts_and_row_groups_keep_the_rows(
    tmp_path_factory: pytest.TempPathFactory,
    dumps: list[Path],
    few: int,
    file_rows: int,
    group_rows: int,
    partition: bool,
) -> None:
    limits = Limits(manifest_files=10 * few, file_rows=file_rows, group_rows=group_rows)
    folder = grown(
        tmp_path_factory.mktemp("any") / "tables", dumps, partition=partition, limits=limits
    )
    before, manifest = rows(folder), read_manifest(folder)
    done = compact_dataset(folder, limits)
    found = read_manifest(folder)
    assert rows(folder) == before
    assert sorted(map(str, found["inputs"])) == sorted(map(str, manifest["inputs"]))
    assert {key: found[key] for key in KEPT[1:]} == {key: manifest[key] for key in KEPT[1:]}
    assert found["records"] == manifest["records"]
    assert {*every_file(folder), MANIFEST, *GIVEN} == files_below(folder).keys()
    assert done.before >= done.after
    assert compact_dataset(folder, limits) == Compacted()
    known = append_dataset(open_inputs(dumps, ReadOptions(limits=limits)), folder).known
    assert len(known) == len(dumps)


@every_form
def test_parts_of_the_manifest_are_put_together_and_few_are_read(
    partition: bool, dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smfparse.writing.manifests._MOST_LISTED", 2)
    few = Limits(manifest_files=3)
    folder = grown(tmp_path / "tables", dumps, partition=partition, limits=few)
    before, manifest = rows(folder), read_manifest(folder)
    assert len(list((folder / EARLIER).glob("*.json"))) > 2
    compact_dataset(folder, LIMITS)
    check_whole(folder, before, manifest)
    parts = [*(folder / EARLIER).glob("*.json")]
    assert len(parts) == 2  # inputs; files
    days = [each["days"] for each in read_head(folder)["earlier"]]
    assert days[0] == []
    assert append_dataset(open_inputs(dumps), folder).known == tuple(map(str, dumps))


def test_what_is_no_dataset_or_damaged_or_written_is_left_alone(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(LIMITS), "wait_seconds", 0)
    with pytest.raises(RequestError, match="no dataset; give the folder"):
        smfparse.compact(tmp_path / "none")
    assert command.run("compact", tmp_path).exit_code == 2
    folder = grown(tmp_path / "tables", dumps[:2])
    with alone_in(folder), pytest.raises(OutputError, match="another smfparse is writing there"):
        smfparse.compact(folder)
    file = sorted((folder / "wqst").iterdir())[0]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    before = files_below(folder)
    with pytest.raises(InputError, match="not as it was written"):
        smfparse.compact(folder)
    assert files_below(folder) == before


@forks
@every_form
def test_a_kill_at_any_moment_leaves_the_old_or_the_new(
    partition: bool, dumps: list[Path], tmp_path: Path
) -> None:
    prepared = grown(tmp_path / "prepared", dumps[:2], partition=partition)
    old, before = files_below(prepared), rows(prepared)

    def fresh(name: str) -> Path:
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        return Path(shutil.copytree(prepared, tmp_path / name))

    def compact(folder: Path) -> None:
        compact_dataset(folder, LIMITS)

    compact(fresh("expected"))
    wanted = files_below(tmp_path / "expected")
    moments = moments_of(partial(compact, fresh("counted")))
    for number in some(moments, random.Random(str(partition)).randrange(61)):
        folder = fresh("killed")
        assert killed_at(number, partial(compact, folder)), number
        assert found_by_manifest(folder) in (chosen(old), chosen(wanted)), number
        assert rows(folder, set(table_names()) - {"record", "wqst"}) == {
            table: before[table] for table in ("record", "wqst")
        }
        compact(folder)
        assert not (folder / PARTIAL).exists()
        assert counted_from_0(files_below(folder)) == counted_from_0(wanted), number
