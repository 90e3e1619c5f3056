"""Write the tables of SMF files as Parquet in many ways: how long it takes, how large they get,
and how long DuckDB takes to read them.

Each input is decoded once and held in memory, so only writing is timed. In a round every candidate
is written once, and read a few times, in turn; the table gives medians of processor time, which a
shared machine disturbs least, against those of the first candidate. docs/performance.md says what
came of it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import duckdb
import inputs
import pyarrow as pa
import pyarrow.parquet as pq
from jobs import AGGREGATE
from show import machine, table

from smfparse.decoding.arrow import coded_schema, wanted_tables
from smfparse.decoding.dictionary import columns, table_names
from smfparse.inputs.opening import open_inputs
from smfparse.store.parquet import joined, parquet_options

Options: TypeAlias = dict[str, Any]
Way: TypeAlias = Callable[[str], Options]
"""Table name to options of ParquetWriter, and `row_group_size`."""
Tables: TypeAlias = Mapping[str, Any]
"""Table name to its pyarrow.Table, texts as dictionaries."""

_GROUP_ROWS = 122_880
_DELTA = "DELTA_BINARY_PACKED"
_RISING = {"smf_time", "time", "qwhsstck", "record_no", "record_offset", "task_record_no"}
_SCAN = "SELECT max(hash(COLUMNS(*))) FROM wqst"
_SUMS = "SELECT sum(putn), sum(getn), sum(putct), sum(getct), sum(validput) FROM wqst"
_QUERIES = {"all columns": _SCAN, "5 sums": _SUMS, "aggregate": AGGREGATE}
_READS = 3
_HEADER = ("input", "candidate", "write", "MB", "x zstd -3", *_QUERIES)


@dataclass
class Measured:
    """What a candidate took: seconds of each time, and bytes."""

    write: list[float] = field(default_factory=list)
    size: int = 0
    read: dict[str, list[float]] = field(default_factory=dict)


def _default(_: str) -> Options:
    """The library's own choice but for the codec: dictionary and statistics of every column."""
    return {"compression": "zstd", "store_schema": False}


def _but(**changes: Any) -> Way:
    """What smfparse does, with some options changed."""
    return lambda table: parquet_options(table) | changes


def _dictionary_of_all(limit: int) -> Way:
    return _but(use_dictionary=True, dictionary_pagesize_limit=limit)


def _delta_of(wanted: Callable[[Any], bool]) -> Way:
    """Delta of every column that is wanted."""

    def way(table: str) -> Options:
        options = parquet_options(table)
        found = [each.name for each in coded_schema(table) if wanted(each)]
        return options | {"column_encoding": dict.fromkeys(found, _DELTA)}

    return way


def _statistics_of_numbers(table: str) -> Options:
    numbers = [each.name for each in columns(table) if each.arrow != "string"]
    return parquet_options(table) | {"write_statistics": numbers}


def _opaque_plain(table: str) -> Options:
    options = parquet_options(table)
    opaque = {each.name for each in columns(table) if each.opaque}
    coded = [each for each in options["use_dictionary"] if each not in opaque]
    return options | {"use_dictionary": coded}


def _lz4_of(wanted: Callable[[Any], bool]) -> Way:
    """LZ4 for every column with a type that is wanted."""

    def way(table: str) -> Options:
        codecs = {each.name: "lz4" if wanted(each.type) else "zstd" for each in coded_schema(table)}
        return parquet_options(table) | {"compression": codecs, "compression_level": None}

    return way


def _short(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind)) and kind.bit_width <= 32


CANDIDATES: Mapping[str, Way] = {
    "pyarrow's defaults, zstd": _default,
    "as chosen": parquet_options,
    "statistics of all columns": _but(write_statistics=True),
    "statistics of all numbers": _statistics_of_numbers,
    "no statistics": _but(write_statistics=False),
    "dictionary of all columns": _dictionary_of_all(1 << 20),
    "dictionary of all, up to 64 KB": _dictionary_of_all(1 << 16),
    "dictionary of all, up to 4 KB": _dictionary_of_all(1 << 12),
    "no dictionary for hexadecimal": _opaque_plain,
    "no dictionary": _but(use_dictionary=False),
    "delta of columns that rise": _delta_of(lambda each: each.name in _RISING),
    "delta of all times": _delta_of(lambda each: pa.types.is_timestamp(each.type)),
    "delta of all whole numbers": _delta_of(lambda each: pa.types.is_integer(each.type)),
    "zstd level 1": _but(compression_level=1),
    "zstd level 3": _but(compression_level=3),
    "zstd level -1": _but(compression_level=-1),
    "lz4": _but(compression="lz4", compression_level=None),
    "lz4 for numbers up to 4 bytes": _lz4_of(_short),
    "lz4 for doubles": _lz4_of(pa.types.is_floating),
    "snappy": _but(compression="snappy", compression_level=None),
    "not compressed": _but(compression="none", compression_level=None),
    "data pages of 64 KB": _but(data_page_size=1 << 16),
    "data page version 2": _but(data_page_version="2.0"),
    "8192 values a step": _but(write_batch_size=8192),
    "16,384 rows a group": _but(row_group_size=1 << 14),
    "32,768 rows a group": _but(row_group_size=1 << 15),
}
"""First what all are compared with, then what smfparse does, then that with one change each."""


def decoded(smf: Path) -> Tables:
    """Return all tables of a file."""
    found: dict[str, list[Any]] = {name: [] for name in table_names()}
    for name, batch in open_inputs([smf]).batches(wanted_tables(table_names())):
        found[name].append(batch)
    return {name: joined(name, parts) for name, parts in found.items()}


def write(tables: Tables, way: Way, folder: Path) -> float:
    """Write one file per table; return the seconds of the processor."""
    begin = time.process_time()
    for name, rows in tables.items():
        options = {"row_group_size": _GROUP_ROWS} | way(name)
        group = options.pop("row_group_size")
        with pq.ParquetWriter(folder / f"{name}.parquet", rows.schema, **options) as writer:
            writer.write_table(rows, row_group_size=group)
    return time.process_time() - begin


def read(folder: Path) -> Iterator[tuple[str, float]]:
    """Yield each query and its seconds, a few times."""
    with duckdb.connect() as database:
        database.execute(f"CREATE VIEW wqst AS FROM '{folder / 'wqst.parquet'}'")
        for name, query in _QUERIES.items():
            for _ in range(_READS):
                begin = time.process_time()
                database.execute(query).fetchall()
                yield name, time.process_time() - begin


def measure(tables: Tables, ways: Mapping[str, Way], rounds: int) -> dict[str, Measured]:
    """Write and read all candidates in turn, `rounds` times after one that does not count."""
    found = {name: Measured() for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            one(found[name] if number else Measured(), tables, way)
    return found


def one(measured: Measured, tables: Tables, way: Way) -> None:
    """Write and read once."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        measured.write.append(write(tables, way, folder))
        measured.size = inputs.folder_size(folder)
        for query, seconds in read(folder):
            measured.read.setdefault(query, []).append(seconds)


def rows(kind: str, found: Mapping[str, Measured], zstd: int) -> Iterator[Sequence[str]]:
    """Yield one row per candidate."""
    first = next(iter(found.values()))
    for name, each in found.items():
        yield (
            *(kind, name, _ratio(each.write, first.write)),
            *(f"{each.size / 1e6:.2f}", f"{each.size / zstd:.2f}"),
            *(_ratio(each.read[query], first.read[query]) for query in _QUERIES),
        )


def _ratio(some: Sequence[float], others: Sequence[float]) -> str:
    return f"{median(some) / median(others):.2f}"


def heaviest(tables: Tables, most: int) -> Iterator[Sequence[str]]:
    """Yield the columns that take most bytes as smfparse writes them, with encodings."""
    found: list[tuple[int, str, str, str]] = []
    with tempfile.TemporaryDirectory() as temporary:
        write(tables, parquet_options, Path(temporary))
        for name in tables:
            metadata = pq.ParquetFile(Path(temporary) / f"{name}.parquet").metadata
            found += ((size, name, *what) for size, *what in _chunks(metadata))
    for size, *what in sorted(found, reverse=True)[:most]:
        yield (*what, f"{size / 1e3:,.0f}")


def _chunks(metadata: Any) -> Iterator[tuple[int, str, str]]:
    """Yield bytes, name and encodings of each column of the first row group."""
    if metadata.num_row_groups:
        group = metadata.row_group(0)
        for number in range(group.num_columns):
            chunk = group.column(number)
            encodings = ", ".join(sorted(chunk.encodings))
            yield chunk.total_compressed_size, chunk.path_in_schema, encodings


def _print(header: Sequence[str], found: Sequence[Sequence[str]], markdown: bool) -> None:
    print("\n".join(table(header, found, markdown)), end="\n\n", flush=True)


def _report(kind: str, options: argparse.Namespace, folder: Path) -> None:
    """Print what was measured of one input."""
    smf = inputs.make(kind, inputs.parse_size(options.size), folder).smf
    zstd = inputs.zstd_size(smf)
    tables = decoded(smf)
    ways = {name: way for name, way in CANDIDATES.items() if options.candidate in name}
    ways = dict([next(iter(CANDIDATES.items()))]) | ways
    found = measure(tables, ways, options.rounds)
    first = next(iter(found.values()))
    print(
        f"{kind}: {smf.stat().st_size / 1e6:.0f} MB, zstd -3 {zstd / 1e6:.2f} MB; first candidate"
    )
    print(
        f"{median(first.write):.3f} s, "
        + ", ".join(f"{query} {median(each) * 1e3:.0f} ms" for query, each in first.read.items())
    )
    _print(_HEADER, list(rows(kind, found, zstd)), options.markdown)
    if options.columns:
        heavy = list(heaviest(tables, options.columns))
        _print(("table", "column", "encodings", "KB"), heavy, options.markdown)


def _options() -> argparse.Namespace:
    parser = inputs.parser(__doc__, 5, "200MB")
    parser.add_argument("--only", default="class3,mix,dense", help="default: class3,mix,dense")
    parser.add_argument("--candidate", default="", help="only candidates with this in their name")
    parser.add_argument(
        "--columns", type=int, default=0, help="show so many of the largest columns"
    )
    return parser.parse_args()


def main() -> None:
    """Measure all inputs."""
    options = _options()
    print(machine(), end="\n\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for kind in options.only.split(","):
            _report(kind, options, folder)


if __name__ == "__main__":
    main()
