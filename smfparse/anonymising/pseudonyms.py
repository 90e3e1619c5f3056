"""Pseudonyms: a name always gets the same replacement, of the same length and kind."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits

from smfparse.errors import InputError, RequestError
from smfparse.store.targets import replacing

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

    secret      key from which, with the part, replacements are derived: without the key, names
                cannot be guessed
    kept        returns whether a name is not replaced; None: all names are replaced
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
        """Whether some names or parts may not be replaced."""
        return self._kept is not None or self._keep_first

    def learn(self, names: Iterable[str]) -> None:
        """Record names, so that no other name is replaced by one of these names."""
        self._note_old(part for name in names for part in PART.findall(name[self._begin(name) :]))

    def _note_old(self, several: Iterable[str]) -> None:
        parts = set(several)
        self._old |= parts
        self._starts |= {part[:LEAST].upper() for part in parts if len(part) >= LEAST}

    def of(self, kind: str, name: str) -> str:
        """Return the replacement for a name of a kind."""
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
        """Return where the replaced part of a name begins; at its end: nothing is replaced."""
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
        """Return the parts and addresses that are replaced everywhere, and their replacements."""
        every = self.parts | self._whole
        return {old: new for old, new in every.items() if len(old) >= LEAST and old != new}

    def too_short(self) -> set[str]:
        """Return the parts that are replaced only in their fields, because they are short."""
        return {old for old, new in self.parts.items() if len(old) < LEAST and old != new}

    def _other(self, part: str, like: Callable[[str, Iterator[int]], str]) -> str:
        """Return the replacement for a part of a name, or an address; `like` makes candidates."""
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
        """Whether a text is an old name, or contains the start of one."""
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
    """Return the old and new parts that `write_map` wrote.

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
    """Write old and new parts to a CSV file that only its owner can read.

    An existing file is replaced when the new file is complete. Raises OutputError if this fails.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_HEADINGS)
    rows.writerows(sorted(parts.items()))
    with replacing(path) as part:
        part.touch(mode=0o600)
        part.write_text(text.getvalue(), "utf-8")
