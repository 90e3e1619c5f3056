"""Write what smfparse answers on every fixture and real file, to hold two versions side by side.

python tools/answers.py BEFORE    # at one version
python tools/answers.py AFTER     # at another
diff -r BEFORE AFTER

The folder, which must not exist, gets all reports that have rows: of every fixture as text, CSV and
JSON, of every real file as JSON. Of each of these, whole and cut off in its last tenth, it gets the
JSON of info, and for each table of the Parquet archive its columns, its row count and the SHA-256
of its values.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pyarrow as pa
from click.testing import CliRunner

import smfparse
from smfparse.cli import main

PROJECT = Path(__file__).resolve().parent.parent
REAL_DATA = Path(os.environ.get("SMFPARSE_REAL_DATA") or PROJECT.parent / "shared" / "data")


def inputs(folder: Path) -> Iterator[Path]:
    """Yield copies of all fixtures and real files in `folder`, whole and cut."""
    for path in sorted([*(PROJECT / "fixtures").glob("*.smf"), *REAL_DATA.glob("*.dat")]):
        data = path.read_bytes()
        for name, size in ((path.name, len(data)), (f"cut-{path.name}", len(data) * 19 // 20)):
            (folder / name).write_bytes(data[:size])
            yield folder / name


def told(table: Any) -> str:
    """Return the columns of a table, its row count and the SHA-256 of its values."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return f"{table.schema}\n{table.num_rows}\n{hashlib.sha256(sink.getvalue()).hexdigest()}\n"


def answer(path: Path, folder: Path) -> None:
    """Write all answers about one input."""
    (folder / "tables").mkdir(parents=True)
    formats = ("text", "csv", "json") if path.suffix == ".smf" else ("json",)
    with tempfile.TemporaryDirectory() as made:
        calls = {"info": f"info {path} --format json", "convert": f"convert {path} --to {made}"}
        for form in () if path.name.startswith("cut-") else formats:
            calls[form] = f"report all {path} --format {form} --output {folder}/{form}"
        for name, call in calls.items():
            done = CliRunner().invoke(main, call.split(), catch_exceptions=False)
            (folder / f"{name}.txt").write_text(f"{done.stdout}\nexit code {done.exit_code}\n")
        data = smfparse.open(made)
        for name in data.tables:
            (folder / "tables" / f"{name}.txt").write_text(told(data.arrow(name)))


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as copies, chdir(copies):  # names of inputs are in answers
        for each in inputs(Path()):
            answer(each, target / each.name)
