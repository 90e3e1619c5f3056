"""A dataset as an earlier version wrote it: without the columns that came later."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from smfparse.store import MANIFEST, checksum, dataset_files
from smfparse.tables import columns, table_names

LATER = ("counted_at", "task_record_offset")
"""Columns that no dataset of format 4 has."""
LATER_BY_TABLE = {
    table: [each.name for each in columns(table) if each.name in LATER] for table in table_names()
}
NULL_BY_TABLE = {
    table: [each for each in later if each != "counted_at"]
    for table, later in LATER_BY_TABLE.items()
}
"""Those of them that are NULL there; `counted_at` is worked out."""


def make_older(folder: Path) -> None:
    """Make of a dataset one of format 4."""
    for table in table_names():
        for file in (folder / table).rglob("*.parquet"):
            drop(file, *LATER_BY_TABLE[table])
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    del manifest["columns"]
    manifest["format"] = 4
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def name_folders_as_before(folder: Path) -> None:
    """Give the folders of a partitioned dataset the names that format 4 had."""
    manifest = folder / MANIFEST
    text = manifest.read_text(encoding="utf-8").replace("/queue_manager=", "/qmgr=")
    manifest.write_text(text, encoding="utf-8")
    for each in folder.glob("*/date=*/queue_manager=*"):
        each.rename(each.with_name(each.name.replace("queue_manager=", "qmgr=")))


def note_checksums(folder: Path) -> None:
    """Let the manifest have the checksums that the files have now, as one who forges them does."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    manifest["checksums"] = {each: checksum(folder / each) for each in dataset_files(manifest)}
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def drop(file: Path, *names: str) -> None:
    """Write a file of a table again without some of its columns."""
    pq.write_table(pq.ParquetFile(file).read().drop_columns(list(names)), file)
