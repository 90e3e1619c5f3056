"""smfparse convert: SMF files to a Parquet dataset."""

from __future__ import annotations

from pathlib import Path

import click

from smfparse.cli.options import inputs_argument
from smfparse.cli.output import finish


@click.command("convert")
@inputs_argument
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder to write: one folder of Parquet files a table, and smfparse.json.",
)
@click.option("--force", is_flag=True, help="Replace the dataset in DIR.")
def command(inputs: tuple[str, ...], folder: Path, force: bool) -> None:
    """Write every table of the inputs as Parquet.

    Every table is there, with no rows where there is no data. smfparse.json is written last: a
    folder without it is an interrupted run, and the same command does it again.

    \b
    Example:
      smfparse convert DUMP.smf --to dumps
      smfparse report log dumps
    """
    from smfparse.tables import open_inputs, write_dataset

    opened = open_inputs(inputs)
    manifest = write_dataset(opened, folder, force=force)
    filled = {table: rows for table, rows in manifest["tables"].items() if rows}
    click.echo(
        f"smfparse: {folder}: {sum(filled.values()):,} rows in {len(filled)} tables", err=True
    )
    finish(opened.damage)
