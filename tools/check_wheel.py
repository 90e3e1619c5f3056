"""Build sdist and wheel, install the wheel in an empty folder and run the command from there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
COOKBOOK = ROOT / "docs" / "sql.md"
OLD_DUCKDB = "duckdb==1.5.6"
"""The package needs a newer one; this one can read datasets as well."""
IN_DUCKDB = """
import sys, duckdb
connection = duckdb.connect()
connection.execute(open("views.sql", encoding="utf-8").read())
views = "SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal"
for (view,) in connection.sql(views).fetchall():
    connection.sql(f"SELECT count(*) FROM (FROM {view} ORDER BY ALL)").fetchall()
print(len(connection.sql(sys.argv[1]).fetchall()))
"""
"""Reads a dataset in its folder with DuckDB alone; argument: a query."""


def run(*command: str | Path, cwd: Path, constraints: Path | None = CONSTRAINTS) -> str:
    """Run a command and return what it prints; if it fails, exit with that."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    pinned = {"PIP_CONSTRAINT": str(constraints)} if constraints else {}
    env = {**alone, **pinned, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def python_with(package: str | Path, folder: Path, constraints: Path | None = CONSTRAINTS) -> Path:
    """Make a virtual environment with a package; return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = (python, "-m", "pip", "install", "--quiet", package)
    run(*install, cwd=folder.parent, constraints=constraints)
    return python


def check_dataset(dataset: Path, python: Path) -> None:
    """Run the cookbook's first query in DuckDB alone; exit if it has no answer."""
    (question, *_) = re.findall(r"```sql\n(.*?)```", COOKBOOK.read_text("utf-8"), re.DOTALL)
    if not int(run(python, "-c", IN_DUCKDB, question, cwd=dataset)):
        sys.exit(f"DuckDB found no rows in the dataset for:\n{question}")


def main() -> None:
    """Build the wheel from the sdist, in a temporary folder; read a dataset with two DuckDBs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
        (wheel,) = (folder / "dist").glob("*.whl")
        python = python_with(wheel, folder / "venv")
        empty = folder / "empty"
        empty.mkdir()
        smfparse = partial(run, python.with_name("smfparse"), cwd=empty)
        smfparse("generate", "demo.smf", "--count", "2")
        smfparse("convert", "demo.smf", "--to", "demo")
        raw = smfparse("report", "log", "demo.smf")
        if "Log write rate:" not in raw or raw != smfparse("report", "log", "demo"):
            sys.exit(f"the reports of file and dataset differ in the installed wheel:\n{raw}")
        smfparse("compare", "demo.smf", "demo")
        moved = (empty / "demo").rename(empty / "a moved one")
        check_dataset(moved, python)
        check_dataset(moved, python_with(OLD_DUCKDB, folder / "old", constraints=None))
        print(f"{wheel.name}: built from the sdist, installed, run: ok")


if __name__ == "__main__":
    main()
