"""Sites of the independent days: payments, a shop of clients, batch, a group, and more."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

from tests.support.days import Channel, Flow, PageSet, Pool, Site

BRIEF: Any = {"persistent": False}
REPLY: Any = {"by_id": True, **BRIEF}
EOD: Any = {"each": 50, "hours": (21, 23.5), "flat": True}

BANK = replace(
    Site("BNK1", minutes=10),
    flows=(
        Flow("PAY.IN", "PAYCICS1", "PAYBAT", 45, 1800, each=2, page_set=4, handed=0.6),
        Flow("PAY.REPLY", "PAYBAT", "PAYCICS1", 45, 900, page_set=5, index=2, **REPLY),
        Flow("LEDGER.IN", "PAYBAT", "LEDGER", 30, 3000, each=5, page_set=6),
        Flow("QMB1.XMIT", "LEDGER", "BNK1CHIN", 25, 2500, each=4, page_set=7, channel="TO.QMB1"),
        Flow("FROM.QMB1", "BNK1CHIN", "LEDGER", 20, 1200, each=4, page_set=4, channel="QMB1.BNK1"),
    ),
    pools={0: Pool(20_000), 3: Pool(50_000), 4: Pool(60_000), 5: Pool(30_000)},
    page_sets={
        0: PageSet(0, 20_000, 0.12),
        4: PageSet(3, 400_000),
        5: PageSet(4, 400_000),
        6: PageSet(5, 500_000, 0.08),
        7: PageSet(5, 500_000),
    },
    channels=(
        Channel("TO.QMB1", 1, 50, 1200, 250, dispatcher=0),
        Channel("QMB1.BNK1", 3, dispatcher=1),
    ),
)

OF_CLIENTS: Any = {"channel": "SHOP.CLIENTS2", "index": 2, **REPLY}

SHOP = replace(
    Site("SHP2", "SYS2", east=-5, minutes=15, log_us=180, limit=900, connections=150),
    flows=(
        Flow("SHOP.ORDER", "SHP2CHIN", "ORDERS", 80, 1500, page_set=11, channel="SHOP.CLIENTS"),
        Flow("SHOP.ANSWER", "ORDERS", "SHP2CHIN", 80, 4000, page_set=12, **OF_CLIENTS),
        Flow("STOCK.UPD", "ORDERS", "STKCICS", 40, 700, each=10, page_set=11),
        Flow("WHS.XMIT", "STKCICS", "SHP2CHIN", 30, 1000, each=5, page_set=13, channel="TO.WHS"),
    ),
    pools={0: Pool(10_000), 1: Pool(40_000), 2: Pool(40_000)},
    page_sets={
        0: PageSet(0, 20_000, 0.2),
        11: PageSet(1, 300_000),
        12: PageSet(2, 300_000),
        13: PageSet(2, 300_000),
    },
    channels=(
        Channel("SHOP.CLIENTS", 7, instances=6, tls=True, dispatcher=1),
        Channel("SHOP.CLIENTS2", 7, instances=6, tls=True, dispatcher=2),
        Channel("TO.WHS", 1, 100, 9000, 220, dispatcher=0),
    ),
)

NIGHT = replace(
    Site("NGT3", "SYSN", east=1, minutes=15, night=0.3, log_us=240),
    flows=(
        Flow("EOD.POST", "EODLOAD", "EODPOST", 260, 3200, page_set=4, spare=1.3, **EOD),
        Flow("EOD.REPORT", "EODPOST", "EODPRINT", 90, 8000, page_set=5, spare=1.5, **EOD, **BRIEF),
        Flow("DAY.INQ", "INQCICS", "INQSRV", 12, 600, persistent=False, page_set=5),
        Flow("DAY.UPD", "INQCICS", "UPDSRV", 8, 1500, each=2, page_set=4),
    ),
    pools={0: Pool(20_000), 1: Pool(50_000), 2: Pool(50_000)},
    page_sets={0: PageSet(0, 20_000, 0.1), 4: PageSet(1, 900_000), 5: PageSet(2, 900_000)},
)

CARDS = replace(
    Site("CRD4", "SYSN", east=1, minutes=15, night=0.2, log_us=230),
    flows=(
        Flow("CARD.AUTH", "CARDLOAD", "CARDPOST", 240, 900, hours=(1, 23), page_set=4, spare=9),
        Flow("CARD.INFO", "CARDPOST", "CARDINQ", 20, 900, persistent=False, page_set=5),
    ),
    pools={0: Pool(20_000), 1: Pool(50_000), 2: Pool(50_000)},
    page_sets={0: PageSet(0, 20_000, 0.1), 4: PageSet(1, 900_000), 5: PageSet(2, 900_000)},
)

GROUP = replace(
    Site("SQ11", "SYS1", qsg="QSGA", east=0, minutes=10),
    flows=(
        Flow("SHR.ORDERS", "ORDCICS", "ORDSRV", 60, 2000, each=1, structure="APPL1"),
        Flow("SHR.EVENTS", "ORDSRV", "EVTBAT", 40, 1000, each=10, structure="APPL2", **BRIEF),
        Flow("LOCAL.AUDIT", "ORDSRV", "AUDIT", 20, 1200, each=20, page_set=4),
    ),
    structures={"CSQ_ADMIN": 9.0, "APPL1": 7.5, "APPL2": 8.2},
)

TINY = replace(
    Site("TNY5", "TEST", east=2, minutes=30, night=0.02, log_us=420),
    flows=(
        Flow("T.REQ", "TSOUSER", "TSRV", 0.2, 700, page_set=4),
        Flow("T.REP", "TSRV", "TSOUSER", 0.2, 700, page_set=4, **REPLY),
    ),
    pools={0: Pool(1000), 3: Pool(1000)},
    page_sets={0: PageSet(0, 5000, 0.3), 4: PageSet(3, 20_000)},
)

XMIT: Any = {"getter": "HUB6CHIN", "size": 1100, "each": 10}

HUB = replace(
    Site("HUB6", "SYSH", east=8, minutes=5, day=dt.date(2026, 6, 3), log_us=190),
    flows=(
        *(
            Flow(f"XMIT.B{n}", of, page_set=4 + n % 3, channel=f"TO.B{n}", **XMIT, rate=18 + 3 * n)
            for n, of in enumerate(["ROUTER", "HUB6CHIN"] * 3)
        ),
        Flow("ROUTE.IN", "HUB6CHIN", "ROUTER", 70, 1100, each=8, page_set=4, channel="FROM.ALL"),
    ),
    pools={0: Pool(20_000), 3: Pool(100_000)},
    page_sets={0: PageSet(0, 20_000, 0.1), **{n: PageSet(3, 800_000) for n in (4, 5, 6)}},
    channels=(
        *(Channel(f"TO.B{n}", 1, 50, 1500 + 900 * n, 230, dispatcher=n % 5) for n in range(6)),
        Channel("FROM.ALL", 3, instances=4, dispatcher=3),
    ),
)

STATS = replace(
    Site("STA7", "SYSS", east=-3, minutes=15, class3=False, release="930", log_us=260),
    flows=(
        Flow("S.IN", "SBAT", "SWORK", 70, 2500, each=3, page_set=4),
        Flow("S.OUT", "SWORK", "SPRINT", 60, 2500, each=3, page_set=4),
    ),
    pools={0: Pool(20_000), 3: Pool(50_000)},
    page_sets={0: PageSet(0, 20_000, 0.12), 4: PageSet(3, 500_000)},
)
DEAD = replace(
    BANK,
    qmgr="BNK8",
    flows=(
        *BANK.flows,
        Flow("BNK8.DEAD.QUEUE", "BNK1CHIN", "", 2, hours=(10, 12.5), taken=(24, 24), flat=True),
    ),
)
ALL = {each.qmgr: each for each in (BANK, SHOP, NIGHT, CARDS, GROUP, TINY, HUB, STATS, DEAD)}
