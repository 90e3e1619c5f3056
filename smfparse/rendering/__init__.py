"""How results are shown: a `Document` comes in, lines of a format go out, as its rows come.

A new output format is one module here and a row of `formats.FORMATS`. What a figure or a report
means is not known here; a document is read once, and nothing is written to files.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.rendering.batches import some_at_a_time as some_at_a_time
    from smfparse.rendering.colours import FAINT as FAINT
    from smfparse.rendering.colours import FINDINGS as FINDINGS
    from smfparse.rendering.colours import HEAD as HEAD
    from smfparse.rendering.colours import HEADLINE as HEADLINE
    from smfparse.rendering.colours import Mark as Mark
    from smfparse.rendering.colours import coloured as coloured
    from smfparse.rendering.columns import aligned as aligned
    from smfparse.rendering.csv import csv_moment as csv_moment
    from smfparse.rendering.csv import of_frame as of_frame
    from smfparse.rendering.document import Cells as Cells
    from smfparse.rendering.document import Column as Column
    from smfparse.rendering.document import Document as Document
    from smfparse.rendering.document import Facts as Facts
    from smfparse.rendering.document import Frames as Frames
    from smfparse.rendering.document import Section as Section
    from smfparse.rendering.document import Table as Table
    from smfparse.rendering.document import Values as Values
    from smfparse.rendering.figures import ABSENT as ABSENT
    from smfparse.rendering.figures import MOMENTS as MOMENTS
    from smfparse.rendering.figures import NUMBERS as NUMBERS
    from smfparse.rendering.figures import STYLES as STYLES
    from smfparse.rendering.figures import above_zero as above_zero
    from smfparse.rendering.figures import decimals_of as decimals_of
    from smfparse.rendering.figures import few as few
    from smfparse.rendering.figures import in_digits as in_digits
    from smfparse.rendering.figures import plural as plural
    from smfparse.rendering.figures import short as short
    from smfparse.rendering.figures import styled as styled
    from smfparse.rendering.figures import with_decimals as with_decimals
    from smfparse.rendering.formats import DOT as DOT
    from smfparse.rendering.formats import FORMATS as FORMATS
    from smfparse.rendering.formats import HTML as HTML
    from smfparse.rendering.formats import MERMAID as MERMAID
    from smfparse.rendering.formats import PARQUET as PARQUET
    from smfparse.rendering.formats import PNG as PNG
    from smfparse.rendering.formats import SVG as SVG
    from smfparse.rendering.formats import TEXT as TEXT
    from smfparse.rendering.formats import XLSX as XLSX
    from smfparse.rendering.formats import lines as lines
    from smfparse.rendering.guard import HIDDEN as HIDDEN
    from smfparse.rendering.guard import guarded as guarded
    from smfparse.rendering.guard import is_plain as is_plain
    from smfparse.rendering.guard import visible as visible
    from smfparse.rendering.guard import visible_lines as visible_lines
    from smfparse.rendering.html import section_lines as section_lines
    from smfparse.rendering.json import json_lines as json_lines
    from smfparse.rendering.notebooks import Shown as Shown
    from smfparse.rendering.notebooks import notebook_html as notebook_html
    from smfparse.rendering.parquet import write_parquet as write_parquet
    from smfparse.rendering.pictures import png_maker as png_maker
    from smfparse.rendering.rows import RowsDocument as RowsDocument
    from smfparse.rendering.shell import BASE as BASE
    from smfparse.rendering.shell import TABLES as TABLES
    from smfparse.rendering.shell import escaped as escaped
    from smfparse.rendering.shell import head_lines as head_lines
    from smfparse.rendering.shell import joined as joined
    from smfparse.rendering.xlsx import write_workbook as write_workbook
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        batches="some_at_a_time",
        colours="FAINT FINDINGS HEAD HEADLINE Mark coloured",
        columns="aligned",
        csv="csv_moment of_frame",
        document="Cells Column Document Facts Frames Section Table Values",
        figures=(
            "ABSENT MOMENTS NUMBERS STYLES above_zero decimals_of few in_digits plural short "
            "styled with_decimals"
        ),
        formats="DOT FORMATS HTML MERMAID PARQUET PNG SVG TEXT XLSX lines",
        guard="HIDDEN guarded is_plain visible visible_lines",
        html="section_lines",
        json="json_lines",
        notebooks="Shown notebook_html",
        parquet="write_parquet",
        pictures="png_maker",
        rows="RowsDocument",
        shell="BASE TABLES escaped head_lines joined",
        xlsx="write_workbook",
    )
