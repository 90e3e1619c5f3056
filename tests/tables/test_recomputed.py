"""Every column of every view, worked out a second time: by polars, as its formula says."""

from __future__ import annotations

import ast
import operator
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.tables import views
from tests.support.paths import PROJECT
from tests.support.real import every_file
from tests.support.recomputed.accounting import added, with_tokens
from tests.support.recomputed.api_cost import (
    CONNECTIONS,
    PARTS,
    QUEUE_VERBS,
    TASK_VERBS,
    queue_of,
)
from tests.support.recomputed.parts import Frames, c, ratio, same, total
from tests.support.small_site import write_small_site

pytestmark = pytest.mark.slow

OWN = "view "
"""What stands before a column of the view, beside the columns of its tables."""
WHOSE = {
    "job": "wtidccn", "user": "wtidopid", "thread_user": "wtidtran", "channel": "wtidchl",
    "connection": "wtidchlc", "connection_type": "connection_type",
}  # fmt: skip


# --- formulas -----------------------------------------------------------------------------------


def value_of(formula: str) -> pl.Expr:
    """Return what a formula says: of fields, which are in capitals, and of columns of the view.

    A sum is of what the release records; nothing can be divided by 0.
    """
    return _value(ast.parse(formula.replace(" x ", " * "), mode="eval").body)


def _value(node: ast.expr) -> pl.Expr:
    match node:
        case ast.Constant(int(value)):
            return pl.lit(float(value))
        case ast.Name("interval"):
            return c("interval_seconds") * 1e6
        case ast.Name(name):
            return c(name.lower() if name.isupper() or name == "interval_seconds" else OWN + name)
        case ast.Call(ast.Name("sum"), [*fields]):
            return added_up([_value(each) for each in fields])
        case ast.BinOp(left, operation, right):
            return OPERATIONS[type(operation)](_value(left), _value(right))
    raise AssertionError(ast.dump(node))


def added_up(values: list[pl.Expr]) -> pl.Expr:
    there = pl.any_horizontal(each.is_not_null() for each in values)
    return pl.when(there).then(pl.sum_horizontal(each.fill_null(0) for each in values))


OPERATIONS: Mapping[type[ast.operator], Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    ast.Add: lambda left, right: added_up([left, right]),
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: ratio,
}


# --- what is not a formula ------------------------------------------------------------------------

PRIVATE = pl.col("cfstrucname") == ""
WHOLE = ~pl.col("qqstpart")
GOT = pl.col("validget") > 0
HAS_IO = pl.col("qjstslptu").is_not_null()


def or_none(name: str) -> pl.Expr:
    return pl.col(name).replace("", None)


def _active_seconds() -> pl.Expr:
    believed = c("interval_seconds").is_between(0, 1e9)
    length = pl.duration(microseconds=(c("interval_seconds") * 1e6).round().cast(pl.Int64))
    end = pl.when(believed).then(pl.col("interval_start") + length)
    active = pl.min_horizontal(end, "qcstludt") - pl.max_horizontal("interval_start", "qcststrt")
    return pl.when(end.is_not_null()).then(active.dt.total_microseconds().clip(0) / 1e6)


def _calls(place: int) -> pl.Expr:
    """Add the numbers of calls, their elapsed times or their CPU times, of all verbs."""
    verbs = [*QUEUE_VERBS.values(), *TASK_VERBS.values()]
    return added_up([c(fields[place]) for fields in verbs if fields[place]])


OF_TASK = {name: pl.col(name) for name in (*WHOSE, "token")}
OF_CALL = ("calls", "elapsed", "cpu", *PARTS)
WORDS: Mapping[str, Mapping[str, pl.Expr]] = {
    "api_cost": {name: pl.col(name) for name in (*OF_TASK, *OF_CALL, "queue", "verb")},
    "channel": {
        "active_seconds": _active_seconds(),
        "certificate_issuer": or_none("qcstslcn"),
        "certificate_serial": or_none("qcstslsn"),
        "product": or_none("qcstrpid"),
        "product_version": or_none("qcstrver"),
    },
    "chinit_task": {
        "kind": pl.col("kind"),
        "task": pl.col("block_no") - 1,
        "longest": pl.coalesce("qctlsdu", "qctlgdu"),
        "longest_at": pl.coalesce("qctlstm", "qctlgtm"),
    },
    "log_interval": {
        "pages_per_copy": pl.when(HAS_IO).then(pl.col("copy_pages").fill_null(0)),
        "io_wait": pl.when(HAS_IO).then(pl.col("copy_suspended").fill_null(0)),
        "pages_per_write": ratio(
            pl.coalesce("qjstioci", "qjstciwr"), pl.coalesce("qjstiocount", "qjstlogw")
        ),
        "longest_write": pl.col("qjstiomaxio"),
        "longest_wait": pl.col("qjstiomaxsus"),
    },
    "data_lost": {
        "lost_until": pl.col("smf_time"),
        "lost_seconds": (pl.col("smf_time") - pl.col("smf7stm")).dt.total_microseconds() / 1e6,
        "records": pl.when("smf7nrf").then("smf7nrox").otherwise("smf7nro"),
    },
    "queue_activity": OF_TASK
    | {
        "queue": pl.col("queue"),
        "structure": or_none("cfstrucname"),
        "page_set": pl.when(PRIVATE).then("nps"),
        "buffer_pool": pl.when(PRIVATE).then("nbuffpool"),
        "time_on_queue_shortest": pl.when(GOT).then("minlatnt"),
        "time_on_queue_longest": pl.when(GOT).then("maxlatnt"),
    },
    "queue_depth": {
        "depth": pl.when(WHOLE).then("qqstdpth"),
        "oldest_message_age": pl.when(WHOLE).then("qqstmage"),
        "uncommitted": pl.when(WHOLE).then("qqstuncm"),
        "queue_sharing_group": or_none("qqstqsgn"),
        "structure": or_none("qqstcfst"),
    },
    "task": OF_TASK
    | {
        "started": pl.col("wtasstrt"),
        "ended": pl.col("ended"),
        "intervals": pl.col("intervals"),
        "queues": pl.col("queues"),
        "calls": _calls(0),
        "elapsed": _calls(1),
        "cpu": _calls(2),
    },
}
"""Columns of views that a formula does not say, as their descriptions do."""


# --- rows -----------------------------------------------------------------------------------------


def with_owners(frames: Frames, frame: pl.DataFrame) -> pl.DataFrame:
    """Add whose rows are: as the record says that begins what a task wrote, or the first of it."""
    on = ["source", "task_record"]
    task_record = pl.coalesce("task_record_no", "record_no").alias("task_record")
    kind = pl.col("wtidatyp").replace_strict(CONNECTIONS, default=pl.col("wtidatyp_text"))
    named = frames["wtid"].with_columns(task_record, connection_type=kind).sort("record_no")
    whose = named.group_by(on).agg(**{name: pl.col(of).first() for name, of in WHOSE.items()})
    return frame.with_columns(task_record).join(whose, on=on, how="left")


def blocks(frames: Frames) -> pl.DataFrame:
    """Return the queue blocks of tasks."""
    frame = with_owners(frames, with_tokens(frames["wqst"], "wqst"))
    return frame.with_columns(queue=queue_of())


def intervals(frames: Frames) -> pl.DataFrame:
    """Return the intervals of tasks."""
    return with_owners(frames, with_tokens(frames["wtas"], "wtas"))


def logs(frames: Frames) -> pl.DataFrame:
    """Return blocks of the log manager with their I/O: of copies, the one that did more."""
    on = ["source", "record_no"]
    sums = ("qjstioci", "qjstiocount", "qjstiototio", "qjstiototsus")
    most = ("qjstiomaxio", "qjstiomaxsus")
    copies = frames["qjst_io"].group_by(*on, "copy").agg(
        *(total(c(each)).alias(each) for each in sums), *(pl.col(each).max() for each in most)
    )  # fmt: skip
    io = copies.group_by(on).agg(
        *(total(each).alias(each) for each in sums), *(pl.col(each).max() for each in most),
        copy_pages=pl.col("qjstioci").max(), copy_suspended=pl.col("qjstiototsus").max(),
    )  # fmt: skip
    return frames["qjst"].join(io, on=on, how="left")


def chinit_tasks(frames: Frames) -> pl.DataFrame:
    kinds = {"dispatcher": "qct_dsp", "adapter": "qct_adp", "ssl": "qct_ssl", "dns": "qct_dns"}
    return pl.concat(
        [frames[table].with_columns(kind=pl.lit(kind)) for kind, table in kinds.items()],
        how="diagonal",
    )


def calls(frames: Frames) -> pl.DataFrame:
    """Return queue blocks and intervals of tasks once more for each verb that was used."""
    parts = []
    for frame, verbs in ((blocks(frames), QUEUE_VERBS), (intervals(frames), TASK_VERBS)):
        for verb, (count, elapsed, cpu) in verbs.items():
            spent = {"calls": c(count) if count else None, "elapsed": c(elapsed), "cpu": c(cpu)}
            spent |= {part: _part(fields.get(verb)) for part, fields in PARTS.items()}
            parts.append(frame.with_columns(verb=pl.lit(verb), **spent))
    used = pl.any_horizontal(pl.col(each) != 0 for each in ("calls", "elapsed", "cpu"))
    return pl.concat(parts, how="diagonal_relaxed").filter(used)


def _part(fields: Sequence[str] | None) -> pl.Expr:
    """Add fields, if the release records the first of them."""
    if not fields:
        return pl.lit(None, pl.Float64)
    return pl.when(pl.col(fields[0]).is_not_null()).then(added(fields))


def tasks(frames: Frames) -> pl.DataFrame:
    """Return tasks with their intervals and their queue blocks, added."""
    of_queues = blocks(frames).drop("interval_seconds")
    of_tasks = intervals(frames).with_columns(
        there=pl.lit(1), over=pl.when("wtasaeot").then("wtasinte")
    )
    frame = pl.concat([of_tasks, of_queues], how="diagonal")
    captured = pl.coalesce(
        pl.col("time").dt.replace_time_zone(None),
        pl.col("smf_time") - pl.duration(seconds=pl.col("utc_offset")),
    )
    frame = frame.sort(captured, "source", "task_record").with_columns(record_no="task_record")
    last = ("qsg", "mq_version", "utc_offset", "source", "record_no", *WHOSE)
    sums = {
        name
        for name in (*frames["wqst"].columns, *frames["wtas"].columns)
        if frame.schema[name].is_numeric() and name not in (*last, "record_offset", "block_no")
    }
    return frame.group_by("system", "qmgr", "token").agg(
        *(pl.col(each).drop_nulls().last() for each in last),
        *(total(c(each)).alias(each) for each in sums),
        *(pl.col(each).max() for each in ("smf_time", "counted_at", "time", "wtasstrt")),
        pl.col("interval_start").min(),
        ended=pl.col("over").max(),
        intervals=pl.col("there").sum(),
        queues=pl.col("queue").drop_nulls().n_unique(),
    )


BLOCK = {"record_no": "record_no", "block_no": "block_no"}
ROWS: Mapping[str, tuple[Callable[[Frames], pl.DataFrame], Mapping[str, str]]] = {
    "api_cost": (calls, BLOCK | {"verb": "verb"}),
    "buffer_pool": (
        operator.itemgetter("qpst"),
        {"record_no": "record_no", "qpstpool": "buffer_pool"},
    ),
    "channel": (operator.itemgetter("qcst"), BLOCK),
    "chinit_task": (chinit_tasks, BLOCK | {"kind": "kind"}),
    "data_lost": (operator.itemgetter("smf7"), {"record_no": "record_no"}),
    "log_interval": (logs, {"record_no": "record_no"}),
    "queue_activity": (blocks, BLOCK),
    "queue_depth": (operator.itemgetter("qqst"), BLOCK),
    "task": (tasks, {"system": "system", "qmgr": "qmgr", "token": "token"}),
}
"""Views, their rows with all fields, and what tells these apart: fields, columns of the view."""


def worked_out(name: str) -> Iterator[tuple[str, pl.Expr]]:
    """Yield the columns of a view with what they have to be, of fields and of other columns."""
    text = (PROJECT / f"smfparse/tables/definitions/{name}.toml").read_text("utf-8")
    declared = tomllib.loads(text)["columns"]
    for column in views.view(name).columns:
        how = declared.get(column.name, column.name)
        how = {"field": how} if isinstance(how, str) else how
        if column.name in WORDS.get(name, {}):
            yield column.name, WORDS[name][column.name]
        elif "formula" in how:
            yield column.name, value_of(how["formula"])
        else:
            yield column.name, pl.col(how.get("sum") or how["field"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_site(tmp_path_factory.mktemp("small") / "small.smf")


def check(name: str, path: Path) -> int:
    """Compare a view with its recomputation; return how many numbers were not zero."""
    with Catalog(open_inputs([path])) as catalog:
        own = pl.DataFrame(catalog.arrow(f"SELECT * FROM {name}"))
    made, keys = ROWS[name]
    rows = made(Frames(open_inputs([path])))
    own = own.rename(lambda column: OWN + column)
    both = rows.join(
        own, left_on=list(keys), right_on=[OWN + each for each in keys.values()], coalesce=False
    )
    assert both.height == rows.height == own.height
    numbers = 0
    for column, expected in worked_out(name):
        pairs = both.select(found=OWN + column, wanted=expected)
        for found, wanted in pairs.iter_rows():
            assert same(found, wanted), (column, found, wanted)
            numbers += isinstance(wanted, int | float) and bool(wanted)
    return numbers


@pytest.mark.parametrize("name", views.view_names())
def test_a_view_of_a_site_of_small_numbers_is_what_polars_works_out(name: str, site: Path) -> None:
    assert check(name, site) > 0


@every_file
@pytest.mark.parametrize("name", views.view_names())
def test_a_view_of_every_file_is_what_polars_works_out(name: str, path: Path) -> None:
    check(name, path)
