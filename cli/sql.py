"""smfparse sql: a query over the tables."""

from __future__ import annotations

from pathlib import Path

import click

from smfparse.cli.options import INPUT_HELP, Reading, output_options, reading_options
from smfparse.cli.output import finish, nothing_selected, write_lines


@click.command("sql", epilog=INPUT_HELP)
@click.argument("arguments", metavar="INPUT... QUERY", nargs=-1, required=True, type=str)
@click.option(
    "--file",
    "script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="F",
    help="Read the query from F instead of the last argument.",
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

    The query is the last argument, or the content of a file with --file. Only the columns that it
    needs are decoded, and of them the rows of the records that are selected.

    \b
    Example:
      smfparse sql DUMP.smf "SELECT basename, sum(putn) FROM wqst GROUP BY 1 ORDER BY 2 DESC"
    """
    from smfparse.catalog import Catalog
    from smfparse.frames import lines

    inputs, query = _split(arguments, script)
    opened = reading.open(inputs)
    with Catalog(opened) as catalog:
        rows = catalog.plain(query)
    if not rows.num_rows:
        nothing_selected(opened)
    write_lines(lines(rows, form), output, force)
    finish(opened.damage, opened.duplicates)


def _split(arguments: tuple[str, ...], script: Path | None) -> tuple[tuple[str, ...], str]:
    if script is not None:
        try:
            return arguments, script.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise click.UsageError(f"{script}: not a text in UTF-8") from error
    *inputs, query = arguments
    if not inputs or not any(character.isspace() for character in query):
        raise click.UsageError("the last argument has to be a query; or name one with --file F")
    return tuple(inputs), query
