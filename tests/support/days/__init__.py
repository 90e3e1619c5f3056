"""Days of queue managers, built from the layout facts: the second builder of data for advice.

It shares no code and no numbers with `smfparse.simulating`. `sites` declares a queue manager,
`model` works out its intervals, `records` writes these as SMF records. What is planted is a list
of `Fault` and `Field`.
"""

from tests.support.days.blocks import Field as Field
from tests.support.days.model import Fault as Fault
from tests.support.days.records import day as day
from tests.support.days.sites import Channel as Channel
from tests.support.days.sites import Flow as Flow
from tests.support.days.sites import PageSet as PageSet
from tests.support.days.sites import Pool as Pool
from tests.support.days.sites import Site as Site
from tests.support.days.times import hour_of as hour_of
