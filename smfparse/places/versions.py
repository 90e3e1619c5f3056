"""Single objects that are put on a condition, by obstore: file systems of pyarrow have no such put.

Credentials and endpoints are those of `systems`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from smfparse.places.settings import azure_place, google_place, s3_place
from smfparse.places.systems import SECONDS, TRIES, in_words, no_bucket
from smfparse.places.url import Url

if TYPE_CHECKING:
    from obstore import UpdateVersion

Tag: TypeAlias = "UpdateVersion"
"""What a store calls a version of an object; another version never has the same."""
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_AZURE = ("AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE")


class NoConditionsError(OSError):
    """The storage does not know conditions of a put."""


class Version(NamedTuple):
    """An object as it was when it was looked at."""

    tag: Tag
    data: bytes


def can_be_conditional(place: Url) -> bool:
    """Whether objects there can be put on a condition: not on HDFS, and not without obstore."""
    try:
        import obstore  # noqa: F401
    except ImportError:
        return False
    return place.scheme != "hdfs"


@dataclass(frozen=True)
class Versioned:
    """An object, which is put only if it is still what it was. Methods raise OSError, in words.

    A request whose response got lost is sent again, and refused then: what is there is looked at,
    so two that put there must never put the same bytes.
    """

    place: Url

    def read(self) -> Version | None:
        """Return what is there, None: nothing is."""
        import obstore

        try:
            with self._in_words():
                found = obstore.get(self._store, self.place.key)
                return Version(_tag(found.meta), bytes(found.bytes()))
        except FileNotFoundError:
            return None

    def tag(self) -> Tag | None:
        """Return the version that is there, None: none is."""
        import obstore

        try:
            with self._in_words():
                return _tag(obstore.head(self._store, self.place.key))
        except FileNotFoundError:
            return None

    def put(self, data: bytes, before: Tag | None) -> Tag | None:
        """Put the object if `before` is there, or nothing; return its version, None: it is not."""
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        mode: Any = before or "create"
        try:
            with self._in_words():
                found = obstore.put(
                    self._store, self.place.key, data, mode=mode, use_multipart=False
                )
                return _tag(found)
        except (AlreadyExistsError, PreconditionError):
            there = self.read()
            return there.tag if there is not None and there.data == data else None
        except FileNotFoundError as error:
            raise no_bucket(self.place.scheme) from error

    def prove(self, data: bytes) -> None:
        """Raise NoConditionsError if the storage puts an object that is there as a new one."""
        if self.put(data, None) is not None:
            raise NoConditionsError(None, "the storage ignores the condition of a put")

    def remove(self) -> None:
        """Remove the object, whatever it is, if it is there."""
        import obstore

        with self._in_words():
            obstore.delete(self._store, self.place.key)

    @cached_property
    def _store(self) -> Any:
        return _store_of(self.place)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Raise OSError for what obstore raises, but for what is refused by a condition."""
        from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

        with in_words(self.place.scheme):
            try:
                yield
            except (AlreadyExistsError, PreconditionError):
                raise
            except BaseError as error:
                if re.search(r"\b501 |NotImplemented", str(error)):
                    break_off = NoConditionsError(None, "the storage knows no condition of a put")
                    raise break_off from error
                raise OSError(str(error).partition("\n\nDebug source")[0]) from error


def _tag(found: Any) -> Tag:
    said = {"e_tag": found["e_tag"], "version": found["version"]}
    tag: Any = {name: each for name, each in said.items() if each is not None}
    return tag  # type: ignore[no-any-return]


def _store_of(place: Url) -> Any:
    """Return obstore's store of the bucket or container that a place is in."""
    from obstore import store

    seconds = timedelta(seconds=SECONDS)
    common: dict[str, Any] = {
        "client_options": {"allow_http": True, "timeout": seconds, "connect_timeout": seconds},
        "retry_config": {"max_retries": TRIES - 1, "retry_timeout": seconds},
    }
    with in_words(place.scheme):
        if place.scheme == "s3":
            return store.S3Store(place.authority, **_s3(place.authority), **common)
        if place.scheme == "gs":
            return store.GCSStore(place.authority, **_google(), **common)
        return store.AzureStore(**_azure(place.authority), **common)


def _s3(bucket: str) -> dict[str, Any]:
    """Return where S3 is, and a provider of credentials that are not in the environment."""
    endpoint, region = s3_place(bucket)
    found: dict[str, Any] = {"endpoint": endpoint} if endpoint else {}
    found |= {"region": region} if region else {}
    if not all(map(os.environ.get, _KEYS)):
        from boto3 import Session
        from obstore.auth.boto3 import Boto3CredentialProvider

        found["credential_provider"] = Boto3CredentialProvider(Session(region_name=region))
    return found


def _google() -> dict[str, Any]:
    """Return where Google's storage is, if that is another one than the usual."""
    endpoint, is_emulator = google_place()
    found = {"base_url": endpoint} if endpoint else {}
    return found | ({"bearer_token": "none is asked for"} if is_emulator else {})


def _azure(authority: str) -> dict[str, Any]:
    """Return the names of a container and its account, where it is, and what lets us in."""
    place = azure_place(authority)
    found: dict[str, Any] = {"container_name": place.container, "account_name": place.account}
    found["endpoint"] = place.endpoint
    if place.key:
        return found | {"account_key": place.key}
    if place.token:
        return found | {"sas_key": place.token}
    by_az = not any(map(os.environ.get, _AZURE)) and shutil.which("az") is not None
    return found | ({"use_azure_cli": True} if by_az else {})
