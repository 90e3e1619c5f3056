"""The channel initiator and its channels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tests.support.days.sites import Channel

if TYPE_CHECKING:
    from tests.support.days.records import Writer

DISPATCHER_US = 14.0
ADAPTER_US = 22.0
SSL_US = 16.0
"""CPU of a request; ZCX: 48 us of the channel initiator for a message of a channel."""


def _carried(writer: Writer, channel: Channel) -> int:
    """Return the messages (of clients: calls) that a channel carries in the interval."""
    moved = [each for each in writer.shown.moved if each.flow.channel == channel.name]
    if channel.kind == 1:
        return sum(each.gets for each in moved)
    if channel.kind == 3:
        return sum(each.puts for each in moved)
    return sum(each.puts + each.gets for each in moved)


def channel_blocks(writer: Writer) -> Iterator[bytes]:
    """Yield a QCST of each instance of a channel."""
    model, now, seconds = writer.model, writer.now, writer.now.seconds
    for channel in writer.site.channels:
        messages = _carried(writer, channel)
        starts = round(model.now(f"starts {channel.name}", 0.0, now) * seconds)
        retrying = model.now(f"retrying {channel.name}", 0.0, now)
        net = round(model.now(f"net {channel.name}", channel.net_us, now) * model.noise(0.08))
        moved = [each for each in writer.shown.moved if each.flow.channel == channel.name]
        size = moved[0].flow.size if moved else 1000
        batches = sum(each.batches for each in moved)
        if channel.kind == 3:
            batches = messages // 4 + (messages > 0)
        sends = channel.kind == 1
        rough = writer.site.is_rough and model.rng.random() < 0.01
        lasting = round(model.now(f"instances {channel.name}", channel.instances, now))
        instances = lasting + starts
        own = messages // instances
        usual: dict[str, Any] = {"qcstchnm": channel.name, "qcstchdp": 4, "qcstchty": channel.kind}
        usual |= {"qcstchst": 5 if retrying > 0.5 else 3, "qcststcl": 65, "qcstcscv": 1}
        usual |= {"qcstcltm": now.end, "qcstlmst": now.end, "qcstdspn": channel.dispatcher}
        usual |= {"qcstrqmn": channel.partner, "qcstslcs": 0xC02F if channel.tls else 0}
        usual |= {"qcstnmsg": own, "qcstnbyt": own * size}
        usual |= {"qcstnpmg": own if moved and moved[0].flow.persistent else 0}
        usual |= {"qcstbyst": own * size if sends else own * 60}
        usual |= {"qcstbyrc": own * 40 if sends else own * size}
        usual |= {"qcstcbsz": channel.batch, "qcstbatc": batches // instances}
        usual |= {"qcstfuba": sum(m.full for m in moved) if sends else 0}
        usual |= {"qcstqetc": batches if sends and not any(m.depth for m in moved) else 0}
        usual |= {"qcstntav": net if channel.kind != 7 else 0, "qcstntmn": net // 2}
        usual |= {"qcstntmx": net * (60 if rough else 3), "qcstntdt": now.end}
        midnight = now.start - dt.timedelta(hours=now.hour + 3)
        for number in range(instances):
            begun = number - lasting
            at = now.start + dt.timedelta(seconds=(begun + 0.5) / max(starts, 1) * seconds)
            values = usual | {
                "qcstcnnm": f"10.20.{number % 7}.{number % 250}",
                "qcststrt": at if begun >= 0 else midnight,
                "qcstludt": at + dt.timedelta(seconds=1.2) if begun >= 0 else now.end,
            }
            yield writer.block("QCST", 324, channel.name, **values)


def chinit_blocks(writer: Writer) -> Iterator[Sequence[bytes]]:
    """Yield QCCT, then the dispatchers, adapters, TLS tasks and the DNS task."""
    model, now, site = writer.model, writer.now, writer.site
    seconds = now.seconds
    carried = {each.name: _carried(writer, each) for each in site.channels}
    starts = sum(model.now(f"starts {each.name}", 0.0, now) * seconds for each in site.channels)
    current = sum(each.instances for each in site.channels) + site.connections
    current = round(model.now("channels", current, now))
    counts = {"qcctnocc": current, "qcctnoac": current, "qcctstus": 130 + 0.15 * current}
    counts["qcctstus"] += model.now("chinit leak", 0.0, now) * now.hour
    limits = dict.fromkeys(("qcctmxcc", "qcctmxac", "qcctmxtp"), site.limit)
    limits |= {"qcctmxlu": 0, "qcctstab": 300, "qcctslim": 4096}
    yield [writer.block("QCCT", 64, None, qcctjobn=f"{site.qmgr}CHIN", **counts, **limits)]
    stretch = model.now("stretch", 1.15, now)
    shares = [0.0] * site.dispatchers
    total = sum(carried.values())
    for each in site.channels:
        shares[each.dispatcher] += carried[each.name]
    background = 0.1 * total + 4 * seconds
    spread = [s + background / site.dispatchers for s in shares]
    extra = model.now("dispatcher us", DISPATCHER_US, now)
    own = max(current // site.dispatchers, 1)
    yield _tasks(writer, "QCT_DSP", [2 * some for some in spread], extra, stretch, qctchln=own)
    calls = total + 3 * seconds
    log_us = writer.shown.log.force_us * 0.08 if total else 0.0
    waits = model.now("adapter stretch", stretch, now)
    of_adapters = [calls * 0.62 * 0.38**number for number in range(site.adapters)]
    yield _tasks(writer, "QCT_ADP", of_adapters, ADAPTER_US, waits, log_us)
    secure = sum(carried[each.name] for each in site.channels if each.tls)
    requests = [(2 * secure + starts) / site.ssl_tasks] * site.ssl_tasks
    us, waits = model.now("ssl us", SSL_US, now), model.now("ssl stretch", stretch, now)
    yield _tasks(writer, "QCT_SSL", requests, us, waits)
    yield _tasks(writer, "QCT_DNS", [starts / 10], 60.0, 3.0, qctlgtm=now.local)


def _tasks(
    writer: Writer,
    kind: str,
    requests: Sequence[float],
    us: float,
    stretch: float,
    waits: float = 0.0,
    **more: Any,
) -> list[bytes]:
    """Return a block of each task, for the requests of each."""
    found, room = [], 1e6 * writer.now.seconds
    length = {"QCT_DSP": 36, "QCT_ADP": 32}.get(kind, 48)
    for number, some in enumerate(requests):
        count = round(some * writer.model.noise(0.06))
        cpu = count * us * writer.model.noise(0.03)
        elapsed = min(cpu * stretch + count * waits, 0.995 * room)
        values = {"qcttskn": number, "qctreqn": count, "qctcptm": min(cpu, elapsed)}
        values |= {"qcteltm": elapsed, "qctwttm": room - elapsed}
        found.append(writer.block(kind, length, number, **values, **more))
    return found
