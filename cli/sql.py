"""smfparse sql: queries on the tables, and commands of smfparse that are entered at its prompt."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from smfparse.cli.options import (
    INPUT_HELP,
    Reading,
    completed_files,
    output_options,
    reading_options,
)
from smfparse.cli.output import (
    Output,
    check_selection,
    finish,
    report_damage,
    report_error,
    report_message,
    show,
    terminal_width,
)
from smfparse.cli.progress import BAR
from smfparse.cli.words import corrected
from smfparse.rendering.formats import PARQUET, XLSX

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs
    from smfparse.query.catalog import Catalog
    from smfparse.query.prompt import View

_FILES = (PARQUET, XLSX)
"""Formats that the prompt does not support."""
_NO_QUERY = "no query: give it as the last argument, with --file F, or on standard input"

_SHELL = (
    *("anonymise", "capacity", "check", "compare", "convert", "dashboard", "dump", "generate"),
    *("info", "plot", "report", "smfparse", "summary", "trend"),
)
"""Words that start a command of smfparse at the prompt: no SQL statement begins with them."""
_MOST_SQL = 16 << 20
"""Maximum number of bytes of statements, because standard input may be endless."""


class _Command(click.Command):
    """Recognises a query even if it starts with a comment (--), which looks like an option."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        if arguments and arguments[-1].startswith("--") and _is_query(arguments[-1]):
            arguments[-1:] = ["--", arguments[-1]]
        return super().parse_args(context, arguments)


@click.command(
    "sql", short_help="Run SQL on the tables of the inputs.", cls=_Command, epilog=INPUT_HELP
)
@click.argument(
    "arguments",
    metavar="INPUT... [QUERY]",
    nargs=-1,
    required=True,
    type=str,
    shell_complete=completed_files,
)
@click.option(
    "--file",
    "script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="F",
    help="Run the statements in F instead of the last argument.",
)
@click.option(
    "--safe",
    is_flag=True,
    help="Restrict statements to the tables of the inputs: no files, network or settings.",
)
@reading_options("--until", "--to")
@output_options(PARQUET)
def command(
    arguments: tuple[str, ...], script: Path | None, safe: bool, output: Output, reading: Reading
) -> None:
    """Run QUERY (DuckDB SQL) on the tables of the inputs.

    The query is the last argument, the content of a file with --file, or standard input. Without a
    query on a terminal, a prompt starts; Tab completes tables and columns. QUERY can contain
    several statements; the rows of each are written (JSON: one array per statement). CSV and JSON
    contain all decimals; text, md and html contain six. Only the required columns and the selected
    records are decoded.

    Statements can read and write files and use the network; use --safe for SQL you do not trust.

    \b
    Example:
      smfparse sql DUMP.smf "SELECT basename, sum(putn) FROM wqst GROUP BY 1 ORDER BY 2 DESC"
      smfparse sql monday.smf tuesday.smf --file queries.sql --format csv
      smfparse sql DUMP.smf < queries.sql
      smfparse sql DUMP.smf
      smfparse sql DUMP.smf "COPY (SELECT * FROM wtas) TO 'wtas.parquet'"
    """
    from smfparse.query.catalog import Catalog

    inputs, query = _split(arguments, script)
    if query is None and not (output.format not in _FILES and _can_ask(inputs, output)):
        query = _from_stdin(inputs)
    if query is None and click.get_current_context().params["timeout"] is not None:
        raise click.UsageError("--timeout requires a query: the prompt has no time limit.")
    opened = reading.open(inputs, output.path)
    with Catalog(opened, safe=safe) as catalog:
        if query is None:
            _ask(catalog, output.format, opened, inputs)
        elif _write(catalog, query, output) <= 1 and not opened.damage:  # a row may be a count of 0
            check_selection(opened)
    finish(opened.damage, opened.duplicates, reported=query is None)


def _write(catalog: Catalog, query: str, output: Output) -> int:
    if output.format == PARQUET:
        return output.write_parquet([catalog.arrow(query)])
    from smfparse.decoding.dictionary import local_columns
    from smfparse.rendering.rows import RowsDocument

    results = _Results(catalog)
    with closing(results.of(query)) as found:
        output.write(RowsDocument(found, output.fitting, local=local_columns()))
    return results.rows


def _split(arguments: tuple[str, ...], script: Path | None) -> tuple[tuple[str, ...], str | None]:
    if script is not None:
        with script.open("rb") as file:
            return arguments, _decoded(file.read(_MOST_SQL + 1), str(script))
    *inputs, last = arguments
    if not _is_query(last) or os.path.exists(last):
        return arguments, None
    if not inputs:
        raise click.UsageError("no input: name one before the query")
    return tuple(inputs), _decoded(os.fsencode(last), "the query")


def _is_query(argument: str) -> bool:
    return any(character.isspace() for character in argument)


def _decoded(text: bytes, name: str) -> str:
    """Return the text of statements. Raises UsageError if it is empty or too long."""
    if len(text) > _MOST_SQL:
        raise click.UsageError(f"{name}: more than {_MOST_SQL:,} bytes of SQL")
    try:
        found = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{name}: not UTF-8 text") from error
    if not found.strip():
        raise click.UsageError(_NO_QUERY)
    return found


def _can_ask(inputs: tuple[str, ...], output: Output) -> bool:
    free = output.path is None and "-" not in inputs
    return free and sys.stdin.isatty() and sys.stdout.isatty()


def _from_stdin(inputs: tuple[str, ...]) -> str:
    """Return the statements on stdin. Raises UsageError if stdin is an INPUT, or a terminal."""
    if "-" in inputs or sys.stdin.isatty():
        raise click.UsageError(_NO_QUERY)
    return _decoded(sys.stdin.buffer.read(_MOST_SQL + 1), "standard input")


class _Results:
    """The results of a script; `rows` is the number of rows in all results."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.rows = 0

    def of(self, script: str) -> Generator[tuple[str, Iterable[Any]], None, None]:
        """Run the statements; yield each statement that returns rows, and its rows in parts."""
        statements = self._catalog.statements(script)
        for number, statement in enumerate(statements, 1):
            with closing(self._parts(statement, number, len(statements))) as parts:
                first = next(parts, None)
                if first is not None:
                    yield statement, chain([first], parts)

    def _parts(self, statement: str, number: int, count: int) -> Generator[Any, None, None]:
        with _placed(number, count), closing(self._catalog.run(statement)) as parts:
            for part in parts:
                self.rows += part.num_rows
                yield part


@contextmanager
def _placed(number: int, count: int) -> Iterator[None]:
    """Add the number of the failing statement to an error, if a script has several statements."""
    from smfparse.errors import RequestError

    try:
        yield
    except RequestError as error:
        if count == 1:
            raise
        raise type(error)(f"statement {number} of {count}: {error}", *error.parameters) from error


def _ask(
    catalog: Catalog,
    format: str,  # noqa: A002 - the same name everywhere
    opened: Inputs,
    inputs: Sequence[str],
) -> None:
    """Prompt for queries; report damage after the query that finds it."""
    from smfparse.decoding.dictionary import local_columns
    from smfparse.inspecting.described import description
    from smfparse.query.prompt import Console, Shell
    from smfparse.rendering.formats import TEXT, lines
    from smfparse.rendering.rows import RowsDocument

    reported = 0

    def report_new_damage() -> None:
        nonlocal reported
        if opened.damage.count > reported:
            reported = opened.damage.count
            report_damage(opened.damage)

    def describe(name: str | None) -> Iterator[str]:
        return lines(description(name), TEXT)

    def complain(error: BaseException) -> None:
        report_error(str(error), error)

    def render(parts: Iterable[Any], view: View) -> Iterator[str]:
        width = view.width or terminal_width()
        document = RowsDocument([("", parts)], width, view.columns, local_columns())
        return lines(document, view.mode)

    report_message("SQL over the tables; .help for help, Ctrl-D to leave")
    BAR.leave()  # waiting for the user is not work
    run = partial(run_at_prompt, prompt=click.get_current_context(), inputs=inputs)
    shell = Shell(frozenset(_SHELL), run, BAR.working)
    Console(catalog, render, describe, show, complain, report_new_damage, shell, format).run()


_ALONE = frozenset({"explain", "listed"})
"""Options with which a command requires no input."""


def run_at_prompt(words: Sequence[str], prompt: click.Context, inputs: Sequence[str]) -> None:
    """Run a command of smfparse; without inputs, it reads the inputs of the prompt.

    A command without inputs also uses the selection of the prompt, and a message shows the whole
    command.
    """
    group = prompt.find_root().command
    given = [*words[words[0] == "smfparse" :]]
    whole = with_inputs(given, prompt, inputs)
    if whole != given:
        report_message(f"runs: {shlex.join(['smfparse', *whole])}")
    with suppress(SystemExit):
        group.main(whole, prog_name="smfparse")


def with_inputs(words: Sequence[str], prompt: click.Context, inputs: Sequence[str]) -> list[str]:
    """Return the words of a command; without inputs, with inputs and selection of the prompt.

    prompt  the context of `sql`
    inputs  the inputs of the prompt
    """
    found, root = corrected(words), prompt.find_root()
    named, command = _command(found, root.command)
    if command is None or "--help" in found:
        return found
    rest = found[named:]
    with command.make_context(command.name, rest, root, resilient_parsing=True) as context:
        lacking = [
            each
            for each in command.params
            if isinstance(each, click.Argument)
            and each.name in ("inputs", "source")
            and not context.params.get(each.name)
        ]
        if not lacking or any(context.params.get(each) for each in _ALONE):
            return found
    return [*found, *inputs, *_selection(prompt, command)]


def _command(words: Sequence[str], group: click.Command) -> tuple[int, click.Command | None]:
    """Return how many of the first words name a command, and this command; None: no command."""
    named, command = 0, group
    while isinstance(command, click.Group):
        if named == len(words) or words[named] not in command.commands:
            return named, None
        command = command.commands[words[named]]
        named += 1
    return named, command


def _selection(prompt: click.Context, command: click.Command) -> Iterator[str]:
    """Yield the reading and selection options of the prompt that a command supports."""
    theirs = {each.name: each for each in command.params if isinstance(each, click.Option)}
    for name in _reading_names():
        value = prompt.params.get(name)
        is_given = prompt.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and name in theirs:
            yield from _written(theirs[name].opts[0], value)


def _written(option: str, value: Any) -> Iterator[str]:
    """Yield the words of an option: a flag, or the option and its value for each value."""
    if value is True:
        yield option
        return
    for each in value if isinstance(value, tuple) else (value,):
        yield from (option, str(each))


def _reading_names() -> Iterator[str]:
    """Yield the names of the options that all commands with INPUT share."""
    with_options = reading_options("--until")(lambda **_: None)
    yield from (each.name for each in reversed(with_options.__click_params__) if each.name)  # type: ignore[attr-defined]
