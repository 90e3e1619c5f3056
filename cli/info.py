"""smfparse info: what is in the inputs."""

from __future__ import annotations

import click

from smfparse.cli.options import (
    INPUT_HELP,
    Reading,
    inputs_argument,
    output_options,
    reading_options,
)
from smfparse.cli.output import Output, finish, nothing_selected


@click.command(
    "info", short_help="Count records by system, queue manager and type.", epilog=INPUT_HELP
)
@inputs_argument
@reading_options("--until", "--to")
@output_options()
def command(inputs: tuple[str, ...], output: Output, reading: Reading) -> None:
    """Count records and bytes by system, queue manager, version, type and subtype.

    Times are the local times of the z/OS system, as SMF wrote them. Bytes that no column knows are
    counted in selected records; for a dataset only without a selection. Below the table, each input
    is listed with its compression, its framing and any damage; for a dataset, the damage found when
    it was created. Records that SMF lost (type 7) are listed with their time, and systems whose
    TOD clock is ahead of UTC. CSV has the table alone.

    \b
    Example:
      smfparse info DUMP.smf
      smfparse info dumps/ 'june/*.smf.gz'
      smfparse info DUMP.smf --qmgr 'QM*' --from 2026-03-04 --type '115,116(1:2)'
    """
    from smfparse.inspecting import InventoryDocument, inventory

    opened = reading.open(inputs, output.path)
    found = inventory(opened)
    if not found.groups:
        nothing_selected(opened)
    output.write(InventoryDocument(opened, found))
    finish(opened.damage, opened.duplicates, listed=output.format != "csv")
