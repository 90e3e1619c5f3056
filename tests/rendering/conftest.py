"""Fixtures of tests of forms."""

from tests.support.once import worked_out_once

__all__ = ["worked_out_once"]
