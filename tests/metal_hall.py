"""A hall of sixteen DGX H100 whose controllers are at addresses of loopback, as blueprint and as machines."""

from __future__ import annotations

from pathlib import Path

from bmc_emulator import PASSWORD, USER, Machine
from rackwright.plan.fabric.cables import wires
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack

BLUEPRINT = builtin_pack() / "fixtures/top-of-rack.yaml"
HOSTS = tuple(f"dgx-{number:02}" for number in range(1, 17))
FIRST = "127.20.0."


def address_of(host: str) -> str:
    """Return the address of the controller of a host."""
    return f"{FIRST}{HOSTS.index(host) + 1}"


def layer(folder: Path, port: int, more: str = "", operations: str = "") -> Path:
    """Write a layer with addresses and the access to controllers, and return its path."""
    password = folder / "bmc-password"
    password.write_text(f"{PASSWORD}\n")
    password.chmod(0o600)
    path = folder / "metal.yaml"
    path.write_text(f"""\
sites:
  - name: sjc1
    addresses:
      domain: sjc1.example.com
      networks:
        - {{name: mgmt, kind: management, prefix: 10.20.0.0/24, gateway: 10.20.0.254,
           ranges: [{{of: dgx, first: 10.20.0.10}}]}}
        - {{name: oob, kind: bmc, prefix: 127.20.0.0/24, ranges: [{{of: dgx, first: 127.20.0.1}}]}}
    provisioning:
      bmc: {{user: {USER}, password_file: {password}, ca: {folder}/bmc-ca.pem, port: {port}}}
{more}{operations}""")
    return path


def plan_of(*layers: Path) -> Plan:
    """Return the plan of the hall."""
    return load_plan(BLUEPRINT, layers).plan


def machines() -> dict[str, Machine]:
    """Return the machines of the hall as planned, by host, each with neighbours of the fabric at its ports."""
    (site,) = load_plan(BLUEPRINT).plan.onprem
    (fabric,) = site.fabrics
    assert fabric.layout is not None
    far = {
        (wire.lower, wire.lower_port): (wire.upper, wire.upper_port)
        for wire in wires(fabric.layout)
    }
    found = {}
    for number, host in enumerate(HOSTS, 1):
        ports = []
        for port in range(1, 9):
            switch, other = far[host, port]
            # Two halves of a cage of a Spectrum switch: ports 1 and 2 are swp1s0 and swp1s1.
            name = f"swp{(other + 1) // 2}s{(other + 1) % 2}"
            ports.append((f"b8:3f:d2:01:{number:02x}:{port:02x}", (switch, name)))
        found[host] = Machine(
            address_of(host),
            serial=f"SN{number:04}",
            bmc_mac=f"b8:3f:d2:00:{number:02x}:01",
            interfaces=(f"b8:3f:d2:00:{number:02x}:02",),
            ports=tuple(ports),
            rack=f"c{(number + 1) // 2:02}",
        )
    return found
