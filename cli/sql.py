"""smfparse sql: queries over the tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from smfparse.cli.options import INPUT_HELP, Reading, output_options, reading_options
from smfparse.cli.output import finish, nothing_selected, write_lines

if TYPE_CHECKING:
    from smfparse.catalog import Catalog

_NO_QUERY = "no query: give it as the last argument, with --file F, or on standard input"


@click.command("sql", epilog=INPUT_HELP)
@click.argument("arguments", metavar="INPUT... [QUERY]", nargs=-1, required=True, type=str)
@click.option(
    "--file",
    "script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="F",
    help="Run the statements in F instead of the last argument.",
)
@reading_options("--to", "--until")
@output_options("text", "csv", "json")
def command(
    arguments: tuple[str, ...],
    script: Path | None,
    form: str,
    output: Path | None,
    force: bool,
    reading: Reading,
) -> None:
    """Run QUERY (DuckDB SQL) over the tables of the inputs.

    The query is the last argument, the content of a file with --file, or what comes on standard
    input; on a terminal a prompt asks for queries, and Tab completes tables and columns. It may be
    several statements; the rows of each are written. Only the columns that are needed are decoded,
    and of them the rows of the records that are selected.

    \b
    Example:
      smfparse sql DUMP.smf "SELECT basename, sum(putn) FROM wqst GROUP BY 1 ORDER BY 2 DESC"
      smfparse sql monday.smf tuesday.smf --file queries.sql --format csv
      smfparse sql DUMP.smf < queries.sql
      smfparse sql DUMP.smf
      smfparse sql DUMP.smf "COPY (SELECT * FROM wtas) TO 'wtas.parquet'"
    """
    from smfparse.catalog import Catalog

    inputs, query = _split(arguments, script)
    if query is None and not _can_ask(inputs, output):
        query = _from_stdin(inputs)
    opened = reading.open(inputs, output)
    with Catalog(opened) as catalog:
        if query is None:
            _ask(catalog, form)
        else:
            results = _Results(catalog, form)
            write_lines(results.lines(query), output, force)
            if not results.rows:
                nothing_selected(opened)
    finish(opened.damage, opened.duplicates)


def _split(arguments: tuple[str, ...], script: Path | None) -> tuple[tuple[str, ...], str | None]:
    if script is not None:
        return arguments, _decoded(script.read_bytes(), str(script))
    *inputs, last = arguments
    if not any(character.isspace() for character in last) or os.path.exists(last):
        return arguments, None
    if not inputs:
        raise click.UsageError("no input: name one before the query")
    return tuple(inputs), last


def _decoded(text: bytes, name: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{name}: not a text in UTF-8") from error


def _can_ask(inputs: tuple[str, ...], output: Path | None) -> bool:
    free = output is None and "-" not in inputs
    return free and sys.stdin.isatty() and sys.stdout.isatty()


def _from_stdin(inputs: tuple[str, ...]) -> str:
    """Return the statements on standard input, if that is no input nor a keyboard."""
    if "-" in inputs or sys.stdin.isatty():
        raise click.UsageError(_NO_QUERY)
    text = _decoded(sys.stdin.buffer.read(), "standard input")
    if not text.strip():
        raise click.UsageError(_NO_QUERY)
    return text


class _Results:
    """The results of a script; `rows` counts theirs."""

    def __init__(self, catalog: Catalog, form: str) -> None:
        self._catalog = catalog
        self._form = form
        self.rows = 0

    def lines(self, script: str) -> Iterator[str]:
        """Run the statements; yield the rows of each, an empty line between two results."""
        from smfparse.frames import lines

        first = True
        for statement in self._catalog.statements(script):
            found = self._catalog.run(statement)
            if found is None:
                continue
            if not first and self._form != "json":
                yield ""
            first = False
            self.rows += found.num_rows
            yield from lines(found, self._form)


def _ask(catalog: Catalog, form: str) -> None:
    from smfparse.cli.describe import lines
    from smfparse.console import Console

    click.echo("smfparse: SQL over the tables; .help for help, Ctrl-D to leave", err=True)
    Console(catalog, form, lines, click.echo, lambda text: click.echo(text, err=True)).run()
