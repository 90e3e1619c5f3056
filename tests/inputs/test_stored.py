"""Datasets from strangers: what is damaged, forged or leads elsewhere is refused, and named."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from smfparse.store.database import MANIFEST
from tests.support.command import run
from tests.support.datasets import dataset_files, edit, note_checksums, read_manifest
from tests.support.paths import SMF
from tests.support.searching import LONG, search

TABLE = "wqst"
PART = f"{TABLE}/part-00000.parquet"
RUN = ".records/part-00000.bin"
CONVERTED = ("record", "wqst", "wtas")
COMMANDS = {
    "sql": ["sql", "IN", "SELECT sum(putn) FROM wqst"],
    "convert": ["convert", "IN", "--format=arrow", "--table", ",".join(CONVERTED), "--to", "OUT"],
}
"""Commands that read the table, by DuckDB or Arrow."""
pytestmark = [pytest.mark.slow, pytest.mark.fuzz]
posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes")


def ended(command: str, folder: Path) -> tuple[int, str]:
    """Return how a command that reads the dataset ends, and what it says."""
    names = {"IN": str(folder), "OUT": str(folder.with_name("out"))}
    done = run(*(names.get(each, each) for each in COMMANDS[command]))
    shutil.rmtree(names["OUT"], ignore_errors=True)
    return done.exit_code, done.stderr


def refused(folder: Path, name: str) -> None:
    """Every command ends with 8, and names the file."""
    for command in COMMANDS:
        code, said = ended(command, folder)
        assert (code, name in said) == (8, True), (command, code, said)


def check_manifest(folder: Path, said: str = MANIFEST) -> None:
    assert said in run("info", folder, code=8).stderr


def overwrite(file: Path, at: int, data: bytes) -> None:
    whole = bytearray(file.read_bytes())
    whole[at : at + len(data)] = data
    file.write_bytes(whole)


def test_overwritten_bytes_are_noticed_by_every_reader(folder: Path) -> None:
    whole = (folder / PART).read_bytes()
    for part in range(10) if LONG else (0, 5, 9):
        (folder / PART).write_bytes(whole)
        overwrite(folder / PART, part * len(whole) // 10, bytes(200))
        refused(folder, str(folder / PART))
    (folder / PART).write_bytes(whole)
    overwrite(folder / RUN, 5, b"other")
    assert str(folder / RUN) in run("sql", folder, SMF, "SELECT count(*) FROM wqst", code=8).stderr


def test_files_with_columns_of_other_types_or_rows_are_bad_input(folder: Path) -> None:
    whole = pq.ParquetFile(folder / PART).read()
    at = whole.schema.names.index("putn")
    text = whole.set_column(at, "putn", whole.column(at).cast(pa.string()))
    for changed in (text, whole.slice(1)):
        pq.write_table(changed, folder / PART)
        note_checksums(folder)
        refused(folder, TABLE)


def deep(count: int) -> str:
    """Return an input that was made of an input, and so on."""
    return '{"name": "a", "inputs": [' * count + '{"name": "a"}' + "]}" * count


def test_a_manifest_that_is_no_database_or_has_odd_texts_is_bad_input(folder: Path) -> None:
    whole = (folder / MANIFEST).read_bytes()
    for data in (b"[" * 200_000, b"SQLite format 3\0" + b"\xff" * 5000, whole[:5000], whole[:100]):
        (folder / MANIFEST).write_bytes(data)
        check_manifest(folder)
    wrong = '{"name": "\\ud800", "bytes": 1}', b"\xff", "9" * 9999
    for text in (deep(51), deep(300), deep(20_000), *wrong):
        (folder / MANIFEST).write_bytes(whole)
        edit(folder, "UPDATE input SET value = ?", text)
        assert MANIFEST in run("sql", folder, SMF, "SELECT 1", code=8).stderr
    (folder / MANIFEST).write_bytes(whole)
    edit(folder, "UPDATE file SET name = CAST(x'ff' AS TEXT) WHERE number = 1")
    check_manifest(folder)


def test_a_view_or_a_page_that_leads_to_itself_costs_nothing(folder: Path) -> None:
    """Neither is asked what it has."""
    whole = (folder / MANIFEST).read_bytes()
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    edit(folder, "ALTER TABLE file RENAME TO other")
    edit(folder, f"CREATE VIEW file AS {endless}")
    check_manifest(folder, f"{MANIFEST} is damaged")
    with closing(sqlite3.connect(folder / MANIFEST)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
    for number in range(1, len(whole) // size):  # every page is the one in front of it
        copy = bytearray(whole)
        copy[number * size : (number + 1) * size] = whole[(number - 1) * size : number * size]
        (folder / MANIFEST).write_bytes(copy)
        assert run("info", folder).exit_code in (0, 4, 8)


OUTSIDE = [
    *("../other/wqst/part-00000.parquet", "wqst/../../other/wqst/part-00000.parquet"),
    *("./wqst/part-00000.parquet", "wqst//part-00000.parquet", "wqst\\part-00000.parquet"),
    *("wqst/*/part-00000.parquet", "other/part-00000.parquet", "wqst/part-0000000000.parquet"),
    *("wqst/date=../queue_manager=QM01/../part-00000.parquet", "wqst/part-00000.parquet\0"),
    *("C:/wqst/part-00000.parquet", "", "wqst/part-00000-0123456789AB.parquet"),
]


def test_a_manifest_names_only_files_of_its_own_and_once(whole_dataset: Path, folder: Path) -> None:
    shutil.copytree(whole_dataset, folder.with_name("other"))
    whole = (folder / MANIFEST).read_bytes()
    for name in (*OUTSIDE, str(whole_dataset / PART)):
        (folder / MANIFEST).write_bytes(whole)
        edit(folder, "UPDATE file SET name = ? WHERE name = ?", name, PART)
        check_manifest(folder, f"{MANIFEST} is damaged")
    (folder / MANIFEST).write_bytes(whole)
    edit(folder, "UPDATE fingerprints SET name = ?", str(whole_dataset / RUN))
    said = run("sql", folder, SMF, "SELECT count(*) FROM wqst", code=8).stderr
    assert f"{MANIFEST} is damaged" in said
    (folder / MANIFEST).write_bytes(whole.replace(b"qmst/part-00000.parquet", PART.encode()))
    assert whole.count(b"qmst/part-00000.parquet") > 1  # its index has it as well
    check_manifest(folder, f"{MANIFEST} is damaged")


REPLACED: dict[str, Callable[[Path, Path], object]] = {
    "a link": lambda place, other: place.symlink_to(other),
    "a pipe": lambda place, other: os.mkfifo(place),
    "a folder": lambda place, other: place.mkdir(),
}


@posix
@pytest.mark.parametrize("how", REPLACED)
def test_no_file_but_one_of_its_own_is_read(whole_dataset: Path, folder: Path, how: str) -> None:
    (folder / PART).unlink()
    refused(folder, str(folder / PART))
    REPLACED[how](folder / PART, whole_dataset / PART)
    refused(folder, str(folder / PART))
    if how == "a link":
        shutil.rmtree(folder / TABLE)
        (folder / TABLE).symlink_to(whole_dataset / TABLE)
        refused(folder, str(folder / TABLE))
    (folder / MANIFEST).unlink()
    REPLACED[how](folder / MANIFEST, whole_dataset / MANIFEST)
    check_manifest(folder, str(folder))


@posix
def test_the_folder_itself_may_be_a_link(folder: Path) -> None:
    link = folder.with_name("link")
    link.symlink_to(folder)
    assert run("info", link).exit_code == 0
    for option in ("--append", "--force"):
        assert run("convert", SMF, "--to", link, option).exit_code == 0
    assert link.is_symlink()


CELLS = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=5)
CELLS |= st.binary(max_size=5) | st.sampled_from(["null", "{}", "[5]", '"a"', "5", "true"])
COLUMNS = {
    "property": "value",
    "input": "name value bytes identity",
    "file": "name rows first_day last_day sha256",
    "fingerprints": "name records days sha256",
}


def data_of_cells(draw: Any, folder: Path) -> bool:
    """Change a cell of some rows of the manifest; return whether its tables take that."""
    table = draw(st.sampled_from([*COLUMNS]))
    column, rows = draw(st.sampled_from(COLUMNS[table].split())), draw(st.integers(1, 12))
    some = f"SELECT {'name' if table == 'property' else 'number'} FROM {table} LIMIT {rows}"
    key = some.split()[1]
    with suppress(sqlite3.IntegrityError):
        change = f"UPDATE {table} SET {column} = ? WHERE {key} IN ({some})"
        edit(folder, change, draw(CELLS))
        return True
    return False


def spoil(draw: Any, folder: Path, name: str, names: Sequence[str]) -> None:
    """Change a file: a cell of the manifest, some bytes, its length, or all of it."""
    file, how = folder / name, draw(st.sampled_from(["fill", "shorten", "swap"]))
    at = draw(st.integers(0, file.stat().st_size))
    if name == MANIFEST and data_of_cells(draw, folder):
        return
    if how == "fill":
        overwrite(file, at, draw(st.binary(min_size=1, max_size=200)))
    elif how == "shorten":
        os.truncate(file, at)
    else:
        file.write_bytes((folder / draw(st.sampled_from(names))).read_bytes())


@search(6)
@given(st.data())
def test_whatever_is_done_to_files_ends_as_documented(
    whole_dataset: Path, tmp_path_factory: pytest.TempPathFactory, data: Any
) -> None:
    """Every command ends with 8, or as before where it does not need what is damaged."""
    folder = Path(shutil.copytree(whole_dataset, tmp_path_factory.mktemp("any") / "tables"))
    names = sorted(dataset_files(read_manifest(folder)))
    name = data.draw(st.one_of(st.sampled_from([PART, MANIFEST]), st.sampled_from(names)))
    before = (folder / name).read_bytes()
    spoil(data.draw, folder, name, names)
    is_told = name != MANIFEST and (folder / name).read_bytes() != before
    if name != MANIFEST and data.draw(st.booleans()):
        note_checksums(folder)
        is_told = False
    for command in COMMANDS:
        code, said = ended(command, folder)
        needed = name == PART or (command == "convert" and name.partition("/")[0] in CONVERTED)
        if needed and is_told:
            assert (code, str(folder / name) in said) == (8, True), (command, code, said)
        assert code in (0, 8), (command, code, said)
    assert run("info", folder).exit_code in (0, 4, 8)
    done = run("convert", SMF, "--to", folder, "--append")
    assert done.exit_code in (0, 2, 8)  # 2: it says that it is of another selection
    shutil.rmtree(folder.parent)
