"""Power of a machine by its management controller (DMTF Redfish, ComputerSystem.Reset).

A controller may lie: it answers that it has done something, and nothing has happened. What is believed is
the power state that is read afterwards, and what the cluster says of the host.
"""

from __future__ import annotations

import base64
import json
import ssl
import stat
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field

from rackwright.errors import UsageError
from rackwright.harmless import visible
from rackwright.model.base import Model
from rackwright.nodelife.repair.actuator import ActionError
from rackwright.reading.loader import load

ANSWER_S = 30.0
LARGEST_ANSWER = 4 * 1024 * 1024


class BmcAccess(Model):
    """Way to the management controller of one node."""

    url: Annotated[str, Field(pattern=r"^https?://[^\s/@]+/?$")]
    """Address of the controller; without TLS on loopback alone."""
    user: str
    password_file: str
    """File that holds the password, from the folder of this one; readable by its owner alone."""
    certificates: str | None = None
    """File with the certificates of the authority. Those that this machine trusts if omitted."""
    system: Annotated[str, Field(pattern=r"^/redfish/v1/\S+$")] | None = None
    """Path of the system. The only one of the controller if omitted."""


class BmcFile(Model):
    """Management controllers of the nodes of a site."""

    nodes: dict[str, BmcAccess]


@dataclass
class Bmc:
    """Management controller of one node."""

    node: str
    access: BmcAccess
    folder: Path
    _system: str | None = field(default=None, init=False)

    def power(self) -> str:
        """Return the power state as the controller has it, like ``On`` or ``PoweringOn``.

        Raises:
            ActionError: the controller does not answer, or tells no state.
        """
        state = self._ask(self._path()).get("PowerState")
        if not isinstance(state, str):
            raise ActionError(f"the BMC of {self.node} tells no power state")
        return state

    def reset(self, kind: str) -> None:
        """Ask for ``ForceOff`` or ``On``.

        Raises:
            ActionError: the controller does not answer, or refuses.
        """
        action = self._ask(self._path()).get("Actions", {}).get("#ComputerSystem.Reset", {})
        target = action.get("target") or f"{self._path()}/Actions/ComputerSystem.Reset"
        self._ask(str(target), {"ResetType": kind})

    def reset_controller(self) -> None:
        """Restart the controller itself.

        Raises:
            ActionError: the controller does not answer, or refuses.
        """
        manager = self._first("/redfish/v1/Managers")
        self._ask(f"{manager}/Actions/Manager.Reset", {"ResetType": "GracefulRestart"})

    def _path(self) -> str:
        if self._system is None:
            self._system = self.access.system or self._first("/redfish/v1/Systems")
        return self._system

    def _first(self, collection: str) -> str:
        members = self._ask(collection).get("Members", [])
        if len(members) != 1:
            raise ActionError(
                f"the BMC of {self.node} has {len(members)} of '{collection}'",
                hint="state its 'system'",
            )
        return str(members[0].get("@odata.id"))

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        url = urlsplit(self.access.url)
        if url.scheme == "http" and not (url.hostname or "").startswith("127."):
            raise ActionError(f"the BMC of {self.node} is asked for a password without TLS")
        if not path.startswith("/redfish/v1"):
            raise ActionError(f"the BMC of {self.node} names the path '{visible(path[:80])}'")
        login = f"{self.access.user}:{self._password()}".encode()
        request = urllib.request.Request(  # noqa: S310 - a scheme of the pattern
            f"{self.access.url.rstrip('/')}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Basic {base64.b64encode(login).decode()}",
                "Content-Type": "application/json",
            },
        )
        certificates = self.access.certificates
        context = ssl.create_default_context(cafile=str(self.folder / certificates) if certificates else None)  # fmt: skip
        opener = urllib.request.build_opener(
            _NoRedirect, urllib.request.HTTPSHandler(context=context)
        )
        try:
            with opener.open(request, timeout=ANSWER_S) as answer:
                text = answer.read(LARGEST_ANSWER)
            data = json.loads(text or b"{}")
        except urllib.error.HTTPError as error:
            raise ActionError(f"the BMC of {self.node} answers {error.code} to '{path}'") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise ActionError(
                f"the BMC of {self.node} does not answer: {visible(str(reason))}"
            ) from None
        return data if isinstance(data, dict) else {}

    def _password(self) -> str:
        path = self.folder / self.access.password_file
        try:
            if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ActionError(f"others can read '{path}'", hint=f"chmod 600 {path}")
            return path.read_text("utf-8").strip()
        except OSError as error:
            raise ActionError(f"'{path}' cannot be read: {error.strerror}") from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the password would go along."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def read_bmcs(path: Path) -> dict[str, Bmc]:
    """Return the management controllers of a file by node.

    Raises:
        SpecErrors: the file is not valid.
        UsageError: there is no such file.
    """
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'")
    file = load(path, BmcFile).value
    return {node: Bmc(node, access, path.resolve().parent) for node, access in file.nodes.items()}
