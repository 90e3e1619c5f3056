"""Fixtures that the tests of several modules use."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import launched
from tests.support.builders import Write, put
from tests.support.command import run
from tests.support.corpora import Corpora, Corpus
from tests.support.paths import SMF
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.searching import spread
from tests.support.storage import at_port


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", metavar="K/N", help="run part K (1 to N) of N equal parts")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests of real files slow, some of those that are sampled long; keep those of a part."""
    sampled = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if _is_of_real_data(item):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("sampled"):
            sampled[item.nodeid.partition("[")[0]].append(item)
    for each in sampled.values():
        (count,) = next(each[0].iter_markers("sampled")).args
        for item in {*each} - {*spread(each, count)}:
            item.add_marker(pytest.mark.long)
    if part := config.getoption("--part"):
        number, parts = map(int, part.split("/"))
        items[:] = [
            each for each in items if zlib.crc32(each.nodeid.encode()) % parts == number % parts
        ]


def _is_of_real_data(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    paths = [each for each in call.params.values() if isinstance(each, Path)] if call else []
    return needs_real_data.mark in item.iter_markers() or any(
        REAL_DATA in each.parents for each in paths
    )


@pytest.fixture(scope="session", autouse=True)
def _signals_are_heard() -> None:
    """A job in the background, or of nohup, ignores some, and so would all that tests start."""
    for name, heard in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, heard)


@pytest.fixture(scope="session", autouse=True)
def _no_disk_to_wait_for() -> Iterator[None]:
    """What tests write need not outlive a power cut, and waiting for the disk takes longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda number: None)
        yield


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, here and in processes that are started."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands find nothing: rules take most of the time that a small input needs."""
    monkeypatch.setattr("smfparse.advice.running.wanted", lambda limits: {})


@pytest.fixture(scope="session")
def storage_port() -> int:
    """The port on which processes of Spark look for object storage: they are started with that."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory, storage_port: int) -> Iterator[Any]:
    """Return a Spark session, the only one of the tests. In CI there is Java."""
    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        assert not os.environ.get("CI"), "Spark needs Java; .ci/run installs it"
        pytest.skip("Spark needs Java")
    sql = pytest.importorskip("pyspark.sql")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with at_port(storage_port):
        session = (
            sql.SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .config("spark.sql.codegen.wholeStage", "false")  # compiling takes longer than reading
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("spark")))
            .getOrCreate()
        )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpora]:
    """Inputs that tests share and do not change, by name."""
    with ExitStack() as opened:
        yield Corpora(tmp_path_factory.mktemp("corpora"), opened)


@pytest.fixture
def corpus(request: pytest.FixtureRequest, corpora: Corpora) -> Corpus:
    """The corpus that `of_corpora` names."""
    return corpora[request.param]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for tests that `needs_chromium` marks."""
    with launched() as found:
        yield found


@pytest.fixture(scope="session")
def whole_dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "tables"
    assert run("convert", SMF, "--to", folder).exit_code == 0
    return folder


@pytest.fixture
def folder(whole_dataset: Path, tmp_path: Path) -> Path:
    """A copy of it, which may be spoiled."""
    return Path(shutil.copytree(whole_dataset, tmp_path / "tables"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(*records: bytes, name: str = "records.smf") -> Path:
        return put(tmp_path / name, *records)

    return written
