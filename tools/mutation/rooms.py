"""What is changed, and which tests have to notice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mutation.mutant import Mutant, language_of, mutants_of
from mutation.python import changes_of_python
from mutation.sql import changes_of_sql


class Room(NamedTuple):
    """Sources, and the tests that are to notice a change of them."""

    sources: Sequence[str]
    tests: Sequence[str]


def _room(sources: str, tests: str) -> Room:
    """Return a room of patterns below smfparse/, and of folders and files below tests/."""
    return Room(
        [f"smfparse/{each}" for each in sources.split()],
        [f"tests/{each}" for each in tests.split()],
    )


ROOMS = {
    "reports": _room("reports/definitions/*.sql reports/macros.sql reports/sections.py", "reports"),
    "calendar": _room("metrics/calendar.py metrics/*.sql", "metrics laws summarizing"),
    "views": _room("metrics/definitions/*.sql metrics/subjects/*.sql", "reports metrics"),
    "comparing": _room("summarizing/definitions/compare.sql", "summarizing cli/test_compare.py"),
    "advice": _room("advice/*.py advice/definitions/*.sql", "advice"),
    "planning": _room(
        "planning/*.py planning/definitions/*.sql",
        "planning cli/test_capacity.py reports/test_goldens.py",
    ),
    **{each: _room(f"{each}/*.py", each) for each in ("decoding", "inputs", "reading")},
}


def files(project: Path, room: str) -> list[str]:
    """Return the sources of a room."""
    return sorted(
        path.relative_to(project).as_posix()
        for pattern in ROOMS[room].sources
        for path in project.glob(pattern)
    )


def mutants(project: Path, room: str) -> Iterator[Mutant]:
    """Yield every mutant of a room."""
    for path in files(project, room):
        source = (project / path).read_bytes()
        is_sql = language_of(path) == "sql"
        changes = changes_of_sql(source.decode()) if is_sql else changes_of_python(source)
        yield from mutants_of(path, source, changes)
