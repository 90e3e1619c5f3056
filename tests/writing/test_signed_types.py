"""Datasets with the types that Iceberg, Delta, Trino and Spark have: every figure is the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smfparse
from smfparse.errors import RequestError
from smfparse.inputs import open_inputs
from smfparse.query import lazy_frame
from smfparse.store import read_manifest
from smfparse.tables import schema, table_names
from smfparse.writing import append_dataset
from tests.support.command import run
from tests.support.datasets import with_views
from tests.support.paths import FIXTURES, SMF

pytestmark = pytest.mark.slow

OTHER = FIXTURES / "qm60.smf"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files, the second added without a word of types."""
    place = tmp_path_factory.mktemp("signed") / "tables"
    assert run("convert", SMF, "--to", place, "--types", "signed").exit_code == 0
    append_dataset(open_inputs([OTHER]), place)
    return place


def test_no_column_has_a_type_that_engines_lack_and_each_holds_every_value(folder: Path) -> None:
    assert read_manifest(folder)["types"] == "signed"
    wider = {"uint8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64"}
    wider["uint64"] = "decimal128(20, 0)"
    for table in table_names():
        exact = schema(table)
        for file in (folder / table).iterdir():
            for each in pq.read_schema(file):
                kind = str(exact.field(each.name).type)
                assert str(each.type) == wider.get(kind, kind), (table, each.name)
    assert 2**64 - 1 < 10**20


def test_every_table_has_the_same_rows_and_types(folder: Path) -> None:
    expected, found = open_inputs([SMF, OTHER]), open_inputs([folder])
    data = smfparse.open(folder)
    for table in table_names():
        whole = expected.arrow(table)
        assert found.arrow(table).equals(whole), table
        if whole.num_rows:
            assert data.sql(f"FROM {table}").cast(whole.schema).num_rows == whole.num_rows
    lazy = lazy_frame(found, "wqst").collect().to_arrow()
    assert lazy.cast(schema("wqst")).equals(expected.arrow("wqst"))


def test_views_have_numbers_as_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with with_views(folder, monkeypatch) as database:
        rows = database.sql("FROM wqst").to_arrow_table()
    kinds = {each.name: each.type for each in rows.schema if pa.types.is_integer(each.type)}
    assert kinds == {
        each.name: each.type for each in schema("wqst") if pa.types.is_integer(each.type)
    }


def test_a_dataset_keeps_its_types(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="written with signed types"):
        append_dataset(open_inputs([OTHER]), folder, types="exact")
    smfparse.convert(SMF, tmp_path / "exact")
    assert smfparse.convert(OTHER, tmp_path / "exact", append=True).arrow("wqst").num_rows
    assert read_manifest(tmp_path / "exact")["types"] == "exact"
