"""What is shown on a terminal alone: how far a command has come, a pager, colours."""

from __future__ import annotations

import datetime as dt
import gzip
import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from smfparse.cli.output import show
from smfparse.cli.progress import BAR, progress_line
from smfparse.decoding.dictionary import RECORD
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.progress import PROGRESS
from smfparse.query.prompt import Console
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURES
from tests.support.searching import LONG, of_many, some

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminals", allow_module_level=True)

from tests.support.terminal import on_terminal

SMF = FIXTURES / "qm60.smf"
pytestmark = pytest.mark.slow
COLOUR = "\x1b[1m"


@pytest.fixture(autouse=True)
def _counts_stay_as_they_were() -> Iterator[None]:
    yield
    PROGRESS.use([0])
    PROGRESS.total, PROGRESS.what = 0, ""


def test_progress_has_bytes_speed_and_the_time_left() -> None:
    with PROGRESS.of("reading", 400_000_000):
        PROGRESS.began = 10.0
        PROGRESS.add(100_000_000)
        shown = progress_line(5, 12.0, 80)
        assert shown == "reading   100 of 400 MB   25%   50 MB/s   6 s left"
        assert progress_line(5, 12.0, 20) == shown[:19]
        PROGRESS.add(300_000_000)
        assert progress_line(75, 12.0, 80) == "working   1:15 min"
    with PROGRESS.of("writing", 0):
        PROGRESS.began = 10.0
        PROGRESS.add(1_500_000_000)
        assert progress_line(5, 12.0, 80) == "writing   1.50 GB   750 MB/s"
    assert progress_line(7300, 12.0, 80) == "working   2:01 h"


@pytest.mark.parametrize("packed", [False, True])
def test_the_bytes_of_files_are_counted_as_they_are_read(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "day.smf"
    path.write_bytes(gzip.compress(SMF.read_bytes()) if packed else SMF.read_bytes())
    limits = Limits(chunk_bytes=1 << 16, max_spanned=1 << 15)
    opened = open_inputs([path], ReadOptions(limits=limits))
    seen = [
        (PROGRESS.what, PROGRESS.total, PROGRESS.done)
        for _ in opened.batches({RECORD: frozenset(["record_no"])}, prompt=True)
    ]
    assert {(what, total) for what, total, _ in seen} == {("reading", path.stat().st_size)}
    assert sorted(done for _, _, done in seen) == [done for _, _, done in seen]
    assert (PROGRESS.done, PROGRESS.what) == (path.stat().st_size, "")


def test_a_terminal_shows_progress_of_what_takes_long(tmp_path: Path) -> None:
    """As long as nobody reads what is written, writing goes on."""
    pipe, seen = tmp_path / "pipe", threading.Event()
    os.mkfifo(pipe)

    def drain() -> None:
        with pipe.open("rb") as stream:
            seen.wait(60)
            while stream.read(1 << 20):
                pass

    reading = threading.Thread(target=drain)
    reading.start()
    shown = on_terminal("generate", pipe, "--size", "20MB", typed=[(" of 20 MB", seen.set)])
    reading.join()
    assert shown.code == 0
    assert re.search(r"(?s)\rwriting   .* MB/s   .* \r$", shown.text)  # the line is taken away


def test_a_quiet_command_shows_no_progress(tmp_path: Path) -> None:
    assert on_terminal("generate", tmp_path / "b.smf", "--size", "300MB", "--quiet") == ("", 0)


@pytest.mark.parametrize("is_pipe", [True, False])
def test_progress_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_pipe: bool) -> None:
    """What it takes may be shown, as of `smfparse check DUMP.smf | head`; a file is not shown."""
    ends = os.pipe() if is_pipe else (os.open(tmp_path / "out", os.O_CREAT | os.O_RDWR),) * 2
    left: list[bool] = []
    monkeypatch.setattr(BAR, "leave", lambda: left.append(True))
    with os.fdopen(os.dup(ends[1]), "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        show("a line")
    for each in set(ends):
        os.close(each)
    assert left == [True] * is_pipe


def test_long_text_is_paged_as_pager_says_and_short_text_is_not(tmp_path: Path) -> None:
    wanted, kept = run("describe", "qjst").stdout, tmp_path / "kept"
    assert on_terminal("describe", "qjst", typed=[("\n:", "q")]).code == 0
    short = on_terminal("describe", "qjst", size=(500, 300), environment={"PAGER": "false"})
    assert short.text.replace("\r\n", "\n") == wanted
    assert on_terminal("describe", "qjst", environment={"PAGER": f"tee '{kept}'"}).code == 0
    assert kept.read_text(encoding="utf-8") == wanted
    for none in some(("/nowhere/pager", "cat", ""), 1):
        plain = on_terminal("describe", "qjst", environment={"PAGER": none})
        assert plain.text.replace("\r\n", "\n") == wanted


@of_many("rows", some([100_001, 99_999], 1))
def test_a_terminal_has_no_more_lines_than_somebody_reads(rows: int) -> None:
    """CSV has a line of headings above the rows."""
    query = f"SELECT r AS n FROM range({rows}) AS all_rows(r)"
    arguments = ("sql", SMF, query, "--format", "csv")
    shown = on_terminal(*arguments, environment={"PAGER": "cat"}).text
    assert ("first 100,000 lines shown; select fewer records" in shown) == (rows > 100_000)
    assert ("\n99998\r" in shown, "\n99999\r" in shown) == (True, False)
    if LONG:
        every = on_terminal(*arguments, "--no-pager").text
        assert (f"\n{rows - 1}\r" in every, "these were" in every) == (True, False)


def test_an_error_behind_a_screenful_is_reported_after_the_pager() -> None:
    query = "SELECT if(i > 4000, error('odd'), i) AS i FROM range(5000) t(i)"
    shown = on_terminal("sql", "--quiet", SMF, query, environment={"PAGER": "tail -1"})
    assert (shown.code, "odd" in shown.text) == (2, True)


def test_colours_are_on_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    log = ("report", "log", SMF, "--no-pager", "--quiet", "--width", "500")
    plain = run(*log).stdout
    assert "\x1b" not in plain
    shown = on_terminal(*log).text.replace("\r\n", "\n")
    assert COLOUR in shown
    assert shown.replace(COLOUR, "").replace("\x1b[0m", "") == plain
    for never in some(("NO_COLOR=1", "TERM=dumb", "--no-color", "--format=csv"), 1):
        more = [never] if never.startswith("--") else []
        environment = {} if more else dict([never.split("=")])
        assert "\x1b" not in on_terminal(*log, *more, environment=environment).text
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(*log, "--color").stdout == shown


@pytest.mark.long
def test_findings_are_coloured_by_severity_and_nothing_else_is_changed() -> None:
    plain = run("check", SMF, "--all").stdout
    shown = run("check", SMF, "--all", "--color").stdout
    assert "\x1b[36mSEV4 " in shown
    for code in ("1;31", "1", "2", "33", "36", "0"):
        shown = shown.replace(f"\x1b[{code}m", "")
    assert shown == plain


def test_no_progress_is_shown_while_a_prompt_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work: list[bool] = []

    def wait(console: Console) -> None:
        at_work.append(BAR.at_work)
        with console._shell.working():
            at_work.append(BAR.at_work)

    monkeypatch.setattr(Console, "run", wait)
    monkeypatch.setattr("smfparse.cli.sql._can_ask", lambda *_: True)
    with BAR.working():
        assert run("sql", SMF).exit_code == 0
    assert at_work == [False, True]


def test_a_report_of_more_tasks_than_somebody_reads_asks_for_less(tmp_path: Path) -> None:
    minute = dt.timedelta(minutes=1)
    dump = generate_dump(tmp_path / "many.smf", count=60, tasks=10, interval=minute)
    shown = on_terminal("report", "task", dump, "--quiet")
    words = " ".join(shown.text.split())
    assert (shown.code, "From 20" in words) == (2, False)
    assert "lines for each of 1,200 tasks; select fewer (--job, --queue, --from)" in words
    assert on_terminal("report", "task", dump, "--quiet", piped=True) == ("", 0)
