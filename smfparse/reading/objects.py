"""Object storage with obstore: stores, each created once per process, and readable errors.

Addresses and credentials come from the usual environment variables of each system: docs/input.md.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, NamedTuple

RETRIES = 2
"""Maximum number of retries of a request."""
_SECONDS = timedelta(seconds=20)
"""Maximum time until the response to a request."""
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfss": "AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or run az login",
}
"""The environment variables and commands that provide credentials, by scheme."""
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_AZURE = ("AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE")
_MEANINGS = (
    (r"NoSuchBucket|ContainerNotFound|bucket does not exist", "no such bucket"),
    (r"ExpiredToken|TokenRefreshRequired", "the credentials have expired"),
    (
        r"InvalidAccessKeyId|SignatureDoesNotMatch|AuthenticationFailed|InvalidClientTokenId",
        "the credentials are not accepted",
    ),
    (
        r"AccessDenied|Access Denied|\b40[13] |AuthorizationFailure|PermissionDenied|"
        r"Unauthenticated|Forbidden|lacked the required privileges|Missing (Secret)?AccessKey",
        "access denied",
    ),
    (
        r"PermanentRedirect|AuthorizationHeaderMalformed|redirect",
        "the bucket is in another region",
    ),
    (
        r"error sending request|dns error|[Cc]onnection refused|connect error|timed? ?out",
        "cannot be reached",
    ),
)
"""Patterns in messages of each system, and the meaning of such messages."""
_lock = threading.Lock()
_made: dict[tuple[str, str, frozenset[tuple[str, str]]], Any] = {}
"""Stores by scheme, authority and environment variables (these can change)."""


class BrokenError(OSError):
    """A remote file cannot be read further."""


def are_open() -> bool:
    """Whether this process has opened a store. A store has threads, which prevent forking."""
    return bool(_made)


def store_of(scheme: str, authority: str) -> Any:
    """Return obstore's store of a bucket or container. Raises OSError with a readable reason."""
    with _lock:
        settings = [each for each in os.environ.items() if each[0].startswith(SETTINGS)]
        key = scheme, authority, frozenset(settings)
        if key not in _made:
            with in_words(scheme):
                _made[key] = _new(scheme, authority)
        return _made[key]


def _new(scheme: str, authority: str) -> Any:
    from obstore import store

    common: dict[str, Any] = {
        "client_options": {"allow_http": True, "timeout": _SECONDS, "connect_timeout": _SECONDS},
        "retry_config": {"max_retries": RETRIES, "retry_timeout": _SECONDS},
    }
    if scheme == "s3":
        return store.S3Store(authority, **_s3(authority), **common)
    if scheme == "gs":
        return store.GCSStore(authority, **_google(), **common)
    return store.AzureStore(**_azure(authority), **common)


def _s3(bucket: str) -> dict[str, Any]:
    """Return the arguments for S3; the provider of credentials only if the environment has none."""
    endpoint, region = s3_place(bucket)
    found: dict[str, Any] = {"endpoint": endpoint} if endpoint else {}
    found |= {"region": region} if region else {}
    if not all(map(os.environ.get, _KEYS)) and _has_credentials():
        with suppress(
            ImportError
        ):  # boto3 reads profiles; without it, the machine may have credentials
            from boto3 import Session
            from obstore.auth.boto3 import Boto3CredentialProvider

            found["credential_provider"] = Boto3CredentialProvider(Session(region_name=region))
    return found


def _google() -> dict[str, Any]:
    """Return the arguments for Google's storage; the endpoint only if it is not the default."""
    endpoint, is_emulator = google_place()
    found = {"base_url": endpoint} if endpoint else {}
    return found | ({"bearer_token": "none is asked for"} if is_emulator else {})


def _azure(authority: str) -> dict[str, Any]:
    """Return the arguments for Azure: container, account, endpoint and credentials."""
    place = azure_place(authority)
    found: dict[str, Any] = {"container_name": place.container, "account_name": place.account}
    found["endpoint"] = place.endpoint
    if place.key:
        return found | {"account_key": place.key}
    if place.token:
        return found | {"sas_key": place.token}
    by_az = not any(map(os.environ.get, _AZURE)) and shutil.which("az") is not None
    return found | ({"use_azure_cli": True} if by_az else {})


@contextmanager
def in_words(scheme: str) -> Iterator[None]:
    """Convert errors of a store to OSError with a readable reason and advice."""
    from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

    try:
        yield
    except (AlreadyExistsError, PreconditionError) as error:
        raise FileExistsError(None, "already exists") from error
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
            raise _plain(scheme, "NoSuchBucket") from error
        raise missing() from error
    except (BaseError, OSError, ValueError, NotImplementedError) as error:
        raise _plain(scheme, getattr(error, "strerror", None) or str(error)) from error


def missing(what: str = "no such file") -> FileNotFoundError:
    """Return the error for a missing file."""
    return FileNotFoundError(None, what)


def _plain(scheme: str, text: str) -> OSError:
    """Return the error for a message of object storage."""
    message = text.partition("\n\nDebug source")[0]
    for pattern, meaning in _MEANINGS:
        if re.search(pattern, text):
            kind = FileNotFoundError if meaning == "no such bucket" else OSError
            return kind(None, f"{meaning}{_way_out(scheme, meaning)}")
    return OSError(None, " ".join(message.split()) or "no reason is given")


def _way_out(scheme: str, meaning: str) -> str:
    if meaning in ("no such bucket", "cannot be reached", "the bucket is in another region"):
        asked = ", and AWS_ENDPOINT_URL and AWS_REGION" if scheme == "s3" else ""
        return f"; check the name{asked}"
    if scheme == "s3" and not os.environ.get(_KEYS[0]) and not _has_credentials():
        return f": no credentials were found; set {_CREDENTIALS[scheme]}"
    return f"; check {_CREDENTIALS[scheme]}"


def _has_credentials() -> bool:
    """Whether credentials for S3 are in a profile; Amazon's machines may have other credentials."""
    named = [os.environ.get(f"AWS_{each}_FILE") for each in ("SHARED_CREDENTIALS", "CONFIG")]
    usual = [os.path.expanduser(f"~/.aws/{each}") for each in ("credentials", "config")]
    places = [one or other for one, other in zip(named, usual, strict=True)]
    names = ("AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE")
    return any(map(os.environ.get, names)) or any(map(os.path.exists, places))


SETTINGS = ("AWS_", "GOOGLE_", "AZURE_", "STORAGE_EMULATOR_")
"""Prefixes of the environment variables that this module or obstore reads."""
_MICROSOFT = "blob.core.windows.net"
"""The default domain of an Azure account."""


def s3_place(bucket: str) -> tuple[str | None, str | None]:
    """Return endpoint and region of a bucket of S3; None: obstore determines the value."""
    from pyarrow.fs import resolve_s3_region

    endpoint = _first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    region = _first("AWS_REGION", "AWS_DEFAULT_REGION")
    if not endpoint and not region:
        with suppress(OSError):  # after an error, obstore determines the region
            region = resolve_s3_region(bucket)
    return endpoint, region


def google_place() -> tuple[str | None, bool]:
    """Return the URL of Google's storage (None: default), and whether it needs no credentials."""
    emulator = _first("STORAGE_EMULATOR_HOST")
    endpoint = emulator or _first("GOOGLE_BASE_URL")
    if endpoint and "://" not in endpoint:
        endpoint = f"http://{endpoint}"
    return endpoint and endpoint.rstrip("/"), emulator is not None


class AzurePlace(NamedTuple):
    """A container of Azure.

    endpoint  URL of the blobs of the account
    key       key of the account; None: no key
    token     shared access signature without a `?`; None: no signature
    """

    container: str
    account: str
    endpoint: str
    key: str | None
    token: str | None


def azure_place(authority: str) -> AzurePlace:
    """Return the place of a container; raise ValueError if the account is not named.

    authority  `container@account.dfs.core.windows.net`, or the domain of another Microsoft cloud
    """
    container, _, host = authority.partition("@")
    account, _, domain = host.partition(".")
    if not container or not account:
        raise ValueError(
            "the URL names no account; write abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH"
        )
    domain = re.sub(r"^dfs\.", "blob.", domain) or _MICROSOFT
    endpoint = _first("AZURE_STORAGE_ENDPOINT") or f"https://{account}.{domain}"
    if not re.fullmatch(rf"https?://({account}\.[^/]+|[^/]+/{account})/?", endpoint):
        raise ValueError(
            f"AZURE_STORAGE_ENDPOINT is {endpoint}, which is not the account {account}; "
            f"write http://HOST:PORT/{account} or https://{account}.HOST"
        )
    key = _first("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY")
    token = None if key else (_first("AZURE_STORAGE_SAS_TOKEN") or "").lstrip("?") or None
    return AzurePlace(container, account, endpoint.rstrip("/"), key, token)


def _first(*names: str) -> str | None:
    return next(filter(None, map(os.environ.get, names)), None)
