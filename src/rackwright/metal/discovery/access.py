"""Access to the management controllers of a site: who logs in, with which password, by which certificates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rackwright.nodelife.redfish import Credentials, Manners, Redfish, tls_context
from rackwright.secret_files import read_password

_HOST = "{host}"


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
