"""Write what smfparse answers on every fixture and real file, to hold two versions side by side.

python tools/answers.py BEFORE    # at one version
python tools/answers.py AFTER     # at another
diff -r BEFORE AFTER

FOLDER gets every report on every fixture as text, CSV and JSON, and on every real file as JSON; of
each of these, whole and cut off in its last tenth, the JSON of info, and for each table of the
Parquet dataset its columns, its row count and the SHA-256 of its values.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from smfparse.cli import main

PROJECT = Path(__file__).resolve().parent.parent
REAL_DATA = Path(os.environ.get("SMFPARSE_REAL_DATA") or PROJECT.parent / "shared" / "data")
DEFINITIONS = PROJECT / "smfparse" / "reports" / "definitions"


def inputs(folder: Path) -> Iterator[Path]:
    """Yield copies of all fixtures and real files in `folder`, whole and cut."""
    found = [*(PROJECT / "fixtures").glob("*.smf"), *REAL_DATA.glob("*.dat")]
    for path in sorted(found):
        data = path.read_bytes()
        for name, size in ((path.name, len(data)), (f"cut-{path.name}", len(data) * 19 // 20)):
            (folder / name).write_bytes(data[:size])
            yield folder / name


def run(*arguments: str) -> int:
    """Run a command; return its exit code."""
    try:
        main(arguments, standalone_mode=False)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def rows(path: Path) -> str:
    """Return the columns of a Parquet file, its row count and the SHA-256 of its values."""
    table = pq.read_table(path)
    plain = [
        each.with_type(each.type.value_type) if pa.types.is_dictionary(each.type) else each
        for each in table.schema
    ]
    table = table.cast(pa.schema(plain)).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return f"{table.schema}\n{table.num_rows}\n{hashlib.sha256(sink.getvalue()).hexdigest()}\n"


def answer(path: Path, folder: Path) -> None:
    """Write all answers about one input."""
    folder.mkdir(parents=True)
    codes = {"info": run("info", str(path), "--format", "json", "--output", str(folder / "info"))}
    formats = ("text", "csv", "json") if path.suffix == ".smf" else ("json",)
    for report in sorted(each.stem for each in DEFINITIONS.glob("*.toml")):
        for kind in () if path.name.startswith("cut-") else formats:
            place = folder / f"{report}.{kind}"
            codes[place.name] = run(
                *("report", report, str(path), "--format", kind, "--output", str(place))
            )
    with tempfile.TemporaryDirectory() as made:
        codes["convert"] = run("convert", str(path), "--to", f"{made}/tables")
        for file in sorted(Path(made).rglob("*.parquet")):
            place = folder / "tables" / f"{file.parent.name}.{file.stem}.txt"
            place.parent.mkdir(exist_ok=True)
            place.write_text(rows(file))
    (folder / "exit-codes").write_text("".join(f"{name} {code}\n" for name, code in codes.items()))


def write(folder: Path) -> None:
    """Write the answers about all inputs into `folder`, which is made."""
    folder.mkdir(parents=True)
    whole = folder.resolve()
    with tempfile.TemporaryDirectory() as copies, chdir(copies):  # names of inputs are in answers
        for path in inputs(Path()):
            answer(path, whole / path.name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="Folder to write, which must not exist.")
    write(parser.parse_args().folder)
