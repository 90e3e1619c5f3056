"""What is changed, and which tests have to notice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutation.mutant import Mutant, language_of, mutants_of
from mutation.python import changes_of_python
from mutation.sql import changes_of_sql

FACE = "__init__.py"


@dataclass(frozen=True)
class Room:
    """Sources, and the tests that are to notice a change of them."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "reports": Room(
        (
            "smfparse/reports/definitions/*.sql",
            "smfparse/reports/macros.sql",
            "smfparse/reports/sections.py",
        ),
        ("tests/reports",),
    ),
    "calendar": Room(
        ("smfparse/calendar/*.py", "smfparse/calendar/*.sql"),
        ("tests/calendar", "tests/laws", "tests/summarizing"),
    ),
    "views": Room(
        ("smfparse/metrics/definitions/*.sql", "smfparse/metrics/subjects/*.sql"),
        ("tests/tables", "tests/reports", "tests/metrics"),
    ),
    "comparing": Room(
        ("smfparse/comparing/compare.sql",), ("tests/comparing", "tests/cli/test_compare.py")
    ),
    "advice": Room(
        ("smfparse/advice/*.py", "smfparse/advice/definitions/*.sql"), ("tests/advice",)
    ),
    "planning": Room(("smfparse/planning/*.py",), ("tests/planning", "tests/cli/test_capacity.py")),
    "capacity": Room(
        ("smfparse/capacity/*.py", "smfparse/capacity/definitions/*.sql"),
        ("tests/capacity", "tests/cli/test_capacity.py"),
    ),
    "decoding": Room(("smfparse/decoding/*.py",), ("tests/decoding",)),
    "selecting": Room(("smfparse/selecting/*.py",), ("tests/selecting",)),
    "inputs": Room(("smfparse/inputs/*.py",), ("tests/inputs",)),
    "reading": Room(("smfparse/reading/*.py",), ("tests/reading",)),
}


def files(project: Path, room: str) -> list[str]:
    """Return the sources of a room, but for the faces of packages."""
    return sorted(
        path.relative_to(project).as_posix()
        for pattern in ROOMS[room].sources
        for path in project.glob(pattern)
        if path.name != FACE
    )


def mutants(project: Path, room: str) -> Iterator[Mutant]:
    """Yield every mutant of a room."""
    for path in files(project, room):
        source = (project / path).read_bytes()
        if language_of(path) == "sql":
            changes = changes_of_sql(source.decode())
        else:
            changes = changes_of_python(source)
        yield from mutants_of(path, source, changes)
