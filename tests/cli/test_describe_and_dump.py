"""`smfparse describe` and `smfparse dump`: the data explained to a person."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from smfparse.decoding.dictionary import columns, table_names, title
from smfparse.inputs.opening import open_inputs
from smfparse.metrics import views
from tests.support import builders
from tests.support.builders import NOTHING, Section, Write, named_block, qwhs_long, qwhx, smf_record
from tests.support.command import run
from tests.support.smf import block, task, who


def test_describe_lists_every_table_and_view_and_each_column_has_a_meaning() -> None:
    listed = [line.split()[0] for line in run("describe").stdout.splitlines()]
    assert listed == [*table_names(), *views.view_names()]
    docs = {(table, each.name): each.doc for table in table_names() for each in columns(table)}
    assert [place for place, doc in docs.items() if len(doc) < 4] == []
    assert all(map(title, table_names()))
    shown = run("describe", "QJST").stdout
    assert shown == run("describe", "qjst").stdout
    lines = [re.split(r"  +", line) for line in shown.splitlines()]
    doc = "New active logs opened, copy 1"
    assert ["qjstcp1n", "int32", "9.1.2", "QJST+0240 qjstcp1n", doc] in lines
    assert len(lines) == 3 + len(columns("qjst"))


FOUND = {
    "wqst.putn: MQPUT calls": "WQST.putn",
    "qjst.qjstwrw: Log write requests that waited for the write": "QJSTWRW",
    "QJST+0000 qjstid: Block identifier": "QJSTID",
    "wtas_cf.cfcount": "CFCOUNT",
    "wqst_cf.cfcount": "CFCOUNT",
    "api_cost.cpu_per_call: ": "cpu_per_call",
    "QWHS+0010 qwhsstck: ": "qwhs",
    "QJST+0108 qjstiocount: ": "qjstio",
    "TRIPLET+0004 length": "triplet",
}


def test_describe_finds_columns_and_fields_and_offers_near_names_on_a_miss() -> None:
    for said, name in FOUND.items():
        assert f"\n{said}" in "\n" + run("describe", name).stdout, said
    missed = run("describe", "qjstwrx", code=2).stderr
    assert re.search("no table, view, column or measure qjstwrx.*qjstwrw", missed)
    run("describe", "qjst.putn", code=2)


@pytest.fixture
def smf(write: Write) -> Path:
    """A type 2 record, a 115/1 with a long QSST, and a class 3 record of MQ 10."""
    storage = block("QSST", 80, qsstgplf=31)[:72] + bytes.fromhex("C1C2C3C4FFFFFFFF")
    own = task(wtasints=None, wtasinte=None, wtasflag="WTASAEOT")
    blocks, area = [Section([who()]), Section([own])], builders.qwhs_short() + qwhx("QSG1")
    return write(
        builders.foreign_record(2),
        smf_record(115, 1, *[NOTHING] * 8, Section([storage]), area=qwhs_long()),
        smf_record(116, 1, *blocks, area=area, release="946"),
    )


def test_dump_explains_fields_headers_bits_words_groups_and_unknown_bytes(smf: Path) -> None:
    shown = run("dump", smf, "--record", "2").stdout
    lines = [re.split(r"  +", line) for line in shown.splitlines()]
    assert ["0005", "73", "sm115rty", "115"] in lines
    assert ["001C", "000000BC00340001", "triplet 0: QWHS at 00BC, length 52, count 1"] in lines
    assert ["0074", "0000001F", "qsstgplf", "31"] in lines
    unknown = "8 bytes without a field\n00B4  C1C2C3C4 FFFFFFFF"
    assert all(each in shown for each in ("QSST 1: Storage manager statistics", unknown, "ABCD"))
    for place in (["--at", "0x12"], ["--at", "40"], []):  # any byte; the first record of MQ
        assert run("dump", smf, *place).stdout == shown
    shown = run("dump", smf, "--record", "1").stdout
    assert ("sm115sid" in shown, "triplet" in shown) == (True, False)
    shown = run("dump", smf, "--record", "3").stdout
    words = ("536,870,912 WTASAEOT", "wtaslwet: 32 entries are all zero")
    for part in (*words, "qwhxqsg           'QSG1'", "QWHC: Correlation header"):
        assert part in shown


def test_dump_shows_qwhx_where_the_tables_have_it(write: Write) -> None:
    """Sixteen bytes behind QWHS of an older release are none."""
    for release, qsg in (("930", None), ("945", None), ("946", "QSG1")):
        path = write(smf_record(115, 215, area=qwhs_long() + qwhx("QSG1"), release=release))
        assert ("qwhxqsg" in run("dump", path).stdout) is bool(qsg)
        assert open_inputs([path]).arrow("record")["qsg"].to_pylist() == [qsg]


def test_dump_without_such_a_record_says_how_many_there_are(smf: Path) -> None:
    for arguments in (["--record", "9"], ["--at", "0xFFFFFF"]):
        assert "the file has 3 usable records" in run("dump", smf, *arguments, code=2).stderr
    for arguments in (["--record", "1", "--at", "0"], ["--at", "here"]):
        run("dump", smf, *arguments, code=2)


def test_dump_passes_over_triplets_that_cannot_be_as_decoding_does(write: Write) -> None:
    sections = (
        Section([bytes(8)], offset=9000, length=100, count=65535),
        Section(length=0, count=9),
        Section([named_block("QMST", 72)], offset=20),
        Section([named_block("QIST", 80)]),
    )
    for some, said in (
        (sections[:2], "is not in the record"),
        (sections[2:], "QIST 1: Data manager statistics"),
    ):
        path = write(smf_record(115, 2, *some, area=qwhs_long()))
        assert said in run("dump", path, code=0).stdout


ELSEWHERE = {
    "LOG": "LOG is a report; see smfparse report log --explain",
    "d2": "d2 is a finding; see smfparse check --explain D2",
    "LOG-BUSY": "LOG-BUSY is a finding; see smfparse check --explain LOG-BUSY",
}


def test_describe_names_the_command_that_explains_reports_and_findings() -> None:
    for name, said in ELSEWHERE.items():
        assert run("describe", name, code=2).stderr == f"smfparse: {said}\n"
        run(*said.partition("see smfparse ")[2].split(), code=0)


def test_describe_names_the_meaning_of_an_index() -> None:
    said = run("describe", "qjst_io.io_type", code=0).stdout.splitlines()[0]
    assert said == "qjst_io.io_type: Which entry: 1 = one page, 2 = several pages"
