"""A dataset of many appends put together: the same rows, in fewer files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import smfparse
from smfparse.errors import InputError, OutputError, RequestError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import LIMITS, Limits
from smfparse.store import (
    EARLIER,
    GIVEN,
    MANIFEST,
    every_file,
    only_writer,
    read_head,
    read_manifest,
)
from smfparse.tables import table_names
from smfparse.writing import Compacted, append_dataset, compact_dataset
from tests.support import command
from tests.support.datasets import files_below, rows_of, with_views
from tests.support.mixed_records import many
from tests.support.searching import search

pytestmark = pytest.mark.slow
KEPT = ("tables", "duplicates", "unknown_bytes", "damage_count", "selection", "types", "records")


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four dumps, each of which overlaps with the one before."""
    place = tmp_path_factory.mktemp("dumps")
    records = [b"".join(each.pieces()) for each in many(200, 3)]
    for n in range(4):
        (place / f"{n}.smf").write_bytes(b"".join(records[40 * n : 40 * n + 60]))
    return sorted(place.iterdir())


def grown(
    folder: Path, dumps: list[Path], *, partition: bool = False, limits: Limits = LIMITS
) -> Path:
    for each in dumps:
        inputs = open_inputs([each], ReadOptions(limits=limits))
        append_dataset(inputs, folder, partition=partition)
    return folder


def check_kept(folder: Path, before: dict[str, Any], manifest: dict[str, Any]) -> None:
    """The dataset has the rows and sums that it had, and no file but those that it names."""
    found = read_manifest(folder)
    assert {key: found[key] for key in KEPT} == {key: manifest[key] for key in KEPT}
    assert sorted(map(str, found["inputs"])) == sorted(map(str, manifest["inputs"]))
    assert rows_of(folder) == before
    assert {*every_file(folder), MANIFEST, *GIVEN} == files_below(folder).keys()
    for name in (each for names in found["files"].values() for each in names):
        expected, *days = found["rows"][name]
        assert pq.read_metadata(folder / name).num_rows == expected
        assert days == sorted(days)


def check_order(file: Any, group_rows: int) -> None:
    """Rows are in the order of day, queue manager and time in each row group."""
    for number in range(file.num_row_groups):
        found = [
            (each["counted_at"].date(), each["qmgr"] or "~~~~~", each["counted_at"])
            for each in file.read_row_group(number, ["counted_at", "qmgr"]).to_pylist()
        ]
        assert found == sorted(found)
        assert len(found) <= group_rows


def check_one_file(folder: Path) -> None:
    places = Counter(PurePosixPath(each).parent for each in every_file(folder) if "/part-" in each)
    tables = {place: count for place, count in places.items() if place.parts[0] in table_names()}
    assert set(tables.values()) == {1}


def test_files_of_many_appends_become_few_with_the_same_rows(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So do the earlier parts of the manifest, of which few are read."""
    monkeypatch.setattr("smfparse.writing.manifests._MOST_LISTED", 2)
    folder = grown(tmp_path / "tables", dumps, partition=True, limits=Limits(manifest_files=3))
    before, manifest = rows_of(folder), read_manifest(folder)
    assert len(list((folder / EARLIER).glob("*.json"))) > 2
    there = set(folder.rglob("*.parquet"))
    done = command.run("compact", folder)
    assert done.exit_code == 0, done.output
    check_kept(folder, before, manifest)
    check_one_file(folder)
    after = set(folder.rglob("*.parquet"))
    gone, new = len(there - after), len(after - there)
    assert f"{folder}: {gone:,} files became {new:,}, with " in done.output
    assert gone > 2 * new
    assert read_head(folder)["earlier"][0]["days"] == []
    names = files_below(folder)
    again = command.run("compact", folder)
    assert again.output == f"smfparse: {folder}: nothing to compact\n"
    assert append_dataset(open_inputs(dumps), folder).known == tuple(map(str, dumps))
    assert files_below(folder) == names
    with with_views(folder, monkeypatch) as database:
        for table in ("record", "wqst", "qpst", "damage"):
            found = database.sql(f"SELECT count(*) FROM {table}").fetchall()
            assert found == [(before[table].num_rows,)]


@given(st.integers(1, 40), st.integers(1, 60), st.integers(1, 30), st.booleans())
@example(few=1, file_rows=200, group_rows=20, partition=False)
@search(1)
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
    before, manifest = rows_of(folder), read_manifest(folder)
    done = compact_dataset(folder, limits)
    check_kept(folder, before, manifest)
    assert done.before >= done.after
    for name in {*read_manifest(folder)["files"]["record"]} - {*manifest["files"]["record"]}:
        check_order(pq.ParquetFile(folder / name), group_rows)
    assert compact_dataset(folder, limits) == Compacted()
    known = append_dataset(open_inputs(dumps, ReadOptions(limits=limits)), folder).known
    assert len(known) == len(dumps)


def test_what_is_no_dataset_or_damaged_or_written_is_left_alone(
    dumps: list[Path], tmp_path: Path
) -> None:
    with pytest.raises(RequestError, match="no dataset; give the folder"):
        smfparse.compact(tmp_path / "none")
    assert command.run("compact", tmp_path).exit_code == 2
    folder = grown(tmp_path / "tables", dumps[:2])
    soon = Limits(wait_seconds=0)
    with only_writer(folder), pytest.raises(OutputError, match="another smfparse is writing there"):
        compact_dataset(folder, soon)
    file = sorted((folder / "wqst").iterdir())[0]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    before = files_below(folder)
    with pytest.raises(InputError, match="not as it was written"):
        smfparse.compact(folder)
    assert files_below(folder) == before
