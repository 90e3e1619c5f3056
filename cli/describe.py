"""smfparse describe: what a table, view, column or measure is."""

from __future__ import annotations

import click

from smfparse.cli.options import output_options
from smfparse.cli.output import Output


@click.command("describe", short_help="Explain tables, columns, measures and fields.")
@click.argument("name", required=False)
@output_options()
def command(name: str | None, output: Output) -> None:
    """List tables and views, or the columns of NAME, or explain the column, measure or field NAME.

    NAME is a table, a view, a control block, a column, a measure or a field, in any case: QJST,
    api_cost, qjstwrw; a column may have its table in front: wqst.putn. A measure is a figure that
    several commands show, as log.task_busy; its views, reports, lines of the summary, panels of
    the page and rules are listed. The formula of a column of a view is
    in IBM's names of fields and in other columns. The field of a column is given as block+offset
    (hex) and IBM's name. Since may name a version word (wqver 5) instead of an MQ version; the
    block must carry it.

    \b
    Example:
      smfparse describe
      smfparse describe QJST
      smfparse describe api_cost --format html --output api_cost.html
      smfparse describe qjstwrw
      smfparse describe log.task_busy
    """
    from smfparse.inspecting import description

    output.write(description(name))
