"""Tables of Iceberg and Delta have the rows of the dataset whose files they take."""

from __future__ import annotations

import json
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import smfparse
from smfparse.errors import OutputError, RequestError
from smfparse.places import place_of
from smfparse.tables import plain_schema
from smfparse.writing import Change, commit_dataset
from tests.support import command
from tests.support.engines import snippet
from tests.support.paths import FIXTURES
from tests.support.searching import LONG

pyiceberg = pytest.importorskip("pyiceberg")
deltalake = pytest.importorskip("deltalake")

ONE, OTHER = FIXTURES / "qm60.smf", FIXTURES / "qm100.smf"
KINDS = ("iceberg", "delta")
FEW = ("record", "wqst")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # SQLite, by sqlalchemy
]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    smfparse.convert(ONE, tmp_path / "mq", types="signed")
    return tmp_path / "mq"


def target(kind: str, folder: Path) -> str:
    return f"delta:{folder}" if kind == "delta" else f"iceberg:{folder.parent / 'lake.db'}.mq"


def table_of(folder: Path, name: str) -> Any:
    """Return a table of Iceberg, as others open it."""
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog("lake", uri=f"sqlite:///{folder.parent / 'lake.db'}").load_table(f"mq.{name}")


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


def shown(kind: str, folder: Path, qmgr: str) -> Any:
    """Return the rows of a queue manager that the lines in docs/scale.md find."""
    places = {"/datasets/mq": str(folder)}
    if kind == "iceberg":
        places = {"/datasets/lake.db": str(folder.parent / "lake.db")}
    words = {"iceberg": "SqlCatalog", "delta": "scan_delta"}[kind]
    return snippet(words, QM01=qmgr, **places)["result"]


def assert_equal(kind: str, folder: Path, names: tuple[str, ...]) -> None:
    data = smfparse.open(folder)
    for name in names:
        assert rows(kind, folder, name) == arranged(data.arrow(name)), name


@pytest.mark.sampled(1)
@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_committed_is_the_dataset_after_each_change_of_it(kind: str, folder: Path) -> None:
    place = target(kind, folder)
    tables = smfparse.open(folder).tables if LONG else [*FEW, "qjst"]
    done = command.run("convert", folder, "--to", place, "--table", ",".join(tables))
    assert done.exit_code == 0, done.output
    assert f"files added to {len(tables)} tables, 0 removed, 0 unchanged" in done.output
    assert_equal(kind, folder, tuple(tables))
    smfparse.convert(OTHER, folder, append=True)
    assert smfparse.commit(folder, place, tables="wqst") == {"wqst": Change(1, 0, 1)}
    smfparse.commit(folder, place, tables=FEW)
    again = smfparse.commit(folder, place, tables=FEW)
    assert {(each.added, each.removed) for each in again.values()} == {(0, 0)}
    assert_equal(kind, folder, FEW)
    whole = smfparse.open(folder).arrow("wqst")["qmgr"].to_pylist()
    for name in sorted(set(whole)):
        assert len(rows(kind, folder, "wqst", name)) == whole.count(name) > 0
    assert len(shown(kind, folder, "QM60")) == whole.count("QM60")
    if kind == "iceberg":  # the statistics say which files have none
        (one,) = table_of(folder, "wqst").scan(row_filter="qmgr = 'QM60'").plan_files()
        assert one.file.file_path.endswith("wqst/part-00000.parquet")
    smfparse.convert(OTHER, folder, force=True, types="signed")
    assert smfparse.commit(folder, place, tables=FEW)["wqst"] == Change(1, 2, 0)
    assert_equal(kind, folder, FEW)


@pytest.mark.parametrize("kind", KINDS)
def test_folders_of_days_and_queue_managers(kind: str, tmp_path: Path) -> None:
    dump, folder = tmp_path / "dump.smf", tmp_path / "mq"
    made = command.run("generate", dump, "--count", "4", "--qmgr", "Q#2", "--qmgr", "P101")
    assert made.exit_code == 0, made.output
    smfparse.convert(dump, folder, types="signed", partition=True)
    assert any("%23" in each.as_posix() for each in folder.rglob("*.parquet"))
    commit_dataset(folder, target(kind, folder), FEW)
    assert_equal(kind, folder, FEW)
    assert rows(kind, folder, "record", "Q#2")


def test_a_commit_to_iceberg_is_tried_again_after_another_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert commit_dataset(folder, place, ["record"])["record"].added == 1
    assert len(tries) > 6
    expected = [*smfparse.open(folder).arrow("record").to_pylist()]
    expected += smfparse.open(other).arrow("record").to_pylist()
    assert len(rows("iceberg", folder, "record")) == len(expected)


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exact") / "mq"
    smfparse.convert(ONE, folder)
    return folder


def test_what_cannot_be_committed_is_said_with_the_way_out(exact: Path, tmp_path: Path) -> None:
    lake = f"iceberg:{tmp_path / 'lake.db'}.mq"
    for asked, code, said in (
        ([exact, "--to", lake], 2, "unsigned numbers, which Iceberg does not support; convert the "
                                   "SMF files again, with --types signed"),
        ([ONE, "--to", f"delta:{tmp_path}"], 2, "not a dataset, whose files Delta takes"),
        ([exact, exact, "--to", lake], 2, "takes the files of one dataset"),
        ([exact, "--to", lake, "--append"], 2, "leave out all options but --table"),
        ([exact, "--to", lake, "--qmgr", "QM60"], 2, "leave out all options but --table"),
        ([exact, "--to", lake, "--table", "wqts"], 2, "wqst"),
    ):  # fmt: skip
        done = command.run("convert", *asked)
        assert done.exit_code == code, done.output
        assert said in " ".join(done.output.split()), done.output
    assert not list(tmp_path.iterdir())


def test_a_catalog_or_folder_that_is_not_there_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    for place, said in (
        ("iceberg:nowhere.mq", "PYICEBERG_CATALOG__NOWHERE__URI, or a file: nowhere.db"),
        ("iceberg:lake", "give iceberg:CATALOG.NAMESPACE"),
        (f"iceberg:{tmp_path}/none/lake.db.mq", "no such folder"),
        (f"delta:{tmp_path}", f"give delta:{folder}"),
        ("hudi:x", "give iceberg:CATALOG.NAMESPACE or delta:FOLDER"),
    ):
        with pytest.raises(RequestError, match=said):
            smfparse.commit(folder, place)
    with pytest.raises(RequestError, match="Delta takes a dataset on a disk or in S3"):
        import_module("smfparse.writing.delta").Delta(place_of("gs://b/mq"), "gs://b/mq")
    (tmp_path / "lake.db").write_text("no database")
    with pytest.raises(OutputError, match="file is not a database"):
        smfparse.commit(folder, f"iceberg:{tmp_path}/lake.db.mq")


PACKAGES = {"iceberg": "'pyiceberg[sql-sqlite]'", "delta": "deltalake"}
"""What a hint installs, as a shell takes it."""


@pytest.mark.parametrize(
    ("kind", "library"),
    [("iceberg", "pyiceberg.catalog"), ("iceberg", "sqlalchemy"), ("delta", "deltalake")],
)
def test_an_extra_that_is_missing_is_named(
    kind: str, library: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"smfparse.writing.{kind}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    done = command.run("convert", folder, "--to", target(kind, folder))
    assert done.exit_code == 2
    assert f"-m pip install {PACKAGES[kind]}" in done.output
    monkeypatch.delitem(sys.modules, f"smfparse.writing.{kind}", raising=False)
