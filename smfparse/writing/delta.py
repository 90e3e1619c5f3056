"""Commits to Delta tables with deltalake.

Delta's log is in the folder of the table: `<table>/_delta_log`. deltalake repeats a commit after a
concurrent commit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq

from smfparse.errors import RequestError, install_command
from smfparse.reading.objects import s3_place
from smfparse.reading.places import Place, Url, place_of, stamp_of
from smfparse.writing.lakes import Change, LakeFile, committed

try:
    from deltalake import DeltaTable, Schema
    from deltalake.exceptions import CommitFailedError
    from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions
except ImportError as missing:
    raise RequestError(
        f"a commit to Delta requires deltalake: {install_command('deltalake')}"
    ) from missing


_S3 = {
    "AWS_ALLOW_HTTP": "true",
    "aws_conditional_put": "etag",
    "timeout": "20s",
    "connect_timeout": "20s",
}
"""Options of deltalake for S3; `etag`: a commit is written only if its number is unused."""


class Delta:
    """The Delta tables of a dataset, in the folder of the dataset or in S3.

    The log contains relative file names, so files are copied only to S3.
    """

    def __init__(self, folder: Place, where: str) -> None:
        target = place_of(where)
        if isinstance(target, Url) and target.scheme != "s3":
            raise RequestError(f"delta:{where}: Delta takes a folder on a disk or in S3")
        self._is_copied = target.absolute() != folder.absolute()
        if self._is_copied and not isinstance(target, Url):
            raise RequestError(
                f"delta:{where}: Delta's log is in the files' folder; give delta:{folder}, or "
                "delta:s3://BUCKET/FOLDER for copies of the files"
            )
        self._folder = target
        self._options = _options_of(target)

    def close(self) -> None:
        """Do nothing: Delta has no catalog."""

    def commit(self, table: str, schema: Any, files: list[LakeFile]) -> Change:
        place = str(self._folder.absolute() / table)
        schema = Schema.from_arrow(schema)

        def commit() -> Change:
            how = self._options
            if not DeltaTable.is_deltatable(place, how):
                create_table_with_add_actions(
                    place, schema, [], mode="ignore", name=table, storage_options=how
                )
            return self._commit(DeltaTable(place, storage_options=how), schema, table, files)

        return committed(commit, CommitFailedError)

    def _commit(
        self, found: DeltaTable, schema: Schema, table: str, files: list[LakeFile]
    ) -> Change:
        there = {*map(unquote, found.get_add_actions().column("path").to_pylist())}
        folder: Any = self._folder / table
        wanted = {each.named_by_content if self._is_copied else each.name: each for each in files}
        new = {name: each for name, each in wanted.items() if name not in there}
        gone = [each for each in there if each not in wanted]
        names = {each.name for each in found.schema().fields}
        lacks = [each for each in schema.fields if each.name not in names]
        if lacks:
            found.alter.add_columns(lacks)
        for name, each in new.items() if self._is_copied else ():
            each.copy(folder / name)
        if new or gone:
            now = int(datetime.now(UTC).timestamp() * 1000)
            actions: list[AddAction | RemoveAction] = [
                _added(name, each.place) for name, each in new.items()
            ]
            actions += [RemoveAction(each, True, now) for each in gone]
            found.create_write_transaction(actions, "append", schema)
        return Change(len(new), len(gone), len(wanted) - len(new))


def _options_of(folder: Place) -> dict[str, str] | None:
    """Return options for S3, without credentials, which deltalake finds; None: a local folder."""
    if not isinstance(folder, Url):
        return None
    endpoint, region = s3_place(folder.authority)
    found = {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": region}
    return _S3 | {name: each for name, each in found.items() if each}


def _added(name: str, place: Place) -> AddAction:
    with place.open("rb") as file:
        stats = _stats(pq.read_metadata(file))
    size, changed = stamp_of(place)
    return AddAction(name, size, {}, changed // 10**6, True, json.dumps(stats))


def _stats(file: pq.FileMetaData) -> dict[str, Any]:
    least, greatest, missing = {}, {}, {}
    groups = [file.row_group(number) for number in range(file.num_row_groups)]
    for number, name in enumerate(file.schema.names):
        found = [group.column(number).statistics for group in groups]
        if not all(each is not None and each.has_null_count for each in found):
            continue
        missing[name] = sum(each.null_count for each in found)
        ranges = [each for each in found if each.has_min_max]
        is_whole = all(each.has_min_max or not each.num_values for each in found)
        if ranges and is_whole and isinstance(ranges[0].min, str | int | datetime):
            least[name] = _json_value(min(each.min for each in ranges), math.floor)
            greatest[name] = _json_value(max(each.max for each in ranges), math.ceil)
    return {
        "numRecords": file.num_rows,
        "minValues": least,
        "maxValues": greatest,
        "nullCount": missing,
    }


def _json_value(value: Any, whole: Callable[[float], int]) -> Any:
    """Return a statistic in the form of Delta's JSON; `whole` rounds times to milliseconds."""
    if not isinstance(value, datetime):
        return value
    zone = "Z" if value.tzinfo else ""
    rounded = timedelta(milliseconds=whole(value.microsecond / 1000))
    time = value.replace(microsecond=0, tzinfo=None) + rounded
    return time.isoformat(timespec="milliseconds") + zone
