"""The reports of accounting (116): tasks, queues, connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from smfparse import reports
from smfparse.schemas import enums
from tests.support.recomputed.parts import Part, Tables, c, last, ratio, total, whole

VERBS = ("open", "close", "get", "put", "put1", "inq", "set", "cb")
QUEUE_AVERAGES = {
    **{f"{verb}_elapsed": (f"{verb}et", f"{verb}n") for verb in VERBS},
    **{f"{verb}_cpu": (f"{verb}ct", f"{verb}n") for verb in VERBS},
    **{f"{v}_log_write": (f"{v}jwet", f"{v}jwn") for v in ("get", "put", "put1", "set")},
    **{f"{v}_log_force": (f"{v}jcet", f"{v}jcn") for v in ("get", "put", "put1", "set")},
    **{f"{v}_page_set": (f"{v}pset", f"{v}psn") for v in ("get", "put", "put1")},
    **{f"{v}_suspend": (f"{v}suset", f"{v}susn") for v in ("get", "put", "put1")},
    "open_suspend": ("opensuet", "opensun"),
    "close_suspend": ("closesuet", "closesun"),
    "put_size": ("putbytes", "validput"),
    "get_size": ("getbytes", "validget"),
    "on_queue_average": ("totlatnt", "validget"),
}
TASK_AVERAGES = {
    "commit_elapsed": ("cmet", "cmn"), "commit_cpu": ("cmct", "cmn"),
    "prepare_elapsed": ("pret", "prn"), "prepare_cpu": ("prct", "prn"),
    "backout_elapsed": ("baet", "ban"), "backout_cpu": ("bact", "ban"),
    "other_elapsed": ("otet", "otn"), "other_cpu": ("otct", "otn"),
    "sub_elapsed": ("suet", "sun"), "sub_cpu": ("suct", "sun"),
    "subrq_elapsed": ("sqet", "sqn"), "subrq_cpu": ("sqct", "sqn"),
    "ctl_elapsed": ("ctet", "ctn"), "ctl_cpu": ("ctct", "ctn"),
    "stat_elapsed": ("stet", "stn"), "stat_cpu": ("stct", "stn"),
    "log_write_elapsed": ("jwet", "jwn"), "log_force_elapsed": ("jcet", "jcn"),
    "suspend_elapsed": ("suse", "susn"), "page_set_0_elapsed": ("pse0", "psn0"),
    "db2_thread_average": ("dbet", "dbct"), "db2_server_average": ("dbes", "dbct"),
    "cf_single_average": ("sstc", "csec"), "cf_multiple_average": ("mstc", "cmec"),
}  # fmt: skip
"""Figures of a task: the fields of WTAS, without their prefix, with the time and the count."""
TASK_CALLS = ("cm", "ba", "ot", "pr", "su", "sq", "ct", "st", "tp")
"""How the names of the times of calls in WTAS begin; those of Topic processing are the last."""
LATCHES = {
    11: "DMCSEG: queue serialisation", 12: "buffer pool",
    15: "CMXL1: first open / last close of a shared queue", 16: "BMXL2: page set",
    19: "BMXL3: buffer page", 21: "RLMLWR: log buffer", 23: "BSDS",
    24: "LMXL1: waiting getters", 25: "locks, accounting",
    30: "ASMSAG: task switch, security", 31: "DPSLTC: scan of un-indexed queue, storage",
    32: "SMCPHB: storage pools",
}  # fmt: skip
CF_REQUESTS = (
    "Lock", "Unlock", "Write list controls", "Signal XCF", "Signal CF", "Read", "Write",
    "Start monitoring", "Stop monitoring", "Read list", "New", "Move", "MoveEnt", "Delete",
)  # fmt: skip


def added(names: Sequence[str], kind: pl.DataType | type[pl.DataType] = pl.Float64) -> pl.Expr:
    """Add fields of a row; what a release does not record counts as nothing."""
    return pl.sum_horizontal(pl.col(name).cast(kind).fill_null(0) for name in names)


REQUESTS = added([f"{verb}n" for verb in VERBS], pl.Int64)
ELAPSED = added([f"{verb}et" for verb in VERBS])
CPU = added([f"{verb}ct" for verb in VERBS])


def with_tokens(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """Add what identifies a task: 16 bytes, of which WTAS has a moment and two numbers."""
    if table == "wqst":
        token = pl.col("correl").map_elements(_of_correl, return_dtype=pl.String)
        return frame.with_columns(token=token)
    moment = pl.col("wtasstrt").dt.epoch("us").cast(pl.Int64).fill_null(-_TOD_EPOCH)
    parts = pl.struct(moment, "wtasmthr", "wtaswtas")
    return frame.with_columns(token=parts.map_elements(_of_parts, return_dtype=pl.String))


_TOD_EPOCH = 2_208_988_800_000_000
"""Microseconds from 1900, where the TOD clock starts, to 1970."""


def _of_correl(correl: str) -> str:
    return f"{int(correl[:16], 16) >> 12:013X}-{correl[16:24]}-{correl[24:]}"


def _of_parts(parts: Mapping[str, int]) -> str:
    words = (parts[name] % 2**32 for name in ("wtasmthr", "wtaswtas"))
    return "-".join([f"{parts['wtasstrt'] + _TOD_EPOCH:013X}", *(f"{word:08X}" for word in words)])


def shown(report: str, frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the sections, and what a report shows of a frame."""
    names = {each.name for each in reports.report(report).figures} - {*keys}
    return frame.select(*keys, *(each for each in frame.columns if each in names))


# --- queues -------------------------------------------------------------------------------------


def queues(tables: Tables, by: Sequence[str]) -> pl.DataFrame:
    """Return queues with all their figures; times on the queue are of messages that were got."""
    keys = [*tables.keys, *by]
    frame = tables["wqst"]
    got = pl.col("validget") > 0
    more = frame.group_by(keys).agg(
        opened=pl.col("opentime").min(),
        closed=pl.col("clostime").max(),
        on_queue_minimum=pl.col("minlatnt").filter(got).min(),
    )
    combined = tables.combined("wqst", by).join(more, on=keys, nulls_equal=True)
    averages = {name: ratio(c(time), c(count)) for name, (time, count) in QUEUE_AVERAGES.items()}
    return combined.with_columns(
        **averages,
        queue_requests=REQUESTS,
        queue_elapsed=ELAPSED,
        queue_cpu=CPU,
        on_queue_maximum=pl.when(got).then("maxlatnt"),
        on_queue_minimum=pl.when(got).then("on_queue_minimum"),
        base=pl.when(pl.col("basename") != pl.col("objname")).then("basename"),
    )


def qall(report: str, tables: Tables) -> list[Part]:
    structure = pl.col("cfstrucname").replace("", None)
    frame = queues(tables, ["objname"]).with_columns(structure=structure)
    return [Part(shown(report, frame, tables.keys), ["objname"])]


def qputs(report: str, tables: Tables) -> list[Part]:
    puts = c("putn") + c("put1n")
    frame = queues(tables, ["objname"]).with_columns(
        put_elapsed=ratio(c("putet") + c("put1et"), puts),
        put_cpu=ratio(c("putct") + c("put1ct"), puts),
        persistent=whole("putpmsg") + whole("put1pmsg"),
        to_getter=whole("putpwg") + whole("put1pwg"),
    )
    return [Part(shown(report, frame, tables.keys), ["objname"])]


def qgets(report: str, tables: Tables) -> list[Part]:
    browses = whole("getbrwa") + whole("getbrws")
    frame = queues(tables, ["objname"]).with_columns(browses=browses)
    return [Part(shown(report, frame, tables.keys), ["objname"])]


def qsum(report: str, tables: Tables) -> list[Part]:
    """Return queues by structure; a page set and buffer pool only where there is no structure."""
    by = ["objname", "cfstrucname"]
    members = pl.concat(
        [tables[table].select(*tables.keys, "smf_time") for table in ("wtas", "wtid")]
    )
    begins = pl.col("section_interval") if tables.sections.seconds else pl.col("taken")
    taken = members.group_by(tables.keys).agg(taken=pl.col("smf_time").max())
    private = pl.col("cfstrucname") == ""
    frame = tables["wqst"].group_by(*tables.keys, *by).agg(
        blocks=pl.len(),
        page_set=last("nps"),
        buffer_pool=last("nbuffpool"),
        put_mb=total(c("putbytes")) / 1048576,
        get_mb=total(c("getbytes")) / 1048576,
        maxqdpth=pl.col("maxqdpth").max(),
        puts=total(whole("putn") + whole("put1n")),
        queue_manager=pl.col("qmgr").first(),
        **{name: total(whole(name)) for name in ("validput", "validget", "getpsn", "getn")},
    )  # fmt: skip
    frame = frame.join(taken, on=tables.keys).with_columns(
        structure="cfstrucname",
        page_set=pl.when(private).then("page_set"),
        buffer_pool=pl.when(private).then("buffer_pool"),
        separator=pl.lit("!"),
        interval_date=begins.dt.date(),
        interval_time=begins.dt.truncate("1s").dt.time(),
    )
    return [Part(shown(report, frame, tables.keys), ["objname", "structure"])]


# --- tasks --------------------------------------------------------------------------------------


def task(report: str, tables: Tables) -> list[Part]:
    """Return tasks, their latches, queues, and requests to the coupling facility in both."""
    keys = tables.keys
    links = with_tokens(tables["wtas"], "wtas").select(*keys, "source", "record_no", "token")
    names = _named(tables, links)
    used = with_tokens(queues(tables, ["correl", "objname", "basename"]), "wqst")
    private = pl.col("cfstrucname") == ""
    used = used.with_columns(
        is_private=private,
        page_set=pl.when(private).then("nps"),
        buffer_pool=pl.when(private).then("nbuffpool"),
        queue_type=pl.col("qtype_text").replace("Local queue", "QLocal"),
        index_type=pl.col("indxtype_text").replace("None", "NONE"),
    )
    on = [*keys, "source", "record_no"]
    latches = tables["wtas_latch"].join(links, on=on).group_by(*keys, "token", "latch").agg(
        wtaslwn=total(whole("wtaslwn")), wtaslwet=total("wtaslwet"),
        wtaslmax=pl.col("wtaslmax").max(),
    )  # fmt: skip
    names_of_latches = pl.col("latch").replace_strict(LATCHES, default=None, return_dtype=pl.String)
    of_task = tables["wtas_cf"].join(links, on=on).rename({"phase": "verb"})
    blocks = with_tokens(tables["wqst"], "wqst")
    blocks = blocks.select(*on, "block_no", "token", "objname", "basename")
    of_queue = tables["wqst_cf"].join(blocks, on=[*on, "block_no"])
    queue_keys = ["token", "objname", "basename"]
    return [
        _lines(report, tables, _tasks(tables, names, used), names, "task"),
        _lines(report, tables, latches.with_columns(latch_name=names_of_latches), names, "latch",
               "latch"),
        _lines(report, tables, used, names, "queue", "objname", "base"),
        _lines(report, tables, _cf(of_task, [*keys, "token"]), names, "cf", "cf_request"),
        _lines(report, tables, _cf(of_queue, [*keys, *queue_keys]), names, "queue cf", "objname",
               "base", "cf_request"),
    ]  # fmt: skip


def _named(tables: Tables, links: pl.DataFrame) -> pl.DataFrame:
    """Return whose tasks are: as the first record that one wrote says, or the last of such."""
    keys = [*tables.keys, "token"]
    own = links.rename({"record_no": "task_record"}).drop(tables.keys)
    queue = with_tokens(tables["wqst"], "wqst").group_by("source", "record_no").agg(
        queue_token=pl.col("token").first()
    )  # fmt: skip
    frame = tables["wtid"].join(own, on=["source", "task_record"], how="left")
    frame = frame.join(queue, on=["source", "record_no"], how="left").with_columns(
        token=pl.coalesce("token", "queue_token"),
        first=pl.col("record_no") == pl.col("task_record"),
        taken=pl.coalesce(pl.col("time").dt.replace_time_zone(None), "smf_time"),
        connection=pl.col("wtidatyp").replace_strict(
            {number: word.mp1b for number, word in enums.CONNECTION_TYPE.items()},
            default=pl.col("wtidatyp_text"),
        ),
    )
    whose = ["connection", "wtidccn", "wtidopid", "wtidtran", "wtidchl", "wtidchlc", "wtidcori"]
    return frame.sort("first", "taken").group_by(keys).agg(pl.col(whose).last())


def _tasks(tables: Tables, names: pl.DataFrame, used: pl.DataFrame) -> pl.DataFrame:
    keys = [*tables.keys, "token"]
    done = used.group_by(keys).agg(
        task_queues=pl.struct("objname", "basename").n_unique(),
        task_requests=pl.col("queue_requests").sum(),
        used_elapsed=pl.col("queue_elapsed").sum(),
        used_cpu=pl.col("queue_cpu").sum(),
    )
    combined = tables.combined("wtas", ["task_started_tod", "task_thread"])
    combined = with_tokens(combined, "wtas").drop("source", "record_no")
    frame = names.select(keys).join(combined, on=keys, how="full", coalesce=True, nulls_equal=True)
    frame = frame.join(done, on=keys, how="left", nulls_equal=True)
    averages = {
        name: ratio(c(f"wtas{time}"), c(f"wtas{count}"))
        for name, (time, count) in TASK_AVERAGES.items()
    }
    frame = frame.with_columns(
        pl.col("task_queues", "task_requests").fill_null(0),
        **averages,
        task_elapsed=added([*(f"wtas{each}et" for each in TASK_CALLS), "used_elapsed"]),
        task_cpu=added([*(f"wtas{each}ct" for each in TASK_CALLS), "used_cpu"]),
    )
    if tables.of_queues:
        nothing = pl.lit(None)
        frame = frame.with_columns(nothing.alias(name) for name in OF_WHOLE_TASKS)
    return frame


OF_WHOLE_TASKS = ("task_queues", "task_requests", "task_elapsed", "task_cpu")
"""Figures that need all queues of a task."""


def _cf(requests: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    counts = ("cfcount", "cfsyncn", "cfsyncet", "cfasyncn", "cfasyncet")
    found = requests.group_by(*keys, "verb", "request").agg(
        **{name: total(whole(name)) for name in counts}
    )
    names = dict(enumerate(CF_REQUESTS))
    request = pl.col("request").cast(pl.Int64).replace_strict(
        names, default=pl.format("type {}", "request"), return_dtype=pl.String
    )  # fmt: skip
    first = pl.col("verb").str.slice(0, 1).str.to_uppercase()
    rest = pl.col("verb").str.slice(1)
    return found.with_columns(
        cf_request=pl.format("{}{} CF {}", first, rest, request),
        cf_sync=ratio(c("cfsyncet"), c("cfsyncn")),
        cf_async=ratio(c("cfasyncet"), c("cfasyncn")),
    ).drop("verb", "request")


def _lines(
    report: str, tables: Tables, frame: pl.DataFrame, names: pl.DataFrame, line: str, *by: str
) -> Part:
    keys = [*tables.keys, "token"]
    frame = frame.drop(set(names.columns) - {*keys}, strict=False)
    frame = frame.join(names, on=keys, how="left", nulls_equal=True)
    if "basename" in frame.columns:
        frame = frame.with_columns(
            base=pl.when(pl.col("basename") != pl.col("objname")).then("basename")
        )
    return Part(shown(report, frame, tables.keys), ["token", *by], {"line": line})


BESIDE = [f"wtas{each}" for each in ("cmn", "ban", "jwn", "jwb", "jcn", "gpo", "gpn")]
"""Counts of what tasks did beside calls on queues."""
OTHERS = ("ba", "pr", "su", "sq", "ct", "st", "ot")
"""How the names of calls in WTAS begin that are no commits."""


def tasksum(report: str, tables: Tables) -> list[Part]:
    """Return the tasks of one kind of connection, job and user, added.

    The time of requests is that of calls on queues, the time of commits that of commits.
    """
    on = ["source", "task_record"]
    by = ["connection", "wtidccn", "wtidopid"]
    words = {number: word.mp1b for number, word in enums.CONNECTION_TYPE.items()}
    kind = pl.col("wtidatyp").replace_strict(words, default=pl.col("wtidatyp_text"))
    names = tables["wtid"].with_columns(connection=kind).sort("record_no").group_by(on).agg(
        pl.col(*tables.keys, *by).first()
    )  # fmt: skip
    used = with_tokens(tables["wqst"], "wqst").group_by(on).agg(
        queue_token=pl.col("token").first(),
        requests=REQUESTS.sum(), queue_elapsed=ELAPSED.sum(), queue_cpu=CPU.sum(),
        puts=(whole("putn") + whole("put1n")).sum(), gets=whole("getn").sum(),
    )  # fmt: skip
    tasks = with_tokens(tables["wtas"], "wtas").with_columns(
        other_calls=added([f"wtas{two}n" for two in OTHERS], pl.Int64),
        other_elapsed=added([f"wtas{two}et" for two in OTHERS]),
        other_cpu=added([f"wtas{two}ct" for two in OTHERS]),
        there=pl.lit(1),
    )
    counts = [*BESIDE, "other_calls"]
    times = ["wtascmet", "wtascmct", "wtastpet", "wtastpct", "other_elapsed", "other_cpu"]
    if tables.of_queues:
        tasks = tasks.with_columns(
            pl.lit(None, pl.Float64).alias(name) for name in (*counts, *times)
        )
    tasks = tasks.select(*on, "token", "there", *counts, *times)
    rows = names.join(tasks, on=on, how="left").join(used, on=on, how="left")
    found = rows.group_by(*tables.keys, *by).agg(
        *(total(whole(name)).alias(name) for name in counts),
        *(total(c(name)).alias(name) for name in times),
        *(pl.col(name).sum() for name in ("requests", "puts", "gets")),
        *(total(name) for name in ("queue_elapsed", "queue_cpu")),
        tasks=pl.coalesce("token", "queue_token").drop_nulls().n_unique(),
        task_intervals=pl.col("there").sum(),
    )
    found = found.with_columns(
        elapsed_seconds=added(["queue_elapsed", "wtascmet", "wtastpet", "other_elapsed"]) / 1e6,
        cpu_seconds=added(["queue_cpu", "wtascmct", "wtastpct", "other_cpu"]) / 1e6,
        log_mb=c("wtasjwb") / 1048576,
        request_elapsed=ratio(c("queue_elapsed"), c("requests")),
        request_cpu=ratio(c("queue_cpu"), c("requests")),
        commit_elapsed=ratio(c("wtascmet"), c("wtascmn")),
        commit_cpu=ratio(c("wtascmct"), c("wtascmn")),
        other_call_elapsed=ratio(c("other_elapsed"), c("other_calls")),
        other_call_cpu=ratio(c("other_cpu"), c("other_calls")),
    )
    return [Part(shown(report, found, tables.keys), by)]


# --- connections --------------------------------------------------------------------------------

BANDS = [f"qmac{verb}{band}" for verb in ("put", "get") for band in "abcd"]
"""Puts and gets by size of message."""


def class1(report: str, tables: Tables) -> list[Part]:
    """Return connections of one kind, job and user; each record is written once, at the end."""
    by = ["connection", "qwhccn", "qwhcopid"]
    on = ["source", "record_no"]
    processor = tables["qwac"].select(
        *on,
        "qwaccomm", "qwacback",
        tcb=pl.col("qwacejst") - pl.col("qwacbjst"),
        srb=pl.col("qwacesrb") - pl.col("qwacbsrb"),
        connected=(pl.col("qwacesc") - pl.col("qwacbsc")).dt.total_microseconds(),
    )  # fmt: skip
    words = {number: word.mp1b for number, word in enums.CONNECTION_TYPE.items()}
    kind = pl.col("qwhcatyp").replace_strict(words, default=pl.col("qwhcatyp_text"))
    frame = tables["qmac"].with_columns(connection=kind).join(processor, on=on, how="left")
    requests = total(added(BANDS, pl.Int64))
    found = frame.group_by(*tables.keys, *by).agg(
        *(total(whole(each)) for each in (*BANDS, "qwaccomm", "qwacback")),
        connections=pl.len(),
        cpu_seconds=total("qmaccput") / 1e6,
        tcb_seconds=total("tcb") / 1e6,
        srb_seconds=total("srb") / 1e6,
        connected_seconds=total("connected") / 1e6,
        puts=total(added(BANDS[:4], pl.Int64)),
        gets=total(added(BANDS[4:], pl.Int64)),
        request_cpu=ratio(total("qmaccput"), requests),
    )
    return [Part(shown(report, found, tables.keys), by)]


RECOMPUTED: Mapping[str, Callable[[str, Tables], list[Part]]] = {
    "task": task,
    "tasksum": tasksum,
    "qall": qall,
    "qputs": qputs,
    "qgets": qgets,
    "qsum": qsum,
    "class1": class1,
}
