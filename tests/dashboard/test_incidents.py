"""What makes an incident of the page: constraints, diagnoses, and waste that lasts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smfparse.dashboard import gathered
from smfparse.dashboard.incidents import incidents
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from tests.support.generated import generate_dump


@pytest.mark.slow
def test_waste_of_one_interval_makes_no_incident(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = generate_dump(tmp_path_factory.mktemp("incidents") / "day.smf", count=8)
    opened = open_inputs([path])
    with Catalog(opened) as catalog:
        day = gathered(catalog, opened.damage, [str(path)]).days[0]
    one = next(each for each in day.findings if not each.explains)
    hour = replace(one, end=one.start + (day.findings[0].end - one.start) / 4)

    def made(severity: int, crossed: int) -> int:
        return len(
            incidents(replace(day, findings=[replace(hour, severity=severity, crossed=crossed)]))
        )

    assert (made(3, 1), made(3, 2), made(2, 1), made(4, 2)) == (0, 1, 1, 0)
