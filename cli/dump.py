"""smfparse dump: one record explained."""

from __future__ import annotations

from pathlib import Path

import click

from smfparse.cli.options import INPUT_HELP, framing_option, lines_output_options, strict_option
from smfparse.cli.output import finish, say, write_lines


def _offset(context: click.Context, param: click.Parameter, value: str | None) -> int | None:  # noqa: ARG001 - click's callback
    """Read a byte offset: decimal, or hex as 0x1A40."""
    try:
        offset = None if value is None else int(value, 0)
    except ValueError:
        offset = -1
    if offset is not None and offset < 0:
        raise click.BadParameter(f"{value!r} is no offset: 6720 or 0x1A40")
    return offset


@click.command("dump", epilog=INPUT_HELP)
@click.argument("source", metavar="INPUT", type=str)
@click.option("--record", "number", type=click.IntRange(1), metavar="N", help="Record N, from 1.")
@click.option(
    "--at", callback=_offset, metavar="OFFSET", help="The record at byte OFFSET (0x1A40)."
)
@framing_option
@strict_option
@lines_output_options
def command(
    source: str,
    number: int | None,
    at: int | None,
    output: Path | None,
    force: bool,
    strict: bool,
    framing: str | None,
) -> None:
    """Explain one record of an SMF file: header, triplets, and every field of every block.

    A line a field: offset in the record, raw bytes in hex, IBM's name, value. Without --record or
    --at it is the first record of MQ. Bytes that no field knows are shown as they are. As it is one
    record, there is nothing to select: sql finds the numbers of records, as in the last example.

    \b
    Example:
      smfparse dump DUMP.smf --record 17
      smfparse dump DUMP.smf --at 0x1A40
      smfparse sql DUMP.smf --qmgr QM01 --from 0900 "SELECT record_no, smf_time FROM wtas"
    """
    from smfparse.errors import DamageLog
    from smfparse.inputs import ReadOptions, check_apart, open_file
    from smfparse.inspecting import record as dump

    if number is not None and at is not None:
        raise click.UsageError("--record and --at exclude each other")
    file = open_file(source, ReadOptions(framing=framing))
    if output is not None:
        check_apart([file.path], output)
    damage = DamageLog(strict=strict)
    count = 0
    for chunk in file.input.chunks(damage):
        count += len(chunk.start)
        damage.check()
        found = dump.find(chunk, number=number, at=at)
        if found is not None:
            write_lines(dump.lines(found), output, force)
            finish(damage)
            return
    damage.check()
    say(damage)
    raise dump.missing(file.name, number=number, at=at, count=count)
