"""The roles rdma and opensm on lab hosts.

opensm is the real one and routes a fabric that ibsim simulates, for two subnet managers on two hosts.
DOCA-OFED is stand-ins, and ports of adapters are files like those of the kernel.
"""

from __future__ import annotations

import json
import platform
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab_support import LAB_MARKS, Machines, Played, some_machines
from rackwright_lab.lab import HostSpec
from rackwright_lab.mock_packages.fabric import OFED, OLD_OFED

pytestmark = LAB_MARKS
KERNEL = platform.release()
PLAYBOOKS = Path(__file__).parents[2] / "stacks/baremetal/playbooks"
SUBNET: Mapping[str, Any] = {
    "name": "compute",
    "routing_engine": "ftree",
    "priority": 14,
    "mtu": 4096,
    "partitions": [
        {"name": "default", "pkey": 32767, "ipoib": True},
        {"name": "jobs", "pkey": 1, "ipoib": True, "hosts": ["gpus"]},
    ],
}
GUIDS = {"master": "0x10001", "standby": "0x10101", "alone": "0x10001"}
GROUPS: Mapping[str, Any] = {"gpus": {"hosts": {"standby": {}}}}


def a_manager(name: str = "master", **changes: Any) -> dict[str, Any]:
    """Variables of the role opensm for a host."""
    return {
        "opensm_guids": {"compute": [GUIDS.get(name, "0x10001")]},
        "opensm_wait_s": 40,
        "opensm_instances": [{**SUBNET, **changes}],
    }


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("fabric")
    wanted = [HostSpec(name) for name in ("master", "standby", "alone")]
    with some_machines(folder, "fabw", "10.213.64.0/24", wanted) as made:
        yield made


def a_fabric(missing: tuple[str, str] | None = None) -> str:
    """Two leaves, two spines and four hosts as ibsim reads them; one cable may be missing."""
    cables = [("leaf-1", 1, "master", 1), ("leaf-2", 1, "standby", 1)]
    cables += [("leaf-1", 2, "gpu-1", 1), ("leaf-2", 2, "gpu-2", 1)]
    for leaf in (1, 2):
        for spine in (1, 2):
            if (f"leaf-{leaf}", f"spine-{spine}") != missing:
                cables.append((f"leaf-{leaf}", 9 + spine, f"spine-{spine}", leaf))
    records = []
    devices = ["master", "standby", "gpu-1", "gpu-2", "leaf-1", "leaf-2", "spine-1", "spine-2"]
    for index, name in enumerate(devices):
        guid = 0x10000 + 0x100 * index
        kind = (
            ("Switch\t16", "switchguid")
            if "-" in name and "gpu" not in name
            else ("Ca\t1", "caguid")
        )
        ends = [(port, far, there) for near, port, far, there in cables if near == name]
        ends += [(port, near, there) for near, there, far, port in cables if far == name]
        lines = [f'[{port}]\t"{far}"[{there}]\n' for port, far, there in sorted(ends)]
        records.append(f'{kind[1]}={guid:#x}\n{kind[0]} "{name}"\t# "{name}"\n{"".join(lines)}')
    return "\n".join(records)


def simulate(machines: Machines, at: str, clients: Mapping[str, str], fabric: str) -> None:
    """Run ibsim on the host ``at``; opensm of each client poses as a host of the fabric."""
    for name, poses_as in clients.items():
        machines.on(name, "apt-get update -q && apt-get install -qy ibsim-utils", timeout_s=120)
        settings = (
            "[Service]\\nEnvironment=LD_PRELOAD=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so "
            f"SIM_HOST={poses_as} IBSIM_SERVER_NAME={machines.host(at).address.ip}\\n"
        )
        folder = "/etc/systemd/system/opensm-fabric@.service.d"
        machines.on(name, f"mkdir -p {folder} && printf '{settings}' > {folder}/lab.conf")
    machines.on(at, f"cat > /root/fabric.net <<'END'\n{fabric}\nEND")
    sizes = "-N 8 -S 4 -P 100 -L 49152"
    machines.on(at, f"systemd-run --unit=ibsim ibsim -r -s -n {sizes} /root/fabric.net")
    ready = "for n in $(seq 100); do ss -lun | grep -q :7070 && exit 0; sleep 0.1; done; exit 1"
    machines.on(at, ready)


def test_a_master_and_a_standby_route_the_fabric_with_the_engine_that_is_wanted(
    machines: Machines,
) -> None:
    hosts = {
        "master": {**a_manager("master", sa_key=True), "opensm_sa_key": "0x1122334455667788"},
        "standby": {
            **a_manager("standby", sa_key=True, priority=13),
            "opensm_sa_key": "0x1122334455667788",
        },
    }
    foreseen = machines.play_roles("opensm", hosts=hosts, groups=GROUPS, arguments=["--check"])
    assert foreseen.code == 0, foreseen.output
    simulate(machines, "master", {"master": "master", "standby": "standby"}, a_fabric())
    made = machines.play_roles("opensm", hosts=hosts, groups=GROUPS)
    assert made.code == 0, made.output
    log = machines.on("master", "cat /var/log/opensm/compute.log")
    assert "ftree tables configured on all switches" in log
    assert re.findall(r"Entering (\w+) state", log)[-1] == "MASTER"
    other = machines.on("standby", "cat /var/log/opensm/compute.log")
    assert re.findall(r"Entering (\w+) state", other)[-1] == "STANDBY"
    assert machines.on("master", "readlink /etc/systemd/system/opensm.service") == "/dev/null"
    for name in hosts:
        said = machines.on(name, "journalctl --output=cat; cat /var/log/opensm/*.log")
        assert "1122334455667788" not in said
    again = machines.play_roles(
        "opensm", hosts=hosts, groups=GROUPS, arguments=["--check", "--diff"]
    )
    assert (again.code, again.changed) == (0, 0), again.output

    a_line_that_opensm_does_not_know_is_not_put_in_place(machines, hosts)


def a_line_that_opensm_does_not_know_is_not_put_in_place(
    machines: Machines, good: Mapping[str, Mapping[str, Any]]
) -> None:
    before = machines.on("master", "sha256sum /etc/opensm/compute/opensm.conf")
    wrong = {**good["master"], "opensm_settings": {"sweep_intervall": 5}}
    played = machines.play_roles("opensm", hosts={**good, "master": wrong}, groups=GROUPS)
    assert "sweep_intervall" in played.failure("master"), played.output
    assert machines.on("master", "sha256sum /etc/opensm/compute/opensm.conf") == before


def test_a_fabric_that_is_no_fat_tree_is_not_routed_and_verify_says_so(machines: Machines) -> None:
    simulate(machines, "alone", {"alone": "master"}, a_fabric(("leaf-2", "spine-2")))
    alone = {**a_manager("alone", partitions=[]), "opensm_wait_s": 5}
    played = machines.play_roles("opensm", hosts={"alone": alone})
    assert re.search(
        r"the subnet 'compute' must be routed by ftree and is not routed; ERR AB",
        played.failure("alone"),
    ), played.output


DOCA: Mapping[str, Any] = {
    "rdma_stack": "doca",
    "rdma_ofed_version": "3.2.1",
    "rdma_ofed_kernel": KERNEL,
    "rdma_kernel": KERNEL,
    "rdma_roce": {"dscp": 26, "priority": 3, "pfc": True, "ecn": True},
    "rdma_ipoib_mtu": 4092,
    "rdma_devices": [{"pci": "0000:18:00.0", "name": "compute0"}],
    "rdma_ports": [
        {"technology": "infiniband", "rate_gbps": 400.0, "count": 2},
        {"technology": "ethernet", "rate_gbps": 200.0, "count": 1},
    ],
    "rdma_wait_s": 2,
}
REFUSED_STACKS: Mapping[str, tuple[dict[str, Any], str]] = {
    "of-another-kernel": (
        {"rdma_ofed_kernel": "6.8.0-60-generic"},
        f"is built for the kernel 6.8.0-60-generic, and the software entry has the kernel {KERNEL}",
    ),
    "runs-another-kernel": (
        {"rdma_ofed_kernel": "6.8.0-60-generic", "rdma_kernel": "6.8.0-60-generic"},
        f"runs the kernel {KERNEL}, and DOCA-OFED 3.2.1 is for 6.8.0-60-generic",
    ),
    "not-offered": (
        {"rdma_ofed_version": "3.2.2"},
        f"does not offer doca-ofed 3.2.2, but {OFED}, {OLD_OFED}",
    ),
    "kernel-name": (
        {"rdma_devices": [{"pci": "0000:18:00.0", "name": "mlx5_0"}]},
        "the adapter at '0000:18:00.0' cannot be called 'mlx5_0'",
    ),
}


def play_rdma(machines: Machines, *arguments: str, **settings: Any) -> Played:
    """Run the role rdma, and then its entry for the ports, as the playbook does."""
    role = "ansible.builtin.include_role"
    tasks = [
        {role: {"name": "rdma"}, "tags": ["always"]},
        {role: {"name": "rdma", "tasks_from": "ports"}, "tags": ["always"]},
    ]
    return machines.play([{"hosts": "all", "tasks": tasks}], *arguments, **settings)


def ports(
    machines: Machines, *wanted: tuple[str, str, str, str], driver: str = "mlx5_core"
) -> None:
    """Make files like those of the kernel for ports: name, state, rate and layer."""
    machines.on("alone", "rm -rf /root/sys")
    for name, state, rate, layer in wanted:
        port = f"/root/sys/{name}/ports/1"
        machines.on(
            "alone",
            f"mkdir -p {port} /root/sys/{name}/device/net/net-{name}"
            f" && echo '{state}' > {port}/state && echo '{rate}' > {port}/rate"
            f" && echo {layer} > {port}/link_layer"
            f" && ln -s /drivers/{driver} /root/sys/{name}/device/driver",
        )


UP, INIT, DOWN = "4: ACTIVE", "2: INIT", "1: DOWN"
NDR, HDR = "400 Gb/sec (4X NDR)", "200 Gb/sec (4X HDR)"
HERE = ("--extra-vars", json.dumps({"rdma_sysfs": "/root/sys"}))


def test_drivers_that_do_not_fit_are_refused_before_anything_is_installed(
    machines: Machines,
) -> None:
    before = machines.on("master", "dpkg-query --show")
    cases = {name: {**DOCA, **changes} for name, (changes, _) in REFUSED_STACKS.items()}
    played = machines.play_roles("rdma", hosts=cases)
    for name, (_, message) in REFUSED_STACKS.items():
        assert message in played.failure(name), played.output
    assert played.changed == 0
    assert machines.on("master", "dpkg-query --show") == before


def test_doca_is_installed_in_one_version_and_ports_are_compared(machines: Machines) -> None:
    up = [("mlx5_0", UP, NDR, "InfiniBand"), ("mlx5_1", UP, NDR, "InfiniBand")]
    ports(machines, *up, ("mlx5_2", UP, HDR, "Ethernet"))
    hosts = {"alone": DOCA}
    foreseen = play_rdma(machines, *HERE, "--check", hosts=hosts)
    assert foreseen.code == 0, foreseen.output
    made = play_rdma(machines, *HERE, hosts=hosts)
    assert made.code == 0, made.output
    held = machines.on("alone", "apt-mark showhold").split()
    assert held == ["doca-ofed", "mlnx-ofed-kernel-dkms", "mlnx-ofed-kernel-utils"]
    assert machines.on("alone", "dpkg-query -Wf '${Version}' doca-ofed") == OFED
    services = "openibd rackwright-roce rackwright-roce-watch"
    assert machines.on("alone", f"systemctl is-active {services}").split() == ["active"] * 3
    marks = machines.on("alone", "head -n 9 /var/lib/lab-roce/*")
    assert " ".join(marks.split()) == (
        "==> /var/lib/lab-roce/mlx5_2 <== 106"
        " ==> /var/lib/lab-roce/net-mlx5_2 <== trust dscp pfc 0,0,0,1,0,0,0,0"
    )
    rules = machines.on("alone", "cat /etc/udev/rules.d/60-rdma-persistent-naming.rules")
    assert 'KERNELS=="0000:18:00.0", PROGRAM="rdma_rename %k NAME_FIXED compute0"' in rules
    again = play_rdma(machines, *HERE, "--check", "--diff", hosts=hosts)
    assert (again.code, again.changed) == (0, 0), again.output

    marks_come_back_after_a_reset(machines)
    marks_of_others_are_told(machines, hosts)
    for port, message in (
        (("mlx5_1", DOWN, NDR, "InfiniBand"), "has 1 of 2 active infiniband ports of 400.0 Gbps"),
        (("mlx5_1", UP, HDR, "InfiniBand"), "has 1 of 2 active infiniband ports of 400.0 Gbps"),
    ):
        ports(machines, up[0], port, ("mlx5_2", UP, HDR, "Ethernet"))
        broken = play_rdma(machines, *HERE, "--tags", "verify", hosts=hosts)
        assert message in broken.failure("alone"), broken.output


def marks_come_back_after_a_reset(machines: Machines) -> None:
    """A link that was reset had the settings of its driver until the next boot."""
    lost = "printf 'trust pcp\\npfc 0,0,0,0,0,0,0,0\\n' > /var/lib/lab-roce/net-mlx5_2"
    back = "for n in $(seq 100); do grep -q dscp /var/lib/lab-roce/net-mlx5_2 && exit 0; sleep 0.1; done; exit 1"
    machines.on(
        "alone",
        f"ip link add reset0 type veth peer name reset1; {lost}; ip link set reset0 up; {back}",
    )
    machines.on("alone", "ip link delete reset0")


def marks_of_others_are_told(machines: Machines, hosts: Mapping[str, Any]) -> None:
    machines.on("alone", "systemctl stop rackwright-roce-watch")
    machines.on(
        "alone",
        "sed -i 's/0,0,0,1,/0,0,0,0,/' /var/lib/lab-roce/net-mlx5_2; echo 2 > /var/lib/lab-roce/mlx5_2",
    )
    broken = play_rdma(machines, *HERE, "--tags", "verify", hosts=hosts)
    said = broken.failure("alone")
    assert "pauses priorities 0,0,0,0,0,0,0,0, not 0,0,0,1,0,0,0,0" in said, broken.output
    assert "connections have the type of service 2, not 106" in said
    machines.on("alone", "/usr/local/sbin/rackwright-roce; systemctl start rackwright-roce-watch")


DCB = """#!/bin/sh
# Stand-in: keeps what it is told, and prints it in the format of dcb-app(8) and dcb-pfc(8).
[ "$1" = -N ] && shift
file=/var/lib/lab-dcb.$1
case "$2" in
  set | replace) shift 2; echo "$*" > "$file" ;;
  show) [ "$1" = app ] && sed 's/dev [^ ]* //' "$file" || sed 's/.*prio-pfc all:off/prio-pfc 0:off 1:off 2:off/' "$file" ;;
esac
"""
NICCTL = """#!/bin/sh
# Stand-in: keeps what it is told, and prints it as Pensando's tool does.
file=/var/lib/lab-nicctl
case "$*" in
  "show qos") printf 'Classification type : DSCP\\n'; cat "$file.map" "$file.pfc" ;;
  *dscp-to-priority*) echo "DSCP : $5 ==> priority : $7" > "$file.map" ;;
  *"qos pfc"*) echo "PFC no-drop priorities : $5" > "$file.pfc" ;;
esac
"""


@pytest.mark.parametrize(
    ("driver", "tool", "program", "lost", "said"),
    [
        (
            "bnxt_en",
            "dcb",
            DCB,
            "echo dev x prio-pfc all:off 3:off > /var/lib/lab-dcb.pfc",
            "pause of priority 3 is not on",
        ),
        (
            "ionic",
            "nicctl",
            NICCTL,
            "echo PFC no-drop priorities : 0 > /var/lib/lab-nicctl.pfc",
            "priorities without drops are 0",
        ),
    ],
)
def test_marks_of_other_makers_adapters_are_set_and_verified(
    machines: Machines, driver: str, tool: str, program: str, lost: str, said: str
) -> None:
    """RoCE needed tools of NVIDIA's alone, so that Broadcom's and Pensando's adapters were left as they were."""
    config = "/root/config/rdma_cm/bnxt/ports/1"
    machines.on(
        "standby",
        f"rm -rf /root/sys /root/config; mkdir -p {config} /root/sys/bnxt/device/net/eth9",
    )
    machines.on(
        "standby",
        f"mkdir -p /root/sys/bnxt/ports/1; echo Ethernet > /root/sys/bnxt/ports/1/link_layer; ln -s /d/{driver} /root/sys/bnxt/device/driver",
    )
    machines.on(
        "standby",
        f"cat > /usr/local/sbin/{tool} <<'END'\n{program}END\nchmod 755 /usr/local/sbin/{tool}",
    )
    here = (
        "--extra-vars",
        json.dumps({"rdma_sysfs": "/root/sys", "rdma_configfs": "/root/config"}),
    )
    hosts = {"standby": {"rdma_stack": "inbox", "rdma_roce": DOCA["rdma_roce"]}}
    made = machines.play_roles("rdma", hosts=hosts, arguments=here)
    assert made.code == 0, made.output
    assert machines.on("standby", f"cat {config}/default_roce_tos") == "106"
    again = machines.play_roles("rdma", hosts=hosts, arguments=[*here, "--check", "--diff"])
    assert (again.code, again.changed) == (0, 0), again.output
    machines.on("standby", f"systemctl stop rackwright-roce-watch; {lost}")
    broken = machines.play_roles("rdma", hosts=hosts, arguments=[*here, "--tags", "verify"])
    assert said in broken.failure("standby"), broken.output


LINKS = [
    {
        "name": f"alone-rdma-{number}",
        "address": f"10.55.0.{number}",
        "prefix": 24,
        "network": "10.55.0.0/24",
        "gateway": "10.55.0.254",
        "mtu": 4200,
        "table": 100 + number,
        "rdma": False,
    }
    for number in (1, 2)
]


NETPLAN = """#!/bin/sh
# netplan makes the files of systemd-networkd; its 'apply' tells udev as well, which a container has not.
[ "$1" = apply ] || exec /usr/sbin/netplan "$@"
/usr/sbin/netplan generate && systemctl restart systemd-networkd
"""


@pytest.mark.parametrize("set_by", ["networkd", "netplan"])
def test_interfaces_of_a_fabric_get_addresses_tables_and_rules(
    machines: Machines, set_by: str
) -> None:
    """No role set an address of a fabric's interface, without which RoCE has no GID that is routed."""
    name = "alone" if set_by == "networkd" else "standby"
    macs = [f"02:00:00:00:55:0{number}" for number in (1, 2)]
    machines.on(
        name,
        "apt-get update -q && apt-get install -qy iputils-ping"
        + (" netplan.io" if set_by == "netplan" else ""),
        timeout_s=180,
    )
    machines.on(name, "ip netns delete leaf", check=False)
    if set_by == "netplan":
        program = "/usr/local/sbin/netplan"
        machines.on(name, f"cat > {program} <<'END'\n{NETPLAN}END\nchmod 755 {program}")
    leaf = "ip netns add leaf; ip netns exec leaf ip link add br0 type bridge; ip netns exec leaf ip link set br0 up mtu 4200; ip netns exec leaf ip address add 10.55.0.254/24 dev br0"
    machines.on(name, leaf)
    for number, mac in enumerate(macs, 1):
        machines.on(
            name,
            f"ip link add rail{number} address {mac} type veth peer name port{number} netns leaf && ip netns exec leaf ip link set port{number} mtu 4200 master br0 up",
        )
    hosts = {
        name: {
            "fabric_interfaces_set_by": set_by,
            "fabric_interfaces_links": [
                {**link, "mac": mac} for link, mac in zip(LINKS, macs, strict=True)
            ],
        }
    }
    wrong = {
        name: {**hosts[name], "fabric_interfaces_links": [{**LINKS[0], "mac": "02:00:00:00:55:09"}]}
    }
    refused = machines.play_roles("fabric_interfaces", hosts=wrong)
    assert "has 0 interfaces at 02:00:00:00:55:09, which alone-rdma-1" in refused.failure(name), (
        refused.output
    )
    assert refused.changed == 0
    foreseen = machines.play_roles(
        "fabric_interfaces", hosts=hosts, arguments=["--check", "--diff"]
    )
    assert foreseen.code == 0, foreseen.output
    made = machines.play_roles("fabric_interfaces", hosts=hosts)
    assert made.code == 0, made.output
    for number in (1, 2):
        route = machines.on(name, f"ip route get 10.55.0.77 from 10.55.0.{number}")
        assert f"dev rail{number} table {100 + number}" in route
        neighbour = machines.on(
            name,
            f"ip netns exec leaf ping -c1 -W2 10.55.0.{number} >/dev/null; ip netns exec leaf ip neigh show 10.55.0.{number}",
        )
        assert macs[number - 1] in neighbour, "each answers for its own address alone"
    again = machines.play_roles("fabric_interfaces", hosts=hosts, arguments=["--check", "--diff"])
    assert (again.code, again.changed) == (0, 0), again.output
    again = machines.play_roles("fabric_interfaces", hosts=hosts)
    assert (again.code, again.changed) == (0, 0), again.output

    machines.on(name, "ip rule del priority 10102; ip link set rail1 mtu 1500; sleep 1")
    broken = machines.play_roles("fabric_interfaces", hosts=hosts, arguments=["--tags", "verify"])
    assert "has no rule from 10.55.0.2 to table 102" in broken.failure(name), broken.output
    assert "has the MTU 1500, not 4200" in broken.failure(name)


def test_ports_turn_active_only_through_a_manager_on_a_host(machines: Machines) -> None:
    """The playbook waited for ports before it installed the manager that makes them active."""
    machines.on("alone", "systemctl stop ibsim 'opensm-fabric@*'; systemctl reset-failed")
    ports(machines, ("mlx5_0", INIT, NDR, "InfiniBand"))
    simulate(machines, "alone", {"alone": "master"}, a_fabric())
    # The file of the port says what the simulated port says that is asked as another host.
    asked = (
        "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so SIM_HOST=standby "
        f"IBSIM_SERVER_NAME={machines.host('alone').address.ip} smpquery -D portinfo 0 1"
    )
    state = "/root/sys/mlx5_0/ports/1/state"
    look = (
        f"while sleep 0.3; do {asked} 2>/dev/null | grep -q '^LinkState:.*Active'"
        f" && echo '{UP}' > {state} || echo '{INIT}' > {state}; done"
    )
    machines.on("alone", f"systemd-run --unit=look bash -c {shlex.quote(look)}")
    try:
        alone = {
            **a_manager("alone", partitions=[]),
            "rdma_stack": "inbox",
            "rdma_ports": [{**DOCA["rdma_ports"][0], "count": 1}],
            "rdma_wait_s": 20,
        }
        member: dict[str, Any] = {"hosts": {"alone": {}}}
        groups = dict.fromkeys(("rdma_hosts", "subnet_managers"), member)
        whole = yaml.safe_load((PLAYBOOKS / "site.yml").read_text())
        plays = [play for play in whole if play["hosts"] in list(groups)]
        wanted: dict[str, Any] = {"hosts": {"alone": alone}, "groups": groups}
        assert machines.on("alone", f"cat {state}") == INIT
        made = machines.play(plays, *HERE, **wanted)
        assert made.code == 0, made.output
        assert machines.on("alone", f"cat {state}") == UP
        again = machines.play(plays, *HERE, **wanted)
        assert (again.code, again.changed) == (0, 0), again.output

        machines.on("alone", f"systemctl stop look && echo '{INIT}' > {state}")
        alone["rdma_wait_s"] = 1
        broken = machines.play(plays, *HERE, "--tags", "verify", **wanted)
        assert "alone has 0 of 1 active infiniband ports" in broken.failure("alone")
    finally:
        machines.on("alone", "systemctl stop look ibsim 'opensm-fabric@*'", check=False)


def test_the_distributions_own_libraries(machines: Machines) -> None:
    made = machines.play_roles("rdma", hosts={"standby": {"rdma_stack": "inbox"}})
    assert made.code == 0, made.output
    assert "libibverbs" in machines.on(
        "standby", "ibv_devices --version 2>&1; ldd /usr/bin/ibv_devices"
    )
    again = machines.play_roles(
        "rdma", hosts={"standby": {"rdma_stack": "inbox"}}, arguments=["--check", "--diff"]
    )
    assert (again.code, again.changed) == (0, 0), again.output
    missing = {"rdma_stack": "inbox", "rdma_wait_s": 1, "rdma_ports": DOCA["rdma_ports"][:1]}
    broken = play_rdma(machines, "--tags", "verify", hosts={"standby": missing})
    assert "standby has 0 of 2 active infiniband ports of 400.0 Gbps; found are none" in (
        broken.failure("standby")
    ), broken.output
