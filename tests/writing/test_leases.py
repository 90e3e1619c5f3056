"""Runs that write to one dataset in object storage do so one after the other."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen, run
from typing import Any

import pytest

import smfparse
from smfparse.errors import OutputError
from smfparse.limits import Limits
from smfparse.places import place_of
from smfparse.progress import PROGRESS
from smfparse.store import LOCK, MANIFEST, PARTIAL, UrlFolder, only_writer
from tests.support import command
from tests.support.mixed_records import overlapping
from tests.support.paths import FIXTURES
from tests.support.storage import BUCKET, Storage, serving

pytest.importorskip("obstore")

SOON = Limits(lease_seconds=0.6)


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two dumps that overlap."""
    return overlapping(tmp_path_factory.mktemp("dumps"), 60, 5, range(20, 40))


@pytest.fixture(scope="module")
def storage() -> Iterator[Storage]:
    with serving() as found:
        yield found


def manifest(storage: Storage, name: str) -> dict[str, Any]:
    body = storage.client.get_object(Bucket=BUCKET, Key=f"{name}/{MANIFEST}")["Body"]
    return json.loads(body.read())  # type: ignore[no-any-return]


def counts(storage: Storage, name: str) -> dict[str, int]:
    """Return how many rows each table has, by its manifest and by its files."""
    data = smfparse.open(f"s3://{BUCKET}/{name}")
    found = {table: data.arrow(table).num_rows for table in data.tables}
    assert found == {each: manifest(storage, name)["tables"][each] for each in found}
    return found


def test_appends_at_the_same_time_wait_and_add_each_row_once(
    dumps: list[Path], storage: Storage, tmp_path: Path
) -> None:
    place = f"s3://{BUCKET}/both"
    with only_writer(place_of(place)):
        assert storage.keys("both/") == [f"both/{LOCK}"]
        asked = [[*command.COMMAND, "convert", each, "--to", place, "--append"] for each in dumps]
        runs = [Popen(each, stderr=PIPE, text=True) for each in asked]
        for each in runs:
            assert each.stderr is not None
            said = each.stderr.readline()
            assert f"{place}: another smfparse is writing there (process " in said
            assert "waiting for it (60 seconds without a sign of life end its lock)" in said
    try:
        rest = [each.communicate(timeout=60)[1] for each in runs]
    finally:
        for each in runs:
            each.kill()
    assert [each.returncode for each in runs] == [4, 4], rest  # blocks are damaged
    order = [Path(each["name"]) for each in manifest(storage, "both")["inputs"]]
    assert sorted(order) == dumps
    smfparse.convert(order, tmp_path / "once")
    once = json.loads((tmp_path / "once" / MANIFEST).read_text())
    found = counts(storage, "both")
    assert {"wqst", "record"} <= {each for each, rows in found.items() if rows}
    assert found == {each: once["tables"][each] for each in found}
    assert manifest(storage, "both")["duplicates"] == once["duplicates"] > 10
    assert not [each for each in storage.keys("both/") if LOCK in each or PARTIAL in each]


@pytest.fixture(scope="module")
def whole(dumps: list[Path], storage: Storage) -> list[str]:
    """The names of the objects of a dataset of the first dump."""
    smfparse.convert(dumps[0], f"s3://{BUCKET}/whole")
    return [each.removeprefix("whole/") for each in storage.keys("whole/")]


def copied(storage: Storage, whole: list[str], name: str) -> str:
    """Copy the dataset to another folder; return its URL."""
    for each in whole:
        source = {"Bucket": BUCKET, "Key": f"whole/{each}"}
        storage.client.copy_object(Bucket=BUCKET, Key=f"{name}/{each}", CopySource=source)
    return f"s3://{BUCKET}/{name}"


def test_what_is_no_append_ends_while_another_one_lives(
    dumps: list[Path], storage: Storage
) -> None:
    place, said = f"s3://{BUCKET}/alive", list[str]()
    with only_writer(place_of(place), SOON), PROGRESS.told_by(said.append):
        for wait, append in ((3600, False), (0.3, True)):
            limits = Limits(lease_seconds=0.6, wait_seconds=wait)
            with pytest.raises(OutputError, match=r"another smfparse is writing .*; run again"):
                smfparse.convert(dumps[0], place, append=append, limits=limits)
        assert storage.keys("alive/") == [f"alive/{LOCK}"]
    assert ["looking whether it still does" in each for each in said] == [True, False]
    assert not storage.keys("alive/")


def test_the_lock_of_a_run_that_was_killed_is_taken_over(
    dumps: list[Path], storage: Storage, whole: list[str]
) -> None:
    place = copied(storage, whole, "left")
    storage.put(f"left/{LOCK}", b"left by a run that was killed")
    storage.put(f"left/{PARTIAL}/{'0' * 32}/wqst/part-00001.parquet", b"as is this")
    with only_writer(place_of(place), SOON):  # also one that waits for nobody who lives
        assert b"smfparse" not in place_of(f"{place}/{LOCK}").read_bytes()
    storage.put(f"left/{LOCK}", b"left by a run that was killed")
    smfparse.convert(dumps[0], place, append=True, limits=SOON)  # is there already
    assert {each.removeprefix("left/") for each in storage.keys("left/")} == {*whole}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_that_lost_its_lock_or_its_manifest_changes_nothing(
    when: str,
    dumps: list[Path],
    storage: Storage,
    whole: list[str],
    monkeypatch: pytest.MonkeyPatch,
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


@pytest.mark.parametrize("why", ["no obstore", "no conditions"])
def test_where_nothing_can_be_locked_it_is_written_as_without(
    why: str,
    dumps: list[Path],
    storage: Storage,
    whole: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import obstore

    name = why.replace(" ", "-")
    place, put, said = copied(storage, whole, name), obstore.put, list[str]()
    if why == "no obstore":
        storage.put(f"{name}/{LOCK}", b"theirs")
        monkeypatch.setitem(sys.modules, "obstore", None)
    else:
        monkeypatch.setattr(obstore, "put", lambda *some, mode, **how: put(*some, **how))
    added = dumps[1] if why == "no obstore" else dumps[0]  # that is there already
    with PROGRESS.told_by(said.append):
        smfparse.convert(added, place, append=True)
    warned = ["nothing keeps others from writing there" in each for each in said]
    assert warned == ([] if why == "no obstore" else [True])
    assert (f"{name}/{LOCK}" in storage.keys(f"{name}/")) == (why == "no obstore")
    if why == "no obstore":
        assert len(manifest(storage, name)["inputs"]) == 2


def test_a_container_of_azure_is_asked_with_the_same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    from smfparse.places import versions

    monkeypatch.setenv("AZURE_STORAGE_KEY", "a2V5")
    url: Any = place_of("abfss://smf@bank.dfs.core.windows.net/mq")
    found = versions.Versioned(url)._store.config
    assert (found["container_name"], found["account_name"]) == ("smf", "bank")


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
    assert f"delta/{LOCK}" not in storage.keys("delta/")
