"""What a page says of queue-sharing groups: a tile for each part, of all members together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smfparse.dashboard.declaration import Part, parts
from smfparse.dashboard.gathering import Day, Gathered
from smfparse.dashboard.managers import CLEAR, NO_DATA, Verdict, tile, verdict
from smfparse.rendering import escaped


def group_lines(found: Gathered) -> Iterator[str]:
    """Yield a section for each group that a queue manager says it is a member of."""
    groups: dict[str, list[tuple[int, Day]]] = {}
    for number, day in enumerate(found.days):
        if day.group:
            groups.setdefault(day.group, []).append((number, day))
    for name, members in sorted(groups.items()):
        names = ", ".join(f"<bdi>{escaped(day.times.qmgr)}</bdi>" for _, day in members)
        yield f'<section class="group"><h2>Queue-sharing group <bdi>{escaped(name)}</bdi></h2>'
        yield f"<p>{names}</p>"
        yield '<ul class="tiles">'
        yield from (_tile(part, members) for part in parts().values())
        yield "</ul></section>"


def _tile(part: Part, members: Sequence[tuple[int, Day]]) -> str:
    """Return the tile of a part: the worst of what is said of the members."""
    several = [(verdict(part, day), number, day.times.qmgr) for number, day in members]
    worst, number, name = min(several, key=lambda each: (each[0].order, each[1]))
    return tile(part, number, worst._replace(more=_more(worst, name, several)))


def _more(worst: Verdict, name: str, several: Sequence[tuple[Verdict, int, str]]) -> str:
    """Return what a tile says besides: whose finding it is, or of whom there is no data."""
    if worst.order < CLEAR:
        return f"{name}: {worst.more}"
    if worst.order == NO_DATA:
        return worst.more
    unknown = [each for found, _, each in several if found.order == NO_DATA]
    return f"no data of {', '.join(unknown)}" if unknown else ""
