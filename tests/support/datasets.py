"""A dataset as an earlier version wrote it: without the columns that came later."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from smfparse.store import MANIFEST, checksum, dataset_files, qmgr_value
from smfparse.tables import DAMAGE, RECORD, columns, table_names

LATER = (
    *("counted_at", "task_source", "task_record_offset", "task_started_tod", "task_thread"),
    *("sequence_no", "seconds_ahead"),
)
"""Columns that no dataset of format 4 has."""
LATER_BY_TABLE = {
    table: [each.name for each in columns(table) if each.name in LATER] for table in table_names()
}
NULL_BY_TABLE = {
    table: [each for each in later if each not in ("counted_at", "task_record_offset")]
    for table, later in LATER_BY_TABLE.items()
}
"""Those of them that are NULL there; the other two are made of columns that it has."""


def make_older(folder: Path) -> None:
    """Make of a dataset one of format 4."""
    divide_as_before(folder)
    for table in table_names():
        for file in (folder / table).rglob("*.parquet"):
            forget_derived(file)
            drop(file, *LATER_BY_TABLE[table])
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    del manifest["columns"]
    manifest["format"] = 4
    for each in manifest["inputs"]:
        del each["identity"]
        each["sha256"] = checksum(Path(each["name"]))
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def narrow(folder: Path) -> None:
    """Make of a dataset one of format 9: the type of a record is one byte."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    for table in (RECORD, DAMAGE):
        for name in manifest["files"][table]:
            rows = pq.ParquetFile(folder / name).read()
            place = rows.schema.get_field_index("type")
            one_byte = rows["type"].cast(pa.uint8())
            pq.write_table(rows.set_column(place, "type", one_byte), folder / name)
            manifest["checksums"][name] = checksum(folder / name)
    manifest["format"] = 9
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def divide_as_before(folder: Path) -> None:
    """Divide every table of a partitioned dataset by queue manager, as format 8 did."""
    narrow(folder)
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    del manifest["by_queue_manager"]
    for table in table_names():
        for file in sorted((folder / table).glob("date=*/*.parquet")):
            names = _divide(file)
            before = file.relative_to(folder).as_posix()
            _, *days = manifest["rows"].pop(before)
            del manifest["checksums"][before]
            manifest["files"][table].remove(before)
            for each in names:
                name = each.relative_to(folder).as_posix()
                manifest["files"][table].append(name)
                manifest["rows"][name] = [pq.read_metadata(each).num_rows, *days]
                manifest["checksums"][name] = checksum(each)
    manifest["format"] = 8
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def _divide(file: Path) -> list[Path]:
    """Write a file again as one for each queue manager, and remove it; return these."""
    rows, found = pq.ParquetFile(file).read(), []
    for name in rows["qmgr"].unique().to_pylist() or [None]:
        value = "no-qmgr" if name is None else qmgr_value(name)
        place = file.parent / f"queue_manager={value}" / file.name
        place.parent.mkdir()
        own = pc.is_null(rows["qmgr"]) if name is None else pc.equal(rows["qmgr"], name)
        pq.write_table(rows.filter(own), place)
        found.append(place)
    file.unlink()
    return found


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


def forget_derived(file: Path) -> None:
    """Write a file again without the intervals of records that hold none (MQ 7)."""
    rows = pq.ParquetFile(file).read()
    if "counted_at" not in rows.column_names:
        return
    is_derived = pc.equal(rows["counted_at"], rows["smf_time"])
    for name in ("interval_start", "interval_seconds"):
        at = rows.column_names.index(name)
        none = pa.scalar(None, rows[name].type)
        rows = rows.set_column(
            at, rows.schema.field(name), pc.if_else(is_derived, none, rows[name])
        )
    pq.write_table(rows, file)


def drop(file: Path, *names: str) -> None:
    """Write a file of a table again without some of its columns."""
    pq.write_table(pq.ParquetFile(file).read().drop_columns(list(names)), file)


def identity_of(dump: Path) -> str:
    """The identity of a dump, worked out record by record without smfparse."""
    data, found = dump.read_bytes(), hashlib.sha256()
    at, record = 0, b""
    while at < len(data):
        length = int.from_bytes(data[at : at + 2])
        record += data[at + 4 : at + length]
        goes_on = data[at + 2] & 3 in (1, 3)
        at += length
        if not goes_on:
            number = header_hash(record, len(record) + 4)
            found.update(number.to_bytes(8) + hashlib.sha256(record).digest()[:8])
            record = b""
    return found.hexdigest()


def header_hash(record: bytes, length: int) -> int:
    """The hash of the SMF header of a record behind its RDW, up to the subtype, and its length."""
    words = struct.unpack("<5I", record[:20].ljust(20, b"\0"))
    made = length
    for word in words:
        made = (made ^ word) * 0x9E3779B97F4A7C15 % 2**64
        made ^= made >> 32
    return made
