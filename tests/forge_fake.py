"""A forge on loopback: the comments of one request, and failures on demand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from loopback import serving

GITHUB_BOT = "github-actions[bot]"
_GITHUB = re.compile(r"/repos/o/r/issues/(?:7/comments|comments/(\d+))")
_GITLAB = re.compile(r"/api/v4/projects/o%2Fr/merge_requests/7/notes(?:/(\d+))?")


@dataclass
class Failure:
    """An answer instead of the right one.

    Attributes:
        carried_out: the request takes effect all the same.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    carried_out: bool = False
    body: bytes = b'{"message": "no"}'


@dataclass
class FakeForge:
    """Its state; ``address`` is where it listens."""

    address: str = ""
    page: int = 100
    token: str = "s3cret-token"
    comments: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    uploads: list[dict[str, Any]] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def add(
        self, body: str, *, login: str = GITHUB_BOT, user: int = 1, system: bool = False
    ) -> None:
        """A comment that is there already."""
        self.comments.append(
            {
                "id": len(self.comments) + 1,
                "body": body,
                "user": {"login": login},
                "author": {"id": user},
                "system": system,
            }
        )

    @property
    def bodies(self) -> list[str]:
        """What the comments say."""
        return [comment["body"] for comment in self.comments]

    @property
    def writes(self) -> list[str]:
        """The requests that were no reading."""
        return [line for line in self.seen if not line.startswith("GET ")]


def _handler(forge: FakeForge) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
            pass

        def _serve(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            payload = json.loads(self.rfile.read(size) or b"null")
            forge.seen.append(f"{self.command} {self.path}")
            failure = forge.failures.pop(0) if forge.failures else None
            if failure and not failure.carried_out:
                self._send(failure.status, failure.body, failure.headers)
                return
            token = self.headers.get("PRIVATE-TOKEN") or self.headers.get("Authorization") or ""
            if token.removeprefix("Bearer ").removeprefix("bearer ") != forge.token:
                self._send(401, b'{"message": "Bad credentials"}', {})
                return
            status, body, headers = self._answer(payload)
            if failure:
                status, body, headers = failure.status, failure.body, failure.headers
            self._send(status, body, headers)

        do_GET = do_POST = do_PATCH = do_PUT = _serve

        def _answer(self, payload: Any) -> tuple[int, bytes, dict[str, str]]:
            parts = urlsplit(self.path)
            if parts.path == "/api/v4/user":
                return 200, b'{"id": 1}', {}
            if parts.path == "/identity":
                (audience,) = parse_qs(parts.query)["audience"]
                return 200, json.dumps({"value": f"token-for-{audience}"}).encode(), {}
            if parts.path == "/repos/o/r/code-scanning/sarifs" and self.command == "POST":
                forge.uploads.append(payload)
                return 202, b"{}", {}
            match = _GITHUB.fullmatch(parts.path) or _GITLAB.fullmatch(parts.path)
            if match is None:
                return 404, b'{"message": "Not Found"}', {}
            if self.command == "GET":
                page = int(parse_qs(parts.query)["page"][0])
                rows = forge.comments[(page - 1) * forge.page : page * forge.page]
                more = page * forge.page < len(forge.comments)
                link = f'<{forge.address}/else?page={page + 1}>; rel="next"'
                return 200, json.dumps(rows).encode(), {"Link": link} if more else {}
            if self.command == "POST":
                forge.add(payload["body"])
                return 201, b"{}", {}
            (comment,) = [c for c in forge.comments if str(c["id"]) == match[1]]
            comment["body"] = payload["body"]
            return 200, b"{}", {}

        def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler


@contextmanager
def a_forge(**changes: Any) -> Iterator[FakeForge]:
    """A forge that listens until the block ends."""
    forge = FakeForge(**changes)
    with serving(_handler(forge)) as forge.address:
        yield forge
