"""CUDA, DCGM, EFA and IMEX on a real machine of the lab with stand-in packages, watched by Prometheus."""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab_support import LAB_MARKS, Machines, Played, some_machines
from rackwright.accept.compare import compare_item
from rackwright.accept.expected import Comparing, Expectation
from rackwright.catalog.fault_signals import alert_rules, exporter_fields
from rackwright.catalog.fault_table import builtin_faults
from rackwright_lab.lab import HostSpec
from rackwright_lab.mock_packages.gpu import DRIVER
from rackwright_lab.mock_packages.gpu_stack import (
    CUDA,
    CUDA_TOO_NEW,
    DCGM,
    DCGM_EXPORTER,
    LIBFABRIC,
    OFI_PLUGIN,
    OLD_LIBFABRIC,
)
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
DOMAIN = ["gpu-1", "gpu-2", "gpu-10"]
DOMAIN_ADDRESSES = {"gpu-2": {"ansible_host": "10.0.0.2"}, "gpu-10": {"ansible_host": "10.0.0.10"}}
FACTS = ["min", "hardware"]
GOOD: Mapping[str, Any] = {
    "nvidia_driver_version": DRIVER,
    "nvidia_driver_gpus": 8,
    "nvidia_driver_imex": True,
    "nvidia_driver_imex_hosts": DOMAIN,
    "cuda_version": CUDA,
    "cuda_driver_version": DRIVER,
    "cuda_driver_minimum": "525",
    "dcgm_exporter_dcgm_version": DCGM,
    "dcgm_exporter_gpus": 8,
    "efa_devices": 4,
    "efa_libfabric_version": LIBFABRIC,
    "efa_plugin_version": OFI_PLUGIN,
    "efa_installer_version": "1.50.0",
    "efa_nccl_version": "2.30.4-1",
    "efa_nccl_minimum": "2.17.1",
    "efa_libfabric_minimum": "1.22",
    "efa_installer_minimum": "1.29",
    "efa_installer_brings": {"libfabric": LIBFABRIC, "plugin": OFI_PLUGIN},
    "efa_hugepages": 0,
    "prometheus_hosts": ["gpu-1"],
    "prometheus_fault_alerts": alert_rules(builtin_faults()),
    "dcgm_exporter_fault_counters": exporter_fields(builtin_faults()),
    "prometheus_slurm_controllers": [],
    "prometheus_scrape_interval_s": 1,
}
HELD = {
    "cuda-toolkit-12-8",
    "datacenter-gpu-manager-4-core",
    "datacenter-gpu-manager-4-cuda12",
    "datacenter-gpu-manager-exporter",
    "efa",
    "libfabric-aws-bin",
    "libfabric1-aws",
    "libnccl-ofi",
    "nvidia-imex",
    "openmpi50-aws",
}
STACK = ("nvidia_driver", "cuda", "efa", "dcgm_exporter")


Case = tuple[str, Mapping[str, Any]]
"""A role, and variables that differ from GOOD."""


@dataclass(frozen=True)
class Machine:
    """The only host of a lab; the other hosts of its NVLink domain are there by name."""

    machines: Machines

    def on(self, command: str) -> str:
        return self.machines.on("gpu-1", command)

    def play(self, *arguments: str, roles: Sequence[str], **changes: Any) -> Played:
        """Run roles on the machine with variables that differ from GOOD."""
        play = {"hosts": "gpu-1", "gather_subset": FACTS, "roles": list(roles)}
        hosts = {"gpu-1": {}, **DOMAIN_ADDRESSES}
        return self.machines.play([play], *arguments, variables={**GOOD, **changes}, hosts=hosts)

    def play_cases(self, cases: Mapping[str, Case], *arguments: str) -> Played:
        """Run a role on the machine under each name, with variables of that name."""
        named = {name: {"case_role": role, **own} for name, (role, own) in cases.items()}
        run = {"ansible.builtin.include_role": {"name": "{{ case_role }}"}, "tags": "always"}
        play = {"hosts": ",".join(cases), "gather_subset": FACTS, "tasks": [run]}
        hosts = {"gpu-1": {}, **DOMAIN_ADDRESSES, **named}
        return self.machines.play([play], *arguments, variables=GOOD, hosts=hosts)

    def ask(self, path: str) -> Any:
        """The data of an answer of Prometheus."""
        url = f"http://127.0.0.1:9090/api/v1/{path}"
        answer = json.loads(self.on(f"curl --silent --max-time 10 '{url}'"))
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """What an expression yields now."""
        found = self.ask(f"query?query={urllib.parse.quote(expression)}")["result"]
        assert isinstance(found, list)
        return found

    def alerts(self) -> set[tuple[str, str]]:
        """Alerts of GPUs that are pending or fire, each with its GPU."""
        listed = self.ask("alerts")["alerts"]
        return {(a["labels"]["alertname"], a["labels"].get("gpu", "")) for a in listed}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("stack")
    with some_machines(folder, "gpuw", "10.213.63.0/24", [HostSpec("gpu-1", 8)]) as made:
        one = Machine(made)
        one.on("mkdir /run/lab-efa && touch /run/lab-efa/rdmap{16,32,48,64}s27")
        yield one


REFUSED: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "cuda": {
        "driver-too-old": (
            {"cuda_version": CUDA_TOO_NEW, "cuda_driver_minimum": "580"},
            f"CUDA {CUDA_TOO_NEW} needs the driver 580 or newer, and driver-too-old is to have {DRIVER}",
        ),
        "cuda-not-offered": (
            {"cuda_version": "12.8.2"},
            f"offers 0 packages cuda-toolkit-12-8 12.8.2 among {CUDA}-1",
        ),
        "no-version": ({"cuda_version": "newest"}, "cuda_version is 'newest'; write it like"),
    },
    "dcgm_exporter": {
        "dcgm-not-offered": (
            {"dcgm_exporter_dcgm_version": "4.6.0"},
            "offers 0 packages datacenter-gpu-manager-4-core 4.6.0 among 1:4.5.2-1",
        ),
        "exporter-not-offered": (
            {"dcgm_exporter_version": "4.9"},
            f"packages datacenter-gpu-manager-exporter 4.9 among {DCGM_EXPORTER}-1",
        ),
        "address": ({"dcgm_exporter_address": "localhost"}, "cannot listen on 'localhost' port"),
        "counter": (
            {"dcgm_exporter_counters": {"DCGM_FI_DEV_GPU_TEMP": ["number", "heat"]}},
            "'DCGM_FI_DEV_GPU_TEMP' with",
        ),
    },
    "efa": {
        "nccl-too-old": (
            {"efa_nccl_version": "2.16.5"},
            f"NCCL is 2.16.5; aws-ofi-nccl {OFI_PLUGIN} needs 2.17.1 or newer",
        ),
        "libfabric-too-old": (
            {"efa_libfabric_version": "1.21.0amzn1.0"},
            f"libfabric is 1.21.0amzn1.0; aws-ofi-nccl {OFI_PLUGIN} needs 1.22 or newer",
        ),
        "installer-too-old": (
            {"efa_installer_version": "1.28.0"},
            "the EFA installer is 1.28.0; NCCL 2.30.4-1 needs 1.29 or newer",
        ),
        "another-libfabric": (
            {"efa_libfabric_version": OLD_LIBFABRIC},
            f"libfabric is to be {OLD_LIBFABRIC}, and EFA installer 1.50.0 brings {LIBFABRIC}",
        ),
        "mpi-not-offered": (
            {"efa_openmpi_version": "4.1.7"},
            "offers 0 packages openmpi50-aws 4.1.7 among 5.0.9amzn1",
        ),
        "harmful": (
            {"efa_environment": {"FI_PROVIDER": "efa"}},
            "'FI_PROVIDER' with the value 'efa' cannot be in efa_environment",
        ),
        "of-verbs": (
            {"efa_environment": {"RDMAV_FORK_SAFE": 1}},
            "'RDMAV_FORK_SAFE' with the value '1' cannot be in efa_environment",
        ),
        "no-room": ({"efa_hugepages": 10**8}, "is 200000000 MiB, more than a quarter of the"),
    },
    "nvidia_driver": {
        "in-another-domain": (
            {"nvidia_driver_imex_hosts": ["gpu-2", "gpu-10"]},
            "must name it and other hosts of the inventory; it names gpu-2, gpu-10",
        ),
        "two-of-one-address": (
            {
                "nvidia_driver_imex_hosts": ["two-of-one-address", "gpu-1"],
            },
            "the 2 hosts of the NVLink domain of two-of-one-address have 1 addresses",
        ),
    },
    "prometheus": {
        "unknown-host": (
            {"prometheus_gpu_hosts": ["stranger"]},
            "the rules about GPUs need a port",
        ),
    },
}
"""For each role, by case, variables under which it must refuse, and what it says."""


def test_what_cannot_work_is_refused_before_anything_is_installed(machine: Machine) -> None:
    before = machine.on("dpkg-query --show")
    cases = {
        name: (role, changes)
        for role, listed in REFUSED.items()
        for name, (changes, _) in listed.items()
    }
    played = machine.play_cases(cases)
    for listed in REFUSED.values():
        for name, (_, message) in listed.items():
            assert message in played.failure(name), played.output
    assert played.changed == 0
    assert machine.on("dpkg-query --show") == before


def test_the_stack_is_installed_held_and_kept(machine: Machine) -> None:
    foreseen = machine.play("--check", "--diff", roles=STACK, efa_hugepages=64)
    assert foreseen.code == 0, foreseen.output
    assert foreseen.changed > 0
    assert "+vm.nr_hugepages = 64" in foreseen.output, "which the kernel of a lab would refuse"
    assert machine.on("ls /usr/local/cuda-12.8 2>/dev/null || echo nothing") == "nothing"

    made = machine.play(roles=STACK)
    assert made.code == 0, made.output
    assert set(machine.on("apt-mark showhold").split()) >= HELD
    assert "release 12.8, V" in machine.on("bash -lc 'nvcc --version'")
    assert machine.on("bash -lc 'fi_info -p efa' | grep --count FI_EP_RDM") == "4"
    services = "nvidia-dcgm nvidia-dcgm-exporter nvidia-imex"
    assert machine.on(f"systemctl is-active {services}").split() == ["active"] * 3
    assert machine.on(f"systemctl is-enabled {services}").split() == ["enabled"] * 3
    assert "NVreg_CreateImexChannel0=1" in machine.on("modprobe --showconfig")
    own = str(machine.machines.host("gpu-1").address.ip)
    listed = machine.on("cat /etc/nvidia-imex/nodes_config.cfg").split("\n")
    assert listed == sorted([own, "10.0.0.2", "10.0.0.10"])

    began = imex_began(machine)
    again = machine.play(roles=STACK)
    assert (again.code, again.changed) == (0, 0), again.output
    foreseen = machine.play("--check", "--diff", roles=STACK)
    assert (foreseen.code, foreseen.changed) == (0, 0), foreseen.output
    assert not re.search(r"^(---|\+\+\+) ", foreseen.output, re.MULTILINE)
    assert imex_began(machine) == began

    machine.on("echo 10.0.0.2 > /root/imex-lost")
    degraded = machine.play("--tags", "verify", roles=STACK[:1], nvidia_driver_imex_wait_s=1)
    assert degraded.code == 0, "a lost tray holds nobody"
    assert "the NVLink domain is degraded: 10.0.0.2" in degraded.words
    machine.on("rm /root/imex-lost; mv /usr/bin/nvidia-imex-ctl /root/")
    broken = machine.play("--tags", "verify", roles=STACK[:1], nvidia_driver_imex_wait_s=1)
    assert "the NVLink domain of gpu-1 is not up" in broken.failure("gpu-1"), broken.output
    machine.on("mv /root/nvidia-imex-ctl /usr/bin/")

    smaller = machine.play(
        roles=STACK[:1], nvidia_driver_imex_hosts=DOMAIN[:2], nvidia_driver_imex_channel=False
    )
    assert smaller.code == 0, smaller.output
    assert imex_began(machine) != began, "the list has changed"
    assert "NVreg_CreateImexChannel0" not in machine.on("modprobe --showconfig")


def imex_began(machine: Machine) -> str:
    """When the daemon was started last."""
    return machine.on("systemctl show --property=ActiveEnterTimestampMonotonic nvidia-imex")


def test_verify_finds_what_is_not_there(machine: Machine) -> None:
    machine.on("rm /run/lab-efa/rdmap64s27 /dev/nvidia7")
    machine.on("sed -i 's/release 12.8/release 12.6/' /usr/local/cuda-12.8/bin/nvcc")
    try:
        cases: dict[str, Case] = {f"with-{role}": (role, {}) for role in STACK[1:]}
        pages = {"efa_devices": 3, "efa_hugepages": 10**3}
        cases["with-pages"] = ("efa", pages)
        played = machine.play_cases(cases, "--tags", "verify")
    finally:
        machine.on("sed -i 's/release 12.6/release 12.8/' /usr/local/cuda-12.8/bin/nvcc")
        machine.on("touch /run/lab-efa/rdmap64s27; mknod -m 666 /dev/nvidia7 c 195 7")
    wanted = {
        "cuda": "/usr/local/cuda-12.8/bin/nvcc is to be of release 12.8, and says",
        "efa": "with-efa has 3 of 4 EFA devices (rdmap16s27, rdmap32s27, rdmap48s27)",
        "dcgm_exporter": "the exporter of with-dcgm_exporter measures 7 of 8 GPUs",
        "pages": "of 1000 huge pages",
    }
    for name, message in wanted.items():
        assert message in played.failure(f"with-{name}"), played.output


def test_the_acceptance_finds_the_versions_of_the_bill(machine: Machine) -> None:
    bill = {
        "cuda": CUDA,
        "dcgm": DCGM,
        "libfabric": LIBFABRIC,
        "ofi_plugin": OFI_PLUGIN,
        "efa_installer": "1.50.0",
    }
    facts = collected(machine)
    assert outcomes(bill, facts) == dict.fromkeys(bill, "pass"), facts
    other = {**bill, "cuda": CUDA_TOO_NEW, "efa_installer": "1.51.0"}
    failed = {name for name, outcome in outcomes(other, facts).items() if outcome == "fail"}
    assert failed == {"cuda", "efa_installer"}


def collected(machine: Machine) -> dict[str, Any]:
    program = Path("roles/acceptance/files/collect.py").read_text()
    request: dict[str, Any] = {
        "devices": ["dev/nvidia[0-9]*"],
        "mounts": [],
        "services": [],
        "slurm_node": None,
    }
    machine.on(f"cat > /root/collect.py <<'PROGRAM'\n{program}\nPROGRAM")
    facts = json.loads(machine.on(f"python3 /root/collect.py '{json.dumps(request)}'"))
    assert isinstance(facts, dict)
    return facts


def outcomes(bill: Mapping[str, str], facts: dict[str, Any]) -> dict[str, str]:
    """For each component what the acceptance says of its version."""
    return {
        name: compare_item(
            Expectation(name, "version", ("versions", name), Comparing.VERSION, version), facts
        ).outcome.value
        for name, version in bill.items()
    }


def test_prometheus_reads_the_exporter_and_alerts(machine: Machine) -> None:
    made = machine.play(roles=["prometheus"])
    assert made.code == 0, made.output
    again = machine.play(roles=["prometheus"])
    assert (again.code, again.changed) == (0, 0), again.output
    scraped = 'DCGM_FI_DEV_GPU_TEMP{instance="gpu-1",expected_gpus="8"}'
    assert wait_for(lambda: len(machine.query(scraped)) == 8, 300, 0.5)
    gpus = ("GpuOffBus", "GpuRemapFailed", "GpuTemperature", "GpuHot", "NvlinkErrors")
    assert not {alert for alert in machine.alerts() if alert[0] in gpus}
    values = (
        "DCGM_FI_DEV_XID_ERRORS 3 79\\n"
        "DCGM_FI_DEV_XID_ERRORS 4 31\\n"
        "DCGM_FI_DEV_ROW_REMAP_FAILURE 5 1\\n"
        "DCGM_FI_DEV_GPU_TEMP 6 91\\n"
        "DCGM_FI_DEV_CLOCKS_EVENT_REASONS 6 64\\n"
    )
    machine.on(f"printf '{values}' > /run/dcgm-lab")
    wanted = {("GpuOffBus", "3"), ("GpuRemapFailed", "5"), ("GpuTemperature", "6"), ("GpuHot", "6")}
    try:
        seen = wait_for(lambda: machine.alerts() >= wanted, 300, 0.5)
        assert seen, machine.alerts()
        assert {name for name, gpu in machine.alerts() if gpu == "4"} == set(), (
            "a program's own fault"
        )
    finally:
        machine.on("rm /run/dcgm-lab")


PORT = 'instance="gpu-1",device="mlx5_0",port="1",job="node"'
SERIES = 'instance="gpu-1",gpu="0",job="dcgm",expected_gpus="8"'


def series(name: str, values: str, labels: str = SERIES) -> dict[str, str]:
    return {"series": f"{name}{{{labels}}}", "values": values}


def test_promtool_finds_every_rule_firing_when_it_should(machine: Machine) -> None:
    """Each rule with measurements under which it fires after some minutes, and others under which not."""
    link = "DCGM_FI_DEV_NVLINK_{}_ERROR_COUNT_TOTAL".format
    reasons = "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"
    fires: list[tuple[str, list[dict[str, str]]]] = [
        ("GpuExporterDown", [series("up", "0x20")]),
        ("GpuNotSeen", [series("up", "1x20"), series("DCGM_FI_DEV_GPU_TEMP", "30x20")]),
        ("GpuNotSeen", [series("up", "1x20")]),
        ("GpuTemperature", [series("DCGM_FI_DEV_MEMORY_TEMP", "96x20")]),
        ("GpuEccDoubleBit", [series("DCGM_FI_DEV_XID_ERRORS", "0x5 48x15")]),
        ("GpuRemapFailed", [series("DCGM_FI_DEV_ROW_REMAP_FAILURE", "1x20")]),
        ("GpuRemapPending", [series("DCGM_FI_DEV_ROW_REMAP_PENDING", "1x20")]),
        ("GpuPowerBrake", [series(reasons, "136x20")]),
        ("GpuSlowed", [series(reasons, "136x20")]),
        ("GpuHot", [series(reasons, "64x20")]),
        ("NvlinkRecovers", [series(link("RECOVERY"), "0x10 1x10")]),
        ("PortFlaps", [series("node_infiniband_link_downed_total", "0x10 3x10", PORT)]),
        ("NvlinkErrors", [series(link("CRC_DATA"), "0+60x20")]),
    ]
    quiet: list[tuple[str, list[dict[str, str]]]] = [
        ("GpuPageFault", [series("DCGM_FI_DEV_XID_ERRORS", "31x20")]),
        ("GpuTemperature", [series("DCGM_FI_DEV_GPU_TEMP", "85x20")]),
        # At rest, limited by power as set, and by synchronisation: none of them a fault.
        ("GpuHot", [series(reasons, "23x20")]),
        ("GpuSlowed", [series(reasons, "23x20")]),
        ("NvlinkErrors", [series(link("REPLAY"), "0+5x20")]),
        ("NvlinkRecovers", [series(link("RECOVERY"), "7x20")]),
        (
            "GpuNotSeen",
            [
                series("DCGM_FI_DEV_GPU_TEMP", "30x20", SERIES.replace('gpu="0"', f'gpu="{n}"'))
                for n in range(8)
            ],
        ),
    ]
    rules = yaml.safe_load(machine.on("cat /etc/prometheus/rules/gpus.yml"))
    assert {rule["alert"] for rule in rules["groups"][0]["rules"]} <= {name for name, _ in fires}
    tests = [
        {"interval": "1m", "input_series": given, "promql_expr_test": [counted(name, number)]}
        for number, cases in ((1, fires), (0, quiet))
        for name, given in cases
    ]
    document = {
        "rule_files": [f"/etc/prometheus/rules/{name}.yml" for name in ("gpus", "faults")],
        "evaluation_interval": "1m",
        "tests": tests,
    }
    machine.on(f"cat > /root/rules.json <<'TESTS'\n{json.dumps(document)}\nTESTS")
    assert "SUCCESS" in machine.on("promtool test rules /root/rules.json 2>&1")


def counted(alert: str, number: int) -> dict[str, Any]:
    """That so many alerts of a name fire after a quarter of an hour."""
    expression = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)'
    return {
        "expr": expression,
        "eval_time": "15m",
        "exp_samples": [{"labels": "{}", "value": number}],
    }
