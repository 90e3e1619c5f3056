"""A dataset that an executor writes is the one that a process writes, whatever the executor is."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.errors import DamageError, InputError
from smfparse.limits import Limits
from smfparse.reading import input as reading_input
from smfparse.store import read_manifest
from tests.support import command
from tests.support.builders import UTC_NOON, foreign_record
from tests.support.engines import recipe
from tests.support.mixed_records import many

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

SMALL = Limits(chunk_bytes=8192, max_spanned=4096, least_unit=1, most_task=60_000)
OF_FILES = ("files", "checksums", "records", "rows", "record_days", "next")
"""What of a manifest depends on how many files were written."""


def header(hour: int) -> bytes:
    return foreign_record(2, UTC_NOON.replace(tzinfo=None, hour=hour))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files: two has records of one, and a dump of its own twice; the last is damaged."""
    folder = tmp_path_factory.mktemp("dumps")
    one, two, three = ([b"".join(each.pieces()) for each in many(200, seed)] for seed in (1, 2, 3))
    parts = {
        "one": [header(1), *one],
        "two": [header(2), *one[100:150], *(2 * [header(3), *two])],
        "three": [*three[:100], random.Random(1).randbytes(300), *three[100:]],
    }
    for name, records in parts.items():
        (folder / f"{name}.smf").write_bytes(b"".join(records))
    return [folder / f"{name}.smf" for name in parts]


@pytest.fixture(scope="module")
def one(inputs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("one") / "tables"
    assert smfparse.convert(inputs, target, limits=SMALL).damage
    return target


class Twice(Executor):
    """Does all work at once, and twice, as Spark may."""

    def submit(self, work: Callable[..., Any], /, *call: Any, **names: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            work(*call, **names)
            future.set_result(work(*call, **names))
        except Exception as error:
            future.set_exception(error)
        return future


class Failing(Twice):
    def submit(self, work: Callable[..., Any], /, *call: Any, **names: Any) -> Future[Any]:
        return super().submit(lambda: exec("raise RuntimeError('no worker is left\\nat all')"))


@pytest.fixture(params=("threads", "processes", "dask", "ray", "spark"))
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    elif request.param == "processes":
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as found:
            yield found
    elif request.param == "dask":
        distributed = pytest.importorskip("distributed")
        one = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        with distributed.Client(**one) as client:
            yield client.get_executor()
    elif request.param == "ray":
        ray = pytest.importorskip("ray")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield recipe("RayExecutor")["RayExecutor"]()
        ray.shutdown()
    else:
        session = request.getfixturevalue("spark")
        yield recipe("SparkExecutor")["SparkExecutor"](session)


def assert_same(folder: Path, other: Path) -> None:
    one, two = smfparse.open(folder), smfparse.open(other)
    for table in one.tables:
        assert one.arrow(table) == two.arrow(table), table
    first, second = (
        {key: value for key, value in read_manifest(each).items() if key not in OF_FILES}
        for each in (folder, other)
    )
    assert first == second


@pytest.mark.long
def test_an_executor_writes_what_one_process_writes(
    executor: Executor, inputs: list[Path], one: Path, tmp_path: Path
) -> None:
    smfparse.convert(inputs, tmp_path / "other", executor, limits=SMALL)
    assert_same(tmp_path / "other", one)
    assert sum(each["duplicates"] for each in read_manifest(one)["inputs"]) > 200
    assert len(list((tmp_path / "other" / "record").iterdir())) > 4


@pytest.mark.long
def test_an_executor_that_does_work_twice_adds_what_one_process_adds(
    inputs: list[Path], tmp_path: Path
) -> None:
    for name, executor in (("one", None), ("other", Twice())):
        smfparse.convert(inputs[:1], tmp_path / name, limits=SMALL)
        smfparse.convert(inputs, tmp_path / name, executor, append=True, limits=SMALL)
    assert_same(tmp_path / "other", tmp_path / "one")


def test_workers_elsewhere_read_all_records_of_sound_files_by_the_paths_of_the_user(
    inputs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        monkeypatch.chdir(tmp_path)
        executor.submit(len, ()).result()
        monkeypatch.chdir(inputs[0].parent)
        monkeypatch.delattr(reading_input, "read_chunks")  # this process reads no record
        found = smfparse.convert("one.smf", tmp_path / "tables", executor, limits=SMALL)
    assert found.arrow("record").num_rows > 150
    assert set(found.arrow("record")["source"].to_pylist()) == {"one.smf"}


def test_damage_and_failures_are_errors_and_leave_nothing(
    inputs: list[Path], tmp_path: Path
) -> None:
    target = tmp_path / "tables"
    with pytest.raises(DamageError, match=r"one\.smf: record 3"):
        smfparse.convert(inputs, target, Twice(), strict=True, limits=SMALL)
    with pytest.raises(InputError) as raised:
        smfparse.convert(inputs, target, Failing(), limits=SMALL)
    assert str(raised.value) == "the executor failed: RuntimeError: no worker is left"
    assert not target.exists()
    asked = ("convert", inputs[0], "--to", target, "--executor")
    for name in ("nothing", "no.such:module", "os:no_such", ":x"):
        done = command.run(*asked, name)
        assert (done.exit_code, "PYTHONPATH" in done.output) == (2, True), name
    done = command.run(*asked, "concurrent.futures:ThreadPoolExecutor")
    assert done.exit_code == 4, done.output  # blocks are damaged
