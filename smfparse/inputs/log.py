"""Damage, unknown bytes and duplicates of the inputs, for reports besides their rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from smfparse.decoding.fingerprinting import Recorder
from smfparse.errors import DamageLog
from smfparse.places.kinds import Place


@dataclass
class Log:
    """Collects reports about the inputs besides their rows.

    damage         parts of the inputs that could not be used
    unknown        number of bytes without a column, by block or section
    count_unknown  whether these bytes are counted
    duplicates     number of records left out because an earlier dump has them, by path of the file
    records        receives the fingerprints of all records; None: nothing does
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
        """Return an empty log with the same settings."""
        records = None if self.records is None else Recorder()
        damage = DamageLog(strict=self.damage.strict)
        return Log(damage, count_unknown=self.count_unknown, records=records)
