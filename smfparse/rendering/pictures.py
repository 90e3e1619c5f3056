"""Conversion of SVG drawings to PNG, with an optional library."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from smfparse.errors import RequestError, install_command

_ZOOM = 2
"""Factor from the size of the SVG to the size of the PNG."""


def png_maker() -> Callable[[Iterable[str]], bytes]:
    """Return a function from the lines of an SVG to the bytes of a PNG, with the system's fonts.

    Raises RequestError if resvg_py is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise RequestError(
            f"PNG requires resvg_py: {install_command('resvg_py')}; SVG does not"
        ) from None

    def made(lines: Iterable[str]) -> bytes:
        return bytes(resvg_py.svg_to_bytes(svg_string="\n".join(lines), zoom=_ZOOM))

    return made
