"""The metadata service of one instance, version 2: ``python instance_metadata.py FILE``, in the instance's own namespace.

FILE has what it answers, as a tree in JSON that is read for each request: ``meta-data``, ``dynamic`` and ``user-data``.
A name like ``0=platform`` is listed so, and found as ``0`` (Amazon EC2 User Guide, "Access instance metadata for an EC2
instance").
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOKEN = "token-of-this-instance"
ADDRESS = ("169.254.169.254", 80)
HEADER = "X-aws-ec2-metadata-token"


def find(tree: Any, parts: list[str]) -> str | None:
    """What stands in ``tree`` at the path ``parts``; of a folder the list of what is in it."""
    for part in parts:
        entries = tree if isinstance(tree, dict) else {}
        names = [name for name in entries if part in {name, name.partition("=")[0]}]
        if not names:
            return None
        tree = entries[names[0]]
    if not isinstance(tree, dict):
        return str(tree)
    folders = {name for name, value in tree.items() if isinstance(value, dict) and "=" not in name}
    return "\n".join(f"{name}/" if name in folders else name for name in tree)


class Service(BaseHTTPRequestHandler):
    """Answers requests that have a token, of whatever version of the metadata."""

    def do_PUT(self) -> None:
        self._answer(200 if self.path == "/latest/api/token" else 404, TOKEN)

    def do_GET(self) -> None:
        if self.headers.get(HEADER) != TOKEN:
            return self._answer(401, "")
        tree = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
        found = find(tree, [part for part in self.path.split("/") if part][1:])
        return self._answer(404 if found is None else 200, found or "")

    def _answer(self, code: int, text: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.send_header(f"{HEADER}-ttl-seconds", "21600")
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(ADDRESS, Service).serve_forever()
