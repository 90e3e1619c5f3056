"""A dataset in object storage is the one that is written here, by one run after the other."""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from subprocess import run
from typing import Any, TypeAlias

import pytest

import smfparse
from smfparse import store
from smfparse.errors import InputError, OutputError, RequestError
from smfparse.limits import Limits
from smfparse.places import place_of
from smfparse.progress import PROGRESS
from smfparse.store import GIVEN, LOCK, MANIFEST, PARTIAL, UrlFolder, read_manifest
from tests.support import command
from tests.support.datasets import every_table, files_below
from tests.support.mixed_records import TABLES, overlapping
from tests.support.paths import FIXTURES
from tests.support.storage import BUCKET, Storage, serving

pytest.importorskip("obstore")
pytestmark = pytest.mark.slow

SMALL = Limits(chunk_bytes=8192, max_spanned=4096, least_unit=1, most_task=20_000)
SOON = Limits(lease_seconds=0.6)
Paths: TypeAlias = list[Path]


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    return overlapping(tmp_path_factory.mktemp("dumps"), 60, 5, range(20, 40))


@pytest.fixture(scope="module")
def storage(dumps: Paths) -> Iterator[Storage]:
    with serving() as found:
        for each in dumps:
            found.put(f"day/{each.name}", each)
        yield found


def manifest(storage: Storage, name: str) -> dict[str, Any]:
    body = storage.client.get_object(Bucket=BUCKET, Key=f"{name}/{MANIFEST}")["Body"]
    return json.loads(body.read())  # type: ignore[no-any-return]


def names_in(storage: Storage, name: str) -> set[str]:
    return {each.removeprefix(f"{name}/") for each in storage.keys(f"{name}/")}


def rows_of(place: Path | str) -> dict[str, Any]:
    """Return the rows of tables that have some, without where the files of their sources are."""
    found = {}
    for table, whole in every_table(smfparse.open(place).inputs, (*TABLES, "damage")).items():
        rows = whole.to_pylist()
        assert rows
        for each in rows:
            for name in {"source", "task_source"} & each.keys():
                each[name] = (each[name] or "").rpartition("/")[2]
        found[table] = sorted(rows, key=str)
    return found


def test_what_is_written_is_what_is_here(dumps: Paths, storage: Storage, tmp_path: Path) -> None:
    place, here = f"s3://{BUCKET}/tables", tmp_path / "here"
    for each in dumps:
        smfparse.convert(each, here, append=True)
        source = f"s3://{BUCKET}/day/{each.name}"
        command.run("convert", source, "--to", place, "--append", code=4)  # blocks are damaged
    found, expected = manifest(storage, "tables"), read_manifest(here)
    assert found["duplicates"] == expected["duplicates"] > 10
    assert found["files"] == expected["files"]
    for one, other in zip(found["inputs"], expected["inputs"], strict=True):
        assert one["identity"] == other["identity"]
    assert rows_of(place) == rows_of(here)
    assert names_in(storage, "tables") == files_below(here).keys()
    again = command.run("convert", f"s3://{BUCKET}/day/*.smf", "--to", place, "--append")
    assert again.output.count("already in the dataset") == 2
    query = """SELECT wqst.qmgr, count(*), (SELECT count(*) FROM damage)
        FROM wqst JOIN record USING (source, record_no) GROUP BY ALL ORDER BY ALL"""
    counts = [smfparse.open(each).sql(query) for each in (place, here)]
    assert counts[0] == counts[1]
    assert counts[0].num_rows
    with pytest.raises(RequestError, match="a dataset already exists"):
        smfparse.convert(dumps[1], place)


def test_what_a_url_does_not_take_is_said(dumps: Paths, storage: Storage) -> None:
    only = "only a dataset is written to a URL"
    for line, code, said in (
        ("report log {dump} --output s3://b/x", 2, only),
        ("dashboard {dump} --output s3://b/x.html", 2, only),
        ("generate s3://b/x.smf", 2, only),
        ("anonymise {dump} --to s3://b/x.smf", 2, only),
        ("convert {dump} --format csv --to s3://b/x", 2, "a URL takes a dataset"),
        ("convert {dump} --to s3://nobody/tables", 8, "no such bucket; check the name"),
    ):
        done = command.run(*line.format(dump=dumps[0]).split(), code=code)
        assert said in " ".join(done.output.split())
    storage.put("unfinished/.partial/record/part-00000.parquet", b"x")
    with pytest.raises(InputError, match="convert was interrupted here"):
        smfparse.open(f"s3://{BUCKET}/unfinished")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_dataset_there_is_as_one_here(dumps: Paths, storage: Storage, tmp_path: Path) -> None:
    """Written by workers, compacted and replaced."""
    place, here = f"s3://{BUCKET}/grown", tmp_path / "here"
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        smfparse.convert(f"s3://{BUCKET}/day", place, executor, limits=SMALL, partition=True)
    smfparse.convert(dumps, here, limits=SMALL)
    rows, names = rows_of(here), names_in(storage, "grown")
    assert rows_of(place) == rows
    command.run("compact", place, code=0)
    assert rows_of(place) == rows
    belonging = {*store.every_file(place_of(place)), MANIFEST, *GIVEN}
    assert names_in(storage, "grown") == belonging
    assert len(belonging) < len(names)
    assert "nothing to compact" in command.run("compact", place).output
    smfparse.convert(dumps[1], place, force=True)
    sizes = [each["bytes"] for each in manifest(storage, "grown")["inputs"]]
    assert sizes == [dumps[1].stat().st_size]
    assert names_in(storage, "grown") == {*store.every_file(place_of(place)), MANIFEST, *GIVEN}


@pytest.fixture(scope="module")
def whole(dumps: Paths, storage: Storage) -> set[str]:
    """The names of the objects of a dataset of the first dump."""
    smfparse.convert(dumps[0], f"s3://{BUCKET}/whole")
    return names_in(storage, "whole")


def copied(storage: Storage, whole: set[str], name: str) -> str:
    """Copy the dataset to another folder; return its URL."""
    for each in whole:
        source = {"Bucket": BUCKET, "Key": f"whole/{each}"}
        storage.client.copy_object(Bucket=BUCKET, Key=f"{name}/{each}", CopySource=source)
    return f"s3://{BUCKET}/{name}"


@pytest.mark.long
def test_appends_wait_and_add_each_row_once(dumps: Paths, storage: Storage, tmp_path: Path) -> None:
    """Those at the same time; others end."""
    place, said = f"s3://{BUCKET}/both", list[str]()
    with ThreadPoolExecutor(2) as pool, PROGRESS.told_by(said.append):
        with store.only_writer(place_of(place), SOON):
            for seconds, append in ((3600, False), (0.3, True)):
                limits = Limits(lease_seconds=0.6, wait_seconds=seconds)
                with pytest.raises(OutputError, match=r"another smfparse is writing .*; run again"):
                    smfparse.convert(dumps[0], place, append=append, limits=limits)
            assert names_in(storage, "both") == {LOCK}
            convert = partial(smfparse.convert, append=True, limits=SOON)
            runs = [pool.submit(convert, each, place) for each in dumps]
            while len(said) < 4:
                assert wait(runs, 0.01).not_done == {*runs}
        assert [len(run.result().inputs.sources) for run in runs] == [1, 1]
    assert all(f"{place}: another smfparse is writing there (process " in each for each in said)
    waited = ["waiting for it (0.6 seconds without a" in each for each in said]
    assert waited == [False, True, True, True]
    found = manifest(storage, "both")
    order = [Path(each["name"]) for each in found["inputs"]]
    assert sorted(order) == dumps
    smfparse.convert(order, tmp_path / "once")
    assert rows_of(place) == rows_of(tmp_path / "once")
    assert found["duplicates"] == read_manifest(tmp_path / "once")["duplicates"] > 10
    assert not [each for each in names_in(storage, "both") if LOCK in each or PARTIAL in each]


@pytest.mark.long
def test_a_killed_run_is_taken_over(dumps: Paths, storage: Storage, whole: set[str]) -> None:
    """Its lock, files that it had not finished, and files that no manifest names."""
    place = copied(storage, whole, "left")
    before = rows_of(place)
    parts = f"{PARTIAL}/{'0' * 32}/wqst/part-00001.parquet", "record/part-00001.parquet"
    for name in (*parts, LOCK):
        storage.put(f"left/{name}", b"left by a run that was killed")
    with store.only_writer(place_of(place), SOON):  # also one that waits for nobody who lives
        assert b"smfparse" not in place_of(f"{place}/{LOCK}").read_bytes()
    storage.put(f"left/{LOCK}", b"left by a run that was killed")
    assert rows_of(place) == before
    smfparse.convert(dumps[0], place, append=True, limits=SOON)  # is there already
    assert names_in(storage, "left") == whole


@pytest.mark.long
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_that_lost_its_lock_or_its_manifest_changes_nothing(
    when: str, dumps: Paths, storage: Storage, whole: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"lost-{when}"
    place, theirs = copied(storage, whole, name), f"{name}/{PARTIAL}/{'1' * 32}/{MANIFEST}"
    before = manifest(storage, name)
    step_name = {"before": "new", "after": "move_all"}[when]
    step = getattr(UrlFolder, step_name)

    def taken_over(self: UrlFolder, names: Any) -> Any:
        if when == "after":
            storage.put(f"{name}/{MANIFEST}", json.dumps(before | {"smfparse": "theirs"}).encode())
        elif names.endswith(MANIFEST):
            storage.put(f"{name}/{LOCK}", b"theirs")
            storage.put(theirs, b"theirs")
        return step(self, names)

    monkeypatch.setattr(UrlFolder, step_name, taken_over)
    reason = {"before": "took the lock over", "after": "wrote there meanwhile; run again"}[when]
    with pytest.raises(OutputError, match=reason):
        smfparse.convert(dumps[1], place, append=True)
    found, there = manifest(storage, name), storage.keys(f"{name}/")
    if when == "before":
        assert found == before
        assert {theirs, f"{name}/{LOCK}"} <= {*there}
        assert not any("part-00001" in each for each in there if PARTIAL not in each)
    else:
        assert found == before | {"smfparse": "theirs"}
        assert f"{name}/{LOCK}" not in there


@pytest.mark.long
@pytest.mark.parametrize("why", ["no obstore", "no conditions"])
def test_where_nothing_can_be_locked_it_is_written_as_without(
    why: str, dumps: Paths, storage: Storage, whole: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import obstore

    name, is_missing = why.replace(" ", "-"), why == "no obstore"
    place, put, said = copied(storage, whole, name), obstore.put, list[str]()
    if is_missing:
        storage.put(f"{name}/{LOCK}", b"theirs")
        monkeypatch.setitem(sys.modules, "obstore", None)
    else:
        monkeypatch.setattr(obstore, "put", lambda *some, mode, **how: put(*some, **how))
    with PROGRESS.told_by(said.append):
        smfparse.convert(dumps[is_missing], place, append=True)  # the first one is there already
    warned = ["nothing keeps others from writing there" in each for each in said]
    assert warned == ([] if is_missing else [True])
    assert (LOCK in names_in(storage, name)) == is_missing
    assert len(manifest(storage, name)["inputs"]) == 1 + is_missing


_COMMITTED = """
import json, sys
from deltalake import DeltaTable, QueryBuilder
import smfparse
place = sys.argv[1]
done = [smfparse.commit(place, f"delta:{place}", tables=["record", "wqst"]) for _ in range(2)]
how = {"AWS_ALLOW_HTTP": "true"}
tables = {each: DeltaTable(f"{place}/{each}", storage_options=how) for each in done[0]}
reader = QueryBuilder()  # what reads by Arrow with it may abort as the process ends
for name, each in tables.items():
    reader.register(name, each)
counts = {name: reader.execute(f"SELECT count(*) FROM {name}").read_all() for name in tables}
rows = {name: each.column(0)[0].as_py() for name, each in counts.items()}
print(json.dumps([rows, [{name: [each.added, each.stayed] for name, each in some.items()}
                         for some in done]]))
"""


@pytest.mark.long
def test_delta_takes_a_dataset_in_s3(storage: Storage) -> None:
    """By a process of its own: deltalake keeps others of its process from running meanwhile."""
    pytest.importorskip("deltalake")
    place = f"s3://{BUCKET}/delta"
    smfparse.convert(FIXTURES / "qm60.smf", place, types="signed")
    done = run([sys.executable, "-c", _COMMITTED, place], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    rows, changes = json.loads(done.stdout)
    tables = manifest(storage, "delta")["tables"]
    assert rows == {each: tables[each] for each in ("record", "wqst")}
    assert rows["wqst"] > 0
    assert changes == [{each: [1, 0] for each in rows}, {each: [0, 1] for each in rows}]
    assert LOCK not in names_in(storage, "delta")
