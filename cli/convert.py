"""smfparse convert: SMF files to a Parquet dataset, or to files of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from smfparse.cli.options import INPUT_HELP, Reading, inputs_argument, reading_options
from smfparse.cli.output import finish, nothing_selected

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs

DATASET, DUCKDB = "dataset", "duckdb"
FILES = ("csv", "csv.gz", "jsonl", "jsonl.gz", "arrow", "parquet")
FORMS = (DATASET, *FILES, DUCKDB)


def _target(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> str:
    if len(texts) > 1:
        raise click.BadParameter("given twice; the end of the time is --until here")
    try:
        texts[0].encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter("a name that is not UTF-8; name another") from error
    return texts[0]


def _form_of(target: str) -> str:
    """Return the form that the name of the target says."""
    name = target.lower()
    if name.endswith(f".{DUCKDB}"):
        return DUCKDB
    if name.endswith(".db"):
        raise click.UsageError(f"{target}: for a DuckDB database say --format {DUCKDB}")
    for form in FILES:
        if name.endswith(f".{form}"):
            raise click.UsageError(
                f"{target} would be a folder with a dataset: --format {form} --to DIR writes a "
                f"file a table into the folder DIR; --format {DATASET} if that name is meant"
            )
    return DATASET


def _names(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    names = (name.strip().lower() for text in texts for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


@click.command("convert", epilog=INPUT_HELP)
@inputs_argument
@click.option(
    "--to",
    "target",
    required=True,
    multiple=True,
    type=click.Path(),
    callback=_target,
    metavar="DIR",
    help="Folder to write; or a DuckDB database, FILE.duckdb.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    show_default=f"{DATASET}; {DUCKDB} for FILE.duckdb",
    help="dataset: a folder of Parquet files a table, views.sql and smfparse.json. The others: a "
    "file a table. duckdb: a database.",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    callback=_names,
    metavar="NAMES",
    help="Only these tables: wtas,wqst. Not of a dataset, which has all.",
)
@click.option(
    "--columns",
    multiple=True,
    callback=_names,
    metavar="NAMES",
    help="Only these columns, of each table that has any, in the order of the table. Not of a "
    "dataset.",
)
@click.option(
    "--append", is_flag=True, help="Add the inputs to the dataset in DIR, if it is there."
)
@click.option(
    "--partition",
    is_flag=True,
    help="Divide the rows of a dataset by day and queue manager: date=2026-03-04/qmgr=QM01/.",
)
@click.option("--force", is_flag=True, help="Replace what is in DIR, or FILE.")
@reading_options("--until")
def command(
    inputs: tuple[str, ...],
    target: str,
    form: str | None,
    tables: tuple[str, ...],
    columns: tuple[str, ...],
    append: bool,
    partition: bool,
    force: bool,
    reading: Reading,
) -> None:
    """Write every table of the inputs as a Parquet dataset, or as files of other tools.

    Every table is there, with no rows where there is no data. smfparse.json is written last: a
    folder without it is a run that was killed, and the same command does it again. It notes what
    was selected. The table damage has what could not be used.

    With --append, an input whose bytes the dataset has is passed over, whatever its name, and so is
    each record that it has: dumps may overlap, and a command that was killed is given again.

    DuckDB reads DIR without smfparse: cd DIR && duckdb -init views.sql

    A database shows times in the zone of the workstation; SET TimeZone = 'UTC' changes that.

    \b
    Example:
      smfparse convert DUMP.smf --to dumps
      smfparse report log dumps
      smfparse convert TODAY.smf --to dumps --append
      smfparse convert DUMP.smf --qmgr QM01 --from 0800 --until 1800 --to office
      smfparse convert DUMP.smf --to queues --format csv --table wqst --columns qmgr,basename,putn
      smfparse convert DUMP.smf --to dump.duckdb
    """
    from smfparse.selecting import is_time

    form = form or _form_of(target)
    if form == DATASET and (tables or columns):
        raise click.UsageError("a dataset has all tables and columns; --format names another form")
    if form != DATASET and (append or partition):
        raise click.UsageError("--append and --partition are for a dataset")
    if append and force:
        raise click.UsageError("--append adds to the dataset, --force replaces it: one of the two")
    if not reading.selection.everything and is_time(target):
        raise click.UsageError(
            f"--to names the folder, and {target} looks like a time: --until is the end of the "
            f"time here; a folder of that name is ./{target}"
        )
    path = Path(target)
    opened = reading.open(inputs, path)
    if append:
        rows = _append(opened, path, partition)
    elif form == DATASET:
        rows = _dataset(opened, path, force, partition)
    else:
        rows = _files(opened, path, form, force, tables, columns)
    if rows is not None and not rows:
        nothing_selected(opened)
    finish(opened.damage, opened.duplicates)


def _dataset(opened: Inputs, folder: Path, force: bool, partition: bool) -> int:
    """Write a dataset; return how many rows it has."""
    from smfparse.writing import write_dataset

    manifest = write_dataset(opened, folder, force=force, partition=partition)
    return _say(folder, manifest["tables"], "rows")


def _append(opened: Inputs, folder: Path, partition: bool) -> int | None:
    """Add to a dataset; return how many rows were added, None where it has all inputs already."""
    from smfparse.writing import append_dataset

    done = append_dataset(opened, folder, partition=partition)
    for name in done.known:
        click.echo(f"smfparse: {name}: is in the dataset already; passed over", err=True)
    for name, called in done.renamed:
        click.echo(f"smfparse: {name}: another input has this name; called {called}", err=True)
    rows = _say(folder, done.rows, "rows added")
    return None if len(done.known) == len(opened.sources) else rows


def _files(
    opened: Inputs,
    path: Path,
    form: str,
    force: bool,
    tables: tuple[str, ...],
    columns: tuple[str, ...],
) -> int:
    """Write tables in another form; return how many rows they have."""
    from smfparse.tables import chosen
    from smfparse.writing import write_files

    wanted = chosen(tables, columns)
    if form == DUCKDB:
        from smfparse.writing import write_database

        return _say(path, write_database(opened, path, wanted, force=force), "rows")
    return _say(path, write_files(opened, path, form, wanted, force=force), "rows")


def _say(path: Path, tables: dict[str, int], what: str) -> int:
    """Say on stderr how many rows there are in how many tables; return how many rows."""
    filled = {table: rows for table, rows in tables.items() if rows}
    rows = sum(filled.values())
    click.echo(f"smfparse: {path}: {rows:,} {what} in {len(filled)} tables", err=True)
    return rows
