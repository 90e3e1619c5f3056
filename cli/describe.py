"""smfparse describe: explain a table, view, column or measure."""

from __future__ import annotations

import click

from smfparse.cli.options import output_options
from smfparse.cli.output import Output


@click.command("describe", short_help="Explain tables, columns, measures and fields.")
@click.argument("name", required=False)
@output_options()
def command(name: str | None, output: Output) -> None:
    """List tables and views, or the columns of NAME, or explain the column, measure or field NAME.

    NAME is a table, a view, a control block, a column, a measure or a field, in upper or lower
    case: QJST, api_cost, qjstwrw, or a column with its table: wqst.putn. A measure is a value that
    several commands show, such as log.task_busy; its views, reports, summary lines, charts and
    rules are listed. The formula of a view column uses IBM's field names and other columns. The
    field of a column is shown as block+offset (hex) and IBM's name. The column Since shows an MQ
    version, or a version word of the block (wqver 5).

    \b
    Example:
      smfparse describe
      smfparse describe QJST
      smfparse describe api_cost --format html --output api_cost.html
      smfparse describe qjstwrw
      smfparse describe log.task_busy
    """
    from smfparse.inspecting.described import description

    output.write(description(name))
