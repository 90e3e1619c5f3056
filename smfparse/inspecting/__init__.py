"""What is in the data, for a person: counts of records, one record byte by byte, names explained.

Open inputs come in, or a chunk of records, or a name; documents and lines go out. Nothing here
works out figures: that is what reports and SQL are for.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.inspecting.coverage import coverage_in as coverage_in
    from smfparse.inspecting.described import description as description
    from smfparse.inspecting.described import uses_of as uses_of
    from smfparse.inspecting.extent import extent_text as extent_text
    from smfparse.inspecting.groups import Group as Group
    from smfparse.inspecting.groups import Inventory as Inventory
    from smfparse.inspecting.groups import inventory as inventory
    from smfparse.inspecting.losses import Loss as Loss
    from smfparse.inspecting.printing import SHOWN_DAMAGE as SHOWN_DAMAGE
    from smfparse.inspecting.printing import InventoryDocument as InventoryDocument
    from smfparse.inspecting.printing import left_out as left_out
    from smfparse.inspecting.printing import more as more
    from smfparse.inspecting.record import Record as Record
    from smfparse.inspecting.record import explained as explained
    from smfparse.inspecting.record import find_record as find_record
    from smfparse.inspecting.record import missing as missing
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        coverage="coverage_in",
        described="description uses_of",
        extent="extent_text",
        groups="Group Inventory inventory",
        losses="Loss",
        printing="SHOWN_DAMAGE InventoryDocument left_out more",
        record="Record explained find_record missing",
    )
