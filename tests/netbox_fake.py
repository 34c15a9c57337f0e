"""A NetBox of a few lists on loopback, whose answers have the schema of its REST API, and which can misbehave."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import serving

TOKEN = "0123456789abcdef0123456789abcdef01234567"
REFERENCES = {
    "site": "dcim/sites", "location": "dcim/locations", "manufacturer": "dcim/manufacturers", "role": "dcim/device-roles",
    "device_type": "dcim/device-types", "rack": "dcim/racks", "device": "dcim/devices", "power_panel": "dcim/power-panels",
}  # fmt: skip
"""Lists of objects that fields name."""
CHOICES = frozenset({"status", "face", "phase", "type"})
UNIQUE = {
    "dcim/devices": ("site", "name"), "dcim/racks": ("site", "name"), "dcim/interfaces": ("device", "name"),
    "dcim/sites": ("slug",), "dcim/device-types": ("manufacturer", "slug"), "dcim/manufacturers": ("slug",),
    "dcim/device-roles": ("slug",), "dcim/power-panels": ("site", "name"), "dcim/power-feeds": ("power_panel", "name"),
}  # fmt: skip


@dataclass
class FakeNetBox:
    """The state of a NetBox.

    Attributes:
        rows: by list, and by number.
        fail: status to answer writes with, once ``after`` of them are done.
        half: True if a list is cut off after its first page.
        broken: True if answers are cut off in the middle.
        writes: number of requests that wrote.
    """

    rows: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)
    fail: int = 0
    after: int = 0
    half: bool = False
    broken: bool = False
    writes: int = 0
    url: str = ""

    def add(self, path: str, row: dict[str, Any]) -> dict[str, Any]:
        """Add an object, as a request does."""
        own = self.rows.setdefault(path, {})
        number = max((key for rows in self.rows.values() for key in rows), default=0) + 1
        own[number] = {"id": number}
        self.change(path, number, row)
        return own[number]

    def change(self, path: str, number: int, row: dict[str, Any]) -> None:
        """Change fields of an object."""
        made = self.rows[path][number]
        for name, value in row.items():
            if name == "id":
                continue
            if name in REFERENCES and isinstance(value, int):
                target = self.rows[REFERENCES[name]][value]
                made[name] = {
                    key: target.get(key)
                    for key in ("id", "name", "slug", "model", "manufacturer")
                    if key in target
                }
            elif isinstance(value, dict):
                made[name] = value
            elif name in CHOICES:
                made[name] = (
                    None if value in {None, ""} else {"value": value, "label": str(value).title()}
                )
            elif name in {"a_terminations", "b_terminations"}:
                made[name] = [{**end, "object": self._interface(end["object_id"])} for end in value]
                for end in value:
                    self.rows["dcim/interfaces"][end["object_id"]]["cable"] = {"id": number}
            else:
                made[name] = value

    def _interface(self, number: int) -> dict[str, Any]:
        row = self.rows["dcim/interfaces"][number]
        return {"id": number, "name": row["name"], "device": row["device"]}

    def clash(self, path: str, row: dict[str, Any]) -> str:
        """Return why an object cannot be added."""
        keys = UNIQUE.get(path, ())
        for other in self.rows.get(path, {}).values():
            if keys and all(_plain(other.get(key)) == _plain(row.get(key)) for key in keys):
                return f"{', '.join(keys)} must make a unique set."
        if path == "dcim/devices" and row.get("position") is not None:
            for other in self.rows.get(path, {}).values():
                taken = _plain(other.get("rack")), other.get("position")
                if taken == (_plain(row.get("rack")), row["position"]) and other["id"] != row.get(
                    "id"
                ):
                    return f"U{row['position']} is already occupied."
        return ""

    def of_site(self, path: str, row: dict[str, Any], site: int) -> bool:
        """Return True for an object of a site."""
        if path == "dcim/interfaces":
            row = self.rows["dcim/devices"][row["device"]["id"]]
        if path == "dcim/cables":
            row = self.rows["dcim/devices"][row["a_terminations"][0]["object"]["device"]["id"]]
        if path == "dcim/power-feeds":
            row = self.rows["dcim/power-panels"][row["power_panel"]["id"]]
        return bool((row.get("site") or {}).get("id") == site)


def _plain(value: Any) -> Any:
    return (
        value.get("id")
        if isinstance(value, dict)
        else value.casefold()
        if isinstance(value, str)
        else value
    )


@contextmanager
def netbox(state: FakeNetBox) -> Iterator[str]:
    """Serve a NetBox on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status: int, body: Any) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw[: len(raw) // 2] if state.broken else raw)

        def refused(self) -> bool:
            if self.headers.get("Authorization") == f"Token {TOKEN}":
                return False
            self.answer(403, {"detail": "Invalid token"})
            return True

        def do_GET(self) -> None:
            if self.refused():
                return
            parts = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(parts.query))
            path = parts.path.removeprefix("/api/").strip("/")
            rows = list(state.rows.get(path, {}).values())
            if "site_id" in query:
                rows = [row for row in rows if state.of_site(path, row, int(query["site_id"]))]
            first, most = int(query.get("offset", 0)), int(query.get("limit", 50))
            following = None if first + most >= len(rows) or state.half else "more"
            page = rows[first : first + (most if not state.half else 1)]
            self.answer(200, {"count": len(rows), "next": following, "results": page})

        def write(self) -> tuple[str, list[dict[str, Any]]] | None:
            if self.refused():
                return None
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            state.writes += 1
            if state.fail and state.writes > state.after:
                self.answer(
                    state.fail, {"detail": "You do not have permission to perform this action."}
                )
                return None
            return self.path.removeprefix("/api/").strip("/"), json.loads(raw)

        def do_POST(self) -> None:
            if (asked := self.write()) is None:
                return
            path, rows = asked
            for row in rows:
                if told := state.clash(path, row):
                    self.answer(400, [{"__all__": [told]}])
                    return
            self.answer(201, [state.add(path, row) for row in rows])

        def do_PATCH(self) -> None:
            if (asked := self.write()) is None:
                return
            path, rows = asked
            for row in rows:
                known = state.rows[path][row["id"]]
                if row.get("position") is not None and (
                    told := state.clash(path, {**known, **row, "name": ""})
                ):
                    self.answer(400, [{"__all__": [told]}])
                    return
                state.change(path, row["id"], row)
            self.answer(200, [state.rows[path][row["id"]] for row in rows])

        def log_message(self, *words: Any) -> None:
            """Print nothing."""

    with serving(Handler) as url:
        state.url = url
        yield url
