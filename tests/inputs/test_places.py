"""Files in object storage are read as those of this machine, whatever the connection does."""

from __future__ import annotations

import gzip
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.decoding.arrow import wanted_tables
from smfparse.errors import InputError
from smfparse.reading import objects, places
from smfparse.reading.places import Url
from tests.support import command
from tests.support.mixed_records import overlapping
from tests.support.storage import BUCKET, Faults, Storage, faulty, serving

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dumps that overlap, of several systems, plain and packed; the first has damage."""
    place = tmp_path_factory.mktemp("places")
    one, two = overlapping(place, 500, 4, range(250, 300))
    middle = one.stat().st_size // 2
    data = one.read_bytes()
    one.write_bytes(data[:middle] + random.Random(1).randbytes(300) + data[middle:])
    second = two.read_bytes()
    two.unlink()
    (place / "two.smf.gz").write_bytes(gzip.compress(second))
    (place / "notes.txt").write_text("no dump")
    (place / ".hidden.smf").write_bytes(second)
    return place


@pytest.fixture(scope="module")
def storage(folder: Path) -> Iterator[Storage]:
    with serving() as found:
        for each in folder.iterdir():
            found.put(f"day/{each.name}", each)
        yield found


@pytest.fixture
def broken(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Iterator[Faults]:
    """What the connections to the storage do meanwhile."""
    monkeypatch.setattr(places, "_FIRST", 2048)
    monkeypatch.setattr(places, "_MOST", 8192)
    monkeypatch.setattr(objects, "RETRIES", 0)
    with faulty(storage) as (url, faults):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        yield faults


def rows_of(data: smfparse.SmfData, start: str) -> dict[str, Any]:
    """Return the rows of all tables, read at once, without `start` in front of their sources."""
    found: dict[str, list[dict[str, Any]]] = {}
    for table, batch in data.inputs.batches(wanted_tables(data.tables)):
        found.setdefault(table, []).extend(batch.to_pylist())
    for each in itertools.chain.from_iterable(found.values()):
        assert each["source"].startswith(start)
        for column in ("source", "task_source"):
            if each.get(column) is not None:
                each[column] = each[column].removeprefix(start)
    return found


def test_rows_are_those_of_the_same_files_here(folder: Path, storage: Storage) -> None:
    for pattern in ("", "/one.smf", "/two.smf.gz", "/*.*[zf]", "/t*.g?", "/[!t]*.smf"):
        here = smfparse.open(f"{folder}{pattern}")
        there = smfparse.open(f"s3://{BUCKET}/day{pattern}")
        assert rows_of(there, f"s3://{BUCKET}/day") == rows_of(here, str(folder))
        assert there.inputs.duplicates == here.inputs.duplicates
        assert [each[1:] for each in there.damage] == [each[1:] for each in here.damage]
        if pattern == "":
            assert here.inputs.duplicates > 40
            assert "no SMF records" in there.damage[0].reason + there.damage[-1].reason
    chosen = smfparse.Selection.of(system="SYS1", type="116")
    query = "SELECT qmgr, count(*) n, sum(putn) p FROM wqst GROUP BY ALL ORDER BY ALL"
    expected = smfparse.open(folder, chosen).sql(query)
    assert smfparse.open(f"s3://{BUCKET}/day", chosen).sql(query) == expected
    assert expected.num_rows


def test_what_is_not_there_is_named(storage: Storage) -> None:
    for name, said in {
        "s3://nobody/x.smf": "no such bucket; check the name",
        "s3://nobody/*.smf": "no such bucket; check the name",
        f"s3://{BUCKET}/day/none.smf": "no such file",
        f"s3://{BUCKET}/none/*": "no file matches the pattern",
        f"s3://{BUCKET}/day/notes.txt": "no SMF records in it",
    }.items():
        done = command.run("info", name)
        assert (done.exit_code, name in done.output, said in done.output) == (8, True, True), name


def test_denied_and_unreachable_say_what_to_do(
    broken: Faults, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken.deny = True
    name = f"s3://{BUCKET}/day/one.smf"
    with pytest.raises(InputError, match="access denied; check AWS_ACCESS_KEY_ID"):
        smfparse.open(name)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    for each in ("SHARED_CREDENTIALS", "CONFIG"):
        monkeypatch.setenv(f"AWS_{each}_FILE", str(tmp_path / "none"))
    with pytest.raises(InputError, match="no credentials were found; set AWS_ACCESS_KEY_ID"):
        smfparse.open(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"cannot be reached; check the name, and AWS_ENDPOINT"):
        smfparse.open(name)


def test_a_broken_connection_is_made_again(
    broken: Faults, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "RETRIES", 2)
    opened = smfparse.open(f"s3://{BUCKET}/day/one.smf")
    broken.kill = 1
    assert rows_of(opened, f"s3://{BUCKET}/day/") == rows_of(
        smfparse.open(folder / "one.smf"), f"{folder}/"
    )
    assert broken.kill == 0


@pytest.mark.parametrize("fault", ["kill", "short"])
@pytest.mark.parametrize("name", ["one.smf", "two.smf.gz"])
def test_what_came_before_a_connection_ended_is_kept(
    name: str, fault: str, broken: Faults, folder: Path
) -> None:
    """So is what came before a response that is too short."""
    opened = smfparse.open(f"s3://{BUCKET}/day/{name}")
    broken.after = 2048
    setattr(broken, fault, -1)
    kept = opened.arrow("record", ["record_no", "record_offset", "type", "smf_time"])
    whole = smfparse.open(folder / name).arrow("record", kept.column_names)
    assert 0 < kept.num_rows < whole.num_rows
    assert kept == whole.slice(0, kept.num_rows)
    assert ", at byte 2,048" in opened.damage[-1].reason
    assert ", at byte 2,048" in command.run("info", f"s3://{BUCKET}/day/{name}", code=4).output


def test_of_a_long_file_only_some_ranges_are_held(broken: Faults, folder: Path) -> None:
    place = Url.of(f"s3://{BUCKET}/day/one.smf")
    whole = (folder / "one.smf").read_bytes()
    with place.open() as file:
        assert file.read(100) == whole[:100]
        assert broken.seen == [(0, 2047)]
        assert file.read() == whole[100:]
        file.seek(-50, 2)
        assert file.read() == whole[-50:]
        assert file.tell() == len(whole)
    assert sorted({start for start, _ in broken.seen})[:3] == [0, 2048, 2048 * 5]
