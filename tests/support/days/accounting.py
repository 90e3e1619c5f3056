"""Class 3: a record of each job in each interval, and of connections that end in it."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.support import smf
from tests.support.builders import Section, qwhs_short
from tests.support.days.model import Moved

if TYPE_CHECKING:
    from tests.support.days.records import Writer

LATE = 0.000_240
"""Seconds after the statistics at which class 3 intervals end, in real records."""
COMMIT_US = 14.0
GET_US, NO_MESSAGE_US, SKIP_US = 7.0, 3.1, 2.6
CF_OF_GET, LIST, MOVE = 2, 9, 11


def put_us(size: int, *, shared: bool) -> float:
    """Return CPU of an MQPUT: R93 ch. 6, 4.5 us at 2 KB and 36 at 128; shared 7.3 and 36.9."""
    more = max(size / 1024 - 2, 0)
    return (7.3 + 0.235 * more) if shared else (4.5 + 0.25 * more)


def task_records(writer: Writer) -> Iterator[bytes]:
    """Yield a 116/1 record of each job, then one of each connection that was short."""
    for number, ((job, channel), uses) in enumerate(_uses(writer).items()):
        tasks = max(moved.flow.tasks for moved, _ in uses)
        for task in range(tasks):
            its = [(moved.of(tasks), role) for moved, role in uses]
            yield _job_record(writer, 100 * number + task, job, channel, its)
    for channel in writer.site.channels:
        starts = writer.model.now(f"starts {channel.name}", 0.0, writer.now) * writer.now.seconds
        for number in range(round(starts)):
            yield _connection(writer, channel.name, number, starts)


def _uses(writer: Writer) -> dict[tuple[str, str], list[tuple[Moved, str]]]:
    """Return what jobs, each agent of a channel by itself, put and got in the interval."""
    found: dict[tuple[str, str], list[tuple[Moved, str]]] = {}
    for each in writer.shown.moved:
        for job, role in ((each.flow.putter, "put"), (each.flow.getter, "get")):
            agent = each.flow.channel or ("OTHER.IN" if role == "put" else "OTHER.OUT")
            channel = agent if _kind(job) == 6 else ""
            found.setdefault((job, channel), []).append((each, role))
    return {job: uses for job, uses in found.items() if any(map(_is_used, uses))}


def _is_used(use: tuple[Moved, str]) -> bool:
    moved, role = use
    return bool(moved.puts if role == "put" else moved.gets + moved.polls + moved.backed_out)


def _kind(job: str) -> int:
    return 6 if job.endswith("CHIN") else 1 if "CICS" in job else 2


def _token(number: int, began: dt.datetime) -> bytes:
    started = (0x7D91048BCA000000 + (int(began.timestamp() * 1e6) << 12)) & ~0xFFF
    return struct.pack(">QiI", started, -number - 2, 0x5C000000 + number)


def _who(writer: Writer, job: str, channel: str = "") -> bytes:
    more: dict[str, Any] = {"wtidchl": channel} if channel else {}
    if _kind(job) == 1:
        more["wtidcori"] = bytes(4) + "PAY1".encode("cp500") + bytes(4)
    return smf.who(job, job[:6], _kind(job), **more)


def _job_record(
    writer: Writer, number: int, job: str, channel: str, uses: list[tuple[Moved, str]]
) -> bytes:
    now, model = writer.now, writer.model
    began = now.start - dt.timedelta(hours=now.hour + 1)
    token = _token(number, began)
    log = writer.shown.log
    commits = forces = backouts = pages = 0
    logged = elapsed = 0.0
    calls = 0
    blocks = []
    for moved, role in uses:
        flow = moved.flow
        count = moved.puts if role == "put" else moved.gets
        calls += count
        units = moved.batches if role == "get" and moved.batches else -(-count // max(flow.each, 1))
        commits += units
        if flow.persistent:
            forces += units if not flow.structure else 0
            logged += count * (flow.size + 900 if role == "put" else 250)
        if role == "get":
            backouts += moved.backed_out
        pages += moved.puts * flow.pages if role == "put" else 0
        data, took = _queue(writer, token, moved, role)
        blocks.append(data)
        elapsed += took
    force_us = forces * log.force_us * model.noise(0.03)
    latches = {
        latch: us * calls
        for latch in (11, 12, 15, 16, 19, 21, 23, 24, 30, 31, 32)
        if (us := model.now(f"latch {latch} {job}", 0.02 * (latch != 15), now))
    }
    waited = sum(latches.values())
    committing = force_us + commits * COMMIT_US * 1.2 + waited
    values = _verbs(
        wtascm=(commits, committing, commits * COMMIT_US),
        wtasba=(backouts, backouts * 260.0, backouts * 60.0),
        wtasot=(6, 300.0, 120.0),
        wtasjw=(forces, force_us),
        wtasjc=(forces, force_us),
    )
    values |= {"wtassusn": forces, "wtassuse": force_us + waited, "wtasjwb": min(logged, 4e9)}
    values |= {"wtasgpn": min(pages, 2e9), "wtaswqct": len(blocks)}
    ended = now.end + dt.timedelta(seconds=LATE)
    values |= {"wtasstrt": began, "wtasints": now.start, "wtasinte": ended}
    waits = {
        latch: (round(us), round(calls * 0.01) + 1, round(us / 20)) for latch, us in latches.items()
    }
    values |= writer.planted("WTAS", channel or job)
    task = smf.task(token, latches=waits, **values)
    return _record(writer, _who(writer, job, channel), task, blocks)


def _queue(writer: Writer, token: bytes, moved: Moved, role: str) -> tuple[bytes, float]:
    """Return a WQST, and the time of its calls."""
    flow, model, now = moved.flow, writer.model, writer.now
    site = writer.site
    pool = site.page_sets[flow.page_set].pool if flow.page_set in site.page_sets else 0
    values = _opened(flow.queue, flow.model) | {"indxtype": flow.index, "maxqdpth": moved.high}
    values |= {"nps": flow.page_set, "nbuffpool": pool}
    if flow.structure:
        values |= {"nps": 0, "nbuffpool": 0, "cfstrucname": flow.structure}
        values |= {"qsgdisp": 2, "opencf0": 1}
    cf = 0.0
    if flow.structure:
        usual = site.structures[flow.structure]
        cf = 3 * model.now(f"cf {flow.structure}", usual, now)
    pool_wait = model.now(f"page set us {flow.page_set}", 420.0, now)
    if role == "put":
        each = put_us(flow.size, shared=bool(flow.structure)) * model.noise(0.03)
        cpu = moved.puts * each
        took = cpu * 1.25 + moved.puts * cf
        values |= _verbs(put=(moved.puts, took, cpu)) | {"validput": moved.puts}
        values |= {"putbytes": moved.puts * flow.size, "putpmsg": moved.puts * flow.persistent}
        values |= {"putmaxms": flow.size, "putminms": flow.size, "putpwg": moved.puts * 0.05}
    else:
        skip = SKIP_US * moved.skipped
        gets = moved.gets + moved.backed_out
        cpu = gets * GET_US * model.noise(0.03) + moved.polls * NO_MESSAGE_US + skip
        took = cpu * 1.3 + moved.reads * pool_wait + gets * cf
        calls = gets + moved.polls
        values |= _verbs(get=(calls, took, cpu)) | {"gets" if flow.by_id else "geta": calls}
        values |= {"validget": gets, "getdval": gets, "geterr": moved.polls}
        values |= {"getbytes": gets * flow.size, "getpmsg": gets * flow.persistent}
        values |= {"getmaxms": flow.size, "getminms": flow.size, "totlatnt": moved.time_us}
        values |= {"getpsn": moved.reads, "getpset": moved.reads * pool_wait}
        values |= {"getsmsg": moved.skipped, "wqback": moved.backed_out}
    requests: dict[tuple[int, int], Any] = {}
    if flow.structure and role == "get":
        slow = model.now(f"asynchronous {flow.structure}", 0.1, now)
        lists = model.now(f"lists {flow.queue}", 1.0, now)
        for request, count in (LIST, lists * moved.gets), (MOVE, moved.gets):
            later, at_once = round(slow * count), round((1 - slow) * count)
            counts = later + at_once, at_once, round(at_once * cf / 3), later, 60 * later
            requests[CF_OF_GET, request] = counts
    values |= writer.planted("WQST", flow.queue)
    return smf.queue(flow.queue, token, version=9, cf=requests, **values), took


def _verbs(**some: tuple[float, ...]) -> dict[str, Any]:
    """Return the fields of verbs: the number of calls, their elapsed time and their CPU."""
    return {
        verb + end: value
        for verb, values in some.items()
        for end, value in zip(("n", "et", "ct"), values, strict=False)
    }


def _opened(queue: str, model: str = "") -> dict[str, Any]:
    """Return what a WQST has of a local queue that was opened and closed once."""
    return {"objname": model or queue} | _verbs(open=(1, 30.0, 22.0), close=(1, 12.0, 9.0))


def _connection(writer: Writer, channel: str, number: int, count: float) -> bytes:
    """Return the record of a client that connected, put a message and went."""
    at = writer.now.start + dt.timedelta(seconds=(number + 0.5) / count * writer.now.seconds)
    ended = at + dt.timedelta(seconds=0.3)
    token = _token(1000 + number, at)
    values = {"wtasstrt": at, "wtasints": at, "wtasinte": ended, "wtasflag": "WTASAEOT"}
    values |= _verbs(wtascm=(1, 300.0, 14.0), wtasot=(2, 60.0, 40.0))
    task, name = smf.task(token, **values), "PAY.CLIENT.REQ"
    values = _opened(name) | _verbs(put=(1, 7.0, 5.0))
    values |= {"validput": 1, "putbytes": 900, "putminms": 900, "putmaxms": 900}
    queue = smf.queue(name, token, version=9, **values)
    return _record(writer, _who(writer, f"{writer.site.qmgr}CHIN", channel), task, [queue], ended)


def _record(
    writer: Writer, who: bytes, task: bytes, queues: list[bytes], ended: dt.datetime | None = None
) -> bytes:
    ended = ended or writer.now.end + dt.timedelta(seconds=LATE)
    sections = [Section([who]), Section([task]), Section(queues)]
    return writer.record_at(ended, 116, 1, *sections, area=qwhs_short(ended, triplets=4))
