"""smfparse trend: the last day against those like it."""

from __future__ import annotations

import click

from smfparse.cli.options import (
    INPUT_HELP,
    Reading,
    inputs_argument,
    output_options,
    reading_options,
)
from smfparse.cli.output import Output, check_selection, finish


@click.command(
    "trend", short_help="Compare the last day with the days before it.", epilog=INPUT_HELP
)
@inputs_argument
@reading_options("--until", "--to")
@output_options()
def command(inputs: tuple[str, ...], output: Output, reading: Reading) -> None:
    """Compare the last day with the days before it: what is unusual, what grows, what is new.

    The last day of each queue manager is compared, hour by hour, with the same weekday before it,
    or, with fewer than three of these, with working days or weekends. Growth a week is shown where
    it is more than chance, and in how many days a limit is reached then: MAXCHL, a full page set,
    31-bit storage, a log that is 95 % busy. Queues, jobs and channels are listed that are new on
    the last day, or gone.

    INPUT holds several days: best a dataset, which convert --append adds each day to.

    \b
    Example:
      smfparse trend dumps
      smfparse trend dumps --qmgr QM01 --until 2026-03-31
      smfparse trend monday.smf tuesday.smf wednesday.smf thursday.smf --format json
    """
    from smfparse.query import Catalog
    from smfparse.trending import TrendDocument, trended

    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        found = trended(catalog)
    if not found:
        check_selection(opened)
    output.write(TrendDocument(found))
    finish(opened.damage, opened.duplicates)
