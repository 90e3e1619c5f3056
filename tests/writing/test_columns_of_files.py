"""Files of a dataset have the columns of their table, and its manifest is of this version."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from smfparse.errors import InputError
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.store import FORMAT, MANIFEST, read_manifest, selected
from smfparse.tables import plain_schema, schema, table_names
from smfparse.writing import append_dataset, write_dataset
from tests.support.datasets import drop, note_checksums
from tests.support.mixed_records import many, written

TABLE = "wqst"


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("dumps")
    for number in range(2):
        (place / f"{number}.smf").write_bytes(written(many(60, number))[0])
    return sorted(place.iterdir())


@pytest.mark.parametrize("name", ["counted_at", "record_no", "putn"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_file_that_lacks_a_column_is_damage(
    dumps: list[Path], tmp_path: Path, name: str, which: int
) -> None:
    """Whichever file it is, and however it is read."""
    folder = tmp_path / "tables"
    for dump in dumps:
        append_dataset(open_inputs([dump]), folder)
    drop(sorted((folder / TABLE).iterdir())[which], name)
    note_checksums(folder)
    for asked in (schema(TABLE).names, ["system"]):
        with pytest.raises(InputError, match=f"not a file of the table {TABLE}"):
            list(open_inputs([folder]).batches({TABLE: frozenset(asked)}))
    with (
        Catalog(open_inputs([folder])) as catalog,
        pytest.raises(InputError, match=f"not a file of the table {TABLE}"),
    ):
        catalog.arrow(f"FROM {TABLE}")


def test_selected_columns_have_the_types_that_duckdb_gives_to_those_of_arrow() -> None:
    with duckdb.connect() as database:
        for table in table_names():
            database.register("given", plain_schema(table).empty_table())
            given = database.sql("FROM given")
            made = database.sql(f"SELECT {selected(table)} FROM given")
            assert made.columns == given.columns
            assert made.types == given.types


@pytest.mark.parametrize("number", [FORMAT - 1, FORMAT + 1, None, "1"])
def test_a_dataset_of_another_version_says_so(
    dumps: list[Path], tmp_path: Path, number: object
) -> None:
    write_dataset(open_inputs(dumps[:1]), tmp_path / "new")
    manifest = read_manifest(tmp_path / "new") | {"format": number}
    (tmp_path / "new" / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(InputError, match="another version of smfparse; use that one, or convert"):
        open_inputs([tmp_path / "new"])
