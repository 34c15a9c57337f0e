"""The fabrics of a hall of a full site, and its file system."""

from __future__ import annotations

from typing import Any

from full_cluster.halls import Hall, divided
from rackwright.model.names import compress_hostlist

LEAF_RADIX, SPLIT_RADIX = 64, 128
"""Ports of a QM9700 at 400 Gbps, and of an SN5610 whose ports are split in two."""


def fabrics(hall: Hall) -> list[dict[str, Any]]:
    """One for jobs, in three tiers, and one for storage, in two."""
    return [_compute_fabric(hall), _storage_fabric(hall)]


def _tier(
    hall: Hall, name: str, switch: str, count: int, start: int, per_rack: int = 0
) -> dict[str, Any]:
    """Switches, as many in each rack as there have to be if no more is said."""
    per_rack = max(per_rack, divided(count, hall.network_racks))
    racks = hall.names("n", divided(count, per_rack))
    return {
        "name": name,
        "type": switch,
        "count": count,
        "racks": compress_hostlist(racks),
        "per_rack": per_rack,
        "start_unit": f"{start} U",
        "air_direction": "front-to-back",
    }


def _compute_fabric(hall: Hall) -> dict[str, Any]:
    half = LEAF_RADIX // 2
    below_plane = next(n for n in (1, 2, 4, 8, 16, 32) if hall.pods * half <= n * LEAF_RADIX)
    dgx = f"{hall.stem}-dgx"
    optics = {"diameter": "3 mm", "bend_space": "80 mm", "upper_shell": "finned-top"}
    up = {
        **optics,
        "cable": "mma4z00",
        "fibre": "OM4",
        "length": "30 m",
        "lower_shell": "finned-top",
    }
    return {
        "name": f"{hall.stem}-compute",
        "role": "compute",
        "technology": "infiniband",
        "rail_optimized": True,
        "unit_hosts": half,
        "rate": "400 Gbps",
        "mtu": 4096,
        "m_key": True,
        "sa_key": True,
        "routing_engine": "ftree",
        "routing_run": {
            "date": "2026-11-21",
            "engine": "ftree",
            "balance": 1.0,
            "fabric": "0" * 16,
        },
        "tiers": [
            _tier(hall, "leaf", "qm9700", half * hall.pods, 1),
            _tier(hall, "spine", "qm9700", half * hall.pods, 9),
            _tier(hall, "core", "qm9700", half * below_plane, 17),
        ],
        "attached": [{"group": dgx}],
        "links": [
            {
                **optics,
                "name": "nodes",
                "lower": dgx,
                "upper": "leaf",
                "cable": "mms4x00-ns",
                "fibre": "OS2",
                "route": {"tray": "24 m", "drop": "2 m"},
                "lower_shell": "flat-top",
            },
            {
                **up,
                "name": "spines",
                "lower": "leaf",
                "upper": "spine",
                "parallel": 1,
                "pods": hall.pods,
            },
            {
                **up,
                "name": "cores",
                "lower": "spine",
                "upper": "core",
                "parallel": half // below_plane,
                "planes": half,
            },
        ],
        "subnet_managers": [{"at": "leaf", "count": 2}],
        "segments": [{"name": "default", "pkey": 32767, "groups": [dgx]}],
    }


def _storage_fabric(hall: Hall) -> dict[str, Any]:
    half = SPLIT_RADIX // 2
    dgx = f"{hall.stem}-dgx"
    leaf = _tier(hall, "leaf", "sn5610", 2 * divided(hall.nodes, half), 30)
    spine = _tier(hall, "spine", "sn5610", half, 36, per_rack=4)
    cables = {"diameter": "3 mm", "bend_space": "80 mm", "cable": "mms4x00-ns", "fibre": "OS2"}
    return {
        "name": f"{hall.stem}-storage",
        "role": "storage",
        "technology": "ethernet",
        "rail_optimized": True,
        "unit_hosts": half,
        "rate": "400 Gbps",
        "mtu": 9216,
        "pfc": True,
        "ecn": True,
        "roce": {"dscp": 26, "priority": 3},
        "tiers": [
            {**leaf, "split": 2, "asn": 4_200_000_101},
            {**spine, "split": 2, "asn": 4_200_000_001, "asn_shared": True},
        ],
        "attached": [{"group": dgx, "interfaces": 2, "rails": True}],
        "links": [
            {**cables, "name": "nodes", "lower": dgx, "upper": "leaf", "length": "30 m"},
            {
                **cables,
                "name": "up",
                "lower": "leaf",
                "upper": "spine",
                "parallel": 1,
                "length": "30 m",
            },
        ],
        "segments": [{"name": "storage", "vlan": 101, "groups": [dgx]}],
    }


def file_system(hall: Hall) -> dict[str, Any]:
    """Its scratch space."""
    return {
        "name": hall.stem.replace("-", ""),
        "kind": "lustre",
        "mount": f"/scratch/{hall.name}",
        "networks": [
            {
                "name": "tcp",
                "fabric": f"{hall.stem}-storage",
                "subnet": f"10.{100 + hall.number}.0.0/16",
                "interfaces": ["eth0", "eth1"],
            }
        ],
        "management": {
            "servers": f"{hall.stem}-mds",
            "nids": [f"10.{100 + hall.number}.0.{host}@tcp" for host in (1, 2)],
        },
        "metadata": {
            "servers": f"{hall.stem}-mds",
            "count": 8,
            "size": "4 TiB",
            "backend": "ldiskfs",
            "networks": ["tcp"],
            "failover": "pairs",
        },
        "objects": {
            "servers": f"{hall.stem}-oss",
            "count": 128,
            "size": "100 TiB",
            "target_read": "10 GB/s",
            "target_write": "7.5 GB/s",
            "server_read": "40 GB/s",
            "server_write": "40 GB/s",
            "networks": ["tcp"],
            "failover": "pairs",
        },
        "clients": [{"group": f"{hall.stem}-dgx", "networks": ["tcp"]}],
        "workload": {
            "read": "800 GB/s",
            "write": "500 GB/s",
            "data": "8000 TiB",
            "files": 8_000_000_000,
            "checkpoint": {
                "parameters": 405_000_000_000,
                "bytes_per_parameter": 16,
                "write_time": "60 s",
            },
        },
    }
