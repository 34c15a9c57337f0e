"""The role base on real machines of the lab: names, time from a server, held kernels, huge pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

import pytest

from lab_support import LAB_MARKS, Machines, Played, some_machines
from rackwright_lab.lab import HostSpec
from rackwright_lab.mock_packages.kernel import KERNEL, NEXT_KERNEL

pytestmark = LAB_MARKS
NETWORK = "10.211.0.0/24"
KERNEL_PACKAGES = [
    f"linux-{kind}-{name}" for kind in ("headers", "image") for name in (KERNEL, "amd64")
]
WATCHING = "[Service]\nExecStart=\nExecStart=!/usr/sbin/chronyd -x\n"
"""Hosts of a lab have the clock of this machine, which their chrony is to leave alone."""

SERVER = "local stratum 8\nallow\n"
OWN_MACHINE = "#!/bin/sh\necho none\nexit 1\n"
"""A systemd-detect-virt that takes the host for a machine with a kernel of its own."""

FAR = "10.211.0.77 gpu-77.lab.example.com gpu-77"
"""A host that the lab does not have."""
OWN_NAME = "127.0.1.1 node-1.installer node-1"
"""What Debian's installer writes."""

MEMORY = "/root/mm"
PAGES = {1048576: 1, 2048: 4}
PAGE_FILES = {size: f"{MEMORY}/hugepages/hugepages-{size}kB/nr_hugepages" for size in PAGES}
TRANSPARENT = f"{MEMORY}/transparent_hugepage/enabled"
HERE = ("--extra-vars", f"base_memory_folder={MEMORY}")
"""Folders with the form of the kernel's: a lab shares its kernel with everything else here."""


@dataclass(frozen=True)
class Site:
    """A host with its time server."""

    machines: Machines
    server: str

    def on(self, command: str, *, check: bool = True) -> str:
        return self.machines.on("node-1", command, check=check)

    def play(self, *arguments: str, **changes: Any) -> Played:
        """Run the role with variables that differ from those of ``good``."""
        hosts = {"node-1": {**self.good, **changes}}
        return self.machines.play_roles("base", arguments=[*HERE, *arguments], hosts=hosts)

    def play_cases(self, cases: Mapping[str, Mapping[str, Any]], *arguments: str) -> Played:
        """Run the role on the host under each name, with variables of that name."""
        reached = self.machines.lab.connection(self.machines.host("node-1"))
        hosts = {name: {**reached, **self.good, **own} for name, own in cases.items()}
        return self.machines.play_roles("base", arguments=[*HERE, *arguments], hosts=hosts)

    @property
    def address(self) -> str:
        return str(self.machines.host("node-1").address.ip)

    @property
    def good(self) -> dict[str, Any]:
        return {
            "base_time_servers": [self.server],
            "base_sysctl": {"net.ipv4.tcp_mtu_probing": 1},
            "base_memlock": "4096",
            "base_hugepages": [{"size_kib": size, "count": count} for size, count in PAGES.items()],
            "base_transparent_hugepages": "madvise",
            "base_kernel": KERNEL,
            "base_held_packages": ["chrony", "sudo"],
            "base_hosts": f"{self.address} node-1.lab.example.com node-1\n{FAR}",
            "base_address": self.address,
            "rackwright_hostname": "node-1",
        }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("base")
    with some_machines(folder, "rwb", NETWORK, [HostSpec("time-1"), HostSpec("node-1")]) as made:
        site = Site(made, str(made.host("time-1").address.ip))
        for name in ("time-1", "node-1"):
            drop_in = "/etc/systemd/system/chrony.service.d"
            made.on(name, f"mkdir -p {drop_in}; printf %s {quote(WATCHING)} > {drop_in}/lab.conf")
        made.on("time-1", "apt-get update -q; apt-get install -qy chrony", timeout_s=120)
        made.on(
            "time-1",
            f"printf %s {quote(SERVER)} > /etc/chrony/conf.d/lab.conf; systemctl restart chrony",
        )
        for file, text in (
            *((path, "0") for path in PAGE_FILES.values()),
            (TRANSPARENT, "never"),
        ):
            site.on(f"mkdir -p $(dirname {file}); echo '{text}' > {file}")
        yield site


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a-container": ({}, "is a container (systemd-nspawn) and shares the kernel of a machine"),
    "nothing-to-hold": (
        {"base_hugepages": [], "base_transparent_hugepages": "", "base_held_packages": ["sudo", "slurmd"]},
        "base_held_packages of nothing-to-hold has slurmd, which is not installed",
    ),
    "too-much": (
        {"base_hugepages": [{"size_kib": 1048576, "count": 4096}]},
        "base_hugepages of too-much asks for 4194304 of its",
    ),
    "no-names": ({"base_hosts": "node-1 10.211.0.9"}, "has 'node-1 10.211.0.9', which is no address"),
    "one-size-twice": (
        {"base_hugepages": [{"size_kib": 2048, "count": 1}, {"size_kib": 2048, "count": 2}]},
        "asks for 6 of its",
    ),
}  # fmt: skip
"""For each case variables of the role base under which it must refuse, and what it says."""


def test_what_cannot_be_done_is_refused_before_anything_is_changed(site: Site) -> None:
    before = site.on("dpkg-query --show; ls -lR /etc | md5sum")
    played = site.play_cases({name: own for name, (own, _) in REFUSED.items()})
    for name, (_, message) in REFUSED.items():
        assert message in played.failure(name), played.output
    pose_as_a_machine(site)
    played = site.play(base_hugepages=[{"size_kib": 16, "count": 1}])
    assert "node-1 has no huge pages of 16 KiB, but of 1048576, 2048" in played.failure("node-1")
    assert played.changed == 0
    assert site.on("dpkg-query --show; ls -lR /etc | md5sum") == before


def pose_as_a_machine(site: Site) -> None:
    path = "/usr/local/bin/systemd-detect-virt"
    site.on(f"printf %s {quote(OWN_MACHINE)} > {path}; chmod 755 {path}")


def test_a_host_has_what_was_asked_for_and_keeps_it(site: Site) -> None:
    pose_as_a_machine(site)
    site.on(f"echo '{OWN_NAME}' >> /etc/hosts")
    site.on(
        f"apt-get update -q; apt-get install -qy {' '.join(f'{name}=1-1' for name in KERNEL_PACKAGES)}"
    )
    foreseen = site.play("--check")
    assert foreseen.code == 0, foreseen.output
    assert foreseen.changed > 0
    assert site.on("apt-mark showhold") == ""

    made = site.play()
    assert made.code == 0, made.output
    assert site.on("apt-mark showhold").split() == sorted(["chrony", "sudo", *KERNEL_PACKAGES])
    assert f"linux-image-{NEXT_KERNEL}" not in site.on("apt-get --simulate dist-upgrade")
    assert site.on("getent hosts gpu-77").split() == FAR.split()
    assert OWN_NAME not in site.on("cat /etc/hosts")
    assert site.on(f"cat {' '.join(PAGE_FILES.values())} {TRANSPARENT}").split() == [
        "1",
        "4",
        "madvise",
    ]

    again = site.play()
    assert (again.code, again.changed) == (0, 0), again.output
    foreseen = site.play("--check", "--diff")
    assert (foreseen.code, foreseen.changed) == (0, 0), foreseen.output
    assert not re.search(r"^(---|\+\+\+) ", foreseen.output, re.MULTILINE)

    site.on(f"echo 0 > {PAGE_FILES[2048]}; systemd-tmpfiles --create --boot")
    assert site.on(f"cat {PAGE_FILES[2048]}") == "4", "so it is done at every boot"


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "pages": (
        {"base_hugepages": [{"size_kib": 2048, "count": 5}]},
        "pages has 4 of 5 huge pages of 2048 KiB",
    ),
    "transparent": (
        {"base_transparent_hugepages": "never"},
        "has transparent huge pages 'madvise' instead of 'never'",
    ),
    "kernel": (
        {"base_kernel": "5.14.0-503"},
        f"runs the kernel {KERNEL}, wanted 5.14.0-503, of which no package is installed",
    ),
    "name": (
        {"base_address": "10.211.0.250"},
        "under its own name node-1, wanted 10.211.0.250; see /etc/hosts",
    ),
    "hold": ({"base_held_packages": ["sudo", "less"]}, "hold does not hold less;"),
    "server": (
        {"base_time_servers": ["10.211.0.250"]},
        "does not ask 10.211.0.250 for the time, but 10.211.0.",
    ),
    "limit": ({"base_memlock": "2048"}, "may lock 4096 KiB of memory, wanted 2048"),
    "sysctl": (
        {"base_sysctl": {"net.ipv4.tcp_mtu_probing": 2}},
        "net.ipv4.tcp_mtu_probing is '1', wanted '2'",
    ),
}
"""By case variables that differ from what the host was given, and what the verification says."""


def test_the_verification_says_what_is_otherwise(site: Site) -> None:
    cases = {name: own for name, (own, _) in WRONG.items()}
    played = site.play_cases(
        {**cases, "container": {"base_memlock": "unlimited"}}, "--tags", "verify"
    )
    for name, (_, message) in WRONG.items():
        assert message in played.failure(name), played.output
    assert played.failure("container") == "", "it may not do what a machine may, and says so"
    assert "container may not set a limit of unlimited KiB" in played.words, played.output
    assert played.changed == 0


MENU = """menuentry 'Debian' $menuentry_id_option 'gnulinux-simple-7c3f' {
submenu 'Advanced options' $menuentry_id_option 'gnulinux-advanced-7c3f' {
  menuentry 'newest' $menuentry_id_option 'gnulinux-100.0.0-1-amd64-advanced-7c3f' {
  menuentry 'other' $menuentry_id_option 'gnulinux-99.1.0-1-amd64-advanced-7c3f' {
"""


def test_kernel_of_a_host_that_serves_nothing_is_installed_and_booted(site: Site) -> None:
    """Nothing installed the kernel of the software versions, and the first run of 128 hosts ended there."""
    pose_as_a_machine(site)
    site.on(
        f"mkdir -p /boot/grub /etc/default/grub.d; printf %s {quote(MENU)} > /boot/grub/grub.cfg"
    )
    site.on(
        "printf '#!/bin/sh\\ndate >> /root/menus\\n' > /usr/sbin/update-grub; chmod 755 /usr/sbin/update-grub"
    )
    nowhere = site.play(base_own_kernel=True, base_kernel="98.0.0-1-generic-64k")
    assert "its repositories do not offer linux-image-98.0.0-1-generic-64k" in nowhere.failure(
        "node-1"
    )
    assert nowhere.changed == 0
    site.on(
        "printf '[Service]\\nExecStart=/usr/bin/sleep 9999\\n' > /run/systemd/system/munge.service; systemctl start munge"
    )
    busy = site.play(base_own_kernel=True, base_kernel=NEXT_KERNEL)
    assert "serves daemons" in busy.failure("node-1"), busy.output
    assert "rackwright upgrade" in busy.failure("node-1")
    installed = site.on(f"dpkg-query -Wf '${{Status}}' linux-image-{NEXT_KERNEL}")
    assert installed == "hold ok installed"
    default = site.on("tail -n 1 /etc/default/grub.d/90-rackwright-kernel.cfg")
    assert default == 'GRUB_DEFAULT="gnulinux-advanced-7c3f>gnulinux-99.1.0-1-amd64-advanced-7c3f"'
    site.on("systemctl stop munge; rm /run/systemd/system/munge.service; systemctl daemon-reload")
    before = site.on("cat /proc/1/stat | cut -d' ' -f22; hostname; stat -c %Y /run/systemd")
    booted = site.play(base_own_kernel=True, base_kernel=NEXT_KERNEL)
    assert (
        f"runs the kernel {KERNEL} after a reboot: see what its boot loader starts"
        in booted.failure("node-1")
    )
    assert site.on("cat /proc/1/stat | cut -d' ' -f22; hostname; stat -c %Y /run/systemd") != before
    assert len(site.on("cat /root/menus").splitlines()) == 1, "the menu is written once"


def test_a_shared_kernel_is_left_alone_and_that_is_said(site: Site) -> None:
    played = site.play("--check", base_shared_kernel=True)
    assert played.code == 0, played.output
    assert "node-1 shares the kernel of a machine (base_shared_kernel)" in played.words


def test_a_time_server_that_does_not_answer_is_found(site: Site) -> None:
    played = site.play(base_time_servers=["10.211.0.250"], base_time_wait_s=5)
    message = "node-1 has not got the time from 10.211.0.250 within 5 s"
    assert message in played.failure("node-1"), played.output
