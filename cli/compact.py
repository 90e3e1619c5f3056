"""smfparse compact: many small files of a dataset become few."""

from __future__ import annotations

import click

from smfparse.cli.output import report_message
from smfparse.places import place_of


@click.command("compact", short_help="Combine the small files of a dataset.")
@click.argument("dataset", metavar="DATASET")
def command(dataset: str) -> None:
    """Put the short files of DATASET together: a folder that convert wrote, or its URL.

    Each append adds files, and many small ones are slow to read. Of each table, or each of its
    folders by day and queue manager, those of less than a million rows are written anew as few,
    their rows in the order of day, queue manager and time. Rows, inputs and the fingerprints that
    find duplicates stay the same.

    Another command that writes there is waited for, up to an hour. A run that is killed changes
    nothing; what it left goes with the next one. Run it once a day after the last append: what is
    together already is left as it is, and nothing to do is no error.

    \b
    Example:
      smfparse convert TODAY.smf --to dumps --append
      smfparse compact dumps
      smfparse compact s3://mq-smf/tables
    """
    from smfparse.limits import LIMITS
    from smfparse.writing import compact_dataset

    place = place_of(dataset)
    done = compact_dataset(place, LIMITS)
    if not done.before:
        report_message(f"{place}: nothing to put together")
        return
    files = f"{done.before:,} files became {done.after:,}"
    report_message(f"{place}: {files}, with {done.rows:,} rows")
