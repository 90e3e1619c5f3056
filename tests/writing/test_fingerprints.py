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


def own_rows(table: str, rows: pa.Table) -> list[str]:
    """Return what rows know without other records."""
    return sorted_rows(rows, [each for each in plain_schema(table).names if each not in OF_OTHERS])


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
@search(5)
def test_the_query_finds_the_records_of_one_process(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    paths = put(tmp_path_factory.mktemp("dumps") / "in", dumps_of(chance))
    how: dict[str, Any] = chance.choice([{}, {"jobs": 3, "limits": SMALL}])
    how |= {"fingerprints": True, "keep_duplicates": chance.random() < 0.5}
    apart = [smfparse.open(each, **how).arrow("record") for each in paths]
    found = counted_rows({"record": apart}, "record")["record"]
    assert own_rows("record", found) == own_rows("record", smfparse.open(paths).arrow("record"))


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
    """One that grew and shrank, and one of signed types in folders."""
    records = [
        *([HEADERS[0], *RECORDS[:30]], [HEADERS[0], *RECORDS[10:40]]),
        [HEADERS[1], *RECORDS[20:], *RECORDS[30:40]],
    ]
    paths, folders = put(tmp_path / "in", records), [tmp_path / "0", tmp_path / "1"]
    smfparse.convert(paths[0], folders[0], fingerprints=True)
    smfparse.convert(paths[1], folders[0], append=True)
    assert compact_dataset(folders[0], Limits(group_rows=20)).before > 1
    more = ("--fingerprints", "--types", "signed", "--partition")
    done = command.run("convert", paths[2], "--to", folders[1], *more)
    assert done.exit_code == 4, done.output  # blocks are damaged
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
        assert found[table].num_rows < sum(each.num_rows for each in tables[table])
        assert own_rows(table, found[table]) == own_rows(table, once.arrow(table))
    together = smfparse.open(folders)
    names = ["source", "record_no", *NAMES]
    query = f"SELECT {', '.join(names)} FROM record"
    apart = [smfparse.open(each, fingerprints=True) for each in (paths[:2], paths[2])]
    expected = sorted_rows(pa.concat_tables(each.arrow("record") for each in apart), names)
    for rows in (
        together.arrow("record"),
        *(together.sql(query, safe=safe) for safe in (True, False)),
        together.polars("record").select(names).collect().to_arrow(),
    ):
        assert sorted_rows(rows, names) == expected
    assert '"fingerprint": "What equal records' in (folders[0] / "columns.json").read_text()


def test_they_are_there_only_where_they_are_asked_for(whole_dataset: Path, tmp_path: Path) -> None:
    assert "fingerprint" not in (whole_dataset / VIEWS).read_text(encoding="utf-8")
    data = smfparse.open(whole_dataset)
    assert not {*NAMES} & {*data.arrow("record").column_names}
    assert data.arrow("record", NAMES)["fingerprint"].null_count == len(data.arrow("record"))
    with pytest.raises(RequestError, match="written without fingerprints=True"):
        smfparse.convert(SMF, whole_dataset, append=True, fingerprints=True)
    asked = ("convert", SMF, "--to", tmp_path / "x", "--format", "csv")
    refused = command.run(*asked, "--fingerprints")
    assert refused.exit_code == 2
    assert "--columns source,record_no,fingerprint,dump_start" in " ".join(refused.output.split())
    done = command.run(*asked, "--columns", "record_no,fingerprint")
    assert done.exit_code == 0, done.output
    number, found = (tmp_path / "x" / "record.csv").read_text().splitlines()[1].split(",")
    (row,) = smfparse.open(SMF).arrow("record", ["record_no", "fingerprint"])[:1].to_pylist()
    assert (int(number), found) == (row["record_no"], row["fingerprint"])
