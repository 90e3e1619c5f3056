"""The required shape of a manifest: the type of each value, and no path outside the folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, TypeAlias

from smfparse.store.hive import FOLDER
from smfparse.tables import table_names

Manifest: TypeAlias = dict[str, Any]
"""What `smfparse.json` holds: docs/dataset.md."""
EXACT, SIGNED = "exact", "signed"
TYPES = (EXACT, SIGNED)
"""Types of the numbers of a dataset: as they are, or those that every engine has."""

_ROWS = re.compile(rf"(?P<table>\w+)/{FOLDER}part-\d{{1,9}}(-\d{{1,9}})?\.parquet", re.ASCII)
_RUN = re.compile(r"\.records/part-\d{1,9}\.bin", re.ASCII)
_PART = re.compile(r"\.manifest/(part|index)-\d{1,9}\.json", re.ASCII)
_KEYS = re.compile(r"\.manifest/keys-\d{1,9}\.bin", re.ASCII)
"""Paths that files of a dataset can have, and no others: none leads out of it."""
_MOST_NESTED = 50
"""Datasets that were made of datasets, and so on: more often than anybody does that."""
_Shape: TypeAlias = Mapping[str, type | UnionType]
PART_KEYS: _Shape = {
    "inputs": list,
    "files": dict,
    "checksums": dict,
    "rows": dict,
    "records": dict | None,
    "record_days": dict,
}
"""What is said of the files that were added together."""
_SHAPE: _Shape = {
    **PART_KEYS,
    "smfparse": str,
    "selection": str | None,
    "partitioned": bool,
    "types": str,
    "tables": dict,
    "duplicates": int,
    "unknown_bytes": dict,
    "damage_count": int,
    "fingerprints": bool,
    "earlier": list,
    "keys": dict,
    "next": int,
}
"""What a manifest has besides its format."""
_EARLIER: _Shape = {
    "name": str,
    "sha256": str,
    "files": int,
    "days": list,
    "record_days": list | None,
    "damaged": bool,
    "level": int,
}
_FILE: _Shape = {"name": str, "bytes": int, "identity": str}
_DATASET: _Shape = {"name": str, "inputs": list}


def is_sound(found: Manifest) -> bool:
    """Whether a manifest has everything, each of its type, and names no file twice."""
    return (
        _has(found, _SHAPE)
        and found["types"] in TYPES
        and _has(found["tables"], dict.fromkeys(table_names(), int))
        and _has(found["files"], dict.fromkeys(table_names(), list))
        and _has(found["unknown_bytes"], dict.fromkeys(found["unknown_bytes"], int))
        and _names_files(found)
        and all(map(_is_earlier, found["earlier"]))
        and _has(found["keys"], dict.fromkeys(found["keys"], int))
        and all(map(_KEYS.fullmatch, found["keys"]))
    )


def is_part(found: Any) -> bool:
    """Whether an earlier part of a manifest has everything, each of its type."""
    return _has(found, PART_KEYS) and _names_files(found)


def is_index(found: Any) -> bool:
    """Whether this lists parts of a manifest, each of them soundly."""
    return _has(found, {"parts": list}) and all(map(_is_earlier, found["parts"]))


def own_files(manifest: Manifest) -> Iterator[str]:
    """Yield the paths of the files with rows and fingerprints that a manifest or a part names."""
    for names in manifest["files"].values():
        yield from names
    yield from manifest["records"] or ()


def _names_files(found: Manifest) -> bool:
    """Whether what is said of inputs and files is sound."""
    return (
        _has(found["files"], dict.fromkeys(found["files"], list))
        and _has(found["records"] or {}, dict.fromkeys(found["records"] or (), int))
        and all(_is_file(table, each) for table, names in found["files"].items() for each in names)
        and all(map(_RUN.fullmatch, found["records"] or ()))
        and _has(found["checksums"], dict.fromkeys(found["checksums"], str))
        and all(map(_is_count, found["rows"].values()))
        and found["rows"].keys() >= {each for names in found["files"].values() for each in names}
        and found["checksums"].keys() >= {*own_files(found)}
        and _has(found["record_days"], dict.fromkeys(found["record_days"], dict))
        and all(_has(each, dict.fromkeys(each, int)) for each in found["record_days"].values())
        and not any(count > 1 for count in Counter(own_files(found)).values())
        and all(map(_is_input, found["inputs"]))
    )


def _has(found: Any, shape: _Shape) -> bool:
    return isinstance(found, dict) and all(
        name in found and isinstance(found[name], kind) for name, kind in shape.items()
    )


def is_own_file(name: str) -> bool:
    """Return whether a path in the folder of a dataset is that of a file that it has."""
    table, _, _ = name.partition("/")
    others = (each.fullmatch(name) for each in (_RUN, _PART, _KEYS))
    return (table in table_names() and _is_file(table, name)) or any(others)


def _is_file(table: str, found: Any) -> bool:
    path = _ROWS.fullmatch(found) if isinstance(found, str) else None
    return path is not None and path["table"] == table


def _is_count(found: Any) -> bool:
    """Whether this says how many rows a file has, and of which days."""
    kinds = [type(each) for each in found] if isinstance(found, list) else []
    return kinds in ([int], [int, str, str])


def _is_earlier(found: Any) -> bool:
    """Whether this names an earlier part of a manifest, and the days it is about."""
    if not _has(found, _EARLIER) or not _PART.fullmatch(found["name"]):
        return False
    spans = [found[each] for each in ("days", "record_days") if found[each] is not None]
    return all([type(day) for day in span] in ([], [str, str]) for span in spans)


def _is_input(found: Any, nested: int = 0) -> bool:
    if nested == _MOST_NESTED or not _has(found, {"name": str}):
        return False
    if "inputs" not in found:
        return _has(found, _FILE)
    return _has(found, _DATASET) and all(_is_input(each, nested + 1) for each in found["inputs"])
