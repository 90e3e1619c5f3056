"""The reports of the channel initiator and of channels (115/231, 116/10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import polars as pl

from tests.support.recomputed.parts import (
    SECONDS,
    SPAN,
    Part,
    Tables,
    c,
    ratio,
    total,
    whole,
)

# --- tasks of the channel initiator -----------------------------------------------------------


def tasks(
    report: str,
    tables: Tables,
    table: str,
    longest: tuple[str, str] | None = None,
    channels: str | None = None,
) -> list[Part]:
    """Return the tasks, and all of them together; busy is a share of the interval.

    longest   the fields with the longest request, and when that was
    channels  the field with the number of channels
    """
    told = {"requests": total(whole("qctreqn")), "seconds": total("interval_seconds")}
    told |= {name: total(f"qct{name}") for name in ("eltm", "cptm", "wttm")}
    if longest:
        most = pl.col(longest[0])
        told |= {"longest": most.max()}
        told |= {"longest_at": pl.col(longest[1]).filter(most == most.max())}
    if channels:
        told["channels"] = total(whole(channels))
    frame = tables[table]
    keys = tables.keys
    each = frame.group_by(*keys, number=pl.col("block_no") - 1).agg(**told)
    if channels and tables.sections.by != "record":
        newest = tables.combined(table, ["block_no"])
        newest = newest.select(*keys, (pl.col("block_no") - 1).alias("number"), channels)
        each = each.drop("channels").join(
            newest.rename({channels: "channels"}), on=[*keys, "number"]
        )
    together = frame.group_by(keys).agg(**told)
    if channels:
        sums = each.group_by(keys).agg(total(whole("channels")))
        together = together.drop("channels").join(sums, on=keys)
    one = _busy(each.with_columns(task=pl.col("number").cast(pl.String)))
    every = _busy(together.with_columns(task=pl.lit("Summ")))
    kind = {"type": report.upper()}
    found = [Part(one, ["number"], kind | {"line": "task"})]
    found += [Part(every, (), kind | {"line": "summary"})]
    if channels:
        lines = kind | {"line": "channels"}
        found[1] = Part(every, (), kind | {"line": "summary", "tcbs": "all TCBs"})
        found.append(Part(one, ["number"], lines | {"tcbs": "this TCB"}))
        found.append(Part(every, (), lines | {"tcbs": "all TCBs"}))
    return found


def _busy(frame: pl.DataFrame) -> pl.DataFrame:
    requests = c("requests")
    average = pl.when(requests == 0).then(0.0).otherwise(c("cptm") / requests)
    return frame.with_columns(
        busy=ratio(c("eltm"), c("seconds") * 1e6, 100),
        cpu_seconds=c("cptm") / 1e6,
        cpu_busy=ratio(c("cptm"), c("seconds") * 1e6, 100),
        cpu_average=average,
        cpu_tenths=average,
        elapsed_average=pl.when(requests == 0).then(0.0).otherwise(c("eltm") / requests),
        waiting_seconds=c("wttm") / 1e6,
    ).drop("seconds", "eltm", "cptm", "wttm")


# --- channels -----------------------------------------------------------------------------------

SUMS = {
    "messages": "qcstnmsg", "persistent": "qcstnpmg", "batches": "qcstbatc",
    "full_batches": "qcstfuba", "buffers_sent": "qcstbfst", "buffers_received": "qcstbfrc",
    "xmitq_empty": "qcstqetc", "bytes": "qcstnbyt", "persistent_bytes": "qcstnpby",
    "bytes_sent": "qcstbyst", "bytes_received": "qcstbyrc", "put_retries": "qcstptrc",
}  # fmt: skip
NEWEST = {
    "partner": "qcstrqmn", "batch_size": "qcstcbsz", "dns_time": "qcstdnrt",
    "conversations": "qcstcscv", "dispatcher": "qcstdspn", "batch_interval": "qcstcbit",
    "batch_limit": "qcstcbdl",
}  # fmt: skip
WORDS = {
    "disposition": "qcstchdp_text", "type": "qcstchty_text", "state": "qcstchst_text",
    "statchl": "qcststcl_text",
}  # fmt: skip
NAMES = {"certificate": "qcstslcn", "product": "qcstrpid", "product_version": "qcstrver"}
SIZES = (
    "bytes", "persistent_bytes", "nonpersistent_bytes", "bytes_sent", "bytes_received",
    "received_per_batch", "sent_per_batch", "received_per_message", "sent_per_message",
    "received_per_second", "sent_per_second",
)  # fmt: skip
"""Figures that text shows once more with a unit."""


def dchs(_: str, tables: Tables) -> list[Part]:
    """Return channel instances, their intervals added; a rate is over whole active seconds."""
    by = ["channel", "connection", "started"]
    frame = tables["qcst"].with_columns(
        channel="qcstchnm", connection="qcstcnnm", started="qcststrt"
    )
    found = frame.group_by(*tables.keys, *by).agg(
        **{name: total(whole(field)) for name, field in SUMS.items()},
        **{name: _newest(pl.col(field)) for name, field in NEWEST.items()},
        **{name: _newest(pl.col(field).str.to_uppercase()) for name, field in WORDS.items()},
        **{name: _newest(pl.col(field).replace("", None)) for name, field in NAMES.items()},
        stopped=pl.col("qcstludt").max(),
        collected=pl.col("qcstcltm").max(),
        last_message=pl.col("qcstlmst").max(),
        active=(total(_active()) // 1_000_000),
        compression=_weighted("qcstcpra", "qcstnmsg"),
        exit_average=_weighted("qcstetav", "qcstnmsg"),
        net_average=_weighted("qcstntav", "qcstbatc"),
        **_extremes("exit", "qcstet"),
        **_extremes("net", "qcstnt"),
    )
    made = found.with_columns(
        messages_per_batch=ratio(c("messages"), c("batches")),
        partial_batches=whole("batches") - whole("full_batches"),
        nonpersistent_bytes=whole("bytes") - whole("persistent_bytes"),
        received_per_batch=ratio(c("bytes_received"), c("batches")),
        sent_per_batch=ratio(c("bytes_sent"), c("batches")),
        received_per_message=ratio(c("bytes_received"), c("messages")),
        sent_per_message=ratio(c("bytes_sent"), c("messages")),
        received_per_second=ratio(c("bytes_received"), c("active")),
        sent_per_second=ratio(c("bytes_sent"), c("active")),
        batches_per_second=ratio(c("batches"), c("active")),
        batch_rate=ratio(c("batches"), c("active")),
    )
    return [Part(made.with_columns(pl.col(each).alias(f"{each}_size") for each in SIZES), by)]


def _newest(value: pl.Expr) -> pl.Expr:
    return value.sort_by("qcstcltm").drop_nulls().last()


def _active() -> pl.Expr:
    """Microseconds of an interval in which a channel was active."""
    start = pl.max_horizontal("interval_start", "qcststrt")
    length = pl.duration(microseconds=(SECONDS * 1e6).round().cast(pl.Int64))
    end = pl.min_horizontal(pl.col("interval_start") + length, "qcstludt")
    return (end - start).dt.total_microseconds().clip(0)


def _weighted(name: str, by: str) -> pl.Expr:
    """Average averages of the channel initiator, by what they are averages of."""
    weight = c(by)
    return pl.coalesce(ratio(total(c(name) * weight), total(weight)), c(name).mean())


def _extremes(what: str, field: str) -> dict[str, pl.Expr]:
    most = pl.col(f"{field}mx")
    return {
        f"{what}_shortest": pl.col(f"{field}mn").min(),
        f"{what}_longest": most.max(),
        f"{what}_longest_at": pl.col(f"{field}dt").filter(most == most.max()),
    }


OF_TYPES = ("messages", "persistent", "batches", "bytes", "bytes_sent", "bytes_received")


def dchssum(_: str, tables: Tables) -> list[Part]:
    """Return the sums of each type of channel, and of all; MP1B's rates are of whole seconds."""
    keys = tables.keys
    frame = tables["qcst"].with_columns(type=pl.col("qcstchty_text").str.to_uppercase())
    spans = frame.group_by(*keys, *SPAN).agg(pl.col("interval_seconds").max())
    covered = spans.group_by(keys).agg(covered=total("interval_seconds"))
    told = {
        name: total(whole(SUMS[name]))
        for name in ("messages", "persistent", "batches", "bytes", "bytes_sent", "bytes_received")
    }
    told["channels"] = pl.struct("qcstchnm", "qcstcnnm", "qcststrt").n_unique()
    types = frame.group_by(*keys, "type").agg(**told)
    every = frame.group_by(keys).agg(**told).with_columns(type=pl.lit("total"))
    both = pl.concat([types, every.select(types.columns)]).join(covered, on=keys)
    whole_seconds = c("covered").floor()
    made = both.with_columns(nonpersistent=pl.col("messages") - pl.col("persistent")).with_columns(
        persistent_per_second=ratio(c("persistent"), whole_seconds),
        nonpersistent_per_second=ratio(c("nonpersistent"), whole_seconds),
        persistent_rate=ratio(c("persistent"), c("covered")),
        nonpersistent_rate=ratio(c("nonpersistent"), c("covered")),
    )
    vanishes = [
        (pl.col(kind) > 0) & (pl.col(f"{kind}_per_second") < 1)
        for kind in ("persistent", "nonpersistent")
    ]
    made = made.with_columns(low_rate=vanishes[0] | vanishes[1])
    return [Part(made.drop("messages", "covered"), ["type"])]


RECOMPUTED: Mapping[str, Callable[[str, Tables], list[Part]]] = {
    "adap": partial(tasks, table="qct_adp"),
    "disp": partial(tasks, table="qct_dsp", channels="qctchln"),
    "ssl": partial(tasks, table="qct_ssl", longest=("qctlsdu", "qctlstm")),
    "dns": partial(tasks, table="qct_dns", longest=("qctlgdu", "qctlgtm")),
    "dchs": dchs,
    "dchssum": dchssum,
}
