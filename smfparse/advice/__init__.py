"""Advice: rules over the tables, what crossed them when, and which cause explains it.

In: a catalog. Out: findings. Rules are declarations in `definitions`; nothing here opens inputs.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.advice.declaration import IMPACTS as IMPACTS
    from smfparse.advice.declaration import RANKS as RANKS
    from smfparse.advice.declaration import Rule as Rule
    from smfparse.advice.declaration import diagnoses as diagnoses
    from smfparse.advice.declaration import rules as rules
    from smfparse.advice.declaration import subjects as subjects
    from smfparse.advice.findings import Finding as Finding
    from smfparse.advice.findings import Once as Once
    from smfparse.advice.running import Checked as Checked
    from smfparse.advice.running import run_rules as run_rules
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        declaration="IMPACTS RANKS Rule diagnoses rules subjects",
        findings="Finding Once",
        running="Checked run_rules",
    )
