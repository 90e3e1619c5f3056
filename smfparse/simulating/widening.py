"""Expansion of short forms of a site: agents, cluster and model queues.

An agent becomes queues, and applications for its threads. Messages for a cluster queue go to the
transmission queues to its instances. Each task that opens a model queue gets its own dynamic queue.
The result contains only local queues and applications.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from smfparse.errors import RequestError
from smfparse.simulating.declaration import Agent

Tables = dict[str, dict[str, Any]]
"""TOML tables by name."""

_AGENT_QUEUES = ("COMMAND", "DATA", "REPLY", "STATE", "EVENT")
_REPLY_EVERY, _STATE_EVERY = 10, 50
"""Number of data messages per acknowledgement, and per save of the agent's state."""
_REPLY_BYTES, _STATE_BYTES, _COMMAND_BYTES = 1024, 8192, 2000
_MADE_AT, _MADE_APART = 0xE24CCAF4B4E5A000, 0x1357


def of_agents(agents: tuple[Agent, ...]) -> tuple[Tables, Tables]:
    """Return the queues of agents, and the applications that represent the agents' threads."""
    queues: Tables = {}
    applications: Tables = {}
    for each in agents:
        for role in _AGENT_QUEUES:
            page_set = each.data_page_set if role == "DATA" else each.page_set
            more = {"index": "correlid"} if role == "REPLY" else {}
            own = {"queue_manager": each.queue_manager, "page_set": page_set, **more}
            queues[_agent_queue(role, each.name)] = own
        own = {"queue_manager": each.queue_manager, "kind": "rrs", "job": each.job or each.name}
        own |= {"user": each.user, "persistent": False}
        senders = [other for other in agents if other.sends_to == each.name]
        for thread, thread_table in _threads(each, senders):
            applications[f"{each.name}.{thread}"] = own | thread_table
    return queues, applications


def _agent_queue(role: str, agent: str) -> str:
    return f"SYSTEM.FTE.{role}.{agent}"


def _threads(agent: Agent, senders: list[Agent]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the names and tables of the applications for an agent's threads.

    senders  agents that send files to this agent
    """
    commands, events = (_agent_queue(role, agent.name) for role in ("COMMAND", "EVENT"))
    does = {"get": [commands], "put": {events: 2}, "size": _COMMAND_BYTES}
    yield "COMMAND", does | {"persistent": True, "think": 9000.0}
    if agent.sends_to:
        yield from _sending(agent)
    if senders:
        yield from _receiving(agent, senders)


def _sending(agent: Agent) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the applications for the threads that send data, get replies, and save the state."""
    timed = {"curve": agent.curve, "window": agent.window}
    does = {"tasks": agent.transfers, "rate": agent.rate, "commit": _REPLY_EVERY, "think": 4000.0}
    put = {_agent_queue("DATA", agent.sends_to): 1}
    yield "SEND", timed | does | {"put": put, "size": agent.chunk}
    replies = _agent_queue("REPLY", agent.name)
    yield "REPLY", {"get": [replies], "size": _REPLY_BYTES, "by_id": True}
    yield from _saving(agent, agent.rate, timed)


def _receiving(agent: Agent, senders: list[Agent]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the applications for the threads that get data, send replies, and save the state."""
    whole = sum(each.rate for each in senders) or 1.0
    put = {_agent_queue("REPLY", each.name): each.rate / whole / _REPLY_EVERY for each in senders}
    does = {"tasks": agent.transfers, "get": [_agent_queue("DATA", agent.name)], "put": put}
    yield "RECEIVE", does | {"size": _REPLY_BYTES, "commit": _REPLY_EVERY, "think": 5000.0}
    yield from _saving(agent, whole, {"curve": senders[0].curve, "window": senders[0].window})


def _saving(
    agent: Agent, rate: float, timed: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the applications for the threads that save the state, and get the previous state."""
    state = _agent_queue("STATE", agent.name)
    yield "SAVE", timed | {"rate": rate / _STATE_EVERY, "put": {state: 1}, "size": _STATE_BYTES}
    yield "STATE", {"get": [state], "size": _STATE_BYTES}


def plain_queues(queues: Tables, applications: Tables) -> tuple[Tables, Tables]:
    """Return queues and applications without cluster and model queues."""
    clusters = {name: each["cluster"] for name, each in queues.items() if each.get("cluster")}
    models = {name: each for name, each in queues.items() if each.get("model")}
    kept = {name: each for name, each in queues.items() if name not in {*clusters, *models}}
    found = {name: _through(name, each, clusters) for name, each in applications.items()}
    for name, each in models.items():
        made, found = _modelled(name, each, found)
        kept |= made
    return kept, found


def _through(
    name: str, application: dict[str, Any], clusters: Mapping[str, Mapping[str, float]]
) -> dict[str, Any]:
    """Return an application that puts to transmission queues in place of cluster queues."""
    if wrong := [each for each in application.get("get", ()) if each in clusters]:
        raise RequestError(
            f"application {name}: {wrong[0]} is a cluster queue, and gets from it are not possible"
        )
    put: dict[str, float] = {}
    opens = dict(application.get("opens", {}))
    for queue, share in application.get("put", {}).items():
        for target, part in clusters.get(queue, {queue: 1}).items():
            if target in put:
                raise RequestError(f"application {name} puts to {target} under two names")
            put[target] = share * part
            if queue in clusters:
                opens[target] = queue
    return {**application, "put": put, "opens": opens}


def _modelled(model: str, queue: dict[str, Any], applications: Tables) -> tuple[Tables, Tables]:
    """Return a dynamic queue for each task that opens a model queue, and the changed applications.

    Each such task becomes an application. Applications that put to the model queue divide their
    messages among the dynamic queues.
    """
    users = [name for name, each in applications.items() if model in each.get("get", ())]
    if len(users) != 1:
        raise RequestError(
            f"queue {model}: {len(users)} applications get from this model queue; exactly one must"
        )
    (user,) = users
    opener = applications[user]
    if opener.get("stays") or len(opener["get"]) > 1:
        raise RequestError(
            f"application {user}: a user of model queue {model} must stay connected (stays = 0), "
            "and get from no other queue"
        )
    tasks = opener.get("tasks", 1)
    names = [f"{queue['model']}{_MADE_AT + _MADE_APART * each:016X}" for each in range(tasks)]
    found: Tables = {}
    for name, each in applications.items():
        if name == user:
            rate = {"rate": opener["rate"] / tasks} if "rate" in opener else {}
            for nth, own in enumerate(names, 1):
                opens = opener["opens"] | {own: model}
                found[f"{user}.{nth}"] = {
                    **opener,
                    **rate,
                    "tasks": 1,
                    "get": [own],
                    "opens": opens,
                }
            continue
        put = dict(each["put"])
        share = put.pop(model, 0) / tasks
        found[name] = {**each, "put": {**put, **(dict.fromkeys(names, share) if share else {})}}
    return dict.fromkeys(names, queue), found
