"""The roles of Lustre and of local scratch on machines of a lab, on real block devices."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest

from block_devices import Disks, some_disks
from lab_support import LAB_MARKS, Machines, Played, some_machines
from rackwright_lab.lab import HostSpec
from rackwright_lab.mock_packages.storage import KERNEL, LUSTRE
from rackwright_lab.system import run

pytestmark = LAB_MARKS
SERVERS = ("oss-1", "oss-2")
CLIENT = "gpu-1"
NETWORK = "10.213.65.0/24"
NIDS = ["10.213.65.130@o2ib,10.213.65.10@tcp", "10.213.65.131@o2ib,10.213.65.11@tcp"]
SOURCE = f"{':'.join(NIDS)}:/scratch"
NETWORKS = [{"name": "o2ib", "interfaces": ["ib0"]}, {"name": "tcp", "interfaces": ["eth0"]}]
MOUNT = {"source": SOURCE, "folder": "/scratch", "locks": "flock", "mdts": 1, "osts": 2}
SIGNATURES = "for disk in /dev/disk/by-id/*; do echo $disk $(wipefs --no-act -p $disk); done"


def target(kind: str, device: str, first: int = 0, **more: Any) -> dict[str, Any]:
    """A target that both servers reach."""
    turned = slice(None, None, -1 if first else 1)
    known = {"fsname": "scratch", "index": 0, "mgs_nids": NIDS} if kind != "mgs" else {}
    return {
        "kind": kind,
        "device": device,
        "hosts": list(SERVERS[turned]),
        "service_nids": NIDS[turned],
        **known,
        **more,
    }


@dataclass(frozen=True)
class FileSystem:
    """Two servers, one client and their devices."""

    machines: Machines
    disks: Disks
    targets: list[dict[str, Any]]

    def on(self, host: str, command: str) -> str:
        return self.machines.on(host, command, check=False)

    def serve(self, *arguments: str, **changes: Any) -> Played:
        """Run the role of servers on both, with variables that differ from the good ones."""
        variables = {**self.variables(), **changes}
        return self.machines.play(
            [{"hosts": "oss-1:oss-2", "roles": ["lustre_server"]}],
            *arguments,
            variables=variables,
        )

    def variables(self) -> dict[str, Any]:
        return {
            "lustre_lnet_networks": NETWORKS,
            "lustre_lnet_peers": NIDS,
            "lustre_server_version": LUSTRE,
            "lustre_server_kernel": KERNEL,
            "lustre_server_targets": self.targets,
        }

    def use(self, *arguments: str, **changes: Any) -> Played:
        """Run the role of clients on the client."""
        return self.machines.play(
            [{"hosts": CLIENT, "roles": ["lustre_client"]}],
            *arguments,
            variables={**self.client_variables(), **changes},
        )

    def client_variables(self) -> dict[str, Any]:
        return {
            "lustre_lnet_networks": NETWORKS[1:],
            "lustre_lnet_peers": NIDS,
            "lustre_client_version": LUSTRE,
            "lustre_client_kernel": KERNEL,
            "lustre_client_mounts": [MOUNT],
        }


@pytest.fixture(scope="module")
def lustre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileSystem]:
    folder = tmp_path_factory.mktemp("stor")
    wanted = [HostSpec(name) for name in (*SERVERS, CLIENT)]
    with some_machines(folder, "stor", NETWORK, wanted) as machines, some_disks(machines) as disks:
        for number, name in enumerate(SERVERS):
            add_fast_network(machines, name, f"10.213.65.{130 + number}")
        made = {name: disks.add(name, "64M", SERVERS) for name in ("mgt", "mdt0", "ost0", "ost1")}
        targets = [
            target("mgs", made["mgt"]),
            target("mdt", made["mdt0"], size_gib=0.05, backend="ldiskfs"),
            target("ost", made["ost0"], size_gib=0.05),
            target("ost", made["ost1"], first=1, index=1),
        ]
        yield FileSystem(machines, disks, targets)


def add_fast_network(machines: Machines, name: str, address: str) -> None:
    """Give a host a second interface on the lab's bridge, in the place of InfiniBand."""
    host = machines.host(name)
    outer = f"{host.link}i"
    run("ip", "link", "add", outer, "type", "veth", "peer", "name", "ib0", "netns", host.namespace)
    run("ip", "link", "set", outer, "master", machines.lab.bridge, "up")
    run("ip", "-n", host.namespace, "link", "set", "ib0", "up")
    run("ip", "-n", host.namespace, "addr", "add", f"{address}/32", "dev", "ib0")


REFUSED: Mapping[str, Mapping[str, tuple[dict[str, Any], str]]] = {
    "lustre_lnet": {
        "name": (
            {"lustre_lnet_networks": [{"name": "ib0", "interfaces": ["eth0"]}]},
            "the LNet network 'ib0' with the interfaces 'eth0' cannot be",
        ),
        "empty": (
            {"lustre_lnet_networks": [{"name": "tcp", "interfaces": []}]},
            "the LNet network 'tcp' with the interfaces '' cannot be",
        ),
        "twice": ({"lustre_lnet_networks": NETWORKS[1:] * 2}, "each is there once"),
        "interface": (
            {"lustre_lnet_networks": [{"name": "o2ib", "interfaces": ["ib7"]}]},
            "interface has no interface ib7, which the LNet network o2ib needs; it has eth0",
        ),
    },
    "lustre_client": {
        "unknown": ({"lustre_client_unknown": ["its version"]}, "must say its version"),
        "kernel": (
            {"lustre_client_kernel": "5.0"},
            f"{LUSTRE} of the software entry is built for 5.0",
        ),
        "folder": (
            {"lustre_client_mounts": [{**MOUNT, "folder": "scratch"}]},
            f"{SOURCE} cannot be mounted at scratch",
        ),
        "files": (
            {"lustre_client_mounts": [{**MOUNT, "folder": "/etc/apt"}]},
            "files, which a mount would hide; move them away first",
        ),
        "network": (
            {"lustre_lnet_networks": [{"name": "o2ib", "interfaces": ["ib7"]}]},
            "network has no interface ib7",
        ),
        "name": (
            {"lustre_client_mounts": [{**MOUNT, "source": "nobody.invalid@tcp:/scratch"}]},
            "name cannot look up nobody.invalid, the server of a file system",
        ),
        "options": (
            {"lustre_client_mounts": [{**MOUNT, "options": ["rw exec"]}]},
            "/scratch cannot be mounted with rw exec",
        ),
        "version": (
            {"lustre_client_version": "2.99.9"},
            f"does not offer lustre-client-modules-{KERNEL} 2.99.9, but {LUSTRE}",
        ),
    },
}
"""For each role, by case, variables under which it must refuse, and what it says."""


@pytest.mark.parametrize("role", REFUSED)
def test_what_cannot_be_mounted_is_refused_before_anything_is_installed(
    lustre: FileSystem, role: str
) -> None:
    good = lustre.client_variables()
    cases = {name: variables for name, (variables, _) in REFUSED[role].items()}
    played = lustre.machines.play_roles(role, variables=good, hosts=cases)
    for name, (_, message) in REFUSED[role].items():
        assert message in " ".join(played.failure(name).split()), played.output
    assert played.changed == 0


def test_no_device_is_formatted_that_must_not_be(lustre: FileSystem) -> None:
    foreign = lustre.disks.add("home", "64M", SERVERS)
    other = lustre.disks.add("other", "64M", SERVERS)
    lustre.on("oss-1", f"mke2fs -q -F -L home {foreign}; mke2fs -q -F -L other-OST0000 {other}")
    good = {**lustre.variables(), "lustre_server_format": True}
    ost = lustre.targets[2]

    def one(**changes: Any) -> dict[str, Any]:
        return {"lustre_server_targets": [{**ost, **changes}]}

    refused: Mapping[str, tuple[Mapping[str, Any], str]] = {
        "not-asked": ({"lustre_server_format": False}, "are blank, and lustre_server_format is"),
        "no-stable-name": (one(device="/dev/sdb"), "on /dev/sdb of no-stable-name is refused"),
        "has-files": (one(device=foreign), "it has ext2 with the label 'home'"),
        "of-another": (one(device=other), "with the label 'other-OST0000'"),
        "small": (one(size_gib=1.5), "it has 64 MiB of 1536"),
        "twice": ({"lustre_server_targets": [ost, {**ost, "index": 1}]}, "of another target"),
        "kernel": ({"lustre_server_kernel": "5.14.0-1"}, "is built for 5.14.0-1"),
        "unknown": (
            {"lustre_server_unknown": ["'devices' of the objects"]},
            "must say 'devices' of",
        ),
    }
    hosts = {}
    for name, (changes, _) in refused.items():
        mine = deepcopy({**good, **changes})
        for each in mine["lustre_server_targets"]:
            each["hosts"] = [name, "oss-2"]
        hosts[name] = mine
    before = lustre.on("oss-1", f"dpkg-query --show; {SIGNATURES}")
    played = lustre.machines.play(
        [{"hosts": ",".join(refused), "roles": ["lustre_server"]}],
        "--forks=4",
        hosts={**hosts, "oss-2": {}},
    )
    for name, (_, message) in refused.items():
        assert message in played.failure(name), f"{name}: {played.output}"
    assert played.changed == 0
    assert lustre.on("oss-1", f"dpkg-query --show; {SIGNATURES}") == before


def test_a_file_system_is_made_once_and_survives_its_servers(lustre: FileSystem) -> None:
    foreseen = lustre.serve("--check", lustre_server_format=True)
    assert foreseen.code == 0, foreseen.output
    told = re.findall(r"would format (\S+) of (\S+) as (\S+)\"", foreseen.output)
    by_id = "/dev/disk/by-id"
    assert sorted(told) == [
        (f"{by_id}/mdt0", "oss-1", "scratch-MDT0000"),
        (f"{by_id}/mgt", "oss-1", "MGS"),
        (f"{by_id}/ost0", "oss-1", "scratch-OST0000"),
        (f"{by_id}/ost1", "oss-2", "scratch-OST0001"),
    ]
    assert lustre.on("oss-1", f"wipefs --no-act --parsable {by_id}/[mo][gds]t*") == ""

    made = lustre.serve(lustre_server_format=True)
    assert made.code == 0, made.output
    assert lustre.on("oss-1", "findmnt -lno TARGET | grep lustre/").split() == [
        "/lustre/mgs",
        "/lustre/scratch/mdt0000",
        "/lustre/scratch/ost0000",
    ]
    assert lustre.on("oss-2", "findmnt -lno TARGET | grep lustre/") == "/lustre/scratch/ost0001"
    mounted = made_client(lustre)
    assert "OST:1" in mounted

    again = lustre.serve()
    assert (again.code, again.changed) == (0, 0), again.output
    foreseen = lustre.serve("--check", "--diff", lustre_server_format=True)
    assert (foreseen.code, foreseen.changed) == (0, 0), foreseen.output
    assert not re.search(r"^(---|\+\+\+) ", foreseen.output, re.MULTILINE)


def test_limits_hold_on_every_target_and_are_set_by_one_client(lustre: FileSystem) -> None:
    """With a stand-in of ``lctl`` and ``lfs``: what is asked of them, and what is concluded."""
    holding = {"lustre_server_quotas": [{"fsname": "scratch", "mgs": list(SERVERS)}]}
    asked = "lctl get_param 'osd-*.scratch-*.quota_slave*.enabled'"
    of_each = {
        "oss-1": ("MDT0000.quota_slave_dt", "MDT0000.quota_slave_md", "OST0000.quota_slave"),
        "oss-2": ("OST0001.quota_slave",),
    }

    def enabled(files: str, space: str) -> dict[str, str]:
        form = "osd-ldiskfs.scratch-{}.enabled={}"
        return {
            host: "\n".join(form.format(one, files if "md" in one else space) for one in parts)
            for host, parts in of_each.items()
        }

    def seen() -> dict[str, str]:
        return {host: lustre.on(host, asked) for host in of_each}

    lustre.on("oss-1", "lctl conf_param scratch.quota.mdt=g")
    assert seen() == enabled("g", "none")
    wrong = lustre.serve("--tags", "verify", lustre_server_quota_seconds=2, **holding)
    assert "do not hold on scratch-MDT0000, scratch-OST0000 of oss-1" in wrong.failure("oss-1")
    assert "scratch-OST0001.quota_slave.enabled=none" in wrong.failure("oss-2"), wrong.output
    foreseen = lustre.serve("--check", "--diff", "--tags", "run", **holding)
    assert (foreseen.code, seen()) == (0, enabled("g", "none")), foreseen.output
    assert "would have limits of users hold on every mdt of scratch" in foreseen.output
    made = lustre.serve("--tags", "run,verify", **holding)
    assert made.code == 0, made.output
    assert seen() == enabled("ug", "u"), "groups had limits before"
    again = lustre.serve("--tags", "run,verify", **holding)
    assert (again.code, again.changed) == (0, 0), again.output
    silent = '#!/bin/sh\\ncase "$*" in *enabled) exit 2;; esac\\nexec /opt/real/lctl "$@"\\n'
    lustre.on("oss-2", "mkdir /opt/real && mv /usr/sbin/lctl /opt/real/")
    lustre.on("oss-2", f"printf '{silent}' > /usr/sbin/lctl && chmod 755 /usr/sbin/lctl")
    unknown = lustre.serve("--tags", "verify", lustre_server_quota_seconds=2, **holding)
    lustre.on("oss-2", "mv /opt/real/lctl /usr/sbin/")
    said = "do not hold on scratch-OST0001 of oss-2; Lustre says: nothing"
    assert said in unknown.failure("oss-2"), unknown.output

    accounts = [{"name": "bob", "uid": 2002, "space_kib": 4096, "files": 7}]
    quota = {"space_kib": 2048, "files": 100, "accounts": accounts}
    wanted = {"lustre_client_quotas": [{"path": "/scratch", "quota": quota}]}
    tell = "lfs quota -q -U /scratch; lfs quota -q -u 2001 /scratch; lfs quota -q -u 2002 /scratch"
    before = lustre.on(CLIENT, tell)
    foreseen = lustre.use("--check", "--diff", "--tags", "run", **wanted)
    assert "+whoever is not named (0): 2048 KiB, 100 files" in foreseen.output, foreseen.output
    assert "+bob (2002): 4096 KiB, 7 files" in foreseen.output
    assert lustre.on(CLIENT, tell) == before
    made = lustre.use("--tags", "run,verify", **wanted)
    assert made.code == 0, made.output
    default, unnamed, bob = (
        lustre.on(CLIENT, f"{one} | head -1").split() for one in tell.split("; ")
    )
    assert (default[2], default[5]) == (unnamed[3], unnamed[7]) == ("2048", "100")
    assert (bob[3], bob[7]) == ("4096", "7")
    again = lustre.use("--tags", "run,verify", **wanted)
    assert (again.code, again.changed) == (0, 0), again.output
    lustre.on(CLIENT, "lfs setquota -u 2002 -b 0 -B 9 -i 0 -I 9 /scratch")
    wrong = lustre.use("--tags", "verify", **wanted)
    assert "bob (2002): 9 KiB, 9 files in '/scratch', not 4096 KiB" in wrong.failure(CLIENT)
    kept = lustre.on(CLIENT, tell)
    other = lustre.use("--tags", "run,verify")
    assert (other.code, other.changed, lustre.on(CLIENT, tell)) == (0, 0, kept), other.output
    none = {"lustre_client_quotas": [{"path": "/scratch"}]}
    gone = lustre.use("--tags", "run,verify", **none)
    assert gone.code == 0, gone.output
    assert "have limits that were changed by hand; they stay" in gone.words
    lustre.on(CLIENT, "lfs setquota -u 2002 --default /scratch")
    assert lustre.on(CLIENT, tell) == before


def test_a_file_system_is_mounted_by_the_name_of_its_server(lustre: FileSystem) -> None:
    """As FSx for Lustre is: a name, the interface of the default route, targets not counted."""
    name = "fs-0123456789abcdef0.fsx.test"
    host = lustre.machines.host(CLIENT)
    run("ip", "-n", host.namespace, "route", "replace", "default", "dev", "eth0")
    lustre.on(CLIENT, f"echo 10.213.65.10 {name} >> /etc/hosts")
    changes = {
        "lustre_lnet_networks": [{"name": "tcp", "interfaces": ["default"]}],
        "lustre_lnet_peers": [],
        "lustre_client_mounts": [
            {
                "source": f"{name}@tcp:/scratch",
                "folder": "/fsx",
                "locks": "flock",
                "options": ["relatime"],
            }
        ],
    }
    made = lustre.use(**changes)
    assert made.code == 0, made.output
    assert lustre.on(CLIENT, "findmnt -no SOURCE /fsx") == "10.213.65.10@tcp:/scratch"
    unit = lustre.on(CLIENT, "cat /etc/systemd/system/fsx.mount /etc/lnet.conf")
    assert f"What={name}@tcp:/scratch\n" in unit
    assert "Options=_netdev,relatime,flock\n" in unit
    assert "0: eth0" in unit
    again = lustre.use(**changes)
    assert (again.code, again.changed) == (0, 0), again.output
    lustre.on("oss-1", "systemctl stop lustre-scratch-ost0000.mount")
    seen = lustre.use("--tags", "verify", **changes)
    assert "sees 1 of the MDTs and 1 of the OSTs at /fsx" in seen.failure(CLIENT), seen.output
    lustre.on("oss-1", "systemctl start lustre-scratch-ost0000.mount")
    lustre.on(CLIENT, f"systemctl disable --now fsx.mount; sed -i /{name}/d /etc/hosts")


EFA = {"devices": 2, "of_each": "switch", "peer_credits": 32, "driver": "2.12.1"}
EFA_PLACES = {
    "lustre_lnet_efa_driver": "/opt/efa/driver",
    "lustre_lnet_efa_module": "/opt/efa/version",
    "lustre_lnet_efa_tree": "/opt/efa/devices",
}
"""In the place of /sys, which nobody can write on a host of a lab."""
EFA_HOST = """\
way=/opt/efa/devices/pci0000:00/0000:00:01.0
mkdir -p /opt/efa/driver
for number in 1 2 3 4; do
  switch=$(((number + 1) / 2))
  own=$way/0000:0$switch:00.0/0000:0$((switch + 4)):00.0/0000:2$number:00.0
  mkdir -p $own/infiniband/rdmap3${number}s0
  ln -s $own /opt/efa/driver/
done
echo 2.17.2g > /opt/efa/version
echo 1.2.2 > /opt/efa/kefalnd
for name in modprobe modinfo; do
  mv /usr/sbin/$name /opt/efa/$name
  ln -s lnetctl /usr/sbin/$name
done
"""
NO_EFA_HOST = """\
mv /opt/efa/modprobe /opt/efa/modinfo /usr/sbin/
rm -r /opt/efa
"""


@pytest.fixture
def efa_client(lustre: FileSystem) -> Iterator[FileSystem]:
    """With a client that has EFA devices, two on each of two switches, and mounts over TCP."""
    host = lustre.machines.host(CLIENT)
    run("ip", "-n", host.namespace, "route", "replace", "default", "dev", "eth0")
    lustre.machines.on(CLIENT, EFA_HOST)
    assert lustre.on(CLIENT, "systemctl is-active scratch.mount") == "active"
    yield lustre
    lustre.on(CLIENT, NO_EFA_HOST)


def test_a_client_prefers_efa_once_nothing_is_mounted_without_it(efa_client: FileSystem) -> None:
    lustre = efa_client

    def use(*arguments: str, **changes: Any) -> Played:
        wanted = {"lustre_lnet_efa": EFA, **changes}
        return lustre.use(*arguments, f"--extra-vars={json.dumps(EFA_PLACES)}", **wanted)

    def on(command: str) -> str:
        return lustre.on(CLIENT, command)

    dropin = "/etc/systemd/system/lnet.service.d/efa.conf"
    for arguments in ((), ("--check",), ("--tags", "run")):
        refused = use(*arguments)
        assert "and scratch.mount is up without it" in refused.failure(CLIENT), refused.output
        assert refused.changed == 0
    assert on(f"systemctl is-active lnet scratch.mount; ls {dropin}") == "active\nactive"

    on("systemctl stop scratch.mount")
    foreseen = use("--check", "--diff")
    assert foreseen.code == 0, foreseen.output
    assert "+ExecStartPost=/usr/sbin/lnetctl udsp add --src efa" in foreseen.output
    assert on(f"ls {dropin}; lnetctl net show | grep efa") == ""
    made = use()
    assert made.code == 0, made.output
    address = on("ip -4 -brief address show eth0").split()[2].partition("/")[0]
    end = address.split(".", 2)[2]
    nids = [f"{address}@tcp", f"{end}.33.0@efa", f"{end}.35.0@efa"]
    assert on("lctl list_nids").split() == nids, "of each switch the first device"
    assert on("cat /run/lustre-stand-in-udsp /run/lustre-stand-in-discovery") == "efa 01"
    assert on("cat /run/lustre-stand-in-kefalnd; findmnt -no TARGET /scratch") == "eth0/scratch"
    again = use()
    assert (again.code, again.changed) == (0, 0), again.output
    foreseen = use("--check", "--diff")
    assert (foreseen.code, foreseen.changed) == (0, 0), foreseen.output
    assert not re.search(r"^(---|\+\+\+) ", foreseen.output, re.MULTILINE)

    # As lnetctl of Lustre does: what is there already is an error.
    said = on("lnetctl net add --net efa --if rdmap31s0 2>&1; echo $?")
    assert said.endswith('errno: -17\n          descr: "cannot add network: File exists"\n239')
    assert on("lnetctl udsp add --src efa --priority 0 2>/dev/null; echo $?") == "114"

    # A start that fails leaves nothing that keeps the next one from starting.
    on(
        "systemctl stop scratch.mount; mkdir /opt/efa/away; mv /opt/efa/driver/*2[34]:* /opt/efa/away/"
    )
    gone = use()
    assert "has 1 of 2 EFA devices on PCI switches of their own" in gone.failure(CLIENT)
    assert on("systemctl restart lnet 2>/dev/null; systemctl is-active lnet") == "failed"
    assert on("ls /run/lustre-stand-in*") == ""
    on("mv /opt/efa/away/* /opt/efa/driver/; systemctl reset-failed lnet")
    healed = use()
    assert healed.code == 0, healed.output
    assert on("lctl list_nids").split() == nids
    on("rm /opt/efa/kefalnd")
    without = use()
    assert f"has no module kefalnd for its kernel {KERNEL}" in without.failure(CLIENT)

    # Back to TCP.
    back = lustre.use()
    assert "what LNet of gpu-1 reads has changed, and scratch.mount is up" in back.failure(CLIENT)
    on("systemctl stop scratch.mount; systemctl daemon-reload; systemctl restart lnet")
    back = lustre.use()
    assert back.code == 0, back.output
    assert on("lctl list_nids").split() == nids[:1]
    assert on("cat /run/lustre-stand-in-udsp; findmnt -no TARGET /scratch") == "/scratch"


def test_a_target_that_moves_is_left_there_and_one_that_is_nowhere_is_found(
    lustre: FileSystem,
) -> None:
    unit = "lustre-scratch-ost0000.mount"
    lustre.on("oss-1", f"systemctl stop {unit}")
    assert "inactive device" in lustre.on(CLIENT, "lfs df /scratch")
    gone = lustre.serve("--tags", "verify")
    assert "scratch-OST0000 is mounted on 0 of oss-1, oss-2: nowhere" in gone.failure("oss-1")
    seen = lustre.use("--tags", "verify")
    assert "gpu-1 sees 1 of 1 MDTs and 1 of 2 OSTs at /scratch" in seen.failure(CLIENT), seen.output
    lustre.on("oss-2", f"systemctl start {unit}")
    # Multiple-mount protection: the first server cannot have it, too.
    assert lustre.on("oss-1", f"systemctl start {unit}; findmnt -n /lustre/scratch/ost0000") == ""
    moved = lustre.serve("--tags", "run,verify")
    assert (moved.code, moved.changed) == (0, 0), moved.output
    assert "OST:0" in lustre.on(CLIENT, "lfs df /scratch")


def test_local_scratch_is_made_of_blank_drives_only(lustre: FileSystem) -> None:
    drives = [lustre.disks.add(f"nvme{number}", "400M", [CLIENT]) for number in range(2)]
    good = {
        "local_scratch_path": "/raid",
        "local_scratch_drives": 1,
        "local_scratch_drive_gib": 400 / 1024,
        "local_scratch_devices": drives[:1],
        "local_scratch_keep": "14d",
    }

    def play(*arguments: str, hosts: Mapping[str, Any] | None = None) -> Played:
        plays = [{"hosts": ",".join(hosts or {CLIENT: {}}), "roles": ["local_scratch"]}]
        connection = lustre.machines.lab.connection(lustre.machines.host(CLIENT))
        listed = {name: {**connection, **own} for name, own in (hosts or {CLIENT: {}}).items()}
        return lustre.machines.play(plays, *arguments, variables=good, hosts=listed)

    lustre.on(CLIENT, f"mke2fs -q -F -L home {drives[1]}")
    pair = {"local_scratch_drives": 2, "local_scratch_devices": drives}
    refused = {
        "few": ({**pair, "local_scratch_drives": 3}, "has 2 drives of about 0.4 GiB"),
        "full": (pair, "are not blank: they have ext2"),
        "letter": ({"local_scratch_devices": ["/dev/sdb"]}, "is refused"),
        "unknown": ({"local_scratch_unknown": ["'size' of them"]}, "say 'size' of them"),
    }
    played = play(hosts={name: case[0] for name, case in refused.items()})
    for name, (_, message) in refused.items():
        assert message in played.failure(name), played.output
    assert played.changed == 0

    striped = play("--check", hosts={CLIENT: {**pair, "local_scratch_wipe": True}})
    assert striped.code == 0, striped.output
    assert "would wipe and make RAID 0 of /dev/loop" in striped.words
    assert 'LABEL="home"' in lustre.on(CLIENT, f"blkid -p {drives[1]}")

    made = play()
    assert made.code == 0, made.output
    assert lustre.on(CLIENT, "findmnt -no FSTYPE /raid; stat -c %a /raid").split() == [
        "xfs",
        "1777",
    ]
    lustre.on(CLIENT, "touch /raid/kept")
    again = play()
    assert (again.code, again.changed) == (0, 0), again.output
    foreseen = play("--check", "--diff")
    assert (foreseen.code, foreseen.changed) == (0, 0), foreseen.output
    assert "kept" in lustre.on(CLIENT, "ls /raid; systemctl stop raid.mount")


def made_client(lustre: FileSystem) -> str:
    played = lustre.use()
    assert played.code == 0, played.output
    again = lustre.use()
    assert (again.code, again.changed) == (0, 0), again.output
    return lustre.on(CLIENT, "lfs df /scratch")
