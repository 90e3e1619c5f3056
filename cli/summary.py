"""smfparse summary: findings and metrics on one screen."""

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


@click.command("summary", short_help="Show findings and metrics on one screen.", epilog=INPUT_HELP)
@inputs_argument
@reading_options("--until", "--to")
@output_options()
def command(inputs: tuple[str, ...], output: Output, reading: Reading) -> None:
    """Show findings, metrics and peak times of the input on one screen.

    For each queue manager: intervals, gaps and restarts; the worst findings of check; one line each
    for log, buffer pools, page sets, channel initiator, channels, coupling facility, API calls,
    queues and jobs, with a sparkline and the report with details. A sparkline goes from 0 to the
    highest value of its line; a blank is a gap in the data.

    smfparse INPUT... without a command does the same.

    \b
    Example:
      smfparse summary DUMP.smf
      smfparse DUMP.smf
      smfparse summary dumps/ --qmgr QM01 --from 0800 --until 1800
      smfparse summary DUMP.smf --format html --output day.html
    """
    from smfparse.advice.commands import Commands
    from smfparse.query.catalog import Catalog
    from smfparse.summarizing.summary import BLOCKS, SummaryDocument, summarized

    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        found = summarized(catalog)
    if not found:
        check_selection(opened)
    commands = Commands(inputs, reading.options)
    output.write(SummaryDocument(found, commands, drawn=output.can_show(BLOCKS)))
    finish(opened.damage, opened.duplicates)
