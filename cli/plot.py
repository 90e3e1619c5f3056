"""smfparse plot: one chart of the dashboard as a picture."""

from __future__ import annotations

import click

from smfparse.cli.options import (
    INPUT_HELP,
    Reading,
    completed_files,
    drawing_output_options,
    reading_options,
)
from smfparse.cli.output import Output, check_selection, finish


@click.command("plot", short_help="Draw one chart of the dashboard.", epilog=INPUT_HELP)
@click.argument("name", required=False)
@click.argument("inputs", metavar="INPUT...", nargs=-1, type=str, shell_complete=completed_files)
@click.option("--list", "listed", is_flag=True, help="List all charts.")
@reading_options("--until", "--to")
@drawing_output_options
def command(
    name: str | None, inputs: tuple[str, ...], listed: bool, output: Output, reading: Reading
) -> None:
    """Draw one chart of the dashboard: a metric over time, by queue manager.

    A chart of queues (queue-puts, queue-gets, depth, oldest) is a heat map: a row per queue.

    The picture is SVG, or PNG if the name of --output ends in .png. PNG requires the package
    resvg_py.

    \b
    Example:
      smfparse plot --list
      smfparse plot log-busy DUMP.smf --output log.svg
      smfparse plot log-busy DUMP.smf --output log.png
      smfparse plot queue-puts DUMP.smf --output puts.svg
      smfparse plot depth dumps/ --qmgr QM01 --from 0800 --until 1800 --output depth.svg
    """
    from smfparse.dashboard.declaration import panel_named
    from smfparse.dashboard.gathering import gathered_panels
    from smfparse.dashboard.plotting import panel_list, plot_lines

    if listed:
        output.write_lines(panel_list())
        return
    if name is None or not inputs:
        raise click.UsageError("Name a chart and an input; --list shows the charts.")
    from smfparse.query.catalog import Catalog
    from smfparse.rendering.formats import PNG, png_maker

    panel = panel_named(name)
    made = png_maker() if output.format == PNG else None
    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        days = gathered_panels(catalog, [panel])
    if not days:
        check_selection(opened)
    drawing = plot_lines(panel, days)
    if made is None:
        output.write_page(drawing)
    else:
        output.write_bytes(made(drawing))
    finish(opened.damage, opened.duplicates)
