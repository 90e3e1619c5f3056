"""Rows that are kept in temporary files until the rows of all earlier units are yielded."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from smfparse.errors import OutputError
from smfparse.inputs.log import Log
from smfparse.inputs.parallel import Unit, in_order
from smfparse.inputs.range import Batches
from smfparse.inputs.temporary import TemporaryFolder
from smfparse.inputs.workers import Workers


def together(found: Sequence[Unit], workers: Workers, log: Log) -> Batches:
    """Yield the rows of units that `workers` decode, in the order of the units.

    Raises OutputError if rows cannot be kept until all earlier rows are yielded.

    log  receives damage and counts of the units
    """
    try:
        temporary = TemporaryFolder()
    except OSError as error:
        raise _no_room(Path(tempfile.gettempdir()), error) from error
    with temporary as folder, workers:  # workers end before their folder is removed
        outcomes = in_order(found, partial(spill, folder), workers, log)
        with closing(outcomes):
            for outcome in outcomes:
                log.add(outcome.log)
                yield from _spilled(outcome.made or [])


def spill(folder: Path, number: int, found: Batches) -> list[tuple[str, Path]]:
    """Write batches to Arrow streams in `folder`, one per table; return each table and its file.

    Raises OutputError if a stream cannot be written.
    """
    places: dict[str, Path] = {}
    try:
        with ExitStack() as opened:
            streams: dict[str, Any] = {}
            for table, batch in found:
                if table not in streams:
                    places[table] = folder / f"{number}-{table}.arrow"
                    file = opened.enter_context(pa.OSFile(str(places[table]), "wb"))
                    stream = pa.ipc.new_stream(file, batch.schema)
                    streams[table] = opened.enter_context(stream)
                streams[table].write_batch(batch)
    except OSError as error:
        raise _no_room(folder, error) from error
    return list(places.items())


def _no_room(folder: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{folder}: {error.strerror or error}; set TMPDIR to another folder, or use jobs=1",
        "jobs",
    )


def _spilled(places: Iterable[tuple[str, Path]]) -> Batches:
    for table, path in places:
        with _open(str(path)) as file, pa.ipc.open_stream(file) as stream:
            for batch in stream:
                yield table, batch
        path.unlink()


_open = pa.OSFile if sys.platform == "win32" else pa.memory_map
"""Opens a file that is removed while its batches are used; Windows cannot remove a mapped file."""
