"""Addresses and credentials of object storage, from the usual environment variables."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import NamedTuple

SETTINGS = ("AWS_", "GOOGLE_", "AZURE_", "STORAGE_EMULATOR_")
"""Prefixes of the variables that this module or a client reads."""
_MICROSOFT = "blob.core.windows.net"
"""The domain of an account that is named without a domain."""


def s3_place(bucket: str) -> tuple[str | None, str | None]:
    """Return endpoint and region of a bucket of S3; None: the client determines the value."""
    from pyarrow.fs import resolve_s3_region

    endpoint = _first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    region = _first("AWS_REGION", "AWS_DEFAULT_REGION")
    if not endpoint and not region:
        with suppress(OSError):  # then the client finds it
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
