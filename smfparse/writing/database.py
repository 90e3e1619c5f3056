"""Write tables to a DuckDB database, with descriptions of tables and columns."""

from __future__ import annotations

from pathlib import Path

import duckdb

from smfparse.decoding.arrow import Wanted, plain_schema
from smfparse.errors import OutputError
from smfparse.inputs.opening import Inputs
from smfparse.metrics.measures import quoted
from smfparse.metrics.views import comments, views_script
from smfparse.query.relations import connected
from smfparse.store.targets import check_file, replacing

_STORAGE = "v1.2.0"
"""Storage version of database files: the oldest version with comments for DuckDB 1.5 and 2."""


def write_database(
    inputs: Inputs, path: Path, wanted: Wanted, *, force: bool = False
) -> dict[str, int]:
    """Write tables with descriptions to a DuckDB database; return {table: number of rows}.

    DuckDB 1.2 and newer read the database. Raises RequestError if `path`, or the log (`.wal`) of an
    earlier database, exists (unless `force`), and OutputError if the database cannot be written.
    """
    log = path.resolve().with_name(f"{path.resolve().name}.wal")
    for each in (path, log):
        check_file(each, force)
    rows = dict.fromkeys(wanted, 0)
    with replacing(path) as place, connected() as database:
        name = f"ATTACH {quoted(str(place))} AS made (STORAGE_VERSION '{_STORAGE}')"
        try:
            database.execute(f"{name}; USE made")
            database.execute("BEGIN")
            for table, columns_wanted in wanted.items():
                database.register("batch", plain_schema(table, columns_wanted).empty_table())
                database.execute(f"CREATE TABLE {table} AS FROM batch")
                for comment in comments("TABLE", table, columns_wanted):
                    database.execute(comment)
            database.execute("COMMIT")
            if all(names is None for names in wanted.values()):
                database.execute(views_script(wanted))
            for table, batch in inputs.batches(wanted):
                database.register("batch", batch)
                database.execute(f"INSERT INTO {table} FROM batch")
                rows[table] += batch.num_rows
            database.execute("USE memory; DETACH made")
            log.unlink(missing_ok=True)
        except duckdb.Error as error:
            reason, _, _ = str(error).partition("\n")  # the rest is generated SQL
            raise OutputError(f"{path}: {reason}") from error
    return rows
