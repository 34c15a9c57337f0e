"""Instances of the embedded AWS as machines of a lab: born with EC2's names, by cloud-init, from an image.

What EC2 does to an instance beside running it is done here: its address, its public address, its host key, a metadata
service, the name servers of the VPC with the records of its private zone, and its end. Security groups are not.
"""

from __future__ import annotations

import ipaddress
import json
import os
import shutil
import threading
import uuid
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chroots
import instance_metadata
from e2e.conftest import Lab as Cloud
from lab_snapshots import digests, keep
from lab_support import Machines, some_machines
from rackwright.catalog.loader import load_catalogue
from rackwright.locks import turn
from rackwright.model.instances import Instance
from rackwright_lab import host as hosts
from rackwright_lab.base import cache_folder, clear, make_base, recipe_key, suite_of
from rackwright_lab.host import LabHost
from rackwright_lab.lab import CONTROLLER, HostSpec
from rackwright_lab.repository import scratch, source
from rackwright_lab.system import Process, run, start

NETWORK, NAMES = "10.20.0.0/16", "names"
"""The network of the VPC, and the machine with its name server, which no subnet reaches as far as to."""
FIRST_INDEX = 10
USER = "debian"
"""The account that cloud-init makes on Debian."""

CLOUD_INIT = """\
datasource_list: [Ec2]
datasource: {Ec2: {strict_id: false, metadata_urls: ["http://169.254.169.254"]}}
network: {config: disabled}
apt: {preserve_sources_list: true}
# The birth of an instance here gives it a key of its own, with a certificate.
ssh_deletekeys: false
"""
HYPERVISOR = "/etc/hypervisor-uuid"
"""Where cloud-init sees that it is on EC2, and asks for a token: a container has no such file in /sys."""
SSHD = "HostKey /etc/ssh/ssh_host_ed25519_key\nHostCertificate /etc/ssh/ssh_host_ed25519_key-cert.pub\n"
RESOLVED = "[Resolve]\nDNS={server}\nLLMNR=no\nMulticastDNS=no\n"
"""Stands for what DHCP says in a VPC."""
HARDWARE = """\
#!/bin/sh
set -e
total=$(cat /etc/hardware/memory)
sed "s/^MemTotal:.*/MemTotal:       $total kB/" /proc/meminfo > /run/meminfo
mount --bind /run/meminfo /proc/meminfo
mount --bind /etc/hardware/cpuinfo /proc/cpuinfo
mkdir -p /run/class/upper /run/class/work
mount -t overlay overlay -o lowerdir=/sys/class,upperdir=/run/class/upper,workdir=/run/class/work /sys/class
for number in $(seq $(cat /etc/hardware/efa)); do
  mkdir -p /sys/class/infiniband/efa_$number/device
  ln -s /sys/bus/pci/drivers/efa /sys/class/infiniband/efa_$number/device/driver
done
"""
"""Has a machine show the processors, memory and EFA devices of its instance type; `nvidia-smi` lists its GPUs."""
NVIDIA_SMI = "#!/bin/sh\ncat /etc/hardware/gpus\n"
HARDWARE_UNIT = """\
[Unit]
Before=ssh.service

[Service]
Type=oneshot
ExecStart=/usr/local/sbin/hardware

[Install]
WantedBy=multi-user.target
"""
DNSMASQ = "no-resolv\nno-hosts\naddn-hosts=/etc/zone.hosts\nlocal=/internal/\n"


IMAGE_PACKAGES, SERVER_PACKAGES = ("cloud-init", "nftables", "systemd-resolved"), ("dnsmasq",)


def make_disks() -> Path:
    """A folder with the disk of the image of instances, ``image``, and that of the name server as a lab takes it."""
    base = make_base(print)
    recipe = [base.name, digests([Path(__file__), Path(chroots.__file__)])]
    return keep(cache_folder(), "instances", recipe_key(recipe), lambda made: _fill(base, made))


def _fill(base: Path, folder: Path) -> None:
    clear(folder)
    for made in ("shared", "hosts"):
        (folder / made).mkdir(parents=True)
    with turn(cache_folder() / "lock"):
        for disk, packages in (("image", IMAGE_PACKAGES), (f"hosts/{NAMES}", SERVER_PACKAGES)):
            with scratch(base) as root:
                _install(base, root, packages)
                run("cp", "--archive", root.parent / "upper", folder / disk)


def _install(base: Path, root: Path, packages: Sequence[str]) -> None:
    """Install packages in ``root``, none of which is started before the boot of an instance."""
    chroots.install_packages(root, suite_of(base), *packages)
    run("chroot", root, "apt-get", "clean")
    (root / "usr/sbin/policy-rc.d").unlink()
    for folder in ("etc/apt", "var/lib/apt/lists"):
        shutil.rmtree(root / folder)
        run("cp", "--archive", base / folder, root / folder)
    (root / "etc/resolv.conf").unlink()
    if "systemd-resolved" in packages:
        run("chroot", root, "systemctl", "unmask", "systemd-resolved")
        run("chroot", root, "systemctl", "enable", "systemd-resolved")
        (root / "etc/resolv.conf").symlink_to("../run/systemd/resolve/stub-resolv.conf")
        (root / "etc/cloud/cloud.cfg.d/90-lab.cfg").write_text(CLOUD_INIT)
        # The namespace of a machine has its address from its birth, and cloud-init would take it away.
        (root / "usr/sbin/dhclient").unlink()
        (root / HYPERVISOR[1:]).write_text(f"ec2{uuid.uuid4().hex[3:]}\n")
        datasource = root / "usr/lib/python3/dist-packages/cloudinit/sources/DataSourceEc2.py"
        text = datasource.read_text()
        assert "/sys/hypervisor/uuid" in text
        datasource.write_text(text.replace("/sys/hypervisor/uuid", HYPERVISOR))
        (root / "etc/ssh/sshd_config.d/certificate.conf").write_text(SSHD)
        (root / "usr/local/sbin/hardware").write_text(HARDWARE)
        (root / "usr/local/sbin/hardware").chmod(0o755)
        (root / "usr/local/bin/nvidia-smi").write_text(NVIDIA_SMI)
        (root / "usr/local/bin/nvidia-smi").chmod(0o755)
        (root / "etc/systemd/system/hardware.service").write_text(HARDWARE_UNIT)
        run("chroot", root, "systemctl", "enable", "hardware")
    else:
        (root / "etc/resolv.conf").write_text("")
        (root / "etc/dnsmasq.d/zone.conf").write_text(DNSMASQ)
        (root / "etc/zone.hosts").write_text("")


@dataclass
class Instances:
    """Boots a machine for each instance of a cluster that runs, and ends it with its instance.

    Attributes:
        machines: a lab that has the network of the VPC, with the name server in it.
        cloud: the embedded AWS.
        cluster: whose instances they are.
        folder: for keys and settings of ssh.
        disks: of what `make_disks` has made.
        there: the machines, by the ids of their instances.
        born: how many there have been.
        trouble: what ended the watch before its time.
    """

    machines: Machines
    cloud: Cloud
    cluster: str
    folder: Path
    disks: Path
    there: dict[str, LabHost] = field(default_factory=dict)
    born: int = 0
    trouble: BaseException | None = None
    _services: dict[str, Process] = field(default_factory=dict)
    _zone: str = ""
    _end: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._catalogue = load_catalogue()
        base = Path((self.machines.lab.folder / "base").read_text("utf-8"))
        self._below = (self.disks / "image", base)
        self.key, self._authority = self.folder / "platform", self.folder / "authority"
        for key in (self.key, self._authority):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        public = self.key.with_suffix(".pub").read_bytes()
        self.cloud.client("ec2").import_key_pair(KeyName="platform", PublicKeyMaterial=public)
        known, self.ssh_config = self.folder / "known_hosts", self.folder / "ssh_config"
        known.write_text(f"@cert-authority * {self._authority.with_suffix('.pub').read_text()}")
        self.ssh_config.write_text(
            f"Host *\n  IdentityFile {self.key}\n  IdentitiesOnly yes\n  UserKnownHostsFile {known}\n"
            "  GlobalKnownHostsFile none\n  StrictHostKeyChecking yes\n  BatchMode yes\n  ConnectTimeout 5\n"
        )

    def watch(self) -> None:
        """Follow AWS until the end."""
        try:
            while not self._end.wait(1.0):
                self._follow()
        except BaseException as error:  # noqa: BLE001 - shown by whoever waits for a machine
            self.trouble = error

    def end(self) -> None:
        """Remove all machines."""
        self._end.set()
        for one in list(self.there):
            self._remove(one)

    def _follow(self) -> None:
        wanted = [
            {"Name": "tag:rackwright:cluster", "Values": [self.cluster]},
            {"Name": "instance-state-name", "Values": ["pending", "running"]},
        ]
        ec2 = self.cloud.client("ec2")
        told = ec2.describe_instances(Filters=wanted)["Reservations"]
        found = {one["InstanceId"]: one for part in told for one in part["Instances"]}
        for gone in self.there.keys() - found.keys():
            self._remove(gone)
        for key, one in found.items():
            if key in self.there:
                self._tell(one, self._known(one))
            else:
                self._bear(one, ec2)
        self._serve_names()

    def _bear(self, one: dict[str, Any], ec2: Any) -> None:
        lab, address = self.machines.lab, one["PrivateIpAddress"]
        self.born += 1
        known = self._catalogue.get(Instance, one["InstanceType"])
        name = f"ip-{address.replace('.', '-')}"
        folder = lab.folder / "hosts" / name
        prefix = ipaddress.IPv4Network(NETWORK).prefixlen
        host = LabHost(
            lab.name,
            name,
            FIRST_INDEX + self.born,
            ipaddress.IPv4Interface(f"{address}/{prefix}"),
            folder,
            0 if known.accelerators is None else known.accelerators.count,
        )
        self.there[one["InstanceId"]] = host
        folder.mkdir(parents=True)
        public = one.get("PublicIpAddress")
        hosts.build(host, self._below, self._files(host, public) | _hardware(known))
        hosts.connect(host, lab.bridge)
        run("ip", "-n", host.namespace, "addr", "add", "169.254.169.254/32", "dev", "lo")
        if public is None:
            # Private subnets are reached from inside the VPC alone.
            rule = ("to", str(lab.controller.ip), "ipproto", "tcp", "sport", "22", "blackhole")
            run("ip", "-n", host.namespace, "rule", "add", *rule)
        else:
            run("ip", "-n", host.namespace, "addr", "add", f"{public}/32", "dev", "eth0")
            run("ip", "route", "replace", f"{public}/32", "dev", lab.bridge)
        told = ec2.describe_instance_attribute(InstanceId=one["InstanceId"], Attribute="userData")
        (folder / "user-data").write_bytes(b64decode(told["UserData"].get("Value", "")))
        self._tell(one, host)
        service = ("python3", instance_metadata.__file__, str(folder / "metadata.json"))
        self._services[one["InstanceId"]] = start(
            ("ip", "netns", "exec", host.namespace, *service),
            log=folder / "metadata.log",
            environment=dict(os.environ),
        )
        hosts.switch_on(host)

    def _files(self, host: LabHost, public: str | None) -> dict[str, tuple[str, int]]:
        """Key and certificate of the host, and where the VPC's services are."""
        lab, key = self.machines.lab, host.folder / "host_key"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        principals = ",".join(filter(None, (str(host.address.ip), public)))
        run(
            *("ssh-keygen", "-q", "-s", self._authority, "-I", host.name, "-h", "-n", principals),
            key.with_suffix(".pub"),
        )
        ssh = "etc/ssh/ssh_host_ed25519_key"
        return {
            ssh: (key.read_text(), 0o600),
            f"{ssh}.pub": (key.with_suffix(".pub").read_text(), 0o644),
            f"{ssh}-cert.pub": ((host.folder / "host_key-cert.pub").read_text(), 0o644),
            "etc/apt/sources.list": (source(CONTROLLER), 0o644),
            "root/.ssh/authorized_keys": ("", 0o600),
            "etc/hostname": (f"{host.name}\n", 0o644),
            "etc/hosts": (f"127.0.0.1 localhost\n{lab.controller.ip} {CONTROLLER}\n", 0o644),
            "etc/systemd/resolved.conf.d/vpc.conf": (
                RESOLVED.format(server=self.machines.host(NAMES).address.ip),
                0o644,
            ),
        }

    def _known(self, one: dict[str, Any]) -> LabHost:
        return self.there[one["InstanceId"]]

    def _tell(self, one: dict[str, Any], host: LabHost) -> None:
        """Write what the metadata service answers."""
        placement = one["Placement"]["AvailabilityZone"]
        local = f"{host.name}.ec2.internal"
        public = self.key.with_suffix(".pub").read_text()
        identity = {"instanceId": one["InstanceId"], "region": placement[:-1]}
        tree = {
            "user-data": (host.folder / "user-data").read_text(),
            "dynamic": {"instance-identity": {"document": json.dumps(identity)}},
            "meta-data": {
                "ami-id": one["ImageId"],
                "instance-id": one["InstanceId"],
                "instance-type": one["InstanceType"],
                "hostname": local,
                "local-hostname": local,
                "local-ipv4": one["PrivateIpAddress"],
                "placement": {"availability-zone": placement, "region": placement[:-1]},
                "public-keys": {"0=platform": {"openssh-key": public}},
                "tags": {"instance": {tag["Key"]: tag["Value"] for tag in one.get("Tags", ())}},
            },
        }
        unfinished = host.folder / "metadata.new"
        unfinished.write_text(json.dumps(tree))
        unfinished.replace(host.folder / "metadata.json")

    def _remove(self, instance: str) -> None:
        if (service := self._services.pop(instance, None)) is not None:
            service.end(timeout_s=5)
        hosts.remove(self.there.pop(instance))

    def _serve_names(self) -> None:
        """Let the name server answer with the records of the private zone."""
        dns = self.cloud.client("route53")
        lines = [
            f"{value['Value']} {record['Name'].rstrip('.')}\n"
            for zone in dns.list_hosted_zones()["HostedZones"]
            for record in dns.list_resource_record_sets(HostedZoneId=zone["Id"])[
                "ResourceRecordSets"
            ]
            if record["Type"] == "A"
            for value in record["ResourceRecords"]
        ]
        if (text := "".join(sorted(lines))) != self._zone:
            self._zone = text
            (self.machines.host(NAMES).root / "etc/zone.hosts").write_text(text)
            self.machines.on(NAMES, "systemctl reload dnsmasq")


def _hardware(instance: Instance) -> dict[str, tuple[str, int]]:
    """The files of what a machine shows of the hardware of an instance type."""
    assert instance.vcpus is not None
    assert instance.memory is not None
    efa, board = instance.efa_interfaces, instance.accelerators
    gpus = "" if board is None else f"NVIDIA {board.model}"
    listed = [f"GPU {n}: {gpus} (UUID: GPU-{n})\n" for n in range(board.count if board else 0)]
    processors = "".join(f"processor\t: {number}\n\n" for number in range(instance.vcpus.value))
    return {
        "etc/hardware/cpuinfo": (processors, 0o644),
        "etc/hardware/memory": (f"{int(instance.memory.value * 1024**2)}\n", 0o644),
        "etc/hardware/gpus": ("".join(listed), 0o644),
        "etc/hardware/efa": (f"{0 if efa is None else efa.value}\n", 0o644),
    }


@contextmanager
def some_instances(folder: Path, cloud: Cloud, cluster: str) -> Iterator[Instances]:
    """Machines for the instances of ``cluster``, from now on."""
    disks = make_disks()
    with some_machines(folder, "ec2", NETWORK, [HostSpec(NAMES)], disks) as machines:
        made = Instances(machines, cloud, cluster, folder, disks)
        watcher = threading.Thread(target=made.watch, name="instances")
        watcher.start()
        try:
            yield made
        finally:
            made._end.set()
            watcher.join()
            made.end()
