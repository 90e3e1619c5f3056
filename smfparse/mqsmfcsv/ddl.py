"""The tables of files in Db2, as mq-smf-csv declares them."""

from __future__ import annotations

from collections.abc import Iterable

from smfparse.mqsmfcsv.declared import Sheet
from smfparse.mqsmfcsv.lines import all_pieces
from smfparse.mqsmfcsv.styles import Style

DDL_FILE = "MQTABLES.ddl"
_SCHEMA = "MQSMF"


def ddl(found: Iterable[Sheet], style: Style) -> str:
    """Return the statements that make the tables of files anew."""
    return "\n".join(_table(each, style) for each in found)


def _table(sheet: Sheet, style: Style) -> str:
    name = f"{_SCHEMA}.{sheet.name}"
    columns = "\n, ".join(f"{each.name} {each.type}" for each in all_pieces(sheet, style))
    indices = "".join(f"CREATE INDEX {each} ON {name}({each});\n" for each in sheet.index)
    return f"DROP TABLE {name};\nCREATE TABLE {name} (\n  {columns}\n);\n{indices}"
