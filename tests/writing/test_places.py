"""A dataset in object storage is the one that is written on this machine."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.errors import InputError, OutputError, RequestError
from smfparse.limits import Limits
from smfparse.store import MANIFEST, UrlFolder
from tests.support import command
from tests.support.mixed_records import overlapping
from tests.support.storage import BUCKET, Storage, serving

SMALL = Limits(chunk_bytes=8192, max_spanned=4096, least_unit=1, most_task=60_000)


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two dumps that overlap."""
    return overlapping(tmp_path_factory.mktemp("dumps"), 400, 5, range(200, 300))


@pytest.fixture(scope="module")
def storage(dumps: list[Path]) -> Iterator[Storage]:
    with serving() as found:
        for each in dumps:
            found.put(f"day/{each.name}", each)
        yield found


def rows_of(data: smfparse.SmfData) -> dict[str, Any]:
    """Return the rows of all tables, without where the files of their sources are."""
    found = {}
    for table in data.tables:
        rows = data.arrow(table).to_pylist()
        for each in rows:
            for name in {"source", "task_source"} & each.keys():
                each[name] = (each[name] or "").rpartition("/")[2]
        found[table] = sorted(rows, key=str)
    return found


def manifest(storage: Storage, name: str) -> dict[str, Any]:
    body = storage.client.get_object(Bucket=BUCKET, Key=f"{name}/{MANIFEST}")["Body"]
    return json.loads(body.read())  # type: ignore[no-any-return]


def test_what_is_written_and_added_is_what_is_written_here(
    dumps: list[Path], storage: Storage, tmp_path: Path
) -> None:
    place = f"s3://{BUCKET}/tables"
    for each in dumps:
        smfparse.convert(each, tmp_path / "here", append=True, partition=True)
        name = f"s3://{BUCKET}/day/{each.name}"
        done = command.run("convert", name, "--to", place, "--append", "--partition")
        assert done.exit_code == 4, done.output  # blocks are damaged
    here = json.loads((tmp_path / "here" / MANIFEST).read_text())
    there = manifest(storage, "tables")
    assert there["duplicates"] == here["duplicates"] > 50
    assert there["files"] == here["files"]
    assert [each["identity"] for each in there["inputs"]] == [
        each["identity"] for each in here["inputs"]
    ]
    found = rows_of(smfparse.open(place))
    assert found == rows_of(smfparse.open(tmp_path / "here"))
    files = (each for each in (tmp_path / "here").rglob("*") if each.is_file())
    named = {each.relative_to(tmp_path / "here").as_posix() for each in files}
    written = {each.removeprefix("tables/") for each in storage.keys("tables/")}
    assert written == named
    again = command.run("convert", f"s3://{BUCKET}/day/*.smf", "--to", place, "--append")
    assert again.output.count("is in the dataset already") == 2
    query = (
        "SELECT wqst.qmgr, sum(putn) FROM wqst JOIN record USING (source, record_no) GROUP BY ALL"
    )
    for asked in (query, "SELECT count(*) FROM damage"):
        rows = smfparse.open(place).sql(asked).to_pylist()
        assert sorted(map(str, rows)) == sorted(
            map(str, smfparse.open(tmp_path / "here").sql(asked).to_pylist())
        )


@pytest.mark.parametrize(
    "command_line",
    [
        "report log {dump} --output s3://b/x",
        "dashboard {dump} --output s3://b/x.html",
        "generate s3://b/x.smf",
        "anonymise {dump} --to s3://b/x.smf",
    ],
)
def test_what_is_no_dataset_is_not_written_to_a_url(command_line: str, dumps: list[Path]) -> None:
    done = command.run(*command_line.format(dump=dumps[0]).split())
    assert done.exit_code == 2
    assert "only a dataset is written to a URL" in " ".join(done.output.split())


def test_a_dataset_that_is_there_is_not_replaced_by_accident(
    dumps: list[Path], storage: Storage
) -> None:
    place = f"s3://{BUCKET}/once"
    smfparse.convert(dumps[0], place)
    before = manifest(storage, "once")
    with pytest.raises(RequestError, match="a dataset is there already"):
        smfparse.convert(dumps[1], place)
    assert manifest(storage, "once") == before
    smfparse.convert(dumps[1], place, force=True)
    assert [each["bytes"] for each in manifest(storage, "once")["inputs"]] == [
        dumps[1].stat().st_size
    ]
    done = command.run("convert", dumps[0], "--to", f"s3://{BUCKET}/x", "--format", "csv")
    assert done.exit_code == 2
    assert "a URL takes a dataset" in done.output


def test_a_dataset_there_is_compacted_as_one_here(
    dumps: list[Path], storage: Storage, tmp_path: Path
) -> None:
    place = f"s3://{BUCKET}/grown"
    for each in dumps:
        for folder in (place, tmp_path / "here"):
            smfparse.convert(each, folder, append=True, partition=True)
    before = rows_of(smfparse.open(place))
    done = command.run("compact", place)
    assert done.exit_code == 0, done.output
    smfparse.compact(tmp_path / "here")
    assert rows_of(smfparse.open(place)) == before == rows_of(smfparse.open(tmp_path / "here"))
    files = (each for each in (tmp_path / "here").rglob("*") if each.is_file())
    named = {each.relative_to(tmp_path / "here").as_posix() for each in files}
    assert {each.removeprefix("grown/") for each in storage.keys("grown/")} == named
    assert "nothing to put together" in command.run("compact", place).output


@pytest.mark.parametrize("last", [MANIFEST, "record/part-00001.parquet"])
def test_a_run_that_is_ended_changes_nothing_and_the_next_one_clears_up(
    last: str, dumps: list[Path], storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"ended-{last[:4]}"
    place = f"s3://{BUCKET}/{name}"
    smfparse.convert(dumps[0], place)
    before = rows_of(smfparse.open(place))

    def killed(self: UrlFolder, source: str, to: str) -> None:
        if to == last:
            raise OSError(None, "the storage is gone")
        original(self, source, to)

    original = UrlFolder.move
    with monkeypatch.context() as patch:
        patch.setattr(UrlFolder, "move", killed)
        patch.setattr(UrlFolder, "publish", killed)
        patch.setattr(UrlFolder, "remove", lambda *_: None)  # as if nothing ran any more
        with pytest.raises(OutputError, match="the storage is gone"):
            smfparse.convert(dumps[1], place, append=True)
    assert any(".partial" in each for each in storage.keys(f"{name}/"))
    assert rows_of(smfparse.open(place)) == before
    smfparse.convert(dumps[1], place, append=True)
    assert not any(".partial" in each for each in storage.keys(f"{name}/"))
    assert len(storage.keys(f"{name}/record/")) == 2


def test_an_unfinished_dataset_and_another_writer_are_named(
    dumps: list[Path], storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.put("left/.partial/record/part-00000.parquet", b"x")
    with pytest.raises(InputError, match="convert was interrupted here"):
        smfparse.open(f"s3://{BUCKET}/left")
    smfparse.convert(dumps[0], f"s3://{BUCKET}/left")
    before = UrlFolder.new

    def new(self: UrlFolder, name: str) -> Any:
        if name.endswith(MANIFEST):
            storage.put(f"left/{MANIFEST}", b"{}")
        return before(self, name)

    monkeypatch.setattr(UrlFolder, "new", new)
    with pytest.raises(OutputError, match="another smfparse wrote there meanwhile"):
        smfparse.convert(dumps[1], f"s3://{BUCKET}/left", append=True)


def test_a_bucket_that_is_not_there_is_named(dumps: list[Path], storage: Storage) -> None:
    done = command.run("convert", dumps[0], "--to", "s3://nobody/tables")
    assert done.exit_code == 8
    assert "s3://nobody/tables" in done.output
    assert "no such bucket; check the name" in done.output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_workers_read_and_write_the_same_urls(
    dumps: list[Path], storage: Storage, tmp_path: Path
) -> None:
    place = f"s3://{BUCKET}/by-workers"
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        there = smfparse.convert(f"s3://{BUCKET}/day", place, executor, limits=SMALL)
    here = smfparse.convert(dumps, tmp_path / "here", limits=SMALL)
    assert rows_of(there) == rows_of(here)
    assert len(storage.keys("by-workers/record/")) > 2
