"""The declaration of a site: one class per kind of TOML table, one field per key.

Times of I/O, processing and the network are microseconds. Rates are per second, at the peak of the
curve. The command line always loads this module, so it imports no library.

Agents, cluster queues and model queues are short forms. An agent becomes queues, and applications
for its threads. Messages for a cluster queue go to transmission queues, one per cluster channel.
Each task that opens a model queue gets its own dynamic queue. The expanded site contains only local
queues and applications.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from smfparse.errors import RequestError

CHANNEL_TYPES: Mapping[str, int] = {
    "sender": 1,
    "receiver": 3,
    "server-connection": 7,
    "cluster-receiver": 8,
    "cluster-sender": 9,
}
APPLICATION_KINDS: Mapping[str, int] = {"cics": 1, "batch": 2, "ims": 4, "channel": 6, "rrs": 7}
"""Kinds of application by environment, and their codes in WTIDATYP."""
LOCAL_QUEUE, ALIAS, CLUSTER_QUEUE = 1, 3, 7
"""Types of opened queues, as in QTYPE."""
FORCED_TWICE = ("ims", "rrs")
"""Kinds of application whose units of work wait for the log twice: at prepare and at commit."""
ZHYPERWRITE = ("none", "capable", "enabled")
INDEXES: Mapping[str, int] = {"none": 0, "msgid": 1, "correlid": 2}


@dataclass(frozen=True)
class IncidentKind:
    """The kind of object that an incident affects, and the default of its factor."""

    affects: str
    factor: float


INCIDENTS: Mapping[str, IncidentKind] = {
    "log-slow": IncidentKind("queue manager", 8),
    "backlog": IncidentKind("consumer", 1),
    "surge": IncidentKind("application", 4),
    "poison": IncidentKind("queue", 3),
    "scan": IncidentKind("indexed queue", 0.02),
    "storm": IncidentKind("client", 2),
    "restart": IncidentKind("queue manager", 1),
    "smf-loss": IncidentKind("queue manager", 1),
    "network-slow": IncidentKind("sender channel", 40),
    "small-batch": IncidentKind("sender channel", 10),
    "cf-slow": IncidentKind("structure", 8),
    "storage-leak": IncidentKind("queue manager", 90),
    "streaming": IncidentKind("streaming queue", 1),
}


@dataclass(frozen=True)
class Pool:
    """A buffer pool."""

    number: int
    buffers: int = 50_000
    above: bool = True
    fixed: bool = True


@dataclass(frozen=True)
class PageSet:
    """A page set.

    pool   number of the buffer pool
    pages  number of pages of 4 KB
    io     time of an I/O request, without its pages
    page   additional time of each page in a request
    """

    number: int
    pool: int
    pages: int = 200_000
    io: float = 400.0
    page: float = 10.0


@dataclass(frozen=True)
class Log:
    """The log.

    io           time of a write, without its pages
    page         additional time of each page in a write
    load         log records per checkpoint (LOGLOAD)
    pages        number of pages of an active log
    copies       2: dual logging, 1: single logging
    stripes      number of volumes to which the pages of a write go at the same time
    zhyperwrite  zHyperWrite: "none", "capable" (mirrored volumes support it) or "enabled"
    """

    io: float = 240.0
    page: float = 10.0
    load: int = 500_000
    pages: int = 1_000_000
    copies: int = 2
    stripes: int = 1
    zhyperwrite: str = "none"


@dataclass(frozen=True)
class Mover:
    """The channel initiator (in MQ, the mover): its tasks and channel limits."""

    dispatchers: int = 5
    adapters: int = 8
    tls_tasks: int = 8
    max_channels: int = 200
    active_channels: int = 200
    tcp_channels: int = 200
    lu62_channels: int = 200
    megabytes: int = 120


@dataclass(frozen=True)
class QueueManager:
    """A queue manager."""

    name: str
    system: str
    log: Log
    mover: Mover
    pools: tuple[Pool, ...]
    page_sets: tuple[PageSet, ...]


@dataclass(frozen=True)
class Queue:
    """A queue: on a page set, or in a structure of the coupling facility.

    expiry   seconds after which a message expires; 0: never
    stream   name of the queue that gets a copy of every message; "": none
    wire     whether the object is not a queue, but the connection from a channel to its partner
    cluster  share of the messages by transmission queue, for a cluster queue
    model    prefix of the names of dynamic queues, for a model queue; "": not a model queue
    """

    name: str
    queue_manager: str
    page_set: int = 4
    structure: str = ""
    index: str = "none"
    expiry: int = 0
    stream: str = ""
    wire: bool = False
    cluster: Mapping[str, float] = field(default_factory=dict)
    model: str = ""


@dataclass(frozen=True)
class Channel:
    """A channel.

    network      round trip time
    message      time of the channel per message, without the network
    cipher       number of the TLS cipher specification; 0: no TLS
    compression  reduction of the bytes by compression, %
    rekey        bytes after which a new secret key is negotiated (SSLRKEYC); 0: never
    sharing      conversations per instance (SHARECNV)
    lu62         whether the channel uses LU 6.2: `connection` is the name of an LU
    called       name in records, which both ends of a channel share; "": `name`
    """

    name: str
    queue_manager: str
    type: str
    partner: str = ""
    connection: str = ""
    batch: int = 50
    network: float = 600.0
    message: float = 120.0
    cipher: int = 0
    compression: int = 0
    rekey: int = 0
    sharing: int = 1
    lu62: bool = False
    called: str = ""

    @property
    def shown(self) -> str:
        """Name of the channel in records."""
        return self.called or self.name


@dataclass(frozen=True)
class Application:
    """An application that puts and gets messages.

    rate     units of work per second at the peak; 0: one unit for every message got
    get      queues to get from
    put      messages per unit, by queue to put to
    size     bytes of a message
    commit   messages per unit of work; 0: outside syncpoint
    think    time of a unit outside MQ
    reopen   share of the units that open and close their queues
    scans    number of messages that a get with a selector skips
    stays    messages per connection; 0: always connected
    window   local time in which the application runs, "22:00-23:30"; "": all day
    opens    names, such as aliases, under which queues are opened, by queue
    """

    name: str
    queue_manager: str
    kind: str
    job: str
    user: str = "BATCHUSR"
    transaction: str = ""
    tasks: int = 1
    rate: float = 0.0
    curve: str = "business"
    get: tuple[str, ...] = ()
    put: Mapping[str, float] = field(default_factory=dict)
    size: int = 1000
    persistent: bool = True
    commit: int = 1
    think: float = 2000.0
    by_id: bool = False
    scans: float = 0.0
    put1: bool = False
    reopen: float = 0.0
    stays: int = 0
    window: str = ""
    channel: str = ""
    opens: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Agent:
    """An agent of Managed File Transfer.

    sends_to   the agent to send files to; "": none
    rate       data messages per second at the peak
    chunk      bytes of a data message
    transfers  number of concurrent transfers
    """

    name: str
    queue_manager: str
    job: str = ""
    user: str = "FTEAGENT"
    sends_to: str = ""
    rate: float = 0.0
    chunk: int = 262_144
    transfers: int = 2
    curve: str = "flat"
    window: str = ""
    page_set: int = 4
    data_page_set: int = 4


@dataclass(frozen=True)
class Incident:
    """A problem that begins at a time of day and lasts for some time.

    target  the affected queue manager, queue, channel or application; "": the best match
    factor  size of the problem, with a different meaning for each kind; 0: the default of the kind
    listed  whether the answer key lists the incident
    """

    kind: str
    at: dt.timedelta
    length: dt.timedelta
    target: str = ""
    factor: float = 0.0
    day: int = 0
    listed: bool = True


@dataclass(frozen=True)
class Curve:
    """The load over a day: shares of the peak at local hours, interpolated between the hours."""

    hours: tuple[float, ...]
    shares: tuple[float, ...]
    weekend: float = 1.0
    month_end: float = 1.0


@dataclass(frozen=True)
class Estate:
    """A site, and its simulated time in local time of the systems.

    interval        interval of statistics (STATIME)
    acctime         interval of accounting (ACCTIME); None: `interval`
    growth          growth of the rates per day
    group           queue-sharing group; "": none
    answers         rules triggered without an incident: rule, object, job, start and end
    cluster_queues  names of cluster queues, which applications open instead of transmission queues
    """

    name: str
    story: str
    start: dt.datetime
    days: int
    interval: dt.timedelta
    utc_offset: dt.timedelta
    version: str
    growth: float
    group: str
    queue_managers: tuple[QueueManager, ...]
    queues: tuple[Queue, ...]
    channels: tuple[Channel, ...]
    applications: tuple[Application, ...]
    curves: Mapping[str, Curve]
    incidents: tuple[Incident, ...]
    answers: tuple[Mapping[str, str], ...] = ()
    cluster_queues: tuple[str, ...] = ()
    acctime: dt.timedelta | None = None


VERSIONS = (
    *("6.0.0", "7.0.0", "7.0.1", "7.1.0", "8.0.0", "9.0.0", "9.1.0", "9.1.2", "9.1.4", "9.2.0"),
    *("9.3.0", "9.3.1", "9.3.2", "9.3.3", "9.3.5", "9.4.0", "9.4.3", "9.4.5", "10.0.0"),
)
"""Supported MQ versions, among them each version that extended a block."""


def check_times(start: dt.datetime, utc_offset: dt.timedelta, interval: dt.timedelta) -> None:
    """Raise RequestError for times that records cannot contain."""
    if utc_offset % dt.timedelta(minutes=15) or abs(utc_offset) > dt.timedelta(hours=14):
        raise RequestError(
            f"UTC offset {utc_offset}: must be a multiple of 15 minutes, up to 14 hours"
        )
    if not dt.timedelta(seconds=1) <= interval <= dt.timedelta(days=1):
        raise RequestError(f"interval {interval}: must be from one second to 24 hours")
    if start.tzinfo is not None or start.year < 1972:
        raise RequestError(f"start {start}: must be local time of the z/OS system, from 1972")


Tables = dict[str, dict[str, Any]]
"""TOML tables by name."""

_AGENT_QUEUES = ("COMMAND", "DATA", "REPLY", "STATE", "EVENT")
_REPLY_EVERY, _STATE_EVERY = 10, 50
"""Number of data messages per acknowledgement, and per save of the agent's state."""
_REPLY_BYTES, _STATE_BYTES, _COMMAND_BYTES = 1024, 8192, 2000
_MADE_AT, _MADE_STEP = 0xE24CCAF4B4E5A000, 0x1357


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
            f"queue {model}: {len(users)} applications get from this model queue; it must be 1"
        )
    (user,) = users
    opener = applications[user]
    if opener.get("stays") or len(opener["get"]) > 1:
        raise RequestError(
            f"application {user}: a user of model queue {model} must stay connected (stays = 0), "
            "and get from no other queue"
        )
    tasks = opener.get("tasks", 1)
    names = [f"{queue['model']}{_MADE_AT + _MADE_STEP * each:016X}" for each in range(tasks)]
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
