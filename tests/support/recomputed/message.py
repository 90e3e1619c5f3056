"""The report message: which figures are beyond the limits of the rules, with their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from tests.support.recomputed.parts import SECONDS, Part, Tables, c, ratio, total, whole

BUSY = ratio(c("qcteltm"), SECONDS * 1e6, 100)


@dataclass(frozen=True)
class Rule:
    """A limit: `crossed` says whether the value is beyond it, and worth a message."""

    name: str
    value: pl.Expr
    crossed: pl.Expr


def above(name: str, value: pl.Expr, limit: float = 0, more: pl.Expr | None = None) -> Rule:
    return Rule(name, value, (value > limit) & (pl.lit(True) if more is None else more))


def least(name: str, value: pl.Expr, limit: float, more: pl.Expr | None = None) -> Rule:
    return Rule(name, value, (value >= limit) & (pl.lit(True) if more is None else more))


def times(name: str, number: pl.Expr, other: pl.Expr, limit: float, more: pl.Expr) -> Rule:
    """A number that is many times another; of nothing it is beyond every limit."""
    value = pl.when(other > 0).then(number / other).otherwise(number)
    return Rule(name, value, more & (number > limit * other.fill_null(0)))


FREE = ratio(c("qpstcbsl"), c("qpstnbuf"), 100)
POOL = [
    above("BUFF-SOS", c("qpstsos")),
    above("BUFF-DMC", c("qpstdmc")),
    above("BUFF-IMW", c("qpstimw")),
    above("BUFF-DWT", c("qpstdwt")),
    Rule("BUFF-FREE", FREE, FREE <= 5),
    Rule("BUFF-LOW", FREE, (FREE > 5) & (FREE <= 15)),
    above("BUFF-STLA", ratio(c("qpststla"), c("qpststl"), 100), 20),
    times("BUFF-SCAN", c("qpstrio"), c("qpsttpw"), 10, c("qpstrio") >= 1000),
]
READS = c("qjstrbuf") + c("qjstract") + c("qjstrarh")
LOGGER = 100 - ratio(c("qjstslptu"), SECONDS * 1e6, 100)
DUE = pl.max_horizontal(pl.lit(1.0), SECONDS / 300)
LOG = [
    above("LOG-WTB", c("qjstwtb")),
    above("LOG-TVC", ratio(c("qjsttvc"), READS, 100), 1),
    above("LOG-ARCHIVE", ratio(c("qjstrarh"), READS, 100), 33),
    above("LOG-READS", READS),
    Rule("LOG-CHECKPOINTS", c("qjstllcp"), c("qjstllcp") > DUE),
    least("LOG-BUSY", LOGGER, 95, c("pages_per_io") < 100),
    least("LOG-CEILING", c("pages_per_io"), 100),
    above("LOG-RESPONSE", c("io_us"), 500),
]
PUTS = c("qmstput") + c("qmstput1")
MANAGED = c("qistmput")
BUSY_GETS = pl.max_horizontal(c("qmstget"), c("qistmget")) >= 100
BUSY_PUTS = pl.max_horizontal(PUTS, MANAGED) >= 100
MANAGERS = [
    times("DATA-SCROLL", c("qistmget"), c("qmstget"), 1.1, BUSY_GETS),
    times("MSGM-EMPTY", c("qmstget"), c("qistmget"), 1.1, BUSY_GETS),
    times("MSGM-WAITING-GETTER", PUTS, MANAGED, 1.1, BUSY_PUTS),
    times("DATA-GENERATED", MANAGED, PUTS, 1.1, BUSY_PUTS),
    above("DATA-DISK", c("qistgetd")),
    above("DATA-OBJECTS", c("qistdcre") + c("qistddel")),
]
STRUCTURE = [
    above("CF-FULL", c("qestsful")),
    above("CF-REDRIVE-SINGLE", ratio(c("qestrsec"), c("qestcsec"), 100), 20),
    above("CF-REDRIVE-MULTIPLE", ratio(c("qestrmec"), c("qestcmec"), 100), 20),
]
DATA_SET = [
    Rule("SMDS-BUFFERS", c("qesdbfmf"), (c("qesdbfto") > 0) & (c("qesdbfmf") == 0)),
    above("SMDS-WAITERS", c("qesdbfmp")),
]
CHANNELS = [
    above("MQCHIN001W", ratio(c("qcctnoac"), c("qcctmxac"), 100), 50),
    above("CHINIT-MAXCHL", ratio(c("qcctnocc"), c("qcctmxcc"), 100), 90),
]
DISPATCHERS = [
    above("MQCHIN007I", c("busy"), 50),
    above("DISP-BUSY", c("busiest"), 90),
    above("DISP-CPU", c("stretch"), 2, c("busy") > 1),
]
ADAPTERS = [
    above("MQCHIN008I", c("busy"), 50),
    least("ADAP-ALL-USED", c("idlest"), 1),
    above("ADAP-LAST", c("last"), 50),
]
DNS = [least("DNS-BUSY", BUSY, 25), above("DNS-SLOW", c("qctlgdu"), 3e6)]
POLLING = ratio(c("validget"), c("getn"), 100)
QUEUES = [
    least("QUEUE-INDEX", c("gets"), 100, pl.col("indxtype") == 0),
    least("QUEUE-SKIPPED", c("skipped"), 100),
    Rule("QUEUE-POLLING", POLLING, (POLLING < 10) & (c("getn") >= 100)),
    least("QUEUE-OPENS", c("openn"), 100, c("openn") >= 0.9 * (c("getn") + c("putn"))),
]
SELECTORS = [
    times("QUEUE-SELECTOR", c("lists"), c("moves"), 3, c("lists") >= 100),
]


def message(_: str, tables: Tables) -> list[Part]:
    """Return the rules that are crossed; rows of one rule are told apart by their values."""
    keys = tables.keys
    log = tables.combined("qjst")
    for each in _io(tables):
        log = log.join(each, on=keys, how="left")
    both = tables.combined("qmst").join(tables.combined("qist"), on=keys, suffix="_data")
    sources = [
        (tables.combined("qpst", ["qpstpool"]), POOL),
        (log, LOG),
        (both, MANAGERS),
        (tables.combined("qsst"), [_storage()]),
        (tables.combined("qest", ["qeststr"]), STRUCTURE),
        (tables.combined("q5st"), [above("DB2-QUEUE", c("dhigmax"), 10)]),
        (tables.combined("qesd", ["qesdstr"]), DATA_SET),
        (tables.combined("qcct"), CHANNELS),
        (_tasks(tables, "qct_dsp"), DISPATCHERS),
        (_tasks(tables, "qct_adp"), ADAPTERS),
        (_tasks(tables, "qct_ssl"), [above("MQCHIN009I", c("busy"), 50)]),
        (tables.combined("qct_dns", ["block_no"]), DNS),
        (_queues(tables), QUEUES),
        (_lists(tables), SELECTORS),
    ]
    found = [crossed for frame, rules in sources for crossed in _crossed(frame, rules, keys)]
    return [Part(pl.concat(found), ["rule", "pool"])]


def _storage() -> Rule:
    number = c("qsstcrit") + c("qsstcont")
    return Rule("STG-SOS", number, (c("qsstcrit") > 0) | (c("qsstcont") > 0))


def _crossed(
    frame: pl.DataFrame, rules: Iterable[Rule], keys: Sequence[str]
) -> Iterable[pl.DataFrame]:
    pool = pl.col("qpstpool") if "qpstpool" in frame.columns else pl.lit(None)
    for rule in rules:
        yield frame.filter(rule.crossed).select(
            *keys, rule=pl.lit(rule.name), pool=pool.cast(pl.Int64),
            value=rule.value.cast(pl.Float64),
        )  # fmt: skip


def _io(tables: Tables) -> list[pl.DataFrame]:
    """Return pages an I/O of all write I/O, and the time of one of a single page."""
    io, keys = tables["qjst_io"], tables.keys
    ios = total(whole("qjstiocount"))
    return [
        io.group_by(keys).agg(pages_per_io=ratio(total(whole("qjstioci")), ios)),
        io.filter(pl.col("io_type") == 1).group_by(keys).agg(
            io_us=ratio(total("qjstiototio"), ios)
        ),
    ]  # fmt: skip


def _tasks(tables: Tables, table: str) -> pl.DataFrame:
    frame = tables.combined(table, ["block_no"])
    return frame.group_by(tables.keys).agg(
        busy=ratio(total("qcteltm"), total("interval_seconds") * 1e6, 100),
        busiest=BUSY.max(),
        idlest=BUSY.min(),
        last=BUSY.sort_by("block_no").drop_nulls().last(),
        stretch=ratio(total("qcteltm"), total("qctcptm")),
    )


def _queues(tables: Tables) -> pl.DataFrame:
    return tables["wqst"].group_by(*tables.keys, "objname").agg(
        *(total(whole(each)) for each in ("getn", "gets", "validget", "openn", "putn")),
        indxtype=pl.col("indxtype").min(),
        skipped=total(whole("getepage") + whole("getsmsg")),
    )  # fmt: skip


def _lists(tables: Tables) -> pl.DataFrame:
    """Return requests of MQGET to lists of the coupling facility: reads, and moves of messages."""
    gets = tables["wqst_cf"].filter(pl.col("verb") == "get")
    moves = pl.col("request").is_in([11, 12])
    return gets.group_by(tables.keys).agg(
        lists=total(pl.when(pl.col("request") == 9).then(whole("cfcount"))),
        moves=total(pl.when(moves).then(whole("cfcount"))),
    )


RECOMPUTED: Mapping[str, Callable[..., list[Part]]] = {"message": message}
