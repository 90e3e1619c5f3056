"""SMF files as a source of Spark: `spark.read.format("smf").option("table", "wqst").load("dumps")`.

Spark looks for modules of this name by itself, so nothing is registered. docs/dataset.md has the
options. The process that plans cuts the files into parts; each part is a partition of Spark's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    Filter,
    In,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from smfparse.decoding.arrow import (
    plain_schema,
    schema,
    wanted_columns,
    wanted_tables,
    whole_schema,
)
from smfparse.decoding.dictionary import DAMAGE, with_fingerprints
from smfparse.decoding.selection import Selection
from smfparse.errors import DamageLog, InputError, RequestError
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.inputs.parallel import Unit
from smfparse.inputs.range import Log, UnsoundError
from smfparse.inputs.sources import SmfFile, damage_rows
from smfparse.inputs.workers import Workers
from smfparse.limits import LIMITS

_SELECTING = {"qmgr": "qmgr", "system": "system", "from": "since", "until": "until", "type": "type",
              "job": "job", "transaction": "transaction", "queue": "queue",
              "channel": "channel"}  # fmt: skip
"""Options that select, and what `Selection.of` calls them."""
_OTHERS = {"path", "paths", "table", "columns", "partbytes", "uint64", "mode", "damagelog",
           "keepduplicates", "framing", "pushdown", "fingerprints"}  # fmt: skip
_LONG, _DECIMAL = pa.int64(), pa.decimal128(20, 0)
_SIGNED = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
"""Types that Spark does not have, and those that hold their values."""


class DefaultSource(DataSource):
    """SMF files, by the name `smf`."""

    @classmethod
    def name(cls) -> str:
        return "smf"

    def schema(self) -> StructType:
        return from_arrow_schema(_Asked(self.options).schema)

    def reader(self, schema: StructType) -> SmfReader:
        asked = _Asked(self.options)
        if schema.fieldNames() != asked.schema.names:
            raise RequestError(
                "the smf source has its own schema; name columns by the option columns"
            )
        return FilteringReader(asked) if asked.pushdown else SmfReader(asked)


class _Asked:
    """What the options ask for. Raises RequestError where they cannot be read."""

    def __init__(self, options: Any) -> None:
        given = {str(name).lower(): value for name, value in options.items()}
        unknown = sorted(given.keys() - _OTHERS - _SELECTING.keys())
        if unknown:
            known = ", ".join(sorted([*_OTHERS, *_SELECTING]))
            raise RequestError(f"{unknown[0]}: unknown option of the smf source; options: {known}")
        self.paths: list[str] = (
            json.loads(given["paths"]) if "paths" in given else [given.get("path", "")]
        )
        (self.table,) = wanted_tables([_needed(given, "table")])
        self.columns = [
            each.strip() for each in given.get("columns", "").split(",") if each.strip()
        ]
        self.part_bytes = _number(given.get("partbytes", str(LIMITS.most_unit)))
        self.uint64 = _one_of(given, "uint64", "decimal", "long")
        self.strict = _one_of(given, "mode", "permissive", "failfast") == "failfast"
        self.damage_log = given.get("damagelog")
        self.pushdown = _one_of(given, "pushdown", "false", "true") == "true"
        selecting = {_SELECTING[name]: given[name] for name in _SELECTING if name in given}
        keep = _one_of(given, "keepduplicates", "false", "true") == "true"
        least = min(LIMITS.least_unit, self.part_bytes)
        self.options = ReadOptions(
            Selection.of(**selecting),
            keep_duplicates=keep,
            strict=self.strict,
            framing=given.get("framing"),
            fingerprints=_one_of(given, "fingerprints", "false", "true") == "true",
            limits=replace(LIMITS, most_task=self.part_bytes, least_unit=least),
        )

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows, in types that Spark has."""
        usual = with_fingerprints(self.table, asked=self.options.fingerprints)
        names = wanted_columns(self.table, self.columns) or plain_schema(self.table, usual).names
        return pa.schema([self._field(whole_schema(self.table).field(name)) for name in names])

    def _field(self, field: pa.Field) -> pa.Field:
        types = _SIGNED | {pa.uint64(): _LONG if self.uint64 == "long" else _DECIMAL}
        return pa.field(field.name, types.get(field.type, field.type))


def _needed(given: dict[str, str], name: str) -> str:
    if name not in given:
        raise RequestError(f"the option {name} is missing; give one, as table=wqst")
    return given[name]


def _one_of(given: dict[str, str], name: str, default: str, other: str) -> str:
    found = given.get(name, default).lower()
    if found not in (default, other):
        raise RequestError(f"{name}={given[name]}: give {default} or {other}")
    return found


def _number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise RequestError(f"partBytes={text}: give a number of bytes, 1 or more")
    return int(text)


class _Part(InputPartition):
    """Ranges of files that are decoded one after the other; their place among all."""

    def __init__(self, number: int, unit: Unit) -> None:
        super().__init__(number)
        self.unit = unit


class SmfReader(DataSourceReader):
    """Reads one table."""

    def __init__(self, asked: _Asked) -> None:
        self.asked = asked
        self.selection = asked.options.selection

    def partitions(self) -> Sequence[InputPartition]:
        if self.asked.table == DAMAGE:
            return [_Part(0, ())]
        inputs = self._inputs()
        wanted = {self.asked.table: frozenset(self.asked.schema.names)}
        with ThreadPoolExecutor(1) as executor:
            found = inputs.units(inputs.sources, wanted, Workers(1, executor), ahead=False)
        return [_Part(number, unit) for number, unit in enumerate(found)]

    def _inputs(self) -> Inputs:
        opened = open_inputs(
            self.asked.paths, replace(self.asked.options, selection=self.selection)
        )
        for each in opened.sources:
            if not isinstance(each, SmfFile):
                raise RequestError(f"{each.name}: a dataset; read it by spark.read.parquet")
        return opened

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Part)
        log = Log(DamageLog(strict=self.asked.strict))
        target = self.asked.schema
        for batch in self._batches(partition.unit, log):
            plain = pa.Table.from_batches([batch]).select(target.names)
            yield from _cast(plain, target).to_batches()
        if self.asked.damage_log is not None and log.damage:
            _write_damage(Path(self.asked.damage_log), partition.value, log.damage)

    def _batches(self, unit: Unit, log: Log) -> Iterator[pa.RecordBatch]:
        if self.asked.table == DAMAGE:
            yield from (batch for _, batch in self._inputs().batches({DAMAGE: None}))
        for each in unit:
            try:
                yield from (batch for _, batch in each.batches(log))
            except UnsoundError as error:
                raise InputError(
                    f"{each.file.name}: changed while it was read; run again"
                ) from error


class FilteringReader(SmfReader):
    """Reads one table, and leaves out records by filters of queue managers and systems.

    Spark refuses a reader that takes filters unless spark.sql.python.filterPushdown.enabled is set.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        for each in filters:
            if isinstance(each, EqualTo | In) and each.attribute in (("qmgr",), ("system",)):
                self._push(each)
            yield each  # Spark applies all of them again: a selection may let more rows pass

    def _push(self, asked: EqualTo | In) -> None:
        (name,) = asked.attribute
        values = [asked.value] if isinstance(asked, EqualTo) else list(asked.value)
        own = Selection.of(**{name: [str(each) for each in values if each]})
        if all(values) and not getattr(self.selection, f"{name}s"):
            self.selection = self.selection._replace(**{f"{name}s": getattr(own, f"{name}s")})


def _cast(rows: pa.Table, target: pa.Schema) -> pa.Table:
    try:
        return rows.cast(target)
    except pa.ArrowInvalid as error:
        raise RequestError(f"uint64=long: {error}; read it with uint64=decimal") from error


def _write_damage(folder: Path, number: int, damage: DamageLog) -> None:
    """Write what could not be used of a part; of a part that is read again, once more."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"part-{number:05}.parquet"
    new = place.with_name(f".{place.name}.{os.urandom(4).hex()}")
    rows = pa.Table.from_batches([damage_rows(damage)])
    pq.write_table(rows.cast(schema(DAMAGE)), new)
    new.replace(place)
