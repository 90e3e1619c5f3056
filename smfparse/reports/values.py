"""Values of options in the SQL of reports, as literals.

DuckDB plans a query with `getvariable` each time that it is explained or run, and to plan a report
takes longer than to run it over small files; one with literals it plans once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from smfparse.metrics import quoted

_VARIABLE = re.compile(r"getvariable\('(\w+)'\)")


def with_values(sql: str, values: Mapping[str, Any]) -> str:
    """Return SQL with the value of each `getvariable` that `values` has in its place."""

    def literal(found: re.Match[str]) -> str:
        name = found[1]
        return _literal(values[name]) if name in values else found[0]

    return _VARIABLE.sub(literal, sql)


def _literal(value: Any) -> str:
    """Return None, a number, text, or a list or dict of such, as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{quoted(name)}: {_literal(of)}' for name, of in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return str(value)
