"""Every file against plain Python over the tables, and real ones against mq-smf-csv itself."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from smfparse.decoding.arrow import schema
from smfparse.decoding.dictionary import STATISTICS_KEYS, TASK_KEYS, columns
from smfparse.inputs.opening import open_inputs
from smfparse.mqsmfcsv.declared import Cell, Group, Sheet, sheets
from tests.mqsmfcsv.sheets import read_file
from tests.support.datasets import convert, every_table
from tests.support.generated import generate_dump
from tests.support.real import REAL_DATA, needs_real_data

pytestmark = pytest.mark.slow
Row: TypeAlias = Mapping[str, Any]

NAMES = (
    *("Q5ST", "QCCT", "QCST", "QCTADP", "QCTDNS", "QCTDSP", "QCTSSL", "QESD", "QEST", "QIS1"),
    *("QIST", "QJST", "QLST", "QMAC", "QMST", "QPST", "QQST", "QSGM", "QSPH", "QSRS", "QSST"),
    *("QTST", "WQ", "WTAS", "WTID"),
)
BY_NAME = {each.name: each for each in sheets()}
THREAD = ("transaction", "psb", "cics_task")
NOT_PRINTED = {
    "QIST": {"qistraio", "qistrabp"},
    **{name: {f"{name.lower()}flag"} for name in ("QPST", "QESD", "QIS1", "QQST")},
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


INDEX = {
    "qjst_io": ("copy", "io_type"),
    "wtas_latch": ("latch",),
    "wtas_cf": ("phase", "request"),
    "wqst_cf": ("verb", "request"),
}
"""Index columns of the child tables whose rows are columns of their block."""


class Decoded:
    """All our tables of one SMF file: `rows` of each; child rows by block and index too."""

    def __init__(self, path: Path) -> None:
        tables = every_table(open_inputs([path]))
        self.rows: dict[str, list[Row]] = {name: tables[name].to_pylist() for name in tables}
        self._entries = {
            (table, row["record_no"], row["block_no"], tuple(row[name] for name in index)): row
            for table, index in INDEX.items()
            for row in self.rows[table]
        }

    def entry(self, owner: Row, table: str, index: tuple[Any, ...]) -> Row | None:
        """Return one entry of a repeated group of the block that `owner` is the row of."""
        return self._entries.get((table, owner["record_no"], owner["block_no"], index))


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
    for part in sheet.parts:
        if isinstance(part, Group):
            yield from _of_group(part, row, file)
        else:
            yield from _cells(part, row, _kind(sheet.table, part.field))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("version", ["6.0.0", "7.1.0", "8.0.0", "9.3.0", "10.0.0"])
def test_files_have_any_value_of_every_version(version: str, tmp_path: Path) -> None:
    dump = generate_dump(tmp_path / "dump.smf", version=version, count=1, tasks=4, dense=True)
    convert(dump, "--format", "mq-smf-csv", "--to", tmp_path / "out")
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


# What mq-smf-csv itself prints of real files is what is written, but for its defects --------------

REAL = REAL_DATA or Path()
FILES = ("TEST115", "TEST116", "TESTCHL")
NOT_HELD = "11: a block that does not hold a field is shown as -1, which is a value of others"
NO_MESSAGE = "11: the sentinel of no message becomes -1"
NEVER = "11: the sentinel of no time becomes 0"
DOTS = "11: a text that is not there is shown as dots, which names may have"
BYTES_OF_ZERO = "13: bytes of zero are shown as dots, which names may have"
BACKSLASH = "13: a backslash is shown as a dot"
TABLE = "13: a backslash is shown as a dot, and X'8E' as a plus sign"


@dataclass(frozen=True)
class Excuse:
    """Cells of a file, in columns from first to last, that are not as mq-smf-csv prints them.

    theirs  what it prints, as a regular expression
    """

    file: str
    first: str
    last: str
    theirs: str
    reason: str

    def holds(self, theirs: str, ours: str) -> bool:
        """Whether both cells are as the reason says."""
        if not re.fullmatch(self.theirs, theirs):
            return False
        if self.reason == BYTES_OF_ZERO:
            return ours == theirs.replace(".", " ")
        if self.reason == BACKSLASH:
            return "\\" in ours and ours.replace("\\", ".") == theirs
        if self.reason == TABLE:
            return ours.replace("\\", ".") == theirs.replace("+", ".")
        return ours == ""


def _one(file: str, column: str, theirs: str, reason: str) -> Excuse:
    return Excuse(file, column, column, theirs, reason)


_WITHOUT_QSG = {"QCTDNS", "QCTSSL", "QIS1", "QQST", "QSGM", "QSPH", "QSRS"}
EXCUSES = [
    *(_one(file, "QSG", r'"\.{4}"', DOTS) for file in NAMES if file not in _WITHOUT_QSG),
    Excuse("QCCT", "Storage_Usage_64", "Storage_Limit_64", "-1", NOT_HELD),
    Excuse("QMST", "PersPuts", "Otel_SMF_Failed_Capacity", "-1", NOT_HELD),
    Excuse("QMST", "Otel_CPU_Time(S)", "Otel_Wait_SMF_Time(US)", "-1| -1 ", NOT_HELD),
    Excuse("QMST", "Otel_EmissionTasks", "Otel_IMS_Bridge_Discard", "-1", NOT_HELD),
    Excuse("QJST", "Copy1_New_Logs", "New_Logs_ZHL_Enabled", "-1", NOT_HELD),
    _one("WQ", "Streamed_Msgs", "-1", NOT_HELD),
    _one("WQ", "Get_Min_Msg_Size", "-1", NO_MESSAGE),
    _one("WQ", "Put_Min_Msg_Size", "-1", NO_MESSAGE),
    _one("QCST", "Exit_Time_Min", "0", NEVER),
    _one("QCST", "Remote_Product_ID", r'"\.{5}"', DOTS),
    _one("QCST", "Remote_Product_Version", r'"\.{5}"', DOTS),
    _one("QESD", "Encrypted", r'"\.{5}"', DOTS),
    *(
        _one("QJST", f"IO_Max_{what}Log_ID {{{copy}.{kind}}}", r'"\.{8}"', BYTES_OF_ZERO)
        for what in ("", "Suspend_")
        for copy in (1, 2)
        for kind in (1, 2)
    ),
    _one("WTID", "Channel_Name", r'"\.{20}"', BYTES_OF_ZERO),
    _one("WTID", "Channel_Connection_Name", r'"\.{48}"', BYTES_OF_ZERO),
    _one("WTID", "Correl(CHAR)", r'".{12}"', TABLE),
    _one("QCST", "Remote_QMgr_Or_App", r'"Sphere MQ\.bin64\..*"', BACKSLASH),
]
HEADINGS = {
    ("Q5ST", f"SSKT_{part}_Update_{what}({unit})"): f"SSKT_{part}_Delete_{what}({unit})"
    for part in ("Thread", "SQL")
    for what in ("Elapsed", "Max")
    for unit in ("S", "US")
}
"""6: times of deletes are called those of updates."""
ONLY_OURS = {name: {"MQTABLES.ddl"} for name in FILES}
ONLY_OURS["TESTCHL"] |= {"SMF-QCTDNS.csv"}  # 8: it looks for this block of MQ 8.0.0 nowhere
ROWS = 1_268
"""Of all files together."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that is written of the real files, a folder for each."""
    folder = tmp_path_factory.mktemp("real")
    for name in FILES:
        convert(REAL / f"{name}.dat", "--format", "mq-smf-csv", "--to", folder / name)
    return folder


def _excused(block: str, headings: list[str]) -> dict[str, list[Excuse]]:
    found: dict[str, list[Excuse]] = {}
    for excuse in EXCUSES:
        if excuse.file == block:
            first, last = headings.index(excuse.first), headings.index(excuse.last)
            for heading in headings[first : last + 1]:
                found.setdefault(heading, []).append(excuse)
    return found


@needs_real_data
@pytest.mark.claim(30, 187)
def test_cells_are_theirs_but_for_defects(written: Path) -> None:
    """Every excuse is needed in each of its columns."""
    needed, all_excuses = set[tuple[Excuse, str]](), set[tuple[Excuse, str]]()
    renamed, rows = set[tuple[str, str]](), 0
    for name in FILES:
        names = {each.name for each in (REAL / "peer-csv" / name).glob("*.csv")}
        assert {each.name for each in (written / name).iterdir()} == names | ONLY_OURS[name]
    for path in (path for each in FILES for path in (REAL / "peer-csv" / each).glob("*.csv")):
        file, theirs = path.name, read_file(path)
        ours = read_file(written / path.parent.name / file)
        block = file.removeprefix("SMF-").removesuffix(".csv")
        called = [HEADINGS.get((block, each), each) for each in theirs.headings]
        assert ours.headings == called, file
        renamed |= {(block, each) for each in theirs.headings if each not in called}
        excused = _excused(block, theirs.headings)
        all_excuses |= {(each, heading) for heading in excused for each in excused[heading]}
        for their_row, our_row in zip(theirs.rows, ours.rows, strict=True):
            rows += 1
            for heading, one, other in zip(theirs.headings, their_row, our_row, strict=True):
                if one != other:
                    why = [each for each in excused.get(heading, ()) if each.holds(one, other)]
                    assert why, (file, heading, one, other)
                    needed |= {(each, heading) for each in why}
    assert needed == all_excuses
    assert {excuse for excuse, _ in needed} == set(EXCUSES)
    assert renamed == set(HEADINGS)
    assert rows == ROWS
    assert len(read_file(written / "TESTCHL" / "SMF-QCTDNS.csv").rows) == 16
