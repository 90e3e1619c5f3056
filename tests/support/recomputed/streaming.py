"""The report streaming: puts and what they made, what streaming cost, stream queues."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from tests.support.recomputed.accounting import shown
from tests.support.recomputed.api_cost import queue_of
from tests.support.recomputed.parts import ORDER, Part, Tables, c, ratio, total, whole
from tests.support.recomputed.statistics import log

OWNER = ["system", "qmgr"]
QUEUE = [*OWNER, "queue", "kind"]
VERBS = ("open", "close", "put", "put1")
CALLS = ("calls", "cpu", "elapsed")
Span = tuple[float, float]
"""When a row begins and ends, in microseconds."""


def streaming(report: str, tables: Tables, stream: Sequence[str] = ()) -> list[Part]:
    """Return rows of all kinds."""
    keys = tables.keys
    used = _used(tables)
    queues = used.filter(~pl.col("of_topic"))
    putters = _putters(tables, used)
    sums = _queues(keys, queues)
    statistics = _statistics(tables)
    (of_log,) = log(report, tables)
    lines: Mapping[str, tuple[pl.DataFrame, Sequence[str]]] = {
        "queue": (_pages(keys, sums, putters), ["queue", "kind"]),
        "cost": (_costs(keys, queues, putters), ["queue", "kind", "verb"]),
        "topic": (_topics(keys, used), ["queue", "published_by"]),
        "stream": (_streams(keys, used, sums, statistics, stream), ["base", "queue"]),
        "queue manager": (_queue_managers(tables, statistics), ()),
        "adapters": (_adapters(tables), ()),
        "plan": (_plans(tables, used, of_log.frame), ["queue", "kind"]),
    }
    left = {"pages_left": 128 - c("pages_per_write")}
    left |= {f"{each}_left": 100 - c(f"{each}_busy") for each in ("io", "task")}
    parts = [
        Part(shown(report, frame, keys), by, {"line": line}) for line, (frame, by) in lines.items()
    ]
    return [*parts, Part(of_log.frame.with_columns(**left), (), {"line": "log"})]


def _used(tables: Tables) -> pl.DataFrame:
    """Return blocks with puts; `streams` is not known where the release does not count it."""
    puts = whole("putn") + whole("put1n")
    streamed, published = whole("streamedn"), whole("publishedn")
    alias = (pl.col("qtype") == 3) & (published > 0) & (streamed.fill_null(0) == 0)
    of_topic = (pl.col("ftopic") | (pl.col("qtype") == 8)).fill_null(False) | alias.fill_null(False)
    there = tables["wqst"].filter((puts > 0) | (streamed > 0).fill_null(False))
    to_alias = ~pl.col("of_topic") & (published > 0).fill_null(False)
    return there.with_columns(
        queue=queue_of(),
        kind=pl.when(pl.col("cfstrucname").fill_null("") == "")
        .then(pl.lit("private"))
        .otherwise(pl.lit("shared")),
        puts=puts,
        failed=pl.when(puts >= whole("validput")).then(puts - whole("validput")),
        of_topic=of_topic,
        streamed=streamed,
        published=published,
    ).with_columns(
        done=pl.col("puts") - pl.col("failed").fill_null(0),
        published_by=pl.when("of_topic")
        .then(pl.lit("publish"))
        .when(to_alias)
        .then(pl.lit("stream to topic alias")),
        streams=pl.when(to_alias).then(True).otherwise(streamed > 0),
        copies=pl.when((published > 0).fill_null(False)).then(published).otherwise(streamed),
    )


def _putters(tables: Tables, used: pl.DataFrame) -> pl.DataFrame:
    """Return records of tasks all whose puts went to one queue that is no topic."""
    on = ["source", "task_record"]
    tasks = used.group_by(on).agg(
        pl.col("queue", "kind").first(),
        total("puts"),
        streams=pl.when(pl.col("streams").is_not_null().any()).then(pl.col("streams").any()),
        different=pl.struct("queue", "kind").n_unique(),
        of_topic=pl.col("of_topic").any(),
    )
    tasks = tasks.filter(pl.col("different") == 1, ~pl.col("of_topic"))
    if tables.of_queues:
        tasks = tasks.clear()
    pages = whole("wtasgpo") + whole("wtasgpn")
    return tables["wtas"].with_columns(pages=pages).join(tasks, on=on)


def _queues(keys: Sequence[str], queues: pl.DataFrame) -> pl.DataFrame:
    told = queues.group_by(list(dict.fromkeys([*keys, *QUEUE]))).agg(
        *(total(each) for each in ("puts", "failed", "done", "streamed", "copies")),
        known=pl.col("streams").is_not_null().all(),
        put_size=ratio(total(c("putbytes")), total(c("validput"))),
    )
    return told.with_columns(
        streamed_share=ratio(c("streamed"), c("done"), 100),
        messages=pl.when("known").then(pl.col("done") + pl.col("copies")),
    )


def _pages(keys: Sequence[str], sums: pl.DataFrame, putters: pl.DataFrame) -> pl.DataFrame:
    streams = pl.col("streams").fill_null(False)
    by = [*keys, "queue", "kind"]
    each = putters.group_by(by).agg(
        pages_per_put=ratio(total("pages"), total("puts")),
        pages_with=ratio(
            total(pl.when(streams).then("pages")), total(pl.when(streams).then("puts"))
        ),
    )
    without = putters.filter(~pl.col("streams")).group_by(QUEUE)
    plain = without.agg(pages_without=ratio(total("pages"), total("puts")))
    found = sums.join(each, on=by, how="left").join(plain, on=QUEUE, how="left")
    shown_if = pl.col("pages_with").is_not_null()
    return found.with_columns(pages_without=pl.when(shown_if).then("pages_without"))


# --- costs --------------------------------------------------------------------------------------


def _costs(keys: Sequence[str], queues: pl.DataFrame, putters: pl.DataFrame) -> pl.DataFrame:
    """Return verbs of queues that stream, beside those of the same queue, or of queues like it."""
    kept = list(dict.fromkeys([*keys, *QUEUE, "streams"]))
    sources = [(queues, verb, (f"{verb}n", f"{verb}ct", f"{verb}et")) for verb in VERBS]
    sources += [(putters, "commit", ("wtascmn", "wtascmct", "wtascmet"))]
    calls = pl.concat(
        frame.select(
            *kept,
            verb=pl.lit(verb),
            **{name: c(each) for name, each in zip(CALLS, fields, strict=True)},
        )
        for frame, verb, fields in sources
    ).filter(pl.col("calls") > 0)
    sums = [pl.col(name).sum() for name in CALLS]
    with_them = calls.filter(pl.col("streams")).group_by(
        list(dict.fromkeys([*keys, *QUEUE, "verb"]))
    )
    plain = calls.filter(~pl.col("streams")).group_by(*QUEUE, "verb").agg(sums)
    sizes = _sizes(queues)
    alike = [*OWNER, "kind", "persistent", "band", "verb"]
    others = plain.join(sizes.filter(~pl.col("any_streams")), on=QUEUE).group_by(alike).agg(sums)
    found = with_them.agg(sums).join(plain, on=[*QUEUE, "verb"], how="left", suffix="_same")
    found = found.join(sizes, on=QUEUE, how="left")
    found = found.join(others, on=alike, how="left", suffix="_others")
    same = pl.col("calls_same") > 0
    without = {
        name: pl.when(same).then(f"{name}_same").otherwise(f"{name}_others") for name in CALLS
    }
    found = found.with_columns(**{f"plain_{name}": each for name, each in without.items()})
    found = found.with_columns(
        compared_with=pl.when(same).then(pl.lit("same queue"))
        .when(pl.col("calls_others") > 0).then(_like()).otherwise(pl.lit("none")),
        calls_with=pl.col("calls").cast(pl.Int64),
        calls_without=pl.col("plain_calls").cast(pl.Int64),
        **{f"{name}_with": ratio(c(name), c("calls")) for name in CALLS[1:]},
        **{f"{name}_without": ratio(c(f"plain_{name}"), c("plain_calls")) for name in CALLS[1:]},
    )  # fmt: skip
    return found.with_columns(
        **{f"{name}_overhead": c(f"{name}_with") - c(f"{name}_without") for name in CALLS[1:]},
        **{f"{name}_factor": ratio(c(f"{name}_with"), c(f"{name}_without")) for name in CALLS[1:]},
    )


def _sizes(queues: pl.DataFrame) -> pl.DataFrame:
    """Return between which powers of two messages of queues are, and whether they persist."""
    size = ratio(pl.col("putbytes").sum(), pl.col("validput").sum())
    persistent = 2 * (whole("putpmsg") + whole("put1pmsg")).sum()
    return queues.group_by(QUEUE).agg(
        any_streams=pl.when(pl.col("streams").is_not_null().any()).then(pl.col("streams").any()),
        persistent=persistent > whole("validput").sum(),
        band=size.map_elements(_band, return_dtype=pl.Int64),
    )


def _band(size: float) -> int:
    """Return the least power of two that is not less."""
    band = 0
    while 2**band < size:
        band += 1
    return band


def _like() -> pl.Expr:
    least = pl.when(pl.col("band") == 0).then(0).otherwise(2 ** (pl.col("band") - 1) + 1)
    persistent = pl.when("persistent").then(pl.lit(", persistent")).otherwise(pl.lit(""))
    return pl.format("other {} queues, {}-{} bytes{}", "kind", least.cast(pl.Int64),
                     (2 ** pl.col("band")).cast(pl.Int64), persistent)  # fmt: skip


def _topics(keys: Sequence[str], used: pl.DataFrame) -> pl.DataFrame:
    found = used.filter(pl.col("published_by").is_not_null()).group_by(
        *keys, "queue", "published_by"
    )
    made = found.agg(
        *(total(each) for each in ("puts", "published", "done")),
        put_cpu=ratio(total(c("putct") + c("put1ct")), total("puts")),
        put_srb=ratio(total(c("topicputsrb") + c("topicput1srb")), total("puts")),
    ).filter(pl.col("published") > 0)
    direct = pl.col("published_by") == "publish"
    both = pl.col("done") + pl.col("published")
    return made.with_columns(
        subscribers=ratio(c("published"), c("puts")),
        messages=pl.when(direct).then("published").otherwise(both),
    )


# --- stream queues ------------------------------------------------------------------------------


def _statistics(tables: Tables) -> pl.DataFrame:
    """Return what queue statistics say of queues; partial records do not tell a depth."""
    full = ~pl.col("qqstpart")
    frame = tables["qqst"].with_columns(
        queue="qqstqnam", taken=ORDER,
        depth=pl.when(full).then(whole("qqstdpth")),
        puts=whole("qqstputs") + whole("qqstput1"), failed=whole("qqstflpt") + whole("qqstflp1"),
        streamed=whole("qqststrm"), expired=whole("qqstexpr"),
    )  # fmt: skip
    of_full = pl.col("taken").filter(full)
    depth = pl.col("depth").sort_by("taken").drop_nulls()
    return frame.group_by(list(dict.fromkeys([*tables.keys, *OWNER, "queue"]))).agg(
        *(total(each) for each in ("puts", "failed", "streamed", "expired")),
        seconds=total("interval_seconds"),
        depth_first=depth.first(),
        depth_last=depth.last(),
        apart=(of_full.max() - of_full.min()).dt.total_microseconds() / 1e6,
        depth_lowest=pl.coalesce(whole("qqstdplo").filter(full).min(), pl.col("depth").min()),
        depth_highest=pl.coalesce(whole("qqstdphi").filter(full).max(), pl.col("depth").max()),
    )


def _streams(
    keys: Sequence[str],
    used: pl.DataFrame,
    sums: pl.DataFrame,
    statistics: pl.DataFrame,
    stream: Sequence[str],
) -> pl.DataFrame:
    class_3 = sums.group_by(*keys, "queue").agg(total("streamed"))
    by = [*keys, "queue"]
    own = statistics.drop("streamed")
    if stream:
        found = _named(keys, stream, pl.concat([statistics.select(by), sums.select(by)]))
        found = found.join(own, on=by, how="left")
    else:
        found = _candidates(keys, used, sums, statistics).join(own, on=by)
    of_base = [*keys, "base"]
    found = found.join(
        statistics.select(*keys, base="queue", statistics_streamed="streamed"), on=of_base,
        how="left",
    ).join(class_3.rename({"queue": "base"}), on=of_base, how="left")  # fmt: skip
    rate = ratio(c("puts"), c("seconds"))
    return found.with_columns(
        put_rate=rate,
        depth_growth=ratio((c("depth_last") - c("depth_first")) * 3600, c("apart")),
        **{
            f"arrivals_{which}": ratio(c(f"depth_{which}"), rate) / 60
            for which in ("lowest", "last", "highest")
        },
    )


def _named(keys: Sequence[str], stream: Iterable[str], seen: pl.DataFrame) -> pl.DataFrame:
    """Return pairs that are asked for, in sections that know one of the two."""
    found = []
    for pair in stream:
        base, queue = pair.split("=")
        there = seen.filter(pl.col("queue").is_in([base, queue])).select(keys).unique()
        found.append(there.with_columns(base=pl.lit(base), queue=pl.lit(queue)))
    return pl.concat(found)


def _candidates(
    keys: Sequence[str], used: pl.DataFrame, sums: pl.DataFrame, statistics: pl.DataFrame
) -> pl.DataFrame:
    """Return queues that only statistics have puts of; the base is that which streamed as many."""
    names = [used.select(*OWNER, queue=name) for name in ("objname", "basename")]
    owners = used.select(OWNER).unique()
    alone = statistics.join(pl.concat(names), on=[*OWNER, "queue"], how="anti")
    alone = alone.filter(pl.col("puts") > 0).join(owners, on=OWNER, how="semi")
    kept = [*keys, "queue", "streamed"]
    seen = pl.concat([statistics.select(kept), sums.select(kept)]).filter(pl.col("streamed") > 0)
    bases = seen.group_by(*keys, puts="streamed").agg(
        base=pl.col("queue").first(), number=pl.col("queue").n_unique()
    )
    bases = bases.filter(pl.col("number") == 1).drop("number")
    found = alone.select(*keys, "queue", "puts").join(bases, on=[*keys, "puts"], how="left")
    other = pl.when(pl.col("base") != pl.col("queue")).then("base")
    return found.with_columns(base=other).drop("puts")


# --- the queue manager --------------------------------------------------------------------------


def _queue_managers(tables: Tables, statistics: pl.DataFrame) -> pl.DataFrame:
    keys = tables.keys
    parts = [
        tables["wqst"].group_by(keys).agg(
            puts=total(whole("putn") + whole("put1n")), published=total(whole("publishedn")),
            generated=total(whole("ngen")), to_getter=total(whole("putpwg") + whole("put1pwg")),
            streamed=total(whole("streamedn")),
        ),
        tables["qist"].group_by(keys).agg(data_manager_puts=total(whole("qistmput"))),
        tables["qmst"].group_by(keys).agg(
            message_manager_puts=total(whole("qmstput") + whole("qmstput1"))
        ),
        statistics.group_by(keys).agg(statistics_streamed=total("streamed")),
    ]  # fmt: skip
    found = parts[0]
    for part in parts[1:]:
        found = found.join(part, on=keys, how="full", coalesce=True)
    told = ("puts", "data_manager_puts", "message_manager_puts", "statistics_streamed")
    found = found.filter(pl.any_horizontal(pl.col(each).is_not_null() for each in told))
    found = found.with_columns(
        data_manager_excess=pl.col("data_manager_puts") - pl.col("puts"),
        message_manager_excess=pl.col("message_manager_puts") - pl.col("puts"),
    )
    return found.clear() if tables.of_queues else found


def _adapters(tables: Tables) -> pl.DataFrame:
    frame = tables.combined("qct_adp", ["block_no"])
    busy = ratio(c("qcteltm"), c("interval_seconds") * 1e6, 100)
    return frame.group_by(tables.keys).agg(
        adapters=pl.len(),
        adapter_busy=ratio(total("qcteltm"), total("interval_seconds") * 1e6, 100),
        adapter_busiest=busy.max(),
        adapter_last=busy.sort_by("block_no").drop_nulls().last(),
    )


# --- what streaming would cost ------------------------------------------------------------------

PUBLISHED: Mapping[str, Mapping[float, tuple[float, float]]] = {
    "private": {
        2: (4.5, 9.5), 4: (5, 10.6), 8: (6, 12.9), 16: (8, 16.4), 32: (13, 26.6),
        64: (21, 42.5), 128: (36, 73.4),
    },
    "shared": {
        2: (7.3, 15.5), 4: (9, 18), 8: (11, 23), 16: (15.4, 32.3), 32: (23.4, 51.9),
        64: (25.4, 51.9), 128: (36.9, 74.6),
    },
}  # fmt: skip
"""CPU of a put by KB, without streaming and with it: MQ 9.3 performance report, chapter 6."""


def _plans(tables: Tables, used: pl.DataFrame, of_log: pl.DataFrame) -> pl.DataFrame:
    """Return what streaming would cost queues that are not streamed."""
    keys = tables.keys
    lasting = c("putbytes") * (c("putpmsg") + c("put1pmsg"))
    lasting = pl.when(pl.col("validput") != 0).then(lasting / c("validput"))
    persistent = total(lasting)
    queues = used.filter(~pl.col("of_topic")).group_by(*keys, "queue", "kind").agg(
        any_streams=pl.col("streams").fill_null(False).any(), done=total(whole("validput")),
        put_kb=ratio(total(c("putbytes")), total(c("validput"))) / 1024,
        put_cpu=ratio(total(c("putct") + c("put1ct")), total("puts")), lasting=persistent,
    )  # fmt: skip
    found = queues.filter(~pl.col("any_streams"), pl.col("done") > 0)
    every = used.group_by(keys).agg(every_lasting=persistent)
    for other in (every, of_log.select(*keys, "mb_per_second")):
        found = found.join(other, on=keys, how="left")
    found = found.join(_divisors(tables, used), on=[*keys, "queue", "kind"], how="left")
    share = ratio(c("lasting"), c("every_lasting"))
    found = found.with_columns(
        class_3_rate=ratio(c("done"), c("covered")),
        persistent_log=pl.lit(None) if tables.of_queues else c("mb_per_second") * share,
    )
    planned = [_planned(row) for row in found.iter_rows(named=True)]
    names = [f"planned_{each}" for each in ("put_cpu", "cpu", "log", "pages")]
    frame = pl.DataFrame(planned, schema=dict.fromkeys(names, pl.Float64), orient="row")
    return pl.concat([found.drop("mb_per_second"), frame], how="horizontal")


def _divisors(tables: Tables, used: pl.DataFrame) -> pl.DataFrame:
    """Return the seconds that puts to each queue are divided by.

    They are those that class 3 covers in the section, of all names; or those of the queue's own
    records from the first statistics on, if these are more.
    """
    keys, every = tables.keys, tables.every
    statistics = _spans(every["qmst"], keys)
    covered = {
        key: _union(_known(spans, statistics.get(key, [])))
        for key, spans in _spans(every["wqst"], keys).items()
    }
    first = {owner: min(spans)[0] for owner, spans in _spans(every["qmst"], OWNER).items()}
    own: dict[tuple[Any, ...], list[Span]] = {}
    by = [*keys, "queue", "kind"]
    for (*group, system, qmgr), spans in _spans(used, [*by, *OWNER]).items():
        since = first.get((system, qmgr), math.inf)
        known = [(max(each[0], since) if since < each[1] else each[0], each[1]) for each in spans]
        own.setdefault(tuple(group), []).extend(known)
    found = [
        (*group, max(covered[group[: len(keys)]], _union(spans)) / 1e6)
        for group, spans in own.items()
    ]
    types = {name: used.schema[name] for name in by}
    return pl.DataFrame(found, schema=types | {"covered": pl.Float64()}, orient="row")


def _spans(frame: pl.DataFrame, by: Sequence[str]) -> dict[tuple[Any, ...], list[Span]]:
    """Return when rows begin and end, in microseconds, by some columns."""
    length = (c("interval_seconds") * 1e6).round().cast(pl.Int64)
    begun = pl.col("interval_start").dt.epoch("us")
    found = frame.filter(c("interval_seconds").is_between(0, 1e9)).select(
        *by, began_us=begun, ended_us=begun + length
    )
    spans: dict[tuple[Any, ...], list[Span]] = {}
    for *key, began, ended in found.iter_rows():
        spans.setdefault(tuple(key), []).append((began, ended))
    return spans


def _known(spans: Sequence[Span], statistics: Sequence[Span]) -> list[Span]:
    """Return the parts of spans within statistics, whole ones that meet none, and time between."""
    if not statistics:
        return [*spans]
    first, last = min(each[0] for each in statistics), max(each[1] for each in statistics)
    found = [
        (max(began, first), min(ended, last)) if began < last and ended > first else (began, ended)
        for began, ended in spans
    ]
    start, end = min(each[0] for each in found), max(each[1] for each in found)
    between = [(max(began, start), min(ended, end)) for began, ended in statistics]
    return [*found, *(each for each in between if each[0] < each[1])]


def _union(spans: Sequence[Span]) -> float:
    """Return how much spans cover: each counts from where those before it ended."""
    covered, reached = 0.0, min(began for began, _ in spans)
    for began, ended in sorted(spans):
        covered += max(0, ended - max(began, reached))
        reached = max(reached, ended)
    return covered


def _planned(row: Mapping[str, Any]) -> tuple[float | None, ...]:
    """Return CPU of a put, CPU, log and pages more; nothing outside what is published."""
    size, rate, now = row["put_kb"], row["class_3_rate"], row["put_cpu"]
    published = PUBLISHED[row["kind"]]
    if size is None or rate is None or size > max(published) or (now is not None and now < 0.01):
        return (None,) * 4
    without, with_it = (_between({kb: each[place] for kb, each in published.items()}, size)
                        for place in (0, 1))  # fmt: skip
    now = without if now is None else now
    then = now * with_it / without
    pages = 0.0 if row["kind"] == "shared" else rate * _pages_of(math.ceil(1024 * size))
    return then, rate * (then - now) / 1000, row["persistent_log"], pages


def _between(points: Mapping[float, float], at: float) -> float:
    """Return the value on the straight line between the points beside; below the least, its own."""
    at = max(at, min(points))
    low = max(x for x in points if x <= at)
    high = min(x for x in points if x >= at)
    if low == high:
        return points[low]
    return points[low] + (points[high] - points[low]) * (at - low) / (high - low)


def _pages_of(size: int) -> int:
    """Return the pages of a private message: one up to 3,596 bytes, else one and 4,049 in each."""
    return 1 if size <= 3596 else 1 + math.ceil(size / 4049)


RECOMPUTED: Mapping[str, Callable[..., list[Part]]] = {"streaming": streaming}
