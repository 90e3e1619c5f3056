"""The report api-cost: what the calls of each verb cost, by whatever is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from smfparse.schemas import enums
from tests.support.recomputed.accounting import (
    BANDS,
    CF_REQUESTS,
    VERBS,
    added,
    shown,
    with_tokens,
)
from tests.support.recomputed.parts import Part, Tables, c, ratio, total, whole

PARTS = {
    "log_wait": {verb: (f"{verb}jwet", f"{verb}jcet") for verb in ("get", "put", "put1", "set")},
    "page_set_wait": {verb: (f"{verb}pset",) for verb in ("get", "put", "put1")},
    "suspended": {
        "open": ("opensuet",), "close": ("closesuet",), "get": ("getsuset",),
        "put": ("putsuset",), "put1": ("put1suset",),
    },
    "srb": {
        "open": ("topicopensrb",), "close": ("topicclosesrb",), "put": ("topicputsrb",),
        "put1": ("topicput1srb",), "ctl": ("wtasctsr",),
    },
}  # fmt: skip
"""Fields that are parts of the cost of a verb; the first says whether the release records it."""
QUEUE_VERBS = {verb: (f"{verb}n", f"{verb}et", f"{verb}ct") for verb in VERBS}
TASK_VERBS: Mapping[str, tuple[str | None, str, str]] = {
    verb: (f"wtas{two}n", f"wtas{two}et", f"wtas{two}ct")
    for verb, two in [
        ("commit", "cm"), ("backout", "ba"), ("prepare", "pr"), ("sub", "su"), ("subrq", "sq"),
        ("ctl", "ct"), ("stat", "st"), ("other", "ot"),
    ]
} | {"topic": (None, "wtastpet", "wtastpct")}  # fmt: skip
"""Fields of verbs: calls, elapsed time and CPU; Topic processing is not counted."""
DIMENSIONS = (
    "system", "qmgr", "connection_type", "job", "user", "channel", "queue", "size", "hour",
)  # fmt: skip
MESSAGES = {
    "put": ("putbytes", "validput"), "put1": ("putbytes", "validput"),
    "get": ("getbytes", "validget"),
}  # fmt: skip
"""Fields of verbs that move messages: the bytes of all, and how many there were."""
SHARES = (50, 90, 99)
FEWEST = {50: 2, 90: 10, 99: 100}
"""Values that a percentile needs, so that one at least is beyond it."""
CONNECTIONS = {number: word.mp1b for number, word in enums.CONNECTION_TYPE.items()}


def queue_of() -> pl.Expr:
    """The queue that a name resolved to; dynamic queues of a model are one."""
    dynamic = pl.col("basename").str.contains("[0-9A-F]{16}$")
    return (
        pl.when((pl.col("objname") != pl.col("basename")) & dynamic)
        .then(pl.col("basename").str.replace("[0-9A-F]{16}$", "*"))
        .when(pl.col("basename") != "")
        .then("basename")
        .otherwise("objname")
    )


def size_of(verb: str) -> pl.Expr:
    """The first of 1, 2, 4, ... KB that the mean of the messages of a verb does not exceed."""
    if verb not in MESSAGES:
        return pl.lit(None, pl.Int64)
    moved, count = (pl.col(each).cast(pl.Float64) for each in MESSAGES[verb])
    return pl.coalesce(
        pl.when((count > 0) & (moved <= count * 1024 * size)).then(pl.lit(size, pl.Int64))
        for size in (1 << power for power in range(54))
    )


def api_cost(
    report: str,
    tables: Tables,
    by: Sequence[str] = ("qmgr",),
    top: int | None = None,
    sort: str = "cpu",
) -> list[Part]:
    """Return what verbs cost, requests to the coupling facility, and connections of class 1."""
    by = [each.replace("-", "_") for each in by]
    told = calls(tables)
    found = _verbs(tables, told, by)
    sums = told.group_by(tables.keys).agg(total(each) for each in ("calls", "elapsed", "cpu"))
    of_task = [each for each in by if each not in ("queue", "size")]
    of_class_1 = [each for each in by if each not in ("channel", "queue", "size")]
    parts = [
        _part(report, _dearest(found, tables, by, top, sort), tables, [*by, "verb"], "verb"),
        _part(report, _averages(sums), tables, (), "total"),
        _tasks(report, tables, told, of_task, top, sort),
        _class_1(report, tables, told, of_class_1, top),
    ]  # fmt: skip
    if top is None:
        parts.append(_requests(report, tables, by))
    return parts


def _dimensions(tables: Tables, frame: pl.DataFrame) -> pl.DataFrame:
    """Add whose rows are: as the record says that begins what a task wrote, or the first of it."""
    keys = ["source", "task_record"]
    whose = tables["wtid"].sort("record_no").group_by(keys).agg(
        connection_type=pl.col("wtidatyp").first().replace_strict(
            CONNECTIONS, default=pl.col("wtidatyp_text").first()
        ),
        job=pl.col("wtidccn").first(), user=pl.col("wtidopid").first(),
        channel=pl.col("wtidchl").first(),
    )  # fmt: skip
    frame = frame.with_columns(hour=pl.col("counted").dt.truncate("1h"))
    return frame.join(whose, on=keys, how="left")


def _part(report: str, frame: pl.DataFrame, tables: Tables, by: Sequence[str], line: str) -> Part:
    keys = list(dict.fromkeys([*tables.keys, *by]))
    return Part(shown(report, frame, keys), by, {"line": line})


def calls(tables: Tables) -> pl.DataFrame:
    """Return a row a block and verb that was used."""
    of_queues = with_tokens(tables["wqst"], "wqst").with_columns(queue=queue_of())
    of_tasks = with_tokens(tables["wtas"], "wtas").with_columns(queue=pl.lit(None, pl.String))
    parts = []
    if tables.of_queues:
        of_tasks = of_tasks.clear()
    for frame, verbs in ((of_queues, QUEUE_VERBS), (of_tasks, TASK_VERBS)):
        owned = _dimensions(tables, frame)
        for verb, (count, elapsed, cpu) in verbs.items():
            told = {"calls": whole(count) if count else pl.lit(None, pl.Int64)}
            told |= {"elapsed": c(elapsed), "cpu": c(cpu)}
            for part, fields in PARTS.items():
                nothing = pl.lit(None, pl.Float64)
                told[part] = _fields(fields[verb]) if verb in fields else nothing
            kept = (*tables.keys, *DIMENSIONS, "token")
            sized = owned.with_columns(size=size_of(verb))
            parts.append(sized.select(*kept, verb=pl.lit(verb), **told))
    used = pl.any_horizontal(pl.col(each) > 0 for each in ("calls", "elapsed", "cpu"))
    return pl.concat(parts).filter(used)


def _fields(fields: Sequence[str]) -> pl.Expr:
    return pl.when(pl.col(fields[0]).is_not_null()).then(added(fields))


def _verbs(tables: Tables, told: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    keys = [*tables.keys, *by, "verb"]
    sums = [total(each) for each in ("calls", "elapsed", "cpu")]
    owner = {"of_system": pl.col("system"), "of_qmgr": pl.col("qmgr")}
    by_task = told.with_columns(**owner).group_by(*keys, "of_system", "of_qmgr", "token").agg(sums)
    spread = by_task.group_by(keys).agg(
        *(
            _percentile(ratio(c(what), c("calls")), share).alias(f"{what}_p{share}")
            for what in ("cpu", "elapsed")
            for share in SHARES
        ),
        tasks=pl.len(),
    )
    parts = [
        ratio(total(part), total(pl.when(pl.col(part).is_not_null()).then("calls"))).alias(
            f"call_{part}"
        )
        for part in PARTS
    ]
    cf = _cf(tables).group_by(keys).agg(cf_sync=total("cfsyncet"), cf_async=total("cfasyncet"))
    found = told.group_by(keys).agg(*sums, *parts)
    for other in (spread, cf):
        found = found.join(other, on=keys, how="left", nulls_equal=True)
    shares = {
        f"{what}_share": ratio(c(what), c(what).sum().over(tables.keys), 100)
        for what in ("cpu", "elapsed")
    }
    waits = {f"call_{each}": ratio(c(each), c("calls")) for each in ("cf_sync", "cf_async")}
    return _averages(found.with_columns(**shares, **waits))


def _percentile(values: pl.Expr, share: int) -> pl.Expr:
    """Return a percentile, NULL of too few values."""
    return pl.when(values.count() >= FEWEST[share]).then(values.quantile(share / 100, "linear"))


def _averages(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        call_cpu=ratio(c("cpu"), c("calls")),
        call_elapsed=ratio(c("elapsed"), c("calls")),
        cpu_seconds=c("cpu") / 1e6,
        elapsed_seconds=c("elapsed") / 1e6,
    )


def _dearest(
    frame: pl.DataFrame, tables: Tables, by: Sequence[str], top: int | None, sort: str
) -> pl.DataFrame:
    """Return the dearest of each section; of equals those first by what tells rows apart."""
    if top is None:
        return frame
    names = [each for each in DIMENSIONS if each in by]
    ordered = frame.sort(sort, *names, "verb", descending=[True, *[False] * (len(by) + 1)],
                         nulls_last=True)  # fmt: skip
    return ordered.group_by(tables.keys, maintain_order=True).head(top)


def _cf(tables: Tables) -> pl.DataFrame:
    """Return requests to the coupling facility, in calls about queues and in others."""
    on = ["source", "record_no", "block_no"]
    sizes = {f"{verb}_size": size_of(verb) for verb in MESSAGES}
    blocks = tables["wqst"].select(*on, queue=queue_of(), **sizes)
    size = pl.coalesce(pl.when(pl.col("verb") == verb).then(f"{verb}_size") for verb in MESSAGES)
    of_queues = tables["wqst_cf"].join(blocks, on=on, how="left").with_columns(size=size)
    nothing = {"queue": pl.lit(None, pl.String), "size": pl.lit(None, pl.Int64)}
    of_tasks = tables["wtas_cf"].with_columns(**nothing, verb=pl.col("phase"))
    if tables.of_queues:
        of_tasks = of_tasks.clear()
    counts = [whole(each) for each in CF_COUNTS]
    kept = (*tables.keys, *DIMENSIONS, "verb", "request")
    return pl.concat(
        [_dimensions(tables, each).select(*kept, *counts) for each in (of_queues, of_tasks)]
    )


CF_COUNTS = ("cfcount", "cfsyncn", "cfsyncet", "cfasyncn", "cfasyncet")


def _requests(report: str, tables: Tables, by: Sequence[str]) -> Part:
    names = dict(enumerate(CF_REQUESTS))
    frame = _cf(tables).with_columns(
        request_name=pl.col("request").cast(pl.Int64).replace_strict(
            names, default=pl.format("type {}", "request"), return_dtype=pl.String
        )
    )  # fmt: skip
    keys = [*by, "verb", "request_name"]
    found = frame.group_by(*tables.keys, *keys).agg(total(each) for each in CF_COUNTS)
    found = found.with_columns(
        sync_average=ratio(c("cfsyncet"), c("cfsyncn")),
        async_average=ratio(c("cfasyncet"), c("cfasyncn")),
    )
    return _part(report, found, tables, keys, "cf")


def _tasks(
    report: str,
    tables: Tables,
    told: pl.DataFrame,
    by: Sequence[str],
    top: int | None,
    sort: str,
) -> Part:
    """Return what a task costs, all its calls together."""
    owner = pl.struct(of_system="system", of_qmgr="qmgr", of_token="token")
    found = told.with_columns(owner=owner).group_by(*tables.keys, *by).agg(
        *(total(each) for each in ("calls", "elapsed", "cpu")), tasks=pl.col("owner").n_unique()
    ).with_columns(verb=pl.lit(None))  # fmt: skip
    found = _dearest(found, tables, by, top, sort).drop("verb")
    each = {f"task_{what}": ratio(c(what), c("tasks")) for what in ("calls", "cpu", "elapsed")}
    found = found.with_columns(**each).drop("calls", "elapsed", "cpu")
    return _part(report, found, tables, by, "task")


def _class_1(
    report: str, tables: Tables, told: pl.DataFrame, by: Sequence[str], top: int | None
) -> Part:
    messages = added(BANDS, pl.Int64)
    frame = tables["qmac"].with_columns(
        connection_type=pl.col("qwhcatyp").replace_strict(
            CONNECTIONS, default=pl.col("qwhcatyp_text")
        ),
        job="qwhccn", user="qwhcopid", hour=pl.col("counted").dt.truncate("1h"),
        messages=messages, each=ratio(c("qmaccput"), messages),
    )  # fmt: skip
    spread = [_percentile(pl.col("each"), share).alias(f"cpu_p{share}") for share in SHARES]
    found = frame.group_by(*tables.keys, *by).agg(
        *spread,
        *(total(whole(each)) for each in (*BANDS, "messages")),
        connections=pl.len(),
        cpu=total("qmaccput"),
    )
    found = found.with_columns(
        class_1_cpu_seconds=c("cpu") / 1e6, message_cpu=ratio(c("cpu"), c("messages"))
    )
    class_3 = told.group_by(*tables.keys, *by).agg(class_3=total("cpu"))
    if tables.of_queues:
        class_3 = class_3.clear()
    found = found.join(class_3, on=[*tables.keys, *by], how="left", nulls_equal=True).with_columns(
        class_3_cpu_seconds=c("class_3") / 1e6,
        class_difference=ratio(c("cpu") - c("class_3"), c("class_3"), 100),
    )
    found = _dearest(found.with_columns(verb=pl.lit(None)), tables, by, top, "cpu").drop("verb")
    return _part(report, found, tables, by, "class 1")
