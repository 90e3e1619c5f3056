"""Fields of verbs in accounting records (116), of which api-cost makes its figures."""

from __future__ import annotations

from collections.abc import Mapping

VERBS = ("open", "close", "get", "put", "put1", "inq", "set", "cb")
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
SHARES = (50, 90, 99)
"""Percentiles across tasks."""
