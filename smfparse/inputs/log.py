"""The log of the inputs: damage, unknown bytes and duplicates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from smfparse.decoding.fingerprinting import Recorder
from smfparse.errors import DamageLog
from smfparse.places.kinds import Place


@dataclass
class Log:
    """The log of the inputs.

    damage         damage in the inputs
    unknown        number of bytes that no column contains, by block or section
    count_unknown  whether these bytes are counted
    duplicates     number of records omitted because an earlier dump contains them, by path of the
                   file
    records        collector of the fingerprints of all records; None: not collected
    """

    damage: DamageLog = field(default_factory=DamageLog)
    unknown: Counter[str] = field(default_factory=Counter)
    count_unknown: bool = False
    duplicates: dict[Place, int] = field(default_factory=dict)
    records: Recorder | None = None

    def add(self, other: Log) -> None:
        """Add the entries of `other`, a log about later bytes."""
        self.damage.extend(other.damage)
        self.unknown.update(other.unknown)
        self.duplicates.update(other.duplicates)
        if self.records is not None and other.records is not None:
            for each in other.records.seen:
                self.records.add(each)

    def anew(self) -> Log:
        """Return an empty log with the settings of this log."""
        records = None if self.records is None else Recorder()
        damage = DamageLog(strict=self.damage.strict)
        return Log(damage, count_unknown=self.count_unknown, records=records)
