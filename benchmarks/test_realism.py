"""Generated accounting is as rich as real accounting, and does not flatter a benchmark."""

from __future__ import annotations

import datetime as dt
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest

from smfparse.inputs.opening import Inputs, open_inputs
from tests.simulating.test_every_kind import made, rows
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.variants import read_rdw

pytestmark = pytest.mark.slow

BLOCKS = {(116, 0): ("QWAC", "QMAC"), (116, 1): ("WTID", "WTAS", "WQST")}
LAST_BYTES = 2_000_000
MINUTE = dt.timedelta(minutes=1)
IMS, CICS, CHINIT, RRS = 4, 1, 6, 7
REAL_RATIO = 17.6
"""gzip -6 of TESTCHL.dat, 0.8 MB: the largest real file at hand, and the one that packs best."""
SMALL_REAL_RATIO = 10.4
"""gzip -6 of TEST116.dat, 9 KB: two class 1 records and a class 3 one."""
SMALL = 9214


def blocks(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The blocks and QWHS areas of the accounting records of a dump, by name."""
    for record in (bytes(4) + each for each in read_rdw(data)):
        if len(record) < 28:
            continue
        place = (record[5], struct.unpack_from(">H", record, 22)[0])
        names = BLOCKS.get(place, ())
        table = record[28 : 28 + 8 * (len(names) + 1)]
        found = [*struct.iter_unpack(">IHH", table)]
        ends = min(offset for offset, _, count in found if count)
        for number, (offset, length, count) in enumerate(found):
            if names and 28 + 8 * number < ends:
                name = names[number - 1] if number else f"QWHS of {place}"
                for nth in range(count):
                    yield name, record[offset + nth * length : offset + (nth + 1) * length]


def richness(data: bytes) -> dict[str, tuple[float, float]]:
    """Share of bytes that are not zero, and mean size of a block packed on its own, by name."""
    found: dict[str, list[tuple[float, int]]] = {}
    for name, block in blocks(data):
        share = 1 - block.count(0) / len(block)
        found.setdefault(name, []).append((share, len(zlib.compress(block, 9))))
    return {
        name: (fmean(share for share, _ in each), fmean(size for _, size in each))
        for name, each in found.items()
    }


def ratio(data: bytes) -> float:
    return len(data) / len(zlib.compress(data, 6))


@pytest.fixture(scope="module")
def class_3() -> bytes:
    """What benchmarks measure on, of the version that the real files have."""
    return made(qmgrs=["QM01"], interval=MINUTE, count=1, tasks=500, version="8.0.0")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    path: Path = tmp_path_factory.mktemp("class3") / "made.smf"
    path.write_bytes(made(interval=MINUTE, tasks=60, count=3))
    return open_inputs([path])


@needs_real_data
@pytest.mark.parametrize("name", ["TEST116.dat", "TESTCHL.dat"])
def test_blocks_are_as_rich_as_real_ones(class_3: bytes, name: str) -> None:
    """One of ten bytes may be missing: few real blocks are at hand, and most of one program."""
    assert REAL_DATA is not None
    generated = richness(class_3)
    for block, (share, size) in richness((REAL_DATA / name).read_bytes()).items():
        assert generated[block][0] > 0.9 * share, block
        assert generated[block][1] > 0.9 * size, block


def test_a_class_3_file_packs_no_better_than_a_real_one(class_3: bytes) -> None:
    """A longer file packs better than its pieces, so each is held to real ones of its size."""
    assert 10 < ratio(class_3[:LAST_BYTES]) < 0.96 * REAL_RATIO
    pieces = [class_3[at : at + SMALL] for at in range(0, LAST_BYTES, SMALL)]
    assert median(map(ratio, pieces)) < 1.1 * SMALL_REAL_RATIO


@needs_real_data
def test_the_ratios_of_the_real_files_are_as_said() -> None:
    assert REAL_DATA is not None
    assert ratio((REAL_DATA / "TESTCHL.dat").read_bytes()) == pytest.approx(REAL_RATIO, abs=0.1)
    assert ratio((REAL_DATA / "TEST116.dat").read_bytes()) == pytest.approx(
        SMALL_REAL_RATIO, abs=0.1
    )


# Tokens.


def zero(token: str) -> bool:
    return set(token) == {"0"}


def test_every_task_and_unit_of_work_has_its_own_tokens(inputs: Inputs) -> None:
    found = rows(inputs, "wtid")
    started = {row["record_no"]: row["wtasstrt"] for row in rows(inputs, "wtas")}
    units: dict[str, set[dt.datetime]] = {}
    for row in found:
        units.setdefault(row["wtiduowi"], set()).add(started[row["record_no"]])
    assert all(len(tasks) == 1 for tasks in units.values())
    assert len(units) > 0.4 * len(found)


def test_tokens_are_those_of_the_adapter(inputs: Inputs) -> None:
    for row in rows(inputs, "wtid"):
        adapter = row["wtidatyp"]
        assert bool(row["wtidchl"]) == bool(row["wtidchlc"]) == (adapter == CHINIT)
        assert zero(row["wtidctxt"]) == (adapter != RRS)
        assert zero(row["wtidacct"]) == (adapter != CICS)
        assert zero(row["wtidcori"]) == (adapter not in (IMS, CICS, CHINIT))
        if adapter == CHINIT:
            assert row["wtidccn"] == f"{row['qmgr']}CHIN"
            assert row["wtidcori"][8:16] == "XX**".encode("cp500").hex().upper()


def test_a_unit_of_work_has_the_clock_of_its_task(inputs: Inputs) -> None:
    spans = {row["record_no"]: row for row in rows(inputs, "wtas")}
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    for row in rows(inputs, "wtid"):
        began = (int(row["wtiduowi"][32:44] + "FFFF", 16) - 0x7D91048BCA000000) >> 12
        when = epoch + dt.timedelta(microseconds=began)
        span = spans[row["record_no"]]
        slack = dt.timedelta(milliseconds=1)
        assert span["wtasstrt"] - slack <= when <= span["wtasinte"] + slack


def test_class_1_says_who_the_task_was_as_class_3_does(inputs: Inputs) -> None:
    ended = {row["record_no"] for row in rows(inputs, "wtas") if row["wtasaeot"]}
    columns = {"nid": "nid", "cori": "cv", "acct": "tokn", "ccn": "cn", "opid": "opid"}
    expected = sorted(
        tuple(row[f"wtid{name}"] for name in columns)
        for row in rows(inputs, "wtid")
        if row["record_no"] in ended
    )
    found = rows(inputs, "qmac")
    assert expected == sorted(
        tuple(row[f"qwhc{name}"] for name in columns.values()) for row in found
    )


def test_a_lasting_task_goes_on_where_it_was_left(inputs: Inputs) -> None:
    before: dict[tuple[Any, ...], dt.datetime] = {}
    seen = 0
    for row in rows(inputs, "wtas"):
        task = (row["qmgr"], row["wtasstrt"], row["wtasmthr"], row["wtaswtas"])
        seen += task in before
        assert before.get(task, row["wtasints"]) == row["wtasints"]
        before[task] = row["wtasinte"]
    assert seen > 100


def test_clocks_are_finer_than_a_microsecond(class_3: bytes) -> None:
    below = [block[15] for name, block in blocks(class_3) if name == "WTAS"]
    assert len(set(below)) > 100


def test_records_are_numbered_as_they_are_written(class_3: bytes) -> None:
    numbers: dict[str, list[int]] = {}
    for name, area in blocks(class_3):
        if name.startswith("QWHS"):
            numbers.setdefault(name, []).append(int.from_bytes(area[24:28], "big"))
    assert set(numbers) == {"QWHS of (116, 0)", "QWHS of (116, 1)"}
    for each in numbers.values():
        assert each == list(range(each[0], each[0] + len(each)))


# Counters and times.


def test_times_differ_from_task_to_task_and_queue_to_queue(inputs: Inputs) -> None:
    for table, names in {
        "wtas": ("wtasotet", "wtascmet", "wtasbaet", "wtaspret", "wtasjwet", "wtasjcet"),
        "wqst": ("openet", "getet", "putet", "putjwet", "putpset", "totlatnt", "inqet"),
    }.items():
        found = rows(inputs, table)
        for name in names:
            values = [row[name] for row in found if row[name]]
            assert len(values) > 0.08 * len(found), name
            assert len(set(values)) > 0.97 * len(values), name


def test_queues_have_their_own_names(inputs: Inputs) -> None:
    found = rows(inputs, "wqst")
    assert len({row["basename"] for row in found}) > 100
    assert 0.2 < sum(row["objname"] != row["basename"] for row in found) / len(found) < 0.6


def test_every_queue_block_says_that_its_queue_was_used(inputs: Inputs) -> None:
    for row in rows(inputs, "wqst"):
        assert row["putn"] + row["put1n"] + row["getn"] + row["inqn"] > 0


def test_the_queue_blocks_of_a_task_are_chained(inputs: Inputs) -> None:
    chains: dict[int, list[tuple[int, int]]] = {}
    for row in rows(inputs, "wqst"):
        chains.setdefault(row["record_no"], []).append((row["wqback"], row["wqnext"]))
    ends = {row["record_no"]: (row["wtascqf"], row["wtascqb"]) for row in rows(inputs, "wtas")}
    for record, chain in chains.items():
        first, last = ends[record]
        assert (chain[0][0], chain[-1][1]) == (0, 0)
        if len(chain) > 1:
            assert (chain[1][0], chain[-2][1]) == (first, last)


def test_processor_time_is_part_of_elapsed_time(inputs: Inputs) -> None:
    for table, verbs in {
        "wqst": ("open", "close", "get", "put", "put1", "inq", "set", "cb"),
        "wtas": ("wtasot", "wtascm", "wtasba", "wtaspr", "wtasct", "wtassu", "wtasst"),
    }.items():
        for row in rows(inputs, table):
            for verb in verbs:
                count, spent, lasted = (row[f"{verb}{what}"] for what in ("n", "ct", "et"))
                assert (count > 0) == (spent > 0), verb
                assert spent <= lasted, verb


def test_a_class_1_block_covers_its_task() -> None:
    """MQ 10.0.0 writes only the first part of QWAC."""
    for version, length in (("9.3.0", 176), ("10.0.0", 96)):
        found = [block for name, block in blocks(made(version=version)) if name == "QWAC"]
        assert found
        for block in found:
            begin, end, before, after = struct.unpack_from(">4Q", block)
            assert len(block) == length
            assert begin < end
            assert before < after
