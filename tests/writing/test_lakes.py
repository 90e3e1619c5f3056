"""Tables of Iceberg and Delta have the rows of the dataset whose files they take."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import smfparse
from smfparse.decoding.arrow import plain_schema
from smfparse.errors import OutputError, RequestError
from smfparse.reading.places import place_of
from smfparse.writing.lakes import Change, commit_dataset
from tests.support import command
from tests.support.engines import snippet
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURES
from tests.support.searching import LONG

pyiceberg = pytest.importorskip("pyiceberg")
deltalake = pytest.importorskip("deltalake")

OTHER = FIXTURES / "qm100.smf"
FEW = ("record", "wqst")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # SQLite, by sqlalchemy
]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nor settings of the user."""

    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of two queue managers, in folders."""
    place = tmp_path_factory.mktemp("lakes")
    dump = generate_dump(place / "dump.smf", count=1, tasks=2)
    smfparse.convert(dump, place / "mq", types="signed", partition=True)
    return place / "mq"


@pytest.fixture
def folder(divided: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(divided, tmp_path / "mq"))


def target(kind: str, folder: Path) -> str:
    return f"delta:{folder}" if kind == "delta" else f"iceberg:{folder.parent / 'lake.db'}.mq"


def table_of(folder: Path, name: str) -> Any:
    """Return a table of Iceberg, as others open it."""
    opened = import_module("pyiceberg.catalog.sql").SqlCatalog
    with opened("lake", uri=f"sqlite:///{folder.parent / 'lake.db'}") as catalog:
        return catalog.load_table(f"mq.{name}")


def rows(kind: str, folder: Path, name: str, qmgr: str | None = None) -> list[dict[str, Any]]:
    """Return the rows that another reader finds, in order; of one queue manager, if named."""
    if kind == "delta":
        asked = [("qmgr", "=", qmgr)] if qmgr else None
        found = deltalake.DeltaTable(str(folder / name)).to_pyarrow_table(filters=asked)
    else:
        only = {"row_filter": f"qmgr = '{qmgr}'"} if qmgr else {}
        found = table_of(folder, name).scan(**only).to_arrow()
    return arranged(found.select(plain_schema(name).names).cast(plain_schema(name), safe=False))


def arranged(found: pa.Table) -> list[dict[str, Any]]:
    return sorted(found.to_pylist(), key=lambda each: json.dumps(each, default=str))


def assert_equal(kind: str, folder: Path, names: Sequence[str] = FEW) -> None:
    data = smfparse.open(folder)
    for name in names:
        assert rows(kind, folder, name) == arranged(data.arrow(name)), name


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", ["iceberg", "delta"])
def test_what_is_committed_is_the_dataset_as_it_is(kind: str, folder: Path, tmp_path: Path) -> None:
    place = target(kind, folder)
    tables = smfparse.open(folder).tables if LONG else FEW
    done = command.run("convert", folder, "--to", place, "--table", ",".join(tables), code=0)
    assert f"files added to {len(tables)} tables, 0 removed, 0 unchanged" in done.output
    assert_equal(kind, folder, tables)
    smfparse.convert(OTHER, folder, append=True)
    assert smfparse.commit(folder, place, tables="wqst") == {"wqst": Change(1, 0, 2)}
    smfparse.commit(folder, place, tables=FEW)
    again = smfparse.commit(folder, place, tables=FEW)
    assert {(each.added, each.removed) for each in again.values()} == {(0, 0)}
    assert_equal(kind, folder)
    whole = smfparse.open(folder).arrow("wqst")["qmgr"].to_pylist()
    for name in sorted(set(whole)):
        assert len(rows(kind, folder, "wqst", name)) == whole.count(name) > 0
    words, called = {"iceberg": ("SqlCatalog", "lake.db"), "delta": ("scan_delta", "mq")}[kind]
    shown = snippet(words, QM01="QM02", **{f"/datasets/{called}": str(folder.parent / called)})
    assert len(shown["result"]) == whole.count("QM02")  # by the lines in docs/dataset.md
    if kind == "iceberg":  # the statistics say which files have none
        (one,) = table_of(folder, "wqst").scan(row_filter="qmgr = 'QM02'").plan_files()
        assert "queue_manager=QM02" in one.file.file_path
    odd = generate_dump(tmp_path / "odd.smf", qmgrs=["Q#2", "P101"], count=1, tasks=2)
    smfparse.convert(odd, folder, force=True, types="signed", partition=True)
    assert any("%23" in each.as_posix() for each in folder.rglob("*.parquet"))
    assert smfparse.commit(folder, place, tables=FEW)["wqst"] == Change(2, 3, 0)
    assert smfparse.commit(folder, place, tables=FEW)["wqst"] == Change(0, 0, 2)
    assert_equal(kind, folder)
    assert rows(kind, folder, "record", "Q#2")


def test_a_commit_is_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.exceptions import CommitFailedException

    place, other = target("iceberg", folder), folder.with_name("other")
    smfparse.convert(OTHER, other, types="signed")
    commit_dataset(folder, place, ["record"])
    smfparse.convert(FIXTURES / "qm80.smf", folder, append=True)
    commit, tries = SqlCatalog.commit_table, []

    def between(self: Any, *asked: Any) -> Any:
        tries.append(1)
        if len(tries) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(SqlCatalog, "commit_table", commit)
                commit_dataset(other, place, ["record"])
        elif len(tries) <= 6:  # pyiceberg itself tries 5 times
            raise CommitFailedException("somebody else was first")
        return commit(self, *asked)

    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr(SqlCatalog, "commit_table", between)
    assert commit_dataset(folder, place, ["record"])["record"].added == 2
    assert len(tries) > 6
    counts = [smfparse.open(each).arrow("record").num_rows for each in (folder, other)]
    assert len(rows("iceberg", folder, "record")) == sum(counts)


def test_what_cannot_be_committed_is_said(whole_dataset: Path, tmp_path: Path) -> None:
    lake = f"iceberg:{tmp_path / 'lake.db'}.mq"
    exact = "unsigned numbers, which Iceberg does not support; convert the SMF files again, with"
    for asked, said in (
        ([whole_dataset, "--to", lake], f"{exact} --types signed"),
        ([OTHER, "--to", f"delta:{tmp_path}"], "not a dataset; Delta uses the files of a dataset"),
        ([whole_dataset, whole_dataset, "--to", lake], "takes the files of one dataset"),
        ([whole_dataset, "--to", lake, "--append"], "leave out all options except --table"),
        ([whole_dataset, "--to", lake, "--qmgr", "Q"], "leave out all options except --table"),
        ([whole_dataset, "--to", lake, "--table", "wqts"], "wqst"),
    ):
        assert said in " ".join(command.run("convert", *asked, code=2).output.split())
    assert not list(tmp_path.iterdir())


def test_a_catalog_or_folder_that_is_not_there_is_named(folder: Path, tmp_path: Path) -> None:
    for place, said in (
        ("iceberg:nowhere.mq", "PYICEBERG_CATALOG__NOWHERE__URI, or a file: nowhere.db"),
        ("iceberg:lake", "give iceberg:CATALOG.NAMESPACE"),
        (f"iceberg:{tmp_path}/none/lake.db.mq", "no such folder"),
        (f"delta:{tmp_path}", f"give delta:{folder}"),
        ("hudi:x", "give iceberg:CATALOG.NAMESPACE or delta:FOLDER"),
    ):
        with pytest.raises(RequestError, match=said):
            smfparse.commit(folder, place)
    with pytest.raises(RequestError, match="Delta takes a folder on a disk or in S3"):
        import_module("smfparse.writing.delta").Delta(place_of("gs://b/mq"), "gs://b/mq")
    (tmp_path / "lake.db").write_text("no database")
    with pytest.raises(OutputError, match="file is not a database"):
        smfparse.commit(folder, f"iceberg:{tmp_path}/lake.db.mq")


@pytest.mark.parametrize("library", ["pyiceberg.catalog", "sqlalchemy", "deltalake"])
def test_absent_extra_is_named(library: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = "delta" if library == "deltalake" else "iceberg"
    package = library if kind == "delta" else "'pyiceberg[sql-sqlite]'"
    monkeypatch.delitem(sys.modules, f"smfparse.writing.{kind}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    done = command.run("convert", folder, "--to", target(kind, folder), code=2)
    assert f"-m pip install {package}" in done.output
    monkeypatch.delitem(sys.modules, f"smfparse.writing.{kind}", raising=False)
