"""Generated dumps are valid SMF of the MQ version asked for, and the same every time."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.decoding.dictionary import TABLES
from smfparse.errors import OutputError, RequestError
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.query.catalog import Catalog
from smfparse.simulating.declaration import VERSIONS
from smfparse.simulating.records import SMF_LIMIT
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURES
from tests.support.searching import LONG, of_many, some
from tests.support.variants import FIRST, LAST, MIDDLE, WHOLE, read_rdw

pytestmark = pytest.mark.slow

RDW = struct.Struct(">HBB")
BLOCK = 27_994
HALF_HOUR = dt.timedelta(minutes=30)


def made(**changes: Any) -> bytes:
    return generate_dump(io.BytesIO(), **changes).getvalue()


def read(folder: Path, **changes: Any) -> Inputs:
    return open_inputs([generate_dump(folder / "made.smf", **changes)])


def rows(inputs: Inputs, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = inputs.arrow(table).to_pylist()
    return found


def segments(data: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(data):
        length, code, zero = RDW.unpack_from(data, at)
        assert (zero, length > RDW.size) == (0, True)
        yield length, code
        at += length
    assert at == len(data)


def test_the_same_arguments_give_the_same_bytes_and_others_others() -> None:
    few = {"count": 1, "tasks": 3}
    plain, dense = made(**few), made(**few, dense=True)
    assert (made(**few), made(**few, dense=True)) == (plain, dense)
    assert len(plain) == len(dense)
    for change in ({"seed": 2}, {"tasks": 9}, {"count": 2}, {"version": "10.0.0"}):
        assert made(**(few | change)) != plain, change
    assert made(**few, dense=True, seed=2) != dense


def test_batches_change_no_intervals_and_no_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def who(inputs: Inputs) -> set[tuple[object, ...]]:
        lasting = {row["record_no"] for row in rows(inputs, "wtas") if not row["wtasaeot"]}
        assert lasting
        return {
            (row["wtidccn"], row["wtidopid"], row["wtidwtas"])
            for row in rows(inputs, "wtid")
            if row["record_no"] in lasting
        }

    at_once = who(read(tmp_path))
    monkeypatch.setattr("smfparse.simulating.every_kind.BATCH_BYTES", 1)
    assert who(read(tmp_path)) == at_once
    starts = [row["interval_start"] for row in rows(read(tmp_path, count=7, tasks=2), "qmst")]
    assert len(starts) == 14
    assert sorted(set(starts)) == starts[::2]
    assert {later - first for first, later in itertools.pairwise(starts[::2])} == {HALF_HOUR}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)


FIELDS: dict[str, tuple[str, str]] = {
    "6.0.0": ("qmst.qmstput wqst.getn", "qmst.qmstsub qjst.qjstslptu wqst.cbn"),
    "8.0.0": ("qjst.qjstslptu wqst.putddly", "qjst.qjstcp1n wqst.streamedn"),
    "9.3.0": ("qmst.qmstspp qjst.qjstencr", "wqst.streamedn qmst.qmstocpa"),
    "9.3.2": ("wqst.streamedn", "qjst.qjsthlc"),
    "10.0.0": ("qjst.qjsthlc qmst.qmstobse", ""),
}
"""Columns that a version fills, and others that are NULL in it."""
SINCE = {
    name: numbers(next(iter(each.block.lengths)))
    for name, each in TABLES.items()
    if not each.child and name != "smf7"
}
"""The first version that writes the block of a table; (): all do."""


@of_many("version", VERSIONS if LONG else [*FIELDS])
def test_a_version_decodes_without_damage_and_has_its_fields(tmp_path: Path, version: str) -> None:
    inputs = read(tmp_path, version=version)
    for table, first in SINCE.items():
        assert bool(rows(inputs, table)) == (first <= numbers(version)), table
    assert inputs.damage.count == 0
    filled, null = (each.split() for each in FIELDS.get(version, ("", "")))
    for name in filled + null:
        table, column = name.split(".")
        assert {row[column] is None for row in rows(inputs, table)} == {name in null}, name


def test_records_span_blocks_as_in_a_dump() -> None:
    """A segment that goes on in the next block fills its own; a header is first, a trailer last."""
    data = made(tasks=40, queues=40, version="8.0.0")
    used, codes = 0, set()
    for length, code in segments(data):
        codes.add(code)
        if used + length > BLOCK:  # what was left did not hold a segment worth starting
            assert BLOCK - used < 36
            used = 0
        used += length
        if code in (FIRST, MIDDLE):
            assert used == BLOCK
            used = 0
    assert codes == {WHOLE, FIRST, LAST, MIDDLE}
    found = read_rdw(data)
    assert BLOCK < max(map(len, found)) + RDW.size <= SMF_LIMIT
    assert [(len(each), each[1]) for each in (found[0], found[-1])] == [(14, 2), (14, 3)]
    assert not any(each[1] in (2, 3) for each in found[1:-1])


def test_size_is_reached_and_by_less_than_an_interval() -> None:
    one, two = (len(made(count=count)) for count in (1, 2))
    assert len(made(size=1)) == one
    assert 700_000 <= len(made(size=700_000)) <= 700_000 + 2 * (two - one)


def test_a_dump_without_tasks_or_queues_is_one(tmp_path: Path) -> None:
    for change in ({"tasks": 0}, {"queues": 0}):
        inputs = read(tmp_path, **change)
        assert len(rows(inputs, "qmst")) == 6
        assert rows(inputs, "wqst") == []
        assert inputs.damage.count == 0


def test_arguments_that_make_no_dump_are_refused() -> None:
    refused: dict[str, list[Any]] = {
        "qmgrs": [[], ["QM01", "QM01"], ["TOOLONG"]], "system": ["\u00e9"],
        "utc_offset": [dt.timedelta(minutes=7), dt.timedelta(hours=15)],
        "interval": [dt.timedelta(0), dt.timedelta(days=2)],
        "start": [dt.datetime(2026, 3, 4, tzinfo=dt.UTC)], "version": ["5.3.1", "nine"],
        **{name: [-1] for name in ("seed", "tasks")}, **{name: [0] for name in ("count", "size")},
    }  # fmt: skip
    for name, values in refused.items():
        for value in values:
            with pytest.raises(RequestError):
                made(**{name: value})


def test_a_file_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        generate_dump(tmp_path)
    said = run("generate", tmp_path / "no" / "made.smf", code=8).stderr
    assert "does not exist; create it first" in said


# What the records say has to hold together: each law is the query for the rows that break it.

LAWS = {
    "queue blocks are those of their task": """
        SELECT record_no FROM wtas LEFT JOIN (
            SELECT record_no, count(*) AS blocks FROM wqst GROUP BY ALL
        ) USING (record_no) WHERE wtaswqct <> coalesce(blocks, 0)
    """,
    "their token tells when the task started": f"""
        SELECT correl FROM wqst JOIN wtas USING (record_no)
        WHERE lower(correl[:13]) <> lower(to_hex({0x7D91048BCA000} + epoch_us(wtasstrt)))
    """,
    "a channel is of the type that its name says": """
        SELECT qcstchnm FROM qcst WHERE qcstchty_text <> CASE
            WHEN ends_with(qcstchnm, '.SVRCONN') THEN 'Server-connection'
            WHEN concat(qmgr, qcstchnm) IN ('QM01QM01.TO.QM02', 'QM02TO.QM01') THEN 'Sender'
            ELSE 'Receiver'
        END
    """,
    "only clients have no batches": """
        SELECT qcstchnm FROM qcst WHERE qcstnpmg > qcstnmsg OR qcstbatc > qcstnmsg
            OR (qcstbatc = 0) <> (qcstchty_text = 'Server-connection')
    """,
    **{
        f"no {name} takes longer than the longest": f"""
            SELECT record_no FROM q5st WHERE {longest} > {total} * 1.000001
                OR {total} > {count} * {longest} * 1.000001 + 1
        """
        for count in ("delecnt", "readcnt", "scssel", "lmslis")
        for kind in (count[:4],)
        for name in (f"{kind}t", f"{kind}s")
        for total, longest in [(f"{name}cuw", f"{name}mxw")]
    },
    "a task lasts as long as its calls, and is taken within 5 ms of its interval": """
        SELECT record_no FROM wtas LEFT JOIN (
            SELECT record_no, sum(openet + closeet + getet + putet + put1et + inqet) AS us
            FROM wqst GROUP BY ALL
        ) USING (record_no)
        WHERE us > interval_seconds * 1e6 OR wtassuse >= interval_seconds * 1e6
            OR wtasstrt > wtasints OR wtasints > wtasinte
            OR wtasinte > time_bucket(INTERVAL 30 MINUTES, wtasints) + INTERVAL 1800005 MILLISECONDS
    """,
    "queue counters hold together": """
        SELECT record_no FROM wqst
        WHERE openet < openct OR closeet < closect OR getet < getct OR putet < putct
            OR put1et < put1ct OR putn + put1n < validput
            OR getn <> geta + gets + getbrwa + getbrws OR getn <> validget + geterr
            OR minlatnt * validget > totlatnt * (1 + 1e-9)
            OR totlatnt > maxlatnt * validget * (1 + 1e-9) + 1
    """,
    **{
        f"sizes of a {verb} are between the least and the most": f"""
            SELECT record_no FROM wqst
            WHERE ({verb}minms IS NULL) <> (valid{verb} = 0)
                OR (valid{verb} = 0) <> ({verb}bytes = 0)
                OR valid{verb} * {verb}minms > {verb}bytes
                OR {verb}bytes > valid{verb} * {verb}maxms
        """
        for verb in ("put", "get")
    },
    "only shared queues use the coupling facility": """
        SELECT record_no FROM wqst_cf JOIN wqst USING (record_no, block_no) WHERE qsgdisp <> 2
    """,
    "log writes are those of both copies, at 0.01 to 100 MB a second": """
        SELECT record_no FROM qjst JOIN (
            SELECT
                record_no, count(DISTINCT copy) AS copies, sum(qjstiocount) AS writes,
                sum(qjstioci) AS pages
            FROM qjst_io GROUP BY ALL
        ) USING (record_no)
        WHERE copies <> 2 OR qjstlogw <> writes OR qjstciwr <> pages
            OR qjstciwr / 512 / interval_seconds NOT BETWEEN 0.01 AND 100
    """,
    "a log write takes its time, at its time": """
        SELECT record_no FROM qjst_io AS io JOIN qjst USING (record_no)
        WHERE qjstioci < qjstiocount OR qjstiototio / qjstiocount NOT BETWEEN 150 AND 600
            OR qjstiomaxio * qjstiocount < qjstiototio
            OR qjstiototsus >= qjst.interval_seconds * 1e6 - qjstslptu
            OR NOT starts_with(qjstiomaxiol, concat('ACTLG', copy))
            OR epoch(qjstiomaxiot - qjst.interval_start) NOT BETWEEN 0 AND qjst.interval_seconds
    """,
    "the queue manager counts at least what its tasks do": """
        SELECT * FROM (
            SELECT sum(putn) AS put, sum(put1n) AS put1, sum(getn) AS got FROM wqst
        ), (SELECT sum(qmstput) AS puts, sum(qmstput1) AS put1s, sum(qmstget) AS gets FROM qmst)
        WHERE puts < put OR put1s < put1 OR gets < got OR least(put, put1, got) = 0
    """,
    "class 1 has the tasks that ended": """
        SELECT qwhccn FROM (SELECT qwhccn, count(*) AS found FROM qmac GROUP BY ALL) FULL JOIN (
            SELECT wtidccn AS qwhccn, count(*) AS ended FROM wtas JOIN wtid USING (record_no)
            WHERE wtasaeot GROUP BY ALL
        ) USING (qwhccn) WHERE found IS DISTINCT FROM ended
    """,
}


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return read(tmp_path_factory.mktemp("busy"), tasks=40, count=8)


def test_no_record_breaks_a_law(busy: Inputs) -> None:
    with Catalog(busy) as catalog:
        for table in ("wqst", "wqst_cf", "q5st", "qjst_io", "qmac", "qcst"):
            assert catalog.arrow(f"FROM {table}").num_rows, table
        broken = [name for name, query in LAWS.items() if catalog.arrow(query).num_rows]
    assert broken == []


def test_a_task_has_no_more_queues_than_the_help_says(tmp_path: Path) -> None:
    for version, most in (("7.0.1", 44), ("8.0.0", 10)):
        found = rows(read(tmp_path, version=version, queues=200, tasks=4, count=1), "wtas")
        assert max(row["wtaswqct"] for row in found) == most


def test_counters_of_a_long_interval_do_not_overflow(tmp_path: Path) -> None:
    inputs = read(tmp_path, interval=dt.timedelta(days=1), tasks=300, count=2)
    for table in ("qjst", "qmst", "qpst", "wtas"):
        for row in rows(inputs, table):
            numbers = {name: value for name, value in row.items() if isinstance(value, int | float)}
            assert [name for name, value in numbers.items() if value < 0] == []


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
    return read(tmp_path_factory.mktemp("dense"), dense=True, tasks=60, version="10.0.0")


@of_many("version", some(VERSIONS, 4))
def test_every_dense_version_decodes_without_damage(tmp_path: Path, version: str) -> None:
    inputs = read(tmp_path, version=version, dense=True)
    assert inputs.damage.count == 0
    started = {row["record_no"]: row["wtasmthr"] for row in rows(inputs, "wtas")}
    for row in rows(inputs, "wqst"):
        assert int(row["correl"][16:24], 16) == started[row["record_no"]] % 2**32
        assert row["openeye"] == "OPEN"


def test_values_of_a_dense_file_nearly_always_differ(dense: Inputs) -> None:
    """Of each table so many columns have another value in each row, in all bits."""
    for table, count in {"wqst": 60, "wtas": 50, "qmst": 45, "qjst": 55, "qcst": 25}.items():
        found = rows(dense, table)
        values = {name: {row[name] for row in found} for name in found[0]}
        differing = [name for name, each in values.items() if len(each) > 0.99 * len(found)]
        assert len(differing) >= count, table
    for name, bits in (("putn", 32), ("putbytes", 64)):
        assert max(row[name] for row in rows(dense, "wqst")) >> (bits - 1) == 1


def test_some_dense_blocks_have_all_their_entries(dense: Inputs) -> None:
    groups = ("wqst_cf", "wqst", 100), ("wtas_cf", "wtas", 40), ("wtas_latch", "wtas", 32)
    for table, owner, entries in groups:
        found = rows(dense, table)
        filled = {(row["record_no"], row["block_no"]) for row in found}
        assert len(found) == entries * len(filled)
        assert 0.2 < len(filled) / len(rows(dense, owner)) < 0.4
    assert len(rows(dense, "qest")) == 64 * len(rows(dense, "qmst"))


# The command.


@pytest.mark.parametrize(("version", "qsg"), [("6.0.0", None), ("10.0.0", "QSG1")])
def test_the_command_writes_what_the_options_say(tmp_path: Path, version: str, qsg: str | None):
    path = tmp_path / "made.smf"
    path.touch()
    options = "--start 2025-12-31T23:00 --utc-offset -05:30 --interval 1m --count 2 --force"
    options += f" --qmgr A --system Z --mq-version {version}"
    run("generate", path, *options.split(), code=0)
    names = "interval_start", "interval_seconds", "qmgr", "qsg"
    found = [tuple(row[name] for name in names) for row in rows(open_inputs([path]), "qmst")]
    starts = [dt.datetime(2026, 1, 1, 4, 30 + minute, tzinfo=dt.UTC) for minute in (0, 1)]
    assert found == [(each, 60.0, "A", qsg) for each in starts]
    for row in rows(open_inputs([path]), "record"):
        assert (row["system"], row["utc_offset"]) == ("Z", -19_800)
        assert row["mq_version"] == (None if row["type"] < 4 else version)
        assert row["smf_time"] <= dt.datetime(2025, 12, 31, 23, 2, 1)


def test_nothing_is_left_of_a_run_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(stream: io.BytesIO, **_: Any) -> None:
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("smfparse.simulating.every_kind.generate", fail)
    assert "No space left" in run("generate", tmp_path / "made.smf", code=8).stderr
    assert list(tmp_path.iterdir()) == []


def test_unreadable_options_are_usage_errors(tmp_path: Path) -> None:
    wrong = {"interval": "half", "utc-offset": "EST", "size": "big", "start": "noon"}
    for option, value in (wrong | {"mq-version": "5.0"}).items():
        call = ("generate", tmp_path / "made.smf", f"--{option}", value)
        assert f"--{option}" in run(*call, code=2).output


def test_the_command_makes_dense_files_and_counts_thousands(tmp_path: Path) -> None:
    path = tmp_path / "made.smf"
    assert run("generate", path, "--dense", "--size", "400kb").exit_code == 0
    assert 400_000 <= path.stat().st_size < 800_000
    found = rows(open_inputs([path]), "wqst")
    assert len({row["setn"] for row in found}) == len(found)


# The fixtures.


def test_the_fixtures_are_what_their_commands_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
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
