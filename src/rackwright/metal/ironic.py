"""Client of Ironic's REST API: nodes, ports and provision states."""

from __future__ import annotations

import json
import ssl
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.errors import ExternalToolError
from rackwright.harmless import visible
from rackwright.web.fetching import NoReplyError, Reply, basic_authorization, fetch

VERSION = "1.95"
"""Requested version of the API, which Ironic 25 (2024) and later support."""
TIMEOUT = 60.0
"""Timeout of a request, in s."""
FIELDS = ("uuid", "name", "provision_state", "target_provision_state", "power_state", "last_error", "maintenance",
          "inspection_finished_at", "provision_updated_at", "instance_info", "properties", "extra", "reservation",
          "driver", "clean_step")  # fmt: skip
_LONGEST = 400


class IronicError(ExternalToolError):
    """Ironic does not answer, or rejects a request.

    Args:
        summary: message for the user.
        status: HTTP status of the answer; None without an answer.
    """

    code = "ironic"

    def __init__(self, summary: str, *, hint: str | None = None, status: int | None = None) -> None:
        super().__init__(summary, hint=hint)
        self.status = status


@dataclass(frozen=True, slots=True)
class IronicNode:
    """Node of Ironic; the attributes are fields of its API.

    Attributes:
        updated: time of the last change of ``provision_state``, as text from Ironic.
    """

    uuid: str
    name: str
    provision_state: str
    target: str | None
    power_state: str | None
    last_error: str | None
    maintenance: bool
    inspected: bool
    instance_info: Mapping[str, Any]
    extra: Mapping[str, Any]
    updated: str = ""


@dataclass(frozen=True)
class Ironic:
    """Client of one Ironic.

    Attributes:
        base: URL of the API.
        user: user of the API; None sends no credentials.
        tls: TLS settings for https.
    """

    base: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)

    def nodes(self) -> dict[str, IronicNode]:
        """Return all nodes by name.

        Raises:
            IronicError: the request fails.
        """
        path: str | None = f"/v1/nodes?limit=1000&fields={','.join(FIELDS)}"
        found: dict[str, IronicNode] = {}
        while path is not None:
            page = self._send("GET", path, None)
            for row in page.get("nodes", ()):
                node = _node(row)
                found[node.name] = node
            following = page.get("next")
            path = None if following is None else _path_of(str(following))
        return found

    def create_node(self, body: Mapping[str, Any]) -> None:
        """Create a node.

        Raises:
            IronicError: Ironic rejects it.
        """
        self._send("POST", "/v1/nodes", body)

    def update_node(self, name: str, patch: Sequence[Mapping[str, Any]]) -> None:
        """Change a node by a JSON patch.

        Raises:
            IronicError: Ironic rejects it.
        """
        self._send("PATCH", f"/v1/nodes/{name}", list(patch))

    def ports(self, name: str) -> tuple[str, ...]:
        """Return the Ethernet addresses of the ports of a node.

        Raises:
            IronicError: the request fails.
        """
        told = self._send("GET", f"/v1/ports?node={name}&fields=address", None)
        return tuple(str(one["address"]) for one in told.get("ports", ()))

    def create_port(self, body: Mapping[str, Any]) -> None:
        """Create a port.

        Raises:
            IronicError: Ironic rejects it, for example because another node has the address.
        """
        self._send("POST", "/v1/ports", body)

    def set_provision_state(self, name: str, target: str, **more: Any) -> None:
        """Start the transition of a node to another provision state.

        Raises:
            IronicError: Ironic rejects it, for example because another transition is running.
        """
        self._send("PUT", f"/v1/nodes/{name}/states/provision", {"target": target, **more})

    def _send(self, method: str, path: str, payload: Any) -> Any:
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "X-OpenStack-Ironic-API-Version": VERSION,
        }
        if self.user is not None:
            headers["Authorization"] = basic_authorization(self.user, self.password or "")
        request = urllib.request.Request(  # noqa: S310 - the blueprint's field takes no other scheme
            f"{self.base.rstrip('/')}{path}",
            method=method,
            data=None if payload is None else json.dumps(payload).encode(),
            headers=headers,
        )
        what = f"{method} {path.partition('?')[0]}"
        try:
            reply = fetch(request, TIMEOUT, tls=self.tls)
        except NoReplyError as error:
            raise IronicError(
                f"'{what}' got no answer: {visible(str(error))[:_LONGEST]}",
                hint="is Ironic running? The next 'provision' continues from there",
            ) from None
        if reply.refuses:
            raise _refusal(what, reply)
        try:
            return reply.json() if reply.body else {}
        except ValueError:
            raise IronicError(f"'{what}' was not answered with JSON") from None


def _node(row: Mapping[str, Any]) -> IronicNode:
    error = row.get("last_error")
    return IronicNode(
        uuid=str(row["uuid"]),
        name=str(row.get("name") or row["uuid"]),
        provision_state=str(row["provision_state"]),
        target=row.get("target_provision_state"),
        power_state=row.get("power_state"),
        last_error=None if error is None else visible(str(error))[:_LONGEST],
        maintenance=bool(row.get("maintenance")),
        inspected=row.get("inspection_finished_at") is not None,
        instance_info=row.get("instance_info") or {},
        extra=row.get("extra") or {},
        updated=str(row.get("provision_updated_at") or ""),
    )


def _path_of(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return f"{parts.path}?{parts.query}"


def _refusal(what: str, reply: Reply) -> IronicError:
    try:
        told = reply.json()
        message = told.get("error_message", told)
        message = json.loads(message) if isinstance(message, str) else message
        said = str(message.get("faultstring", message))
    except (ValueError, AttributeError):
        said = ""
    text = f"'{what}' was answered with {reply.status}"
    shown = visible(said)[:_LONGEST]
    return IronicError(f"{text}: {shown}" if shown else text, status=reply.status)
