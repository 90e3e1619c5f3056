"""Datasets from strangers: what is damaged, forged or leads elsewhere is refused, and named."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from smfparse.store import MANIFEST, dataset_files
from tests.support.command import run
from tests.support.datasets import note_checksums
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


@pytest.fixture
def folder(whole_dataset: Path, tmp_path: Path) -> Path:
    """A dataset that may be spoiled."""
    return Path(shutil.copytree(whole_dataset, tmp_path / "tables"))


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
    done = run("info", folder)
    assert (done.exit_code, said in done.stderr) == (8, True), done.stderr


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
    done = run("sql", folder, SMF, "SELECT count(*) FROM wqst")
    assert (done.exit_code, str(folder / RUN) in done.stderr) == (8, True)


def test_files_with_columns_of_other_types_or_rows_are_bad_input(folder: Path) -> None:
    whole = pq.ParquetFile(folder / PART).read()
    at = whole.schema.names.index("putn")
    text = whole.set_column(at, "putn", whole.column(at).cast(pa.string()))
    for changed in (text, whole.slice(1)):
        pq.write_table(changed, folder / PART)
        note_checksums(folder)
        refused(folder, TABLE)


def deep(count: int) -> dict[str, Any]:
    """Return an input that was made of an input, and so on."""
    found: dict[str, Any] = {"name": "a", "bytes": 1, "sha256": ""}
    for _ in range(count):
        found = {"name": "a", "inputs": [found]}
    return found


def test_a_manifest_that_json_cannot_be_made_of_is_bad_input(folder: Path) -> None:
    whole = (folder / MANIFEST).read_text()
    for text in ("[" * 200_000, '{"a":' * 200_000, "\0", '"' + "9" * 9_999):
        (folder / MANIFEST).write_text(text)
        check_manifest(folder)
    for wrong in (deep(51), deep(300), {"name": "\ud800"}, {"name": "a\udfff"}):
        manifest = json.loads(whole)
        manifest["inputs"][0].update(wrong)
        (folder / MANIFEST).write_text(json.dumps(manifest))
        check_manifest(folder)


OUTSIDE = [
    *("../other/wqst/part-00000.parquet", "wqst/../../other/wqst/part-00000.parquet"),
    *("./wqst/part-00000.parquet", "wqst//part-00000.parquet", "wqst\\part-00000.parquet"),
    *("wqst/*/part-00000.parquet", "qmst/part-00000.parquet", "wqst/part-0000000000.parquet"),
    *("wqst/date=../queue_manager=QM01/../part-00000.parquet", "wqst/part-00000.parquet\0"),
    *("C:/wqst/part-00000.parquet", ""),
]


def test_a_manifest_names_only_files_of_its_own_and_once(whole_dataset: Path, folder: Path) -> None:
    shutil.copytree(whole_dataset, folder.with_name("other"))
    whole = (folder / MANIFEST).read_text()
    tables = json.loads(whole)["files"]
    for change in (
        *({"files": tables | {TABLE: [name]}} for name in (*OUTSIDE, str(whole_dataset / PART))),
        {"files": tables | {TABLE: [PART, PART]}},
        {"records": {str(whole_dataset / RUN): 1}},
    ):
        (folder / MANIFEST).write_text(json.dumps(json.loads(whole) | change))
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


TEXTS = st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def places_in(found: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every dictionary and list of a manifest, with the key of each value in it."""
    keys = found if isinstance(found, dict) else range(len(found) if isinstance(found, list) else 0)
    for key in keys:
        yield found, key
        yield from places_in(found[key])


def spoil(draw: Any, folder: Path, name: str, names: Sequence[str]) -> None:
    """Change a file: a value of the manifest, some bytes, its length, or all of it."""
    file, how = folder / name, draw(st.sampled_from(["fill", "shorten", "swap"]))
    at = draw(st.integers(0, file.stat().st_size))
    if name == MANIFEST:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        where, key = draw(st.sampled_from([*places_in(manifest)]))
        where[key] = draw(VALUES)
        file.write_text(json.dumps(manifest), encoding="utf-8")
    elif how == "fill":
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
    names = sorted(dataset_files(json.loads((folder / MANIFEST).read_text(encoding="utf-8"))))
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
