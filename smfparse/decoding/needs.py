"""The blocks and columns to read for the requested rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from smfparse.decoding.keys import BY_OFFSET
from smfparse.decoding.matching import blocks_for
from smfparse.decoding.triplets import BlockIndex
from smfparse.layout.blocks import Block
from smfparse.schemas import TASK_RECORDS, WQST, WTAS
from smfparse.selecting.selection import ALL_RECORDS, Selection, time_is_derived
from smfparse.tables.arrow import Wanted
from smfparse.tables.dictionary import DAMAGE, RECORD, TABLES
from smfparse.vectors import Ints


class Needs:
    """The data that a decoder must read, determined once for all chunks.

    unknown  whether bytes that no column contains are counted
    wanted   tables that can have rows, and their columns
    clocks   whether records depend on the UTC offsets of earlier records
    counted  whether records are selected by the time at which they count, or by a time in a zone
    tasks    whether records depend on earlier 116/1 records
    dumps    whether the dump of each record must be identified
    blocks   by name: the blocks from which rows are made, and the tables of each block
    index    places of these blocks, and of blocks with the names by which rows are selected
    """

    def __init__(
        self, wanted: Wanted, selection: Selection = ALL_RECORDS, *, unknown: bool = False
    ) -> None:
        self.selection = selection
        self.unknown = unknown
        self.wanted: Wanted = {
            name: names
            for name, names in wanted.items()
            if name != DAMAGE and selection.covers(name)
        }
        specs = [TABLES[name] for name in self.wanted if name != RECORD]
        records, by_name = RECORD in self.wanted, bool(selection.by_name)
        self.counted = time_is_derived(selection)
        self.clocks = self._by_offset() and (
            any(spec.stub for spec in specs) or (records and not by_name)
        )
        self.tasks = any(spec.task for spec in specs) or (records and (by_name or self.counted))
        self.dumps = "dump_start" in (self.wanted.get(RECORD) or ())
        self.blocks = {
            block.name: (block, [spec.name for spec in specs if spec.block is block])
            for block in (spec.block for spec in specs)
        }
        self.index = BlockIndex(self._searched())

    def _by_offset(self) -> bool:
        """Whether a wanted column or the selection depends on the UTC offset of a system."""
        return self.counted or any(
            names is None or names & BY_OFFSET for names in self.wanted.values()
        )

    def _searched(self) -> list[Block]:
        found = [block for block, _ in self.blocks.values()]
        if self.selection.by_name:
            tables = {RECORD, *self.wanted} if self.unknown else self.wanted
            found += blocks_for(self.selection, tables)
        if RECORD in self.wanted or BlockIndex(found).records & TASK_RECORDS:
            found += [WTAS, WQST]
        return found

    @cached_property
    def kinds(self) -> Ints | None:
        """The kinds of record to decode, as in `kinds_of`; None: all."""
        of_all = RECORD in self.wanted or self.unknown
        if self.clocks or (of_all and not self.selection.by_name):
            return None
        return np.array([kind << 16 | subtype for kind, subtype in self.index.records])
