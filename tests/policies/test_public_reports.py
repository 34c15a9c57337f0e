"""Reports that users of other tools have written, rebuilt: each with the word that answers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

import lldp_dumps
from brownfield_support import take_over
from fabric_factories import a_fabric, a_tier, layout_of
from factories import CATALOGUE, some_nodes
from lldp_dumps import seen_by
from plan_dumps import ibnetdiscover
from rackwright.brownfield.cabling.files import read_cables
from rackwright.errors import SpecErrors
from rackwright.model.instances import Instance
from rackwright.plan.aws.launch_template import placement
from rackwright.plan.aws.nic import nic_layout
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.fabric.discovered.dump import read_discovery
from rackwright.plan.load import load_data, load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.slurm import render_slurm

FIXTURES = builtin_pack() / "fixtures"


class Report(NamedTuple):
    """A report, and what is said of it.

    Attributes:
        link: on GitHub, without the host.
        answer: rebuilds what was reported, and returns what Rackwright says.
        says: the expected answer.
    """

    link: str
    answer: Callable[[Path], object]
    says: object


def edited(folder: Path, base: str, *changes: tuple[str, str]) -> Path:
    """Return a fixture of the policies in which each first text is replaced by the second one."""
    text = (FIXTURES / f"{base}.yaml").read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{base}.yaml"
    path.write_text(text, "utf-8")
    return path


def judged(path: Path, rule: str, what: str, *, outcome: Outcome = Outcome.FAIL) -> set[str]:
    """Return the results of a rule about a thing that have an outcome, with value and limit."""
    found = check_blueprint(path, only=(rule,)).results
    return {
        f"{result.value:.4g} of {result.limit:.4g}"
        if result.value is not None and result.limit is not None
        else result.message
        for result in found
        if result.outcome is outcome and what in result.message
    }


def slurm_files(path: Path, scheduler: dict[str, Any] | None = None) -> dict[str, str]:
    """Return what Slurm gets."""
    if scheduler is None:
        return dict(render_slurm(load_plan(path).plan))
    data = yaml.safe_load(path.read_text("utf-8"))
    return dict(render_slurm(load_data(data | {"scheduler": scheduler}).plan))


CONTROLLED = {
    "kind": "slurm", "version": "24.11", "controllers": [{"host": "ctl-1", "address": "192.0.2.1"}],
    "topology": {"plugin": "flat"}, "partitions": [{"name": "gpu", "groups": ["train"], "default": True}],
}  # fmt: skip


def words(line: str, *keys: str) -> dict[str, str]:
    """Return some words of a line of ``slurm.conf``."""
    return {key: match[1] for key in keys if (match := re.search(rf"\b{key}=(\S+)", line))}


def node_line(files: dict[str, str]) -> str:
    return next(line for line in files["slurm.conf"].splitlines() if line.startswith("NodeName="))


def sockets_of_p5(folder: Path) -> object:
    line = node_line(slurm_files(edited(folder, "aws"), CONTROLLED))
    return words(line, "CPUs", "Sockets", "CoresPerSocket", "ThreadsPerCore")


def memory_of_p5(folder: Path) -> object:
    line = node_line(slurm_files(edited(folder, "aws"), CONTROLLED))
    return int(words(line, "RealMemory")["RealMemory"]) / (2048 * 1024)


def settings(text: str) -> tuple[str, str]:
    return "  partitions:", f"  nodes: [{{groups: [dgx], {text}}}]\n  partitions:"


def all_of_the_memory(folder: Path) -> object:
    path = edited(folder, "slurm", settings("memory: 2048 GiB"))
    return judged(path, "SCH-006", "memory of a host in Slurm")


def library_without_support(folder: Path) -> object:
    return judged(edited(folder, "slurm", settings("detect: nvml")), "SCH-006", "NVIDIA's library")


def instances_of_two_profiles(folder: Path) -> object:
    said = 'gres: "gpu:h100:4", other_gres: ["gpu:h100_1g.10gb:14", "gpu:h100_3g.40gb:4"], detect: nvml'
    files = slurm_files(edited(folder, "slurm", settings(said)))
    gres = words(node_line(files), "Gres")["Gres"]
    return gres, "AutoDetect=nvml" in files["gres.conf"], "nvidia[0-55]" in files["gres.conf"]


def cores_of_gpus(folder: Path) -> object:
    files = slurm_files(edited(folder, "slurm", settings("gpus_by_socket: true")))
    return re.findall(r"Cores=\S+", files["gres.conf"]), "CPUs=" in files["gres.conf"]


def gres_on_controllers(folder: Path) -> object:
    lines = slurm_files(edited(folder, "slurm"))["gres.conf"].splitlines()
    told = [line for line in lines if re.match(r"(NodeName|Name)=", line)]
    return bool(told) and all(line.startswith("NodeName=") for line in told)


def flat_topology(folder: Path) -> object:
    path = edited(folder, "slurm", ("topology: {plugin: tree}", "topology: {plugin: flat}"))
    return "TopologyPlugin" in slurm_files(path)["slurm.conf"]


MORE_NODES = """\
      - {name: more, role: compute, type: dgx-h100, count: 32, racks: "c[09-16]", per_rack: 4}
      - {name: head, role: head"""
LINK = "          - {name: up, lower: leaf, upper: spine, parallel: 4}\n"
SECOND_FABRIC = """\
      - name: second
        role: compute
        technology: infiniband
        rail_optimized: true
        tiers:
          - {name: leaf, type: qm9700, count: 8, racks: "n[03-04]", per_rack: 4, start_unit: 1 U}
          - {name: spine, type: qm9700, count: 4, racks: "n[03-04]", per_rack: 2, start_unit: 10 U}
        attached: [{group: more}]
        links: [{name: up, lower: leaf, upper: spine, parallel: 4}]
"""


def two_halves(folder: Path) -> object:
    """Two halves of a cluster, each on a fabric of its own."""
    path = edited(
        folder,
        "slurm",
        ("count: 64, name_digits: 2, racks: \"c[01-16]\"", "count: 32, name_digits: 2, racks: \"c[01-08]\""),
        (
            "      - {name: head, role: head",
            MORE_NODES,
        ),
        ("type: qm9700, count: 16, racks: \"n[01-04]\", per_rack: 4", "type: qm9700, count: 8, racks: \"n[01-02]\", per_rack: 4"),
        ("type: qm9700, count: 8, racks: \"n[01-04]\", per_rack: 2", "type: qm9700, count: 4, racks: \"n[01-02]\", per_rack: 2"),
        (
            LINK,
            f"{LINK}{SECOND_FABRIC}",
        ),
        ("groups: [dgx], default: true", "groups: [dgx, more], default: true"),
    )  # fmt: skip
    text = slurm_files(path)["topology.conf"]
    switches = dict(re.findall(r"SwitchName=(\S+).*?(?:Switches|Nodes)=(\S+)", text))
    return sorted(one for one in switches if not any(one in below for below in switches.values()))


def interfaces_of(name: str) -> Callable[[Path], object]:
    return lambda _: len(nic_layout(CATALOGUE.get(Instance, name)))


def reserved(folder: Path) -> object:
    path = edited(
        folder,
        "aws",
        (
            "capacity: {kind: on-demand}",
            "capacity: {kind: reservation, id: cr-0123456789abcdef0, instances: 16}",
        ),
    )
    (site,) = load_plan(path).plan.aws
    return placement(site.groups[0].spec).group


def refused(folder: Path, *changes: tuple[str, str]) -> str:
    """Return how an AWS blueprint is refused, by the model or by the plan."""
    with pytest.raises(SpecErrors) as caught:
        load_plan(edited(folder, "aws", *changes))
    return " ".join(f"{error.summary} {error.hint or ''}" for error in caught.value.errors)


def fsx_throughput(folder: Path) -> object:
    path = edited(folder, "aws", ("throughput: 250 MB", "throughput: 300 MB"))
    return judged(path, "AWS-006", "throughput") | judged(path, "AWS-006", "steps")


def fsx_size(folder: Path) -> object:
    path = edited(
        folder, "aws", ("capacity: 38400 GiB", "capacity: 39000 GiB"), ("efa: true", "efa: false")
    )
    return judged(path, "AWS-006", "GiB")


def fsx_without_efa(folder: Path) -> object:
    return "PERSISTENT_2" in refused(folder, ("PERSISTENT_2", "PERSISTENT_1"))


def branch_breakers(folder: Path) -> object:
    path = edited(folder, "two-feeds", ("pdu: pdu-415v-60a-24c19", "pdu: pdu-415v-32a"))
    return judged(path, "PWR-004", "busiest branch breaker")


def redundant_feeds(folder: Path) -> object:
    path = edited(folder, "two-feeds")
    return judged(path, "PWR-001", "busiest line"), judged(path, "PWR-002", "after losing feed")


def panel_limit(folder: Path) -> object:
    return judged(edited(folder, "two-feeds"), "PWR-006", "load after losing 'ups-b'")


def whole_panel(folder: Path) -> object:
    path = edited(
        folder,
        "two-feeds",
        ("rpp-a, kind: rpp, fed_by: [ups-a], circuit: {voltage: 415 V, current: 400 A",
         "rpp-a, kind: rpp, fed_by: [ups-a], circuit: {voltage: 415 V, current: 250 A"),
    )  # fmt: skip
    return judged(path, "PWR-006", "load after losing 'ups-b'")


SMALL_PDU = (
    "pdu: pdu-415v-60a-24c19, circuit: {voltage: 415 V, current: 60 A",
    "pdu: pdu-415v-32a, circuit: {voltage: 415 V, current: 63 A",
)


def breaker_of_a_small_pdu(folder: Path) -> object:
    return judged(edited(folder, "two-feeds", SMALL_PDU), "PWR-004", "breaker of the circuit")


def load_of_a_small_pdu(folder: Path) -> object:
    path = edited(folder, "two-feeds", SMALL_PDU)
    return judged(path, "PWR-002", "after losing feed B")


HEAD = "Name,Status,Site,Location,Rack,Role,Manufacturer,Type,Position,Rack face\n"


def beside(*rows: str) -> Callable[[Path], object]:
    """Take devices of one unit over, and return how many there are with the part of the unit that each takes."""

    def answer(folder: Path) -> object:
        made = take_over(folder, {"devices.csv": HEAD + "".join(f"{row}\n" for row in rows)})
        (site,) = made.data["sites"]
        loads = [
            *site["node_groups"],
            *(one for each in site.get("fabrics", ()) for one in each["tiers"]),
        ]
        return [(one["count"], one["start_unit"], one["unit_share"]) for one in loads]

    return answer


def neighbours(write: Callable[..., str], port: Callable[[int], str]) -> Callable[[Path], object]:
    """Compare an Ethernet fabric with two swapped cables by LLDP, and return the cables that differ."""

    def answer(folder: Path) -> object:
        tiers = [a_tier("leaf", 4, "arista-7060x6-64pe", split=2), a_tier("spine", 2, "arista-7060x6-64pe", split=2)]  # fmt: skip
        links = [{"name": "up", "lower": "leaf", "upper": "spine", "parallel": 8}]
        layout = layout_of(
            a_fabric(tiers=tiers, links=links, technology="ethernet"),
            groups=[some_nodes(count=16)],
        )

        def swap(far: dict[tuple[str, int], tuple[str, int]]) -> None:
            one, other = ("dgx-01", 1), ("dgx-02", 1)
            far[one], far[other] = far[other], far[one]

        perfect, swapped = folder / "perfect", folder / "swapped"
        for place, change in ((perfect, None), (swapped, swap)):
            place.mkdir()
            for device, seen in seen_by(layout, port, "rail{}".format, change, None).items():
                (place / f"{device}.json").write_text(write(seen, port))
        right = CableComparison(layout, read_cables(layout, [perfect], None)).differences()
        wrong = CableComparison(layout, read_cables(layout, [swapped], None)).differences()
        return len(right), [
            f"{one.cable.split()[0]} {' '.join(match)}"
            for one in wrong
            if (match := re.findall(r"swapped with|dgx-02", one.message))
        ]

    return answer


def unset_descriptions(folder: Path) -> object:
    text = re.sub(r'# "dgx-0[12]/\d"', '# "MT4119 ConnectX5   Mellanox Technologies"',
                  ibnetdiscover(layout_of()))  # fmt: skip
    compared = CableComparison(layout_of(), read_discovery(text))
    return len(compared.differences()), len(set(compared.unnamed))


REPORTS = (
    Report("aws/aws-parallelcluster/issues/5797", sockets_of_p5,
           {"CPUs": "192", "Sockets": "2", "CoresPerSocket": "48", "ThreadsPerCore": "2"}),
    Report("aws/aws-parallelcluster/issues/1517", memory_of_p5, pytest.approx(0.95, abs=1e-6)),
    Report("clusterinthecloud/terraform/issues/11", all_of_the_memory, {"2048 of 2016"}),
    Report("NVIDIA/deepops/issues/1214", library_without_support,
           {"the distribution's slurmd is built without NVIDIA's library, and exits at startup"}),
    Report("ComputeCanada/magic_castle/issues/361", instances_of_two_profiles,
           ("gpu:h100:4,gpu:h100_1g.10gb:14,gpu:h100_3g.40gb:4", True, False)),
    Report("NVIDIA/deepops/issues/1195", cores_of_gpus, (["Cores=0-55", "Cores=56-111"], False)),
    Report("BiBiServ/bibigrid/issues/726", gres_on_controllers, True),
    Report("stackhpc/ansible-slurm-appliance/issues/754", flat_topology, False),
    Report("nebius/soperator/issues/2585", two_halves, ["compute-unit-1", "second-unit-1"]),
    Report("aws/aws-parallelcluster/issues/7143", interfaces_of("p6-b300.48xlarge"), 17),
    Report("eksctl-io/eksctl/issues/7520", interfaces_of("p5.48xlarge"), 33),
    Report("aws/aws-parallelcluster/pull/6930", interfaces_of("p6e-gb200.36xlarge"), 17),
    Report("terraform-aws-modules/terraform-aws-eks/issues/3730", reserved, "none"),
    Report("aws-samples/pcluster-manager/issues/274", fsx_throughput,
           {"300 MB/s/TiB is not one of the steps 125, 250, 500, 1000"}),
    Report("hashicorp/terraform-provider-aws/issues/24341", fsx_size,
           {"39,000 GiB is not 1,200 GiB or a multiple of 2,400 GiB"}),
    Report("awslabs/awsome-distributed-ai/pull/1124", fsx_without_efa, True),
    Report("netbox-community/netbox/issues/9759", branch_breakers, {"29.87 of 12.8"}),
    Report("netbox-community/netbox/issues/54", redundant_feeds, (set(), {"4.08e+04 of 3.278e+04"})),
    Report("netbox-community/netbox/issues/10999", panel_limit, {"3.512e+05 of 2.185e+05", "3.512e+05 of 2e+05"}),
    Report("netbox-community/netbox/issues/5976", whole_panel, {"3.512e+05 of 1.366e+05", "3.512e+05 of 2e+05"}),
    Report("netbox-community/netbox/issues/8177", breaker_of_a_small_pdu, {"63 of 32"}),
    Report("netbox-community/netbox/issues/11435", load_of_a_small_pdu, {"4.08e+04 of 1.748e+04"}),
    Report("netbox-community/netbox/issues/13698",
           beside("front,Active,DC1,H,R1,Leaf,NVIDIA,SN2201,42,Front", "rear,Active,DC1,H,R1,Leaf,NVIDIA,SN2201,42,Rear"),
           [(2, "42 U", "half-depth")]),
    Report("netbox-community/netbox/issues/10192",
           beside("sw-a,Active,DC1,H,R1,Leaf,NVIDIA,SN2201,42,Front", "sw-b,Active,DC1,H,R1,Leaf,NVIDIA,SN2201,42,Front"),
           [(2, "42 U", "half-width")]),
    Report("netbox-community/netbox/issues/9320",
           beside("n-1,Active,DC1,H,R1,Server,Generic,cpu-2u,3,Front", "n-2,Active,DC1,H,R1,Server,Generic,cpu-2u,3,Front"),
           [(2, "3 U", "half-width")]),
    Report("netbox-community/netbox/issues/5818", neighbours(lldp_dumps.lldpctl_json, "swp{}".format), (0, ["dgx-01 swapped with dgx-02"])),
    Report("Cray-HPE/canu/issues/282", neighbours(lldp_dumps.eapi, "Ethernet{}/1".format), (0, ["dgx-01 swapped with dgx-02"])),
    Report("infiniband-radar/infiniband-radar-daemon/issues/12", unset_descriptions, (0, 16)),
)  # fmt: skip


@pytest.mark.parametrize("report", REPORTS, ids=[report.link for report in REPORTS])
def test_report_has_its_answer(report: Report, tmp_path: Path) -> None:
    assert report.answer(tmp_path) == report.says


def test_table_has_every_report_once() -> None:
    assert len({report.link for report in REPORTS}) == 28
