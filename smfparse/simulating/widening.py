"""Expansion of short forms of a site: agents, cluster and model queues.

Agents become their queues and the applications that are their threads. What is put to a cluster
queue goes to the transmission queues that lead to its instances. Each task that opens a model queue
has a queue of its own. What is left is queues and applications alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smfparse.errors import RequestError
from smfparse.simulating.declaration import Agent

Tables = dict[str, dict[str, Any]]
"""Tables of TOML by name."""

_AGENT_QUEUES = ("COMMAND", "DATA", "REPLY", "STATE", "EVENT")
_REPLY_EVERY, _STATE_EVERY = 10, 50
"""Data messages for which an agent sends an acknowledgement, and saves its state."""
_REPLY_BYTES, _STATE_BYTES, _COMMAND_BYTES = 1024, 8192, 2000
_MADE_AT, _MADE_APART = 0xE24CCAF4B4E5A000, 0x1357


def of_agents(agents: tuple[Agent, ...]) -> tuple[Tables, Tables]:
    """Return the queues and the applications of agents."""
    queues: Tables = {}
    applications: Tables = {}
    receives = {each.sends_to for each in agents}
    for each in agents:
        queues |= _agent_queues(each)
        applications |= {f"{each.name}.COMMAND": _commands(each)}
        if each.sends_to:
            applications |= _sending(each)
        if each.name in receives:
            senders = [other for other in agents if other.sends_to == each.name]
            applications |= _receiving(each, senders)
    return queues, applications


def _agent_queues(agent: Agent) -> Tables:
    found = {}
    for role in _AGENT_QUEUES:
        page_set = agent.data_page_set if role == "DATA" else agent.page_set
        found[f"SYSTEM.FTE.{role}.{agent.name}"] = {
            "queue_manager": agent.queue_manager,
            "page_set": page_set,
            **({"index": "correlid"} if role == "REPLY" else {}),
        }
    return found


def _thread(agent: Agent, **more: Any) -> dict[str, Any]:
    """Return an application that is a thread of an agent."""
    own = {"queue_manager": agent.queue_manager, "kind": "rrs", "job": agent.job or agent.name}
    return {**own, "user": agent.user, "persistent": False, **more}


def _commands(agent: Agent) -> dict[str, Any]:
    return _thread(
        agent,
        get=[f"SYSTEM.FTE.COMMAND.{agent.name}"],
        put={f"SYSTEM.FTE.EVENT.{agent.name}": 2},
        size=_COMMAND_BYTES,
        persistent=True,
        think=9000.0,
    )


def _timed(agent: Agent) -> dict[str, Any]:
    return {"curve": agent.curve, "window": agent.window}


def _sending(agent: Agent) -> Tables:
    """Return the threads that send data, and take what comes back."""
    return {
        f"{agent.name}.SEND": _thread(
            agent,
            **_timed(agent),
            tasks=agent.transfers,
            rate=agent.rate,
            put={f"SYSTEM.FTE.DATA.{agent.sends_to}": 1},
            size=agent.chunk,
            commit=_REPLY_EVERY,
            think=4000.0,
        ),
        f"{agent.name}.REPLY": _thread(
            agent, get=[f"SYSTEM.FTE.REPLY.{agent.name}"], size=_REPLY_BYTES, by_id=True
        ),
        **_saving(agent, agent.rate, _timed(agent)),
    }


def _receiving(agent: Agent, senders: list[Agent]) -> Tables:
    """Return the threads that write the data, and acknowledge it: to each sender its part."""
    whole = sum(each.rate for each in senders) or 1.0
    shares = {f"SYSTEM.FTE.REPLY.{each.name}": each.rate / whole / _REPLY_EVERY for each in senders}
    return {
        f"{agent.name}.RECEIVE": _thread(
            agent,
            tasks=agent.transfers,
            get=[f"SYSTEM.FTE.DATA.{agent.name}"],
            put=shares,
            size=_REPLY_BYTES,
            commit=_REPLY_EVERY,
            think=5000.0,
        ),
        **_saving(agent, whole, _timed(senders[0])),
    }


def _saving(agent: Agent, rate: float, timed: Mapping[str, Any]) -> Tables:
    """Return the threads that save the state of transfers, and take the one before."""
    state = f"SYSTEM.FTE.STATE.{agent.name}"
    return {
        f"{agent.name}.SAVE": _thread(
            agent, **timed, rate=rate / _STATE_EVERY, put={state: 1}, size=_STATE_BYTES
        ),
        f"{agent.name}.STATE": _thread(agent, get=[state], size=_STATE_BYTES),
    }


def plain_queues(queues: Tables, applications: Tables) -> tuple[Tables, Tables]:
    """Return queues without cluster and model queues, and the applications that used these."""
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
    """Return an application that puts to transmission queues what was for cluster queues."""
    if wrong := [each for each in application.get("get", ()) if each in clusters]:
        raise RequestError(
            f"application {name}: {wrong[0]} is a cluster queue: it can only be put to"
        )
    put: dict[str, float] = {}
    opens = dict(application.get("opens", {}))
    for queue, share in application.get("put", {}).items():
        for target, part in clusters.get(queue, {queue: 1}).items():
            if target in put:
                raise RequestError(f"application {name} puts to {target} by two names")
            put[target] = share * part
            if queue in clusters:
                opens[target] = queue
    return {**application, "put": put, "opens": opens}


def _modelled(model: str, queue: dict[str, Any], applications: Tables) -> tuple[Tables, Tables]:
    """Return a queue for each task that opens a model queue, and all applications as they are now.

    The task is an application of its own; those who put share their messages among the queues.
    """
    users = [name for name, each in applications.items() if model in each.get("get", ())]
    if len(users) != 1:
        raise RequestError(f"queue {model}: {len(users)} applications get from the model, not one")
    (user,) = users
    asker = applications[user]
    if asker.get("stays") or len(asker["get"]) > 1:
        raise RequestError(
            f"application {user}: who opens {model} stays connected, and gets from it alone"
        )
    tasks = asker.get("tasks", 1)
    names = [f"{queue['model']}{_MADE_AT + _MADE_APART * each:016X}" for each in range(tasks)]
    found: Tables = {}
    for name, each in applications.items():
        if name == user:
            found |= {
                f"{user}.{nth + 1}": _asker(asker, model, own, tasks)
                for nth, own in enumerate(names)
            }
            continue
        put = dict(each["put"])
        share = put.pop(model, 0) / tasks
        found[name] = {**each, "put": {**put, **(dict.fromkeys(names, share) if share else {})}}
    return dict.fromkeys(names, queue), found


def _asker(asker: dict[str, Any], model: str, own: str, tasks: int) -> dict[str, Any]:
    """Return the task of an application that made a queue after a model."""
    rate = {"rate": asker["rate"] / tasks} if "rate" in asker else {}
    return {**asker, **rate, "tasks": 1, "get": [own], "opens": {**asker["opens"], own: model}}
