"""Small SMF files, decoded together, which saves the fixed cost per chunk.

Rows and reports are the same as if each file was decoded separately, in this order.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from smfparse.decoding.decoder import Decoder, Gathered
from smfparse.errors import DamageLog
from smfparse.inputs.log import Log
from smfparse.inputs.options import ReadOptions
from smfparse.inputs.range import Batches
from smfparse.inputs.sources import SmfFile, Source
from smfparse.reading.chunks import Joined
from smfparse.reading.planning import size_of
from smfparse.tables.arrow import Wanted

_SMALL = 4
"""Ratio of the size of a chunk to the maximum size of a small file."""
_MOST = 256
"""Maximum number of files that are decoded together."""


def batches(
    sources: Iterable[Source], wanted: Wanted, log: Log, options: ReadOptions, gathered: Gathered
) -> Batches:
    """Yield the batches of all sources, in order; small files are decoded together."""
    joined = Joined(options.limits.chunk_bytes)
    for some in _groups(sources, options):
        files = [each for each in some if isinstance(each, SmfFile)]
        if len(files) > 1:
            yield from _together(files, wanted, log, options, gathered, joined)
        else:
            yield from some[0].batches(wanted, log, options, gathered)


def _groups(sources: Iterable[Source], options: ReadOptions) -> Iterator[list[Source]]:
    """Yield groups of sources, in order: small files that fit into one chunk; single other sources.

    With `strict`, or with a selection, on which the damage depends, files are not combined, because
    damage must be found file by file.
    """
    most = options.limits.chunk_bytes
    may_join = options.selection.everything and not options.strict
    held: list[Source] = []
    held_bytes = 0
    for each in sources:
        size = size_of(each.path) if isinstance(each, SmfFile) and not each.input.packing else most
        if held and (held_bytes + size > most or len(held) == _MOST):
            yield held
            held, held_bytes = [], 0
        held.append(each)
        held_bytes += size if may_join and _SMALL * size <= most else most
    if held:
        yield held


def _together(
    files: Sequence[SmfFile],
    wanted: Wanted,
    log: Log,
    options: ReadOptions,
    gathered: Gathered,
    joined: Joined,
) -> Batches:
    """Decode small files as one chunk; log the damage of each file as if it was decoded alone."""
    needs, found = gathered.needs, list[tuple[str, DamageLog]]()
    for file in files:
        damage = DamageLog(sys.maxsize)
        for chunk in file.range(wanted, options).read(damage, needs, log):
            joined.add(chunk)
        found.append((file.name, damage))
    in_blocks = DamageLog(sys.maxsize)
    decoder = Decoder(
        needs,
        in_blocks,
        unknown=log.unknown,
        limits=options.limits,
        gathered=gathered,
        elsewhere=files[0].others,
    )
    made = list(decoder.decode(joined.take()))
    for name, damage in found:
        log.damage.extend(damage)
        for each in in_blocks.details:
            if each.source == name:
                log.damage.add(each)
    yield from made
