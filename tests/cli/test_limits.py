"""Inputs without an end, and what takes too long: commands end with 8 and leave nothing."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import signal
import subprocess
import sys
from collections import namedtuple
from contextlib import ExitStack, suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from smfparse.errors import InputError, RequestError, SmfError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.interrupts import timed
from tests.support.command import CODE, COMMAND, reading_call, run
from tests.support.paths import FIXTURES
from tests.support.searching import of_many, some

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither such pipes nor alarms"),
]
DUMP = FIXTURES / "qm60.smf"
DATA = DUMP.read_bytes()
ENDLESS = Path("/dev/zero")
NAMES = ("info", "report", "compare", "sql", "convert", "dump")
STUCK = """
import multiprocessing, sys, time
from smfparse.cli import main
from smfparse.decoding import decoder
from smfparse.limits import LIMITS

def stuck(self, chunk):
    if multiprocessing.parent_process() is not None:
        time.sleep(600)

vars(LIMITS).update(chunk_bytes=65536, max_spanned=32768, least_unit=1, most_unit=65536)
decoder.Decoder._add = stuck
main(sys.argv[1:])
"""
"""smfparse whose worker processes never get to the end of a batch."""


def process(*arguments: object, script: str = CODE) -> subprocess.CompletedProcess[str]:
    """Run smfparse as a group of processes, of which none is left."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    call = [sys.executable, "-c", script, *map(str, arguments)]
    group = subprocess.Popen(call, **pipes, start_new_session=True)
    try:
        output, errors = group.communicate(timeout=120)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(group.pid, signal.SIGKILL)
            pytest.fail("processes are left")
    return subprocess.CompletedProcess(arguments, group.returncode, output, errors)


def refused(result: Result, name: str, most: str, folder: Path) -> bool:
    """Whether a command ended because an input was longer than what is copied."""
    message = (
        f"smfparse: {name}: longer than the {most} bytes that are copied to {folder}; "
        "allow more by --max-copy, or pass a file\n"
    )
    return (result.exit_code, result.stdout, result.stderr) == (8, "", message)


def test_an_input_without_an_end_is_copied_to_a_size(tmp_path: Path, temporary: Path) -> None:
    for name in NAMES:
        result = run(*reading_call(name, ENDLESS, tmp_path / "out"), "--max-copy", "300KB")
        assert refused(result, str(ENDLESS), "300,000", temporary), name
        assert not (tmp_path / "out").exists()


def test_never_more_than_asked_is_written(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    class Watched(io.FileIO):
        def write(self, data: Any) -> int:
            written.append(len(data))
            return super().write(data)

    monkeypatch.setattr(os, "fdopen", lambda number, *_, **__: Watched(number, "w"))
    with pytest.raises(InputError, match="longer than the 5,000,000 bytes"):
        open_inputs([ENDLESS], ReadOptions(max_copy=5_000_000))
    assert 3_000_000 < sum(written) <= 5_000_000


def test_an_input_of_that_size_is_read(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --max-copy a gigabyte of the disk stays free, or half of it where that is less."""
    size = len(DATA)
    run("info", "-", "--max-copy", str(size), stdin=DATA, code=0)
    result = run("info", "-", "--max-copy", str(size - 1), stdin=DATA)
    assert refused(result, "-", f"{size - 1:,}", temporary)
    run("info", DUMP, "--max-copy", "0", code=0)  # a file is not copied
    for free, most in ((10**9 + 3_000_000_000, 3_000_000_000), (1_500, 750), (0, 0)):
        usage = {str(temporary): namedtuple("usage", "free")(free)}
        monkeypatch.setattr(shutil, "disk_usage", usage.__getitem__)
        result = run("info", "-", stdin=DATA)
        read = (result.exit_code, size <= most) == (0, True)
        assert read or refused(result, "-", f"{most:,}", temporary), free


def test_a_size_or_time_that_is_none_is_a_wrong_call() -> None:
    for text in ("", "1 KB", "much", "-1", "1.5GB"):
        said = run("info", DUMP, "--max-copy", text, code=2).stderr
        assert "is not a size; write 100MB, 1GB or 5000000" in said
    with pytest.raises(RequestError, match="max_copy=-1: a negative size"):
        ReadOptions(max_copy=-1)
    for text in ("0", "-1", "1.5", "nan", "soon", "99999999999"):
        run("info", DUMP, "--timeout", text, code=2)


def test_statements_without_an_end_are_a_wrong_call() -> None:
    said = "more than 16,777,216 bytes of SQL"
    with ENDLESS.open("rb") as endless:
        call = [*COMMAND, "sql", str(DUMP)]
        done = subprocess.run(call, stdin=endless, capture_output=True, check=False)
    assert (done.returncode, said in done.stderr.decode()) == (2, True)
    assert said in run("sql", DUMP, "--file", ENDLESS, code=2).stderr


STOPPED = "smfparse: stopped before it was done: --timeout 1; allow more seconds\n"


@pytest.mark.usefixtures("temporary")
@of_many("name, kind", some([*product(NAMES, ("nobody writes", "a writer stalls"))][::-1], 1))
def test_a_pipe_that_stalls_ends_in_time(name: str, kind: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ExitStack() as opened:
        if kind == "a writer stalls":
            writer = opened.enter_context(open(os.open(pipe, os.O_RDWR), "wb", buffering=0))
            writer.write(DATA[:1000])
        done = process(*reading_call(name, pipe, tmp_path / "out"), "--timeout", "1")
    assert (done.returncode, done.stdout, done.stderr) == (8, "", STOPPED)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("temporary")
def test_a_long_query_and_a_script_in_the_background_end_in_time(tmp_path: Path) -> None:
    """Shells have such processes ignore SIGINT."""
    query = (
        "SELECT count(*), (SELECT count(*) FROM record) FROM range(10000000) a, range(9000000) b "
        "WHERE a.range * b.range % 7 = (SELECT count(*) FROM qmst)"
    )
    done = process("sql", str(DUMP), query, "--timeout", "1")
    assert (done.returncode, done.stdout, done.stderr) == (8, "", STOPPED)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ignoring = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {CODE}"
    done = process("info", str(pipe), "--timeout", "1", script=ignoring)
    assert (done.returncode, done.stderr) == (8, STOPPED)


def test_an_end_while_duckdb_loads_leaves_no_words_of_its_own() -> None:
    """Then Python forgets the module, but not what is in it."""
    code = (
        "import sys, duckdb; from smfparse.cli import command_line; del sys.modules['duckdb']; "
        "sys.argv = ['smfparse', '--version']; command_line()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


@pytest.mark.usefixtures("temporary")
@of_many("name", some(["sql", "info", "convert"], 1))
def test_processes_that_are_stuck_end_too(name: str, tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    for number in range(2):
        (dumps / f"{number}.gz").write_bytes(gzip.compress(DATA * (200_000 // len(DATA))))
    shared = [each.replace("qmst", "wqst") for each in reading_call(name, dumps, tmp_path / "out")]
    options = ("--jobs", "3", "--timeout", "1", "--keep-duplicates")
    done = process(*shared, *options, script=STUCK)
    assert (done.returncode, done.stderr) == (8, STOPPED)
    heading = "| record_no |\n|-----------|\n" if name == "sql" else ""
    assert heading.startswith(done.stdout)
    assert not (tmp_path / "out").exists()


def test_what_is_done_in_time_is_as_ever_and_an_interrupt_in_time_is_an_interrupt() -> None:
    assert run("info", DUMP, "--timeout", "600").stdout == run("info", DUMP).stdout
    assert run("info", DUMP / "none", "--timeout", "600").exit_code == 8
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with pytest.raises(KeyboardInterrupt), timed(600):
        signal.raise_signal(signal.SIGINT)


def test_whatever_comes_of_the_end_says_that_time_is_up() -> None:
    def pause() -> None:
        """Make an error of its own of the interrupt, as a library may."""
        try:
            signal.pause()
        except KeyboardInterrupt as error:
            raise OSError("interrupted") from error

    with pytest.raises(SmfError, match="done: timeout=1;"), timed(1):
        pause()
