"""smfparse compact: combine the small files of a Parquet archive."""

from __future__ import annotations

import click

from smfparse.cli.output import report_message
from smfparse.reading.places import place_of


@click.command("compact", short_help="Combine the small files of a Parquet archive.")
@click.argument("dataset", metavar="DATASET")
def command(dataset: str) -> None:
    """Combine the small files of DATASET, the folder of a Parquet archive.

    Each append adds files, and many small files are slow to read. In each table, or each folder by
    day and queue manager, files with fewer than a million rows are merged, sorted by day, queue
    manager and time. Rows, inputs and fingerprints stay the same.

    If another command is writing to DATASET, compact waits up to one hour. A run that is killed
    changes nothing, and the next run removes its files. Run it once a day, after the last append.
    Files that are already combined are left unchanged; running it again is harmless.

    \b
    Example:
      smfparse convert TODAY.smf --to mqdata --append
      smfparse compact mqdata
    """
    from smfparse.limits import LIMITS
    from smfparse.writing.compacting import compact_dataset

    place = place_of(dataset)
    done = compact_dataset(place, LIMITS)
    if not done.before:
        report_message(f"{place}: nothing to compact")
        return
    files = f"{done.before:,} files became {done.after:,}"
    report_message(f"{place}: {files}, with {done.rows:,} rows")
