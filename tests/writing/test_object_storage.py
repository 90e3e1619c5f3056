"""A dataset in object storage is the one that is written here, and is written once."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from subprocess import run
from typing import Any, TypeAlias

import pytest

import smfparse
from smfparse.errors import DamageError, InputError, OutputError, RequestError
from smfparse.limits import Limits
from smfparse.reading.places import Url, place_of
from smfparse.store.database import MANIFEST
from smfparse.store.manifest import GIVEN, read_files
from smfparse.writing.lakes import LakeFile
from tests.support import command
from tests.support.datasets import dataset_files, every_table, read_manifest
from tests.support.mixed_records import TABLES, overlapping
from tests.support.paths import FIXTURES
from tests.support.storage import BUCKET, Storage, serving

pytestmark = pytest.mark.slow

SMALL = Limits(chunk_bytes=8192, max_spanned=4096, least_unit=1, most_task=20_000)
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


def names_of(place: Path | str) -> list[str]:
    """Return the names of files that a dataset has, without the run that wrote them."""
    found = [*dataset_files(read_manifest(place_of(place))), MANIFEST, *GIVEN]
    return sorted(re.sub(r"-[0-9a-f]{12}(?=\.)", "", each) for each in found)


def test_what_is_written_is_what_is_here(dumps: Paths, storage: Storage, tmp_path: Path) -> None:
    place, here = f"s3://{BUCKET}/tables", tmp_path / "here"
    smfparse.convert(dumps, here)
    command.run("convert", f"s3://{BUCKET}/day/*.smf", "--to", place, code=4)  # some is damaged
    found, expected = read_manifest(place_of(place)), read_manifest(here)
    assert found["duplicates"] == expected["duplicates"] > 10
    for one, other in zip(found["inputs"], expected["inputs"], strict=True):
        assert one["identity"] == other["identity"]
    assert rows_of(place) == rows_of(here)
    assert names_of(place) == names_of(here)
    assert names_in(storage, "tables") == {*dataset_files(found), MANIFEST, *GIVEN}
    query = """SELECT wqst.qmgr, count(*), (SELECT count(*) FROM damage)
        FROM wqst JOIN record USING (source, record_no) GROUP BY ALL ORDER BY ALL"""
    counts = [smfparse.open(each).sql(query) for each in (place, here)]
    assert counts[0] == counts[1]
    assert counts[0].num_rows


def test_a_dataset_there_is_written_once(dumps: Paths, storage: Storage) -> None:
    place = f"s3://{BUCKET}/once"
    smfparse.convert(dumps[0], place)
    names = names_in(storage, "once")
    with pytest.raises(RequestError, match="already exists; a dataset at a URL is written once"):
        smfparse.convert(dumps[1], place)
    for line in ("convert {dump} --append --to", "convert {dump} --force --to", "compact"):
        done = command.run(*line.format(dump=dumps[1]).split(), place, code=2)
        assert "once; append to a dataset on a disk, and convert it to delta:" in done.stderr
    assert names_in(storage, "once") == names


def test_of_two_that_write_at_once_one_is_refused(
    dumps: Paths, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, put = f"s3://{BUCKET}/both", Url.put_new

    def later(self: Url, data: bytes) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(Url, "put_new", put)
            smfparse.convert(dumps[1], place)
        return put(self, data)

    monkeypatch.setattr(Url, "put_new", later)
    with pytest.raises(OutputError, match="another smfparse wrote there meanwhile"):
        smfparse.convert(dumps[0], place, partition=True)
    found = read_manifest(place_of(place))
    assert [each["name"] for each in found["inputs"]] == [str(dumps[1])]
    assert names_in(storage, "both") == {*dataset_files(found), MANIFEST, *GIVEN}


def test_what_a_killed_run_left_is_no_dataset_and_goes(
    dumps: Paths, storage: Storage, tmp_path: Path
) -> None:
    """A run that fails leaves nothing."""
    place, left = f"s3://{BUCKET}/left", "left/wqst/part-00000-0123456789ab.parquet"
    storage.put(left, b"half of a file")
    storage.put("left/wqst/mine.parquet", b"mine")
    with pytest.raises(InputError, match="convert was interrupted here"):
        smfparse.open(place)
    with pytest.raises(DamageError):
        smfparse.convert(dumps, place, strict=True)
    assert {*storage.keys("left/")} == {left, "left/wqst/mine.parquet"}
    smfparse.convert(dumps, place)
    assert left not in storage.keys("left/")
    assert "left/wqst/mine.parquet" in storage.keys("left/")
    smfparse.convert(dumps, tmp_path / "here")
    assert rows_of(place) == rows_of(tmp_path / "here")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_workers_write_there_as_here(dumps: Paths, storage: Storage, tmp_path: Path) -> None:
    place, here = f"s3://{BUCKET}/grown", tmp_path / "here"
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        smfparse.convert(f"s3://{BUCKET}/day", place, executor, limits=SMALL, partition=True)
    smfparse.convert(dumps, here, limits=SMALL)
    assert rows_of(place) == rows_of(here)
    found = read_manifest(place_of(place))
    assert names_in(storage, "grown") == {*dataset_files(found), MANIFEST, *GIVEN}


def test_what_a_url_does_not_take_is_said(dumps: Paths, storage: Storage) -> None:
    only, day = "only a dataset is written to a URL", f"s3://{BUCKET}/day/{dumps[0].name}"
    for line, code, said in (
        ("report log {dump} --output s3://b/x", 2, only),
        ("dashboard {dump} --output s3://b/x.html", 2, only),
        ("generate s3://b/x.smf", 2, only),
        ("anonymise {dump} --to s3://b/x.smf", 2, only),
        ("convert {dump} --format csv --to s3://b/x", 2, f"{only}; write other"),
        (f"info {day} {day}", 2, "named twice"),
        ("convert {dump} --to s3://nobody/tables", 8, "no such bucket; check the name"),
    ):
        done = command.run(*line.format(dump=dumps[0]).split(), code=code)
        assert said in " ".join(done.output.split())


_COMMITTED = """
import json, sys
from deltalake import DeltaTable, QueryBuilder
import smfparse
folder, place, *more = sys.argv[1:]
tables = ["record", "wqst"]
done = [smfparse.commit(folder, f"delta:{place}", tables=tables) for _ in range(2)]
for each in more:
    smfparse.convert(each, folder, append=True)
    done.append(smfparse.commit(folder, f"delta:{place}", tables=tables))
how = {"AWS_ALLOW_HTTP": "true"}
reader = QueryBuilder()  # what reads by Arrow with it may abort as the process ends
for name in tables:
    reader.register(name, DeltaTable(f"{place}/{name}", storage_options=how))
counts = {name: reader.execute(f"SELECT count(*) FROM {name}").read_all() for name in tables}
rows = {name: each.column(0)[0].as_py() for name, each in counts.items()}
print(json.dumps([rows, [{name: [each.added, each.stayed] for name, each in some.items()}
                         for some in done]]))
"""


@pytest.mark.long
def test_delta_takes_a_dataset_of_s3_and_copies_of_one_here(storage: Storage, tmp_path: Path):
    """By a process of its own: deltalake keeps others of its process from running meanwhile."""
    pytest.importorskip("deltalake")
    there, here = f"s3://{BUCKET}/delta", tmp_path / "mq"
    for folder, partition in ((there, False), (here, True)):
        smfparse.convert(FIXTURES / "qm60.smf", folder, types="signed", partition=partition)
    more = str(FIXTURES / "qm80.smf")
    for arguments in ([there, there], [str(here), f"s3://{BUCKET}/lake", more]):
        done = run([sys.executable, "-c", _COMMITTED, *arguments], capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        rows, changes = json.loads(done.stdout)
        tables = read_files(place_of(arguments[0]))["tables"]
        assert rows == {each: tables[each] for each in ("record", "wqst")}
        assert rows["wqst"] > 0
        for name, (added, stayed) in changes[0].items():
            assert (added > 0, stayed) == (True, 0)
            assert changes[1][name] == [0, added]
    assert changes[2]["wqst"][0] > 0
    assert changes[2]["wqst"][1] == changes[0]["wqst"][0]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # SQLite, by sqlalchemy
def test_iceberg_has_copies_where_its_warehouse_is_elsewhere(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogs = pytest.importorskip("pyiceberg.catalog.sql")
    settings = {
        "uri": f"sqlite:///{tmp_path / 'lake.db'}",
        "warehouse": f"s3://{BUCKET}/warehouse",
        "s3.endpoint": storage.endpoint,
    }
    opened = partial(catalogs.SqlCatalog, **settings)
    monkeypatch.setattr("smfparse.writing.iceberg._catalog", opened)
    folder, target = tmp_path / "mq", "iceberg:stored.db"
    smfparse.convert(FIXTURES / "qm60.smf", folder, types="signed", partition=True)
    first = smfparse.commit(folder, target, tables="wqst")["wqst"]
    assert (first.added > 0, first.stayed) == (True, 0)
    smfparse.convert(FIXTURES / "qm80.smf", folder, append=True)
    second = smfparse.commit(folder, target, tables="wqst")["wqst"]
    assert (second.added > 0, second.removed, second.stayed) == (True, 0, first.added)
    smfparse.compact(folder)
    smfparse.commit(folder, target, tables="wqst")
    with opened("stored") as catalog:
        found = catalog.load_table("db.wqst").scan()
        rows = found.to_arrow().num_rows
        assert all("/wqst/data/mq/date=" in each.file.file_path for each in found.plan_files())
    assert rows == read_files(folder)["tables"]["wqst"]


def test_a_copy_is_as_it_was_written(storage: Storage, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"other")
    file = LakeFile(tmp_path / "file", "file.parquet", hashlib.sha256(b"some").hexdigest())
    with pytest.raises(InputError, match="changed since it was written"):
        file.copy(Url.of(f"s3://{BUCKET}/copies/file"))
    assert not storage.keys("copies/")
