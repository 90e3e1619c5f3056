"""Reports. In: a name and a catalog. Out: rows, their declaration, and how figures come about.

A report is `definitions/<name>.sql` and `<name>.toml`; nothing here decodes, opens an input or
writes an output, and DuckDB is loaded only by the catalog.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.reports.declaration import EVIDENCE as EVIDENCE
    from smfparse.reports.declaration import KEY_HEADINGS as KEY_HEADINGS
    from smfparse.reports.declaration import Figure as Figure
    from smfparse.reports.declaration import Planned as Planned
    from smfparse.reports.declaration import Report as Report
    from smfparse.reports.declaration import TextTable as TextTable
    from smfparse.reports.declaration import declared as declared
    from smfparse.reports.declaration import is_report as is_report
    from smfparse.reports.declaration import report as report
    from smfparse.reports.declaration import report_names as report_names
    from smfparse.reports.drawing import svg_lines as svg_lines
    from smfparse.reports.graph import graph_lines as graph_lines
    from smfparse.reports.graph import has_edges as has_edges
    from smfparse.reports.listing import ListDocument as ListDocument
    from smfparse.reports.listing import reports_listed as reports_listed
    from smfparse.reports.printing import ReportDocument as ReportDocument
    from smfparse.reports.running import Row as Row
    from smfparse.reports.running import explain as explain
    from smfparse.reports.running import prepare as prepare
    from smfparse.reports.running import report_macros as report_macros
    from smfparse.reports.running import report_parts as report_parts
    from smfparse.reports.running import report_table as report_table
    from smfparse.reports.running import run_report as run_report
    from smfparse.reports.sections import ONE_SECTION as ONE_SECTION
    from smfparse.reports.sections import RECORDED as RECORDED
    from smfparse.reports.sections import SECTION_COLUMNS as SECTION_COLUMNS
    from smfparse.reports.sections import TOTAL as TOTAL
    from smfparse.reports.sections import Sections as Sections
    from smfparse.reports.sections import every as every
    from smfparse.reports.templates import CLOCK as CLOCK
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        declaration=(
            "EVIDENCE KEY_HEADINGS Figure Planned Report TextTable declared is_report report "
            "report_names"
        ),
        drawing="svg_lines",
        graph="graph_lines has_edges",
        listing="ListDocument reports_listed",
        printing="ReportDocument",
        running="Row explain prepare report_macros report_parts report_table run_report",
        sections="ONE_SECTION RECORDED SECTION_COLUMNS TOTAL Sections every",
        templates="CLOCK",
    )
