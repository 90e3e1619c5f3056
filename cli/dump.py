"""smfparse dump: explain one record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from smfparse.cli.options import (
    INPUT_HELP,
    framing_option,
    limit_options,
    lines_output_options,
    quiet_option,
    strict_option,
    tz_option,
)
from smfparse.cli.output import Output, finish, report_damage

if TYPE_CHECKING:
    from smfparse.errors import DamageLog
    from smfparse.inputs.sources import SmfFile
    from smfparse.inspecting.record import Record


def _offset(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """Return a byte offset, given in decimal or in hex as 0x1A40."""
    try:
        offset = None if text is None else int(text, 0)
    except ValueError:
        offset = -1
    if offset is not None and offset < 0:
        raise click.BadParameter(f"{text!r} is not an offset; write 6720 or 0x1A40")
    return offset


@click.command("dump", short_help="Explain one record, field by field.", epilog=INPUT_HELP)
@click.argument("source", metavar="INPUT", type=str)
@click.option(
    "--record", "number", type=click.IntRange(1), metavar="N", help="Explain record N (first: 1)."
)
@click.option(
    "--at", callback=_offset, metavar="OFFSET", help="Explain the record at byte OFFSET (0x1A40)."
)
@framing_option
@strict_option
@tz_option
@quiet_option
@limit_options
@lines_output_options
def command(
    source: str,
    number: int | None,
    at: int | None,
    output: Output,
    strict: bool,
    framing: str | None,
    max_copy: int | None,
    tz: str | None,
) -> None:
    """Explain one record of an SMF file: header, triplets, and every field of every block.

    One line per field: offset in the record, raw bytes in hex, IBM's name, value. Undocumented
    bytes are shown in hex. Timestamps are UTC, or in the --tz zone; fields in local time of the
    system stay local. Each line names the zone. The default is the first MQ record. To find a
    record number, use sql as in the last example.

    \b
    Example:
      smfparse dump DUMP.smf --record 17
      smfparse dump DUMP.smf --at 0x1A40
      smfparse sql DUMP.smf --qmgr QM01 --from 0900 "SELECT record_no, smf_time FROM wtas"
    """
    from smfparse.errors import DamageLog
    from smfparse.inputs.named import check_apart
    from smfparse.inputs.opening import open_file
    from smfparse.inputs.options import ReadOptions
    from smfparse.inspecting.record import explained

    if number is not None and at is not None:
        raise click.UsageError("--record and --at exclude each other; give one of them")
    options = ReadOptions(framing=framing, max_copy=max_copy, tz=tz)
    file = open_file(source, options)
    if output.path is not None:
        check_apart([file.path], output.path)
    damage = DamageLog(strict=strict)
    output.write_lines(explained(_found(file, number, at, damage), options.selection.zone))
    finish(damage)


def _found(file: SmfFile, number: int | None, at: int | None, damage: DamageLog) -> Record:
    from smfparse.inspecting.record import find_record, missing

    count = 0
    for chunk in file.input.chunks(damage):
        count += len(chunk.start)
        damage.check()
        found = find_record(chunk, number=number, at=at)
        if found is not None:
            return found
    damage.check()
    report_damage(damage)
    raise missing(file.name, number=number, at=at, count=count)
