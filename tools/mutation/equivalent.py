"""Mutants that no test can notice, with the reasons: `equivalent.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from mutation.mutant import Mutant

LIST = Path(__file__).with_name("equivalent.toml")
_KEY = ("path", "text", "before", "after")


class OutdatedError(Exception):
    """An entry names a mutant that is not there any more, or gives no reason."""


def equivalent(mutants: Iterable[Mutant], path: Path = LIST) -> Mapping[Mutant, str]:
    """Return the mutants that the list names, with the reasons. Raises OutdatedError."""
    there = {each.key: each for each in mutants}
    found = {}
    for entry in tomllib.loads(path.read_text("utf-8")).get("mutant", []):
        key = (*(entry[each] for each in _KEY), entry.get("number", 1))
        if key not in there:
            raise OutdatedError(f"{path.name}: no mutant {key}; remove the entry or correct it")
        if not entry["reason"].strip():
            raise OutdatedError(f"{path.name}: {there[key]} has no reason")
        found[there[key]] = entry["reason"]
    return found
