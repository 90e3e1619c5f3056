"""Windows, as far as another system can show it: what only POSIX has is hidden."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import FIXTURES
from tests.support.searching import LONG, of_many, some

pytestmark = pytest.mark.slow
HIDING = r'''
import os, select, signal, sys, types
import click, click.testing, duckdb, multiprocessing, numpy, polars, prompt_toolkit, pyarrow
import pyarrow.compute, pyarrow.dataset, pyarrow.parquet
import asyncio, concurrent.futures.process, ctypes, gzip, lzma, bz2, mmap, secrets, shutil
import subprocess, tempfile, zipfile
import prompt_toolkit.input.vt100, prompt_toolkit.output.vt100, prompt_toolkit.shortcuts

HIDDEN = ("fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "posix", "readline", "syslog")

def locking(number, mode, count):
    """As that of Windows: a byte from where the file is, which has to be free."""

for name in HIDDEN:
    sys.modules[name] = None  # to import it raises ImportError
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, LK_UNLCK=0, locking=locking)
for module, names in {
    os: ("fork", "getuid", "geteuid", "getgid", "mkfifo", "sched_getaffinity", "statvfs", "setsid",
         "O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC", "pread", "killpg", "ttyname"),
    select: ("poll", "epoll"),
    signal: ("SIGALRM", "SIGHUP", "SIGPIPE", "SIGKILL", "setitimer", "alarm", "pthread_kill"),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
os.supports_dir_fd = os.supports_fd = os.supports_follow_symlinks = set()
sys.platform = "win32"
'''
IMPORTS = """
import importlib, pkgutil
import smfparse
for each in pkgutil.walk_packages(smfparse.__path__, "smfparse."):
    importlib.import_module(each.name)
    print(each.name)
"""
RUNS = """
import json
from smfparse.cli import main
for words in json.loads(sys.argv[1]):
    try:
        main.main(words, prog_name="smfparse")
    except SystemExit as end:
        assert not end.code, words
"""


def without_posix(code: str, *arguments: str, encoding: str = "cp1252") -> str:
    """Run Python in which nothing of POSIX is left, on a console with an encoding of Windows.

    No file is read or written in the encoding of the system.
    """
    left_out = {"LANG", "LC_ALL", "LC_CTYPE", "TERM", "XDG_STATE_HOME", "PAGER"}
    kept = {name: text for name, text in os.environ.items() if name not in left_out}
    settings = {"PYTHONIOENCODING": encoding, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", HIDING + code, *arguments],
        env=kept | settings,
        capture_output=True,
        encoding=encoding,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for line in done.stderr.splitlines():
        assert "EncodingWarning" not in line or "site-packages" in line
    return done.stdout


@pytest.mark.long
def test_every_module_is_imported_without_posix() -> None:
    imported = without_posix(IMPORTS).split()
    assert {"smfparse.cli.sql", "smfparse.store.writer", "smfparse.query.prompt"} <= {*imported}
    assert len(imported) > 200


@of_many("encoding", some(["cp1252", "cp437"], 1))
def test_the_main_commands_run_without_posix(tmp_path: Path, encoding: str) -> None:
    smf, folder = str(FIXTURES / "qm80.smf"), tmp_path / "Größe mit Blank"
    folder.mkdir()
    tables, page, copy = (str(folder / name) for name in ("tables", "day.html", "copy.smf"))
    commands = [
        ["info", smf, "--timeout", "500"], ["report", "log", smf, "--from", "0000"],
        ["report", "log", smf, "--format", "csv", "--output", str(folder / "log.csv")],
        ["convert", smf, "--to", tables],
        ["convert", str(FIXTURES / "qm60.smf"), "--to", tables, "--append"],
        ["report", "log", tables], ["sql", tables, "SELECT count(*) AS records FROM record"],
        ["generate", str(folder / "made.smf"), "--count", "1"], ["anonymise", smf, "--to", copy],
        ["dump", smf, "--record", "1"], ["describe", "qjst"], ["man"],
    ]  # fmt: skip
    if LONG:
        commands += [["summary", smf], ["dashboard", smf, "--output", page]]
    shown = without_posix(RUNS, json.dumps(commands), encoding=encoding)
    assert "QM80" in shown
    assert "records" in shown
    assert (folder / "log.csv").read_text(encoding="utf-8").count("\n") > 1
    assert Path(copy).stat().st_size == Path(smf).stat().st_size
    assert not LONG or Path(page).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
