"""The sites of a full cluster, and what holds for all of them."""

from __future__ import annotations

from typing import Any

from full_cluster.cooling import facility_water, loops, plant
from full_cluster.halls import MOST_ROWS, RACKS_PER_ROW, Hall
from full_cluster.network import fabrics, file_system
from full_cluster.power import sources
from full_cluster.rooms import node_groups, room
from rackwright.catalog.loader import load_catalogue
from rackwright.model.cluster import Blueprint
from rackwright.model.onprem import OnPremSite
from rackwright.plan.audit.catalogue_digest import catalogue_digest
from rackwright.plan.fabric.cables import digest
from rackwright.plan.fabric.fabrics import plan_fabrics
from rackwright.plan.load import load_data

COSTS = {
    "budget_per_year": "50_000_000_000 USD/year",
    "budget_per_hour": "5_000_000 USD/h",
    "as_of": "2026-11-21",
    "rental_region": "us-east-1",
    "owned": {
        "energy": "0.07 USD/kWh",
        "utilisation": "80 %",
        "amortisation_years": 4,
        "opex": "5 %",
        "facility": "900_000_000 USD/year",
    },
    "instances": {"p6e-gb200.36xlarge": "400 USD/h"},
    "capex": {
        "cdu-spec-1mw": "200_000 USD",
        "cdu-spec-tank-30kw": "20_000 USD",
        "cpu-2u": "15_000 USD",
        "cpu-2u-immersion": "15_000 USD",
        "crah-spec-100kw": "40_000 USD",
        "dgx-h100": "300_000 USD",
        "gb200-nvl72": "3_000_000 USD",
        "immersion fluid": "5_000 USD",
        "mgx-33kw": "10_000 USD",
        "pdu-415v-60a-24c19": "3_000 USD",
        "qm9700": "30_000 USD",
        "rack-48u": "2_000 USD",
        "rack-mgx-48u": "3_000 USD",
        "sn5610": "40_000 USD",
        "tank-spec-24u": "40_000 USD",
    },
}
SMALL = 40
"""Racks of the smallest site that has every product."""
FACTS: dict[str, dict[str, str | int]] = {
    "gb200-nvl72": {
        "inlet_min": "5 °C",
        "inlet_max": "35 °C",
        "liquid.flow": "180 L/min",
        "liquid.pressure_drop": "100 kPa",
        "liquid.connector": "lqc-v2",
    },
    "rack-mgx-48u": {"gross_rating": "2000 kg"},
    "cdu-spec-1mw": {"head": "250 kPa", "shutoff_head": "350 kPa"},
}
"""What the catalogue lacks of products, as an example."""
SECURITY = {
    "management_isolated": True,
    "management_tls": True,
    "default_credentials_replaced": True,
    "credentials_per_device": True,
    "secure_boot": True,
    "infiniband": {
        "m_key_protection_level": 2,
        "congestion_key": True,
        "node_key": True,
        "vendor_key": True,
        "limited_membership": True,
    },
}


def halls_of(site: int, racks: int) -> list[Hall]:
    """The halls of a site with so many racks of DGX H100."""
    most = RACKS_PER_ROW * MOST_ROWS
    sizes = [min(most, racks - first) for first in range(0, racks, most)]
    return [Hall(site, number, size) for number, size in enumerate(sizes, 1)]


def full_site(number: int, racks: int) -> dict[str, Any]:
    """The n-th site, with so many racks of DGX H100."""
    halls = halls_of(number, racks)
    groups = [group["name"] for hall in halls for group in node_groups(hall)]
    ranges = [
        {
            "of": name,
            "first": f"10.{number}.{32 * (place // 5) + 16 * (place % 5 > 0) + place % 5}.10",
        }
        for place, name in enumerate(groups)
    ]
    utility = {"name": "utility", "kind": "utility", "capacity": "400 MW", "fault_current": "65 kA"}
    return {
        "name": f"site-{number}",
        "provider": "onprem",
        "altitude": "30 m",
        "design_dry_bulb": "38 °C",
        "pue": 1.3,
        "pue_budget": 1.4,
        "addresses": {
            "domain": f"site-{number}.example.com",
            "networks": [
                {
                    "name": "mgmt",
                    "kind": "management",
                    "prefix": f"10.{number}.0.0/16",
                    "ranges": ranges,
                }
            ],
        },
        "security": SECURITY,
        "power": {
            "continuous_derate": "80 %",
            "power_factor": 0.95,
            "contract": "400 MW",
            "generator_acceptance": "15 s",
            "sources": [utility, *(source for hall in halls for source in sources(hall))],
        },
        "halls": [room(hall) for hall in halls],
        "loops": [loop for hall in halls for loop in loops(hall)],
        "facility_water": [water for hall in halls for water in facility_water(hall)],
        "plant": [machine for hall in halls for machine in plant(hall)],
        "node_groups": [group for hall in halls for group in node_groups(hall)],
        "fabrics": [fabric for hall in halls for fabric in fabrics(hall)],
        "file_systems": [file_system(hall) for hall in halls],
    }


def full_cluster(racks: int, sites: int) -> dict[str, Any]:
    """Sites of so many racks of DGX H100 each, with a scheduler over them and all that rules ask for."""
    document = _routed(_full_cluster(racks, sites))
    # A small site has the same products, and so the same digest of their facts.
    small = load_data(_full_cluster(SMALL, 1)).plan
    document["operations"]["catalogue_digest"] = catalogue_digest(small)
    return document


def _routed(document: dict[str, Any]) -> dict[str, Any]:
    """The same with a record of each fabric's routing run that is of this very fabric."""
    catalogue = load_catalogue()
    for index, site in enumerate(Blueprint.model_validate(document).sites):
        assert isinstance(site, OnPremSite)
        written = document["sites"][index]["fabrics"]
        for plan, fabric in zip(plan_fabrics(site, (), catalogue), written, strict=True):
            if "routing_run" in fabric:
                assert plan.layout is not None
                fabric["routing_run"]["fabric"] = digest(plan.layout)
    return document


def _full_cluster(racks: int, sites: int) -> dict[str, Any]:
    numbers = range(1, sites + 1)
    halls = [hall for number in numbers for hall in halls_of(number, racks)]
    dgx, nvl, cpu = ([f"{hall.stem}-{kind}" for hall in halls] for kind in ("dgx", "nvl", "cpu"))
    kernel = {"kernel": "6.8.0-60-generic"}
    return {
        "apiVersion": "rackwright/v1",
        "name": "full",
        "facts": [
            {
                "product": product,
                "field": field,
                "value": value,
                "source": "example of a document of its maker",
                "date": "2026-11-21",
                "confidence": "common",
            }
            for product, fields in FACTS.items()
            for field, value in fields.items()
        ],
        "owner": "platform-team@example.com",
        "sites": [full_site(number, racks) for number in numbers],
        "scheduler": {
            "kind": "slurm",
            "version": "25.05",
            "packages": {"source": "schedmd"},
            "controllers": [
                {"host": "head-1", "address": "10.200.0.1"},
                {"host": "head-2", "address": "10.200.0.2"},
            ],
            "topology": {"plugin": "tree"},
            "health_check": {"program": "/usr/local/sbin/rackwright-health"},
            "nodes": [
                {"groups": nvl, "memory": "900 GiB"},
                {"groups": cpu, "memory": "500 GiB", "cpus": 128},
            ],
            "partitions": [
                {"name": "dgx", "groups": dgx, "default": True},
                {"name": "nvl", "groups": nvl, "topology": "block"},
                {"name": "cpu", "groups": cpu, "topology": "flat"},
            ],
        },
        "reliability": {
            "node_failures_per_1000_days": 6.5,
            "repair_time": "2 d",
            "least_after_site_loss": "30 %",
            "controller_fencing": True,
            "groups": [
                {"site": f"site-{hall.site}", "group": f"{hall.stem}-{kind}", "spares": spares}
                for hall in halls
                for kind, spares in (("dgx", 32), ("nvl", 2), ("cpu", 2))
            ],
            "jobs": [
                {
                    "name": "pretrain",
                    "parts": [{"site": "site-1", "group": dgx[0], "hosts": halls[0].nodes - 32}],
                    "restart": "15 min",
                    "checkpoint_interval": "60 min",
                    "checkpoint_stall": "30 s",
                    "target": "90 %",
                }
            ],
        },
        "policies": {
            "CST-004": {
                "enforcement": "advisory",
                "reason": "the buildings stand already",
                "owner": "finance@example.com",
            }
        },
        "costs": COSTS,
        "operations": {
            "health_checks": True,
            "drain_on_xids": [48, 63, 64, 74, 79, 92, 94, 95, 119, 120],
            "software": [
                {
                    "name": "metal",
                    "sites": [f"site-{number}" for number in numbers],
                    **kernel,
                    "driver": "595.112.07",
                    "fabric_manager": "595.112.07",
                    "imex": "595.112.07",
                    "nccl": "2.30.4-1",
                    "ofed": {"version": "3.2.1", **kernel},
                    "lustre_client": {"version": "2.17.0", **kernel, "ofed": "3.2.1"},
                    "lustre_server": {"version": "2.17.0", **kernel, "ofed": "3.2.1"},
                }
            ],
            "firmware": [
                {
                    "type": kind,
                    "versions": dict.fromkeys(("bios", "bmc", "gpu", "nic", "nvswitch"), "set-1"),
                    "enforced": True,
                }
                for kind in ("dgx-h100", "gb200-nvl72", "cpu-2u", "cpu-2u-immersion")
            ],
            "burn_in": {"duration": "72 h", "facility_informed": True},
            "changes": {"protect_storage": True, "most_nodes": "10 %"},
        },
    }
