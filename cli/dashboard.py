"""smfparse dashboard: findings and charts in one HTML page."""

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
    "dashboard", short_help="Write an HTML page with findings and charts.", epilog=INPUT_HELP
)
@inputs_argument
@click.option(
    "--before",
    metavar="EARLIER",
    help="Overlay the charts with data from EARLIER for the same queue managers, and add a table "
    "of changes.",
)
@reading_options("--until", "--to")
@page_output_options
def command(inputs: tuple[str, ...], before: str | None, output: Output, reading: Reading) -> None:
    """Write a self-contained HTML page with findings and charts.

    The page is one file that needs no network or server, and can be emailed. It contains a status
    for each component, incidents with the changed metrics, the findings of check, linked charts,
    heat maps of queues, sortable tables, the message flow, and the records in the input. Findings
    are readable without scripts.

    \b
    Example:
      smfparse dashboard DUMP.smf --output day.html
      smfparse dashboard today.smf --before yesterday.smf --output day.html
      smfparse dashboard dumps/ --qmgr QM01 --from 0800 --until 1800 --output morning.html
    """
    from smfparse.advice.commands import Commands
    from smfparse.dashboard.gathering import gathered
    from smfparse.dashboard.page import page_lines
    from smfparse.query.catalog import Catalog

    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        found = gathered(catalog, opened.damage, Commands(inputs, reading.options))
    if not found.days:
        check_selection(opened)
    earlier = None
    if before is not None:
        from smfparse.dashboard.gathering import against

        earlier = against(reading.open([before], output.path), opened)
    output.write_page(page_lines(found, earlier))
    finish(opened.damage, opened.duplicates)
