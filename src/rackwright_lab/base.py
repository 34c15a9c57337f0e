"""The root file system of every lab host: a Debian made once and kept."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.files import cache_folder as users_cache
from rackwright.locks import turn
from rackwright_lab import kept
from rackwright_lab.system import run

PACKAGES = (
    "ca-certificates", "curl", "dbus", "hostname", "iproute2", "iputils-ping", "kmod", "less",
    "openssh-server", "procps", "python3", "python3-apt", "sudo", "systemd", "systemd-sysv",
)  # fmt: skip
"""What a freshly installed machine has; everything else is installed by the roles."""

MASKED = (
    "getty.target", "console-getty.service", "apt-daily.timer", "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer", "fstrim.timer", "e2scrub_all.timer", "systemd-resolved.service",
    "systemd-timesyncd.service", "systemd-networkd-wait-online.service",
)  # fmt: skip
"""Units that do nothing useful in a lab. systemd-logind stays: reboots need it."""

DPKG = """\
force-unsafe-io
path-exclude=/usr/share/doc/*
path-exclude=/usr/share/man/*
path-exclude=/usr/share/locale/*
"""
"""A lab's disk need not outlive a loss of power; waiting for it at every file would be most of an installation."""


KEPT = Path(kept.__file__)
"""What Python runs first on the hosts."""

KEPT_CODE = Path(kept.FOLDER).relative_to("/")
"""Where it keeps what it compiled, below the root."""

PYTHON = Path("usr/lib/python3/dist-packages")
"""Where Debian's Python finds modules, below the root."""


def cache_folder() -> Path:
    """``$RACKWRIGHT_LAB_CACHE``, else a folder in the user's cache."""
    if chosen := os.environ.get("RACKWRIGHT_LAB_CACHE"):
        return Path(chosen)
    return users_cache("lab")


def make_base(say: Callable[[str], None], suite: str | None = None) -> Path:
    """Return the folder of the root file system of a suite, made on the first call.

    Args:
        say: is told what is made.
        suite: of Debian, like ``trixie``; None: that of this machine.

    It is made again when its recipe changes, and when this machine's apt learns of a newer release
    of the suite: what a fresh machine would install is what hosts of the lab start from. A machine
    that never asks keeps its base, also without a network. The packages of the lab are resolved
    against this very base, with what newer ones need of newer packages.

    Raises:
        ExternalToolError: Debian cannot be installed there.
    """
    source = machine_repository()
    if suite not in (None, source.suite):
        source = DebianSource(source.uri, suite, "")
    suite = source.suite
    recipe = [asdict(source), run("debootstrap", "--version"), code_digests(Path(__file__), KEPT)]
    folder = cache_folder() / f"base-{suite}-{recipe_key(recipe)}"
    with turn(cache_folder() / "lock"):
        if folder.is_dir():
            return folder
        say(f"installing Debian {suite} for the lab's hosts: about two minutes, once")
        unfinished = folder.with_suffix(".new")
        clear(unfinished)
        packages = cache_folder() / "debootstrap"
        packages.mkdir(exist_ok=True)
        run(
            # What debootstrap mounts ends with it, also when it is killed: a /proc that stayed
            # below a folder that is to be removed would be emptied with it.
            *("unshare", "--mount", "--propagation", "private"),
            *("debootstrap", "--variant=minbase", f"--cache-dir={packages}"),
            *(f"--include={','.join(PACKAGES)}", suite, unfinished, source.uri),
            timeout_s=1800,
        )
        _prepare(unfinished)
        unfinished.rename(folder)
    return folder


def suite_of(base: Path) -> str:
    """Return the suite of a root file system, by its own word."""
    text = (base / "etc/os-release").read_text(encoding="utf-8")
    (suite,) = re.findall(r"^VERSION_CODENAME=(\S+)$", text, re.MULTILINE)
    return str(suite)


def clear(folder: Path) -> None:
    """Remove what an interrupted run left of ``folder``.

    Raises:
        ExternalToolError: something is mounted below it that cannot be taken away.
    """
    for line in reversed(Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()):
        mounted = Path(line.split()[1].encode().decode("unicode_escape"))
        if mounted.is_relative_to(folder):
            run("umount", mounted)
    shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class DebianSource:
    """Mirror from which this machine's apt gets Debian.

    Attributes:
        released: the date of the suite's release as apt last saw it; empty where it never did.
    """

    uri: str
    suite: str
    released: str


def machine_repository() -> DebianSource:
    """Return the Debian repository and suite that this machine's own apt uses.

    Raises:
        ExternalToolError: it uses none.
    """
    for line in apt_sources("$(REPO_URI) $(CODENAME) $(COMPONENT) $(FILENAME)"):
        uri, suite, component, index = line.split(maxsplit=3)
        if component == "main" and "-" not in suite and "security" not in uri:
            return DebianSource(uri, suite, _release_date(index))
    raise ExternalToolError(
        "no Debian repository is configured on this machine",
        hint="the lab's hosts are installed from the repository in /etc/apt",
    )


def apt_sources(form: str) -> list[str]:
    """Return a line of this form for each list of packages that this machine's apt uses."""
    listed = run("apt-get", "indextargets", "--format", form, "Created-By: Packages")
    return listed.splitlines()


def _release_date(index: str) -> str:
    """Return the date in the release file that apt keeps beside the list of packages ``index``."""
    for kind in ("InRelease", "Release"):
        path = Path(f"{index.partition('_main_binary-')[0]}_{kind}")
        if path.is_file():
            found = re.search(r"^Date: (.+)$", path.read_text("utf-8"), re.MULTILINE)
            return found.group(1) if found else ""
    return ""


def _prepare(root: Path) -> None:
    """Prepare the differences to an installed Debian: the lab gives each host its identity."""
    (root / "etc/machine-id").write_text("")
    (root / "var/lib/dbus/machine-id").unlink(missing_ok=True)
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    for unit in MASKED:
        link = root / "etc/systemd/system" / unit
        link.unlink(missing_ok=True)
        link.symlink_to("/dev/null")
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    (root / "etc/resolv.conf").write_text("")
    (root / "etc/apt/sources.list").write_text("")
    (root / "etc/dpkg/dpkg.cfg.d/lab").write_text(DPKG)
    shutil.rmtree(root / "var/lib/apt/lists")
    (root / "var/lib/apt/lists/partial").mkdir(parents=True)
    os.utime(root / "var/lib/apt/lists", (0, 0))  # by its age tools tell that it is out of date
    (root / KEPT_CODE).mkdir(mode=0o755)
    shutil.copy(KEPT, root / PYTHON / "lab_kept.py")
    (root / PYTHON / "lab_kept.pth").write_text("import lab_kept; lab_kept.install()\n")
    shutil.rmtree(root / "var/cache/apt/archives", ignore_errors=True)
    (root / "var/cache/apt/archives/partial").mkdir(parents=True)


def code_digests(*files: Path) -> list[str]:
    """Return the digests of ``files`` for a key."""
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]


def recipe_key(recipe: object) -> str:
    """Return the key under which what ``recipe`` describes is kept."""
    return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()[:12]
