"""How each command ends: with which exit code, what it says, and what it leaves behind."""

from __future__ import annotations

import os
import pickle
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from smfparse.decoding.dictionary import DAMAGE_COLUMNS
from smfparse.errors import Damage, DamageError, DamageLog
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.writing.dataset import write_dataset
from tests.support.builders import Section, named_block, qwhs_long, rdw, smf_record
from tests.support.command import CODE, READING, named, reading_call, run
from tests.support.mixed_records import many, written
from tests.support.paths import SMF
from tests.support.searching import of_many, some

pytestmark = pytest.mark.slow

QMST = Section([named_block("QMST", 72)])
GOOD = smf_record(115, 2, QMST, area=qwhs_long())
BAD = smf_record(115, 2, Section(QMST.blocks, length=480), area=qwhs_long())
WRITTEN_TO = ("convert", "anonymise")
"""Commands that write what `--to` names."""
DATA = {
    "clean": rdw([GOOD, GOOD]),
    "bad block": rdw([GOOD, BAD, GOOD]),
    "cut": rdw([GOOD, GOOD])[:-5],
    "empty": b"",
    "not SMF": b"Dear reader, this is a letter and nothing else\n",
    "zeros": b"\x00\x20\x00\x00" + bytes(28),
    "unreadable": rdw([GOOD]),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with inputs, and a file that is there before an output."""
    (tmp_path / "inputs" / "folder").mkdir(parents=True)
    for name, content in DATA.items():
        (tmp_path / "inputs" / name).write_bytes(content)
    (tmp_path / "taken").write_text("mine")
    return tmp_path


def call(name: str, place: Path, source: str) -> list[str]:
    return reading_call(name, place / "inputs" / source, place / "out")


def output_call(arguments: list[str], place: Path) -> list[str]:
    return named(arguments, place / "inputs" / "clean", place / "out")


def has_nothing_new(place: Path) -> bool:
    return sorted({each.name for each in place.iterdir()} - {"temporary"}) == ["inputs", "taken"]


def message(place: Path) -> str:
    return (
        f"smfparse: {place / 'inputs' / 'bad block'}: record 2 at byte 0x{len(GOOD):X} "
        "(type 115 subtype 2): QMST has 480 bytes at offset 44, but only 124 are left. The record "
        "may be truncated; skipped"
    )


UNUSABLE = dict.fromkeys(("missing", "empty", "not SMF", "zeros", "folder", "unreadable"), 8)
HEADERS_ONLY = ("dump", "report")
"""Commands that do not look at the block that is bad; dump reads up to its record only."""


@pytest.mark.sampled(7)
@pytest.mark.usefixtures("unjudged")
@pytest.mark.parametrize("name", sorted(READING))
def test_commands_end_with_a_code(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what became of the input; with --strict the first damage ends it without a result."""
    opened = Path.open

    def refuse(self: Path, *arguments: Any, **options: Any) -> Any:
        if self.name == "unreadable":
            raise PermissionError(13, "Permission denied")
        return opened(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    damage = {"cut", "bad block"} if name in HEADERS_ONLY else {"bad block"}
    for source, code in (dict.fromkeys(damage, 4) | UNUSABLE).items():
        good = source == "bad block" and name in HEADERS_ONLY
        result = run(*call(name, place, source), code=0 if good else code)
        if code == 8:
            assert result.stdout == ""
            assert result.stderr.startswith(f"smfparse: {place / 'inputs' / source}: ")
            assert result.stderr.count("\n") == 1
            assert not (place / "out").exists()
        elif name == "convert":
            shutil.rmtree(place / "out")
        elif name == "anonymise":
            (place / "out").unlink()
        assert source != "unreadable" or result.stderr.endswith("Permission denied\n")

    source = "cut" if name in HEADERS_ONLY else "bad block"
    more: list[object] = [] if name in WRITTEN_TO else ["--output", place / "result"]
    more += ["--record", "2"] if name == "dump" else []
    result = run(*call(name, place, source), "--strict", *more, code=8)
    assert (result.stdout, result.stderr.count("\n")) == ("", 1)
    assert ("the file is truncated" if source == "cut" else f"{message(place)}\n") in result.stderr
    assert has_nothing_new(place)
    run(*call(name, place, "clean"), "--strict", code=0)


WRONG = """
 | nothing | describe nothing | info | info CLEAN --nothing | info CLEAN --format parquet
info CLEAN --qmgr TOOLONG | report | report log | report lag CLEAN | compare | compare CLEAN
check | check CLEAN --limit LOG-BUSY | check CLEAN --only NONE
sql | sql CLEAN | sql 'SELECT * FROM qmst' | sql CLEAN --file NEW
sql CLEAN 'SELECT nothing FROM qmst' | sql CLEAN 'SELECT * FROM nothing'
sql CLEAN 'SELEC 1 FROM qmst' | sql CLEAN 'DROP VIEW nothing'
convert CLEAN | convert CLEAN --to TAKEN | convert CLEAN --to FOLDER
dump CLEAN --record 99 | dump CLEAN --at 0x --record 1 | dump CLEAN --output TAKEN
generate TAKEN | generate NEW --interval soon
"""


def test_a_wrong_call_ends_with_2_and_changes_nothing(place: Path) -> None:
    names = {"CLEAN": "inputs/clean", "TAKEN": "taken", "FOLDER": "inputs", "NEW": "new"}
    for words in WRONG.strip().replace("\n", "|").split("|"):
        arguments = [place / names[each] if each in names else each for each in shlex.split(words)]
        result = run(*arguments, code=2)
        assert (result.stdout, result.stderr != "") == ("", True), arguments
        assert ((place / "taken").read_text(), has_nothing_new(place)) == ("mine", True)


def test_an_output_never_takes_the_place_of_an_input(place: Path) -> None:
    """And nothing is written into a dataset that is read."""
    source, link, tables = place / "inputs" / "clean", place / "link", place / "tables"
    link.symlink_to(source)
    said = f"smfparse: {link}: the output is an input, or is inside an input; name another output\n"
    for name in READING:
        arguments: list[object] = [*call(name, place, "clean"), "--output", link]
        if name in WRITTEN_TO:
            arguments = [name, source, "--to", link]
            arguments += ["--format", "duckdb"] if name == "convert" else []
        assert run(*arguments, "--force", code=2).stderr == said, name
        assert source.read_bytes() == rdw([GOOD, GOOD])
    write_dataset(open_inputs([source]), tables)
    manifest = (tables / "smfparse.db").read_bytes()
    for output in (["--output", tables / "smfparse.db"], ["--output", tables / "new"]):
        run("report", "log", tables, *output, "--force", code=2)
    run("convert", tables, "--to", tables, "--force", code=2)
    assert (tables / "smfparse.db").read_bytes() == manifest


@pytest.mark.skipif(sys.platform != "linux", reason="a name of a file is not any bytes there")
def test_a_name_that_is_not_utf_8_is_shown_and_read(place: Path) -> None:
    folder = place / "odd"
    folder.mkdir()
    source = folder / os.fsdecode(b"bad\xff.smf")
    (folder / os.fsdecode(b"letter\xfe")).write_bytes(b"Dear reader")
    try:
        source.write_bytes(rdw([GOOD]))
    except OSError:
        pytest.skip("the file system wants UTF-8")
    shown = run("sql", folder, "SELECT DISTINCT source FROM record", "--format", "csv", code=4)
    assert shown.stdout == f"source\n{folder}/bad\\xff.smf\n"
    assert f"{folder}/letter\\xfe: " in shown.stderr
    run("convert", source, "--to", place / "out", code=0)
    (found,) = open_inputs([place / "out"]).arrow("record")["source"].to_pylist()
    assert found == f"{folder}/bad\\xff.smf"
    for target in (folder / os.fsdecode(b"out\xff"), folder / os.fsdecode(b"\xff.duckdb")):
        refused = run("convert", place / "inputs" / "clean", "--to", target, code=2)
        assert "not UTF-8" in refused.stderr


def test_damage_comes_whole_out_of_a_process_and_more_than_is_kept_is_counted(place: Path) -> None:
    with pytest.raises(DamageError) as caught:
        open_inputs([place / "inputs" / "bad block"], ReadOptions(strict=True)).arrow("qmst")
    assert (caught.value.damage.record_no, caught.value.damage.offset) == (2, len(GOOD))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.damage, str(again)) == (caught.value.damage, str(caught.value))
    log = DamageLog(keep=2)
    for offset in (1, 2, 3, 1):
        log.add(Damage("x.smf", offset, 1, "no"))
    assert ([each.offset for each in log.details], log.count) == ([1, 2], 3)
    assert str(Damage("x.smf", 26, 1, "no", 3, 30)) == "x.smf: record 3 at byte 0x1A (type 30): no"


def test_several_processes_stop_at_the_damage_that_one_stops_at(tmp_path: Path) -> None:
    limits = Limits(chunk_bytes=8192, max_spanned=4096, least_unit=1, most_unit=8192)
    whole, _ = written([each for each in many(300, 2) if each.kind == "clock"])
    first, second = tmp_path / "a.smf", tmp_path / "b.smf"
    first.write_bytes(whole + GOOD * 200 + BAD + GOOD * 300 + BAD[:-3])
    second.write_bytes(GOOD * 100 + BAD + GOOD * 300)
    said = set()
    for jobs in (1, 2):
        options = ReadOptions(jobs=jobs, strict=True, limits=limits)
        for wanted in ("qmst", "record", "damage"):
            with pytest.raises(DamageError) as caught:
                open_inputs([first, second], options).arrow(wanted)
            said.add((wanted == "record", str(caught.value)))
        folder = tmp_path / f"tables{jobs}"
        with pytest.raises(DamageError) as caught:
            write_dataset(open_inputs([first, second], options), folder)
        said.add((False, str(caught.value)))
        assert not folder.exists()
    assert len(said) == 2


def test_the_table_damage_is_that_of_the_whole_input(place: Path) -> None:
    source = place / "inputs" / "bad block"
    [row] = open_inputs([source]).arrow("damage").to_pylist()
    reason = message(place).partition("subtype 2): ")[2]
    values = (str(source), 2, len(GOOD), 115, 2, 124, reason)
    assert row == dict(zip([each.name for each in DAMAGE_COLUMNS], values, strict=True))
    query = "SELECT record_no, bytes FROM damage"
    shown = run("sql", source, "--qmgr", "NONE", query, "--format=csv", code=4)
    assert shown.stdout.splitlines()[-1] == "2,124"
    assert shown.stderr.splitlines() == [
        message(place),
        "smfparse: the input is damaged; all other records were used; --strict stops at the first "
        "damage",
    ]
    for name in ("tables", "again"):  # the second is of the first
        write_dataset(open_inputs([source]), place / name)
        source = place / name
        assert open_inputs([source]).arrow("damage").to_pylist() == [row]
        assert open_inputs([source]).lost.count == 1
        assert "Could not be used: 1" in run("info", source).stdout


posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
BUSY = {
    "query": ["sql", "INPUT", "SELECT count(*) FROM range(100000000000) a WHERE a.range % 7 = 3"],
    "generate": ["generate", "OUT", "--size", "100GB"],
}
ENDS = {
    "SIGINT": (130, "smfparse: interrupted\n"),
    "SIGTERM": (143, "smfparse: terminated\n"),
    "SIGHUP": (129, "smfparse: terminated\n"),
}
SWALLOWED = """
import os, signal
from smfparse.cli import main
from smfparse.cli.describe import command
def work(*_, **__):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        raise TypeError("no common type") from None
command.callback = work
main(["describe"])
"""
"""A library that makes another error of an interrupt."""


def process(code: str, *arguments: str, stdout: Any = subprocess.PIPE) -> Any:
    call = [sys.executable, "-c", code, *arguments]
    return subprocess.run(call, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


@posix
def test_a_signal_is_one_line_where_a_library_makes_another_error_of_it() -> None:
    done = process(SWALLOWED)
    assert (done.returncode, done.stderr) == ENDS["SIGTERM"]


@posix
@pytest.mark.usefixtures("temporary")
@of_many("name, kind", some([*product(BUSY, ENDS)][::-1], 1))
def test_a_signal_is_one_line_and_leaves_nothing(name: str, kind: str, place: Path) -> None:
    busy = "from smfparse.cli import main; print('ready', flush=True); main()"
    arguments = [sys.executable, "-c", busy, *output_call(BUSY[name], place)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(arguments, **pipes, start_new_session=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)  # in the middle of it on most machines; what is asked holds at any time
        os.killpg(process.pid, signal.Signals[kind])
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, errors) == ENDS[kind]
    assert (output, has_nothing_new(place)) == ("", True)


PRINTING = (
    *(["sql", "INPUT", "SELECT * FROM record"], ["describe"], ["dump", "INPUT"]),
    *(["--help"], ["info", "INPUT"], ["compare", "--explain"], ["report", "log", "--explain"]),
)


@posix
@of_many("arguments", some(PRINTING, 2), ids=" ".join)
def test_a_closed_pipe_is_quiet_and_a_full_disk_one_line(arguments: list[str], place: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = process(CODE, *output_call(arguments, place), stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as stdout:
            done = process(CODE, *output_call(arguments, place), stdout=stdout)
        said = "smfparse: standard output: No space left on device\n"
        assert (done.returncode, done.stderr) == (8, said)


GROWING = {
    "output": ["sql", "INPUT", "SELECT * FROM range(100000)", "--format", "csv", "--output", "OUT"],
    "convert": ["convert", "INPUT", "--to", "OUT"],
    "database": ["convert", "INPUT", "--to", "OUT", "--format", "duckdb"],
    "generate": ["generate", "OUT"],
    "spool": ["sql", "INPUT", "SELECT a.* FROM record a JOIN record b USING (record_no)"],
}


@posix
@pytest.mark.usefixtures("temporary")
@of_many("name", some([*GROWING], 1))
def test_a_file_that_cannot_grow_is_one_line_and_leaves_nothing(name: str, place: Path) -> None:
    most = 200_000 if name == "database" else 2000  # that of a database is in its log
    limited = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most})); "
        f"from smfparse.limits import LIMITS; vars(LIMITS).update(whole_bytes=0); {CODE}"
    )  # no file is so small that its tables are held in memory
    done = process(limited, *output_call(GROWING[name], place))
    assert done.returncode == 8
    assert re.fullmatch("smfparse: .*File too large.*\n", done.stderr)
    assert has_nothing_new(place)


def test_output_to_a_pipe_goes_into_it_and_leaves_it_there(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)
        run("report", "log", SMF, "--output", pipe, code=0)
        assert "Log write rate" in read.result(timeout=60)
    assert pipe.is_fifo()


EMPTY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("summary", "info", "check", "report log"), ()),
    "report api-cost": ("--format", "parquet", "--output", "{folder}/a.parquet"),
    "report all": ("--output", "{folder}/all"),
    **dict.fromkeys(("capacity log", "trend", "plot log-busy"), ()),
    "sql": ("SELECT count(*) FROM qmst",),
    "dashboard": ("--output", "{folder}/a.html"),
    "compare": ("--split-at", "2026-03-04T12:00"),
    "convert": ("--to", "{folder}/tables"),
}


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("unjudged")
@pytest.mark.parametrize("command", EMPTY)
def test_a_selection_of_nothing_says_what_the_input_covers(command: str, tmp_path: Path) -> None:
    covers = "the input covers QM01 on SYSA, QM02 on SYSA, 2026/03/04 09:00 to 2026/03/04 11:00"
    more = [each.format(folder=tmp_path) for each in EMPTY[command]]
    by_qmgr, by_time = ("--qmgr", "NONE"), ("--from", "2031-01-01")
    chosen = by_time if [*EMPTY].index(command) % 2 else by_qmgr
    said = run(*command.split(), SMF, *more, *chosen, code=8).stderr
    assert (said.count("no records match"), covers in said) == (1, True)
    assert not [*tmp_path.iterdir()]


def test_what_is_near_or_measured_is_named_where_it_is_not_in_the_selection() -> None:
    for call, exit_code, said in (
        ("report task INPUT --queue PAYMENTS.AUDI", 8, "did you mean queue PAYMENTS.AUDIT"),
        ("capacity log INPUT --type 116", 8, "no records that log measures match type 116"),
        ("report log INPUT --type 116", 0, "no records for the report log match type 116"),
    ):
        done = run(*named(call.split(), SMF, ""), code=exit_code)
        assert said in done.stderr
        assert call.startswith("report log") or not done.stdout
