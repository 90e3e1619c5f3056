"""Where the parts of the QWHS area are, against the same in plain Python, an area at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.areas import header_parts
from tests.support.searching import search

MQ_10 = bytes.fromhex("F9F4F6")
"""The first release that writes QWHX."""

RELEASES = st.one_of(
    st.sampled_from([MQ_10, bytes.fromhex("F9F4F5"), bytes.fromhex("F9F3F0")]),
    st.tuples(*(st.sampled_from([0, each - 1, each, each + 1, 255]) for each in MQ_10)).map(bytes),
)
AREAS = st.tuples(
    st.sampled_from([0, 1, 3, 4, 5, 35, 36, 37, 52, 127, 128, 0xFFFF]),
    st.one_of(st.integers(4, 160), st.sampled_from([4, 52, 67, 68, 127, 128, 129, 143, 144])),
    RELEASES,
)


def parts(qwhslen: int, length: int, release: bytes) -> tuple[int, bool, int, bool]:
    """Return how long QWHS is, whether QWHC follows, and where QWHX is and whether it is there.

    QWHS of 36 bytes has QWHC of 92 behind it. QWHX has 16 bytes.
    """
    own = qwhslen
    if own > length:
        own = length
    if own < 4:
        own = 4
    has_qwhc = own == 36 and length >= 128
    qwhx = 128 if has_qwhc else own
    return own, has_qwhc, qwhx, release >= MQ_10 and qwhx + 16 <= length


@given(st.lists(AREAS, min_size=1, max_size=20))
@search(60)
def test_parts_of_the_area_are_where_the_lengths_say(areas: list[tuple[int, int, bytes]]) -> None:
    qwhslen, length, releases = zip(*areas, strict=True)
    raw = np.frombuffer(b"".join(releases), np.uint8).reshape(-1, 3)
    found = header_parts(np.array(qwhslen, np.int64), np.array(length, np.int64), raw)
    assert list(zip(*(each.tolist() for each in found), strict=True)) == [
        parts(*each) for each in areas
    ]
