"""An S3 server on this machine, and a proxy in front of it that breaks connections."""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.request import Request, urlopen

import pytest

BUCKET = "dumps"
SETTINGS = {
    "AWS_ACCESS_KEY_ID": "tests",
    "AWS_SECRET_ACCESS_KEY": "tests",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@dataclass
class Storage:
    """A server of S3, empty at first but for the bucket BUCKET.

    endpoint  its URL
    """

    endpoint: str
    client: Any = field(init=False)

    def __post_init__(self) -> None:
        import boto3

        self.client = boto3.client("s3", endpoint_url=self.endpoint)
        self.client.create_bucket(Bucket=BUCKET)

    def put(self, key: str, data: bytes | Path) -> str:
        """Write an object; return its URL."""
        found = data.read_bytes() if isinstance(data, Path) else data
        self.client.put_object(Bucket=BUCKET, Key=key, Body=found)
        return f"s3://{BUCKET}/{key}"

    def keys(self, start: str = "") -> list[str]:
        """Return the keys of all objects that start so, but for those that stand for folders."""
        found = self.client.list_objects_v2(Bucket=BUCKET, Prefix=start).get("Contents", ())
        return [each["Key"] for each in found if not each["Key"].endswith("/")]


@contextmanager
def at_port(port: int) -> Iterator[pytest.MonkeyPatch]:
    """Have the environment say that S3 is at a port of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        yield patch


@contextmanager
def serving(port: int = 0) -> Iterator[Storage]:
    """Serve S3 on a port, 0: a free one, as the environment says then."""
    server_type = pytest.importorskip("moto.server").ThreadedMotoServer
    with at_port(port) as patch:
        server = server_type(ip_address="127.0.0.1", port=port, verbose=False)
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        server.start()
        host, port = server.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        try:
            yield Storage(os.environ["AWS_ENDPOINT_URL"])
        finally:
            reset = Request(f"http://{host}:{port}/moto-api/reset", method="POST")
            urlopen(reset).close()  # what servers of this process hold is the same
            server.stop()


@dataclass
class Faults:
    """What a proxy does to responses to requests for objects' bytes.

    deny   whether every request is refused
    kill   how many of the next ones end in the middle of what they give; -1: all
    short  how many of the next ones give half of the range, and say so
    after  bytes of an object behind which that begins
    seen   ranges that were asked for
    """

    deny: bool = False
    kill: int = 0
    short: int = 0
    after: int = 0
    seen: list[tuple[int, int]] = field(default_factory=list)


@contextmanager
def faulty(storage: Storage) -> Iterator[tuple[str, Faults]]:
    """Give the URL of a proxy in front of a server, and what it is to do; it reads only."""
    host, port = storage.endpoint.removeprefix("http://").split(":")
    faults = Faults()

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            """Hand on one request and its response; then the connection ends."""
            with suppress(OSError), socket.create_connection((host, int(port))) as upstream:
                request = b"".join(takewhile(lambda line: line.strip(), self.rfile))
                self.wfile.write(_response(request, upstream, faults))

    with _Proxy(("127.0.0.1", 0), Handler) as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}", faults
        proxy.shutdown()


class _Proxy(ThreadingTCPServer):
    daemon_threads, block_on_close = True, False


def _response(request: bytes, upstream: socket.socket, faults: Faults) -> bytes:
    asked = re.search(rb"(?im)^range: bytes=(\d+)-(\d+)", request)
    if faults.deny:
        return b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
    start, end = (int(asked[1]), int(asked[2])) if asked else (0, 0)
    is_read = request.startswith(b"GET ") and asked and start >= faults.after
    if request.startswith(b"GET ") and asked:
        faults.seen.append((start, end))
    if is_read and faults.short:
        faults.short -= 1
        middle = b"bytes=%d-%d" % (start, (start + end) // 2)
        request = request.replace(b"bytes=%d-%d" % (start, end), middle)
    request = re.sub(rb"(?im)^connection: .*\r\n", b"", request)
    upstream.sendall(request + b"Connection: close\r\n\r\n")
    response = b"".join(iter(lambda: upstream.recv(1 << 16), b""))
    if is_read and faults.kill:
        faults.kill -= 1
        response = response[: response.index(b"\r\n\r\n") + 4 + (end - start) // 2]
    return response
