"""The file systems of URLs, by pyarrow: made once in a process, and their errors in plain words.

Credentials come from where each system usually has them: docs/input.md.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from smfparse.places.settings import SETTINGS, azure_place, google_place, s3_place

TRIES = 3
"""How often the client of S3 tries a request."""
SECONDS = 20.0
"""Seconds without a byte after which a request counts as failed."""
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfss": "AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or run az login",
    "hdfs": "HADOOP_USER_NAME, or run kinit",
}
"""Where each kind of place has its credentials from."""
_ENDPOINTS = {"s3": "AWS_ENDPOINT_URL and AWS_REGION", "hdfs": "HADOOP_HOME and CLASSPATH"}
_SAID = (
    (r"NO_SUCH_BUCKET|NoSuchBucket|ContainerNotFound|bucket does not exist", "no such bucket"),
    (r"EXPIRED_TOKEN|ExpiredToken|TokenRefreshRequired", "the credentials have expired"),
    (
        r"INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|INVALID_CLIENT_TOKEN_ID|"
        r"InvalidAccessKeyId|SignatureDoesNotMatch|AuthenticationFailed",
        "the credentials are not accepted",
    ),
    (
        r"ACCESS_DENIED|AccessDenied|Access Denied|HTTP status 40[13]\b|\b40[13] |"
        r"Received None from session|Permission denied|AuthorizationFailure|PERMISSION_DENIED",
        "access denied",
    ),
    (
        r"HTTP status 301|PermanentRedirect|AuthorizationHeaderMalformed",
        "the bucket is in another region",
    ),
    (r"NETWORK_CONNECTION|Could not resolve|Couldn't connect|Connection refused|timed? ?out|"
     r"UNAVAILABLE|Unable to connect", "cannot be reached"),
)  # fmt: skip
"""What is in a message of a system, and what that means."""
_lock = threading.Lock()
_made: dict[tuple[str, str, frozenset[tuple[str, str]]], Any] = {}
"""By scheme and authority, and what the environment says: that may change."""


def are_open() -> bool:
    """Whether this process has a file system with threads of its own: it must not be forked."""
    return bool(_made)


def system(scheme: str, authority: str) -> tuple[Any, str]:
    """Return the pyarrow file system of URLs, and what comes in front of their paths in it.

    Raises OSError, with its reason in plain words.
    """
    with _lock:
        said = [each for each in os.environ.items() if each[0].startswith(SETTINGS)]
        key = scheme, authority, frozenset(said)
        if key not in _made:
            with in_words(scheme):
                _made[key] = _new(scheme, authority)
        found: tuple[Any, str] = _made[key]
        return found


def _new(scheme: str, authority: str) -> tuple[Any, str]:
    import pyarrow.fs as fs

    if scheme == "s3":
        return _s3(fs, authority), authority
    if scheme == "abfss":
        return _azure(fs, authority)
    if scheme == "gs":
        return _google(fs), authority
    found, start = fs.FileSystem.from_uri(f"{scheme}://{authority}/")
    return found, start.rstrip("/")


def _s3(fs: Any, bucket: str) -> Any:
    endpoint, region = s3_place(bucket)
    return fs.S3FileSystem(
        endpoint_override=endpoint,
        region=region,
        connect_timeout=SECONDS,
        request_timeout=SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=TRIES),
    )


def _google(fs: Any) -> Any:
    endpoint, is_emulator = google_place()
    scheme, _, host = (endpoint or "").partition("://")
    return fs.GcsFileSystem(
        anonymous=is_emulator,
        scheme=scheme or None,
        endpoint_override=host or None,
        retry_time_limit=timedelta(seconds=SECONDS),
    )


def _azure(fs: Any, authority: str) -> tuple[Any, str]:
    place = azure_place(authority)
    found = fs.AzureFileSystem(
        place.account,
        account_key=place.key,
        sas_token=f"?{place.token}" if place.token else None,
        blob_storage_scheme=place.scheme,
        blob_storage_authority=place.blob,
        dfs_storage_scheme=place.scheme,
        dfs_storage_authority=place.dfs,
    )
    return found, place.container


@contextmanager
def in_words(scheme: str) -> Iterator[None]:
    """Raise OSError with a reason in plain words, and what to do, for what a system raises."""
    try:
        yield
    except FileNotFoundError as error:
        raise missing() from error
    except (OSError, ValueError, NotImplementedError) as error:
        raise _plain(scheme, str(error)) from error


def missing(what: str = "no such file") -> FileNotFoundError:
    """Return the error of what is not there."""
    return FileNotFoundError(None, what)


def no_bucket(scheme: str) -> FileNotFoundError:
    """Return the error of a bucket that is not there."""
    return missing(f"no such bucket{_way_out(scheme, 'no such bucket')}")


def _plain(scheme: str, text: str) -> OSError:
    """Return the error that a message of a system means."""
    for pattern, meaning in _SAID:
        if re.search(pattern, text):
            return OSError(None, f"{meaning}{_why(meaning, text)}{_way_out(scheme, meaning)}")
    return OSError(None, " ".join(text.split()) or "no reason is given")


def _why(meaning: str, text: str) -> str:
    found = re.search(r"curlCode: \d+, ([^;(]+)", text) if meaning == "cannot be reached" else None
    return f": {found[1].strip()}" if found else ""


def _way_out(scheme: str, meaning: str) -> str:
    if meaning in ("no such bucket", "cannot be reached", "the bucket is in another region"):
        asked = _ENDPOINTS.get(scheme)
        return f"; check the name{f', and {asked}' if asked else ''}"
    if scheme == "s3" and not _has_credentials():
        return f": no credentials were found; set {_CREDENTIALS[scheme]}"
    return f"; check {_CREDENTIALS[scheme]}"


def _has_credentials() -> bool:
    """Whether credentials for S3 are where they usually are; Amazon's machines may have more."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE")
    named = [os.environ.get(f"AWS_{each}_FILE") for each in ("SHARED_CREDENTIALS", "CONFIG")]
    usual = [os.path.expanduser(f"~/.aws/{each}") for each in ("credentials", "config")]
    places = [one or other for one, other in zip(named, usual, strict=True)]
    return any(map(os.environ.get, names)) or any(map(os.path.exists, places))
