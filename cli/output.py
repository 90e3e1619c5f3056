"""Where results and messages go: data on stdout or in a file, messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from smfparse.errors import WAY_OUT, DamageLog, OutputError

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs

EXIT_DAMAGE = 4
SHOWN = 20
"""Damages shown; the rest is counted."""


@contextmanager
def replacing(output: Path, force: bool) -> Iterator[BinaryIO]:
    """Open a temporary file beside `output` that takes its place when all is written, or goes.

    What is no file, as a device or a pipe, is written to itself.

    Raises RequestError where `output` exists (unless `force`), OutputError where it cannot be
    written.
    """
    if _is_special(output):
        with output.open("wb") as stream:
            yield stream
        return
    from smfparse import store

    store.check_file(output, force)
    with store.replacing(output) as part, part.open("xb") as stream:
        yield stream


def _is_special(output: Path) -> bool:
    return output.exists() and not (output.is_file() or output.is_dir())


def write_lines(lines: Iterable[str], output: Path | None, force: bool) -> None:
    """Write text lines to stdout, or to the file `output`: whole or not at all."""
    if output is None:
        try:
            for line in lines:
                click.echo(line)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"standard output: {error.strerror or error}") from error
        return
    with replacing(output, force) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


def write_parquet(rows: Any, output: Path | None, force: bool) -> None:
    """Write a pyarrow.Table as Parquet to stdout, or to the file `output`: whole or not at all."""
    import pyarrow.parquet as pq

    if output is None and sys.stdout.isatty():
        raise click.UsageError("Parquet is nothing to look at: name a file with --output.")
    if output is not None:
        with replacing(output, force) as file:
            pq.write_table(rows, file)
        return
    found = BytesIO()
    pq.write_table(rows, found)
    sys.stdout.buffer.write(found.getbuffer())
    sys.stdout.buffer.flush()


def nothing_selected(opened: Inputs) -> bool:
    """Whether records were asked for, but there is none; that is said on stderr then."""
    if opened.selection.everything or opened.any_record():
        return False
    click.echo(f"smfparse: the selection matches no record: {opened.selection}", err=True)
    return True


def finish(damage: DamageLog, duplicates: int = 0, *, listed: bool = False) -> None:
    """Say what was left out and what could not be used; if there was such, leave with exit code 4.

    duplicates  records left out because an earlier dump has them
    listed      whether the result has what could not be used
    """
    if duplicates:
        click.echo(f"smfparse: {left_out(duplicates)} (--keep-duplicates keeps them)", err=True)
    if damage:
        say(damage, listed=listed)
        sys.exit(EXIT_DAMAGE)


def left_out(duplicates: int) -> str:
    """Return how to say that records, one at least, were left out as duplicates."""
    if duplicates == 1:
        return "1 record was in an earlier dump already and is counted once"
    return f"{duplicates:,} records were in an earlier dump already and are counted once"


def say(damage: DamageLog, *, listed: bool = False) -> None:
    """Say on stderr what could not be used."""
    if not damage:
        return
    if not listed:
        for each in damage.details[:SHOWN]:
            click.echo(f"smfparse: {each} {WAY_OUT}", err=True)
        if damage.count > SHOWN:
            click.echo(f"smfparse: ... {more(damage)}", err=True)
    click.echo("smfparse: the input is damaged; everything else was used", err=True)


def more(damage: DamageLog) -> str:
    """Say how much could not be used besides what is shown, and where it is listed."""
    kept = len(damage.details)
    first = "" if damage.count == kept else f" the first {kept:,} of"
    return f"and {damage.count - SHOWN:,} more; the table damage has{first} all (smfparse sql)"
