"""Arista's own renderer, PyAVD, as a second opinion on ``startup-config``.

    python tests/eos_oracle.py STRUCTURED    in an environment with PyAVD: prints the lines of EOS

The structured configuration of AVD is made from the plan's record here, not from the rendered text, checked by
AVD's schema, and rendered by AVD's templates.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackwright.plan.switches.records import SwitchConfig

VERSION = "6.4.0"
"""Version of PyAVD."""
MAC = "00:00:5e:00:01:01"


def structured(switch: SwitchConfig) -> dict[str, Any]:
    """Return AVD's structured configuration of a switch."""
    tunnels = [vlan for vlan in switch.vlans if vlan.vni is not None]
    asns = {peer.name: peer.asn for peer in switch.peers}
    overlay: dict[str, Any] = {
        "name": "EVPN",
        "update_source": "Loopback0",
        "ebgp_multihop": 3,
        "send_community": "all",
    }
    if not tunnels:
        overlay["next_hop_unchanged"] = True
    roce = switch.roce
    assert roce is not None
    assert roce.marking is not None
    return {
        "hostname": switch.name,
        "dns_domain": switch.domain,
        "ip_name_server": {
            "vrfs": [
                {"name": "MGMT", "servers": [{"ip_address": one} for one in switch.name_servers]}
            ]
        },
        "ntp": {"vrf": "MGMT", "servers": [{"name": one} for one in switch.time_servers]},
        "logging": {
            "vrfs": [{"name": "MGMT", "hosts": [{"name": one} for one in switch.log_servers]}]
        },
        "management_interfaces": [
            {"name": "Management1", "vrf": "MGMT", "ip_address": str(switch.management)}
        ],
        "local_users": [
            {"name": one.name, "privilege": 15, "role": "network-admin", "ssh_key": one.keys[0]}
            for one in switch.administrators
        ],
        "qos": {"map": {"dscp": [f"{roce.dscp} to traffic-class {roce.priority}"]}},
        "qos_profiles": [
            {
                "name": "ROCE",
                "trust": "dscp",
                "priority_flow_control": {
                    "enabled": True,
                    "priorities": [{"priority": roce.priority, "no_drop": True}],
                },
                "uc_tx_queues": [
                    {
                        "id": roce.priority,
                        "random_detect": {
                            "ecn": {
                                "threshold": {
                                    "units": "kbytes",
                                    "min": round(roce.marking.begin * 2**20),
                                    "max": round(roce.marking.end * 2**20),
                                    "max_probability": round(roce.marking.probability),
                                }
                            }
                        },
                    }
                ],
            }
        ],
        "service_routing_protocols_model": "multi-agent",
        "vlans": [{"id": vlan.number, "name": vlan.name} for vlan in switch.vlans],
        "vrfs": [{"name": "MGMT", "ip_routing": False}],
        "ethernet_interfaces": [
            {
                "name": port.name,
                "description": port.description,
                "service_profile": "ROCE",
                "speed": f"{port.gbps:g}g-{len(port.lanes)}",
                **(
                    {"mtu": port.mtu, "switchport": {"enabled": False}, "ipv6_enable": True}
                    if port.to_switch
                    else {
                        "switchport": {"access_vlan": port.vlan},
                        "spanning_tree_portfast": "edge",
                    }
                ),
            }
            for port in switch.ports
        ],
        "loopback_interfaces": [{"name": "Loopback0", "ip_address": f"{switch.router_id}/32"}],
        "vlan_interfaces": [
            {
                "name": f"Vlan{vlan.number}",
                "description": vlan.name,
                "mtu": next(port.mtu for port in switch.ports if port.vlan == vlan.number),
                "ip_address_virtual": str(vlan.gateways[0]),
            }
            for vlan in tunnels
        ],
        **(
            {
                "vxlan_interface": {
                    "vxlan1": {
                        "vxlan": {
                            "source_interface": "Loopback0",
                            "udp_port": 4789,
                            "vlans": [{"id": vlan.number, "vni": vlan.vni} for vlan in tunnels],
                        }
                    }
                },
                "ip_virtual_router_mac_address": MAC,
            }
            if tunnels
            else {}
        ),
        "ip_routing": True,
        "ip_routing_ipv6_interfaces": True,
        "ipv6_unicast_routing": True,
        "static_routes": [{"vrf": "MGMT", "prefix": "0.0.0.0/0", "next_hop": switch.gateway}],
        "router_bgp": {
            "as": str(switch.asn),
            "router_id": str(switch.router_id),
            "bgp": {"default": {"ipv4_unicast": False}},
            "maximum_paths": {"paths": 128, "ecmp": 128},
            "peer_groups": [overlay, {"name": "UNDERLAY"}],
            "neighbor_interfaces": [
                {"name": port.name, "peer_group": "UNDERLAY", "remote_as": str(asns[port.far])}
                for port in switch.fabric_ports
            ],
            "neighbors": [
                {
                    "ip_address": str(peer.router_id),
                    "peer_group": "EVPN",
                    "remote_as": str(peer.asn),
                    "description": peer.name,
                }
                for peer in switch.peers
            ],
            "vlans": [
                {
                    "id": vlan.number,
                    "rd": f"{switch.router_id}:{vlan.vni}",
                    "route_targets": {"both": [f"{vlan.vni}:{vlan.vni}"]},
                    "redistribute_routes": ["learned"],
                }
                for vlan in tunnels
            ],
            "address_family_evpn": {"peer_groups": [{"name": "EVPN", "activate": True}]},
            "address_family_ipv4": {
                "peer_groups": [
                    {
                        "name": "UNDERLAY",
                        "activate": True,
                        "next_hop": {"address_family_ipv6": {"enabled": True, "originate": True}},
                    }
                ],
                "networks": [
                    {"prefix": prefix}
                    for prefix in (
                        f"{switch.router_id}/32",
                        *(str(vlan.gateways[0].network) for vlan in tunnels),
                    )
                ],
            },
        },
    }


def python() -> Path:
    """Return the Python of an environment that has PyAVD, made once and kept."""
    from metal_machines import environment  # which that environment does not find

    return environment((f"pyavd=={VERSION}",)) / "python"


def rendered_by_avd(python: Path, switch: SwitchConfig, scratch: Path) -> str:
    """Return the text that AVD renders; it fails where AVD's schema refuses the configuration."""
    path = scratch / f"{switch.name}.json"
    path.write_text(json.dumps(structured(switch)))
    done = subprocess.run(
        [str(python), __file__, str(path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def places(text: str) -> set[tuple[str, ...]]:
    """Return the lines of EOS, each with those that it is inside of."""
    found: set[tuple[str, ...]] = set()
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        if not (word := line.strip()) or word.startswith("!") or word == "end":
            continue
        indent = len(line) - len(line.lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        found.add((*(one for _, one in above), word))
        above.append((indent, word))
    return found


def _print(path: str) -> int:
    """Print what AVD renders; 1 where its schema refuses the configuration."""
    import pyavd  # in an environment of its own

    document = json.loads(Path(path).read_text())
    for violation in pyavd.validate_structured_config(document).validation_result.violations:
        sys.stdout.write(f"{'/'.join(violation.path)}: {violation.message}\n")
        return 1
    sys.stdout.write(pyavd.get_device_config(document))
    return 0


if __name__ == "__main__":
    sys.exit(_print(sys.argv[1]))
