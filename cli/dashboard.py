"""smfparse dashboard: a day in one HTML page."""

from __future__ import annotations

import click

from smfparse.cli.options import (
    INPUT_HELP,
    Reading,
    inputs_argument,
    page_output_options,
    reading_options,
)
from smfparse.cli.output import Output, check_selection, finish


@click.command(
    "dashboard", short_help="Write the day as one HTML page with charts.", epilog=INPUT_HELP
)
@inputs_argument
@click.option(
    "--before",
    metavar="EARLIER",
    help="Draw the courses of EARLIER, another input, behind those of the same queue managers, "
    "with a table of what changed.",
)
@reading_options("--until", "--to")
@page_output_options
def command(inputs: tuple[str, ...], before: str | None, output: Output, reading: Reading) -> None:
    """Write a page of HTML: what went wrong, when, on whose queue, and the charts that prove it.

    The page is one file that needs no network and no server, and may be mailed. It has a verdict
    for each subsystem, incidents with what moved, the findings of check, charts that zoom
    together, heat maps of queues, tables that sort and filter, who puts to and gets from which
    queue, and what SMF held. What is wrong can be read where scripts are blocked.

    \b
    Example:
      smfparse dashboard DUMP.smf --output day.html
      smfparse dashboard today.smf --before yesterday.smf --output day.html
      smfparse dashboard dumps/ --qmgr QM01 --from 0800 --until 1800 --output morning.html
    """
    from smfparse.dashboard import gathered, page_lines
    from smfparse.query import Catalog

    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        found = gathered(catalog, opened.damage, inputs)
    if not found.days:
        check_selection(opened)
    earlier = None
    if before is not None:
        from smfparse.dashboard import against

        earlier = against(reading.open([before], output.path), opened)
    output.write_page(page_lines(found, earlier))
    finish(opened.damage, opened.duplicates)
