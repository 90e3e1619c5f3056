"""smfparse plot: one panel of the dashboard as a drawing."""

from __future__ import annotations

import click

from smfparse.cli.options import INPUT_HELP, Reading, page_output_options, reading_options
from smfparse.cli.output import Output, finish, nothing_selected


@click.command("plot", epilog=INPUT_HELP)
@click.argument("name", required=False)
@click.argument("inputs", metavar="INPUT...", nargs=-1, type=str)
@click.option("--list", "listed", is_flag=True, help="Print the names of all panels.")
@reading_options("--to", "--until")
@page_output_options
def command(
    name: str | None, inputs: tuple[str, ...], listed: bool, output: Output, reading: Reading
) -> None:
    """Draw one panel of the dashboard as SVG: its figure over time, by queue manager.

    \b
    Example:
      smfparse plot --list
      smfparse plot log-busy DUMP.smf --output log.svg
      smfparse plot depth dumps/ --qmgr QM01 --from 0800 --to 1800 --output depth.svg
    """
    from smfparse.dashboard import gathered_panels, panel_list, panel_named, plot_lines

    if listed:
        output.write_lines(panel_list())
        return
    if name is None or not inputs:
        raise click.UsageError("Give NAME and INPUT; --list has the names.")
    from smfparse.query import Catalog

    panel = panel_named(name)
    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        days = gathered_panels(catalog, [panel])
    if not days:
        nothing_selected(opened)
    output.write_page(plot_lines(panel, days))
    finish(opened.damage, opened.duplicates)
