"""Door to ``rackwright_lab``: the embedded AWS and the lab of bare machines.

``rackwright_lab`` is a package of its own and may be missing. Only this module imports it, and only
when a command asks for it, so that nothing else of the product depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rackwright_lab.embedded_aws.control import Embedded
    from rackwright_lab.host import LabHost
    from rackwright_lab.lab import Lab

DEFAULT_NETWORK = "10.77.0.0/24"


def start_embedded_aws(state: Path) -> Embedded:
    """Return the embedded AWS with its state in the folder ``state``, started if it does not run."""
    from rackwright_lab.embedded_aws import control

    return control.start(state)


def open_lab(name: str, network: str = DEFAULT_NETWORK) -> Lab:
    """Return the lab called ``name``; a new one gets the IPv4 network ``network``."""
    from rackwright_lab import lab

    return lab.open_lab(name, network)


def boot_hosts(
    lab: Lab,
    gpus: Iterable[tuple[str, int]],
    progress: Callable[[str], None],
    *,
    suite: str | None = None,
) -> tuple[LabHost, ...]:
    """Boot the hosts of a lab that do not run.

    Args:
        lab: the lab that gets the hosts.
        gpus: name and number of GPUs of each host.
        progress: function that gets each step in words.
        suite: Debian release of new hosts; that of this machine if omitted.

    Returns:
        Every host of the lab.
    """
    from rackwright_lab.lab import HostSpec, up

    return up(lab, [HostSpec(name, count) for name, count in gpus], progress, suite=suite)


def remove_hosts(lab: Lab) -> tuple[str, ...]:
    """Remove the hosts of a lab with their disks, and return their names."""
    from rackwright_lab.lab import down

    return down(lab)
