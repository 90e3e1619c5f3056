"""Record types above 255 are in the extended SMF header, behind type 126 (IBM's SMF manual)."""

from __future__ import annotations

from pathlib import Path

import pytest

import smfparse
from smfparse.inputs import open_inputs
from smfparse.writing import append_dataset, write_dataset
from tests.support.builders import (
    Section,
    extended_record,
    foreign_record,
    named_block,
    qwhs_long,
    smf_record,
)
from tests.support.command import run
from tests.support.reading import Reading
from tests.support.variants import BY_NAME, FRAMINGS

MQ = smf_record(115, 2, Section(), Section([named_block("QIST", 80)]), area=qwhs_long())
OTHER = smf_record(115, 2, Section(), Section(), area=qwhs_long(), qmgr="MQ09")
RECORDS = [
    foreign_record(2),
    MQ,
    extended_record(1154, 2, bytes(range(256))),
    extended_record(2047),
    MQ,
    extended_record(200, 7, b"\xff" * 40),
    foreign_record(3),
]
TYPES = [2, 115, 1154, 2047, 115, 200, 3]
BY_NUMBER = "SELECT type FROM record ORDER BY source, record_no"


def types_in(path: Path) -> list[int]:
    data = smfparse.open(path)
    found: list[int] = data.sql(BY_NUMBER).to_pydict()["type"]
    return found


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.smf"
    path.write_bytes(b"".join(RECORDS))
    return path


@pytest.mark.parametrize("name", FRAMINGS)
def test_the_type_is_that_of_the_extended_header_in_every_framing(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "input"
    path.write_bytes(BY_NAME[name].write([each[4:] for each in RECORDS]).data)
    found = Reading(path)
    assert (found.bodies, found.damage) == ([each[4:] for each in RECORDS], [])
    assert types_in(path) == TYPES


NOT_SOUND = {
    "no bit of an extended header": extended_record(1154, flags=0x5E),
    "no bit of a subtype": extended_record(1154, flags=0x3E),
    "another length": extended_record(1154, length=31),
    "another version": extended_record(1154, version=2),
    "more than any type": extended_record(2048),
    "a type of MQ": extended_record(115),
    "a type of the dump program": extended_record(2),
    "too short": b"\0\x37\0\0" + extended_record(1154)[4:-1],
    "a standard header": foreign_record(126),
}


@pytest.mark.parametrize("what", NOT_SOUND)
def test_a_record_whose_extended_header_is_not_sound_stays_126(what: str, tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"".join([MQ, NOT_SOUND[what], MQ]))
    assert types_in(path) == [115, 126, 115]


def test_types_above_255_are_shown_and_selected(dump: Path) -> None:
    assert "1154        2        1" in run("info", dump).stdout
    for asked, count in (("1154", 1), ("1154(1)", 0), ("256:2047", 2), ("126", 0), ("200", 1)):
        counted = run(
            "sql", dump, "SELECT count(*) FROM record", "--type", asked, "--format", "csv"
        )
        assert counted.stdout.splitlines()[1:] == [str(count)], asked
    shown = run("dump", dump, "--record", 3).stdout
    assert "the SMF record type is 1154" in shown
    assert "0034  0482" in shown


def test_the_views_of_a_dataset_that_was_added_to_have_all_types(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    first = tmp_path / "first.smf"
    first.write_bytes(OTHER + foreign_record(255))
    folder = tmp_path / "dataset"
    write_dataset(open_inputs([first]), folder)
    append_dataset(open_inputs([dump]), folder)
    monkeypatch.chdir(folder)
    with duckdb.connect() as connection:
        connection.execute((folder / "views.sql").read_text(encoding="utf-8"))
        rows = connection.sql("SELECT type, typeof(type) FROM record").fetchall()
    assert sorted(row[0] for row in rows) == sorted([115, 255, *TYPES])
    assert {row[1] for row in rows} == {"USMALLINT"}
