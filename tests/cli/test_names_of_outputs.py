"""Names of outputs: one that says another format than the one that is written is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.command import run
from tests.support.paths import FIXTURE_FILES
from tests.support.searching import some

pytestmark = pytest.mark.usefixtures("worked_out_once")
SMF = FIXTURE_FILES[0]
ENDINGS = ("arrow", "csv", "db", "duckdb", "html", "json", "jsonl", "md", "parquet", "smf", "xlsx")
SAID = {"db": "duckdb"}
COMMANDS: dict[str, list[Any]] = {
    "report": ["report", "log", SMF],
    "list": ["report", "--list"],
    "explain": ["report", "log", "--explain"],
    "sql": ["sql", SMF, "SELECT 1 AS one"],
    "info": ["info", SMF],
    "describe": ["describe", "wtas"],
    "compare": ["compare", SMF, "--split-at", "2026-03-04T10:00"],
    "dump": ["dump", SMF],
    "check": ["check", SMF],
}
FORMATS = ("text", "csv", "json", "jsonl", "md", "html", "xlsx", "parquet")


def refused(folder: Path, *arguments: Any) -> str:
    """Return the message of a command that is refused, and wrote nothing."""
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert not list(folder.iterdir())
    return done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_text_is_not_written_to_a_name_of_another_format(name: str, tmp_path: Path) -> None:
    for ending in ENDINGS:
        for packed in ("", ".gz"):
            path = tmp_path / f"x.{ending.upper()}{packed}"
            said = f"the name says {SAID.get(ending, ending)}{packed};"
            assert said in refused(tmp_path, *COMMANDS[name], "--output", path)


@pytest.mark.parametrize("name", COMMANDS)
def test_other_names_say_nothing(name: str, tmp_path: Path) -> None:
    """One command has them all; what works long has a few."""
    endings = ("", ".txt", ".log", ".csv.txt", ".d20260304", "csv")
    for number, ending in enumerate(some(endings, 2 if name in ("compare", "check") else 6)):
        path = tmp_path / f"{number}{ending}"
        assert run(*COMMANDS[name], "--output", path).exit_code == 0
        assert path.exists()


@pytest.mark.parametrize("written", FORMATS)
def test_a_format_is_written_to_its_own_name_only(written: str, tmp_path: Path) -> None:
    command = [*COMMANDS["sql"], "--format", written, "--output"]
    for ending in ENDINGS:
        path = tmp_path / f"x.{ending}"
        if ending == written:
            assert run(*command, path).exit_code == 0
            path.unlink()
        else:
            message = refused(tmp_path, *command, path)
            assert (f"give --format {ending}, or another name" in message) is (ending in FORMATS)
        assert "give another name" in refused(tmp_path, *command, f"{path}.gz")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_dataset_is_no_folder_of_such_a_name(ending: str, tmp_path: Path) -> None:
    """Also where --format dataset is given."""
    for packed in ("", ".gz"):
        for more in ([], ["--format", "dataset"]):
            path = tmp_path / f"x.{ending}{packed}"
            if (ending, packed, more) == ("duckdb", "", []):
                continue
            message = refused(tmp_path, "convert", SMF, "--to", path, *more)
            assert f"the name says {SAID.get(ending, ending)}{packed};" in message


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("x.csv", "--format csv --to DIR writes one file per table"),
        ("x.JSONL.GZ", "--format jsonl.gz --to DIR writes one file per table"),
        ("x.parquet", "--format parquet --to DIR writes one file per table"),
        ("x.db", "give --format duckdb for a database"),
        ("x.xlsx", "give another name"),
        ("x.smf", "give another name"),
    ],
)
def test_the_way_out_is_named(name: str, way_out: str, tmp_path: Path) -> None:
    assert way_out in refused(tmp_path, "convert", SMF, "--to", tmp_path / name)


def test_files_of_tables_and_databases_have_no_other_name(tmp_path: Path) -> None:
    convert = ["convert", SMF, "--table", "qjst", "--to"]
    for written, name in (("csv", "x.json"), ("csv", "x.csv.gz"), ("jsonl", "x.duckdb"),
                          ("duckdb", "x.parquet"), ("arrow", "x.smf")):  # fmt: skip
        refused(tmp_path, *convert, tmp_path / name, "--format", written)
    assert run(*convert, tmp_path / "x.db", "--format", "duckdb").exit_code == 0
    assert run(*convert, tmp_path / "x.d20260304", "--format", "csv").exit_code == 0


def test_a_dataset_that_has_such_a_name_is_added_to(tmp_path: Path) -> None:
    """As earlier releases made them."""
    assert run("convert", SMF, "--to", tmp_path / "days").exit_code == 0
    (tmp_path / "days").rename(tmp_path / "days.parquet")
    done = run("convert", SMF, "--to", tmp_path / "days.parquet", "--append")
    assert done.exit_code == 0
    assert "is in the dataset already" in done.stderr


def test_generate_writes_smf(tmp_path: Path) -> None:
    for name in ("x.csv", "x.parquet", "x.smf.gz", "x.json.gz"):
        refused(tmp_path, "generate", tmp_path / name, "--count", "1")
    for name in ("x.smf", "x.bin"):
        assert run("generate", tmp_path / name, "--count", "1", "--tasks", "0").exit_code == 0


def test_a_link_to_itself_is_replaced(tmp_path: Path) -> None:
    loop = tmp_path / "x.txt"
    loop.symlink_to(loop)
    assert run("info", SMF, "--output", loop).exit_code == 0
    assert loop.read_text("utf-8").startswith("System")
