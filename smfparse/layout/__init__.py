"""Declare a control block: its fields in order, each with a kind, as IBM maps them.

in    declarations: `block(..., "qistmget" / Count32 * "Message get requests")`
out   a `Block`: parses and builds one block, and knows where each table column lies in its bytes
never reads a file, and knows no block of MQ: those are in `schemas`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.layout.blocks import Block as Block
    from smfparse.layout.blocks import block as block
    from smfparse.layout.clocks import EARLIEST_US as EARLIEST_US
    from smfparse.layout.clocks import LATEST_US as LATEST_US
    from smfparse.layout.clocks import LOCAL_TIMESTAMP as LOCAL_TIMESTAMP
    from smfparse.layout.clocks import STCK_UNITS_PER_US as STCK_UNITS_PER_US
    from smfparse.layout.clocks import STCK_UNIX_EPOCH_US as STCK_UNIX_EPOCH_US
    from smfparse.layout.clocks import TIMESTAMP as TIMESTAMP
    from smfparse.layout.clocks import UNIX_EPOCH as UNIX_EPOCH
    from smfparse.layout.clocks import US_PER_DAY as US_PER_DAY
    from smfparse.layout.clocks import US_PER_SECOND as US_PER_SECOND
    from smfparse.layout.clocks import Duration as Duration
    from smfparse.layout.clocks import Elapsed as Elapsed
    from smfparse.layout.clocks import GaugeElapsed as GaugeElapsed
    from smfparse.layout.clocks import HighElapsed as HighElapsed
    from smfparse.layout.clocks import HighLatchElapsed as HighLatchElapsed
    from smfparse.layout.clocks import HighMicros64 as HighMicros64
    from smfparse.layout.clocks import Instant as Instant
    from smfparse.layout.clocks import LatchElapsed as LatchElapsed
    from smfparse.layout.clocks import LengthMicros64 as LengthMicros64
    from smfparse.layout.clocks import LocalMoment as LocalMoment
    from smfparse.layout.clocks import LocalWhen as LocalWhen
    from smfparse.layout.clocks import LowElapsed as LowElapsed
    from smfparse.layout.clocks import LowMicros64 as LowMicros64
    from smfparse.layout.clocks import Micros64 as Micros64
    from smfparse.layout.clocks import MicrosecondCount as MicrosecondCount
    from smfparse.layout.clocks import SmfMoment as SmfMoment
    from smfparse.layout.clocks import When as When
    from smfparse.layout.clocks import believed as believed
    from smfparse.layout.clocks import believed_seconds as believed_seconds
    from smfparse.layout.clocks import smf_moments as smf_moments
    from smfparse.layout.columns import Child as Child
    from smfparse.layout.columns import Column as Column
    from smfparse.layout.columns import Field as Field
    from smfparse.layout.kinds import Combine as Combine
    from smfparse.layout.kinds import Kind as Kind
    from smfparse.layout.kinds import Mask as Mask
    from smfparse.layout.kinds import Numeric as Numeric
    from smfparse.layout.kinds import Raw as Raw
    from smfparse.layout.kinds import Shown as Shown
    from smfparse.layout.kinds import Values as Values
    from smfparse.layout.members import Repeat as Repeat
    from smfparse.layout.members import header as header
    from smfparse.layout.members import since as since
    from smfparse.layout.members import version_key as version_key
    from smfparse.layout.numbers import WIDE_DIGITS as WIDE_DIGITS
    from smfparse.layout.numbers import Bit as Bit
    from smfparse.layout.numbers import Code as Code
    from smfparse.layout.numbers import Count16 as Count16
    from smfparse.layout.numbers import Count32 as Count32
    from smfparse.layout.numbers import Count64 as Count64
    from smfparse.layout.numbers import Flags as Flags
    from smfparse.layout.numbers import Gauge8 as Gauge8
    from smfparse.layout.numbers import Gauge16 as Gauge16
    from smfparse.layout.numbers import Gauge32 as Gauge32
    from smfparse.layout.numbers import Gauge64 as Gauge64
    from smfparse.layout.numbers import High32 as High32
    from smfparse.layout.numbers import High64 as High64
    from smfparse.layout.numbers import Low32 as Low32
    from smfparse.layout.numbers import Low64 as Low64
    from smfparse.layout.numbers import Number as Number
    from smfparse.layout.numbers import Packed as Packed
    from smfparse.layout.numbers import SCount32 as SCount32
    from smfparse.layout.numbers import SCount64 as SCount64
    from smfparse.layout.numbers import SGauge16 as SGauge16
    from smfparse.layout.numbers import SGauge32 as SGauge32
    from smfparse.layout.numbers import SHigh32 as SHigh32
    from smfparse.layout.numbers import SHigh64 as SHigh64
    from smfparse.layout.numbers import SLow32 as SLow32
    from smfparse.layout.numbers import SLow64 as SLow64
    from smfparse.layout.numbers import SquareSum as SquareSum
    from smfparse.layout.numbers import SWord16 as SWord16
    from smfparse.layout.numbers import SWord32 as SWord32
    from smfparse.layout.numbers import Wide as Wide
    from smfparse.layout.numbers import Word as Word
    from smfparse.layout.numbers import Word8 as Word8
    from smfparse.layout.numbers import Word16 as Word16
    from smfparse.layout.numbers import Word32 as Word32
    from smfparse.layout.numbers import Word64 as Word64
    from smfparse.layout.parts import Part as Part
    from smfparse.layout.parts import PartOf as PartOf
    from smfparse.layout.texts import BLANK as BLANK
    from smfparse.layout.texts import ENCODING as ENCODING
    from smfparse.layout.texts import Header as Header
    from smfparse.layout.texts import Hex as Hex
    from smfparse.layout.texts import Reserved as Reserved
    from smfparse.layout.texts import Text as Text
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        blocks="Block block",
        clocks=(
            "EARLIEST_US LATEST_US LOCAL_TIMESTAMP STCK_UNITS_PER_US STCK_UNIX_EPOCH_US "
            "TIMESTAMP UNIX_EPOCH US_PER_DAY US_PER_SECOND Duration Elapsed GaugeElapsed "
            "HighElapsed HighLatchElapsed HighMicros64 Instant LatchElapsed LengthMicros64 "
            "LocalMoment LocalWhen LowElapsed LowMicros64 Micros64 MicrosecondCount SmfMoment "
            "When believed believed_seconds smf_moments"
        ),
        columns="Child Column Field",
        kinds="Combine Kind Mask Numeric Raw Shown Values",
        members="Repeat header since version_key",
        numbers=(
            "WIDE_DIGITS Bit Code Count16 Count32 Count64 Flags Gauge16 Gauge32 Gauge64 Gauge8 "
            "High32 High64 Low32 Low64 Number Packed SCount32 SCount64 SGauge16 SGauge32 SHigh32 "
            "SHigh64 SLow32 SLow64 SWord16 SWord32 SquareSum Wide Word Word16 Word32 Word64 Word8"
        ),
        parts="Part PartOf",
        texts="BLANK ENCODING Header Hex Reserved Text",
    )
