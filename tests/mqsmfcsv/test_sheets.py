"""Every file against plain Python over the tables: of every version that there are dumps of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.mqsmfcsv import Sheet, sheets
from smfparse.mqsmfcsv.declared import Cell, Group
from smfparse.tables import STATISTICS_KEYS, TASK_KEYS, columns, schema
from tests.mqsmfcsv.sheets import Decoded, Row, read_file
from tests.support.command import run
from tests.support.generated import generate_dump

pytestmark = pytest.mark.slow

NAMES = (
    *("Q5ST", "QCCT", "QCST", "QCTADP", "QCTDNS", "QCTDSP", "QCTSSL", "QESD", "QEST", "QIS1"),
    *("QIST", "QJST", "QLST", "QMAC", "QMST", "QPST", "QQST", "QSGM", "QSPH", "QSRS", "QSST"),
    *("QTST", "WQ", "WTAS", "WTID"),
)
BY_NAME = {each.name: each for each in sheets()}
THREAD = ("transaction", "psb", "cics_task")
NOT_PRINTED = {
    "QIST": {"qistraio", "qistrabp"},
    "QPST": {"qpstflag"},
    "QESD": {"qesdflag"},
    "QIS1": {"qis1flag"},
    "QQST": {"qqstflag"},
    "QSPH": {"qsphflags"},
    "QMAC": {"qwhclen", "qwhctyp", *THREAD},
    "QJST": {"qjstiosqu", "qjsthliosqu"},
    "WTID": {"wtidcfwd", "wtidcbwd", "wtidwtas", *THREAD},
    "WTAS": {
        *("wtasmthr", "wtaswtas", "wtaslatc", "wtashshi", "wtasnext", "wtascqf", "wtascqb"),
        *("wtastpn", "wtasflag", "wtasaeot"),
    },
    "WQ": {
        *("wqver", "wqnext", "wqback", "flags", "facctqc", "fnoacctg", "ftopic"),
        *(f"{verb}eye" for verb in ("open", "close", "get", "put", "put1", "inq", "set", "cb")),
    },
}
"""Columns of ours that mq-smf-csv does not show (15 of its defects, chains, marks, flag words)."""


def test_each_field_is_in_its_file_once() -> None:
    assert sorted(BY_NAME) == sorted(NAMES)
    assert len({each.table for each in sheets()}) == len(NAMES)
    keys = {each.name for each in (*STATISTICS_KEYS, *TASK_KEYS)}
    first = set(schema("record").names) | keys | {"slot"}
    for name, sheet in BY_NAME.items():
        names = {each.name for each in columns(sheet.table) if not each.name.endswith("_text")}
        own = names - first
        shown = [each.field for each in sheet.parts if isinstance(each, Cell) and each.field in own]
        assert set(shown) == own - NOT_PRINTED.get(name, set()), name
        assert [each for each in own if shown.count(each) > 1] == ["wtidcori"] * (name == "WTID")
        for group in sheet.groups:
            index = {field for field, _ in group.entries[0].index}
            assert index | {each.field for each in group.cells} <= set(schema(group.table).names)


def _number(value: Any) -> str:
    return "" if value is None else str(int(value))


def _moment(value: dt.datetime | None) -> list[str]:
    if value is None:
        return ['""', '""']
    return [f'"{value:%Y/%m/%d}"', f'"{value:%H:%M:%S},{value.microsecond:06}"']


def _quoted(value: str | None, width: int) -> str:
    if value is None:
        return ""
    seen = "".join(each if each.isprintable() else "." for each in value)
    if seen.lstrip(" ")[:1] in tuple("=+-@") and not seen[1:].isdecimal():
        seen = f"'{seen}"
    return '"' + seen.ljust(width).replace('"', '""') + '"'


def _seconds(value: float | None) -> list[str]:
    seconds, rest = divmod(int(value or 0), 1_000_000)
    return ["", ""] if value is None else [str(seconds), f" {rest} "]


def _local(row: Row) -> list[str]:
    start = row["interval_start"]
    return _moment(start and start + dt.timedelta(seconds=row["utc_offset"]))


def _characters(digits: str) -> str:
    text = bytes.fromhex(digits).decode("cp500")
    return _quoted("".join(each if " " <= each <= "~" else "." for each in text), len(text))


def _token(row: Row) -> str:
    if row["task_thread"] is None:
        return ""
    return f'"{row["task_started_tod"]:016X}{row["task_thread"]:016X}"'


def _release(row: Row) -> str:
    parts = [int(each) for each in row["mq_version"].split(".")]
    form = "{:02}{:02}{:02}" if parts[0] > 9 else "{}{}{}"
    return '"' + form.format(*parts) + '"'


SPECIAL: dict[str, Callable[[Cell, Row], list[str]]] = {
    "date": lambda cell, row: _moment(row["smf_time"])[:1],
    "time": lambda cell, row: _moment(row["smf_time"])[1:],
    "release": lambda cell, row: [_release(row)],
    "local": lambda cell, row: _local(row),
    "seconds": lambda cell, row: [_number(row[cell.field])],
    "microseconds": lambda cell, row: [_number(row[cell.field])],
    "index": lambda cell, row: [str(row["block_no"] - 1)],
    "hexadecimal": lambda cell, row: [f"{row[cell.field]:X}"],
    "characters": lambda cell, row: [_characters(row[cell.field])],
    "token": lambda cell, row: [_token(row)],
    "marked": lambda cell, row: [_quoted(row[cell.field] if row[cell.second] else "", cell.width)],
    "hex": lambda cell, row: [_quoted(row[cell.field], 2 * cell.width)],
}


def _cells(cell: Cell, row: Row, kind: str) -> list[str]:
    """Return what a column has to be for a row, by the Arrow type of its field."""
    value = row[cell.field]
    if cell.form in SPECIAL:
        return SPECIAL[cell.form](cell, row)
    if cell.words:
        key = str(value).lower()
        return [""] if value is None else [f'"{dict(cell.words).get(key, "")}"']
    if kind == "double":
        return _seconds(value)
    if kind.startswith("timestamp"):
        return _moment(value)
    return [_quoted(value, cell.width)] if kind == "string" else [_number(value)]


def _kind(table: str, field: str) -> str:
    return str(schema(table).field(field).type)


def _of_group(group: Group, row: Row, file: Decoded) -> Iterator[str]:
    for entry in group.entries:
        found = file.entry(row, group.table, tuple(value for _, value in entry.index))
        for cell in group.cells:
            kind = _kind(group.table, cell.field)
            zero = None if kind.startswith("timestamp") else "" if kind == "string" else 0
            cells = _cells(cell, found or {cell.field: zero}, kind)
            held = not group.held or row[group.held] is not None
            yield from cells if held else [""] * len(cells)


def expected(sheet: Sheet, row: Row, file: Decoded) -> Iterator[str]:
    """Return the cells of a row."""
    for part in sheet.parts:
        if isinstance(part, Group):
            yield from _of_group(part, row, file)
        else:
            yield from _cells(part, row, _kind(sheet.table, part.field))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("version", ["6.0.0", "7.1.0", "8.0.0", "9.3.0", "10.0.0"])
def test_files_have_any_value_of_every_version(version: str, tmp_path: Path) -> None:
    dump = generate_dump(tmp_path / "dump.smf", version=version, count=1, tasks=4, dense=True)
    done = run("convert", dump, "--format", "mq-smf-csv", "--to", tmp_path / "out")
    assert done.exit_code == 0, done.output
    file = Decoded(dump)
    with_rows = [each for each in sheets() if file.rows[each.table]]
    found = {each.name for each in (tmp_path / "out").glob("*.csv")}
    assert found == {each.file for each in with_rows}
    assert len(found) == len(NAMES) or version != "10.0.0"
    for sheet in with_rows:
        ours, rows = read_file(tmp_path / "out" / sheet.file), file.rows[sheet.table]
        for cells, row in zip(ours.rows, rows, strict=True):
            for heading, cell, other in zip(
                ours.headings, cells, expected(sheet, row, file), strict=True
            ):
                assert cell == other, (sheet.name, heading)
