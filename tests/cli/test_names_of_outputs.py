"""Names of outputs: their endings choose the format; one that cannot be written is refused."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from tests.support.command import run
from tests.support.paths import FIXTURES

SMF = FIXTURES / "qm60.smf"
FORMATS = ("text", "csv", "json", "jsonl", "md", "html", "xlsx", "parquet")
ENDINGS = ("arrow", "csv", "db", "duckdb", "html", "json", "jsonl", "md", "ndjson",
           "parquet", "smf", "xlsx")  # fmt: skip
SAID = {"db": "duckdb"}
SQL: list[Any] = ["sql", SMF, "SELECT 1 AS one"]
COMMANDS: list[list[Any]] = [
    ["describe", "wtas"],
    ["report", "log", SMF],
    ["report", "--list"],
    ["report", "log", "--explain"],
    SQL,
    ["info", SMF],
    ["compare", SMF, SMF],
    ["dump", SMF],
    ["check", SMF],
]


def refused(folder: Path, *arguments: Any) -> str:
    """Return the message of a command that is refused, and wrote nothing."""
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert not list(folder.iterdir())
    return done.stderr


def test_a_name_says_the_format_and_one_that_is_not_written_is_refused(tmp_path: Path) -> None:
    """One command is tried with all endings, the others with some of them."""
    for number, command in enumerate(COMMANDS):
        for ending in ENDINGS[number::9] if number else ENDINGS:
            packed = tmp_path / f"x.{ending.upper()}.gz"
            said = f"the name says {SAID.get(ending, ending)}.gz;"
            assert said in refused(tmp_path, *command, "--output", packed)
            path = tmp_path / f"x.{ending.upper()}"
            if ending not in FORMATS:
                said = f"the name says {SAID.get(ending, ending)};"
                assert said in refused(tmp_path, *command, "--output", path)
    for ending in ("", ".txt", ".log", ".csv.txt", ".d20260304", "csv"):
        assert run("describe", "wtas", "--output", tmp_path / f"x{ending}").exit_code == 0
        path = tmp_path / f"x{ending}"
        assert path.read_text("utf-8").startswith("wtas: ")
        path.unlink()
    for asked, ending, said in (
        (["log", "--explain"], "csv", "--explain prints text"),
        (["--list"], "parquet", "--list cannot be written as parquet"),
        (["log", SMF, "--format", "csv"], "json", "use --format json, or another name"),
        *((["log", SMF], each, f"{each} cannot be written; choose one of text, csv")
          for each in ("pdf", "xls", "docx")),
    ):  # fmt: skip
        assert said in refused(tmp_path, "report", *asked, "--output", tmp_path / f"x.{ending}")


def test_a_format_is_written_to_its_own_name_only(tmp_path: Path) -> None:
    for number, written in enumerate(FORMATS):
        command = [*SQL, "--format", written, "--output"]
        own = tmp_path / f"x.{written}"
        assert run(*command, own).exit_code == 0
        own.unlink()
        for ending in {*ENDINGS[number % 2 :: 2]} - {written}:
            message = refused(tmp_path, *command, tmp_path / f"x.{ending}")
            told = f"use --format {ending}, or another name" in message
            assert told is (ending in FORMATS)
            message = refused(tmp_path, *command, tmp_path / f"x.{ending}.gz")
            assert "use another name" in message


WAYS_OUT = {
    "csv": "--format csv --to DIR writes one file per table",
    "jsonl.gz": "--format jsonl.gz --to DIR writes one file per table",
    "ndjson": "--format ndjson --to DIR writes one file per table",
    "parquet": "--format parquet --to DIR writes one file per table",
    "db": "use --format duckdb for a database",
    "xlsx": "use another name",
    "smf": "use another name",
}


def test_a_dataset_is_no_folder_of_such_a_name_and_the_way_out_is_named(tmp_path: Path) -> None:
    """Also where its format is given; a dataset of an earlier release with one is added to."""
    for ending, packed in product(ENDINGS, ("", ".gz")):
        path = tmp_path / f"x.{ending.upper()}{packed}"
        said = f"the name says {SAID.get(ending, ending)}{packed};"
        assert said in refused(tmp_path, "convert", SMF, "--to", path, "--format", "dataset")
        if f"{ending}{packed}" != "duckdb":
            message = refused(tmp_path, "convert", SMF, "--to", path)
            assert said in message
            assert WAYS_OUT.get(f"{ending}{packed}", "") in message
    assert run("convert", SMF, "--to", tmp_path / "days").exit_code == 0
    (tmp_path / "days").rename(tmp_path / "days.parquet")
    done = run("convert", SMF, "--to", tmp_path / "days.parquet", "--append")
    assert done.exit_code == 0
    assert "already in the dataset" in done.stderr


def test_files_of_tables_databases_and_smf_have_no_other_name(tmp_path: Path) -> None:
    convert = ["convert", SMF, "--table", "qjst", "--to"]
    for written, name in (("csv", "x.json"), ("csv", "x.csv.gz"), ("jsonl", "x.duckdb"),
                          ("duckdb", "x.parquet"), ("arrow", "x.smf")):  # fmt: skip
        refused(tmp_path, *convert, tmp_path / name, "--format", written)
    for name in ("x.csv", "x.parquet", "x.smf.gz", "x.json.gz"):
        refused(tmp_path, "generate", tmp_path / name, "--count", "1")
    assert run(*convert, tmp_path / "x.db", "--format", "duckdb").exit_code == 0
    assert run(*convert, tmp_path / "x.d20260304", "--format", "csv").exit_code == 0
    for name in ("x.smf", "x.bin"):
        assert run("generate", tmp_path / name, "--count", "1", "--tasks", "0").exit_code == 0
