"""The channel initiator and its channels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tests.support.days.sites import Channel, Site

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
    midnight = now.start - dt.timedelta(hours=now.hour + 3)
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
        instances = channel.instances + starts
        for number in range(instances):
            own = messages // instances
            begun = number >= channel.instances
            at = now.start + dt.timedelta(
                seconds=(number - channel.instances + 0.5) / max(starts, 1) * seconds
            )
            values = {
                "qcstcltm": now.end,
                "qcstchnm": channel.name,
                "qcstchdp": 4,
                "qcstchty": channel.kind,
                "qcstchst": 5 if retrying > 0.5 else 3,
                "qcststcl": 65,
                "qcstcnnm": f"10.20.{number % 7}.{number % 250}",
                "qcststrt": at if begun else midnight,
                "qcstludt": at + dt.timedelta(seconds=1.2) if begun else None,
                "qcstlmst": now.end,
                "qcstcbsz": channel.batch,
                "qcstnmsg": own,
                "qcstnpmg": own if moved and moved[0].flow.persistent else 0,
                "qcstbatc": batches // instances,
                "qcstfuba": sum(m.full for m in moved) if sends else 0,
                "qcstcscv": 1,
                "qcstnbyt": own * size,
                "qcstbyst": own * size if sends else own * 60,
                "qcstbyrc": own * 40 if sends else own * size,
                "qcstntav": net if channel.kind != 7 else 0,
                "qcstntmn": net // 2,
                "qcstntmx": net * (60 if rough else 3),
                "qcstntdt": now.end,
                "qcstrqmn": channel.partner,
                "qcstslcs": 0xC02F if channel.tls else 0,
                "qcstqetc": batches if sends and not any(m.depth for m in moved) else 0,
                "qcstdspn": channel.dispatcher,
            }
            if values["qcstludt"] is None:
                values["qcstludt"] = now.end + dt.timedelta(days=0)
            yield writer.block("QCST", 324, channel.name, **values)


def chinit_blocks(writer: Writer) -> Iterator[Sequence[bytes]]:
    """Yield QCCT, then the dispatchers, adapters, TLS tasks and the DNS task."""
    model, now, site = writer.model, writer.now, writer.site
    seconds = now.seconds
    carried = {each.name: _carried(writer, each) for each in site.channels}
    starts = sum(model.now(f"starts {each.name}", 0.0, now) * seconds for each in site.channels)
    current = sum(each.instances for each in site.channels) + site.connections
    current = round(model.now("channels", current, now))
    yield [
        writer.block(
            "QCCT",
            64,
            None,
            qcctjobn=f"{site.qmgr}CHIN",
            qcctnocc=current,
            qcctmxcc=site.limit,
            qcctnoac=current,
            qcctmxac=site.limit,
            qcctmxtp=site.limit,
            qcctmxlu=0,
            qcctstus=130 + 0.15 * current,
            qcctstab=300,
            qcctslim=4096,
        )
    ]
    stretch = model.now("stretch", 1.15, now)
    shares = [0.0] * site.dispatchers
    total = sum(carried.values())
    for each in site.channels:
        shares[each.dispatcher] += carried[each.name]
    background = 0.1 * total + 4 * seconds
    spread = [s + background / site.dispatchers for s in shares]
    extra = model.now("dispatcher us", DISPATCHER_US, now)
    yield [
        _task(
            writer,
            "QCT_DSP",
            number,
            2 * some,
            extra,
            stretch,
            qctchln=max(current // site.dispatchers, 1),
        )
        for number, some in enumerate(spread)
    ]
    calls = total + 3 * seconds
    log_us = writer.shown.log.force_us * 0.08 if total else 0.0
    waits = model.now("adapter stretch", stretch, now)
    weights = [0.62 * 0.38**number for number in range(site.adapters)]
    yield [
        _task(writer, "QCT_ADP", number, calls * some, ADAPTER_US, waits, log_us)
        for number, some in enumerate(weights)
    ]
    secure = sum(count for name, count in carried.items() if _channel(site, name).tls)
    yield [
        _task(
            writer,
            "QCT_SSL",
            number,
            (2 * secure + starts) / site.ssl_tasks,
            model.now("ssl us", SSL_US, now),
            model.now("ssl stretch", stretch, now),
        )
        for number in range(site.ssl_tasks)
    ]
    yield [_task(writer, "QCT_DNS", 0, starts / 10, 60.0, 3.0)]


def _channel(site: Site, name: str) -> Channel:
    return next(each for each in site.channels if each.name == name)


def _task(
    writer: Writer,
    kind: str,
    number: int,
    requests: float,
    us: float,
    stretch: float,
    waits: float = 0.0,
    **more: float,
) -> bytes:
    count = round(requests * writer.model.noise(0.06))
    cpu = count * us * writer.model.noise(0.03)
    room = 1e6 * writer.now.seconds
    elapsed = min(cpu * stretch + count * waits, 0.995 * room)
    return writer.block(
        kind,
        {"QCT_DSP": 36, "QCT_ADP": 32}.get(kind, 48),
        number,
        qcttskn=number,
        qctreqn=count,
        qctcptm=min(cpu, elapsed),
        qcteltm=elapsed,
        qctwttm=room - elapsed,
        **more,
    )
