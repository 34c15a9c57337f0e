"""Access to the management controllers of a site: who logs in, with which password, by which certificates."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import UsageError
from rackwright.metal.discovery.redfish import Credentials, Manners, Redfish, tls_context

_HOST = "{host}"
_LONGEST_PASSWORD = 1024


def read_password(path: Path) -> str:
    """Return the one line of a file that its owner alone can read.

    Raises:
        UsageError: it cannot be read, others can read it, or it is no single line.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").removesuffix("\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise UsageError(f"the password in '{path}' cannot be read: {reason}") from None
    if stat.S_ISREG(mode) and mode & 0o077:
        raise UsageError(f"others can read '{path}'", hint=f"chmod 600 {path}")
    if not text or len(text) > _LONGEST_PASSWORD or re.search(r"[\x00-\x1f\x7f]", text):
        raise UsageError(f"'{path}' is no password of one line")
    return text


@dataclass(frozen=True)
class ControllerAccess:
    """Access to the controllers of a site.

    Attributes:
        user: that logs in.
        password_file: its path, with ``{host}`` for the name of the host.
        ca: file with certificates of the authority; None for those that the machine trusts.
        verify: ``name`` or ``chain``.
        hosts: name of the host by the address of its controller.
        plain: without TLS, which loopback alone is asked by.
    """

    user: str
    password_file: str
    ca: str | None
    verify: str
    port: int
    hosts: Mapping[str, str]
    manners: Manners
    plain: bool = False

    def credentials(self) -> Callable[[str], Credentials]:
        """Return the credentials of the controller at an address, each file read once.

        Raises:
            UsageError: a password cannot be read.
        """
        if _HOST not in self.password_file:
            one = Credentials(self.user, read_password(Path(self.password_file)))
            return lambda address: one
        known = {
            address: Credentials(
                self.user, read_password(Path(self.password_file.replace(_HOST, host)))
            )
            for address, host in self.hosts.items()
        }

        def of(address: str) -> Credentials:
            # A machine that no host has is asked with no password: it is not known to be ours.
            return known.get(address, Credentials(self.user, ""))

        return of

    def session(self) -> Callable[[str, Credentials], Redfish]:
        """Return what opens the session with a controller.

        Raises:
            BmcError: the certificates cannot be read.
        """
        tls = None if self.plain else tls_context(self.ca, self.verify)
        return lambda address, known: Redfish(address, self.port, known, tls, manners=self.manners)
