"""What is selected of a dataset: files that can have none of it are not opened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import smfparse
from smfparse.errors import InputError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.selecting import Selection
from smfparse.store import EARLIER, read_head
from smfparse.writing import append_dataset
from tests.support.paths import FIXTURES

DUMPS = [FIXTURES / "qm02-shared.smf", FIXTURES / "qm01-930.smf"]
"""Two queue managers, two days; and the accounting of one of these."""
ASKED = {
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
        few = ReadOptions(limits=Limits(manifest_files=1))
        append_dataset(open_inputs([each], few), folder, partition=True)
    return folder


def counts(path: Path | list[Path], selection: Selection) -> list[int]:
    data = smfparse.open(path, selection)
    tables = ("record", "qmst", "wtas", "wqst")
    return [
        *(data.arrow(each).num_rows for each in tables),
        *(data.sql(f"SELECT count(*) AS n FROM {each}")["n"][0].as_py() for each in tables),
    ]


def test_a_selection_has_the_rows_that_it_has_of_the_files(divided: Path) -> None:
    for name, asked in ASKED.items():
        found = counts(DUMPS, asked)
        assert counts(divided, asked) == found, name
        assert any(found) == (name != "none"), name


def test_files_of_other_days_and_queue_managers_are_not_opened(
    divided: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(divided, tmp_path / "tables"))
    wanted = "date=2026-03-05/queue_manager=QM01"
    others = [each for each in folder.glob("*/date=*/*") if "2026-03" in str(each)]
    kept = {"queue_manager=no-qmgr", "queue_manager=QM01"}
    for each in others:
        if each.is_file() and each.parent.name != "date=2026-03-05":
            each.unlink()
        elif each.is_dir() and (each.parent.name != "date=2026-03-05" or each.name not in kept):
            shutil.rmtree(each)
    assert list(folder.glob(f"record/{wanted}/*.parquet"))
    assert counts(folder, ASKED["both"]) == counts(divided, ASKED["both"])
    with pytest.raises(InputError, match="is not there"):
        counts(folder, ASKED["day"])


def test_parts_of_the_manifest_of_other_days_are_not_read(divided: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(divided, tmp_path / "tables"))
    (earlier,) = read_head(folder)["earlier"]
    assert earlier["days"] == ["2026-03-04", "2026-03-05"]
    for part in (folder / EARLIER).iterdir():
        part.unlink()
    assert not any(counts(folder, ASKED["none"]))
    with pytest.raises(InputError, match="is not there"):
        counts(folder, ASKED["day"])
