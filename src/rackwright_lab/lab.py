"""Labs: several hosts on one bridge, made and removed as a whole."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from rackwright.errors import ExternalToolError, StateError, UsageError
from rackwright.files import state_folder, write_changed
from rackwright.locks import exclusive
from rackwright.secret_files import Secret, is_whole, keep_secret
from rackwright.system_errors import damaged, read_state
from rackwright_lab import host as hosts
from rackwright_lab.base import make_base
from rackwright_lab.host import LabHost
from rackwright_lab.repository import make_repository, serve, source, stop
from rackwright_lab.system import check_machine, run, wait_for

CONTROLLER = "controller"
"""What hosts call this machine: what apt has learnt holds in a lab of other addresses, too."""

NAME = re.compile(r"[a-z][a-z0-9]{0,5}")
FIRST_ADDRESS = 10
LARGEST = 64
"""Most hosts of one lab: each is a whole operating system."""

INOTIFY_INSTANCES = 4096
"""What many systemds on one kernel need; with Debian's 128 the 22nd host hangs."""

READY_S = 90.0

LONGEST_ALIAS = 255
"""Most characters that the kernel keeps of the alias of a link."""

LAB_LINE = "# lab"
"""End of each line that the lab writes into /etc/hosts."""

KEY_BYTES, PUBLIC_KEY_BYTES = 300, 70
"""What the files of a pair of keys have at least."""


_REMEDY = 'write into it a list of the lab\'s hosts, like [{"name": "gpu1", "devices": 8}]'


@dataclass(frozen=True)
class HostSpec:
    """A host that is wanted: its name, and as how many GPUs it poses."""

    name: str
    devices: int = 0


@dataclass(frozen=True)
class Lab:
    """A lab by its name; it may or may not exist."""

    name: str
    network: ipaddress.IPv4Network
    folder: Path

    @property
    def bridge(self) -> str:
        """Name of its bridge."""
        return f"rwlab-{self.name}"

    @property
    def controller(self) -> ipaddress.IPv4Interface:
        """Address of this machine on the bridge."""
        return ipaddress.IPv4Interface((self.network[1], self.network.prefixlen))

    @property
    def key(self) -> Path:
        """Private key of root on every host."""
        return self.folder / "id_ed25519"

    @property
    def known_hosts(self) -> Path:
        """The hosts' own keys, written before they boot: no other machine can pose as one of them."""
        return self.folder / "known_hosts"

    @property
    def exists(self) -> bool:
        """True if a part of the lab exists."""
        return self.folder.exists()

    def hosts(self) -> tuple[LabHost, ...]:
        """Return the hosts that it has.

        Raises:
            StateError: the file that lists them is damaged.
        """  # noqa: DOC501 - damaged() makes the StateError
        path = self.folder / "hosts.json"
        listed = read_state(path, remedy=_REMEDY)
        try:
            specs = [HostSpec(str(one["name"]), int(one["devices"])) for one in listed or ()]
        except (KeyError, TypeError, ValueError):
            raise damaged(path, remedy=_REMEDY) from None
        return tuple(self._host(index, spec) for index, spec in enumerate(specs))

    def ssh(self, host: LabHost) -> list[str]:
        """Return the words of an ssh command to ``host``, without what it shall run."""
        return [
            *("ssh", *self._trust, "-i", str(self.key), "-o", "BatchMode=yes"),
            *("-o", "ConnectTimeout=3", f"root@{host.address.ip}"),
        ]

    def connection(self, host: LabHost) -> dict[str, str]:
        """Return variables by which Ansible reaches ``host``."""
        return {
            "ansible_host": str(host.address.ip),
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self.key),
            "ansible_ssh_common_args": shlex.join(self._trust),
            "ansible_python_interpreter": "/usr/bin/python3",
        }

    @property
    def _trust(self) -> tuple[str, ...]:
        """Options of ssh that trust the lab's own keys and nothing else."""
        known = f"UserKnownHostsFile={self.known_hosts}"
        return ("-F", "none", "-o", known, "-o", "StrictHostKeyChecking=yes")

    def is_ready(self, host: LabHost) -> bool:
        """Return True if ``host`` has booted and lets root in."""
        told = run(*self.ssh(host), "systemctl", "is-system-running", check=False, timeout_s=15)
        return told.strip() in {"running", "degraded"}

    def _host(self, index: int, spec: HostSpec) -> LabHost:
        address = ipaddress.IPv4Interface(
            (self.network[FIRST_ADDRESS + index], self.network.prefixlen)
        )
        folder = self.folder / "hosts" / spec.name
        return LabHost(self.name, spec.name, index, address, folder, spec.devices)


def open_lab(name: str = "lab", network: str = "10.77.0.0/24") -> Lab:
    """Return the lab called ``name``.

    Raises:
        UsageError: the name or the network cannot be used.
        StateError: the file that keeps the lab's network is damaged.
    """  # noqa: DOC501 - damaged() makes the StateError
    if not NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' cannot name a lab", hint="one to six letters and digits, a letter first"
        )
    folder = state_folder() / "lab" / name
    kept = folder / "network"
    try:
        parsed = ipaddress.IPv4Network(kept.read_text("utf-8") if kept.exists() else network)
    except ValueError as error:
        if kept.exists():
            raise damaged(kept, remedy=f"write the lab's network into it, like {network}") from None
        raise UsageError(f"'{network}' is no network: {error}") from None
    if parsed.num_addresses < FIRST_ADDRESS + LARGEST + 1:
        raise UsageError(f"'{parsed}' is too small for a lab", hint="use a /24")
    return Lab(name, parsed, folder)


def up(
    lab: Lab,
    wanted: Sequence[HostSpec],
    say: Callable[[str], None],
    layers: Mapping[str, Path] = MappingProxyType({}),
    suite: str | None = None,
) -> tuple[LabHost, ...]:
    """Return the hosts, booted and reachable; those that run already are left alone.

    Args:
        lab: the lab.
        wanted: its hosts.
        say: is told what is made.
        layers: by name of a new host a folder that lies over the base, below its disk. It must
            stay as it is for as long as the lab is there.
        suite: the Debian of a new lab, like ``trixie``; None: that of this machine.

    Raises:
        UsageError: this machine cannot hold a lab, or the lab has other hosts already.
        ExternalToolError: something does not start; what was made stays for ``down``.
    """
    check_machine()
    _check(lab, wanted)
    base = base_of(lab) or make_base(say, suite)
    packages = make_repository(base, say)
    with _exclusive(lab):
        _make_network(lab)
        serve(packages, str(lab.controller.ip), lab.folder)
        _make_keys(lab, wanted)
        write_changed(lab.folder / "base", str(base))
        made = lab.hosts()
        for host in made:
            if not host.root.is_mount():
                below = (*_layers(host, layers.get(host.name)), base)
                hosts.build(host, below, _files(lab, host, made, below))
            hosts.connect(host, lab.bridge)
            hosts.switch_on(host)
        for host in made:
            if not wait_for(lambda host=host: lab.is_ready(host), READY_S, 0.3):  # type: ignore[misc]
                raise ExternalToolError(
                    f"host '{host.name}' does not answer",
                    hint=f"its console: {host.folder / 'console.log'}",
                )
            say(f"{host.name} {host.address.ip} is up")
    return made


def base_of(lab: Lab) -> Path | None:
    """Return the base on which the disks of the lab's hosts lie; None: none yet.

    Raises:
        ExternalToolError: it is gone, and the disks are of no use without it.
    """
    return _recorded(lab.folder / "base", lab.name)


def _layers(host: LabHost, wanted: Path | None) -> tuple[Path, ...]:
    """Return the layers between the host's disk and the base; those it was made on stay."""
    record = host.folder / "layer"
    if wanted is not None and not (host.folder / "upper").exists():
        record.write_text(str(wanted), encoding="utf-8")
    found = _recorded(record, host.lab)
    return () if found is None else (found,)


def _recorded(record: Path, name: str) -> Path | None:
    """Return the folder of which ``record`` tells that the lab ``name`` was made on it.

    Raises:
        ExternalToolError: that folder is gone.
    """
    if not record.exists():
        return None
    folder = Path(record.read_text(encoding="utf-8"))
    if not folder.is_dir():
        raise ExternalToolError(
            f"the lab '{name}' was made on '{folder}', which is gone",
            hint="remove it first: rackwright lab down",
        )
    return folder


def down(lab: Lab) -> tuple[str, ...]:
    """Return names of the hosts that were removed, with everything the lab made on this machine.

    It works on the remains of a lab that failed half-way, too.
    """
    check_machine()
    if not lab.exists:
        return ()
    with _exclusive(lab):
        removed = lab.hosts()
        for host in removed:
            hosts.remove(host)
        stop(lab.folder)
        if not _is_foreign(lab):
            run("ip", "link", "delete", lab.bridge, check=False)
    shutil.rmtree(lab.folder)
    return tuple(host.name for host in removed)


def _check(lab: Lab, wanted: Sequence[HostSpec]) -> None:
    names = [spec.name for spec in wanted]
    if not names or len(names) > LARGEST:
        raise UsageError(f"a lab has 1 to {LARGEST} hosts, not {len(names)}")
    if len(set(names)) != len(names):
        raise UsageError("two hosts have the same name")
    there = [HostSpec(host.name, host.devices) for host in lab.hosts()]
    if there and there != list(wanted):
        raise UsageError(
            f"the lab '{lab.name}' has other hosts: {', '.join(spec.name for spec in there)}",
            hint="remove it first: rackwright lab down",
        )


@contextmanager
def _exclusive(lab: Lab) -> Iterator[None]:
    with exclusive(lab.folder.parent / f"{lab.name}.lock", what=f"the lab '{lab.name}'"):
        yield


def _make_network(lab: Lab) -> None:
    lab.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_changed(lab.folder / "network", str(lab.network))
    limit = Path("/proc/sys/fs/inotify/max_user_instances")
    if int(limit.read_text()) < INOTIFY_INSTANCES:
        limit.write_text(str(INOTIFY_INSTANCES))
    _remove_orphan(lab)
    if _is_foreign(lab):
        raise UsageError(
            f"another lab on this machine is called '{lab.name}'", hint="choose another name"
        )
    if (Path("/sys/class/net") / lab.bridge).exists():
        return
    if (taken := run("ip", "-brief", "addr", "show", "to", str(lab.network))).strip():
        raise UsageError(
            f"'{lab.network}' is in use on this machine: {taken.split()[0]}",
            hint="choose another network with --network",
        )
    run("ip", "link", "add", lab.bridge, "type", "bridge")
    run("ip", "link", "set", lab.bridge, "alias", _mark(lab))
    run("ip", "addr", "add", str(lab.controller), "dev", lab.bridge)
    run("ip", "link", "set", lab.bridge, "up")


def _mark(lab: Lab) -> str:
    """Return the mark that tells a lab's bridge from that of another user's lab of the same name.

    It is the lab's folder, or a digest where the kernel would not keep it whole.
    """
    folder = str(lab.folder.resolve())
    return folder if len(folder) <= LONGEST_ALIAS else hashlib.sha256(folder.encode()).hexdigest()


def _is_foreign(lab: Lab) -> bool:
    """Return True if the bridge of this name is another lab's; one without a mark counts as ours."""
    return _alias(lab) not in {"", _mark(lab)}


def _alias(lab: Lab) -> str:
    """Return the mark on the bridge of this name; empty if there is none."""
    try:
        return (Path("/sys/class/net") / lab.bridge / "ifalias").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def _remove_orphan(lab: Lab) -> None:
    """Remove the network of a lab of the same name whose folder is gone and in which nothing runs."""
    mark = _alias(lab)
    if not mark.startswith("/") or Path(mark).exists():
        return
    names = [path.name for path in Path("/run/netns").glob(f"rw-{lab.name}-*")]
    if not any(run("ip", "netns", "pids", name).strip() for name in names):
        for name in names:
            run("ip", "netns", "delete", name)
        run("ip", "link", "delete", lab.bridge)


def make_key(key: Path, comment: str, *, in_use: bool) -> None:
    """Return a pair of keys of ssh at ``key``, unless there is one.

    Raises:
        StateError: what is there is damaged, and hosts have it.
    """
    public = key.with_suffix(".pub")
    remedy = "remove the lab and boot it again: rackwright lab down"

    def make() -> bytes:
        # The program writes in place, so that who kills it leaves half a pair.
        with TemporaryDirectory(prefix=".key.", dir=key.parent) as scratch:
            made = Path(scratch) / "key"
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(made))
            write_changed(public, made.with_suffix(".pub").read_bytes())
            return made.read_bytes()

    if not is_whole(public, PUBLIC_KEY_BYTES):
        if in_use and key.exists():
            raise StateError(f"'{public}' is missing or cut short", hint=remedy)
        key.unlink(missing_ok=True)
    keep_secret(key, make, Secret("the key of ssh", KEY_BYTES, remedy), in_use=in_use)


def _make_keys(lab: Lab, wanted: Sequence[HostSpec]) -> None:
    """Return keys of root and of every host, made once."""
    in_use = (lab.folder / "base").exists()  # written when all keys are there
    make_key(lab.key, f"lab {lab.name}", in_use=in_use)
    listed = [{"name": spec.name, "devices": spec.devices} for spec in wanted]
    write_changed(lab.folder / "hosts.json", json.dumps(listed))
    lines = []
    for host in lab.hosts():
        host.folder.mkdir(parents=True, exist_ok=True)
        key = host.folder / "ssh_host_ed25519_key"
        make_key(key, host.name, in_use=in_use and key.exists())
        public = key.with_suffix(".pub").read_text().split()
        lines.append(f"{host.address.ip},{host.name} {public[0]} {public[1]}\n")
    lab.known_hosts.write_text("".join(lines), encoding="utf-8")


def _files(
    lab: Lab, host: LabHost, everyone: Sequence[LabHost], below: Sequence[Path]
) -> Mapping[str, tuple[str, int]]:
    """Return the files that make the base this host: its name, its keys and its neighbours."""
    key = host.folder / "ssh_host_ed25519_key"
    return {
        "etc/hostname": (f"{host.name}\n", 0o644),
        "etc/hosts": (_host_names(lab, everyone, (host.folder / "upper", *below)), 0o644),
        "etc/ssh/ssh_host_ed25519_key": (key.read_text(), 0o600),
        "etc/ssh/ssh_host_ed25519_key.pub": (key.with_suffix(".pub").read_text(), 0o644),
        "etc/apt/sources.list": (source(CONTROLLER), 0o644),
        "root/.ssh/authorized_keys": (lab.key.with_suffix(".pub").read_text(), 0o600),
    }


def _host_names(lab: Lab, everyone: Sequence[LabHost], layers: Sequence[Path]) -> str:
    """Return the text of /etc/hosts: the names of the lab, then the lines that roles wrote.

    ``layers`` are those of the host's disk, the uppermost first.
    """
    names = {"localhost": "127.0.0.1", CONTROLLER: lab.controller.ip}
    names |= {other.name: other.address.ip for other in everyone}
    own = [f"{address} {name} {LAB_LINE}" for name, address in names.items()]
    files = (layer / "etc/hosts" for layer in layers)
    text = next((file.read_text("utf-8") for file in files if file.exists()), "")
    # A kept disk may be of another network: only the lab's own lines are written again.
    others = [
        line
        for line in text.splitlines()
        if not line.endswith(LAB_LINE) and "localhost" not in line
    ]
    return "".join(f"{line}\n" for line in (*own, *others))
