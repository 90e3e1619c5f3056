"""Inputs that many tests read and none changes: each is opened once a process.

site     three queue managers of three releases, small counts, ties, a gap, a restart
old      MQ 6 and 8
new      MQ 10
shared   two queue managers of a queue sharing group
traffic  requests and replies, agents of Managed File Transfer, a cluster
damaged  the fixture of MQ 9.3 with damage in it
dense    every counter, time and flag at random
days     days of several sites, with what is planted in them
real     the real SMF files, where they are
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smfparse.inputs.opening import open_inputs
from smfparse.query.catalog import Catalog
from smfparse.reports.sections import Sections
from tests.support.builders import put
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURES, SMF
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import rows_in
from tests.support.small_site import write_small_site
from tests.support.traffic import AGENTS, CLUSTER, PAIR


class Corpus:
    """One input of tests, with one catalog; read-only."""

    def __init__(self, name: str, paths: list[Path], catalog: Catalog) -> None:
        self.name, self.paths, self.catalog = name, paths, catalog

    def rows(self, report: str, sections: Sections | None = None, **asked: Any) -> list[Any]:
        """Return the rows of a report; without options it is about everybody.

        sections  None: those that the report declares
        """
        return rows_in(self.catalog, report, sections, **asked)

    def select(self, query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.catalog.arrow(query).to_pylist()
        return found


@contextmanager
def opened_corpus(name: str, *paths: Path) -> Iterator[Corpus]:
    with Catalog(open_inputs(paths)) as catalog:
        yield Corpus(name, list(paths), catalog)


class Corpora:
    """All corpora; a corpus is written and opened when a test asks for it first."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self._folder, self._opened = folder, opened
        self._known: dict[str, Corpus] = {}

    def __getitem__(self, name: str) -> Corpus:
        if name not in self._known:
            paths = WRITERS[name](self._folder)
            self._known[name] = self._opened.enter_context(opened_corpus(name, *paths))
        return self._known[name]


def _damaged(folder: Path) -> list[Path]:
    """A length in the middle is wrong, and the last record is cut."""
    path, data = folder / "damaged.smf", bytearray(SMF.read_bytes())
    at = 0
    while at < len(data) // 2:
        at += int.from_bytes(data[at : at + 2], "big")
    data[at : at + 2] = b"\x00\x03"
    path.write_bytes(data[:-100])
    return [path]


PLANTED = (
    *("archive-slow-single", "batch-by-turns", "clients-churn-beside-slow-log", "dead-letters"),
    *("consumer-away-shared", "hot-queue", "one-dispatcher-full-beside-stopped-consumer"),
    *("page-set-full-beside-slow-log", "poison-batch", "polling-tiny", "restart", "storage-leaks"),
)
"""Independent cases of advice, and healthy days, in intervals of half an hour."""


def _days(folder: Path) -> list[Path]:
    from tests.advice.independent.cases import cases, healthy

    known, path = {**cases(), **healthy()}, folder / "days.smf"
    chosen = [known.get(each) or known[f"healthy-{each}"] for each in PLANTED]
    halves = [replace(each, site=replace(each.site, minutes=30)) for each in chosen]
    return [put(path, *(each.data(number) for number, each in enumerate(halves)))]


WRITERS: dict[str, Callable[[Path], list[Path]]] = {
    "site": lambda folder: [write_small_site(folder / "site.smf")],
    "old": lambda folder: [FIXTURES / "qm60.smf", FIXTURES / "qm80.smf"],
    "new": lambda folder: [FIXTURES / "qm100.smf"],
    "shared": lambda folder: [FIXTURES / "qm02-shared.smf"],
    "traffic": lambda folder: [put(folder / "traffic.smf", *PAIR, *AGENTS, *CLUSTER)],
    "damaged": _damaged,
    "dense": lambda folder: [generate_dump(folder / "dense.smf", dense=True)],
    "days": _days,
    "real": lambda _: sorted(REAL_DATA.glob("*.dat") if REAL_DATA else []),
}


def of_corpora(*names: str) -> Any:
    """Parametrize a test with the fixture `corpus`: some of these, or all."""
    chosen = [
        pytest.param(each, marks=[needs_real_data] if each == "real" else [])
        for each in names or WRITERS
    ]
    return pytest.mark.parametrize("corpus", chosen, indirect=True)
