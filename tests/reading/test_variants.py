"""A dump is the same dump in whatever variant it arrives: every table, every row, every column.

Three columns differ by nature and are left out, and no other: `source`, the name of the file, and
`record_offset` and `task_record_offset`, places in it, which the prefixes before them move. Record
numbers, lengths (as if there were an RDW) and everything inside of the records are what they are.
"""

from __future__ import annotations

import datetime as dt
import functools
import io
import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from smfparse.cli import main, options
from smfparse.errors import InputError, RequestError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.reading.walks import WALKS
from smfparse.tables import coded_schema, schema, table_names, wanted_tables
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURE_FILES
from tests.support.real import REAL_DATA
from tests.support.searching import of_many, pairs, some
from tests.support.variants import (
    BY_NAME,
    FRAMINGS,
    LONGEST,
    PACKINGS,
    VARIANTS,
    Variant,
    read_rdw,
)

pytestmark = pytest.mark.slow

REAL = sorted((REAL_DATA or Path()).glob("*.dat"))
VERSIONS = ("7.1.0", "9.1.2")
"""Of MQ, those of which there is no fixture."""
LONG = "longest records"
DUMPS = (*map(str, FIXTURE_FILES), *map(str, REAL), *VERSIONS, LONG)
SMALL = str(FIXTURE_FILES[-2])
MAIN = (
    "rdw",
    "rdw-unspanned",
    "rdw-null",
    "bdw",
    "bdw-extended",
    "length",
    "ftp-block",
    "ftp-record",
    "none",
)
"""The variants that are packed in every way."""
BY_NATURE = ("source", "record_offset", "task_source", "task_record_offset")
ALL = wanted_tables(table_names())
PACKED = ("plain", *sorted(PACKINGS))


@functools.cache
def dump(name: str) -> bytes:
    """Return the RDW file of that name, or make it."""
    if name in (*VERSIONS, LONG):
        return generated("9.4.0", queues=60) if name == LONG else generated(name, queues=2)
    return Path(name).read_bytes()


def generated(version: str, queues: int) -> bytes:
    """Make a dump of one interval."""
    hour = dt.timedelta(hours=1)
    changes = {"version": version, "seed": 3, "tasks": 2, "queues": queues, "count": 1}
    return generate_dump(io.BytesIO(), system="SYS1", utc_offset=hour, **changes).getvalue()


def comparable(table: Any) -> Any:
    """Return a table but its columns BY_NATURE."""
    return table.drop_columns([each for each in BY_NATURE if each in table.column_names])


def tables(path: Path, framing: str | None = None) -> dict[str, Any]:
    """Return every table of a file in which nothing is damaged, but the columns BY_NATURE."""
    inputs = open_inputs([path], ReadOptions(framing=framing))
    parts: dict[str, list[Any]] = {table: [] for table in ALL}
    for table, batch in inputs.batches(ALL):
        parts[table].append(batch)
    assert [str(each) for each in inputs.damage.details] == []
    return {
        table: comparable(pa.Table.from_batches(batches, coded_schema(table)).cast(schema(table)))
        for table, batches in parts.items()
        if batches
    }


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Every table of a dump as it is, decoded once."""
    folder = tmp_path_factory.mktemp("reference")

    @functools.cache
    def decoded(name: str) -> dict[str, Any]:
        path = folder / "dump.smf"
        path.write_bytes(dump(name))
        return tables(path)

    return decoded


def put(folder: Path, name: str, variant: Variant, packing: str = "plain") -> Path:
    """Write a dump in a variant, packed. The name of the file tells nothing."""
    data = variant.write(read_rdw(dump(name))).data
    path = folder / "input"
    path.write_bytes(PACKINGS[packing](data) if packing in PACKINGS else data)
    return path


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert sorted(found) == sorted(expected)
    for table, rows in expected.items():
        if not found[table].equals(rows):
            assert found[table].num_rows == rows.num_rows, table
            differing = [each for each in rows.column_names if found[table][each] != rows[each]]
            assert differing == [], table


def info(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["info", *map(str, arguments), "--jobs", "1"])


def short(value: object) -> str:
    """Return how a variant, a file or a packing is called among the names of tests."""
    return value.name if isinstance(value, Path | Variant) else Path(str(value)).name


@of_many("name, variant", some([*product(DUMPS, VARIANTS)], 40), ids=short)
def test_every_table_is_that_of_the_plain_file(
    reference: Callable[[str], dict[str, Any]], tmp_path: Path, name: str, variant: Variant
) -> None:
    assert_same(tables(put(tmp_path, name, variant)), reference(name))


WAYS = [(packing, BY_NAME[name]) for packing in sorted(PACKINGS) for name in MAIN]
SOME_WAYS = some(pairs(WAYS, [*FIXTURE_FILES, *REAL]), 11)


@of_many("way, name", SOME_WAYS, ids=lambda each: getattr(each, "name", None))
def test_every_table_of_a_packed_file_is_that_of_the_plain_file(
    reference: Callable[[str], dict[str, Any]],
    tmp_path: Path,
    way: tuple[str, Variant],
    name: Path,
) -> None:
    packing, variant = way
    assert_same(tables(put(tmp_path, str(name), variant, packing)), reference(str(name)))


def test_the_matrix_compares_rows_of_most_tables(
    reference: Callable[[str], dict[str, Any]],
) -> None:
    rows = {table for name in DUMPS for table in reference(name)}
    assert len(rows) > len(table_names()) * 0.8
    assert LONGEST - 2100 < max(map(len, read_rdw(dump(LONG)))) <= LONGEST


@pytest.mark.parametrize("variant", [BY_NAME[each] for each in FRAMINGS], ids=short)
def test_only_the_framing_that_it_is_gives_the_tables_when_it_is_named(
    reference: Callable[[str], dict[str, Any]], tmp_path: Path, variant: Variant
) -> None:
    path = put(tmp_path, SMALL, variant)
    for framing in FRAMINGS:
        if framing in (variant.framing, "bdw" if variant.framing == "rdw" else ""):
            assert_same(tables(path, framing), reference(SMALL))  # what goes by blocks needs none
            continue
        with pytest.raises((AssertionError, InputError)):
            assert_same(tables(path, framing), reference(SMALL))
    result = info(path, "--framing", variant.framing, "--format", "json")
    [told] = json.loads(result.stdout)["inputs"]
    assert (result.exit_code, told["framing"]) == (0, variant.framing)


def test_the_command_line_offers_every_framing_that_there_is() -> None:
    assert sorted(options.FRAMINGS) == sorted(WALKS) == sorted(FRAMINGS)


def test_a_framing_that_is_none_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, SMALL, BY_NAME["rdw"])
    with pytest.raises(RequestError, match="vbs"):
        open_inputs([path], ReadOptions(framing="vbs"))
    assert info(path, "--framing", "vbs").exit_code == 2


@of_many("packing, variant", pairs(PACKED, VARIANTS), ids=short)
def test_info_says_what_was_detected_and_why(
    tmp_path: Path, packing: str, variant: Variant
) -> None:
    path = put(tmp_path, SMALL, variant, packing)
    result = info(path, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    [told] = found["inputs"]
    assert (told["name"], told["framing"]) == (str(path), variant.framing)
    assert told["packing"] == ([] if packing == "plain" else [packing])
    assert told["why"]
    assert found["records"] == len(read_rdw(dump(SMALL)))
    assert found["damage_count"] == 0
    words = info(path).stdout
    assert re.search(rf"\b{variant.framing}\b", words)
    assert packing == "plain" or re.search(rf"\b{packing}\b", words)


def test_a_file_that_is_packed_twice_is_unpacked_twice(
    reference: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "input"
    path.write_bytes(PACKINGS["zip"](PACKINGS["gzip"](dump(SMALL))))
    assert_same(tables(path), reference(SMALL))
    [told] = json.loads(info(path, "--format", "json").stdout)["inputs"]
    assert sorted(told["packing"]) == ["gzip", "zip"]
