"""smfparse sql: queries over the tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smfparse.cli.options import INPUT_HELP, Reading, output_options, reading_options
from smfparse.cli.output import finish, nothing_selected, say, write_lines, write_parquet

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs
    from smfparse.query import Catalog

_NO_QUERY = "no query: give it as the last argument, with --file F, or on standard input"


class _Command(click.Command):
    """Takes a query for one also where it starts with a comment, and not for an option."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        if arguments and arguments[-1].startswith("--") and _is_query(arguments[-1]):
            arguments[-1:] = ["--", arguments[-1]]
        return super().parse_args(context, arguments)


@click.command("sql", cls=_Command, epilog=INPUT_HELP)
@click.argument("arguments", metavar="INPUT... [QUERY]", nargs=-1, required=True, type=str)
@click.option(
    "--file",
    "script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="F",
    help="Run the statements in F instead of the last argument.",
)
@reading_options("--to", "--until")
@output_options("text", "csv", "json", "parquet")
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
    several statements; the rows of each are written, in JSON as an array each. Text shows six
    decimals, CSV and JSON all there are. Only the columns that are needed are decoded, and of them
    the rows of the records that are selected.

    \b
    Example:
      smfparse sql DUMP.smf "SELECT basename, sum(putn) FROM wqst GROUP BY 1 ORDER BY 2 DESC"
      smfparse sql monday.smf tuesday.smf --file queries.sql --format csv
      smfparse sql DUMP.smf < queries.sql
      smfparse sql DUMP.smf
      smfparse sql DUMP.smf "COPY (SELECT * FROM wtas) TO 'wtas.parquet'"
    """
    from smfparse.query import Catalog

    inputs, query = _split(arguments, script)
    if query is None and not (form != "parquet" and _can_ask(inputs, output)):
        query = _from_stdin(inputs)
    opened = reading.open(inputs, output)
    with Catalog(opened) as catalog:
        if query is None:
            _ask(catalog, form, opened)
        elif _write(catalog, query, form, output, force) <= 1:  # one: a count of nothing
            nothing_selected(opened)
    finish(opened.damage, opened.duplicates, listed=query is None)


def _write(catalog: Catalog, query: str, form: str, output: Path | None, force: bool) -> int:
    """Write what statements give; return how many rows that is."""
    if form == "parquet":
        rows = catalog.arrow(query)
        write_parquet(rows, output, force)
        return int(rows.num_rows)
    results = _Results(catalog, form)
    write_lines(results.lines(query), output, force)
    return results.rows


def _split(arguments: tuple[str, ...], script: Path | None) -> tuple[tuple[str, ...], str | None]:
    if script is not None:
        return arguments, _decoded(script.read_bytes(), str(script))
    *inputs, last = arguments
    if not _is_query(last) or os.path.exists(last):
        return arguments, None
    if not inputs:
        raise click.UsageError("no input: name one before the query")
    return tuple(inputs), _decoded(os.fsencode(last), "the query")


def _is_query(argument: str) -> bool:
    return any(character.isspace() for character in argument)


def _decoded(text: bytes, name: str) -> str:
    """Return statements. Raises UsageError where there is none."""
    try:
        found = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{name}: not a text in UTF-8") from error
    if not found.strip():
        raise click.UsageError(_NO_QUERY)
    return found


def _can_ask(inputs: tuple[str, ...], output: Path | None) -> bool:
    free = output is None and "-" not in inputs
    return free and sys.stdin.isatty() and sys.stdout.isatty()


def _from_stdin(inputs: tuple[str, ...]) -> str:
    """Return the statements on standard input, if that is no input nor a keyboard."""
    if "-" in inputs or sys.stdin.isatty():
        raise click.UsageError(_NO_QUERY)
    return _decoded(sys.stdin.buffer.read(), "standard input")


class _Results:
    """The results of a script; `rows` counts theirs."""

    def __init__(self, catalog: Catalog, form: str) -> None:
        self._catalog = catalog
        self._form = form
        self._any = False
        self.rows = 0

    def lines(self, script: str) -> Iterator[str]:
        """Run the statements; yield the rows of each, an empty line between two results."""
        from smfparse.rendering.rows import lines

        statements = self._catalog.statements(script)
        for number, statement in enumerate(statements, 1):
            with _placed(number, len(statements)), closing(self._catalog.run(statement)) as parts:
                first = next(parts, None)
                if first is None:
                    continue
                if self._any and self._form != "json":
                    yield ""
                self._any = True
                yield from lines(self._counted(chain([first], parts)), self._form)

    def _counted(self, parts: Iterable[Any]) -> Iterator[Any]:
        for part in parts:
            self.rows += part.num_rows
            yield part


@contextmanager
def _placed(number: int, count: int) -> Iterator[None]:
    """Let an error say in which statement of several it is."""
    from smfparse.errors import RequestError

    try:
        yield
    except RequestError as error:
        if count == 1:
            raise
        raise RequestError(f"statement {number} of {count}: {error}") from error


def _ask(catalog: Catalog, form: str, opened: Inputs) -> None:
    """Ask for queries, and say what cannot be used as soon as it is met."""
    from smfparse.cli.describe import lines as described
    from smfparse.query import Console
    from smfparse.rendering.rows import lines

    said = 0

    def tell_damage() -> None:
        nonlocal said
        if opened.damage.count > said:
            said = opened.damage.count
            say(opened.damage)

    def complain(text: str) -> None:
        click.echo(text, err=True)

    complain("smfparse: SQL over the tables; .help for help, Ctrl-D to leave")
    Console(catalog, partial(lines, form=form), described, click.echo, complain, tell_damage).run()
