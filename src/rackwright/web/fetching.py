"""Requests that carry a secret: to the address that was named alone, and answered within bounds."""

from __future__ import annotations

import base64
import json
import ssl
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

LARGEST_REPLY = 256 * 1024 * 1024
LARGEST_REFUSAL = 100_000


class NoReplyError(Exception):
    """No whole reply came; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply to a request, of any status."""

    status: int
    headers: Message[str, str]
    body: bytes

    @property
    def refuses(self) -> bool:
        """True if the request was not done; redirects are not followed."""
        return self.status >= 300

    def json(self) -> Any:
        """Return the body, read as JSON; None if it is empty.

        Raises:
            ValueError: it is not JSON.
        """
        return json.loads(self.body) if self.body else None


class _NoRedirect(HTTPRedirectHandler):
    """Follows nothing: the secret would be sent along to the place that the reply names."""

    def redirect_request(self, *arguments: Any, **keywords: Any) -> None:
        """Follow no redirect."""


def is_web_address(url: str) -> bool:
    """Return True if a text is the address of a server of HTTP or HTTPS."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that are not closed, a port that is no number
        return False


def may_take_secrets(url: str) -> bool:
    """Return True if an address is asked over TLS, or is on this machine."""
    if not is_web_address(url):
        return False
    parts = urlsplit(url)
    if parts.scheme == "http":
        return parts.hostname in {"127.0.0.1", "localhost", "::1"}
    return parts.scheme == "https" and bool(parts.hostname)


def basic_authorization(user: str, password: str) -> str:
    """Return the header ``Authorization`` of a user (RFC 7617)."""
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode('ascii')}"


def fetch(request: Request, timeout_s: float, tls: ssl.SSLContext | None = None) -> Reply:
    """Return the reply to a request; ``tls`` has the settings of TLS, unless they are those of this machine.

    Raises:
        NoReplyError: no reply comes, or a longer one than ``LARGEST_REPLY``.
    """
    opener = build_opener(_NoRedirect, HTTPSHandler(context=tls))
    try:
        try:
            with opener.open(request, timeout=timeout_s) as answer:
                reply = Reply(answer.status, answer.headers, answer.read(LARGEST_REPLY + 1))
        except HTTPError as error:
            with error:
                return Reply(error.code, error.headers, error.read(LARGEST_REFUSAL))
    except (HTTPException, OSError, ValueError) as error:
        raise NoReplyError(str(getattr(error, "reason", None) or type(error).__name__)) from None
    if len(reply.body) > LARGEST_REPLY:
        raise NoReplyError(f"it is longer than {LARGEST_REPLY:,} bytes")
    return reply
