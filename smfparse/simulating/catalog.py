"""The built-in scenarios and user sites: TOML files that can extend each other."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from smfparse.errors import RequestError
from smfparse.simulating.declaration import Estate
from smfparse.simulating.reading_toml import incident, read_estate, unknown

_FOLDER = Path(__file__).parent / "scenarios"


def scenario_names() -> tuple[str, ...]:
    """Return the names of all scenarios."""
    return tuple(sorted(each.stem for each in _FOLDER.glob("*.toml")))


def load_estate(name: str, incidents: Sequence[str] = (), **changes: Any) -> Estate:
    """Return the estate of a scenario, or of a file that ends in .toml.

    incidents  that happen as well: log-slow@14:20/30m
    changes    fields of the estate that are other than declared: start, days, interval,
               utc_offset, version, acctime

    Raises RequestError for a scenario that is not there, and for what cannot be.
    """
    estate = read_estate(Path(name).stem, _document(name))
    more = tuple(incident(each) for each in incidents)
    return replace(estate, incidents=estate.incidents + more, **changes)


def _document(name: str) -> dict[str, Any]:
    """Return a TOML document, with the scenario that it extends."""
    if name.endswith(".toml"):
        path = Path(name)
    elif name in scenario_names():
        path = _FOLDER / f"{name}.toml"
    else:
        raise unknown("scenario", name, scenario_names())
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RequestError(f"{path}: {error}") from error
    base = data.pop("extends", None)
    if base is None:
        return data
    if base not in scenario_names():
        raise unknown(f"{path}, extends", str(base), scenario_names())
    return _merged(_document(base), data)


def _merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Put what a document says over what another one says; tables are merged."""
    found = dict(base)
    for key, value in more.items():
        old = found.get(key)
        tables = isinstance(old, dict) and isinstance(value, dict)
        found[key] = _merged(found[key], value) if tables else value
    return found
