"""Records that lie about their blocks: bounded in memory; their neighbours are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.arrow import every_block, wanted_tables
from smfparse.decoding.decoder import Decoder
from smfparse.decoding.dictionary import decoded_tables
from smfparse.decoding.matching import Needs
from smfparse.errors import DamageLog
from smfparse.schemas import REGISTRY
from tests.support.builders import Section, chunk_of, named_block, qwhs_long, qwhs_short, smf_record
from tests.support.searching import of_many, search, some

pytestmark = pytest.mark.slow

ALL = wanted_tables(decoded_tables())
NEIGHBOUR = smf_record(115, 201, Section([named_block("QIS1", 104)]), area=qwhs_long())
EDGES = st.sampled_from([0, 1, 3, 8, 28, 36, 48, 72, 104, 208, 300, 576, 2344, 32767, 65535])
KINDS = sorted(REGISTRY)
BLOCKS = {each.name: each for triplets in REGISTRY.values() for each in triplets.values()}


@st.composite
def hostile(draw: st.DrawFn) -> bytes:
    """Draw a record, of a kind that is known, whose triplets say anything."""
    kind = draw(st.sampled_from(KINDS))
    triplets = REGISTRY[kind]
    sections = []
    for number in range(1, max(triplets) + 1):
        block = triplets.get(number)
        data = [named_block(block.name[:4], block.size)] if block and draw(st.booleans()) else []
        sections.append(
            Section(
                data,
                offset=draw(st.none() | EDGES),
                length=draw(st.none() | EDGES | st.integers(0, 65535)),
                count=draw(st.none() | EDGES),
            )
        )
    area = qwhs_short() if kind in ((116, 0), (116, 1), (116, 2)) else qwhs_long()
    return smf_record(*kind, *sections, area=area)


def decoded(*records: bytes) -> tuple[dict[str, pa.Table], DamageLog]:
    damage = DamageLog()
    parts: dict[str, list[pa.RecordBatch]] = {}
    for table, batch in Decoder(Needs(ALL), damage).decode([chunk_of(*records)]):
        parts.setdefault(table, []).append(batch)
    return {table: pa.Table.from_batches(found) for table, found in parts.items()}, damage


@search(40)
@given(hostile())
def test_rows_fit_in_their_record_whatever_it_says(record: bytes) -> None:
    """Its neighbours are used."""
    tables, damage = decoded(NEIGHBOUR, record, NEIGHBOUR)
    assert tables["record"].num_rows == 3
    assert {1, 3} <= set(tables["qis1"]["record_no"].to_pylist())
    assert {each.record_no for each in damage.details} <= {2}
    room = len(record)
    for name, block in BLOCKS.items():
        table = tables.get(name.lower())
        own = [] if table is None else table["record_no"].to_pylist()
        room -= own.count(2) * block.least
    assert room >= 0


@search(30)
@given(hostile())
def test_what_is_decoded_of_a_record_does_not_depend_on_what_is_looked_for(record: bytes) -> None:
    tables, damage = decoded(record)
    for name in sorted(tables):
        [*found] = Decoder(Needs(wanted_tables([name])), DamageLog()).decode([chunk_of(record)])
        assert [batch.to_pylist() for _, batch in found] == [tables[name].to_pylist()]
    checked = DamageLog()
    list(Decoder(Needs(every_block()), checked).decode([chunk_of(record)]))
    assert set(checked.details) == set(damage.details)


QMST, QIST = named_block("QMST", 72), named_block("QIST", 80)


def test_blocks_that_overlap_are_damage_and_those_that_fit_first_are_used() -> None:
    record = smf_record(
        115,
        2,
        Section([QMST]),
        Section([QIST]),
        Section([], offset=28 + 8 * 5, length=104, count=1),
        Section([], offset=28 + 8 * 5, length=32, count=1),
        area=qwhs_long(triplets=5),
    )
    tables, damage = decoded(record)
    assert (tables["qmst"].num_rows, tables["qist"].num_rows) == (1, 1)
    overlaps = "QLST at offset 68 overlaps other blocks of the record"
    lost = f"{overlaps}. The record may be truncated; skipped"
    assert lost in [each.reason for each in damage.details]


MEMORY = """
import re, sys
from pathlib import Path
from smfparse.decoding.dictionary import table_names
from smfparse.decoding.arrow import wanted_tables
from smfparse.inputs.opening import open_inputs
inputs = open_inputs([sys.argv[1]])
rows = sum(batch.num_rows for _, batch in inputs.batches(wanted_tables(table_names())))
kilobytes = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(rows, inputs.damage.count, int(kilobytes) // 1024)
"""
NAMES = ("many queues", "zero", "same bytes")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the memory of this process alone")
@of_many("name", some(NAMES, 1))
def test_a_small_file_never_takes_the_memory_of_a_large_one(name: str, tmp_path: Path) -> None:
    eight = named_block("WQST", 8)
    whole = named_block("WQST", 576)
    empty = Section()
    sections = {
        "many queues": [empty, empty, Section([eight] * 4000, count=65535)],
        "zero": [empty, empty, Section([eight] * 4000, length=0, count=65535)],
        "same bytes": [Section([whole] * 55, length=576), *[Section([], 60, 576, 55)] * 2],
    }[name]
    record = smf_record(116, 1, *sections, area=qwhs_short())
    path = tmp_path / "hostile.smf"
    path.write_bytes(record * (16_000_000 // len(record)))
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True
    )
    rows, damage, megabytes = map(int, done.stdout.split())
    assert damage > 0
    assert rows < 100_000
    assert megabytes < 600
