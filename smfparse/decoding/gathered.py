"""The wanted tables, gathered over many chunks of one source or several until they are batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from smfparse.decoding.keys import KeyColumns
from smfparse.decoding.needs import Needs
from smfparse.decoding.table_buffers import KeyBuffer, TableBuffer
from smfparse.decoding.tasks import Elsewhere
from smfparse.decoding.texts import text_columns
from smfparse.limits import LIMITS, Limits
from smfparse.tables import Batch
from smfparse.vectors import strings

_MOST_SOURCES = 4096
"""Sources whose rows are gathered together: their names are in every batch."""


class Gathered:
    """What decoders have made of chunks that no batch has yet.

    To set up all columns, and to make arrays of them, takes longer than to decode a small file. So
    the decoders of several sources, one after the other, can gather what they decode together.

    prompt     whether every table gives a batch behind each chunk
    elsewhere  knows the names of other sources that have tasks of rows; None: there are no others
    """

    def __init__(self, needs: Needs, limits: Limits = LIMITS, *, prompt: bool = False) -> None:
        self.needs = needs
        self.texts = text_columns()
        self.tables = {
            name: TableBuffer(name, names, self.texts) for name, names in needs.wanted.items()
        }
        self.keys = KeyBuffer(set().union(*(each.asked for each in self.tables.values())))
        self.elsewhere: Elsewhere | None = None
        self._limits = limits
        self._prompt = prompt
        self._size = 0
        self._sources: dict[str, int] = {}
        self._now = np.zeros(1, np.int32)
        """Numbers of the sources whose rows are added now."""

    def begin(self, sources: Iterable[str]) -> None:
        """Take what is added from here on as rows of `sources`: all that their chunks are of."""
        numbers = [self._sources.setdefault(each, len(self._sources)) for each in sources]
        self._now = np.array(numbers, np.int32)

    def add(self, keys: KeyColumns) -> None:
        """Take the keys of the records of a chunk, whose rows are there already."""
        self.keys.add(keys, self._now)

    def grown(self, size: int) -> Iterator[tuple[str, Batch]]:
        """Yield the batches that are due when another `size` bytes of records were looked at."""
        self._size += size
        if self._prompt or len(self._sources) > _MOST_SOURCES:
            yield from self.flush()
        elif self._size >= self._limits.epoch_bytes or self._full():
            yield from self._flush(self._limits.epoch_cells >> 9)

    def flush(self) -> Iterator[tuple[str, Batch]]:
        """Yield all that is there."""
        yield from self._flush(0)
        names = list(self._sources)
        self._sources = {}
        self.begin([names[number] for number in self._now] if names else [])

    def _full(self) -> bool:
        """Whether many small records or blocks have made more cells than their bytes show."""
        cells = [table.cells for table in self.tables.values()]
        return (
            max(cells, default=0) + self.keys.rows * len(self.keys.names)
            >= self._limits.epoch_cells
        )

    def _flush(self, least: int) -> Iterator[tuple[str, Batch]]:
        """Yield the tables that have so many cells; of the others only the keys are noted."""
        sources = strings(self._sources)
        for name, table in self.tables.items():
            table.note(self.keys)
            if table.rows and table.cells >= least:
                yield name, table.batch(sources, self.elsewhere)
        self.keys.clear()
        self._size = 0
