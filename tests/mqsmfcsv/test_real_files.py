"""What mq-smf-csv itself prints of real files is what is written, but for its defects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mqsmfcsv.sheets import Decoded, read_file
from tests.support.command import run
from tests.support.real import REAL_DATA, needs_real_data

pytestmark = [needs_real_data, pytest.mark.slow]

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


_WITH_QSG = (
    "Q5ST QCCT QCST QCTADP QCTDSP QESD QEST QIST QJST QLST QMAC QMST QPST QSST QTST WQ WTAS WTID"
)
EXCUSES = [
    *(_one(file, "QSG", r'"\.{4}"', DOTS) for file in _WITH_QSG.split()),
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
        path = REAL / f"{name}.dat"
        done = run("convert", path, "--format", "mq-smf-csv", "--to", folder / name)
        assert done.exit_code == 0, done.output
    return folder


def _excused(block: str, headings: list[str]) -> dict[str, list[Excuse]]:
    found: dict[str, list[Excuse]] = {}
    for excuse in EXCUSES:
        if excuse.file == block:
            first, last = headings.index(excuse.first), headings.index(excuse.last)
            for heading in headings[first : last + 1]:
                found.setdefault(heading, []).append(excuse)
    return found


@pytest.mark.claim(30, 187)
def test_cells_are_theirs_but_for_defects(written: Path) -> None:
    """Every excuse is needed in each of its columns."""
    needed: set[tuple[Excuse, str]] = set()
    renamed: set[tuple[str, str]] = set()
    all_excuses: set[tuple[Excuse, str]] = set()
    rows = 0
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


def test_the_block_that_theirs_loses_is_written(written: Path) -> None:
    decoded = Decoded(REAL / "TESTCHL.dat").rows["qct_dns"]
    found = read_file(written / "TESTCHL" / "SMF-QCTDNS.csv")
    assert len(found.rows) == len(decoded) == 16
    assert found.column("Request_Count") == [str(each["qctreqn"]) for each in decoded]
