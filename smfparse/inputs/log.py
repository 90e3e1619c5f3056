"""What there is to report of inputs besides their rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from smfparse.decoding import Recorder
from smfparse.errors import DamageLog


@dataclass
class Log:
    """What there is to report of the inputs besides their rows.

    damage         what could not be used
    unknown        bytes that no column knows, by block or section; counted when asked for
    count_unknown  whether that is asked for
    duplicates     records left out of each file because an earlier dump has them, by its path
    records        takes the fingerprints of all records that are not left out; None: nothing does
    """

    damage: DamageLog = field(default_factory=DamageLog)
    unknown: Counter[str] = field(default_factory=Counter)
    count_unknown: bool = False
    duplicates: dict[Path, int] = field(default_factory=dict)
    records: Recorder | None = None

    def add(self, other: Log) -> None:
        """Take over what `other` has of what came later."""
        self.damage.extend(other.damage)
        self.unknown.update(other.unknown)
        self.duplicates.update(other.duplicates)
        if self.records is not None and other.records is not None:
            self.records.add(other.records.take())

    def anew(self) -> Log:
        """Return a log without entries, of which the same is asked."""
        records = None if self.records is None else Recorder()
        damage = DamageLog(strict=self.damage.strict)
        return Log(damage, count_unknown=self.count_unknown, records=records)
