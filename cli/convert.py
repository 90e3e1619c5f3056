"""smfparse convert: SMF files to a Parquet dataset."""

from __future__ import annotations

from pathlib import Path

import click

from smfparse.cli.options import INPUT_HELP, Reading, inputs_argument, reading_options
from smfparse.cli.output import finish, nothing_selected


def _folder(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> str:
    if len(texts) > 1:
        raise click.BadParameter("given twice; the end of the time is --until here")
    return texts[0]


@click.command("convert", epilog=INPUT_HELP)
@inputs_argument
@click.option(
    "--to",
    "folder",
    required=True,
    multiple=True,
    type=click.Path(),
    callback=_folder,
    metavar="DIR",
    help="Folder to write: one folder of Parquet files a table, and smfparse.json.",
)
@click.option("--force", is_flag=True, help="Replace the dataset in DIR.")
@reading_options("--until")
def command(inputs: tuple[str, ...], folder: str, force: bool, reading: Reading) -> None:
    """Write every table of the inputs as Parquet.

    Every table is there, with no rows where there is no data. smfparse.json is written last: a
    folder without it is a run that was killed, and the same command does it again. It notes what
    was selected. The table damage has what could not be used.

    \b
    Example:
      smfparse convert DUMP.smf --to dumps
      smfparse report log dumps
      smfparse convert DUMP.smf --qmgr QM01 --from 0800 --until 1800 --to office
    """
    from smfparse.criteria import is_time
    from smfparse.tables import write_dataset

    if not reading.selection.everything and is_time(folder):
        raise click.UsageError(
            f"--to names the folder, and {folder} looks like a time: --until is the end of the "
            f"time here; a folder of that name is ./{folder}"
        )
    opened = reading.open(inputs)
    manifest = write_dataset(opened, Path(folder), force=force)
    filled = {table: rows for table, rows in manifest["tables"].items() if rows}
    click.echo(
        f"smfparse: {folder}: {sum(filled.values()):,} rows in {len(filled)} tables", err=True
    )
    if not filled:
        nothing_selected(opened)
    finish(opened.damage, opened.duplicates)
