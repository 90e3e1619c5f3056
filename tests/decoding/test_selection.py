"""Selection: which records of an input give rows, the same from SMF files and from datasets."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from smfparse.decoding.dictionary import RECORD
from smfparse.decoding.selected_rows import record_mask
from smfparse.decoding.selection import Selection
from smfparse.errors import RequestError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.query.catalog import Catalog
from smfparse.writing.dataset import write_dataset
from tests.support import builders
from tests.support.command import in_json, run
from tests.support.short_records import HOUR, MAKERS, NOON, foreign, other, statistics, storage, utc


def numbers(path: Path, **asked: Any) -> list[int]:
    found = open_inputs([path], ReadOptions(Selection.of(**asked))).arrow(RECORD)
    return list(found["record_no"].to_pylist())


DAYS_OF_RECORDS = (
    *("2026-03-03T23:59:59.990000", "2026-03-04T00:00", "2026-03-04T08:00"),
    *("2026-03-04T12:00:59.990000", "2026-03-04T12:01", "2026-03-04T23:59:59.990000"),
    *("2026-03-05T00:00", "2026-03-05T08:00"),
)
"""When the records of `days` were taken, from record 1."""


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records over two days, all of one queue manager."""
    moments = map(dt.datetime.fromisoformat, DAYS_OF_RECORDS)
    return builders.put(tmp_path_factory.mktemp("days") / "days.smf", *map(statistics, moments))


TIMES = [
    ("2026-03-04", "2026-03-04", [2, 3, 4, 5, 6]), ("2026/03/04", "2026/03/04", [2, 3, 4, 5, 6]),
    ("2026063", "2026063", [2, 3, 4, 5, 6]), ("2026-03-04", (), [2, 3, 4, 5, 6, 7, 8]),
    ((), "2026-03-03", [1]), ("2026063:0800", "2026063:1200", [3, 4]),
    ("2026-03-04T08:00:00", "2026-03-04T12:00:58", [3]),
    ((), "2026-03-04T24:00", [1, 2, 3, 4, 5, 6]), ("0800", "1200", [3, 4, 8]),
    ("0800", (), [1, 3, 4, 5, 6, 8]), ((), "0800", [2, 3, 7, 8]), ("2200", "0600", [1, 2, 6, 7]),
    ("0800", "2026-03-04", [1, 3, 4, 5, 6]),
    (("2026-03-04", "0800"), ("1200", "2026-03-04"), [3, 4]),
]  # fmt: skip


@pytest.mark.slow
def test_a_time_is_local_and_its_end_includes_the_unit_it_names(days: Path, tmp_path: Path) -> None:
    write_dataset(open_inputs([days]), tmp_path / "tables")
    for since, until, expected in TIMES:
        assert numbers(days, since=since, until=until) == expected, (since, until)
        asked = ReadOptions(Selection.of(since=since, until=until))
        with Catalog(open_inputs([tmp_path / "tables"], asked)) as catalog:
            found = catalog.arrow("SELECT record_no FROM qist ORDER BY 1")
        assert found["record_no"].to_pylist() == expected, (since, until)


IMPOSSIBLE: dict[str, dict[str, Sequence[Any]]] = {
    "is not a time": {
        "since": ("yesterday", "2026-3-4", "20260304", "2026-03/04", "2026-03-04T", "9", ""),
        "until": ("2026-03-04T09", utc(NOON)),
    },
    "no such day": {
        "since": ("2026-02-29", "2026000", "2026366", "0000-01-01"), "until": ("2026-02-29",),
    },
    "1900 to 2099": {"since": ("1899-12-31", "2100001")},
    "no such time": {"until": ("2401", "0960", "09:00:60", "2026-03-04T25:00")},
    "at most one date and one time of day": {
        "since": (["0800", "0900"],), "until": (["2026-03-04", "2026-03-05"],),
    },
    "empty name": {"qmgr": ("", "QM01,", ",", " "), "job": ("A,",), "queue": ("",)},
    "names of jobs have up to 8 characters": {"job": ("PAYROLL01", "????????A")},
    "names of queues have up to 48 characters": {"queue": ("Q" * 49,)},
    "names of transactions have up to 8 characters": {"transaction": ("PSBPAY001",)},
    "names of channels have up to 20 characters": {"channel": ("C" * 21,)},
    "up to 4 characters": {"system": ("QM001", "QM*01?")},
    "expected a string": {"job": ([None],)},
    "types|ascending": {
        "type": (
            *("", ",", "115,", "mq", "115()", "116(", "116(1", "116)", "116(1))", "116((1))"),
            *("116(1)(2)", "116(1:)", "116(:2)", "1:2:3", "2048", "116:115", "116(2:1)", "-1"),
            *("115:116(1)", "116(65536)", "116(1,)", "TYPE(115", "TYPE()", "TYPE(TYPE(115))"),
            "\u0661",
        ),
    },
}  # fmt: skip
"""What is said of values that options cannot have."""


def test_an_impossible_selection_is_refused() -> None:
    for reason, options in IMPOSSIBLE.items():
        for option, values in options.items():
            for value in values:
                with pytest.raises(RequestError, match=reason):
                    Selection.of(**{option: value})
    longest = {"job": "*A234567?*", "queue": "*" + "Q" * 48, "channel": "C" * 20}
    assert not Selection.of(**longest).everything
    with pytest.raises(RequestError, match="since= is later than until="):
        Selection.of(since=["2026-03-05"], until=["2026-03-04"])


NAMES: list[tuple[dict[str, Any], list[int]]] = [
    ({"qmgr": "qm0?"}, [1, 2, 3]), ({"qmgr": "QM?"}, []), ({"qmgr": "CSQ?"}, []),
    ({"qmgr": "*Q*"}, [1, 2, 3, 4, 5]), ({"qmgr": "q.1'"}, [5]),
    ({"qmgr": ["QM01", " csq "]}, [1, 4]), ({"system": "S1"}, [1, 6]),
    ({"system": "S?"}, [1, 2, 3, 4, 5, 6, 7]), ({"system": "S2,S3"}, [2, 3, 7]),
    ({"system": "S1,S2", "qmgr": "QM*"}, [1, 2]),
]  # fmt: skip


def test_names_are_patterns_in_any_case(write: builders.Write) -> None:
    names = ("QM01", "QM02", "qm03", "CSQ", "Q.1'")
    records = [statistics(NOON, qmgr=name, system=f"S{at}") for at, name in enumerate(names, 1)]
    path = write(*records, foreign(NOON, "S1"), other(NOON, "S2", "QM01"))
    for asked, expected in NAMES:
        assert numbers(path, **asked) == expected, asked


def test_types_are_written_as_for_ifasmfdp() -> None:
    for text, expected in {
        "115": "115",
        "115,116(1:2)": "115,116(1:2)",
        "116(1,10)": "116(1,10)",
        "TYPE(115,116(1:3))": "115,116(1:3)",
        "type( 115, 116(1:3, 10) ,30 )": "115,116(1:3,10),30",
    }.items():
        assert ",".join(map(str, Selection.of(type=[text]).types)) == expected


def test_types_and_subtypes_are_those_of_the_header(write: builders.Write) -> None:
    path = write(*(make(NOON) for make in MAKERS))
    of_115 = {"115": [1, 2, 3, 8], "115(1:200)": [1, 3, 8], "115(2,215)": [1, 2]}
    others = {"115(2),116(2)": [1, 5], "2:3": [6], "116(3)": [], "0:255": [*range(1, 9)]}
    for text, expected in (of_115 | others).items():
        assert numbers(path, type=text) == expected, text


def test_a_selection_says_what_it_asks() -> None:
    since, until = ["2026-03-04", "2200"], ["2026-03-05", "06:00"]
    names: dict[str, Any] = {"qmgr": ["qm*", "CSQ1"], "system": "SYSA"}
    asked = Selection.of(**names, since=since, until=until, type="115,116(1:2)")
    assert str(asked) == (
        "qmgr CSQ1,QM*; system SYSA; counted from 2026-03-04 00:00:00; "
        "counted to 2026-03-05 23:59:59; counted daily 22:00:00 to 06:00:59; type 115,116(1:2)"
    )
    assert str(Selection.of(since=since, until=until[:1], smf_time=True)) == (
        "from 2026-03-04 00:00:00; to 2026-03-05 23:59:59; daily 22:00:00 to 23:59:59"
    )
    assert (asked.everything, Selection.of(smf_time=True).everything) == (False, True)


def test_one_value_is_as_good_as_a_list_of_it() -> None:
    cases: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
        ({"job": "IMS*"}, {"job": ["IMS*"]}),
        ({"type": 115}, {"type": ["115"]}),
        ({"type": [115, "116(1)"]}, {"type": ["115,116(1)"]}),
        ({"since": NOON}, {"since": ["2026-03-04T12:00:00"]}),
        ({"until": [NOON.date(), dt.time(9)]}, {"until": ["2026-03-04", "09:00:00"]}),
    ]
    for one, several in cases:
        assert Selection.of(**one) == Selection.of(**several)


def test_a_record_without_utc_takes_the_offset_of_an_unselected_one(write: builders.Write) -> None:
    path = write(statistics(NOON), storage(NOON + HOUR), storage(NOON + HOUR, system="SYS2"))
    for table, asked in (("qsph", {"type": "115(5)"}), (RECORD, {"since": "1300"})):
        rows = open_inputs([path], ReadOptions(Selection.of(**asked))).arrow(table)
        assert rows["utc_offset"].to_pylist() == [3600, None]


def test_a_record_of_mq_too_short_for_a_subtype_has_none() -> None:
    chunk = builders.chunk_of(struct.pack(">HBB", 18, 0, 0) + statistics(NOON)[4:18])
    mask = record_mask(Selection.of(type=["115(0:65535)"]), chunk.buffer, chunk.start, chunk.length)
    assert mask is not None
    assert not mask.any()


def test_to_is_a_time_but_for_convert_which_has_a_folder_there(days: Path, tmp_path: Path) -> None:
    for option in ("--to", "--until"):
        assert in_json("info", days, option, "2026-03-03")["records"] == 1
    for call, said in (
        (("convert", days, "--from", "0800", "--to", "1200"), "--until"),
        (("convert", days, "--to", "1200", "--to", tmp_path / "x"), "--until"),
        (("info", days, "--qmgr", "QM001"), "smfparse: "),
        (("info", days, "--type", "116(1"), "smfparse: "),
    ):
        refused = run(*call)
        assert (refused.exit_code, refused.stdout, said in refused.stderr) == (2, "", True)
    assert not (tmp_path / "x").exists()


def test_a_report_without_selected_data_names_the_trace_to_start(days: Path) -> None:
    """It names the selection, too."""
    shown = run("report", "log", days, "--qmgr", "MQ01", code=0)
    assert "no data for the report log" in shown.stderr
    assert "only records with these were read: qmgr MQ01" in shown.stderr
    assert "no records match" not in shown.stderr


def test_unknown_bytes_of_a_dataset_are_not_of_a_selection(write: builders.Write, tmp_path: Path):
    """The manifest counts those of all records."""
    longer = builders.Section([builders.named_block("QIST", 100)])
    path = write(builders.smf_record(115, 2, builders.NOTHING, longer, area=builders.qwhs_long()))
    run("convert", path, "--to", tmp_path / "tables")
    for asked, unknown in (((), {"QIST": 20}), (("--qmgr", "MQ01"), {})):
        assert in_json("info", tmp_path / "tables", *asked)["unknown_bytes"] == unknown
