"""Change SQL and Python at random and see whether the tests notice (`make mutate`).

Each mutant is one small change, tried in a private copy of the project: the tests of its room run
until one fails. A seed always draws the same mutants from the same sources. Those that
mutation/equivalent.toml names are not drawn. The exit code is 1 if the tests notice less of the SQL
or of the Python than the share that is wanted.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from functools import cache
from itertools import chain
from pathlib import Path
from queue import SimpleQueue

import click
from mutation.equivalent import OutdatedError, equivalent
from mutation.mutant import Mutant, shuffled
from mutation.rooms import ROOMS, mutants
from mutation.trial import Copy, FailedError, Outcome, Recording

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ("sql", "python")


class House:
    """All mutants of the project."""

    def __init__(self, project: Path) -> None:
        self.room_of = {each: room for room in ROOMS for each in mutants(project, room)}
        self._equivalent = equivalent(self.room_of)

    def drawn(
        self, language: str, rooms: Sequence[str], paths: Sequence[str], seed: int
    ) -> list[Mutant]:
        """Return mutants of a language, rooms and patterns of paths, in the order of a seed."""
        chosen = (
            each
            for each, room in self.room_of.items()
            if each.language == language and each not in self._equivalent
            if not rooms or room in rooms
            if not paths or any(fnmatch(each.path, path) for path in paths)
        )
        return shuffled(chosen, seed)


class Judges:
    """Private copies in which mutants are tried, as many at once as there are copies.

    languages  of the mutants
    tests      of which those that run what is changed judge too; empty: those of the room alone
    """

    def __init__(
        self, house: House, copies: Sequence[Copy], languages: Sequence[str], tests: Sequence[str]
    ) -> None:
        self._house, self._copies, self._tests = house, copies, tests
        self._mutants = [each for each in house.room_of if each.language in languages]
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for each in copies:
            self._free.put(each)
        self._recording = cache(self._recorded)

    def outcomes(self, drawn: Sequence[Mutant]) -> Iterator[Outcome]:
        """Yield what becomes of mutants, in their order. Raises FailedError."""
        rooms = [ROOMS[self._house.room_of[each]] for each in drawn]
        recordings = [self._recording(tuple(self._tests or each.tests)) for each in rooms]
        with ThreadPoolExecutor(len(self._copies)) as pool:
            yield from pool.map(self._judged, drawn, recordings, (each.tests for each in rooms))

    def _recorded(self, tests: tuple[str, ...]) -> Recording:
        """Return what tests run when nothing is changed."""
        found = self._copies[0].record(tests, self._mutants)
        said = f"{len(found.seconds)} tests pass unchanged, in {sum(found.seconds.values()):.0f} s"
        click.echo(f"{' '.join(tests)}: {said}")
        for each in found.failed:
            click.echo(f"fails unchanged, so it judges nothing: {each}")
        return found

    def _judged(self, mutant: Mutant, recording: Recording, room: Sequence[str]) -> Outcome:
        copy = self._free.get()
        try:
            return copy.judge(mutant, recording, room)
        finally:
            self._free.put(copy)


def tried(judges: Judges, drawn: Sequence[Mutant], first: int, count: int) -> list[Outcome]:
    """Try and print so many mutants from place `first` on; others replace refused ones."""
    found: list[Outcome] = []
    while len(found) < count and first < len(drawn):
        batch = drawn[first : first + count - len(found)]
        for number, each in enumerate(judges.outcomes(batch), first + 1):
            show(number, each)
            found += [] if each.refused else [each]
        first += len(batch)
    return found


def show(number: int, outcome: Outcome) -> None:
    """Print what became of a mutant."""
    result = "refused" if outcome.refused else "caught" if outcome.by else "SURVIVED"
    click.echo(f"{number:4} {result:8} {outcome.seconds:4.0f} s  {outcome.mutant}")
    detail = f"by {outcome.by}" if outcome.by else f"in {outcome.mutant.text}"
    click.echo(f"{'':23}{detail}")


def enough(language: str, found: Sequence[Outcome], share: float) -> bool:
    """Print how many mutants were caught, and the survivors; return whether that is enough."""
    survivors = [f"     survived: {each.mutant}" for each in found if not each.by]
    caught = len(found) - len(survivors)
    click.echo("\n".join([f"{language}: {caught} of {len(found)} mutants caught", *survivors]))
    return caught >= share * len(found)


@click.command(help=__doc__)
@click.option("--seed", default=1, show_default=True, help="Draw the mutants of this seed.")
@click.option("--count", default=100, show_default=True, help="Try so many of each language.")
@click.option("--language", "languages", multiple=True, type=click.Choice(LANGUAGES))
@click.option("--room", "rooms", multiple=True, type=click.Choice([*ROOMS]))
@click.option("--path", "paths", multiple=True, help="Change only such files: '*/slots.py'.")
@click.option("--only", type=int, help="Try only the mutant with this number.")
@click.option("--tests", multiple=True, help="Judge by such tests too if they run the change.")
@click.option("--share", default=0.95, show_default=True, help="Share that has to be caught.")
@click.option("--workers", default=1, show_default=True, help="Try so many mutants at once.")
@click.option("--list", "listed", is_flag=True, help="Print the mutants and try none.")
def main(
    seed: int, count: int, only: int | None, share: float, workers: int, listed: bool,
    **chosen: Sequence[str],
) -> None:  # fmt: skip
    """Draw mutants, try them, and exit with 1 if too few are caught."""
    first, count = (only - 1, 1) if only else (0, count)
    try:
        house = House(ROOT)
        draws = {
            each: house.drawn(each, chosen["rooms"], chosen["paths"], seed)
            for each in chosen["languages"] or LANGUAGES
        }
        if listed:
            for number, each in chain(*(enumerate(drawn[:count], 1) for drawn in draws.values())):
                click.echo(f"{number:4} {each}")
            return
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            copies = [Copy(ROOT, Path(folder) / str(number)) for number in range(workers)]
            judges = Judges(house, copies, [*draws], chosen["tests"])
            found = {each: tried(judges, draws[each][:only], first, count) for each in draws}
        results = [enough(each, found[each], share) for each in found]
        sys.exit(0 if all(results) else 1)
    except (OutdatedError, FailedError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
