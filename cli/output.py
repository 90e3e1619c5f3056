"""Where results and messages go: data on stdout or in a file, messages on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from smfparse.errors import DamageLog, OutputError

if TYPE_CHECKING:
    from smfparse.tables import Inputs

EXIT_DAMAGE = 4
_SHOWN = 20
"""Damage messages shown; the rest is counted."""


@contextmanager
def replacing(output: Path, force: bool) -> Iterator[BinaryIO]:
    """Open a temporary file beside `output` that takes its place when all is written, or goes.

    Raises OutputError where `output` exists (unless `force`) or cannot be written.
    """
    if output.exists() and not force:
        raise OutputError(f"{output}: the file exists; --force replaces it")
    part = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        with part.open("xb") as stream:
            yield stream
        part.replace(output)
    except OSError as error:
        raise OutputError(f"{output}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


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


def nothing_selected(opened: Inputs) -> bool:
    """Whether records were asked for, but there is none; that is said on stderr then."""
    if opened.selection.everything or opened.any_record():
        return False
    click.echo(f"smfparse: the selection matches no record: {opened.selection}", err=True)
    return True


def finish(damage: DamageLog, duplicates: int = 0) -> None:
    """Say what was left out and what could not be used; if there was such, leave with exit code 4.

    duplicates  records left out because an earlier dump has them
    """
    if duplicates:
        click.echo(f"smfparse: {left_out(duplicates)} (--keep-duplicates keeps them)", err=True)
    if damage:
        say(damage)
        sys.exit(EXIT_DAMAGE)


def left_out(duplicates: int) -> str:
    """Return how to say that records, one at least, were left out as duplicates."""
    if duplicates == 1:
        return "1 record was in an earlier dump already and is counted once"
    return f"{duplicates:,} records were in an earlier dump already and are counted once"


def say(damage: DamageLog) -> None:
    """Say on stderr what could not be used."""
    if not damage:
        return
    for each in damage.details[:_SHOWN]:
        click.echo(f"smfparse: {each}", err=True)
    if damage.count > _SHOWN:
        click.echo(f"smfparse: ... and {damage.count - _SHOWN} more", err=True)
    click.echo("smfparse: the input is damaged; everything else was used", err=True)
