"""smfparse trend: compare the last day with earlier days."""

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


@click.command("trend", short_help="Compare the last day with earlier days.", epilog=INPUT_HELP)
@inputs_argument
@reading_options("--until", "--to")
@output_options()
def command(inputs: tuple[str, ...], output: Output, reading: Reading) -> None:
    """Compare the last day with earlier days: unusual values, growth, new and missing objects.

    The last day of each queue manager is compared hour by hour with earlier days of the same
    weekday. With fewer than three of them, it is compared with working days or weekends.
    Significant growth per week is shown, with the days until a limit is reached: MAXCHL, a full
    page set, 31-bit storage, a log task that is 95% busy. Queues, jobs and channels that are new on
    the last day, or missing, are listed.

    INPUT contains several days: preferably a Parquet archive to which convert --append adds each
    day.

    \b
    Example:
      smfparse trend mqdata
      smfparse trend mqdata --qmgr QM01 --until 2026-03-31
      smfparse trend monday.smf tuesday.smf wednesday.smf thursday.smf --format json
    """
    from smfparse.query.catalog import Catalog
    from smfparse.summarizing.trend import trended
    from smfparse.summarizing.trend_printing import TrendDocument

    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        found = trended(catalog)
    if not found:
        check_selection(opened)
    output.write(TrendDocument(found))
    finish(opened.damage, opened.duplicates)
