"""Requests to a NetBox. The token goes to it alone, and into no message."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from rackwright.errors import ExternalToolError, UsageError
from rackwright.harmless import visible

TIMEOUT = 180.0
"""Seconds until a request is given up."""
LARGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of one answer."""
PAGE = 200
"""Objects of one page."""
BATCH = 25
"""Objects that one request writes: NetBox writes all of them or none."""
ATTEMPTS = 4
"""Tries of a request that only reads."""
_LONGEST_MESSAGE = 300
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_HINTS = {
    400: "NetBox does not accept the object: correct it there or in the blueprint",
    401: "the token is not valid: NetBox lists tokens under 'API Tokens' of a user",
    403: "the token is not valid, or its user may not do this: give it the permission in NetBox",
    404: "is this the address of NetBox? It is what stands before '/api/'",
    409: "something else depends on the object in NetBox",
}


class NetBoxError(ExternalToolError):
    """NetBox does not answer, or refuses.

    Args:
        summary: what happened.
        status: of the answer; None without one.
    """

    code = "netbox"

    def __init__(self, summary: str, *, hint: str | None = None, status: int | None = None) -> None:
        super().__init__(summary, hint=hint)
        self.status = status


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the token would be sent along to the place that the answer names."""

    def redirect_request(self, *arguments: Any, **keywords: Any) -> None:
        """Follow no redirect."""


@dataclass(frozen=True)
class NetBox:
    """A NetBox.

    Attributes:
        base: its address, before ``/api/``; ``https``, or ``http`` on this machine.
        token: of a user.
        sleep: waits between tries.
    """

    base: str
    token: str = field(repr=False)
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.base)
        loopback = parts.scheme == "http" and parts.hostname in _LOOPBACK
        if not loopback and (parts.scheme != "https" or not parts.hostname):
            raise UsageError(
                f"'{visible(self.base)}' is no address to send a token to",
                hint="it begins with 'https://'",
            )
        if not self.token or not self.token.isascii() or any(c.isspace() for c in self.token):
            raise UsageError("the token of NetBox is empty or has blanks in it")

    def all(self, path: str, **filters: str | int) -> list[dict[str, Any]]:
        """Return every object of a list, page by page.

        Raises:
            NetBoxError: a page does not come, or is not whole.
        """
        found: list[dict[str, Any]] = []
        while True:
            query = urllib.parse.urlencode({**filters, "limit": PAGE, "offset": len(found)})
            page = self._read(f"{path}/?{query}")
            rows = page.get("results") if isinstance(page, dict) else None
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise NetBoxError(f"'{path}' was answered with no list", hint=_HINTS[404])
            found += rows
            count = page.get("count")
            if not page.get("next"):
                if isinstance(count, int) and len(found) < count:
                    raise NetBoxError(
                        f"'{path}' has {count:,} objects, and {len(found):,} came: a page is not whole",
                        hint="run it again",
                    )
                return found
            if not rows:
                raise NetBoxError(
                    f"'{path}' names another page and lists nothing", hint="run it again"
                )

    def create(self, path: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Create objects, all or none, and return them.

        Raises:
            NetBoxError: NetBox refuses, or does not answer.
        """
        made = self._send("POST", f"{path}/", rows)
        if not isinstance(made, list) or len(made) != len(rows):
            raise NetBoxError(
                f"'POST {path}' was not answered with what was made", hint="run it again"
            )
        return made

    def update(self, path: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Change fields of objects, by their ``id``, all or none.

        Raises:
            NetBoxError: NetBox refuses, or does not answer.
        """
        self._send("PATCH", f"{path}/", rows)

    def _read(self, path: str) -> Any:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._send("GET", path, None)
            except NetBoxError as error:
                passing = error.status is None or error.status in {408, 429} or error.status >= 500
                if attempt == ATTEMPTS or not passing:
                    raise
                self.sleep(2.0 ** (attempt - 1))
        raise AssertionError(ATTEMPTS)  # the last attempt returns or raises

    def _send(self, method: str, path: str, payload: Any) -> Any:
        scheme = "Bearer" if self.token.startswith("nbt_") else "Token"
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            f"{self.base.rstrip('/')}/api/{path}",
            method=method,
            data=None if payload is None else json.dumps(payload).encode(),
            headers={
                "Authorization": f"{scheme} {self.token}",
                "Accept": "application/json",
                "Content-Type": "application/json",
            },
        )
        what = f"{method} {path.partition('?')[0]}"
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=TIMEOUT) as answer:
                text = answer.read(LARGEST_ANSWER + 1)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(what, error) from None
        except (urllib.error.URLError, HTTPException, TimeoutError, OSError) as error:
            reason = getattr(error, "reason", None) or type(error).__name__
            message = f"'{what}' had no answer: {visible(str(reason))}"
            raise NetBoxError(
                message, hint="run it again: it goes on from what NetBox has"
            ) from None
        if len(text) > LARGEST_ANSWER:
            raise NetBoxError(f"'{what}' was answered with more than {LARGEST_ANSWER:,} bytes")
        try:
            return json.loads(text) if text else None
        except ValueError:
            raise NetBoxError(
                f"'{what}' was not answered with JSON, or with half of it", hint=_HINTS[404]
            ) from None

    @staticmethod
    def _refusal(what: str, error: urllib.error.HTTPError) -> NetBoxError:
        try:
            told = json.loads(error.read(100_000))
        except (ValueError, OSError, HTTPException):
            told = None
        said = visible(_words(told))[:_LONGEST_MESSAGE]
        hint = _HINTS.get(error.code)
        if error.code >= 500:
            hint = "NetBox's own log has the cause; run it again: it goes on from what NetBox has"
        message = f"'{what}' was answered with {error.code}" + (f": {said}" if said else "")
        return NetBoxError(message, hint=hint, status=error.code)


def _words(told: Any) -> str:
    """Return the messages of an error, which NetBox nests by object and field."""
    if isinstance(told, dict):
        parts = (
            _words(value) if key in {"detail", "__all__", "error"} else f"{key}: {_words(value)}"
            for key, value in told.items()
            if value not in ({}, [], None)
        )
        return "; ".join(parts)
    if isinstance(told, list):
        return "; ".join(dict.fromkeys(text for one in told if (text := _words(one))))
    return "" if told is None else str(told)
