"""Commits to Iceberg tables with pyiceberg, in a configured catalog or a catalog in a SQLite file.

pyiceberg repeats a commit after a concurrent commit. After its last attempt, this module reads the
table and commits again. pyiceberg reads the statistics of columns from the files.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from smfparse.errors import RequestError, install_command
from smfparse.reading.places import Place, Url, is_url
from smfparse.store.parquet import parquet_options
from smfparse.writing.lakes import Change, LakeFile, committed

try:
    import sqlalchemy  # noqa: F401 - pyiceberg requires it for SQLite
    from pyiceberg.catalog import Catalog, load_catalog
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.exceptions import CommitFailedException
    from pyiceberg.utils.config import Config
except ImportError as missing:
    raise RequestError(
        f"a commit to Iceberg requires pyiceberg: {install_command('pyiceberg[sql-sqlite]')}"
    ) from missing

_TARGET = re.compile(r"(?P<catalog>.+\.db|[^.]+)\.(?P<namespace>.+)")
_PROPERTIES = {
    "commit.manifest-merge.enabled": "true",  # otherwise a query reads one file per append
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.metrics.default": "none",
}
"""Properties of a new table."""


class Iceberg:
    """The Iceberg tables of a dataset, in a namespace of a catalog."""

    def __init__(self, folder: Place, where: str) -> None:
        found = _TARGET.fullmatch(where)
        if found is None:
            raise RequestError(
                f"iceberg:{where}: give iceberg:CATALOG.NAMESPACE, such as iceberg:lake.db.mq"
            )
        self._folder = folder
        self._namespace = found["namespace"]
        self._catalog = _catalog(found["catalog"])
        try:
            self._catalog.create_namespace_if_not_exists(self._namespace)
        except Exception:
            self.close()
            raise

    def close(self) -> None:
        self._catalog.close()

    def commit(self, table: str, schema: Any, files: list[LakeFile]) -> Change:
        name = f"{self._namespace}.{table}"

        def commit() -> Change:
            found = self._catalog.create_table_if_not_exists(
                name, schema, properties=_properties(table)
            )
            return self._commit(found, table, schema, files)

        return committed(commit, CommitFailedException)

    def _commit(self, found: Any, table: str, schema: Any, files: list[LakeFile]) -> Change:
        """Replace the table's files of this dataset by `files`, or by copies in object storage.

        The folder of the copies has the name of the dataset's folder.
        """
        is_copied = isinstance(self._folder, Path) and is_url(found.location())
        own = f"{_uri(self._folder)}/{table}/"
        if is_copied:
            own = f"{found.location()}/data/{self._folder.absolute().name}/"
        there = {each.file.file_path: each.file for each in found.scan().plan_files()}
        named = {each.named_by_content if is_copied else each.name: each for each in files}
        wanted = {f"{own}{name}": each for name, each in named.items()}
        new = [each for each in wanted if each not in there]
        gone = [there[each] for each in there if each.startswith(own) and each not in wanted]
        for each in new if is_copied else ():
            wanted[each].copy(Url.of(each))
        lacks = set(schema.names) - set(found.schema().column_names)
        if new or gone or lacks:
            with found.transaction() as transaction:
                if lacks:
                    with transaction.update_schema() as change:
                        change.union_by_name(schema)
                if gone:
                    with transaction.update_snapshot().overwrite() as change:
                        for each in gone:
                            change.delete_data_file(each)
                if new:
                    transaction.add_files(new, check_duplicate_files=False)
        return Change(len(new), len(gone), len(wanted) - len(new))


def _properties(table: str) -> dict[str, str]:
    """Return the properties of a new table; only columns with Parquet statistics have metrics."""
    sought = parquet_options(table)["write_statistics"]
    return _PROPERTIES | {f"write.metadata.metrics.column.{each}": "full" for each in sought}


def _catalog(name: str) -> Catalog:
    """Return the configured catalog `name`, or the new or existing catalog in the file *.db."""
    if not name.endswith(".db"):
        if Config().get_catalog_config(name) is None:
            raise RequestError(
                f"{name}: not configured in pyiceberg; name a catalog of ~/.pyiceberg.yaml or "
                f"PYICEBERG_CATALOG__{name.upper()}__URI, or a file: {name}.db"
            )
        return load_catalog(name)
    file = Path(name).absolute()
    if not file.parent.is_dir():
        raise RequestError(f"{file.parent}: no such folder; make it, or give another catalog")
    settings = {"s3.endpoint": "AWS_ENDPOINT_URL", "s3.region": "AWS_REGION"}
    given = {key: os.environ[each] for key, each in settings.items() if each in os.environ}
    warehouse = f"file://{file.with_suffix('').as_posix()}"
    return SqlCatalog(file.stem, uri=f"sqlite:///{file}", warehouse=warehouse, **given)


def _uri(place: Place) -> str:
    """Return the URI of a place, without percent-encoding, as in Iceberg."""
    return f"file://{place.absolute().as_posix()}" if isinstance(place, Path) else str(place)
