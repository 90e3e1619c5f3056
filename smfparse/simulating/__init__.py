"""Simulated SMF data: of an MQ site with its work and the problems in it, or of every record kind.

An estate is declared in TOML: queue managers, queues, channels and applications. Messages flow
through it interval by interval, and every record counts the same flows. So the figures belong
together, and the incidents that were planted are known. The declarations of schemas/ are read the
other way here, from values to bytes: no file is read, and nothing that decodes is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.simulating.answers import AnswerKey as AnswerKey
    from smfparse.simulating.declaration import INCIDENTS as INCIDENTS
    from smfparse.simulating.declaration import VERSIONS as VERSIONS
    from smfparse.simulating.declaration import Estate as Estate
    from smfparse.simulating.every_kind import generate as generate
    from smfparse.simulating.reading_toml import load_estate as load_estate
    from smfparse.simulating.reading_toml import minutes as minutes
    from smfparse.simulating.reading_toml import offset as offset
    from smfparse.simulating.reading_toml import read_estate as read_estate
    from smfparse.simulating.reading_toml import scenario_names as scenario_names
    from smfparse.simulating.run import simulate as simulate
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        answers="AnswerKey",
        declaration="INCIDENTS VERSIONS Estate",
        every_kind="generate",
        reading_toml="load_estate minutes offset read_estate scenario_names",
        run="simulate",
    )
