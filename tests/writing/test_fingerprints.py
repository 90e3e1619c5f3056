"""Dumps that are read apart: the query of docs/scale.md finds the rows of one process."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.errors import RequestError
from smfparse.limits import Limits
from smfparse.store import VIEWS
from smfparse.tables import IDENTITY_COLUMNS, plain_schema, with_fingerprints
from smfparse.writing import compact_dataset
from tests.support import command
from tests.support.builders import UTC_NOON, foreign_record
from tests.support.datasets import with_views
from tests.support.engines import COUNTED, statement
from tests.support.mixed_records import many
from tests.support.paths import SMF
from tests.support.searching import search

NAMES = [each.name for each in IDENTITY_COLUMNS]
SMALL = Limits(chunk_bytes=4096, max_spanned=4096, least_unit=1)
RECORDS = [b"".join(each.pieces()) for each in many(60, 7)]
HEADERS = [foreign_record(2, UTC_NOON.replace(tzinfo=None), each) for each in ("SYS1", "SYS2")]
OF_OTHERS = {
    *("counted_at", "utc_offset", "interval_start", "interval_seconds"),
    *("task_source", "task_record_no", "task_record_offset"),
}
"""Columns of what a row knows of other records."""


def put(folder: Path, dumps: list[list[bytes]]) -> list[Path]:
    """Write dumps as files whose names ascend."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number:02}.smf" for number in range(len(dumps))]
    for path, records in zip(paths, dumps, strict=True):
        path.write_bytes(b"".join(records))
    return paths


def sorted_rows(rows: pa.Table, names: list[str]) -> list[str]:
    return sorted(map(str, rows.select(names).to_pylist()))


def own_columns(table: str) -> list[str]:
    return [each for each in plain_schema(table).names if each not in OF_OTHERS]


def counted_rows(tables: dict[str, list[pa.Table]], *names: str) -> dict[str, pa.Table]:
    """Return what the query of the docs leaves of tables that were read apart."""
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        for table, parts in tables.items():
            database.register(table, pa.concat_tables(parts))
        database.execute(statement(COUNTED))
        joined = statement("JOIN counted")
        return {each: database.sql(joined.replace("wqst", each)).to_arrow_table() for each in names}


def dumps_of(chance: random.Random) -> list[list[bytes]]:
    """Return files of overlapping dumps; records may be in a dump several times."""
    found: list[list[bytes]] = []
    for _ in range(chance.randint(2, 4)):
        records: list[bytes] = []
        for _ in range(chance.randint(1, 3)):
            start = chance.randrange(len(RECORDS))
            records += [chance.choice(HEADERS)] if chance.random() < 0.8 else []
            records += RECORDS[start : start + chance.randint(1, 25)] * chance.choice([1, 1, 2])
        found.append(records)
    return found


@given(st.randoms(use_true_random=False))
@search(8)
def test_the_query_finds_the_records_of_one_process(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    paths = put(tmp_path_factory.mktemp("dumps") / "in", dumps_of(chance))
    parts = chance.choice([{}, {"jobs": 3, "limits": SMALL}])
    keep = chance.random() < 0.5
    apart = [
        smfparse.open(each, fingerprints=True, keep_duplicates=keep, **parts).arrow("record")
        for each in paths
    ]
    found = counted_rows({"record": apart}, "record")["record"]
    names = own_columns("record")
    assert sorted_rows(found, names) == sorted_rows(smfparse.open(paths).arrow("record"), names)


def test_a_dump_starts_at_its_header_also_where_that_is_left_out(tmp_path: Path) -> None:
    header, records = HEADERS[0], RECORDS
    (path,) = put(tmp_path, [[*records[:2], header, *records[2:50], header, header, *records[50:]]])
    expected = [1] * 2 + [3] * 49 + [52] + [53] * (len(records) - 49)
    kept: dict[str, Any] = {"fingerprints": True, "keep_duplicates": True}
    for more in ({}, {"jobs": 3, "limits": SMALL}):
        whole = smfparse.open(path, **kept, **more).arrow("record", NAMES)
        assert whole["dump_start"].to_pylist() == expected
        less = smfparse.open(path, fingerprints=True, **more).arrow("record", ["record_no", *NAMES])
        assert less.num_rows < whole.num_rows
        for each in less.to_pylist():
            assert each["dump_start"] == expected[each["record_no"] - 1]
    blind = smfparse.decode_part(
        path, smfparse.Part(len(records[0]), None, None), {"record": NAMES}
    )
    rows = [row for _, batch in blind for row in batch.to_pylist()]
    assert {row["dump_start"] for row in rows} == {None}
    assert [row["fingerprint"] for row in rows] == whole["fingerprint"].to_pylist()[1:]


@pytest.mark.slow
def test_datasets_that_were_made_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = [[HEADERS[0], *RECORDS[:40]], [HEADERS[1], *RECORDS[20:]], [*RECORDS[30:40]]]
    paths = put(tmp_path / "in", dumps)
    folders = [tmp_path / each.stem for each in paths]
    for number, (path, folder) in enumerate(zip(paths, folders, strict=True)):
        more = ["--types", "signed", "--partition"] if number else []
        done = command.run("convert", path, "--to", folder, "--fingerprints", *more)
        assert done.exit_code in (0, 4), done.output
    tables: dict[str, list[pa.Table]] = {"record": [], "wqst": [], "wtas": []}
    for folder in folders:
        with with_views(folder, monkeypatch) as database:
            for table, parts in tables.items():
                names = plain_schema(table, with_fingerprints(table)).names
                shown = ", ".join(f'"{each}"' for each in names)
                parts.append(database.sql(f"SELECT {shown} FROM {table}").to_arrow_table())
    found = counted_rows(tables, *tables)
    once = smfparse.open(paths)
    for table in tables:
        names = own_columns(table)
        assert found[table].num_rows < sum(each.num_rows for each in tables[table])
        assert sorted_rows(found[table], names) == sorted_rows(once.arrow(table), names)
    together = smfparse.open(folders)
    names = ["source", "record_no", *NAMES]
    query = f"SELECT {', '.join(names)} FROM record"
    apart = [smfparse.open(each, fingerprints=True).arrow("record") for each in paths]
    for rows in (
        together.arrow("record"),
        together.sql(query, safe=True),
        together.sql(query),
        together.polars("record").select(names).collect().to_arrow(),
    ):
        assert sorted_rows(rows, names) == sorted_rows(pa.concat_tables(apart), names)


def test_a_dataset_keeps_them_when_it_grows_and_shrinks(tmp_path: Path) -> None:
    paths = put(tmp_path / "in", [[HEADERS[0], *RECORDS[:40]], [HEADERS[1], *RECORDS[20:]]])
    folder = tmp_path / "tables"
    smfparse.convert(paths[0], folder, partition=True, fingerprints=True)
    smfparse.convert(paths[1], folder, append=True)
    names = ["source", "record_no", *NAMES]
    expected = sorted_rows(smfparse.open(paths, fingerprints=True).arrow("record"), names)
    assert sorted_rows(smfparse.open(folder).arrow("record"), names) == expected
    assert compact_dataset(folder, Limits(group_rows=20)).before > 1
    assert sorted_rows(smfparse.open(folder).arrow("record"), names) == expected
    assert '"fingerprint": "What equal records' in (folder / "columns.json").read_text()


def test_they_are_there_only_where_they_are_asked_for(tmp_path: Path) -> None:
    smfparse.convert(SMF, tmp_path / "plain")
    assert "fingerprint" not in (tmp_path / "plain" / VIEWS).read_text(encoding="utf-8")
    data = smfparse.open(tmp_path / "plain")
    assert not {*NAMES} & {*data.arrow("record").column_names}
    assert data.arrow("record", NAMES)["fingerprint"].null_count == len(data.arrow("record"))
    with pytest.raises(RequestError, match="written without fingerprints=True"):
        smfparse.convert(SMF, tmp_path / "plain", append=True, fingerprints=True)
    refused = command.run(
        "convert", SMF, "--to", tmp_path / "x", "--format", "csv", "--fingerprints"
    )
    assert refused.exit_code == 2
    assert "--columns source,record_no,fingerprint,dump_start" in " ".join(refused.output.split())
    asked = ["--format", "csv", "--columns", "record_no,fingerprint"]
    done = command.run("convert", SMF, "--to", tmp_path / "x", *asked)
    assert done.exit_code == 0, done.output
    number, found = (tmp_path / "x" / "record.csv").read_text().splitlines()[1].split(",")
    (row,) = smfparse.open(SMF).arrow("record", ["record_no", "fingerprint"])[:1].to_pylist()
    assert (int(number), found) == (row["record_no"], row["fingerprint"])
    described = command.run("describe", "dump_start")
    assert "first record of the dump" in " ".join(described.output.split())
