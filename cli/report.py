"""smfparse report: the reports of MP1B, and more."""

from __future__ import annotations

from pathlib import Path

import click

from smfparse.cli.options import INPUT_HELP, Reading, output_options, reading_options
from smfparse.cli.output import finish, nothing_selected, write_lines


@click.command("report", epilog=INPUT_HELP)
@click.argument("name", metavar="NAME")
@click.argument("inputs", metavar="INPUT...", nargs=-1, type=str)
@click.option("--total", is_flag=True, help="One section a queue manager for the whole input.")
@click.option("--explain", is_flag=True, help="Say how each figure comes about; INPUT not needed.")
@reading_options("--to", "--until")
@output_options("text", "csv", "json")
def command(
    name: str,
    inputs: tuple[str, ...],
    total: bool,
    explain: bool,
    form: str,
    output: Path | None,
    force: bool,
    reading: Reading,
) -> None:
    """Print the report NAME: one section a queue manager and interval.

    NAME is a report (log) or one of MP1B's DD names (LOG, LOGCSV). Times are the local times of the
    z/OS system. A figure whose inputs are not in the data is shown as -.

    Records are selected by the time when SMF took them: those of an interval at its end.

    \b
    Example:
      smfparse report log DUMP.smf
      ssh zos 'cat dump.smf' | smfparse report log -
      smfparse report log DUMP.smf --format csv --output log.csv
      smfparse report log DUMP.smf --qmgr QM01 --from 0800 --to 1800
    """
    from smfparse import reports
    from smfparse.catalog import Catalog
    from smfparse.sections import Sections

    which = reports.report(name)
    if explain:
        write_lines(reports.explain(which), output, force)
        return
    if not inputs:
        raise click.UsageError("Missing argument 'INPUT...'.")
    opened = reading.open(inputs)
    with Catalog(opened) as catalog:
        rows = reports.run(which, catalog, Sections.TOTAL if total else Sections.RECORDED)
    if not rows and not nothing_selected(opened):
        click.echo(f"smfparse: {which.absent()}", err=True)
        if not reading.selection.everything:
            click.echo(f"smfparse: looked at were only records with: {reading.selection}", err=True)
    write_lines(reports.lines(which, rows, form), output, force)
    finish(opened.damage, opened.duplicates)
