"""The filter ``rackwright.cluster.efa_devices``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

DOCUMENTATION = r"""
name: efa_devices
short_description: The EFA devices that Lustre uses
description:
  - Chooses as AWS's script C(configure-efa-fsx-lustre-client.py) does without GPUDirect Storage; the FSx for Lustre
    User Guide has people run it. It takes all, on P5 the first of each PCI switch, on P5en that of each port of one.
  - A device that does not hang where that script expects it, on a switch below a root port, is not chosen.
positional: tree, of_each
options:
  _input:
    description: Names of the host's EFA devices.
    type: list
    elements: str
    required: true
  tree:
    description: Paths of devices of InfiniBand as C(/sys/devices) has them, with the PCI addresses on the way.
    type: list
    elements: str
    default: []
  of_each:
    description: What one device of each is taken of, C(switch) or C(port); absent, all are taken.
    type: str
author:
  - Rackwright
"""

EXAMPLES = r"""
- name: Say what LNet uses
  ansible.builtin.debug:
    msg: "{{ ['rdmap79s0', 'rdmap80s0'] | rackwright.cluster.efa_devices(paths, 'switch') }}"
"""

RETURN = r"""
_value:
  description: Their names, sorted.
  type: list
  elements: str
"""

ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:([0-9a-f]{2})\.[0-9a-f]")
WAY = 4
"""PCI addresses on the way to a device: root port, switch, port of the switch, the device."""


def efa_devices(
    known: Iterable[str], tree: Iterable[str] = (), of_each: str | None = None
) -> list[str]:
    """Return names of the devices that Lustre uses."""
    names = sorted(known)
    if not of_each:
        return names
    places = {path.rpartition("/")[2]: path for path in tree}
    taken: dict[tuple[str, ...], str] = {}
    for name in names:
        parts = places.get(name, "").split("/")
        way = [found for part in parts if (found := ADDRESS.fullmatch(part))]
        if len(way) == WAY:
            port = (way[2][1],) if of_each == "port" else ()
            taken.setdefault((way[1][0], *port), name)
    return list(taken.values())


class FilterModule:
    """Return the filters of this file by name, as Ansible asks for them."""

    def filters(self) -> dict[str, Callable[..., list[str]]]:
        """Return the filters by their names."""
        return {"efa_devices": efa_devices}
