"""The column decoder against the scalar one: every block, any bytes, any length."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.arrow import wanted_tables
from smfparse.decoding.decoder import Decoder
from smfparse.decoding.gathering import BlockBuffer, EntryBuffer, Growing
from smfparse.decoding.matching import Needs
from smfparse.errors import DamageLog, RequestError
from smfparse.layout.blocks import Block, block
from smfparse.layout.kinds import SquareSum
from smfparse.reading.chunks import SLACK
from smfparse.vectors import not_zero
from tests.support.builders import NOTHING, Section, chunk_of, named_block, qwhs_long, smf_record
from tests.support.declared import BLOCKS
from tests.support.searching import LONG, search

Rows: TypeAlias = list[dict[str, Any]]

EDGES = np.array([0x00, 0x40, 0x7F, 0x80, 0xFF], np.uint8)
SHORT = 200
"""Blocks beyond this are not cut at every byte: their scalar decoding takes milliseconds."""

every_block = pytest.mark.parametrize("name", BLOCKS)


def scalar(which: Block, blocks: Sequence[bytes]) -> dict[str, Rows]:
    """Decode one block after the other with construct: table to rows."""
    found: dict[str, Rows] = {each: [] for each in (which.name, *(c.table for c in which.children))}
    for number, data in enumerate(blocks):
        own, children = which.rows(which.parse(data))
        found[which.name].append(own)
        for table, rows in children.items():
            found[table] += [{"block": number, **row} for row in rows]
    return found


def vectorised(which: Block, *chunks: Sequence[bytes]) -> dict[str, Rows]:
    """Decode all blocks of a chunk at once, as they lie one behind the other in it."""
    main = BlockBuffer(which, which.columns)
    entries = {each.table: EntryBuffer(which, each, each.columns) for each in which.children}
    owners: dict[str, list[int]] = {table: [] for table in entries}
    before = 0
    for blocks in chunks:
        length = np.array([len(each) for each in blocks], np.int64)
        at = np.cumsum(length) - length
        buffer = np.frombuffer(b"".join(blocks) + bytes(SLACK), np.uint8)
        main.add(buffer, at, length)
        for table, each in entries.items():
            owners[table] += (each.add(buffer, at, length) + before).tolist()
        before += len(blocks)
    found = {which.name: rows_of(dict(main.arrays()), before)}
    for table, each in entries.items():
        made = {"block": pa.array(owners[table], pa.int64()), **dict(each.arrays())}
        found[table] = rows_of(made, len(owners[table]))
    return found


def rows_of(columns: dict[str, Any], count: int) -> Rows:
    """Turn columns into rows, all empty if there is none; their order does not matter."""
    lists = [range(count), *(column.to_pylist() for column in columns.values())]
    return [dict(zip(columns, row, strict=True)) for _, *row in zip(*lists, strict=True)]


def agree(which: Block, *chunks: Sequence[bytes]) -> None:
    one = scalar(which, [*itertools.chain(*chunks)])
    all_at_once = vectorised(which, *chunks)
    for table, rows in one.items():
        assert all_at_once[table] == rows, table


def edgy(seed: int, size: int, share: float) -> bytes:
    """Return random bytes of which `share` are at the edges of signed and unsigned numbers."""
    random = np.random.default_rng(seed)
    some = random.integers(0, 256, size, np.uint8)
    return np.where(random.random(size) < share, random.choice(EDGES, size), some).tobytes()


def with_version(which: Block, data: bytes, version: int | None) -> bytes:
    word = which.version
    if version is None or word is None:
        return data
    return (data[: word.offset] + bytes(word.kind.build(version)) + data[word.end :])[: len(data)]


@st.composite
def cut_blocks(draw: st.DrawFn, which: Block) -> list[bytes]:
    """Draw a few blocks, whole, cut and with a tail, their version words valid or random."""
    blocks = []
    for _ in range(draw(st.integers(1, 4))):
        size = which.size
        length = draw(st.one_of(st.just(size), st.integers(0, size), st.integers(size, size + 40)))
        seed, share = draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from([0.0, 0.5, 0.9, 1.0]))
        version = draw(st.one_of(st.none(), st.integers(0, 10)))
        blocks.append(with_version(which, edgy(seed, length, share), version))
    return blocks


@every_block
@given(data=st.data())
@search(6)
def test_both_decoders_agree_on_any_bytes_at_any_length(name: str, data: st.DataObject):
    """In one chunk or in several."""
    which = BLOCKS[name]
    chunk = st.just([bytes(which.size)]) | cut_blocks(which)
    agree(which, *data.draw(st.lists(chunk, min_size=1, max_size=3)))


@pytest.mark.slow
@every_block
def test_both_decoders_agree_on_edges_on_version_words_and_on_cuts(name: str):
    which = BLOCKS[name]
    same = [bytes([edge]) * which.size for edge in EDGES.tolist()]
    agree(which, [each for data in same for each in (with_version(which, data, 9), data)])
    if which.version:
        whole = edgy(1, which.size, 0.3)
        agree(which, [with_version(which, whole, each) for each in (*range(11), 0x7FFFFFFF)])
    whole = with_version(which, edgy(len(name), which.size + 8, 0.5), 9)
    # 7 and 31 have no factor in common with any width: fields of every offset are cut at every byte
    step = 1 if which.size < SHORT else 7 if LONG or which.size < 400 else 31
    agree(which, [whole[:length] for length in range(0, len(whole) + 1, step)])


@pytest.mark.parametrize("length", [699, 700, 701])
def test_a_version_word_counts_as_soon_as_it_is_whole(length: int):
    """WTASVER ends at byte 700; an older block has nothing where WTASSMRS is from version 5 on."""
    which = BLOCKS["WTAS"]
    blocks = [with_version(which, b"\1" * which.size, version)[:length] for version in (4, 5)]
    agree(which, blocks)
    old, new = vectorised(which, blocks)["WTAS"]
    assert old["wtassmrs"] == (0x01010101 if length < 700 else None)
    assert new["wtassmrs"] == 0x01010101


def test_both_decoders_agree_on_wide_numbers_around_the_last_that_fits():
    which = block("WIDE", "w", "sq" / SquareSum * "squares")
    edges = [0, 1, 2**64 - 1, 2**64, 10**38 - 1, 10**38, 2**127, 2**128 - 1]
    agree(which, [edge.to_bytes(16, "big") for edge in edges])


def qist_record(*blocks: bytes) -> bytes:
    return smf_record(115, 2, NOTHING, Section(blocks), area=qwhs_long(triplets=3))


QIST = named_block("QIST", 80)


def decode(tables: list[str], *records: bytes) -> dict[str, Any]:
    return dict(Decoder(Needs(wanted_tables(tables)), DamageLog()).decode([chunk_of(*records)]))


def test_only_the_tables_and_columns_that_are_wanted_are_decoded():
    """Rows can be counted without any column."""
    assert list(decode(["qist"], qist_record(QIST))) == ["qist"]
    assert decode(["qist", "qjst"], qist_record()) == {}
    for columns in (["qmgr", "qistmget"], []):
        needs = Needs({"qist": frozenset(columns)})
        [(table, batch)] = Decoder(needs, DamageLog()).decode([chunk_of(qist_record(QIST, QIST))])
        assert (table, batch.schema.names, batch.num_rows) == ("qist", columns, 2)


def test_an_unknown_table_is_refused_with_the_names_there_are():
    with pytest.raises(RequestError, match=r"^no table qisst; .*tables are record, .*qist"):
        wanted_tables(["qist", "qisst"])


# Memory that columns use again: never while anybody refers to it.


@given(steps=st.lists(st.tuples(st.integers(0, 400), st.sampled_from(["", "keep", "drop"]))))
@search(30)
def test_memory_that_was_taken_keeps_what_is_in_it(steps: list[tuple[int, str]]) -> None:
    growing, kept = Growing("i8", 2), []
    written_since = np.zeros((2, 0), np.int64)
    for number, (rows, take) in enumerate(steps):
        growing.more(rows)[:] = number
        written_since = np.hstack([written_since, np.full((2, rows), number)])
        if take:
            taken = growing.take()
            np.testing.assert_array_equal(taken, written_since)
            if take == "keep":
                kept.append((taken[1, ::2], written_since[1, ::2]))
            del taken
            written_since = written_since[:, :0]
    for view, expected in kept:
        np.testing.assert_array_equal(view, expected)


def filled(growing: Growing, rows: int, value: int) -> Any:
    growing.more(rows)[:] = value
    return growing.take()


def test_memory_is_used_again_when_nobody_refers_to_it() -> None:
    growing = Growing("i8")
    first, again = (filled(growing, 1000, value).ctypes.data for value in (1, 2))
    assert first == again
    assert {*filled(growing, 100_000, 3).tolist()} == {3}  # the first one is too small


def raw(taken: Any) -> Any:
    return pa.Array.from_buffers(pa.int64(), 1000, [None, pa.py_buffer(taken)])[5:]


REFERENCES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "the array": (lambda taken: taken, list),
    "a range": (lambda taken: taken[10:20], list),
    "a view": (lambda taken: taken.view("f8"), lambda held: held.view("i8").tolist()),
    "bytes": (memoryview, list),
    "a buffer": (pa.py_buffer, lambda held: np.frombuffer(held, "i8").tolist()),
    "Arrow": (pa.array, lambda held: held.to_pylist()),
    "Arrow by buffers": (raw, lambda held: held.to_pylist()),
    "Polars": (lambda taken: pl.Series(pa.array(taken))[3:7], lambda held: held.to_list()),
    "DuckDB": (
        lambda taken: duckdb.connect().from_arrow(pa.table({"a": pa.array(taken)})),
        lambda held: [value for (value,) in held.fetchall()],
    ),
}


def test_memory_is_not_used_again_while_something_refers_to_it() -> None:
    for what, (refer, values) in REFERENCES.items():
        growing = Growing("i8")
        held = refer(filled(growing, 1000, 1))
        for value in range(2, 6):
            filled(growing, 1000, value)
        assert set(values(held)) == {1}, what


@given(
    places=st.lists(st.integers(0, 300), max_size=20),
    width=st.integers(1, 40),
    bits=st.sets(st.integers(0, 339), max_size=6),
    in_order=st.booleans(),
)
@search(60)
def test_bytes_that_are_not_zero_are_found_wherever_blocks_lie(
    places: list[int], width: int, bits: set[int], in_order: bool
) -> None:
    """Blocks that hostile triplets give overlap and need not ascend."""
    buffer = np.zeros(340, np.uint8)
    buffer[list(bits)] = 1
    places = sorted(places) if in_order else places
    expected = [bool(buffer[at : at + width].any()) for at in places]
    assert not_zero(buffer, np.array(places, np.int64), width).tolist() == expected
