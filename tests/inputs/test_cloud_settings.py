"""Variables of the environment say where storage is; both clients of a place are told the same."""

from __future__ import annotations

from typing import Any

import pytest

from smfparse.places import place_of, versions
from smfparse.places.settings import azure_place, google_place

HOST = "smf@bank.dfs.core.windows.net"
CHINA = "smf@bank.dfs.core.chinacloudapi.cn"
EMULATOR = "http://127.0.0.1:10000/bank"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENDPOINT", "KEY", "ACCOUNT_KEY", "SAS_TOKEN"):
        monkeypatch.delenv(f"AZURE_STORAGE_{name}", raising=False)
    for name in ("CLOUD_STORAGE_EMULATOR_ENDPOINT", "STORAGE_EMULATOR_HOST", "GOOGLE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


SERVICES = {
    (HOST, ""): ("https://bank.blob.core.windows.net", ".dfs.core.windows.net"),
    ("smf@bank", ""): ("https://bank.blob.core.windows.net", ".dfs.core.windows.net"),
    (CHINA, ""): ("https://bank.blob.core.chinacloudapi.cn", ".dfs.core.chinacloudapi.cn"),
    (HOST, EMULATOR): (EMULATOR, "127.0.0.1:10000"),
    (HOST, "https://bank.blob.site"): ("https://bank.blob.site", ".dfs.site"),
}
"""What is named, and AZURE_STORAGE_ENDPOINT; the services of blobs and of folders."""


def test_the_services_of_an_account_of_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", "?sv=1&sig=x")
    for (authority, endpoint), expected in SERVICES.items():
        monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", endpoint)
        found = azure_place(authority)
        assert (found.endpoint, found.dfs) == expected
        assert (found.container, found.account, found.key) == ("smf", "bank", None)
        assert found.token == "sv=1&sig=x"


def test_both_clients_of_azure_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    monkeypatch.setenv("AZURE_STORAGE_KEY", "a2V5")
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", EMULATOR)
    url: Any = place_of(f"abfss://{HOST}/mq")
    assert (url.where[0].type_name, url.where[1]) == ("abfs", "smf/mq")
    assert versions.Versioned(url)._store.config["endpoint"] == EMULATOR


def test_an_account_that_is_not_named_or_is_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="names no account; write abfss://CONTAINER@ACCOUNT"):
        place_of("abfss://smf/mq").exists()  # type: ignore[union-attr]
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", "http://127.0.0.1:10000/other")
    with pytest.raises(ValueError, match="which is not the account bank; write http://HOST"):
        azure_place(HOST)


def test_an_emulator_of_google_needs_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    assert google_place() == (None, False)
    monkeypatch.setenv("GOOGLE_BASE_URL", "https://storage-mq.p.googleapis.com/")
    assert google_place() == ("https://storage-mq.p.googleapis.com", False)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "localhost:9023")
    assert google_place() == ("http://localhost:9023", True)
    found: Any = place_of("gs://dumps/mq")
    assert (found.where[0].type_name, found.where[1]) == ("gcs", "dumps/mq")
