"""The MQ versions of synthetic data; click lists them, so nothing else is loaded here."""

from __future__ import annotations

VERSIONS = (
    *("6.0.0", "7.0.0", "7.0.1", "7.1.0", "8.0.0", "9.0.0", "9.1.0", "9.1.2", "9.1.4", "9.2.0"),
    *("9.3.0", "9.3.1", "9.3.2", "9.3.3", "9.3.5", "9.4.0", "9.4.3", "9.4.5", "10.0.0"),
)
"""MQ versions, those among them from which a block is longer."""
