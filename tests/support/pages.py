"""A page of the dashboard as tests look into it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import smfparse

DATA = re.compile(r'<script type="application/gzip;base64" id="data">([^<]*)</script>')


def page_of(data: smfparse.SmfData, folder: Path, **options: Any) -> str:
    data.dashboard(folder / "page.html", force=True, **options)
    return (folder / "page.html").read_text(encoding="utf-8")


def payload_in(page: str) -> dict[str, Any]:
    (text,) = DATA.findall(page)
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
    return found


def line_of(day: dict[str, Any], panel: str, name: str) -> Sequence[float | None]:
    """Return the values of an object of a panel of a day of the payload."""
    (values,) = (each["v"] for each in day["charts"][panel]["lines"] if each["name"] == name)
    found: Sequence[float | None] = values
    return found
