"""Drawings as pixels: SVG becomes PNG, by a library that is an extra."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from smfparse.errors import RequestError

_ZOOM = 2
"""Pixels of a picture for one of the drawing."""


def png_maker() -> Callable[[Iterable[str]], bytes]:
    """Return what makes PNG of the lines of a drawing, whose words are in the system's fonts.

    Raises RequestError where the extra `plot` is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise RequestError("PNG requires resvg_py: pip install resvg_py; SVG does not") from None

    def made(lines: Iterable[str]) -> bytes:
        return bytes(resvg_py.svg_to_bytes(svg_string="\n".join(lines), zoom=_ZOOM))

    return made
