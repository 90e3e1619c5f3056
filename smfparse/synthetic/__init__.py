"""Synthetic SMF data: a scenario in, the bytes of a dump out; the same scenario, the same bytes.

The declarations of schemas/ are read the other way here, from values to bytes. No file is read,
and nothing that decodes is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.synthetic.dump import SMF_LIMIT as SMF_LIMIT
    from smfparse.synthetic.dump import generate as generate
    from smfparse.synthetic.versions import VERSIONS as VERSIONS
else:
    __all__, __getattr__, __dir__ = face(__name__, dump="SMF_LIMIT generate", versions="VERSIONS")
