"""Requests to a forge's API. The token goes to the forge alone, and into no message."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rackwright.errors import ExternalToolError, UsageError
from rackwright.report.wording import printable
from rackwright.web.fetching import NoReplyError, Reply, fetch, may_take_secrets

TIMEOUT = 30.0
"""Seconds until a request is given up."""
_LONGEST_MESSAGE = 200


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
        if not may_take_secrets(self.base):
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
            reply = fetch(request, TIMEOUT)
        except NoReplyError as error:
            raise TransientError(f"'{what}' had no answer: {printable(str(error))}") from None
        if reply.refuses:
            raise _refusal(what, reply)
        try:
            return Answer(reply.json(), 'rel="next"' in (reply.headers.get("Link") or ""))
        except ValueError:
            raise TransientError(f"'{what}' was not answered with JSON") from None


def _refusal(what: str, reply: Reply) -> ForgeError:
    message = f"'{what}' was answered with {reply.status}"
    limited = reply.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in reply.headers
    if reply.status in {408, 429} or reply.status >= 500 or (reply.status == 403 and limited):
        return TransientError(message, wait=_seconds(reply.headers.get("retry-after")))
    if said := _said(reply):
        message += f": {said}"
    return ForgeError(message, hint=_HINTS.get(reply.status))


_HINTS = {
    401: "the token is not valid",
    403: "the token may not write comments; for a change from a fork it never may",
    404: "the repository or the request is not there, or the token may not see it",
}


def _said(reply: Reply) -> str:
    """Return the forge's own words, when they are plain."""
    try:
        message = reply.json().get("message")
    except (ValueError, AttributeError):
        return ""
    return printable(message)[:_LONGEST_MESSAGE] if isinstance(message, str) else ""


def _seconds(text: str | None) -> float | None:
    """Return the value of ``Retry-After`` when it is a number of seconds."""
    return float(text) if text and text.isascii() and text.isdigit() else None
