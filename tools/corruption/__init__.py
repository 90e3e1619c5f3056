"""A corrupter of SMF files, and what must still be true of a file that it has damaged.

in    a seed, and how many inputs
out   the inputs of which smfparse loses something in silence, fails, or takes too long
never asks the reader what is sound: the files are written here, so it is known which record stands
where and which bytes are untouched

`samples` has the records, `framings` files of them, which tests/support/variants.py writes,
`mutations` damages these as a rope, which knows where each byte comes from. `cases` draws inputs by
a seed, `reading` has smfparse read many at once, `judging` compares, also with readers that take
only files in which nothing is wrong.
"""

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[2]))  # tests.support is there
