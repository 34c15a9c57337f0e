"""Metadata of an instance for root alone: a node of the lab that has a metadata service, as EC2 has one.

The service is a host of the lab with the addresses that EC2 uses, so that requests leave the node through its
interface. Others than root are refused by the node's own kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Any

import pytest
import yaml

from aws_factories import a_site
from lab_support import LAB_MARKS, Machines, Played, Refused, some_machines
from rackwright.plan.aws.user_data import node_user_data
from rackwright_lab.lab import HostSpec
from rackwright_lab.system import run, wait_for

pytestmark = LAB_MARKS
NODE, SERVICE = "node-1", "service-1"
ROLE = "instance_metadata"
UNIT, TABLE = "rackwright-instance-metadata", "rackwright_instance_metadata"
RULES = "/etc/rackwright/instance-metadata.nft"
ADA, READER = 4242, "ec2-instance-connect"

SERVER = """\
import http.server, socket, threading

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"credentials of the role")

class Six(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6

six = Six(("fd00:ec2::254", 80), Answer)
threading.Thread(target=six.serve_forever, daemon=True).start()
http.server.ThreadingHTTPServer(("169.254.169.254", 80), Answer).serve_forever()
"""
CLIENT = """\
#!/usr/bin/python3
import sys, urllib.error, urllib.request
for host in sys.argv[1:] or ["169.254.169.254", "[fd00:ec2::254]"]:
    try:
        print(urllib.request.urlopen(f"http://{host}/latest/meta-data/", timeout=20).read().decode())
    except urllib.error.URLError as error:
        print(type(error.reason).__name__)
"""
READ, REFUSED_BY_KERNEL = "credentials of the role", "ConnectionRefusedError"

OTHERS = """\
flush ruleset
table inet filter {
  chain input {
    type filter hook input priority filter; policy accept;
    tcp dport 9999 drop
  }
}
"""
"""A firewall that a team has, in the place where Debian has it."""


SLURM = f"""\
ClusterName=metadata
SlurmctldHost={NODE}
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={NODE} CPUs=1
PartitionName=all Nodes={NODE} Default=YES
"""
"""A cluster of one host, which is its own controller."""


@dataclass(frozen=True)
class Site:
    """A node with Slurm, and the service."""

    machines: Machines

    def on(self, command: str, *, check: bool = True) -> str:
        return self.machines.on(NODE, command, check=check, timeout_s=180)

    def play(self, *arguments: str, **changes: Any) -> Played:
        """Run the role on the node, for root alone unless it is told others."""
        hosts = {NODE: {f"{ROLE}_users": [], **changes}}
        return self.machines.play_roles(ROLE, arguments=arguments, hosts=hosts)

    def asks(self, before: str = "") -> set[str]:
        """What the node is told by both addresses, with words before the command that say who asks."""
        return set(self.on(f"{before} imds").splitlines())

    @property
    def root(self) -> set[str]:
        return self.asks()

    @property
    def user(self) -> set[str]:
        return self.asks("runuser -u ada --")

    @property
    def job(self) -> set[str]:
        """What the job of a user is told that Slurm runs on the node."""
        return self.asks("runuser -u ada -- srun --chdir=/")

    def is_idle(self) -> bool:
        return self.on("sinfo -h -o %T", check=False) == "idle"

    def table_of_others(self) -> str:
        return self.on("nft list table inet filter")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("metadata")
    hosts = [HostSpec(NODE), HostSpec(SERVICE)]
    with some_machines(folder, "meta", "10.213.35.0/24", hosts) as machines:
        made = Site(machines)
        # The addresses are in the namespaces, which outlive a reboot of the hosts in them.
        for name, addresses in (
            (NODE, ["169.254.100.1/16", "fd00:ec2::1/64"]),
            (SERVICE, ["169.254.169.254/16", "fd00:ec2::254/64"]),
        ):
            for address in addresses:
                namespace = machines.host(name).namespace
                words = ("ip", "-n", namespace, "addr", "add", address, "dev", "eth0")
                run(*words, *(("nodad",) if ":" in address else ()))
        machines.on(SERVICE, f"printf %s {quote(SERVER)} > /root/imds.py")
        machines.on(SERVICE, "systemd-run --unit=imds --collect python3 /root/imds.py")
        client = "/usr/local/bin/imds"
        made.on(
            f"printf %s {quote(CLIENT)} > {client}; chmod 755 {client}; useradd --uid {ADA} ada"
        )
        made.on("apt-get update -q; apt-get install -qy nftables slurmctld slurmd slurm-client")
        made.on(f"printf %s {quote(SLURM)} > /etc/slurm/slurm.conf")
        made.on("systemctl restart slurmctld slurmd")
        made.on(f"printf %s {quote(OTHERS)} > /etc/nftables.conf; systemctl enable --now nftables")
        assert wait_for(lambda: made.root == {READ}, 300, 0.5), made.root
        assert wait_for(made.is_idle, 300, 0.5), made.on("sinfo; tail /var/log/slurm/*.log")
        yield made


def test_before_anything_is_done_jobs_have_the_credentials_of_the_node(site: Site) -> None:
    assert site.user == {READ}
    assert site.job == {READ}


def test_an_instance_is_born_with_metadata_for_root(site: Site) -> None:
    """What cloud-init runs at the first boot, before anybody logs in."""
    (command,) = yaml.safe_load(node_user_data(a_site()))["bootcmd"]
    try:
        site.on(command)
        assert (site.root, site.user, site.job) == (
            {READ},
            {REFUSED_BY_KERNEL},
            {REFUSED_BY_KERNEL},
        )
        assert "dport 9999 drop" in site.table_of_others()
    finally:
        site.on(f"nft delete table inet {TABLE}")
    assert site.user == {READ}


REFUSED: Refused = {
    "no-name": (
        ROLE,
        {"instance_metadata_users": ["root; reboot"]},
        "has 'root; reboot', which is no name of a user",
    ),
    "a-person": (
        ROLE,
        {"instance_metadata_users": ["ada"]},
        "'ada' of instance_metadata_users is no system user of a-person",
    ),
    "nobody": (
        ROLE,
        {"instance_metadata_users": ["nobody"]},
        "'nobody' of instance_metadata_users is no system user of nobody",
    ),
}


def test_whom_the_metadata_are_not_for_is_refused_before_anything_is_changed(site: Site) -> None:
    before = site.on("nft list ruleset; ls -lR /etc | md5sum")
    site.machines.check_refusals(NODE, REFUSED)
    assert site.on("nft list ruleset; ls -lR /etc | md5sum") == before


def test_root_alone_reads_them_once_the_role_has_run(site: Site) -> None:
    others = site.table_of_others()
    foreseen = site.play("--check", "--diff")
    assert foreseen.code == 0, foreseen.output
    assert foreseen.changed > 0
    assert site.user == {READ}, "a check changes nothing"
    played = site.play()
    assert played.code == 0, played.output
    assert (site.root, site.user, site.job) == ({READ}, {REFUSED_BY_KERNEL}, {REFUSED_BY_KERNEL})
    own_root = site.asks("runuser -u ada -- unshare --user --map-root-user")
    assert own_root == {REFUSED_BY_KERNEL}, "who is root in a namespace of his own is not root"
    assert site.table_of_others() == others
    for arguments in ((), ("--check", "--diff")):
        again = site.play(*arguments)
        assert (again.code, again.changed) == (0, 0), again.output


def test_jobs_are_started_only_when_the_rules_hold(site: Site) -> None:
    shown = site.on("systemctl show --property Requires,After slurmd").splitlines()
    named = dict(line.split("=", 1) for line in shown)
    assert all(f"{UNIT}.service" in named[what].split() for what in ("Requires", "After")), shown
    site.on(f"cp {RULES} /root/kept; echo nonsense > {RULES}; systemctl stop {UNIT}")
    try:
        told = site.on("systemctl start slurmd; systemctl is-active slurmd", check=False)
        assert "active" not in told.split(), told
    finally:
        site.on(f"cp /root/kept {RULES}; systemctl start {UNIT} slurmd")
    assert site.on("systemctl is-active slurmd") == "active"
    assert site.user == {REFUSED_BY_KERNEL}


@pytest.mark.parametrize("verb", ["restart", "reload", "stop", "start"])
def test_the_firewall_of_others_takes_nothing_away(site: Site, verb: str) -> None:
    """What Debian's unit loads begins with ``flush ruleset``."""
    site.on(f"systemctl {verb} nftables")
    assert (site.root, site.user) == ({READ}, {REFUSED_BY_KERNEL})
    assert ("dport 9999" in site.on("nft list ruleset")) == (verb != "stop")


def test_rules_that_somebody_flushed_are_found_and_brought_back(site: Site) -> None:
    site.on("nft flush ruleset")
    assert site.user == {READ}
    found = site.play("--tags", "verify")
    assert "others than root may read the metadata of node-1" in " ".join(
        found.failure(NODE).split()
    ), found.output
    foreseen = site.play("--check")
    assert (foreseen.code, foreseen.changed) == (0, 1), foreseen.output
    played = site.play()
    assert (played.code, played.changed) == (0, 1), played.output
    assert site.user == {REFUSED_BY_KERNEL}
    site.on("systemctl restart nftables")


def test_system_users_that_are_named_read_them_and_nobody_else(site: Site) -> None:
    users = {"instance_metadata_users": [READER, "cwagent"]}
    absent = site.play(**users)
    assert (absent.code, absent.changed) == (0, 0), "the host has neither"
    site.on(f"useradd --system {READER}")
    played = site.play(**users)
    assert played.code == 0, played.output
    assert site.asks(f"runuser -u {READER} --") == {READ}
    assert (site.root, site.user) == ({READ}, {REFUSED_BY_KERNEL})
    again = site.play(**users)
    assert (again.code, again.changed) == (0, 0), again.output
    back = site.play()
    assert back.code == 0, back.output
    assert site.asks(f"runuser -u {READER} --") == {REFUSED_BY_KERNEL}


def test_containers_behind_a_bridge_read_them_only_where_that_is_wanted(site: Site) -> None:
    node = site.machines.host(NODE).address.ip
    site.on(
        "ip netns add box && ip link add box0 type veth peer name eth0 netns box"
        " && ip addr add 10.99.0.1/24 dev box0 && ip link set box0 up"
        " && ip -n box addr add 10.99.0.2/24 dev eth0 && ip -n box link set eth0 up"
        " && ip -n box route add default via 10.99.0.1 && sysctl -qw net.ipv4.ip_forward=1"
    )
    site.machines.on(SERVICE, f"ip route add 10.99.0.0/24 via {node}")
    inside = "nsenter --net=/run/netns/box imds 169.254.169.254"
    try:
        assert site.on(inside) == REFUSED_BY_KERNEL
        played = site.play(instance_metadata_forwarded=True)
        assert played.code == 0, played.output
        assert site.on(inside) == READ
        assert site.user == {REFUSED_BY_KERNEL}
    finally:
        back = site.play()
        site.on("ip netns delete box")
    assert back.code == 0, back.output


def test_a_reboot_opens_nothing(site: Site) -> None:
    before = site.on("cat /proc/sys/kernel/random/boot_id")
    site.on("systemctl reboot", check=False)

    def is_back() -> bool:
        boot = site.on("cat /proc/sys/kernel/random/boot_id", check=False)
        return bool(boot) and boot != before

    assert wait_for(is_back, 300, 0.5)
    assert (site.root, site.user) == ({READ}, {REFUSED_BY_KERNEL})
    assert "dport 9999 drop" in site.table_of_others()
    assert wait_for(site.is_idle, 300, 1.0)
    assert site.job == {REFUSED_BY_KERNEL}
    again = site.play()
    assert (again.code, again.changed) == (0, 0), again.output
