"""A simulated MQ site: SMF data of its work, and the problems in it.

An estate is declared in TOML: queue managers, queues, channels and applications. Messages flow
through it interval by interval, and every record counts the same flows. So the figures belong
together, and the incidents that were planted are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.simulating.answers import answer_key as answer_key
    from smfparse.simulating.catalog import load_estate as load_estate
    from smfparse.simulating.catalog import scenario_names as scenario_names
    from smfparse.simulating.declaration import INCIDENTS as INCIDENTS
    from smfparse.simulating.declaration import Estate as Estate
    from smfparse.simulating.reading_toml import minutes as minutes
    from smfparse.simulating.reading_toml import offset as offset
    from smfparse.simulating.reading_toml import read_estate as read_estate
    from smfparse.simulating.writing import simulate as simulate
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        answers="answer_key",
        catalog="load_estate scenario_names",
        declaration="INCIDENTS Estate",
        reading_toml="minutes offset read_estate",
        writing="simulate",
    )
