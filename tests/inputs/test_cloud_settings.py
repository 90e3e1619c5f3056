"""Variables of the environment say where storage is."""

from __future__ import annotations

from pathlib import Path

import pytest

from smfparse.reading.objects import azure_place, google_place, store_of
from smfparse.reading.places import place_of
from tests.support.storage import SETTINGS

HOST = "smf@bank.dfs.core.windows.net"
CHINA = "smf@bank.dfs.core.chinacloudapi.cn"
EMULATOR = "http://127.0.0.1:10000/bank"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENDPOINT", "KEY", "ACCOUNT_KEY", "SAS_TOKEN"):
        monkeypatch.delenv(f"AZURE_STORAGE_{name}", raising=False)
    for name in ("STORAGE_EMULATOR_HOST", "GOOGLE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


SERVICES = {
    (HOST, ""): "https://bank.blob.core.windows.net",
    ("smf@bank", ""): "https://bank.blob.core.windows.net",
    (CHINA, ""): "https://bank.blob.core.chinacloudapi.cn",
    (HOST, EMULATOR): EMULATOR,
    (HOST, "https://bank.blob.site"): "https://bank.blob.site",
}
"""What is named, and AZURE_STORAGE_ENDPOINT; the URL of blobs."""


def test_the_service_of_an_account_of_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", "?sv=1&sig=x")
    for (authority, endpoint), expected in SERVICES.items():
        monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", endpoint)
        assert azure_place(authority) == ("smf", "bank", expected, None, "sv=1&sig=x")


def test_the_stores_are_made_by_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_KEY", "a2V5")
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", EMULATOR)
    assert store_of("abfss", HOST).config["endpoint"] == EMULATOR
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "localhost:9023")
    assert store_of("gs", "dumps").config["base_url"] == "http://localhost:9023"
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    found = store_of("s3", "dumps")
    assert found.config["endpoint"] == "http://127.0.0.1:9"
    assert found is store_of("s3", "dumps")


def test_profiles_are_asked_for_by_boto3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "credentials").write_text("[mine]\naws_access_key_id=A\naws_secret_access_key=B\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    provider = store_of("s3", "dumps").credential_provider
    assert provider is not None
    assert provider()["access_key_id"] == "A"


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
