"""Selection: which records of an input give rows, the same from SMF files and from datasets."""

from __future__ import annotations

import datetime as dt
import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from smfparse.decoding import Decoder, Needs
from smfparse.errors import DamageLog, RequestError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.query import Catalog
from smfparse.selecting import Selection, record_mask
from smfparse.store import MANIFEST
from smfparse.tables import RECORD, coded_schema, wanted_tables
from smfparse.writing import write_dataset
from tests.support.builders import (
    NOTHING,
    Section,
    chunk_of,
    named_block,
    qwhs_long,
    rdw,
    smf_record,
)
from tests.support.command import run
from tests.support.short_records import HOUR, MAKERS, NOON, foreign, other, statistics, storage, utc


def write(path: Path, *records: bytes) -> Path:
    path.write_bytes(rdw(records))
    return path


def numbers(path: Path, **asked: Any) -> list[int]:
    """Return the numbers of the selected records."""
    found = open_inputs([path], ReadOptions(Selection.of(**asked))).arrow(RECORD)
    return list(found["record_no"].to_pylist())


DAYS_OF_RECORDS = (
    "2026-03-03T23:59:59.990000",
    "2026-03-04T00:00",
    "2026-03-04T08:00",
    "2026-03-04T12:00:59.990000",
    "2026-03-04T12:01",
    "2026-03-04T23:59:59.990000",
    "2026-03-05T00:00",
    "2026-03-05T08:00",
)
"""When the records of `days` were taken, from record 1."""


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records over two days, all of one queue manager."""
    path = tmp_path_factory.mktemp("days") / "days.smf"
    return write(path, *(statistics(dt.datetime.fromisoformat(each)) for each in DAYS_OF_RECORDS))


@pytest.fixture(scope="module")
def stored_days(days: Path) -> Path:
    """The same records as a dataset."""
    folder = days.parent / "tables"
    write_dataset(open_inputs([days]), folder)
    return folder


TIMES = [
    ("2026-03-04", "2026-03-04", [2, 3, 4, 5, 6]),
    ("2026/03/04", "2026/03/04", [2, 3, 4, 5, 6]),
    ("2026063", "2026063", [2, 3, 4, 5, 6]),
    ("2026-03-04", (), [2, 3, 4, 5, 6, 7, 8]),
    ((), "2026-03-03", [1]),
    ("2026-03-04T08:00", "2026-03-04T12:00", [3, 4]),
    ("2026-03-04 08:00", "2026-03-04 12:00", [3, 4]),
    ("2026063:0800", "2026063:1200", [3, 4]),
    ("2026-03-04T08:00:00", "2026-03-04T12:00:58", [3]),
    ("2026-03-04T08:00:01", "2026-03-04T12:00:59", [4]),
    ((), "2026-03-04T24:00", [1, 2, 3, 4, 5, 6]),
    ("2026-03-04T24:00", (), [7, 8]),
    ("0800", "1200", [3, 4, 8]),
    ("08:00", "12:00", [3, 4, 8]),
    ("0800", (), [1, 3, 4, 5, 6, 8]),
    ((), "0800", [2, 3, 7, 8]),
    ("2200", "0600", [1, 2, 6, 7]),
    ("0000", "2400", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("1201", "1200", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("2026-03-04", "0800", [2, 3, 7, 8]),
    ("0800", "2026-03-04", [1, 3, 4, 5, 6]),
    (("2026-03-04", "0800"), ("1200", "2026-03-04"), [3, 4]),
]


@pytest.mark.slow
def test_a_time_is_local_and_its_end_includes_the_unit_it_names(
    days: Path, stored_days: Path
) -> None:
    query = "SELECT record_no FROM qist ORDER BY 1"
    for since, until, expected in TIMES:
        assert numbers(days, since=since, until=until) == expected, (since, until)
        asked = ReadOptions(Selection.of(since=since, until=until))
        with Catalog(open_inputs([stored_days], asked)) as catalog:
            assert catalog.arrow(query)["record_no"].to_pylist() == expected, (since, until)


NO_TIMES = {
    "is not a time": (
        *("yesterday", "2026-3-4", "20260304", "2026-03/04", "2026-03-04T", "2026-03-04T09"),
        *("9", ""),
    ),
    "no such day": ("2026-02-29", "2026000", "2026366", "0000-01-01"),
    "1900 to 2099": ("1899-12-31", "2100001"),
    "no such time": ("2401", "0960", "09:00:60", "2026-03-04T25:00"),
}


def test_an_impossible_time_is_refused() -> None:
    for reason, texts in NO_TIMES.items():
        for text in texts:
            for option in ("since", "until"):
                with pytest.raises(RequestError, match=reason):
                    Selection.of(**{option: [text]})


def test_times_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(RequestError, match="since= is later than until="):
        Selection.of(since=["2026-03-05"], until=["2026-03-04"])
    with pytest.raises(RequestError, match="at most one date and one time of day"):
        Selection.of(since=["0800", "0900"])
    with pytest.raises(RequestError, match="at most one date and one time of day"):
        Selection.of(until=["2026-03-04", "2026-03-05"])


@pytest.fixture
def named(tmp_path: Path) -> Path:
    names = ("QM01", "QM02", "qm03", "CSQ", "Q.1'")
    records = [statistics(NOON, qmgr=name, system=f"S{at}") for at, name in enumerate(names, 1)]
    return write(tmp_path / "named.smf", *records, foreign(NOON, "S1"), other(NOON, "S2", "QM01"))


def test_names_are_patterns_in_any_case(named: Path) -> None:
    cases: list[tuple[dict[str, Any], list[int]]] = [
        ({"qmgr": "QM01"}, [1]),
        ({"qmgr": "qm01"}, [1]),
        ({"qmgr": "QM*"}, [1, 2, 3]),
        ({"qmgr": "QM0?"}, [1, 2, 3]),
        ({"qmgr": "QM?"}, []),
        ({"qmgr": "CSQ?"}, []),
        ({"qmgr": "*Q*"}, [1, 2, 3, 4, 5]),
        ({"qmgr": "*"}, [1, 2, 3, 4, 5]),
        ({"qmgr": "Q.*"}, [5]),
        ({"qmgr": "q.1'"}, [5]),
        ({"qmgr": "QM01,CSQ"}, [1, 4]),
        ({"qmgr": ["QM01", " csq "]}, [1, 4]),
        ({"qmgr": "JES2"}, []),
        ({"system": "S1"}, [1, 6]),
        ({"system": "S?"}, [1, 2, 3, 4, 5, 6, 7]),
        ({"system": "S2,S3"}, [2, 3, 7]),
        ({"system": "S1,S2", "qmgr": "QM*"}, [1, 2]),
    ]
    for asked, expected in cases:
        assert numbers(named, **asked) == expected, asked


def test_empty_and_too_long_names_are_refused() -> None:
    for text in ("", "QM01,", ",", " "):
        with pytest.raises(RequestError, match="empty name"):
            Selection.of(qmgr=[text])
    for text in ("QM001", "QM*01?"):
        with pytest.raises(RequestError, match="up to 4 characters"):
            Selection.of(system=[text])


def test_types_are_written_as_for_ifasmfdp() -> None:
    for text, expected in {
        "115": "115",
        "115,116": "115,116",
        "115,116(1:2)": "115,116(1:2)",
        "116(1,10)": "116(1,10)",
        "TYPE(115,116(1:3))": "115,116(1:3)",
        "type( 115, 116(1:3, 10) ,30 )": "115,116(1:3,10),30",
        "2:3,110:119": "2:3,110:119",
        "115(215)": "115(215)",
    }.items():
        assert ",".join(map(str, Selection.of(type=[text]).types)) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", ",", "115,", "mq", "115()", "116(", "116(1", "116)", "116(1))", "116((1))"),
        *("116(1)(2)", "116(1:)", "116(:2)", "1:2:3", "2048", "116:115", "116(2:1)", "-1"),
        *("115:116(1)", "116(65536)", "116(1,)", "TYPE(115", "TYPE()", "TYPE(TYPE(115))", "\u0661"),
    ],
)
def test_impossible_types_are_refused(text: str) -> None:
    with pytest.raises(RequestError, match=r"types|ascending"):
        Selection.of(type=[text])


def test_types_and_subtypes_are_those_of_the_header(tmp_path: Path) -> None:
    path = write(tmp_path / "all.smf", *(make(NOON) for make in MAKERS))
    for text, expected in {
        "115": [1, 2, 3, 8],
        "115(5)": [3],
        "115(1:200)": [1, 3, 8],
        "115(2,215)": [1, 2],
        "116(1:2)": [4, 5],
        "115(2),116(2)": [1, 5],
        "2:3": [6],
        "2(0)": [],
        "30(2)": [7],
        "116(3)": [],
        "0:255": [1, 2, 3, 4, 5, 6, 7, 8],
    }.items():
        assert numbers(path, type=text) == expected, text


def test_a_selection_says_what_it_asks() -> None:
    asked = Selection.of(
        qmgr=["qm*", "CSQ1"],
        system=["SYSA"],
        since=["2026-03-04", "2200"],
        until=["2026-03-05", "06:00"],
        type=["115,116(1:2)"],
    )
    assert str(asked) == (
        "qmgr CSQ1,QM*; system SYSA; counted from 2026-03-04 00:00:00; "
        "counted to 2026-03-05 23:59:59; counted daily 22:00:00 to 06:00:59; type 115,116(1:2)"
    )
    assert not asked.everything
    of_smf = Selection.of(since=["2026-03-04", "2200"], until=["2026-03-05"], smf_time=True)
    assert str(of_smf) == (
        "from 2026-03-04 00:00:00; to 2026-03-05 23:59:59; daily 22:00:00 to 23:59:59"
    )
    assert Selection.of(smf_time=True).everything


def test_one_value_is_as_good_as_a_list_of_it() -> None:
    cases: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
        ({"job": "IMS*"}, {"job": ["IMS*"]}),
        ({"qmgr": "QM01,QM02"}, {"qmgr": ["QM01", "QM02"]}),
        ({"type": 115}, {"type": ["115"]}),
        ({"type": [115, "116(1)"]}, {"type": ["115,116(1)"]}),
        ({"since": NOON}, {"since": ["2026-03-04T12:00:00"]}),
        ({"until": [NOON.date(), dt.time(9)]}, {"until": ["2026-03-04", "09:00:00"]}),
    ]
    for one, several in cases:
        assert Selection.of(**one) == Selection.of(**several)


def test_values_of_other_types_are_refused() -> None:
    with pytest.raises(RequestError, match="None: expected a string"):
        Selection.of(job=[None])  # type: ignore[list-item]
    with pytest.raises(RequestError, match="is not a time"):
        Selection.of(since=utc(NOON))


def decoded(
    table: str, chunks: Iterable[Any], asked: Selection, damage: DamageLog | None = None
) -> Any:
    log = DamageLog() if damage is None else damage
    decoder = Decoder(Needs(wanted_tables([table]), asked), log)
    batches = [batch for _, batch in decoder.decode(chunks)]
    return pa.Table.from_batches(batches, schema=coded_schema(table))


def test_a_record_without_utc_takes_the_offset_of_one_that_is_not_selected() -> None:
    records = [statistics(NOON), storage(NOON + HOUR), storage(NOON + HOUR, system="SYS2")]
    chunks = [chunk_of(records[0]), chunk_of(*records[1:], first=2)]
    rows = decoded("qsph", chunks, Selection.of(type=["115(5)"]))
    assert rows["utc_offset"].to_pylist() == [3600, None]
    every = decoded(RECORD, chunks, Selection.of(since=["1300"]))
    assert every["utc_offset"].to_pylist() == [3600, None]


def test_the_blocks_of_records_that_are_not_selected_are_not_looked_for() -> None:
    """So their damage is not reported."""
    broken = Section([named_block("QIST", 80)], offset=9999)
    bad = smf_record(115, 2, NOTHING, broken, area=qwhs_long(), qmgr="QM01")
    damage = DamageLog()
    rows = decoded("qist", [chunk_of(bad)], Selection.of(qmgr=["QM02"]), damage)
    assert rows.num_rows == 0
    assert not damage


def test_a_record_of_mq_too_short_for_a_subtype_has_none() -> None:
    short = struct.pack(">HBB", 18, 0, 0) + statistics(NOON)[4:18]
    chunk = chunk_of(short)
    asked = Selection.of(type=["115(0:65535)"])
    mask = record_mask(asked, chunk.buffer, chunk.start, chunk.length)
    assert mask is not None
    assert mask.tolist() == [False]


def test_convert_writes_what_is_selected_and_notes_it(days: Path, tmp_path: Path) -> None:
    asked = ("--from", "0800", "--until", "1200", "--qmgr", "mq*")
    done = run("convert", days, "--to", tmp_path / "some", *asked)
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "some" / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["selection"] == "qmgr MQ*; counted daily 08:00:00 to 12:00:59"
    assert manifest["tables"][RECORD] == 3
    run("convert", days, "--to", tmp_path / "all")
    manifest = json.loads((tmp_path / "all" / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["selection"] is None


def test_to_is_a_time_but_for_convert_which_has_a_folder_there(days: Path, tmp_path: Path) -> None:
    for option in ("--to", "--until"):
        shown = run("info", days, option, "2026-03-03", "--format", "json")
        assert json.loads(shown.stdout)["records"] == 1
    refused = run("convert", days, "--from", "0800", "--to", "1200")
    assert refused.exit_code == 2
    assert "--until" in refused.stderr
    refused = run("convert", days, "--to", "1200", "--to", tmp_path / "folder")
    assert refused.exit_code == 2
    assert "--until" in refused.stderr
    assert not (tmp_path / "folder").exists()


def test_a_report_without_selected_data_names_the_trace_to_start(days: Path) -> None:
    """It names the selection, too."""
    shown = run("report", "log", days, "--qmgr", "MQ01")
    assert shown.exit_code == 0
    assert "no data for the report log" in shown.stderr
    assert "only records with these were read: qmgr MQ01" in shown.stderr
    assert "no records match" not in shown.stderr


def test_an_unreadable_selection_is_a_wrong_call(days: Path) -> None:
    for option, text in (("--qmgr", "QM001"), ("--from", "noon"), ("--type", "116(1")):
        refused = run("info", days, option, text)
        assert refused.exit_code == 2
        assert refused.stdout == ""
        assert "smfparse: " in refused.stderr


def test_unknown_bytes_of_a_dataset_are_not_those_of_a_selection(tmp_path: Path) -> None:
    """The manifest counts those of all records."""
    longer = Section([named_block("QIST", 100)])
    path = write(tmp_path / "a.smf", smf_record(115, 2, NOTHING, longer, area=qwhs_long()))
    run("convert", path, "--to", tmp_path / "tables")
    whole = json.loads(run("info", tmp_path / "tables", "--format", "json").stdout)
    part = run("info", tmp_path / "tables", "--format", "json", "--qmgr", "MQ01")
    assert whole["unknown_bytes"] == {"QIST": 20}
    assert json.loads(part.stdout)["unknown_bytes"] == {}
