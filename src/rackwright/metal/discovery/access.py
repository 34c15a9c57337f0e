"""Access to the management controllers of a site: user, password and certificates."""

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
        user: user of the controllers.
        password_file: path of the password, with ``{host}`` for the name of the host.
        ca: file with the certificates of the authority; None for those that this machine trusts.
        verify: check of certificates, ``name`` or ``chain``.
        hosts: name of the host by the address of its controller.
        plain: True for connections without TLS, which are used on loopback only.
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
        """Return a function from the address of a controller to its credentials; each file is read once.

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
            # An unknown machine gets no password: it may belong to someone else.
            return known.get(address, Credentials(self.user, ""))

        return of

    def session(self) -> Callable[[str, Credentials], Redfish]:
        """Return a function that opens a session with a controller.

        Raises:
            BmcError: the certificates cannot be read.
        """
        tls = None if self.plain else tls_context(self.ca, self.verify)
        return lambda address, known: Redfish(address, self.port, known, tls, manners=self.manners)
