"""People who use the hosts of a lab: their keys, and their logins by ssh."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab_support import Machines
from rackwright_lab.system import run


@dataclass
class People:
    """The hosts of a lab, and who logs in there.

    Attributes:
        machines: the hosts.
        people: folder of the private keys.
    """

    machines: Machines
    people: Path

    def key(self, name: str) -> Path:
        """The private key of a person."""
        path = self.people / name
        if not path.exists():
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path)
        return path

    def public(self, name: str) -> str:
        """The public key of a person, as hosts are told of it."""
        return self.key(name).with_suffix(".pub").read_text().strip()

    def on(self, name: str, command: str) -> str:
        """What ``command`` prints on the host ``name``."""
        return self.machines.on(name, command)

    def log_in(self, person: str, host: str, command: str = "id -un") -> str:
        """What ``command`` prints for a person; empty where they are not let in."""
        address = self.machines.host(host).address.ip
        known = f"UserKnownHostsFile={self.machines.lab.known_hosts}"
        done = subprocess.run(
            [
                *("ssh", "-F", "none", "-o", known, "-o", "BatchMode=yes", "-i", self.key(person)),
                *("-o", "IdentitiesOnly=yes", f"{person}@{address}", command),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return done.stdout.strip()
