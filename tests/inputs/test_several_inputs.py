"""Several inputs at once, and what is selected of a dataset.

Several inputs may have the same records, or records that bear one name and number. Files of a
dataset that can have nothing of a selection are not opened.
"""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import smfparse
from smfparse.decoding.selection import Selection
from smfparse.errors import InputError
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.query.catalog import Catalog
from smfparse.writing.append import append_dataset
from smfparse.writing.dataset import write_dataset
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURES
from tests.support.searching import some

JOIN = """
    SELECT count(*)::BIGINT AS n, sum(q.putn)::BIGINT AS puts
    FROM wtas t JOIN wqst q ON t.source = q.source AND t.record_no = q.task_record_no
"""


class Named(NamedTuple):
    """Two dumps that bore one name, in their datasets; and the second, which has that name now."""

    path: Path
    first: Path
    second: Path


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Named:
    """Both are cut, so that they have damage."""
    folder = tmp_path_factory.mktemp("several")
    path = folder / "DUMP.smf"
    few: dict[str, Any] = {"qmgrs": ["QM01"], "tasks": 2, "queues": 2, "count": 1}
    for seed in (1, 2):
        generate_dump(path, start=dt.datetime(2026, 3, seed, 9), seed=seed, **few)
        path.write_bytes(path.read_bytes()[:-3])
        write_dataset(open_inputs([path]), folder / f"{seed}")
    return Named(path, folder / "1", folder / "2")


def asked(inputs: Inputs, *queries: str, safe: bool = False) -> list[list[dict[str, Any]]]:
    with Catalog(inputs, safe=safe) as catalog:
        return [catalog.arrow(query).to_pylist() for query in queries]


def joined(*paths: Path) -> list[int]:
    [[row]] = asked(open_inputs(paths), JOIN)
    return [*row.values()]


@pytest.mark.slow
def test_rows_of_inputs_of_one_name_belong_to_their_own_input(named: Named, tmp_path: Path) -> None:
    first, second = joined(named.first), joined(named.second)
    both = [one + other for one, other in zip(first, second, strict=True)]
    assert min(*first, *second) > 0
    for other in (named.second, named.path):
        assert joined(named.first, other) == both
    write_dataset(open_inputs([named.first, named.path]), tmp_path / "both")
    again = joined(tmp_path / "both", named.first)
    assert again == [one + other for one, other in zip(both, first, strict=True)]


@pytest.mark.slow
def test_inputs_of_one_name_are_called_apart_by_us_and_by_duckdb(named: Named) -> None:
    names, tables = [str(named.path), f"{named.path}#2"], ("record", "wqst")
    for chosen, safe in (({}, True), ({"queue": "*"}, False), ({"type": "116"}, False)):
        inputs = open_inputs([named.first, named.second], ReadOptions(Selection.of(**chosen)))
        queries = (f"SELECT source, record_no FROM {each}" for each in tables)
        found = asked(inputs, *queries, safe=safe)
        for table, of_sql in zip(tables, found, strict=True):
            rows = inputs.arrow(table).select(["source", "record_no"]).to_pylist()
            assert sorted({each["source"] for each in rows}) == names
            assert sorted(map(str, of_sql)) == sorted(map(str, rows))
    [damage] = asked(inputs, "SELECT DISTINCT source FROM damage ORDER BY source")
    assert [each["source"] for each in damage] == names
    assert [each.source for each in inputs.lost.details] == names
    file_too = open_inputs([named.first, named.path])
    assert file_too.arrow("qjst")["source"].unique().to_pylist() == names[::-1]


def test_a_dataset_of_a_selection_keeps_no_other_records_away(named: Named, tmp_path: Path) -> None:
    some = ReadOptions(Selection.of(type="115"))
    write_dataset(open_inputs([named.path], some), tmp_path / "some")
    for table, options in (("wtas", ReadOptions(Selection.of(type="116"))), ("qjst", some)):
        found = open_inputs([tmp_path / "some", named.path], options).arrow(table)
        assert found.num_rows == open_inputs([named.second]).arrow(table).num_rows > 0


def test_a_dataset_is_no_pattern(named: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name, decoy in (("z[1]", "z1"), ("a*b", "axb"), ("q?r", "qxr"), ("~", "home")):
        monkeypatch.setenv("HOME", str(tmp_path / decoy))
        for place, dataset in ((name, named.second), (decoy, named.first)):
            Path(place).symlink_to(dataset, target_is_directory=True)
        [[row]] = asked(open_inputs([Path(name)]), "SELECT max(day(smf_time)) AS day FROM qjst")
        assert row["day"] == 2, name


DUMPS = [FIXTURES / "qm02-shared.smf", FIXTURES / "qm01-930.smf"]
"""Two queue managers, two days; and the accounting of one of these."""
CHOSEN = {
    "day": Selection.of(since="2026-03-05 00:00"),
    "end": Selection.of(until="2026-03-04 23:59:59"),
    "qmgr": Selection.of(qmgr="qm02"),
    "both": Selection.of(qmgr="QM01", since="2026-03-05 00:00"),
    "queue": Selection.of(queue="*", until="2026-03-04 23:59:59"),
    "none": Selection.of(since="2030-01-01 00:00"),
}


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("divided") / "tables"
    for each in DUMPS:
        append_dataset(open_inputs([each]), folder, partition=True)
    return folder


def counts(path: Path | list[Path], selection: Selection) -> list[int]:
    data = smfparse.open(path, selection)
    tables = ("record", "wqst")
    counted = ", ".join(f"(SELECT count(*) FROM {each}) AS {each}" for each in tables)
    [of_sql] = data.sql(f"SELECT {counted}").to_pylist()
    return [*(data.arrow(each).num_rows for each in tables), *of_sql.values()]


@pytest.mark.fuzz
@pytest.mark.slow
def test_files_of_other_days_and_qmgrs_are_not_opened(divided: Path, tmp_path: Path) -> None:
    """And rows are those of the SMF files."""
    for name in some([*CHOSEN], 3):
        found = counts(DUMPS, CHOSEN[name])
        assert counts(divided, CHOSEN[name]) == found, name
        assert any(found) == (name != "none"), name
    folder = Path(shutil.copytree(divided, tmp_path / "tables"))
    for each in folder.rglob("*.parquet"):
        if {"date=2026-03-04", "queue_manager=QM02"} & {*each.parts}:
            each.unlink()
    assert counts(folder, CHOSEN["both"]) == counts(DUMPS, CHOSEN["both"])
    for other in ("day", "end"):
        with pytest.raises(InputError, match="was not found"):
            counts(folder, CHOSEN[other])
