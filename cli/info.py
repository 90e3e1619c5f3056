"""smfparse info: what is in the inputs."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smfparse.cli.options import (
    INPUT_HELP,
    Reading,
    inputs_argument,
    output_options,
    reading_options,
)
from smfparse.cli.output import SHOWN, finish, left_out, more, nothing_selected, write_lines

if TYPE_CHECKING:
    from smfparse.errors import DamageLog
    from smfparse.inputs.opening import Inputs
    from smfparse.inspecting.inventory import Group

_HEADER = (
    "System", "QMgr", "Version", "Type", "Subtype", "Records", "Bytes", "First", "Last", "Blocks",
)  # fmt: skip
_NUMBERS = {3, 4, 5, 6}


@click.command("info", epilog=INPUT_HELP)
@inputs_argument
@reading_options("--to", "--until")
@output_options("text", "json")
def command(
    inputs: tuple[str, ...],
    form: str,
    output: Path | None,
    force: bool,
    reading: Reading,
) -> None:
    """Count records and bytes by system, queue manager, version, type and subtype.

    Times are the local times of the z/OS system, as SMF wrote them. Bytes that no column knows are
    counted in selected records; in a dataset only where nothing is selected. Below it is told how
    each input is packed and its records are told apart, and what could not be used: of a dataset,
    what could not be when it was made.

    \b
    Example:
      smfparse info DUMP.smf
      smfparse info dumps/ 'june/*.smf.gz'
      smfparse info DUMP.smf --qmgr 'QM*' --from 2026-03-04 --type '115,116(1:2)'
    """
    from smfparse.inspecting.inventory import inventory

    opened = reading.open(inputs, output)
    groups = inventory(opened)
    if not groups:
        nothing_selected(opened)
    lines = _text(opened, groups) if form == "text" else iter([_json(opened, groups)])
    write_lines(lines, output, force)
    finish(opened.damage, opened.duplicates, listed=True)


def _text(opened: Inputs, groups: list[Group]) -> Iterator[str]:
    rows = [_HEADER, *(_cells(group) for group in groups)]
    rows.append(_total(groups))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    for row in rows:
        cells = [
            cell.rjust(width) if column in _NUMBERS else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    yield ""
    for source in opened.sources:
        form = ", ".join([*source.form.packing, source.form.framing or "Parquet"])
        yield f"{source.name}: {form} ({source.form.why})"
    if opened.duplicates:
        yield ""
        yield f"{left_out(opened.duplicates)}."
    yield from _damage(opened.met)
    if opened.log.unknown:
        yield ""
        yield "Bytes that no column knows (newer MQ, or IBM-internal):"
        for name, size in sorted(opened.log.unknown.items()):
            yield f"  {name:<20}{size:>15,}"


def _damage(found: DamageLog) -> Iterator[str]:
    if not found:
        return
    yield ""
    yield f"Could not be used: {found.count:,}"
    for each in found.details[:SHOWN]:
        size = "all" if each.length is None else f"{each.length:,}"
        yield f"  {size:>12} bytes: {each}"
    if found.count > SHOWN:
        yield f"  ... {more(found)}"


def _cells(group: Group) -> tuple[str, ...]:
    texts = (group.system, group.qmgr, group.mq_version, group.type, group.subtype)
    return (
        *("-" if each is None else str(each) for each in texts),
        f"{group.records:,}",
        f"{group.bytes:,}",
        _moment(group.first),
        _moment(group.last),
        group.content,
    )


def _total(groups: list[Group]) -> tuple[str, ...]:
    first = [group.first for group in groups if group.first is not None]
    last = [group.last for group in groups if group.last is not None]
    return (
        *("Total", "", "", "", ""),
        f"{sum(group.records for group in groups):,}",
        f"{sum(group.bytes for group in groups):,}",
        _moment(min(first, default=None)),
        _moment(max(last, default=None)),
        "",
    )


def _moment(moment: dt.datetime | None) -> str:
    return "-" if moment is None else f"{moment:%Y/%m/%d %H:%M:%S}"


def _json(opened: Inputs, groups: list[Group]) -> str:
    from smfparse.inputs.sources import damage_rows

    def plain(value: Any) -> Any:
        return value.isoformat() if isinstance(value, dt.datetime) else value

    found = {
        "inputs": [{"name": each.name} | dataclasses.asdict(each.form) for each in opened.sources],
        "records": sum(group.records for group in groups),
        "bytes": sum(group.bytes for group in groups),
        "groups": [
            {name: plain(value) for name, value in dataclasses.asdict(group).items()}
            | {"blocks": group.content.split() if group.subtype is not None else []}
            for group in groups
        ],
        "duplicates": opened.duplicates,
        "unknown_bytes": dict(sorted(opened.log.unknown.items())),
        "damage": damage_rows(opened.met).to_pylist(),
        "damage_count": opened.met.count,
    }
    return json.dumps(found, indent=2)
