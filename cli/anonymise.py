"""smfparse anonymise: copy an SMF file with all names replaced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from smfparse.cli.options import (
    INPUT_HELP,
    framing_option,
    limit_options,
    quiet_option,
    strict_option,
)
from smfparse.cli.output import finish, show
from smfparse.cli.words import LocalPath
from smfparse.errors import DamageLog, SmfError
from smfparse.rendering.figures import plural

if TYPE_CHECKING:
    from smfparse.anonymising.copying import Proof, Replaced
    from smfparse.anonymising.pseudonyms import Pseudonyms
    from smfparse.inputs.sources import SmfFile

_SECRET = 32
"""Number of random bytes from which pseudonyms are derived."""


@click.command(
    "anonymise", short_help="Copy an SMF file with all names replaced.", epilog=INPUT_HELP
)
@click.argument("source", metavar="INPUT", type=str)
@click.option(
    "--to",
    "--output",
    "target",
    type=LocalPath(),
    metavar="FILE",
    required=True,
    help="Write the copy to FILE, in the record format of INPUT, not compressed.",
)
@click.option(
    "--map",
    "table",
    type=LocalPath(),
    metavar="FILE",
    help="Write old and new names to FILE (CSV); names already in FILE keep their replacement. "
    "FILE reverses the replacement: keep it secret.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="NAME",
    help="Keep names that match NAME: 'SYSTEM.*', CSQ1.",
)
@click.option(
    "--keep-first",
    is_flag=True,
    help="Keep the first part of names with several parts: PAY of PAY.IN.",
)
@click.option(
    "--shift-days",
    type=click.IntRange(-50_000, 50_000),
    default=0,
    metavar="DAYS",
    help="Shift all timestamps by this many days; 364 keeps the weekday.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@framing_option
@strict_option
@quiet_option
@limit_options
def command(
    source: str,
    target: Path,
    table: Path | None,
    keep: tuple[str, ...],
    keep_first: bool,
    shift_days: int,
    force: bool,
    framing: str | None,
    strict: bool,
    max_copy: int | None,
) -> None:
    """Copy an SMF file with all names replaced.

    Names of systems, queue managers, groups, jobs, users, addresses and certificates, and every
    part of queue and channel names, are replaced by names of the same length; all other bytes stay.
    A name gets the same replacement everywhere, so values can still be matched by name.

    Names of 4 characters or more are replaced at any position, in EBCDIC and in ASCII; shorter
    names only in their fields. Before the copy is saved, it is compared with INPUT number by
    number, and checked for remaining names.

    \b
    Example:
      smfparse anonymise DUMP.smf --to copy.smf
      smfparse anonymise DUMP.smf --to copy.smf --map keep.csv --keep 'SYSTEM.*'
    """
    names = _pseudonyms(table, keep, keep_first=keep_first)
    file = _opened(source, target, framing, max_copy)
    damage = DamageLog(strict=strict)
    done, shown = _written(file, target, names, damage, shift_days, force=force)
    if table is not None:
        from smfparse.anonymising.pseudonyms import write_map

        write_map(table, names.parts)
    for line in _lines(done, shown):
        show(line)
    finish(damage)


def _opened(source: str, target: Path, framing: str | None, max_copy: int | None) -> SmfFile:
    from smfparse.inputs.named import check_apart
    from smfparse.inputs.opening import open_file
    from smfparse.inputs.options import ReadOptions

    file = open_file(source, ReadOptions(framing=framing, max_copy=max_copy))
    check_apart([file.path], target)
    return file


def _pseudonyms(table: Path | None, keep: tuple[str, ...], *, keep_first: bool) -> Pseudonyms:
    from secrets import token_bytes

    from smfparse.anonymising.pseudonyms import Pseudonyms, read_map
    from smfparse.decoding.criteria import like

    known = read_map(table) if table is not None and table.exists() else {}
    kept = like(each.strip().upper() for each in keep).fullmatch if keep else None
    return Pseudonyms(token_bytes(_SECRET), kept, known, keep_first=keep_first)


def _written(
    file: SmfFile,
    target: Path,
    names: Pseudonyms,
    damage: DamageLog,
    shift_days: int,
    *,
    force: bool,
) -> tuple[Replaced, Proof]:
    """Write and check the copy, then rename it to `target`. Raises SmfError if the check fails."""
    from smfparse.anonymising.copying import anonymise, proof
    from smfparse.inputs.opening import open_file
    from smfparse.inputs.options import ReadOptions
    from smfparse.store.targets import check_file, replacing

    check_file(target, force)
    with replacing(target) as part:
        with part.open("x+b") as stream:
            done = anonymise(file, stream, names, damage, shift_days)
        copy = open_file(str(part), ReadOptions(framing=file.arrival.framing))
        shown = proof(file, copy, names, shift_days)
        if not shown.holds(done, names):
            raise SmfError(
                f"{target}: not written: {shown.other} records of the copy have other values, and "
                f"it contains {shown.left} old names. Please report this, without the file"
            )
    return done, shown


def _lines(done: Replaced, shown: Proof) -> Iterator[str]:
    width = max(map(len, done.names))
    for kind, names in done.names.items():
        if names:
            yield f"{kind:<{width}}  {len(names):>7} names in {done.fields[kind]:>9} fields"
    yield f"{'elsewhere':<{width}}  {done.elsewhere:>7} place{'s' * (done.elsewhere != 1)}"
    if done.by_chance:
        yield f"{plural(done.by_chance, 'number')} look like names by chance and stay as they are"
    if done.short:
        places = plural(done.short, "place")
        yield f"{places} look like a name of under 4 characters by chance and stay as they are"
    if done.in_kept:
        yield f"{done.in_kept} kept names contain an old name"
    yield f"verified: {shown.records} records with the same values, no other old name found"
