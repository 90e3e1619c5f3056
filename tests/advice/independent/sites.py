"""Sites of the independent days, as sites.toml declares them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.days.sites import Channel, Flow, PageSet, Pool, Site


def changed(site: Site, spec: Mapping[str, Any]) -> Site:
    """Return a site with other values; `rates` is how many times as much all flows carry."""
    values, times = dict(spec), spec.get("rates", 1)
    flows = [Flow(**each) for each in values.pop("flows", [])] or site.flows
    flows = *flows, *(Flow(**each) for each in values.pop("more_flows", []))
    channels = tuple(Channel(**each) for each in values.pop("channels", [])) or site.channels
    pools = {int(number): Pool(**each) for number, each in values.pop("pools", {}).items()}
    page_sets = {int(at): PageSet(**each) for at, each in values.pop("page_sets", {}).items()}
    return replace(
        site,
        flows=tuple(replace(each, rate=times * each.rate) for each in flows),
        channels=channels,
        pools={**site.pools, **pools},
        page_sets={**site.page_sets, **page_sets},
        **{key: each for key, each in values.items() if key not in ("like", "rates")},
    )


ALL = {"": Site(pools={}, page_sets={})}
for _name, _spec in tomllib.loads(Path(__file__).with_name("sites.toml").read_text()).items():
    ALL[_name] = changed(ALL[_spec.get("like", "")], _spec)
