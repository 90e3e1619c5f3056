"""smfparse info: the contents of the inputs."""

from __future__ import annotations

import click

from smfparse.cli.options import (
    INPUT_HELP,
    Reading,
    inputs_argument,
    output_options,
    reading_options,
)
from smfparse.cli.output import EXIT_DAMAGE, Output, check_selection, finish, report_message


@click.command(
    "info", short_help="Count records by system, queue manager and type.", epilog=INPUT_HELP
)
@inputs_argument
@reading_options("--until", "--to")
@output_options()
def command(inputs: tuple[str, ...], output: Output, reading: Reading) -> None:
    """Count records and bytes by system, queue manager, version, type and subtype.

    Times are local times of the z/OS system, as SMF wrote them. Undocumented bytes are counted in
    selected records; for a Parquet archive, only without a selection. Below the table, each input
    is listed with its compression, record format and damage; a Parquet archive with the damage
    found when it was created. The output also lists the records that SMF lost (type 7), with their
    time, and systems whose TOD clock is ahead of UTC. CSV contains only the table.

    One line per queue manager shows whether its data is complete: gaps, missing intervals
    (QWHSISEQ), records that SMF lost. The lines below it list trace classes without records, queues
    and channels in use without STATQ and STATCHL, and clock changes. With --strict the exit code is
    4 for incomplete data, after the table; for damage it is 8, without a table.

    \b
    Example:
      smfparse info DUMP.smf
      smfparse info dumps/ 'june/*.smf.gz'
      smfparse info DUMP.smf --strict && smfparse convert DUMP.smf --to mqdata --append
      smfparse info DUMP.smf --qmgr 'QM*' --from 2026-03-04 --type '115,116(1:2)'
    """
    from smfparse.inspecting.inventory import coverage_in, inventory
    from smfparse.inspecting.printing import InventoryDocument

    opened = reading.open(inputs, output.path)
    found = inventory(opened)
    if not found.groups:
        check_selection(opened)
    coverage = coverage_in(opened, found)
    output.write(InventoryDocument(opened, found, coverage))
    code = 0
    if reading.options.strict and any(each.missing for each in coverage):
        report_message(
            "the data is incomplete; look for the missing SMF files, or leave out --strict"
        )
        code = EXIT_DAMAGE
    finish(opened.damage, opened.duplicates, listed=output.format != "csv", code=code)
