"""Pseudonyms: a name always gets the same replacement, of the same length and kind.

Long names are also found outside their fields, all names in one pass. Short names are only counted.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits

import numpy as np

from smfparse.errors import InputError, RequestError
from smfparse.layout.kinds import ENCODING
from smfparse.store.targets import replacing
from smfparse.vectors import Bools, Bytes, Ints, each_of, gather

PART = re.compile(r"[A-Za-z0-9@#$]+")
"""Regular expression for a part of a name; dots, slashes, blanks and so on separate parts."""
LEAST = 4
"""Minimum length of parts that are replaced everywhere; shorter parts also occur by chance."""
_OCTETS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
_HEXTETS = re.compile(r"[\dA-Fa-f]{0,4}(?::[\dA-Fa-f]{0,4}){2,7}")
_PORT = re.compile(r"\(\d+\)$")
_HEXADECIMAL = ("ABCDEF", "abcdef", digits)
_MANY = 20_000
"""Maximum number of attempts to find a new name that is not an old name of another part."""
_HEADINGS = ["old", "new"]


class Pseudonyms:
    """The replacements for the parts of names.

    secret      key; a replacement is derived from the key and the part, so names cannot be guessed
                without the key
    kept        function that returns whether a name is not replaced; None: all names are replaced
    known       parts with existing replacements, for example from an earlier file
    keep_first  whether the first part of a name with several parts is not replaced
    """

    def __init__(
        self,
        secret: bytes,
        kept: Callable[[str], object] | None = None,
        known: Mapping[str, str] | None = None,
        *,
        keep_first: bool = False,
    ) -> None:
        self._secret = secret
        self._kept = kept
        self._keep_first = keep_first
        self.parts: dict[str, str] = dict(known or {})
        self._taken = set(self.parts.values())
        self._old: set[str] = set()
        self._starts: set[str] = set()
        self._whole: dict[str, str] = {}
        self._note_old(self.parts)

    @property
    def keeps(self) -> bool:
        """Whether `kept` or `keep_first` exclude names or parts from replacement."""
        return self._kept is not None or self._keep_first

    def learn(self, names: Iterable[str]) -> None:
        """Record names, so that no other name is replaced by one of these names."""
        self._note_old(part for name in names for part in PART.findall(name[self._begin(name) :]))

    def _note_old(self, several: Iterable[str]) -> None:
        parts = set(several)
        self._old |= parts
        self._starts |= {part[:LEAST].upper() for part in parts if len(part) >= LEAST}

    def of(self, kind: str, name: str) -> str:
        """Return the replacement for a name; `kind` is a key of `places.KINDS`."""
        begin = self._begin(name)
        if begin == len(name):
            return name
        if kind != "address":
            return name[:begin] + self._by_part(name[begin:])
        port = _PORT.search(name)
        host = name[: port.start()] if port else name
        made = _OCTETS.sub(lambda found: self._other(found[0], _like_address), host)
        if _HEXTETS.fullmatch(host):
            made = self._other(host, _like_hextets)
        made = (self._by_part(host) if made == host else made) + name[len(host) :]
        self._whole[name] = made
        return made

    def _by_part(self, name: str) -> str:
        return PART.sub(lambda found: self._other(found[0], _like), name)

    def _begin(self, name: str) -> int:
        """Return the index of the first character to replace; len(name): replace nothing."""
        if self._kept is not None and self._kept(name):
            return len(name)
        parts = list(PART.finditer(name)) if self._keep_first else []
        return parts[0].end() if len(parts) > 1 else 0

    def of_bytes(self, content: bytes) -> bytes:
        """Return the replacement for bytes that are not text; zeros are not replaced."""
        if not any(content):
            return content
        return hashlib.blake2b(content, key=self._secret, digest_size=len(content)).digest()

    def replaced(self) -> dict[str, str]:
        """Return {old: new} for the parts and addresses that are also replaced outside fields."""
        every = self.parts | self._whole
        return {old: new for old, new in every.items() if len(old) >= LEAST and old != new}

    def too_short(self) -> set[str]:
        """Return the parts that are too short for replacement outside their fields."""
        return {old for old, new in self.parts.items() if len(old) < LEAST and old != new}

    def _other(self, part: str, like: Callable[[str, Iterator[int]], str]) -> str:
        """Return the replacement for a part or an address; `like` returns a random candidate."""
        if part not in self.parts:
            self.parts[part] = self._new(part, like)
        return self.parts[part]

    def _new(self, part: str, like: Callable[[str, Iterator[int]], str]) -> str:
        """Return a new part: not used for another part and, if possible, not an old name."""
        for attempt in range(2 * _MANY):
            found = like(part, self._numbers(f"{attempt} {part}"))
            is_unusable = found in self._taken or (attempt < _MANY and self._is_old(found))
            if not is_unusable:
                break
        self._taken.add(found)
        return found

    def _is_old(self, name: str) -> bool:
        """Whether a text is an old part, or contains the first LEAST characters of an old part."""
        starts = (name[at : at + LEAST].upper() for at in range(len(name) - LEAST + 1))
        return name in self._old or any(each in self._starts for each in starts)

    def _numbers(self, text: str) -> Iterator[int]:
        """Yield numbers below 2**16 that cannot be predicted without the secret."""
        block = 0
        while True:
            key = hashlib.blake2b(f"{block} {text}".encode(), key=self._secret).digest()
            for high, low in zip(key[::2], key[1::2], strict=True):
                yield high << 8 | low
            block += 1


def _like(name: str, numbers: Iterator[int]) -> str:
    """Return a name with other letters and digits in the same places."""
    return "".join(_another(character, next(numbers)) for character in name)


def _another(
    character: str,
    number: int,
    alphabets: Iterable[str] = (ascii_uppercase, ascii_lowercase, digits),
) -> str:
    for among in alphabets:
        if character in among:
            return among[number % len(among)]
    return character


def _like_address(address: str, numbers: Iterator[int]) -> str:
    return ".".join(_octet(len(each), next(numbers)) for each in address.split("."))


def _like_hextets(address: str, numbers: Iterator[int]) -> str:
    """Return an IPv6 address with other digits and letters in the same places."""
    return "".join(_another(each, next(numbers), _HEXADECIMAL) for each in address)


def _octet(width: int, number: int) -> str:
    low, high = ((0, 10), (10, 100), (100, 256))[width - 1]
    return str(low + number % (high - low))


def read_map(path: Path) -> dict[str, str]:
    """Return {old part: new part} from a file that `write_map` wrote.

    Raises InputError if the file cannot be read, RequestError if `write_map` did not write it.
    """
    try:
        rows = list(csv.reader(io.StringIO(path.read_text("utf-8"))))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise RequestError(f"{path}: not a map of names; give a file written by --map") from error
    fits = rows[:1] == [_HEADINGS] and all(
        len(row) == len(_HEADINGS) and len(row[0]) == len(row[1]) for row in rows[1:]
    )
    if not fits or len({new for _, new in rows}) < len(rows):
        raise RequestError(f"{path}: not a map of names; give a file written by --map")
    return dict(rows[1:])


def write_map(path: Path, parts: Mapping[str, str]) -> None:
    """Write {old part: new part} to a CSV file that only its owner can read.

    An existing file is replaced when the new file is complete. Raises OutputError if this fails.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_HEADINGS)
    rows.writerows(sorted(parts.items()))
    with replacing(path) as part:
        part.touch(mode=0o600)
        part.write_text(text.getvalue(), "utf-8")


_ASCII = "latin-1"


class Finder:
    """Finds texts in bytes, in EBCDIC and in ASCII.

    replaced  {text: replacement of the same length}; the texts have at least LEAST characters,
              because the first search compares LEAST bytes
    """

    def __init__(self, replaced: Mapping[str, str]) -> None:
        pairs = {
            old.encode(encoding): new.encode(encoding)
            for encoding in (_ASCII, ENCODING)
            for old, new in replaced.items()
        }
        self._by_length: dict[int, tuple[Bytes, Bytes]] = {}
        for length in sorted({len(old) for old in pairs}, reverse=True):
            some = sorted((old, new) for old, new in pairs.items() if len(old) == length)
            old, new = (np.frombuffer(b"".join(each), np.uint8) for each in zip(*some, strict=True))
            self._by_length[length] = old.reshape(-1, length), new.reshape(-1, length)
        self._keys = np.unique(np.frombuffer(b"".join(old[:LEAST] for old in pairs), "u4"))
        self._first = np.zeros(1 << 16, np.bool_)
        self._first[self._keys.view("u2")[::2]] = True

    def found(self, buffer: Bytes, start: int, end: int) -> Iterator[tuple[Ints, Bytes]]:
        """Yield places of texts in buffer[start:end], and their replacements, length by length.

        Of overlapping texts, the longest is found. Shapes: int64 (found,), uint8 (found, length).
        """
        at = self._candidates(buffer, start, end)
        used = np.zeros(0, np.int64)
        for length, (old, new) in self._by_length.items():
            some = at[at + length <= end]
            which = _which(gather(buffer, some, length), old) if some.size else some
            some, which = some[which >= 0], which[which >= 0]
            clear = ~_overlap(some, length, used)
            some, which = some[clear], which[clear]
            used = np.union1d(used, each_of(some, length).ravel())
            if some.size:
                yield some, new[which]

    def _candidates(self, buffer: Bytes, start: int, end: int) -> Ints:
        if end - start < LEAST or not self._keys.size:
            return np.zeros(0, np.int64)
        pairs = np.ndarray((end - start - 1,), "u2", buffer, offset=start, strides=(1,))
        at = np.flatnonzero(self._first[pairs])
        at = at[at + LEAST <= end - start] + start
        keys = gather(buffer, at, LEAST).view("u4")[:, 0] if at.size else at
        place = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        found: Ints = at[self._keys[place] == keys]
        return found


class ShortNames:
    """Counts texts of fewer than LEAST characters, in EBCDIC and in ASCII.

    Such short texts are only counted, not replaced, because they also occur by chance.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        encoded = {each.encode(encoding) for encoding in (_ASCII, ENCODING) for each in texts}
        self._known = {
            length: np.sort([int.from_bytes(each) for each in encoded if len(each) == length])
            for length in sorted({len(each) for each in encoded})
        }

    def count(self, buffer: Bytes, start: int, end: int, fields: Bools | None = None) -> int:
        """Return the number of texts in buffer[start:end] without a byte of the mask `fields`."""
        return sum(
            self._count(buffer, start, end, fields, length)
            for length in self._known
            if end - start >= length
        )

    def _count(self, buffer: Bytes, start: int, end: int, fields: Bools | None, length: int) -> int:
        known = self._known[length]
        begins = np.isin(np.arange(256), known >> 8 * (length - 1))
        at = np.flatnonzero(begins[buffer[start : end - length + 1]]) + start
        keys = buffer[at].astype(np.int64)
        for behind in range(1, length):
            keys = keys << 8 | buffer[at + behind]
        at = at[np.isin(keys, known)]
        if fields is not None:
            at = at[~fields[each_of(at, length)].any(axis=1)]
        return int(at.size)


def _which(rows: Bytes, among: Bytes) -> Ints:
    """Return the index of each row in the sorted rows `among`; -1: not found."""
    kind = f"S{rows.shape[1]}"
    known = np.frombuffer(among.tobytes(), kind)
    seen = np.frombuffer(rows.tobytes(), kind)
    place = np.minimum(np.searchsorted(known, seen), known.size - 1)
    same = (among[place] == rows).all(axis=1)
    return np.where(same, place, -1)


def _overlap(at: Ints, length: int, used: Ints) -> Bools:
    """Return which texts at `at`, of one length, overlap places in `used` or the previous text."""
    first, behind = np.searchsorted(used, at), np.searchsorted(used, at + length)
    near = np.zeros(at.size, np.bool_)
    near[1:] = np.diff(at) < length
    return (behind > first) | near
