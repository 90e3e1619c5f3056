"""Whether a client concentrator in zCX saves CPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.plans import Ask, Asked, Figure, Planner, published, said, source

_TABLE = "zcx_transaction_cost_8000_clients"
_AFTER = "concentrator after zIIP"
CONNECT_US = {"0": 510.0, "1": 590.0}
"""CPU microseconds of connecting a client on z14, by SHARECNV."""
_CHIN_KB, _MSTR_KB, _CLASS4_KB = 89.6, 14.08, 5.12
"""KB of storage per client in the channel initiator, in the queue manager, and for class 4."""


def transaction_parts(kind: str) -> dict[str, float]:
    """Return the CPU microseconds of a transaction by address space.

    kind  direct, concentrator, or `concentrator after zIIP`
    """
    return {name: us for name, us in published(_TABLE)[kind].items() if name != "total"}


def printed_total(kind: str) -> float:
    """Return CPU microseconds of a transaction as printed; the sum of the parts may differ."""
    return float(published(_TABLE)[kind]["total"])


def chin_ratio() -> float:
    """Return channel initiator CPU per transaction: with a concentrator / with direct clients."""
    return transaction_parts("concentrator")["CHIN"] / transaction_parts("direct")["CHIN"]


def saved_cpu_s(transactions_s: float, ziip: bool) -> float:
    """Return the CPU seconds saved per second; negative: a concentrator uses more CPU."""
    then = printed_total(_AFTER) if ziip else printed_total("concentrator")
    return (printed_total("direct") - then) * transactions_s / 1e6


def break_even_messages(connect_us: float, direct_us: float, then_us: float) -> float | None:
    """Return the maximum messages per connection for which CPU is saved; None: no limit."""
    return connect_us / (then_us - direct_us) if then_us > direct_us else None


@dataclass(frozen=True)
class Concentrator(Asked):
    """Inputs; the defaults are IBM's test: 8,000 clients, 4 KB nonpersistent, 1 per second each."""

    clients: Annotated[
        int, Ask("Clients", measured="most rows of server connections in an interval (qcst)")
    ] = 8000
    transactions_s: Annotated[
        float,
        Ask(
            "Transactions (put and get) of all clients per second",
            measured="gets of channel initiators (wqst)",
        ),
    ] = 8000
    chin_us: Annotated[
        float,
        Ask(
            "CPU of the channel initiator per transaction",
            "us",
            measured="qctcptm of all its tasks over gets of channel initiators",
        ),
    ] = 127.3
    connects_s: Annotated[
        float | None,
        Ask(
            "Connects of all clients per second",
            measured="tasks of client channels that ended (wtas)",
        ),
    ] = None
    sharecnv: Annotated[str, Ask("SHARECNV", among=("0", "1"))] = "1"
    ziip: Annotated[str, Ask("Use of zIIPs by zCX", among=("yes", "no"))] = "yes"


def _figures(asked: Concentrator) -> Sequence[Figure]:
    ziip = asked.ziip == "yes"
    ratio = chin_ratio()
    then = printed_total(_AFTER if ziip else "concentrator")
    direct = printed_total("direct")
    saved = saved_cpu_s(asked.transactions_s, ziip)
    return [
        Figure(
            "chin_us",
            "Channel initiator CPU per transaction",
            asked.chin_us * ratio,
            "us",
            f"{said(asked.chin_us)} x 48.2 / 127.3",
            1,
        ),
        Figure(
            *("chin_saved_s", "Channel initiator CPU saved"),
            *(asked.chin_us * (1 - ratio) * asked.transactions_s / 1e6, "s per second"),
            f"{said(asked.chin_us)} x (1 - {ratio:.3f}) x {said(asked.transactions_s)} / 10^6",
            2,
        ),
        Figure(
            *("saved_s", "Total CPU saved, as published", saved, "s per second"),
            *(f"({direct:g} - {then:g}) x {said(asked.transactions_s)} / 10^6", 2),
        ),
        *_connects(asked),
        *_break_even(asked, direct, then),
        *_storage(asked.clients),
    ]


def _connects(asked: Concentrator) -> list[Figure]:
    """Return the CPU of connects; empty: their rate is unknown."""
    if asked.connects_s is None:
        return []
    each = CONNECT_US[asked.sharecnv]
    return [
        Figure(
            *("connect_ms", "CPU of connects, current", asked.connects_s * each / 1000),
            *("ms per second", f"{said(asked.connects_s)} x {each:g} / 1,000", 2),
        )
    ]


def _break_even(asked: Concentrator, direct: float, then: float) -> list[Figure]:
    """Return the break-even; []: a concentrator saves CPU for every transaction."""
    even = break_even_messages(CONNECT_US[asked.sharecnv], direct, then)
    if even is None:
        return []
    return [
        Figure(
            *(
                "break_even",
                "Messages per connection below which a concentrator saves CPU",
                even,
                "",
            ),
            *(f"{CONNECT_US[asked.sharecnv]:g} / ({then:g} - {direct:g})", 1),
        )
    ]


def _storage(clients: int) -> list[Figure]:
    return [
        Figure(
            "chin_mb",
            "Free channel initiator storage",
            clients * _CHIN_KB / 1024,
            "MB",
            f"{clients} x {_CHIN_KB} / 1024",
        ),
        Figure(
            *("mstr_mb", "Free queue manager storage", clients * _MSTR_KB / 1024, "MB"),
            f"{clients} x {_MSTR_KB} / 1024",
        ),
        Figure(
            *(
                "class4_mb",
                "Free storage of class 4, above the bar",
                clients * _CLASS4_KB / 1024,
                "MB",
            ),
            f"{clients} x {_CLASS4_KB} / 1024",
        ),
        Figure("records", "Accounting records per interval", 2, "", f"now {clients}"),
    ]


PLANNER = Planner(
    "concentrator",
    "CPU saving by a concentrator in zCX",
    Concentrator,
    _figures,
    (
        f"{source(_TABLE)}: direct 180.3 us, concentrator 257.8 as printed (the parts add up to "
        "258.1), 91.6 after zIIPs",
        "Cost of connecting to z/OS queue managers, 2018 (z14): 510 us with SHARECNV(0), 590 with "
        "1; 90% of it in the channel initiator",
    ),
    "Clients that stay connected, with nonpersistent messages of 4 KB. Clients that connect for "
    "each message cost more than 5 times as much; a concentrator reduces this to an eighth. "
    "Measured CPU is multiplied by the published ratio; the published microseconds are not used.",
    (
        "CPU of MSTR, TCP/IP and zCX: see RMF",
        "response time of the additional hop, and of its log write for persistent messages (zCX "
        "use cases: 700 us for 32 KB)",
    ),
    "START TRACE(ACCTG) CLASS(3,4)",
)
