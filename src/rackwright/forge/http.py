"""Requests to a forge's API. The token goes to the forge alone, and into no message."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage
from typing import IO, Any

from rackwright.errors import ExternalToolError, UsageError
from rackwright.report.wording import printable

TIMEOUT = 30.0
"""Seconds until a request is given up."""
LARGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of one answer."""
_LONGEST_MESSAGE = 200
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class ForgeError(ExternalToolError):
    """The forge refuses, and would again."""

    code = "forge"


class TransientError(ForgeError):
    """The forge fails in a way that may pass.

    Args:
        summary: what happened.
        wait: seconds that the forge asks for; None when it does not say.
    """

    def __init__(self, summary: str, *, wait: float | None = None) -> None:
        super().__init__(summary, hint="try again later")
        self.wait = wait


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the token would be sent along to wherever the answer points."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer.

    Attributes:
        more: there is another page.
    """

    data: Any
    more: bool = False


@dataclass(frozen=True)
class Api:
    """A forge's API.

    Attributes:
        base: its address; ``https``, or ``http`` on this machine.
        headers: sent with every request; they hold the token.
    """

    base: str
    headers: Mapping[str, str] = field(repr=False)

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.base)
        loopback = parts.scheme == "http" and parts.hostname in _LOOPBACK
        if not loopback and (parts.scheme != "https" or not parts.hostname):
            raise UsageError(
                f"'{printable(self.base)}' is no address to send a token to",
                hint="it begins with 'https://'",
            )

    def request(self, method: str, path: str, payload: Mapping[str, Any] | None = None) -> Answer:
        """Return the answer to a request.

        Raises:
            TransientError: it may succeed when it is made again.
            ForgeError: it will not.
        """  # noqa: DOC501 - _refusal() makes the ForgeError
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            f"{self.base.rstrip('/')}{path}",
            method=method,
            data=None if payload is None else json.dumps(payload).encode(),
            headers={**self.headers, "Content-Type": "application/json"},
        )
        what = f"{method} {path.partition('?')[0]}"
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=TIMEOUT) as answer:
                text = answer.read(LARGEST_ANSWER + 1)
                more = 'rel="next"' in (answer.headers.get("Link") or "")
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(what, error) from None
        except (urllib.error.URLError, HTTPException, TimeoutError, OSError) as error:
            reason = getattr(error, "reason", None) or type(error).__name__
            raise TransientError(f"'{what}' had no answer: {printable(str(reason))}") from None
        if len(text) > LARGEST_ANSWER:
            raise ForgeError(f"'{what}' was answered with more than {LARGEST_ANSWER} bytes")
        try:
            return Answer(json.loads(text) if text else None, more)
        except ValueError:
            raise TransientError(f"'{what}' was not answered with JSON") from None


def _refusal(what: str, error: urllib.error.HTTPError) -> ForgeError:
    message = f"'{what}' was answered with {error.code}"
    limited = error.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in error.headers
    if error.code in {408, 429} or error.code >= 500 or (error.code == 403 and limited):
        return TransientError(message, wait=_seconds(error.headers.get("retry-after")))
    if said := _said(error):
        message += f": {said}"
    return ForgeError(message, hint=_HINTS.get(error.code))


_HINTS = {
    401: "the token is not valid",
    403: "the token may not write comments; for a change from a fork it never may",
    404: "the repository or the request is not there, or the token may not see it",
}


def _said(error: urllib.error.HTTPError) -> str:
    """Return the forge's own words, when they are plain."""
    try:
        message = json.loads(error.read(10_000)).get("message")
    except (ValueError, AttributeError, OSError, HTTPException):
        return ""
    return printable(message)[:_LONGEST_MESSAGE] if isinstance(message, str) else ""


def _seconds(text: str | None) -> float | None:
    """Return the value of ``Retry-After`` when it is a number of seconds."""
    return float(text) if text and text.isascii() and text.isdigit() else None
