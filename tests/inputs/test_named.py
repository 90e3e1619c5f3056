"""What a user names as input: files, folders, patterns, standard input, pipes."""

from __future__ import annotations

import errno
import gc
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.errors import DamageLog, InputError, OutputError, RequestError
from smfparse.inputs import named as inputs
from smfparse.inputs.opening import open_inputs
from smfparse.writing.dataset import write_dataset
from tests.support.command import COMMAND, in_json, run
from tests.support.paths import FIXTURES

DUMP = (FIXTURES / "qm60.smf").read_bytes()
ALL = ("a.smf", "b.smf", "c/d/last.smf", "c/later.smf")
pipes_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")


@pytest.fixture(autouse=True)
def temporary(temporary: Path) -> Iterator[Path]:
    """The folder of temporary files; nothing is left there."""
    yield temporary
    if list(temporary.iterdir()):
        gc.collect()
    assert list(temporary.iterdir()) == []


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """A folder of four dumps, two of them deeper, and hidden files."""
    folder = tmp_path / "dumps"
    for name in (*ALL, ".hidden", ".git/x.smf"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(DUMP)
    (folder / "b.smf").write_bytes(gzip.compress(DUMP))
    return folder


def names(*given: str | Path) -> list[str]:
    return [each.name for each in open_inputs(given).sources]


def below(folder: Path, *found: str) -> list[str]:
    return [str(folder / each) for each in found]


def left_out(folder: Path) -> dict[str, str]:
    """Check that the dumps of a folder are its inputs; return why others are not, by name."""
    found = open_inputs([folder])
    assert [each.name for each in found.sources] == below(folder, *ALL)
    damage = found.damage.details
    return {Path(each.source).relative_to(folder).as_posix(): each.reason for each in damage}


def records(*given: str | Path) -> list[tuple[str, int]]:
    found = open_inputs(given).arrow("record")
    return list(zip(found["source"].to_pylist(), found["record_no"].to_pylist(), strict=True))


def test_a_folder_is_all_dumps_in_it_by_path_and_others_are_named(dumps: Path) -> None:
    assert names(str(dumps)) == names(dumps) == below(dumps, *ALL)
    assert left_out(dumps) == {}
    (dumps / "c" / "notes.txt").write_text("Dear reader,\n")
    (dumps / "empty").write_bytes(b"")
    (dumps / "gone").symlink_to(dumps / "nothing")
    (dumps / "packed.zip").write_bytes(b"PK\3\4" + bytes(60))
    write_dataset(open_inputs([dumps / "a.smf"]), dumps / "tables")
    found = left_out(dumps)
    assert "a dataset" in found.pop("tables")
    assert found == {
        "c/notes.txt": "no SMF records in it; skipped",
        "empty": "the file is empty; skipped",
        "gone": "No such file or directory; skipped",
        "packed.zip": "the zip data is truncated; skipped",
    }
    told = in_json("info", dumps, code=4)
    assert str(dumps / "empty") in {each["source"] for each in told["damage"]}
    assert told["damage_count"] == 5
    assert names(dumps / "tables") == [str(dumps / "tables")]


@pipes_only
def test_links_that_lead_elsewhere_and_pipes_are_named(dumps: Path, tmp_path: Path) -> None:
    """A link to a folder within is not: it is there already."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.smf").write_bytes(DUMP)
    targets: dict[str, str | Path] = {
        "up": "..", "c/again": dumps / "c" / "d", "c/away": elsewhere, "round": "round",
        "c/there": "back", "c/back": "there",
    }  # fmt: skip
    for name, target in targets.items():
        (dumps / name).symlink_to(target)
    os.mkfifo(dumps / "pipe")
    levels, folder = "Too many levels of symbolic links", "a link to a folder; name it separately"
    assert left_out(dumps) == {
        **dict.fromkeys(("c/back", "c/there", "round"), f"{levels}; skipped"),
        **dict.fromkeys(("c/away", "up"), f"{folder}; skipped"),
        "pipe": "a pipe or device; skipped",
    }
    for named in (dumps / "round", f"{dumps}/r*"):
        assert f"{dumps / 'round'}: {levels}" in run("info", dumps / "a.smf", named, code=8).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/proc has a file that cannot be read")
def test_an_unreadable_file_is_left_out_of_a_folder_and_named_otherwise(dumps: Path) -> None:
    (dumps / "memory").symlink_to("/proc/self/mem")
    assert left_out(dumps) == {"memory": "Input/output error; skipped"}
    result = run("info", dumps / "memory", code=8)
    assert result.stderr == f"smfparse: {dumps / 'memory'}: Input/output error\n"


def test_a_folder_that_cannot_be_listed_is_named_with_the_reason(
    dumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """root may list any folder, so the system refuses it for all users here."""
    listed = os.scandir

    def refused(path: Any) -> Any:
        if Path(path) == dumps:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return listed(path)

    monkeypatch.setattr("os.scandir", refused)
    assert run("info", dumps, code=8).stderr == f"smfparse: {dumps}: Permission denied\n"


def test_a_folder_without_a_dump_is_no_input(tmp_path: Path) -> None:
    for content in (None, "notes.txt", ".hidden", "qjst.parquet"):
        if content:
            (tmp_path / content).write_text("Dear reader,\n")
        with pytest.raises(InputError, match=": the folder has no SMF file and is not a dataset"):
            open_inputs([tmp_path])
    assert "without --format writes a dataset" in run("info", tmp_path, code=8).stderr


def test_a_pattern_is_what_it_matches_by_path(dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it finds has to be a dump; a path is no pattern, nor is the name of a file."""
    assert names(f"{dumps}/?.smf") == below(dumps, "a.smf", "b.smf")
    assert names(f"{dumps}/**/*.smf") == below(dumps, *ALL)
    with monkeypatch.context() as patch:
        patch.chdir(dumps)
        assert names("*.smf") == ["a.smf", "b.smf"]
    result = run("info", dumps / "a.smf", f"{dumps}/*.gz", code=8)
    assert result.stderr == f"smfparse: {dumps}/*.gz: no file matches the pattern\n"
    (dumps / "[ab].smf").write_bytes(DUMP)
    assert names(f"{dumps}/[ab].smf") == [f"{dumps}/[ab].smf"]
    with pytest.raises(InputError, match="No such file"):
        open_inputs([dumps / "?.smf"])
    (dumps / "d.smf").write_text("Dear reader,\n")
    with pytest.raises(InputError, match=r"d\.smf: no SMF record"):
        open_inputs([f"{dumps}/*.smf"])
    assert run("dump", f"{dumps}/b.*", "--record", "2").exit_code == 0
    assert run("dump", dumps).exit_code == 8


def test_a_file_named_twice_is_refused_and_one_found_again_is_taken_once(dumps: Path) -> None:
    (dumps / "c" / "link").symlink_to(dumps / "a.smf")
    for again in (dumps / "a.smf", dumps / "c" / ".." / "a.smf", dumps / "c" / "link"):
        with pytest.raises(RequestError, match="named twice"):
            open_inputs([dumps / "a.smf", again])
    with pytest.raises(RequestError, match="named twice"):
        open_inputs([dumps, dumps])
    rest = below(dumps, "a.smf", "c/d/last.smf", "c/later.smf")
    assert names(dumps / "b.smf", dumps) == [str(dumps / "b.smf"), *rest]
    assert names(dumps, dumps / "b.smf") == below(dumps, *ALL)
    assert names(f"{dumps}/*.smf", dumps) == below(dumps, "a.smf", "b.smf", *ALL[2:])
    assert names(dumps / "c", dumps / "a.smf") == [*below(dumps, *ALL[2:], "c/link")]


@pytest.mark.slow
def test_commands_read_standard_input_also_packed(tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(DUMP)
    query = "SELECT a.source, a.record_no FROM record a JOIN record b USING (record_no) ORDER BY 2"
    done = subprocess.run(
        [*COMMAND, "sql", "-", query, "--format", "json"],
        input=gzip.compress(DUMP),
        capture_output=True,
    )
    assert done.stderr == b""
    found = [(each["source"], each["record_no"]) for each in json.loads(done.stdout)]
    assert found == [("-", number) for _, number in records(path)]
    expected, dumped = (run("dump", each, "--record", "2", stdin=DUMP) for each in (path, "-"))
    assert dumped.stdout == expected.stdout.replace(str(path), "-")
    assert run("convert", "-", "--to", tmp_path / "tables", stdin=DUMP).exit_code == 0
    assert {source for source, _ in records(tmp_path / "tables")} == {"-"}
    assert "or - for standard input" in " ".join(run("dump", "--help").stdout.split())


def test_unusable_standard_input_is_named(dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for named, data, code, said in (
        (["-"], b"", 8, "-: the file is empty"),
        (["-"], b"Dear reader,\n", 8, "-: no SMF record"),
        (["-", "-"], DUMP, 2, "-: named twice"),
        (["-", dumps / "none.smf"], DUMP, 8, f"{dumps / 'none.smf'}: No such file or directory\n"),
    ):
        result = run("info", *named, stdin=data, code=code)
        assert f"smfparse: {said}" in result.stderr
    assert "bytes: -: byte 0x" in run("info", "-", stdin=DUMP[:-5], code=4).stdout
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="-: standard input is not a file or pipe"):
        open_inputs(["-"])


@pipes_only
def test_pipes_and_descriptors_are_inputs_by_their_names(tmp_path: Path) -> None:
    pipe, path = tmp_path / "pipe", tmp_path / "dump.smf"
    os.mkfifo(pipe)
    path.write_bytes(DUMP)
    writer = threading.Thread(target=pipe.write_bytes, args=(DUMP,))
    writer.start()
    found = records(str(pipe))
    writer.join()
    assert {source for source, _ in found} == {str(pipe)}
    assert len(found) > 2
    with path.open("rb") as file:
        name = f"/dev/fd/{file.fileno()}"
        assert {source for source, _ in records(name)} == {name}


def test_no_room_for_a_copy_has_a_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(28, "No space left on device")

    def full(number: int, *_: Any, **__: Any) -> Any:
        os.close(number)
        return Full()

    with monkeypatch.context() as patch:
        patch.setattr(inputs.os, "fdopen", full)
        result = run("info", "-", stdin=DUMP)
    assert result.exit_code == 8
    assert "No space left on device; - is copied there first; set TMPDIR to" in result.stderr
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DUMP)))
    with pytest.raises(OutputError, match=r"No such file.*set TMPDIR to"):
        inputs.resolve(["-"], lambda folder: False, DamageLog())
