"""The processes that decode: they end whatever happens, and what went wrong is said."""

from __future__ import annotations

import errno
import gzip
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from smfparse.decoding.decoder import Decoder
from smfparse.errors import InputError, OutputError, RequestError
from smfparse.inputs import parallel, workers
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import LIMITS
from smfparse.query.catalog import Catalog
from smfparse.store.targets import PARTIAL
from smfparse.writing.dataset import write_dataset
from tests.inputs.test_ranges import CAPACITY, MIXED, small_chunks
from tests.support.builders import put
from tests.support.command import run
from tests.support.mixed_records import many, written
from tests.support.searching import of_many, some

SLOW = """
import os, pathlib, sys, time
from smfparse.decoding import decoder as decode
from smfparse.cli import main
from smfparse.limits import LIMITS

vars(LIMITS).update(chunk_bytes=8192, max_spanned=4096, least_unit=1, most_unit=16384)
add = decode.Decoder._add

def slow(self, chunk):
    pathlib.Path(os.environ["AT_WORK"], str(os.getpid())).touch()
    time.sleep(0.2)
    add(self, chunk)

decode.Decoder._add = slow
main(sys.argv[1:])
"""
"""smfparse for small files, each part of which takes its time; it notes which processes decode."""
Ended = Callable[..., bool]
Lasting = Callable[..., "subprocess.Popen[str]"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="no copies and no groups of processes"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of many small parts; what is patched here is so in the processes as well."""
    small_chunks(monkeypatch, CAPACITY)
    monkeypatch.setitem(vars(LIMITS), "most_unit", CAPACITY)
    return put(tmp_path / "dump.smf", written(many(400, 1))[0])


@pytest.fixture
def ended(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Ended:
    """Say whether processes were started, all have ended and, but for `files`, left no file."""
    made: list[Any] = []

    class Watched(ProcessPoolExecutor):
        def submit(self, *arguments: Any, **options: Any) -> Any:
            future = super().submit(*arguments, **options)
            made.extend((self._processes or {}).values())
            return future

    monkeypatch.setattr(workers, "ProcessPoolExecutor", Watched)

    def have_ended(*, files: bool = False) -> bool:
        left = not files and list(temporary.iterdir())
        return bool(made) and not left and not any(each.is_alive() for each in made)

    return have_ended


def in_processes_only(monkeypatch: pytest.MonkeyPatch, what: Callable[[], None]) -> None:
    """Let something happen at each chunk of a process that is not this one."""
    here, add = os.getpid(), Decoder._add

    def adding(self: Decoder, chunk: Any) -> None:
        if os.getpid() != here:
            what()
        add(self, chunk)

    monkeypatch.setattr(Decoder, "_add", adding)


def test_rows_that_nobody_wants_any_more_leave_no_process_and_no_file(
    dump: Path, temporary: Path, ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder goes after the processes: one of them might make a file in it meanwhile."""
    remove, removed = shutil.rmtree, []

    def removing(path: Path, **options: Any) -> None:
        removed.append(ended(files=True))
        remove(path, **options)

    monkeypatch.setattr(shutil, "rmtree", removing)
    inputs = open_inputs([dump], ReadOptions(jobs=3))
    found = inputs.batches(MIXED)
    next(found)
    assert list(temporary.iterdir())
    assert inputs.arrow("record").num_rows == 400  # meanwhile
    found.close()  # type: ignore[attr-defined]
    assert removed[-1]
    with Catalog(open_inputs([dump], ReadOptions(jobs=3))) as catalog:
        assert catalog.arrow("SELECT record_no FROM wqst LIMIT 1").num_rows == 1
    assert ended()


@pytest.mark.long
def test_a_script_without_a_guard_is_not_run_again_by_the_processes(dump: Path) -> None:
    script = dump.with_name("script.py")
    script.write_text(f"""
import threading
import smfparse
from smfparse.limits import LIMITS
print("begun")
vars(LIMITS).update(chunk_bytes={CAPACITY}, max_spanned={CAPACITY}, least_unit=1)
threading.Thread(target=threading.Event().wait, daemon=True).start()  # so none is a copy
rows = [smfparse.open({str(dump)!r}, jobs=jobs).arrow("wqst") for jobs in (1, 3)]
print(rows[0].num_rows > 0, rows[0].equals(rows[1]), __file__ == {str(script)!r})
""")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("begun\nTrue True True\n", "")


def packed(dump: Path) -> list[Path]:
    """Two compressed copies: queries share the work only of compressed files."""
    copies = [dump.with_name(f"{number}.smf.gz") for number in (1, 2)]
    for each in copies:
        each.write_bytes(gzip.compress(dump.read_bytes()))
    return copies


def vanish() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@of_many("moment", some([1, 2, 5, 13, 34, 10_000], 2))
def test_a_process_that_is_killed_at_any_chunk_leaves_no_dataset_or_all_rows(
    moment: int, dump: Path, ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = multiprocessing.get_context("fork").Value("i", 0)

    def step() -> None:
        with count.get_lock():
            count.value += 1
            now = count.value
        if now == moment:
            vanish()

    in_processes_only(monkeypatch, step)
    folder = dump.with_name("tables")
    try:
        write_dataset(open_inputs([dump], ReadOptions(jobs=3)), folder)
    except InputError:
        assert not folder.exists()
    rows = open_inputs([folder]).arrow("record").num_rows if folder.exists() else None
    assert rows == (None if count.value >= moment else 400)
    assert ended()


def test_a_process_that_is_ended_is_an_error_that_says_what_to_try(
    dump: Path, ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        in_processes_only(patch, vanish)
        with pytest.raises(InputError, match=r"was killed.*try jobs=1"):
            open_inputs([dump], ReadOptions(jobs=3)).arrow("record")
    with monkeypatch.context() as patch:
        in_processes_only(patch, lambda: os._exit(1))
        found = run("sql", *packed(dump), "SELECT count(*) FROM record", "--jobs=3")
    assert (found.exit_code, "try --jobs 1" in found.stderr) == (8, True)

    def fail() -> None:
        raise InputError(f"{dump}: Input/output error")

    in_processes_only(monkeypatch, fail)
    found = run("info", dump, "--jobs=3")
    assert (found.exit_code, found.stdout) == (8, "")
    assert found.stderr == f"smfparse: {dump}: Input/output error\n"
    assert ended()


def test_a_temporary_folder_without_room_is_named_with_the_way_out(
    dump: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(parallel.pa, "OSFile", full)
        found = run("sql", *packed(dump), "SELECT count(*) FROM record", "--jobs=3")
    assert found.exit_code == 8
    assert str(temporary) in found.stderr
    assert "No space left on device; set TMPDIR to another folder" in found.stderr
    assert not list(temporary.iterdir())
    temporary.rmdir()
    with pytest.raises(OutputError, match="temporary: No such file or directory; set TMPDIR"):
        open_inputs([dump], ReadOptions(jobs=3)).arrow("record")


def test_there_are_at_most_as_many_processes_as_windows_waits_for(monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    monkeypatch.setattr(workers, "ProcessPoolExecutor", lambda count, *_, **__: asked.append(count))
    workers.Workers(200)
    assert asked == [61]
    with pytest.raises(RequestError, match="jobs=0"):
        ReadOptions(jobs=0)


def family(leader: int) -> list[int]:
    said = subprocess.check_output(["ps", "-A", "-o", "pid=,pgid=,stat="], text=True)
    rows = [line.split() for line in said.splitlines()]
    return [int(pid) for pid, group, state in rows if group == str(leader) and state[0] != "Z"]


def wait_until(reached: Callable[[], bool]) -> bool:
    for _ in range(300):
        if reached():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def lasting(tmp_path: Path, temporary: Path) -> Iterator[Lasting]:
    """Start smfparse as a group of processes of its own; go on when three of them are at work."""
    at_work, groups = tmp_path / "at work", list[subprocess.Popen[str]]()
    at_work.mkdir()

    def start(*arguments: object) -> subprocess.Popen[str]:
        group = subprocess.Popen(
            [sys.executable, "-c", SLOW, *map(str, arguments), "--jobs=3"],
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(temporary), "AT_WORK": str(at_work)},
        )
        groups.append(group)
        assert wait_until(lambda: len(list(at_work.iterdir())) == 3)
        return group

    yield start
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group.pid, signal.SIGKILL)
        group.communicate()


def test_an_interrupt_ends_all_and_leaves_nothing(dump: Path, temporary: Path, lasting: Lasting):
    """The same call then makes the dataset."""
    folder = dump.with_name("tables")
    group = lasting("convert", dump, "--to", folder)
    os.killpg(group.pid, signal.SIGINT)
    output, errors = group.communicate(timeout=60)
    assert (group.returncode, output, errors) == (130, "", "smfparse: interrupted\n")
    assert not family(group.pid)
    assert not list(temporary.iterdir())
    assert not folder.exists()
    write_dataset(open_inputs([dump], ReadOptions(jobs=3)), folder)
    assert open_inputs([folder]).arrow("record").num_rows == 400
    assert not (folder / PARTIAL).exists()


@of_many("kind", some([signal.SIGKILL, signal.SIGTERM], 1), ids=lambda each: str(each.name))
def test_processes_end_with_their_parent(kind: signal.Signals, dump: Path, lasting: Lasting):
    group = lasting("info", dump)
    os.kill(group.pid, kind)
    group.wait(timeout=60)
    assert wait_until(lambda: not family(group.pid))
