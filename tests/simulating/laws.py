"""What has to be true of every simulated site: the same flows, seen by one record and by another.

The arithmetic here is its own: it knows what was declared, and nothing of how it was simulated.
"""

from __future__ import annotations

from pathlib import Path

from tests.simulating.simulated import Day

_WAITS = 0.3
"""How much longer calls last than their processor time and their waits: for the processor."""
_COMPARED, *_QUERIES = Path(__file__).with_suffix(".sql").read_text("utf-8").split("-- law: ")
LAWS = {
    f"a {verb} lasts as long as its work and its waits": f"""
        SELECT basename, {verb}n, {verb}et, {verb}ct, {waits} FROM wqst
        WHERE {verb}et < {verb}ct + {waits} - 1
            OR {verb}et > {verb}ct * (1 + {_WAITS}) + {waits} + {verb}n::DOUBLE * 400
    """
    for verb, waits in {
        "put": "putjwet + putsuset + putpset",
        "put1": "put1jwet + put1suset + put1pset",
        "get": "getjwet + getsuset",
    }.items()
}
for name, _, query in (each.partition("\n") for each in _QUERIES):
    LAWS[name] = f"{_COMPARED} {query}" if "compared" in query else query


def broken(day: Day) -> list[str]:
    return [name for name, query in LAWS.items() if day.rows(query)]
