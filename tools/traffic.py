"""What reports say of a simulated day's traffic, compared with its answer key (`make score`).

Of each scenario that is about who talks to whom the report `flow` has to give the key's edges, with
its counts and rates, and `requests` its requesters and servers the right way round.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import smfparse
from smfparse.simulating.declaration import Estate
from smfparse.simulating.reading_toml import load_estate
from smfparse.simulating.run import AnswerKey, simulate

SCENARIOS = ("mft", "cluster", "clients", "reqrep", "shared", "channel-batch", "streaming")
_ROUNDED = 0.0011
"""How far apart two rates may be that both are rounded to three decimals."""
_DYNAMIC = re.compile(r"[0-9A-F]{16}$")
"""What a queue manager puts for the asterisk in the name of a dynamic queue."""
_ALIKE = 1.25
"""A request queue has at most so many times the messages of its reply queue."""

Edge: TypeAlias = tuple[str, str, str]
"""Who, `puts` or `gets`, and the queue."""


def day(scenario: str, seed: int, folder: Path, **changed: Any) -> tuple[Estate, Path]:
    """Make a day of a scenario; return its estate, and the file."""
    estate, path = load_estate(scenario, **changed), folder / f"{scenario}.smf"
    simulate(path, estate, seed)
    return estate, path


def troubles(scenario: str, seeds: range, folder: Path) -> Iterator[tuple[int, str]]:
    """Yield the seeds of a scenario with what its reports say wrongly; '': nothing."""
    for seed in seeds:
        estate, path = day(scenario, seed, folder)
        yield seed, ", ".join(wrong(estate, seed, path))
        path.unlink()


def wrong(estate: Estate, seed: int, path: Path) -> Iterator[str]:
    """Yield what reports say of a day and its answer key does not, or the other way round."""
    key = AnswerKey(estate, seed).edges()
    for row in key:
        row["queue"] = _DYNAMIC.sub("*", row["queue"])
    shown = {each.name: each.shown for each in estate.channels}
    users = {each.name: shown.get(each.channel, each.job) for each in estate.applications}
    data = smfparse.open(path)
    flow = data.report("flow").to_pylist()
    counts, rates = _summed(_told(key, users))
    found, found_rates = _summed(_found(flow))
    for edge in sorted(counts.keys() | found.keys()):
        if counts[edge] != found[edge]:
            yield f"{edge}: {found[edge]} instead of {counts[edge]}"
    for edge, rate in sorted(rates.items()):
        if abs(found_rates.get(edge, 0.0) - rate) > _ROUNDED:
            yield f"{edge}: {found_rates.get(edge)} a second instead of {rate}"
    pairs = {
        (row["requester"], row["request_queue"], row["server"], row["reply_queue"])
        for row in data.report("requests").to_pylist()
        if row["direction"] == "known"
    }
    for pair in sorted(pairs ^ set(_pairs(key, users))):
        yield f"{pair}: {'found' if pair in pairs else 'not found'}"


def _summed(edges: Iterable[tuple[Edge, int, float]]) -> tuple[Counter[Edge], dict[Edge, float]]:
    """Return the messages of each edge, and how many there are a second."""
    counts, rates = Counter[Edge](), defaultdict[Edge, float](float)
    for edge, messages, rate in edges:
        counts[edge] += messages
        rates[edge] += rate
    return counts, rates


def _told(key: list[dict[str, Any]], users: Mapping[str, str]) -> Iterator[tuple[Edge, int, float]]:
    """Yield the edges of a key, with messages, and how many there are a second."""
    for row in key:
        for which in ("puts", "gets"):
            if row[which]:
                edge = users[row["application"]], which, row["queue"]
                yield edge, row[which], row["per_second"]


def _found(flow: list[dict[str, Any]]) -> Iterator[tuple[Edge, int, float]]:
    """Yield the same of rows of the report `flow`, of edges from or to a queue."""
    for row in flow:
        if row["line"] != "edge":
            continue
        if row["to_kind"] == "queue":
            yield (row["from_name"], "puts", row["to_name"]), row["messages"], row["rate"]
        elif row["from_kind"] == "queue":
            yield (row["to_name"], "gets", row["from_name"]), row["messages"], row["rate"]


def _pairs(key: list[Any], users: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield requester, request queue, server and reply queue of a key, by their roles.

    Who gets one message for many that it puts gets no replies: file transfers do so.
    """
    ends = {
        (role, which): {row["queue"]: row for row in key if row["role"] == role and row[which]}
        for role in ("requester", "server")
        for which in ("puts", "gets")
    }
    served, answered = ends["server", "gets"], ends["server", "puts"]
    for request, asks in ends["requester", "puts"].items():
        for reply, takes in ends["requester", "gets"].items():
            if request in served and reply in answered and asks["puts"] < _ALIKE * takes["gets"]:
                rows = asks, served[request], takes, answered[reply]
                requester, server, *others = (users[each["application"]] for each in rows)
                if [requester, server] == others:
                    yield requester, request, server, reply
