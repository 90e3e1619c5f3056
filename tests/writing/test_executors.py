"""A dataset that an executor writes is the one that a process writes, whatever the executor is."""

from __future__ import annotations

import json
import multiprocessing
import random
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.errors import DamageError, InputError
from smfparse.limits import Limits
from smfparse.reading import input as reading_input
from smfparse.store import MANIFEST
from tests.support import command
from tests.support.builders import UTC_NOON, foreign_record
from tests.support.engines import recipe
from tests.support.mixed_records import many

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

SMALL = Limits(chunk_bytes=8192, max_spanned=4096, least_unit=1, most_task=40_000)
ENGINES = ("processes", "dask", "ray", "spark")


def header(hour: int) -> bytes:
    """The record with which a dump begins."""
    return foreign_record(2, UTC_NOON.replace(tzinfo=None, hour=hour))


@cache
def parts_of_dumps(seed: int) -> list[bytes]:
    return [b"".join(each.pieces()) for each in many(400, seed)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the files are."""
    return tmp_path_factory.mktemp("dumps")


@pytest.fixture(scope="module")
def sound(folder: Path) -> list[Path]:
    """Two files; the second has records of the first, and a dump of its own twice."""
    one, two = parts_of_dumps(1), parts_of_dumps(2)
    paths = [folder / "one.smf", folder / "two.smf"]
    paths[0].write_bytes(header(1) + b"".join(one))
    again = header(3) + b"".join(two)
    paths[1].write_bytes(header(2) + b"".join(one[200:300]) + again + again)
    return paths


@pytest.fixture(scope="module")
def inputs(sound: list[Path], folder: Path) -> list[Path]:
    """The same, and a file with bytes between its records that are none."""
    records = parts_of_dumps(3)
    middle = random.Random(1).randbytes(300)
    path = folder / "damaged.smf"
    path.write_bytes(b"".join([*records[:200], middle, *records[200:]]))
    return [*sound, path]


@pytest.fixture(scope="module")
def one(inputs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset that one process writes of them."""
    target = tmp_path_factory.mktemp("one") / "tables"
    assert smfparse.convert(inputs, target, limits=SMALL).damage
    return target


def dask() -> Any:
    distributed = pytest.importorskip("distributed")
    return distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None)


@pytest.fixture(params=ENGINES)
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "processes":
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as found:
            yield found
    elif request.param == "dask":
        with dask() as client:
            yield client.get_executor()
    elif request.param == "ray":
        ray = pytest.importorskip("ray")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield recipe("RayExecutor")["RayExecutor"]()
        ray.shutdown()
    else:
        session = request.getfixturevalue("spark")
        yield recipe("SparkExecutor")["SparkExecutor"](session)


def rows_of(data: smfparse.SmfData) -> dict[str, Any]:
    return {table: data.arrow(table) for table in data.tables}


def noted(folder: Path) -> dict[str, Any]:
    """Return what the manifest has that does not depend on how many files were written."""
    manifest = json.loads((folder / MANIFEST).read_text())
    of_files = (
        "files",
        "checksums",
        "records",
        "rows",
        "record_days",
        "next",
    )
    return {key: value for key, value in manifest.items() if key not in of_files}


def test_an_engine_writes_what_one_process_writes(
    executor: Executor, inputs: list[Path], one: Path, tmp_path: Path
) -> None:
    other = smfparse.convert(inputs, tmp_path / "other", executor, limits=SMALL)
    assert rows_of(other) == rows_of(smfparse.open(one))
    assert noted(tmp_path / "other") == noted(one)
    assert sum(each["duplicates"] for each in noted(one)["inputs"]) > 400
    assert len(list((tmp_path / "other" / "record").iterdir())) > 4


class Here(Executor):
    """Does work at once."""

    def submit(self, work: Callable[..., Any], /, *call: Any, **names: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*call, **names))
        except Exception as error:
            future.set_exception(error)
        return future


class Twice(Here):
    """Does all work twice, the second time before the first is looked at, as Spark may."""

    def submit(self, work: Callable[..., Any], /, *call: Any, **names: Any) -> Future[Any]:
        super().submit(work, *call, **names).result()
        return super().submit(work, *call, **names)


def test_work_that_is_done_twice_counts_once(inputs: list[Path], one: Path, tmp_path: Path) -> None:
    other = smfparse.convert(inputs, tmp_path / "other", Twice(), limits=SMALL)
    assert rows_of(other) == rows_of(smfparse.open(one))
    assert noted(tmp_path / "other") == noted(one)


def test_who_asks_reads_no_record_of_sound_files(
    sound: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        executor.submit(len, ()).result()
        monkeypatch.delattr(reading_input, "read_chunks")
        found = smfparse.convert(sound, tmp_path / "tables", executor, limits=SMALL)
    assert found.arrow("record").num_rows > 500


def test_what_is_added_by_an_executor_is_what_one_process_adds(
    inputs: list[Path], tmp_path: Path
) -> None:
    for name, executor in (("one", None), ("other", ThreadPoolExecutor(2))):
        smfparse.convert(inputs[:1], tmp_path / name, limits=SMALL)
        smfparse.convert(inputs, tmp_path / name, executor, append=True, limits=SMALL)
    assert rows_of(smfparse.open(tmp_path / "other")) == rows_of(smfparse.open(tmp_path / "one"))
    assert noted(tmp_path / "other") == noted(tmp_path / "one")


def test_paths_do_not_depend_on_where_a_worker_was_started(
    sound: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        monkeypatch.chdir(elsewhere)
        executor.submit(len, ()).result()
        monkeypatch.chdir(sound[0].parent)
        found = smfparse.convert("one.smf", "tables", executor, limits=SMALL)
        assert set(found.arrow("record")["source"].to_pylist()) == {"one.smf"}


def test_damage_is_the_error_that_it_is_in_one_process(inputs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(DamageError, match=r"one\.smf: record 3"):
        smfparse.convert(inputs, tmp_path / "tables", Here(), strict=True, limits=SMALL)
    assert not (tmp_path / "tables").exists()


class Failing(Here):
    def submit(self, work: Callable[..., Any], /, *call: Any, **names: Any) -> Future[Any]:
        return super().submit(lambda: exec("raise RuntimeError('no worker is left\\nat all')"))


def test_an_executor_that_fails_is_an_input_error(inputs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        smfparse.convert(inputs, tmp_path / "tables", Failing(), limits=SMALL)
    assert str(raised.value) == "the executor failed: RuntimeError: no worker is left"
    assert not (tmp_path / "tables").exists()


# The command --------------------------------------------------------------------------------------


def test_the_command_takes_an_executor(sound: list[Path], tmp_path: Path) -> None:
    named = ("--executor", "concurrent.futures:ThreadPoolExecutor")
    done = command.run("convert", sound[0], "--to", tmp_path / "tables", *named)
    assert done.exit_code == 4, done.output  # blocks are damaged


@pytest.mark.parametrize("name", ["nothing", "no.such:module", "os:no_such", ":x"])
def test_an_executor_that_is_not_there_is_named(
    name: str, sound: list[Path], tmp_path: Path
) -> None:
    done = command.run("convert", sound[0], "--to", tmp_path / "tables", "--executor", name)
    assert done.exit_code == 2
    assert "PYTHONPATH" in done.output


def test_an_executor_is_for_a_dataset(sound: list[Path], tmp_path: Path) -> None:
    named = ("--format", "csv", "--executor", "concurrent.futures:ThreadPoolExecutor")
    done = command.run("convert", sound[0], "--to", tmp_path / "tables", *named)
    assert done.exit_code == 2
    assert "--executor are for a dataset" in done.output
