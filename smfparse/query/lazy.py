"""Tables for polars: a LazyFrame decodes only the columns and records of its query.

polars passes the columns that a query needs, its filter, and a maximum number of rows. The decoder
yields these columns, in a batch after each chunk, so that polars can stop the decoder after any
chunk. The parts of a filter that a Selection can express are passed to the decoder. A Selection may
keep more rows than the filter, never fewer, so each batch is also filtered. If polars passes both a
number of rows and a filter, the number means rows before the filter.
"""

from __future__ import annotations

import atexit
import datetime as dt
import operator
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from smfparse.decoding.arrow import Batch, plain_schema, wanted_tables
from smfparse.decoding.dictionary import DAMAGE
from smfparse.decoding.selection import BY_NAME, NAMED, Selection
from smfparse.decoding.zones import COUNTED_AT
from smfparse.inputs.opening import Inputs

_MOST_NAMES = 1_000
"""Maximum number of names in a selection. Each is compared with every distinct name in the data."""
_TIMES = (COUNTED_AT, "smf_time")
"""Time columns for a selection: a selection uses only one, in whole seconds."""
_SECOND = dt.timedelta(seconds=1)
_LAST = dt.datetime.max - _SECOND
Operator: TypeAlias = Callable[[Any, Any], Any]
_FLIPPED: Mapping[Operator, Operator] = {
    operator.eq: operator.eq,
    operator.ge: operator.le,
    operator.gt: operator.lt,
    operator.le: operator.ge,
    operator.lt: operator.gt,
}
"""Operators for exchanged operands: `a < b` is `b > a`."""
_PATIENCE = 10.0
"""Maximum seconds that the process, at its end, waits for threads of polars in Python code."""
_PAUSE = 0.1
"""Maximum seconds that the process waits for idle threads, which may never continue."""
_FROM = (operator.eq, operator.ge, operator.gt)
_UNTIL = (operator.eq, operator.le, operator.lt)


class _Readers:
    """The active readers of polars, which must leave Python code before the process ends.

    polars reads ahead in its own threads: a query may be complete while a thread still reads the
    next batch. A thread in Python code at the end of the interpreter crashes the process.
    """

    def __init__(self) -> None:
        self._open = 0
        self._busy = 0
        self._over = False
        self._changed = threading.Condition()
        atexit.register(self.end)

    def kept(self, frames: Generator[pl.DataFrame, None, None]) -> Iterator[pl.DataFrame]:
        """Yield the frames; close `frames` at the end of this generator."""
        with self._counted(), closing(frames):
            while not self._over:
                with self._counted(busy=1):
                    frame = next(frames, None)
                if frame is None:
                    return
                yield frame

    @contextmanager
    def _counted(self, busy: int = 0) -> Iterator[None]:
        self._count(1, busy)
        try:
            yield
        finally:
            self._count(-1, busy)

    def _count(self, step: int, busy: int) -> None:
        with self._changed:
            self._busy += step * busy
            self._open += step * (1 - busy)
            self._changed.notify_all()

    def end(self) -> None:
        """Stop all readers at their next batch; wait for busy readers, and briefly for others."""
        self._over = True
        with self._changed:
            self._changed.wait_for(lambda: not self._busy, _PATIENCE)
            self._changed.wait_for(lambda: not self._open, _PAUSE)


_READERS = _Readers()


def lazy_frame(inputs: Inputs, table: str) -> pl.LazyFrame:
    """Return a table as a LazyFrame; `collect` reads `inputs`, and raises errors of reading.

    Raises RequestError for an unknown table.
    """
    (known,) = wanted_tables([table])

    def read(
        names: list[str] | None, condition: pl.Expr | None, rows: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        return _READERS.kept(_frames(inputs, known, names, condition, rows))

    return register_io_source(read, schema=_types(known, inputs.names(known)), is_pure=True)


@cache
def _types(table: str, names: frozenset[str] | None) -> pl.Schema:
    frame = pl.from_arrow(plain_schema(table, names).empty_table())
    assert isinstance(frame, pl.DataFrame)
    return frame.schema


def _frames(
    inputs: Inputs,
    table: str,
    names: list[str] | None,
    condition: pl.Expr | None,
    rows: int | None,
) -> Generator[pl.DataFrame, None, None]:
    """Yield the columns `names` (None: all columns) of the rows for which `condition` is true.

    rows  number of rows at the start of the table to read; None: all rows
    """
    shown = plain_schema(table, inputs.names(table)).names if names is None else names
    tested = [] if condition is None else condition.meta.root_names()
    needed = list(dict.fromkeys([*shown, *tested]))
    if rows is None:
        selection = narrowed(inputs.selection, table, condition)
        options = replace(inputs.options, selection=selection)
    else:
        options = replace(inputs.options, jobs=1)  # more jobs would decode rows that are not needed
    chosen = replace(inputs, options=options)
    with closing(chosen.batches({table: frozenset(needed)}, prompt=True)) as found:
        for batch in _first(rows, found):
            frame = _frame(batch, needed)
            yield _select(frame if condition is None else frame.filter(condition), shown)


def _first(rows: int | None, found: Iterable[tuple[str, Batch]]) -> Iterator[Batch]:
    for _, batch in found:
        yield batch.slice(0, rows)
        if rows is not None:
            rows -= min(rows, batch.num_rows)
        if rows == 0:
            return


def _frame(batch: Batch, names: Iterable[str]) -> pl.DataFrame:
    series = [_series(name, batch.column(name)) for name in names]
    return pl.DataFrame(series or None, height=batch.num_rows)


def _select(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Return columns of a frame; without columns, the height is kept, unlike in `select`."""
    return frame.select(names) if names else pl.DataFrame(height=frame.height)


def _series(name: str, column: Any) -> pl.Series:
    if not pa.types.is_dictionary(column.type):
        return pl.Series(name, column)
    words = pl.Series(name, column.dictionary, pl.String)
    return words.gather(pl.Series(column.indices))


def narrowed(selection: Selection, table: str, condition: pl.Expr | None) -> Selection:
    """Return a narrower selection that keeps every row for which `condition` is true.

    The result selects the names and times with which `condition` compares columns, if possible.
    """
    if condition is None or table == DAMAGE:
        return selection
    for part in _conjuncts(condition):
        for name, compare, values in _comparisons(part):
            if name in _TIMES:
                selection = _with_times(selection, name, compare, values)
            elif compare is operator.eq:
                selection = _with_names(selection, _option(table, name), values)
    return selection


def _conjuncts(condition: pl.Expr) -> Iterator[pl.Expr]:
    parts = condition.meta.pop()[::-1]
    if len(parts) == 2 and (parts[0] & parts[1]).meta.eq(condition):
        for part in parts:
            yield from _conjuncts(part)
    else:
        yield condition


def _comparisons(condition: pl.Expr) -> Iterator[tuple[str, Operator, list[Any]]]:
    """Yield column, operator and values if `condition` compares a column with any of the values.

    Yield nothing for any other condition. The operator of an expression is not accessible, so each
    possible expression is built from the parts and compared with `condition`.
    """
    parts = condition.meta.pop()[::-1]
    columns = [part for part in parts if part.meta.is_column()]
    literals = [part for part in parts if part.meta.is_literal()]
    if len(columns) != 1 or not literals or len(literals) + 1 != len(parts):
        return
    name = columns[0].meta.output_name()
    if len(parts) == 3 and _is_between(condition, columns[0], *literals):
        yield name, operator.ge, _values(literals[0])
        yield name, operator.le, _values(literals[1])
    elif len(parts) == 2:
        if columns[0].is_in(literals[0]).meta.eq(condition):
            yield name, operator.eq, _values(literals[0])
        for compare, flipped in _FLIPPED.items():
            if compare(*parts).meta.eq(condition):
                yield name, compare if parts[0] is columns[0] else flipped, _values(literals[0])


def _is_between(condition: pl.Expr, column: pl.Expr, low: pl.Expr, high: pl.Expr) -> bool:
    made = (column.is_between(low, high, each) for each in ("both", "left", "right", "none"))
    return any(each.meta.eq(condition) for each in made)


def _values(literal: pl.Expr) -> list[Any]:
    """Return the values of a literal: one value, or the values of a list."""
    values = pl.select(literal).to_series()
    return (values.explode() if isinstance(values.dtype, pl.List) else values).to_list()


def _option(table: str, column: str) -> str | None:
    """Return the field of a Selection for the names in a column; None: no such field."""
    headers = {"system": "systems", "qmgr": "qmgrs"}
    named = (field for option, field in BY_NAME.items() if column in NAMED[option].get(table, ()))
    return headers.get(column) or next(named, None)


def _with_names(selection: Selection, option: str | None, values: list[Any]) -> Selection:
    """Return the selection with `values` as names, unless it already selects by `option`."""
    names = frozenset(value for value in values if value is not None)
    are_names = all(isinstance(name, str) and name.strip() for name in names)
    if option is None or getattr(selection, option) or not names or not are_names:
        return selection
    asked: dict[str, Any] = {option: names}
    return selection._replace(**asked) if len(names) <= _MOST_NAMES else selection


def _with_times(
    selection: Selection, column: str, compare: Operator, values: list[Any]
) -> Selection:
    """Return the selection with times of a column, unless it selects by another time column."""
    (value, *more) = values or [None]
    if selection.time_column not in (None, column):
        return selection
    if more or type(value) is not dt.datetime or value.tzinfo or value > _LAST:
        return selection
    second = value.replace(microsecond=0)
    start, end = selection.start, selection.end
    if compare in _FROM:
        start = max(start or second, second)
    if compare in _UNTIL:
        end = min(end or second + _SECOND, second + _SECOND)
    return selection._replace(start=start, end=end, smf_time=column == "smf_time")
