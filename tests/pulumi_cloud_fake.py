"""Pulumi Cloud on loopback, as far as the CLI asks it: stacks, their updates, leases and secrets.

Written from what the CLI of this version sends (``pkg/backend/httpstate/client`` of its sources). It
stores deployments and hands them back; that the CLI is content says nothing about Pulumi's own service.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from loopback import serving

TOKEN = "pul-0123456789abcdef"
OWNER = "team"
_SEAL = b"sealed:"
_STACK = re.compile(r"/api/stacks/team/([^/]+)/([^/]+)(/.*)?")
_UPDATE = re.compile(r"/(update|preview|destroy|refresh)/([^/]+)(/.*)?")


@dataclass
class Stack:
    """A stack that the service keeps.

    Attributes:
        deployment: as the CLI has sent it the last time, or that of a stack without resources.
        active: the update that runs; empty where none does.
        version: of its last update.
        updates: those that have ended, the oldest first.
        last: when the last update began, in seconds since the epoch; 0 while one runs.
    """

    deployment: dict[str, Any]
    active: str = ""
    last: int | None = None
    version: int = 0
    updates: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class FakeCloud:
    """Its state; ``address`` is where it listens."""

    address: str = ""
    stacks: dict[tuple[str, str], Stack] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    refused: int = 0
    updates: int = 0


class _Answer(Exception):
    def __init__(self, status: int, body: Any = None) -> None:
        super().__init__(status)
        self.status, self.body = status, body


def _handler(cloud: FakeCloud) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
            pass

        def _serve(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                content = gzip.decompress(content)
            path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
            cloud.seen.append(f"{self.command} {path}")
            try:
                self._authorise()
                body = answer(cloud, self.command, path, query, json.loads(content or b"null"))
                self._send(200, body)
            except _Answer as answered:
                self._send(answered.status, answered.body)

        do_GET = do_POST = do_PATCH = do_DELETE = do_HEAD = _serve

        def _authorise(self) -> None:
            given = self.headers.get("Authorization") or ""
            if given == f"token {TOKEN}" or given.startswith("update-token lease-"):
                return
            cloud.refused += 1
            raise _Answer(401, {"code": 401, "message": "Unauthorized"})

        def _send(self, status: int, body: Any) -> None:
            content = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    return Handler


def answer(
    cloud: FakeCloud, method: str, path: str, query: Mapping[str, list[str]], sent: Any
) -> Any:
    """What the service answers; anything it does not know is not found."""
    match (method, path):
        case ("GET", "/api/user"):
            organizations = [{"githubLogin": OWNER, "name": OWNER}]
            return {"githubLogin": OWNER, "name": OWNER, "organizations": organizations}
        case ("GET", "/api/user/organizations/default"):
            return {"gitHubLogin": OWNER}
        case ("GET", "/api/user/stacks"):
            wanted = query.get("project", [name for name, _ in cloud.stacks])
            listed = (one for one in cloud.stacks.items() if one[0][0] in wanted)
            return {"stacks": [_summary(*named) for named in listed]}
        case _:
            pass
    if method == "POST" and (made := re.fullmatch(r"/api/stacks/team/([^/]+)", path)):
        name = sent["stackName"].rsplit("/", 1)[-1]
        cloud.stacks[made[1], name] = Stack(sent.get("state") or {"version": 3, "deployment": {}})
        return {}
    found = _STACK.fullmatch(path)
    if found is None or (found[1], found[2]) not in cloud.stacks:
        raise _Answer(404, {"code": 404, "message": "Not Found"})
    stack, rest = cloud.stacks[found[1], found[2]], found[3] or ""
    update = _UPDATE.fullmatch(rest)
    if update is not None:
        return _of_update(stack, method, update[2], update[3] or "", sent)
    match (method, rest):
        case ("GET", ""):
            named = {"orgName": OWNER, "projectName": found[1], "stackName": found[2], "id": "1"}
            return {**named, "activeUpdate": stack.active, "tags": {}, "version": stack.version}
        case ("DELETE", ""):
            del cloud.stacks[found[1], found[2]]
            raise _Answer(204)
        case ("GET", "/updates"):
            return {"updates": stack.updates[::-1]}
        case ("GET", "/export"):
            return stack.deployment
        case ("POST", "/import"):
            _free(stack)
            stack.deployment = sent
            cloud.updates += 1
            return {"updateId": f"import-{cloud.updates}"}
        case ("POST", "/update" | "/preview" | "/destroy" | "/refresh"):
            cloud.updates += 1
            return {"updateID": f"{rest[1:]}-{cloud.updates}"}
        case ("POST", "/encrypt"):
            return {"ciphertext": _seal(sent["plaintext"])}
        case ("POST", "/decrypt"):
            return {"plaintext": _open(sent["ciphertext"])}
        case ("POST", "/batch-encrypt"):
            return {"ciphertexts": [_seal(one) for one in sent["plaintexts"]]}
        case ("POST", "/batch-decrypt"):
            return {"plaintexts": {one: _open(one) for one in sent["ciphertexts"]}}
        case _:
            raise _Answer(404, {"code": 404, "message": "Not Found"})


def _of_update(stack: Stack, method: str, update: str, rest: str, sent: Any) -> Any:
    match (method, rest):
        case ("POST", ""):
            if not update.startswith("preview-"):
                _free(stack)
                stack.active, stack.last = update, 0
                stack.version += 1
            return {"version": stack.version, "token": f"lease-{update}"}
        case ("GET", ""):
            return {"status": "succeeded", "events": []}
        case ("POST", "/renew_lease"):
            return {"token": f"lease-{update}"}
        case ("PATCH", "/checkpoint"):
            stack.deployment = {"version": sent["version"], "deployment": sent["deployment"]}
            return {}
        case ("PATCH", "/checkpointverbatim"):
            stack.deployment = sent["untypedDeployment"]
            return {}
        case ("POST", "/complete" | "/cancel"):
            if stack.active == update:
                stack.active, stack.last = "", int(time.time())
                kind, _, _ = update.partition("-")
                stack.updates.append(_update(kind, stack))
            return {}
        case ("POST", "/events" | "/events/batch"):
            return {}
        case _:
            raise _Answer(404, {"code": 404, "message": "Not Found"})


def _update(kind: str, stack: Stack) -> dict[str, Any]:
    return {
        "kind": kind,
        "message": "",
        "environment": {},
        "config": {},
        "result": "succeeded",
        "startTime": stack.last,
        "endTime": stack.last,
        "version": stack.version,
        "resourceChanges": {},
    }


def _free(stack: Stack) -> None:
    if stack.active:
        message = "Conflict: Another update is currently in progress."
        raise _Answer(409, {"code": 409, "message": message})


def _summary(name: tuple[str, str], stack: Stack) -> dict[str, Any]:
    named = {"orgName": OWNER, "projectName": name[0], "stackName": name[1], "id": "1"}
    return named if stack.last is None else {**named, "lastUpdate": stack.last}


def _seal(text: str) -> str:
    """``text``, which is base64, so that nobody finds it by searching."""
    return base64.b64encode(_SEAL + base64.b64decode(text)[::-1]).decode()


def _open(text: str) -> str:
    return base64.b64encode(base64.b64decode(text).removeprefix(_SEAL)[::-1]).decode()


@contextmanager
def a_cloud() -> Iterator[FakeCloud]:
    """A service that listens until the block ends."""
    cloud = FakeCloud()
    with serving(_handler(cloud)) as cloud.address:
        yield cloud
