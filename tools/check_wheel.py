"""Build sdist and wheel, install the wheel in an empty folder and run the command from there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
COOKBOOK = ROOT / "docs" / "cookbook.md"
IN_DUCKDB = """
import sys, duckdb
connection = duckdb.connect()
connection.execute(open("views.sql", encoding="utf-8").read())
print(len(connection.sql(sys.argv[1]).fetchall()))
"""
"""What DuckDB alone does in the folder of a dataset; argument: a query."""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command; stop with its output where it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={
            **os.environ,
            "PIP_CONSTRAINT": str(CONSTRAINTS),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Build in a temporary folder; the wheel is made from the sdist."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
        (wheel,) = (folder / "dist").glob("*.whl")
        venv.create(folder / "venv", with_pip=True)
        scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        run(scripts / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
        empty = folder / "empty"
        empty.mkdir()
        smfparse = scripts / "smfparse"
        run(smfparse, "generate", "demo.smf", "--count", "2", cwd=empty)
        run(smfparse, "convert", "demo.smf", "--to", "demo", cwd=empty)
        raw = run(smfparse, "report", "log", "demo.smf", cwd=empty)
        if "Log write rate:" not in raw or raw != run(smfparse, "report", "log", "demo", cwd=empty):
            sys.exit(f"the installed wheel gave another report:\n{raw}")
        (question, *_) = re.findall(r"```sql\n(.*?)```", COOKBOOK.read_text("utf-8"), re.DOTALL)
        rows = run(scripts / "python", "-c", IN_DUCKDB, question, cwd=empty / "demo")
        if not int(rows):
            sys.exit(f"in DuckDB the dataset answered nothing to:\n{question}")
        run(smfparse, "compare", "demo.smf", "demo", cwd=empty)
        print(f"{wheel.name}: built from the sdist, installed, run: ok")


if __name__ == "__main__":
    main()
