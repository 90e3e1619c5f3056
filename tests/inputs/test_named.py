"""What a user names as input: files, folders, patterns, standard input, pipes."""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.errors import DamageLog, InputError, OutputError, RequestError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.inputs import named as inputs
from smfparse.limits import Limits
from smfparse.reading import look_at
from smfparse.store import MANIFEST
from smfparse.writing import write_dataset
from tests.support.command import COMMAND, run
from tests.support.paths import FIXTURES

DUMP = (FIXTURES / "qm60.smf").read_bytes()
pipes_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")


@pytest.fixture(autouse=True)
def temporary(temporary: Path) -> Iterator[Path]:
    """The folder of temporary files; nothing is left there."""
    yield temporary
    gc.collect()
    assert list(temporary.iterdir()) == []


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """A folder of four dumps, two of them deeper, and hidden files."""
    folder = tmp_path / "dumps"
    for name in ("b.smf", "a.smf", "c/later.smf", "c/d/last.smf", ".hidden", ".git/x.smf"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(DUMP)
    (folder / "b.smf").write_bytes(gzip.compress(DUMP))
    return folder


def names(*given: str | Path) -> list[str]:
    return [each.name for each in open_inputs(given).sources]


def below(folder: Path, *found: str) -> list[str]:
    return [str(folder / each) for each in found]


ALL = ("a.smf", "b.smf", "c/d/last.smf", "c/later.smf")


def records(*given: str | Path) -> list[tuple[str, int]]:
    found = open_inputs(given).arrow("record")
    return list(zip(found["source"].to_pylist(), found["record_no"].to_pylist(), strict=True))


def test_a_folder_is_all_files_in_it_by_path(dumps: Path) -> None:
    assert names(str(dumps)) == names(dumps) == below(dumps, *ALL)
    assert not open_inputs([dumps]).damage


def test_what_is_no_dump_in_a_folder_is_left_out_and_said(dumps: Path) -> None:
    (dumps / "c" / "notes.txt").write_text("Dear reader,\n")
    (dumps / "empty").write_bytes(b"")
    (dumps / "gone").symlink_to(dumps / "nothing")
    found = open_inputs([dumps])
    assert [each.name for each in found.sources] == below(dumps, *ALL)
    assert [(each.source, each.reason) for each in found.damage.details] == [
        (str(dumps / "c" / "notes.txt"), "no SMF records in it; skipped"),
        (str(dumps / "empty"), "the file is empty; skipped"),
        (str(dumps / "gone"), "No such file or directory; skipped"),
    ]
    result = run("info", dumps, "--format", "json")
    assert result.exit_code == 4
    assert str(dumps / "empty") in {each["source"] for each in json.loads(result.stdout)["damage"]}
    assert json.loads(result.stdout)["damage_count"] == 3


@pipes_only
def test_a_link_to_itself_in_a_folder_is_left_out_and_told(dumps: Path, tmp_path: Path) -> None:
    (dumps / "round").symlink_to("round")
    (dumps / "c" / "there").symlink_to("back")
    (dumps / "c" / "back").symlink_to("there")
    found = open_inputs([dumps])
    assert [each.name for each in found.sources] == below(dumps, *ALL)
    assert [(each.source, each.reason) for each in found.damage.details] == [
        (each, "Too many levels of symbolic links; skipped")
        for each in below(dumps, "c/back", "c/there", "round")
    ]
    assert run("info", dumps).exit_code == 4
    assert run("convert", dumps, "--to", tmp_path / "tables").exit_code == 4
    for named in (dumps / "round", f"{dumps}/r*"):
        result = run("info", dumps / "a.smf", named)
        assert result.exit_code == 8
        assert f"{dumps / 'round'}: Too many levels of symbolic links" in result.stderr


@pipes_only
def test_a_link_to_a_folder_elsewhere_is_told_and_one_to_a_folder_within_is_not(
    dumps: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.smf").write_bytes(DUMP)
    (dumps / "up").symlink_to("..")
    (dumps / "c" / "again").symlink_to(dumps / "c" / "d")
    (dumps / "c" / "away").symlink_to(elsewhere)
    found = open_inputs([dumps])
    assert [each.name for each in found.sources] == below(dumps, *ALL)
    assert sorted((each.source, each.reason) for each in found.damage.details) == [
        (each, "a link to a folder, to be named itself; skipped")
        for each in below(dumps, "c/away", "up")
    ]


def test_a_zip_file_with_a_corrupt_directory_in_a_folder_ends_nothing(dumps: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("dump.smf", DUMP)
    broken = bytearray(made.getvalue())
    at = broken.rindex(b"PK\5\6") + 16
    broken[at : at + 4] = b"\xff\xff\xff\x7f"
    (dumps / "e.zip").write_bytes(broken)
    assert names(dumps) == below(dumps, "a.smf", "b.smf", "c/d/last.smf", "c/later.smf", "e.zip")
    assert run("info", dumps / "e.zip").exit_code == 0
    (dumps / "e.zip").write_bytes(broken[:40] + bytes(len(broken) - 62) + broken[-22:])
    assert names(dumps) == below(dumps, *ALL)
    assert run("info", dumps).exit_code == 4
    result = run("info", dumps / "a.smf", dumps / "e.zip")
    assert result.exit_code == 8
    assert f"{dumps / 'e.zip'}: " in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/proc has a file that cannot be read")
def test_a_file_that_cannot_be_read_is_left_out_of_a_folder_and_named_otherwise(
    dumps: Path,
) -> None:
    (dumps / "memory").symlink_to("/proc/self/mem")
    found = open_inputs([dumps])
    assert [each.name for each in found.sources] == below(dumps, *ALL)
    assert [(each.source, each.reason) for each in found.damage.details] == [
        (str(dumps / "memory"), "Input/output error; skipped")
    ]
    result = run("info", dumps / "memory")
    assert result.exit_code == 8
    assert result.stderr == f"smfparse: {dumps / 'memory'}: Input/output error\n"


def test_a_dataset_in_a_folder_is_not_taken_in(dumps: Path) -> None:
    write_dataset(open_inputs([dumps / "a.smf"]), dumps / "tables")
    found = open_inputs([dumps])
    assert [each.name for each in found.sources] == below(dumps, *ALL)
    [damage] = found.damage.details
    assert damage.source == str(dumps / "tables")
    assert "a dataset" in damage.reason
    assert names(dumps / "tables") == [str(dumps / "tables")]
    assert (dumps / "tables" / MANIFEST).is_file()


@pytest.mark.parametrize("content", [None, "notes.txt", ".hidden"])
def test_a_folder_without_a_dump_is_no_input(content: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if content:
        (folder / content).write_text("Dear reader,\n")
    with pytest.raises(InputError, match="folder: the folder has no SMF file and is not a dataset"):
        open_inputs([folder])
    assert run("info", folder).exit_code == 8


def test_a_pattern_is_what_it_matches_by_path(dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert names(f"{dumps}/?.smf") == below(dumps, "a.smf", "b.smf")
    assert names(f"{dumps}/**/*.smf") == below(dumps, *ALL)
    monkeypatch.chdir(dumps)
    assert names("*.smf") == ["a.smf", "b.smf"]


def test_a_pattern_without_a_match_is_no_input(dumps: Path) -> None:
    result = run("info", dumps / "a.smf", f"{dumps}/*.gz")
    assert result.exit_code == 8
    assert result.stderr == f"smfparse: {dumps}/*.gz: no file matches the pattern\n"


def test_a_file_with_the_name_of_a_pattern_is_that_file(dumps: Path) -> None:
    (dumps / "[ab].smf").write_bytes(DUMP)
    assert names(f"{dumps}/[ab].smf") == [f"{dumps}/[ab].smf"]


def test_a_path_is_no_pattern(dumps: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        open_inputs([dumps / "?.smf"])


def test_what_a_pattern_finds_has_to_be_a_dump(dumps: Path) -> None:
    (dumps / "d.smf").write_text("Dear reader,\n")
    with pytest.raises(InputError, match=r"d\.smf: no SMF record"):
        open_inputs([f"{dumps}/*.smf"])


def test_a_file_named_twice_is_refused(dumps: Path) -> None:
    (dumps / "c" / "link").symlink_to(dumps / "a.smf")
    for again in (dumps / "a.smf", dumps / "c" / ".." / "a.smf", dumps / "c" / "link"):
        with pytest.raises(RequestError, match="named twice"):
            open_inputs([dumps / "a.smf", again])
    with pytest.raises(RequestError, match="named twice"):
        open_inputs([dumps, dumps])


def test_what_a_folder_or_pattern_brings_again_is_taken_once(dumps: Path) -> None:
    (dumps / "c" / "link").symlink_to(dumps / "a.smf")
    rest = below(dumps, "a.smf", "c/d/last.smf", "c/later.smf")
    assert names(dumps / "b.smf", dumps) == [str(dumps / "b.smf"), *rest]
    assert names(dumps, dumps / "b.smf") == below(dumps, *ALL)
    assert names(f"{dumps}/*.smf", dumps) == below(dumps, "a.smf", "b.smf", *ALL[2:])
    assert names(dumps / "c", dumps / "a.smf") == below(
        dumps, "c/d/last.smf", "c/later.smf", "c/link"
    )


def test_a_missing_input_ends_the_command_before_standard_input_is_read(dumps: Path) -> None:
    class Untouched(io.RawIOBase):
        def readable(self) -> bool:
            raise AssertionError

    result = run("info", "-", dumps / "none.smf", stdin=DUMP)
    assert result.exit_code == 8
    assert result.stderr == f"smfparse: {dumps / 'none.smf'}: No such file or directory\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_an_input(pack: Any, tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "dump.smf").write_bytes(DUMP)
    expected = [number for _, number in records(tmp_path / "dump.smf")]
    query = "SELECT a.source, a.record_no FROM record a JOIN record b USING (record_no) ORDER BY 2"
    done = subprocess.run(
        [*COMMAND, "sql", "-", query, "--format", "json"], input=pack(DUMP), capture_output=True
    )
    assert done.stderr == b""
    rows = json.loads(done.stdout)
    assert [each["record_no"] for each in rows] == expected
    assert {each["source"] for each in rows} == {"-"}
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "-"],
        ["dump", "-", "--record", "2"],
        ["report", "log", "-"],
        ["compare", "-", "--split-at", "2026-03-04T10:00"],
    ],
    ids=lambda each: each[0],
)
def test_every_command_reads_standard_input(arguments: list[str], tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(DUMP)
    named = [str(path) if each == "-" else each for each in arguments]
    expected, found = run(*named), run(*arguments, stdin=DUMP)
    assert found.exit_code == expected.exit_code == 0
    assert found.stdout == expected.stdout.replace(str(path), "-")


def test_convert_reads_standard_input(tmp_path: Path) -> None:
    assert run("convert", "-", "--to", tmp_path / "tables", stdin=DUMP).exit_code == 0
    assert {source for source, _ in records(tmp_path / "tables")} == {"-"}


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "-: the file is empty"), (b"Dear reader,\n", "-: no SMF record")],
)
def test_standard_input_that_is_no_dump_is_no_input(data: bytes, message: str) -> None:
    result = run("info", "-", stdin=data)
    assert result.exit_code == 8
    assert result.stderr.startswith(f"smfparse: {message}")


def test_damage_of_standard_input_is_said_of_it() -> None:
    result = run("info", "-", stdin=DUMP[:-5])
    assert result.exit_code == 4
    assert "bytes: -: byte 0x" in result.stdout


def test_standard_input_is_read_once_only() -> None:
    result = run("info", "-", "-", stdin=DUMP)
    assert result.exit_code == 2
    assert "-: named twice" in result.stderr


def test_a_terminal_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="-: standard input is not a file or pipe"):
        open_inputs(["-"])


@pipes_only
def test_pipes_are_inputs_by_their_names(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(DUMP,))
    writer.start()
    found = records(str(pipe))
    writer.join()
    assert {source for source, _ in found} == {str(pipe)}
    assert len(found) > 2


@pipes_only
def test_descriptors_are_inputs(tmp_path: Path) -> None:
    (tmp_path / "dump.smf").write_bytes(DUMP)
    with (tmp_path / "dump.smf").open("rb") as file:
        name = f"/dev/fd/{file.fileno()}"
        assert {source for source, _ in records(name)} == {name}


@pipes_only
def test_a_pipe_in_a_folder_is_left_out(dumps: Path) -> None:
    os.mkfifo(dumps / "pipe")
    found = open_inputs([dumps])
    assert [each.reason for each in found.damage.details] == ["a pipe or device; skipped"]


def test_no_room_for_a_copy_says_the_way_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(28, "No space left on device")

    def opened(number: int, *options: Any, **more: Any) -> Full:
        os.close(number)
        return Full()

    with monkeypatch.context() as patch:
        patch.setattr(inputs.os, "fdopen", opened)
        result = run("info", "-", stdin=DUMP)
    assert result.exit_code == 8
    assert "No space left on device; - is copied there first; set TMPDIR to" in result.stderr
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DUMP)))
    with pytest.raises(OutputError, match=r"No such file.*set TMPDIR to"):
        inputs.resolve(["-"], lambda folder: False, DamageLog())


def test_dump_reads_one_file(dumps: Path) -> None:
    assert run("dump", f"{dumps}/b.*", "--record", "2").exit_code == 0
    assert run("dump", dumps).exit_code == 8


@pytest.mark.parametrize("command", ["compare", "convert", "dump", "info", "report", "sql"])
def test_help_says_what_an_input_can_be(command: str) -> None:
    text = " ".join(run(command, "--help").stdout.split())
    assert "INPUT is an SMF dump" in text
    assert "or - for standard input" in text


def test_files_are_looked_at_with_the_limits_handed_in(
    dumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Limits] = []

    def looked_at(*asked: Any) -> Any:
        given.append(asked[3])
        return look_at(*asked)

    monkeypatch.setattr(inputs, "look_at", looked_at)
    limits = Limits(chunk_bytes=8192)
    named = [dumps, FIXTURES / "qm01-930.smf", "-"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DUMP)))
    open_inputs(named, ReadOptions(limits=limits))
    assert len(given) >= 3
    assert set(given) == {limits}
