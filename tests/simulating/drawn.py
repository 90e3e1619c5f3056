"""Sites as hypothesis draws them: chains of queues, with incidents."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

KINDS = ("cics", "batch", "ims", "rrs")
INCIDENTS = ("log-slow", "backlog", "surge", "poison", "restart", "smf-loss")
FLAT = {"points": [[0, 1.0]]}


def _putter(draw: st.DrawFn, queue: str) -> dict[str, Any]:
    put = {queue: draw(st.sampled_from([0.3, 1, 2]))}
    found = _worker(draw) | {"rate": draw(st.floats(0.01, 60)), "put": put}
    return found | {"put1": draw(st.booleans()), "stays": draw(st.sampled_from([0, 0, 2000]))}


def _worker(draw: st.DrawFn) -> dict[str, Any]:
    job = draw(st.sampled_from(["JOBA", "JOBB", "JOBC"]))
    found: dict[str, Any] = {"queue_manager": "QM01", "curve": "flat", "job": job}
    found |= {"kind": draw(st.sampled_from(KINDS)), "tasks": draw(st.integers(1, 4))}
    found |= {"size": draw(st.integers(1, 3000)), "persistent": draw(st.booleans())}
    found |= {"commit": draw(st.sampled_from([0, 1, 10])), "think": draw(st.floats(50, 90_000))}
    found["reopen"] = draw(st.sampled_from([0.0, 0.1, 1.0]))
    return found | {"window": draw(st.sampled_from(["", "", "03:10-15:40"]))}


def _queues(draw: st.DrawFn, chain: int) -> dict[str, Any]:
    """Return the queues of a chain: shared, or on a page set; messages may expire, or be copied."""
    names = [f"Q{chain}.{step}" for step in range(draw(st.integers(1, 3)))]
    shared = {"structure": "APP1"} if draw(st.booleans()) else {"page_set": chain % 2}
    queues: dict[str, Any] = {name: {"queue_manager": "QM01", **shared} for name in names}
    if draw(st.booleans()):
        queues[names[-1]]["stream"] = f"COPY{chain}"
        queues[f"COPY{chain}"] = {"queue_manager": "QM01", "page_set": 1, "expiry": 7200}
    return queues


def _log(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "copies": draw(st.sampled_from([1, 2, 2])),
        "stripes": draw(st.sampled_from([1, 1, 4])),
        "zhyperwrite": draw(st.sampled_from(["none", "capable", "enabled"])),
        "pages": draw(st.sampled_from([20_000, 1_000_000])),
    }


def _asking(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return requesters that open a model queue, and a server of a cluster queue."""
    queues = {
        "ASK": {"queue_manager": "QM01", "page_set": 1},
        "ASK.ALL": {"queue_manager": "QM01", "cluster": {"ASK": 1.0}},
        "ANSWER": {"queue_manager": "QM01", "page_set": 0, "model": "ANSWER."},
    }
    asks = {"rate": draw(st.floats(0.1, 40)), "put": {"ASK.ALL": 1}, "get": ["ANSWER"]}
    applications = {
        "ASKER": {**_worker(draw), **asks, "by_id": True},
        "SERVER": {**_worker(draw), "get": ["ASK"], "put": {"ANSWER": 1}},
    }
    return queues, applications


@st.composite
def sites(draw: st.DrawFn) -> dict[str, Any]:
    """Return the declaration of a site: some chains of queues, each with a putter at its start."""
    queues: dict[str, Any] = {}
    applications: dict[str, Any] = {}
    for chain in range(draw(st.integers(1, 4))):
        mine = _queues(draw, chain)
        names = [name for name in mine if name.startswith("Q")]
        queues |= mine
        applications[f"PUT{chain}"] = _putter(draw, names[0])
        for name, behind in zip(names, [*names[1:], None], strict=True):
            put = {} if behind is None else {"put": {behind: 1}}
            applications[f"GET{name}"] = {**_worker(draw), "get": [name], **put}
    if draw(st.booleans()):
        more_queues, more = _asking(draw)
        queues, applications = queues | more_queues, applications | more
    pools = {"0": {"buffers": draw(st.integers(500, 20_000))}, "1": {}}
    slow = {"io": draw(st.sampled_from([400.0, 30_000.0, 400_000.0]))}
    page_sets = {"0": {"pool": 0, "pages": 5000, **slow}, "1": {"pool": 1, "pages": 20_000}}
    incidents = [
        {"kind": kind, "at": "10:00", "length": draw(st.sampled_from(["20m", "3h"]))}
        for kind in draw(st.lists(st.sampled_from(INCIDENTS), max_size=2, unique=True))
    ]
    acctime = draw(st.sampled_from(["", "4h"]))
    return {
        "site": {"interval": "2h", "group": "QSG1", "acctime": acctime},
        "curves": {"flat": FLAT},
        "queue_managers": {"QM01": {"log": _log(draw), "pools": pools, "page_sets": page_sets}},
        "queues": queues,
        "applications": applications,
        "incidents": incidents,
    }
