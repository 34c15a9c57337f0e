"""Requests to a NetBox. The token goes to it alone, and into no message."""

from __future__ import annotations

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.errors import ExternalToolError, UsageError
from rackwright.harmless import visible
from rackwright.web.fetching import NoReplyError, Reply, fetch, may_take_secrets

TIMEOUT = 180.0
"""Seconds until a request is given up."""
PAGE = 200
"""Objects of one page."""
BATCH = 25
"""Objects that one request writes: NetBox writes all of them or none."""
ATTEMPTS = 4
"""Tries of a request that only reads."""
_LONGEST_MESSAGE = 300
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
        if not may_take_secrets(self.base):
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
            reply = fetch(request, TIMEOUT)
        except NoReplyError as error:
            message = f"'{what}' had no answer: {visible(str(error))}"
            raise NetBoxError(
                message, hint="run it again: it goes on from what NetBox has"
            ) from None
        if reply.refuses:
            raise _refusal(what, reply)
        try:
            return reply.json()
        except ValueError:
            raise NetBoxError(
                f"'{what}' was not answered with JSON, or with half of it", hint=_HINTS[404]
            ) from None


def _refusal(what: str, reply: Reply) -> NetBoxError:
    try:
        told = reply.json()
    except ValueError:
        told = None
    said = visible(_words(told))[:_LONGEST_MESSAGE]
    hint = _HINTS.get(reply.status)
    if reply.status >= 500:
        hint = "NetBox's own log has the cause; run it again: it goes on from what NetBox has"
    message = f"'{what}' was answered with {reply.status}" + (f": {said}" if said else "")
    return NetBoxError(message, hint=hint, status=reply.status)


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
