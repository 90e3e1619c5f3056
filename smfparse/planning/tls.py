"""The cost of TLS by secret key resets and channel starts, and operations of AMS."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.plans import Ask, Asked, Figure, Planner, published, said, source

_TABLE = "z16_tls"
CIPHERS = (
    "TLS_RSA_WITH_AES_256_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "ECDHE_RSA_AES_256_CBC_SHA384",
    "ECDHE_ECDSA_AES_256_CBC_SHA384",
)
Z15_PAPER_MS = dict(zip(CIPHERS, (0.64, 0.70, 3.8, 3.8), strict=True))
"""CPU milliseconds per key in the z15 paper; the z16 paper contains other values for z15."""
SIGNING_OPERATIONS = 2
"""Number of asymmetric operations per signed message."""


def key_ms(cipher: str, machine: str) -> float:
    """Return the CPU milliseconds of negotiating a secret key in the channel initiator.

    machine  z15, z16, or z15-paper
    """
    if machine == "z15-paper":
        return Z15_PAPER_MS[cipher]
    return float(published(_TABLE)["secret_key_ms"][cipher][machine])


def key_us_a_message(negotiation_ms: float, size: float, sslrkeyc: float) -> float:
    """Return the CPU microseconds of negotiating keys, per message of `size` bytes.

    sslrkeyc  number of bytes after which a key is negotiated; 0: never
    """
    return negotiation_ms * 1000 * size / sslrkeyc if sslrkeyc else 0.0


def avoided_percent(messages_a_key: float) -> float:
    """Return the percentage of asymmetric operations that AMS avoids by reusing keys."""
    return (1 - 1 / messages_a_key) * 100


@dataclass(frozen=True)
class Tls(Asked):
    """Inputs; the defaults are the values of IBM's report."""

    cipher: Annotated[str, Ask("Cipher", among=CIPHERS)] = CIPHERS[2]
    machine: Annotated[
        str, Ask("Machine; two runs are published for z15", among=("z15", "z15-paper", "z16"))
    ] = "z16"
    message_kb: Annotated[
        float,
        Ask("Size of messages", "KB", high=102_400, measured="qcstnbyt over qcstnmsg, with TLS"),
    ] = 32
    sslrkeyc: Annotated[
        float, Ask("SSLRKEYC (0: no new keys, as with TLS 1.3)", "bytes", high=999_999_999)
    ] = 1_048_576
    messages_s: Annotated[
        float, Ask("Messages per second", measured="qcstnmsg of channels with TLS")
    ] = 1000
    starts_s: Annotated[
        float,
        Ask("Channel starts per second", high=150, measured="qcststrt in the interval, with TLS"),
    ] = 0
    messages_a_key: Annotated[float, Ask("Messages per key with AMS confidentiality", low=1)] = 10


def _figures(asked: Tls) -> Sequence[Figure]:
    ms = key_ms(asked.cipher, asked.machine)
    size = asked.message_kb * 1024
    us = key_us_a_message(ms, size, asked.sslrkeyc)
    formula = f"{ms:g} x 1000 x {said(size)} / {said(asked.sslrkeyc)}"
    return [
        Figure("key_ms", "CPU per secret key reset", ms, "ms", "published", 2),
        Figure(
            *("message_us", "CPU of keys per message", us, "us"),
            *(formula if asked.sslrkeyc else "no new keys", 1),
        ),
        Figure(
            *("cpu_ms_s", "CPU of keys", us * asked.messages_s / 1000, "ms per second"),
            *(f"{said(us)} x {said(asked.messages_s)} / 1000", 2),
        ),
        *_starts(asked),
        Figure(
            *("ams_avoided_percent", "AMS: asymmetric operations avoided"),
            *(avoided_percent(asked.messages_a_key), "%"),
            f"1 - 1 / {said(asked.messages_a_key)}; signing needs {SIGNING_OPERATIONS} per message",
        ),
    ]


def _starts(asked: Tls) -> list[Figure]:
    rows = published(_TABLE)["channel_start_z16"]
    if not asked.starts_s or asked.cipher not in rows:
        return []
    row = rows[asked.cipher]
    return [
        Figure(
            *("starts_ms_s", "CPU of channel starts", asked.starts_s * row["cpu_ms"]),
            *("ms per second", f"{said(asked.starts_s)} x {row['cpu_ms']} (z16)", 1),
        ),
        Figure(
            *("starts_limit", "Channel starts measured by IBM", row["per_second"], "per second"),
            "4,000 pairs",
        ),
    ]


PLANNER = Planner(
    "tls",
    "Cost of TLS in the channel initiator",
    Tls,
    _figures,
    (
        f"{source(_TABLE)}: RSA 0.43 and 0.37 ms, ECDHE 3.9 and 3.0; on z15 0.86 and 0.88, 4.37 "
        "and 4.4",
        "MQ for z/OS on z15: 0.64, 0.70, 3.8 and 3.8 ms (another measurement)",
        "Managed File Transfer for z/OS v1.02: CPU seconds for 1 GB: 5.57; with TLS 1.2 8.41, with "
        "TLS 1.3 8.66; with AMS integrity 9.63, privacy 10.83, confidentiality (32) 7.93",
    ),
    "Keys made by Crypto Express. TLS 1.3 ignores SSLRKEYC. The values do not include the "
    "encryption of data, which depends on the bytes. With AMS, no put to a waiting getter is "
    "possible.",
    (
        "SSLRKEYC, and policies of AMS: not in SMF",
        "CPU of the partner; load of the crypto cards: see RMF",
    ),
    "START TRACE(ACCTG) CLASS(4)",
)
