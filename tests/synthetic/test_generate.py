"""Generated dumps are valid SMF of the MQ version asked for, and the same every time."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from smfparse.cli.generate import command
from smfparse.errors import OutputError, RequestError
from smfparse.inputs import Inputs, open_inputs
from smfparse.layout import Block, Code, Part, Text, Wide
from smfparse.layout.clocks import Duration, Instant, MicrosecondCount
from smfparse.schemas import REGISTRY
from smfparse.synthetic import SMF_LIMIT, VERSIONS, generate
from smfparse.tables import TABLES
from tests.support.paths import FIXTURES
from tests.support.searching import of_many, some

pytestmark = pytest.mark.slow

RDW = struct.Struct(">HBB")
BLOCK = 27_994
WHOLE, FIRST, LAST, MIDDLE = range(4)
HALF_HOUR = dt.timedelta(minutes=30)
ARGUMENTS: dict[str, Any] = {
    "qmgrs": ["QM01", "QM02"],
    "system": "SYSA",
    "start": dt.datetime(2026, 3, 4, 9),
    "utc_offset": dt.timedelta(0),
    "interval": HALF_HOUR,
    "count": 3,
    "version": "9.3.0",
    "seed": 1,
    "tasks": 8,
    "queues": 3,
}
every_version = of_many("version", some(VERSIONS, 4))


def made(**changes: Any) -> bytes:
    stream = io.BytesIO()
    generate(stream, **{**ARGUMENTS, **changes})
    return stream.getvalue()


def read(folder: Path, **changes: Any) -> Inputs:
    path = folder / "made.smf"
    generate(path, **{**ARGUMENTS, **changes})
    return open_inputs([path])


def rows(inputs: Inputs, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = inputs.arrow(table).to_pylist()
    return found


def segments(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at < len(data):
        length, code, zero = RDW.unpack_from(data, at)
        assert zero == 0
        assert length > RDW.size
        yield length, code, data[at + RDW.size : at + length]
        at += length
    assert at == len(data)


def records(data: bytes) -> list[bytes]:
    """The records of a dump, four bytes of RDW in front of each."""
    found: list[bytes] = []
    for _, code, part in segments(data):
        if code in (WHOLE, FIRST):
            found.append(bytes(RDW.size) + part)
        else:
            found[-1] += part
    return found


def triplets(record: bytes, count: int) -> list[tuple[int, int, int]]:
    return [struct.unpack_from(">IHH", record, 28 + 8 * number) for number in range(count)]


def test_the_same_arguments_give_the_same_bytes_and_others_others() -> None:
    first = made()
    assert made() == first
    for change in ({"seed": 2}, {"tasks": 9}, {"count": 4}, {"version": "10.0.0"}):
        assert made(**change) != first, change


def test_batches_change_neither_intervals_nor_who_the_tasks_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def who(inputs: Inputs) -> set[tuple[object, ...]]:
        lasting = {row["record_no"] for row in rows(inputs, "wtas") if not row["wtasaeot"]}
        assert lasting
        return {
            (row["wtidccn"], row["wtidopid"], row["wtidwtas"])
            for row in rows(inputs, "wtid")
            if row["record_no"] in lasting
        }

    at_once = who(read(tmp_path))
    monkeypatch.setattr("smfparse.synthetic.dump.BATCH_BYTES", 1)
    assert who(read(tmp_path)) == at_once
    starts = [row["interval_start"] for row in rows(read(tmp_path, count=7, tasks=2), "qmst")]
    assert len(starts) == 14
    assert sorted(set(starts)) == starts[::2]
    assert {later - first for first, later in itertools.pairwise(starts[::2])} == {HALF_HOUR}


@every_version
def test_every_version_decodes_without_damage(tmp_path: Path, version: str) -> None:
    inputs = read(tmp_path, version=version)
    for table in ("record", "qjst", "qmst", "qist", "qpst", "qsst", "qmac", "wtid", "wtas", "wqst"):
        assert rows(inputs, table), table
    assert inputs.damage.count == 0


def written(block: Block, version: str) -> bool:
    return _key(next(iter(block.lengths))) <= _key(version)


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)


@every_version
def test_blocks_have_the_length_the_version_writes(version: str) -> None:
    compared: set[str] = set()
    for record in records(made(version=version)):
        place = (record[5], struct.unpack_from(">H", record, 22)[0]) if len(record) > 28 else (2, 0)
        for number, block in REGISTRY.get(place, {}).items():
            starts = [at for at, _, times in triplets(record, number) if times]
            if 28 + 8 * number >= min(starts):
                continue
            offset, length, count = triplets(record, number + 1)[number]
            if not count:
                continue
            assert length == block.length_at(version)
            assert offset + length * count <= len(record)
            compared.add(block.name)
    expected = {
        block.name
        for places in REGISTRY.values()
        for block in places.values()
        if written(block, version)
    }
    assert compared >= expected


FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "6.0.0": ({"qmst.qmstput", "wqst.getn"}, {"qmst.qmstsub", "qjst.qjstslptu", "wqst.cbn"}),
    "8.0.0": ({"qjst.qjstslptu", "wqst.putddly"}, {"qjst.qjstcp1n", "wqst.streamedn"}),
    "9.3.0": ({"qmst.qmstspp", "qjst.qjstencr"}, {"wqst.streamedn", "qmst.qmstocpa"}),
    "9.3.2": ({"wqst.streamedn"}, {"qjst.qjsthlc"}),
    "10.0.0": ({"qjst.qjsthlc", "qmst.qmstobse"}, set()),
}
"""Columns that a version fills, and others that are NULL in it."""


@pytest.mark.parametrize("version", FIELDS)
def test_fields_are_null_where_the_version_has_none(tmp_path: Path, version: str) -> None:
    filled, null = FIELDS[version]
    inputs = read(tmp_path, version=version)
    for name in filled | null:
        table, column = name.split(".")
        values = [row[column] for row in rows(inputs, table)]
        assert values
        assert {value is None for value in values} == {name in null}, name


@pytest.mark.parametrize(
    ("version", "shown", "hours"),
    [("6.0", "6.0.0", -4), ("8.0.0", "8.0.0", 5.5), ("10.0.0", "10.0.0", 0)],
)
def test_the_keys_are_those_asked_for(
    tmp_path: Path, version: str, shown: str, hours: float
) -> None:
    offset = dt.timedelta(hours=hours)
    inputs = read(tmp_path, version=version, utc_offset=offset, interval=dt.timedelta(minutes=1))
    begin = (ARGUMENTS["start"] - offset).replace(tzinfo=dt.UTC)
    found = rows(inputs, "qmst")
    assert {row["qmgr"] for row in found} == {"QM01", "QM02"}
    assert {row["interval_start"] for row in found} == {
        begin + dt.timedelta(minutes=number) for number in range(3)
    }
    assert {row["interval_seconds"] for row in found} == {60.0}
    assert {row["qsg"] for row in found} == {"QSG1" if version == "10.0.0" else None}
    for row in rows(inputs, "record"):
        assert row["system"] == "SYSA"
        assert row["utc_offset"] == offset.total_seconds()
        assert row["mq_version"] in ({None} if row["type"] < 4 else {shown})


def test_buffer_pools_are_in_115_2_before_mq_8_and_in_115_215_since(tmp_path: Path) -> None:
    for version, subtype in (("7.1.0", 2), ("8.0.0", 215)):
        inputs = read(tmp_path, version=version)
        kinds = {row["record_no"]: row["subtype"] for row in rows(inputs, "record")}
        assert {kinds[row["record_no"]] for row in rows(inputs, "qpst")} == {subtype}


def test_a_dump_starts_with_a_header_and_ends_with_a_trailer() -> None:
    found = records(made())
    assert [(len(each), each[5]) for each in (found[0], found[-1])] == [(18, 2), (18, 3)]
    assert not any(each[5] in (2, 3) for each in found[1:-1])


def test_records_span_blocks_as_in_a_dump() -> None:
    """A segment that goes on in the next block fills its own."""
    used, codes = 0, set()
    for length, code, _ in segments(made(tasks=40)):
        codes.add(code)
        if used + length > BLOCK:  # what was left did not hold a segment worth starting
            assert BLOCK - used < 36
            used = 0
        used += length
        if code in (FIRST, MIDDLE):
            assert used == BLOCK
            used = 0
    assert {WHOLE, FIRST, LAST} <= codes


def test_a_record_longer_than_a_block_has_a_middle_segment() -> None:
    data = made(tasks=40, queues=40, version="8.0.0")
    assert MIDDLE in {code for _, code, _ in segments(data)}
    assert BLOCK < max(len(record) for record in records(data)) <= SMF_LIMIT


def test_size_is_reached_and_by_less_than_an_interval() -> None:
    one, two = (len(made(count=count)) for count in (1, 2))
    for size in (1, 300_000, 2_000_000):
        assert size <= len(made(size=size)) <= size + 2 * (two - one)
    assert len(made(size=1)) == one


def test_a_dump_without_tasks_or_queues_is_one(tmp_path: Path) -> None:
    for change in ({"tasks": 0}, {"queues": 0}):
        inputs = read(tmp_path, **change)
        assert len(rows(inputs, "qmst")) == 6
        assert rows(inputs, "wqst") == []
        assert inputs.damage.count == 0


def test_arguments_that_make_no_dump_are_refused() -> None:
    changes: list[dict[str, Any]] = [
        {"qmgrs": []},
        {"qmgrs": ["QM01", "QM01"]},
        {"qmgrs": ["TOOLONG"]},
        {"system": "é"},
        {"utc_offset": dt.timedelta(minutes=7)},
        {"utc_offset": dt.timedelta(hours=15)},
        {"interval": dt.timedelta(0)},
        {"interval": dt.timedelta(days=2)},
        {"start": dt.datetime(2026, 3, 4, tzinfo=dt.UTC)},
        {"version": "5.3.1"},
        {"version": "nine"},
        {"seed": -1},
        {"tasks": -1},
        {"count": 0},
        {"size": 0},
    ]
    for change in changes:
        with pytest.raises(RequestError):
            made(**change)


def test_a_file_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        generate(tmp_path, **ARGUMENTS)


# What the records say has to hold together.


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return read(tmp_path_factory.mktemp("busy"), tasks=40, count=12)


def test_queue_blocks_are_those_of_their_task(busy: Inputs) -> None:
    tasks = {row["record_no"]: row for row in rows(busy, "wtas")}
    queues = rows(busy, "wqst")
    owners = Counter(row["record_no"] for row in queues)
    assert {number: owners[number] for number in tasks} == {
        number: row["wtaswqct"] for number, row in tasks.items()
    }
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    for row in queues:
        since = (tasks[row["record_no"]]["wtasstrt"] - epoch) // dt.timedelta(microseconds=1)
        assert int(row["correl"][:16], 16) >> 12 == (0x7D91048BCA000000 >> 12) + since


def test_a_task_has_no_more_queues_than_the_help_says(tmp_path: Path) -> None:
    for version, most in (("7.0.1", 44), ("8.0.0", 10), (VERSIONS[-1], 10)):
        found = rows(read(tmp_path, version=version, queues=200, tasks=4, count=1), "wtas")
        assert max(row["wtaswqct"] for row in found) == most


def test_a_channel_is_of_the_type_that_its_name_says(busy: Inputs) -> None:
    types: dict[tuple[str, str], set[str]] = {}
    for row in rows(busy, "qcst"):
        types.setdefault((row["qmgr"], row["qcstchnm"]), set()).add(row["qcstchty_text"])
        assert row["qcstnpmg"] <= row["qcstnmsg"]
        assert row["qcstbatc"] <= row["qcstnmsg"]
        assert (row["qcstbatc"] == 0) == (row["qcstchty_text"] == "Server-connection")
    clients = {(name, f"{each}.SVRCONN") for name in ("QM01", "QM02") for each in ("APP", "WEB")}
    assert types == {each: {"Server-connection"} for each in clients} | {
        ("QM01", "QM01.TO.QM02"): {"Sender"},
        ("QM01", "TO.QM01"): {"Receiver"},
        ("QM02", "QM01.TO.QM02"): {"Receiver"},
        ("QM02", "TO.QM01"): {"Sender"},
    }


def test_no_request_to_db2_takes_longer_than_the_longest(busy: Inputs) -> None:
    counts = {"dele": "delecnt", "read": "readcnt", "scss": "scssel", "lmsl": "lmslis"}
    for row in rows(busy, "q5st"):
        for name, count in counts.items():
            for whose in "ts":
                total, longest = (row[f"{name}{whose}{what}"] for what in ("cuw", "mxw"))
                assert longest <= total * 1.000001
                assert total <= row[count] * longest * 1.000001 + 1


def test_a_task_lasts_as_long_as_its_calls_and_within_the_interval(busy: Inputs) -> None:
    spent: dict[int, float] = {}
    for row in rows(busy, "wqst"):
        calls = sum(row[f"{verb}et"] for verb in ("open", "close", "get", "put", "put1", "inq"))
        spent[row["record_no"]] = spent.get(row["record_no"], 0) + calls
    start = ARGUMENTS["start"].replace(tzinfo=dt.UTC)
    for row in rows(busy, "wtas"):
        assert spent.get(row["record_no"], 0) <= row["interval_seconds"] * 1e6
        assert row["wtassuse"] < row["interval_seconds"] * 1e6
        assert row["wtasstrt"] <= row["wtasints"] <= row["wtasinte"]
        first = (row["wtasints"] - start) // HALF_HOUR
        turn = dt.timedelta(milliseconds=5)  # lasting tasks are taken one after the other
        assert row["wtasinte"] <= start + (first + 1) * HALF_HOUR + turn


def test_queue_counters_hold_together(busy: Inputs) -> None:
    for row in rows(busy, "wqst"):
        for verb in ("open", "close", "get", "put", "put1"):
            assert row[f"{verb}et"] >= row[f"{verb}ct"]
        assert row["putn"] + row["put1n"] >= row["validput"]
        assert row["getn"] == row["geta"] + row["gets"] + row["getbrwa"] + row["getbrws"]
        assert row["getn"] == row["validget"] + row["geterr"]
        for verb in ("put", "get"):
            count, total = row[f"valid{verb}"], row[f"{verb}bytes"]
            least, most = row[f"{verb}minms"], row[f"{verb}maxms"]
            assert (least is None) == (count == 0) == (total == 0)
            if least is not None:
                assert count * least <= total <= count * most
        assert row["minlatnt"] * row["validget"] <= row["totlatnt"] * (1 + 1e-9)
        assert row["totlatnt"] <= row["maxlatnt"] * row["validget"] * (1 + 1e-9) + 1


def test_only_shared_queues_use_the_coupling_facility(busy: Inputs) -> None:
    queues = rows(busy, "wqst")
    shared = {(row["record_no"], row["block_no"]) for row in queues if row["qsgdisp"] == 2}
    used = {(row["record_no"], row["block_no"]) for row in rows(busy, "wqst_cf")}
    assert used
    assert used <= shared
    assert len(shared) < len(queues) / 3


def test_the_log_holds_together(busy: Inputs) -> None:
    logs = {row["record_no"]: row for row in rows(busy, "qjst")}
    writes = rows(busy, "qjst_io")
    for number, log in logs.items():
        mine = [row for row in writes if row["record_no"] == number]
        assert {row["copy"] for row in mine} == {1, 2}
        assert log["qjstlogw"] == sum(row["qjstiocount"] for row in mine)
        assert log["qjstciwr"] == sum(row["qjstioci"] for row in mine)
        for row in mine:
            assert row["qjstioci"] >= row["qjstiocount"]
            mean = row["qjstiototio"] / row["qjstiocount"]
            assert 150 <= mean <= 600
            assert row["qjstiomaxio"] >= mean
            assert row["qjstiototsus"] < row["interval_seconds"] * 1e6 - log["qjstslptu"]
            assert row["qjstiomaxiol"].startswith(f"ACTLG{row['copy']}")
            passed = (row["qjstiomaxiot"] - row["interval_start"]).total_seconds()
            assert 0 <= passed <= row["interval_seconds"]
        rate = log["qjstciwr"] / 2 / 256 / log["interval_seconds"]
        assert 0.01 < rate < 100, "MB a second and copy"


def test_the_queue_manager_counts_at_least_what_its_tasks_do(busy: Inputs) -> None:
    kinds = {"put": "qmstput", "put1": "qmstput1", "get": "qmstget"}
    for verb, column in kinds.items():
        seen = sum(row[f"{verb}n"] for row in rows(busy, "wqst"))
        assert sum(row[column] for row in rows(busy, "qmst")) >= seen > 0


def test_counters_of_a_long_interval_do_not_overflow(tmp_path: Path) -> None:
    inputs = read(tmp_path, interval=dt.timedelta(days=1), tasks=300, count=2)
    for table in ("qjst", "qmst", "qpst", "wtas"):
        for row in rows(inputs, table):
            assert [name for name, value in row.items() if _negative(value)] == []


def _negative(value: object) -> bool:
    return isinstance(value, int | float) and value < 0


def test_class_1_has_the_tasks_that_ended(busy: Inputs) -> None:
    ended = [row for row in rows(busy, "wtas") if row["wtasaeot"]]
    jobs = {row["record_no"]: row["wtidccn"] for row in rows(busy, "wtid")}
    found = rows(busy, "qmac")
    assert sorted(row["qwhccn"] for row in found) == sorted(jobs[row["record_no"]] for row in ended)


@pytest.mark.parametrize("version", ["9.3.0", "10.0.0"])
def test_latch_waits_are_read_as_they_were_meant(tmp_path: Path, version: str) -> None:
    """MQ 10.0.0 writes them in the high word."""
    found = rows(read(tmp_path, version=version, tasks=60), "wtas_latch")
    assert found
    for row in found:
        assert row["wtaslmax"] <= row["wtaslwet"] <= row["wtaslmax"] * row["wtaslwn"]


# Dense files.


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return read(tmp_path_factory.mktemp("dense"), dense=True, tasks=100, version="10.0.0")


@every_version
def test_every_dense_version_decodes_without_damage(tmp_path: Path, version: str) -> None:
    inputs = read(tmp_path, version=version, dense=True)
    assert inputs.damage.count == 0
    started = {row["record_no"]: row["wtasmthr"] for row in rows(inputs, "wtas")}
    for row in rows(inputs, "wqst"):
        assert int(row["correl"][16:24], 16) == started[row["record_no"]] % 2**32
        assert row["openeye"] == "OPEN"


def test_a_dense_file_is_of_one_seed_and_as_long_as_a_plain_one() -> None:
    first = made(dense=True)
    assert made(dense=True) == first != made(dense=True, seed=2)
    assert len(first) == len(made())


def random_columns(table: str) -> Iterator[str]:
    """Columns of at least four bytes that a dense file of MQ 10 fills in full width."""
    block = TABLES[table].block
    length, word = block.length_at("10.0.0"), block.version_word_at("10.0.0")
    for column in TABLES[table].columns:
        each = column.field
        fixed = each is block.version or each.name in ("wtasints", "wtasinte")
        whole = column.shown.name == column.shown.suffix == ""
        random = whole and not fixed and not isinstance(each.kind, Code | Part | Text | Wide)
        if random and each.kind.width >= 4 and block.holds(each, column.offset, length, word):
            yield column.name


UNBELIEVED = (Duration, Instant, MicrosecondCount)
"""Kinds of 64 bits of which some values are none: with the top bit set, or not of 1990 to 2042."""


OF_MQ = [name for name, each in TABLES.items() if not each.child and name != "smf7"]


def test_values_of_a_dense_file_nearly_always_differ(dense: Inputs) -> None:
    for table in OF_MQ:
        found = rows(dense, table)
        assert found, table
        for name in random_columns(table):
            whole = [row[name] for row in found if row[name] is not None]
            kind = next(each.field.kind for each in TABLES[table].columns if each.name == name)
            assert len(whole) == len(found) or isinstance(kind, UNBELIEVED), name
            owners = {row["record_no"] for row in found} if name == "correl" else whole
            assert len({*whole}) > 0.99 * len(owners) or not whole, name
            if len(found) >= 60:  # a third of moments and half of durations can be
                assert len(whole) > len(found) / 8, name


def test_every_bit_of_a_dense_counter_is_set_somewhere(dense: Inputs) -> None:
    for name, bits in (("putn", 32), ("putbytes", 64), ("flags", 16)):
        some, every = 0, 2**bits - 1
        for row in rows(dense, "wqst"):
            some, every = some | row[name], every & row[name]
        assert (some, every) == (2**bits - 1, 0)


def test_some_dense_blocks_have_all_their_entries(dense: Inputs) -> None:
    for table, owner, entries in (
        ("wqst_cf", "wqst", 100),
        ("wtas_cf", "wtas", 40),
        ("wtas_latch", "wtas", 32),
    ):
        found = rows(dense, table)
        filled = {(row["record_no"], row["block_no"]) for row in found}
        assert len(found) == entries * len(filled)
        assert 0.2 < len(filled) / len(rows(dense, owner)) < 0.4
    assert len(rows(dense, "qest")) == 64 * len(rows(dense, "qmst"))


# The command.


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, list(arguments))


def test_the_command_writes_what_the_options_say(tmp_path: Path) -> None:
    path = tmp_path / "made.smf"
    options = "--qmgr A --system Z --start 2025-12-31T23:00 --utc-offset -05:00 --interval 1h"
    done = run(str(path), *options.split(), "--mq-version", "9.4.0", "--count", "2", "--seed", "7")
    assert done.exit_code == 0, done.output
    found = rows(open_inputs([path]), "qmst")
    assert [row["interval_start"] for row in found] == [
        dt.datetime(2026, 1, 1, hour, tzinfo=dt.UTC) for hour in (4, 5)
    ]
    assert {(row["system"], row["qmgr"], row["mq_version"]) for row in found} == {
        ("Z", "A", "9.4.0")
    }
    assert [row["smf_time"] for row in found] == [dt.datetime(2026, 1, 1, hour) for hour in (0, 1)]


def test_an_existing_file_is_replaced_with_force_only(tmp_path: Path) -> None:
    path = tmp_path / "made.smf"
    path.write_bytes(b"mine")
    assert isinstance(run(str(path), "--count", "1").exception, RequestError)
    assert path.read_bytes() == b"mine"
    assert run(str(path), "--count", "1", "--force").exit_code == 0
    assert path.stat().st_size > 1000
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_of_a_run_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(stream: io.BytesIO, **_: Any) -> None:
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("smfparse.synthetic.generate", fail)
    done = run(str(tmp_path / "made.smf"))
    assert isinstance(done.exception, OutputError)
    assert "No space left" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_output_error(tmp_path: Path) -> None:
    assert isinstance(run(str(tmp_path / "no" / "made.smf")).exception, OutputError)


def test_unreadable_options_are_usage_errors(tmp_path: Path) -> None:
    for options in (
        "--interval half", "--utc-offset EST", "--size big", "--start noon", "--mq-version 5.0",
    ):  # fmt: skip
        done = run(str(tmp_path / "made.smf"), *options.split())
        assert done.exit_code == 2
        assert options.split()[0] in done.output


def test_the_command_makes_dense_files_and_counts_thousands(tmp_path: Path) -> None:
    path = tmp_path / "made.smf"
    assert run(str(path), "--dense", "--tasks", "40").exit_code == 0
    found = rows(open_inputs([path]), "wqst")
    assert len({row["setn"] for row in found}) == len(found)
    assert run(str(path), "--size", "400kb", "--force").exit_code == 0
    assert 400_000 <= path.stat().st_size < 800_000


# The fixtures.


def test_the_fixtures_are_what_their_commands_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(FIXTURES))
    import make  # type: ignore[import-not-found]

    monkeypatch.delitem(sys.modules, "make")
    make.main(tmp_path)
    paths = sorted(FIXTURES.glob("*.smf"))
    assert [path.name for path in paths] == sorted(path.name for path in tmp_path.iterdir())
    for path in paths:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name
    text = (FIXTURES / "README.md").read_text(encoding="utf-8")
    for name, options in make.FIXTURES.items():
        assert f"`smfparse generate {name} {options}`" in text
    inputs = open_inputs(paths)
    versions = {row["mq_version"] for row in rows(inputs, "qjst")}
    assert versions == {"6.0.0", "8.0.0", "9.3.0", "9.4.0", "10.0.0"}
    assert inputs.damage.count == 0
    assert sum(path.stat().st_size for path in paths) < 1_000_000
