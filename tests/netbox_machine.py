"""A NetBox of PyPI with PostgreSQL and Redis of Debian 13, in a root that is made once and kept.

Its processes live in namespaces of mounts and processes that end with the test, over a layer that is gone with them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rackwright.locks import turn
from rackwright_lab.base import cache_folder, clear, machine_repository, recipe_key
from rackwright_lab.system import run

RELEASE = "4.7.3"
"""Of NetBox."""
PACKAGES = ("postgresql", "redis-server", "python3-venv", "ca-certificates")
BUILD = ("gcc", "libc6-dev", "python3-dev", "libpq-dev")
"""Packages that build NetBox's client of PostgreSQL."""
WITHIN_S = 300
"""Time in which NetBox answers, also on a busy machine."""
CONFIGURATION = """\
import os
ALLOWED_HOSTS = ["*"]
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "netbox", "USER": "netbox", "HOST": "/run/postgresql"}}
REDIS = {name: {"HOST": "127.0.0.1", "PORT": int(os.environ["REDIS_PORT"]), "DATABASE": n} for n, name in enumerate(("tasks", "caching"))}
SECRET_KEY = "k" * 60
API_TOKEN_PEPPERS = {1: "p" * 60}
"""
_DATABASE = """\
export LC_ALL=C.UTF-8 REDIS_PORT={redis}
mkdir -p /run/postgresql; chown postgres /run/postgresql
if [ ! -d /srv/pg ]; then
  mkdir /srv/pg; chown postgres /srv/pg
  su postgres -c "/usr/lib/postgresql/17/bin/initdb -D /srv/pg -A trust --no-sync" >/dev/null
fi
rm -f /srv/pg/postmaster.pid
touch /srv/pg.log; chown postgres /srv/pg.log
su postgres -c "/usr/lib/postgresql/17/bin/pg_ctl -D /srv/pg -w -t 120 -o '-c fsync=off -c listen_addresses=' -l /srv/pg.log start" >/dev/null
redis-server --port {redis} --bind 127.0.0.1 --save '' --daemonize yes >/dev/null
"""
_MIGRATE = """\
set -e
su postgres -c "createuser netbox; createdb -O netbox netbox"
/opt/netbox/bin/netbox migrate
/opt/netbox/bin/netbox collectstatic --no-input >/dev/null || true
su postgres -c "/usr/lib/postgresql/17/bin/pg_ctl -D /srv/pg -w stop"
redis-cli -p {redis} shutdown nosave || true
"""
_TOKEN = """\
from users.models import Token, User
user = User.objects.create_superuser("ops", "ops@example.org", "ops")
token = Token(user=user, version=2)
token.save()
print("TOKEN", f"nbt_{token.key}.{token.token}")
"""
_SERVE = """\
/opt/netbox/bin/netbox shell --command "$(cat /srv/token.py)" > /srv/token.txt 2>/srv/token.log
cd /opt/netbox; exec /opt/netbox/bin/gunicorn --bind 127.0.0.1:{port} --workers 2 --timeout 600 netbox.wsgi 2>/srv/gunicorn.log
"""


@dataclass(frozen=True)
class Served:
    """A NetBox that answers."""

    url: str
    token: str


def free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def root_of() -> Path:
    """Return the root with NetBox and its empty database, made where there is none.

    Raises:
        ExternalToolError: it cannot be made.
    """
    folder = (
        cache_folder()
        / f"netbox-{recipe_key([RELEASE, PACKAGES, CONFIGURATION, _DATABASE, _MIGRATE])}"
    )
    cache_folder().mkdir(parents=True, exist_ok=True)
    with turn(cache_folder() / "netbox.lock"):
        if folder.is_dir():
            return folder
        for old in cache_folder().glob("netbox-*"):
            clear(old)
        made = folder.with_suffix(".new")
        _make(made)
        made.rename(folder)
    return folder


def _make(root: Path) -> None:
    from chroots import install_packages

    run(
        *("unshare", "--mount", "--propagation", "private"),
        *("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}"),
        *("trixie", root, machine_repository().uri),
        timeout_s=1800,
    )
    install_packages(root, "trixie", *BUILD)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / "etc/ssl/certs/ca-certificates.crt")
    (root / "opt/netbox/conf").mkdir(parents=True)
    (root / "opt/netbox/conf/configuration.py").write_text(CONFIGURATION)
    pip = f"python3 -m venv /opt/netbox && /opt/netbox/bin/pip install --quiet netbox=={RELEASE} gunicorn"
    _inside(root, pip, timeout_s=3600)
    redis = free_port()
    _inside(root, _DATABASE.format(redis=redis) + _MIGRATE.format(redis=redis), timeout_s=7200)
    for name in (
        "usr/share/doc",
        "usr/share/man",
        "var/cache/apt",
        "var/lib/apt/lists",
        "root/.cache",
    ):
        shutil.rmtree(root / name, ignore_errors=True)


def _namespaces(root: Path, script: str) -> list[str]:
    """Return the command that runs a script in a root, with processes that end with it."""
    mounts = f"mount -t proc proc {root}/proc; mount --rbind /dev {root}/dev"
    return [
        *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"),
        *("sh", "-c", f'{mounts}; exec chroot {root} bash -c "$1"', "sh", script),
    ]


def _inside(root: Path, script: str, timeout_s: float) -> None:
    run(*_namespaces(root, script), timeout_s=timeout_s)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """Serve an empty NetBox on loopback until the block ends.

    Args:
        folder: of the test, for the layer over the root.
    """
    base = root_of()
    root, upper, work = (folder / name for name in ("root", "upper", "work"))
    for made in (root, upper, work):
        made.mkdir()
    run(
        "mount",
        "-t",
        "overlay",
        "overlay",
        "-o",
        f"lowerdir={base},upperdir={upper},workdir={work}",
        root,
    )
    port, redis = free_port(), free_port()
    (root / "srv/token.py").write_text(_TOKEN)
    script = _DATABASE.format(redis=redis) + _SERVE.format(port=port)
    log = (folder / "netbox.log").open("w")
    process = subprocess.Popen(_namespaces(root, script), stdout=log, stderr=log)
    try:
        yield Served(f"http://127.0.0.1:{port}", _wait(process, root, port, folder))
    finally:
        process.kill()
        process.wait(timeout=300)
        log.close()
        run("umount", "--lazy", root, check=False)


def _wait(process: subprocess.Popen[bytes], root: Path, port: int, folder: Path) -> str:
    """Wait until NetBox answers, and return the token of its user."""
    until = time.monotonic() + WITHIN_S
    while True:
        with contextlib.suppress(OSError):
            request = urllib.request.Request(f"http://127.0.0.1:{port}/api/")
            try:
                urllib.request.urlopen(request, timeout=300).read()
            except urllib.error.HTTPError as error:
                if error.code not in {401, 403}:
                    raise
            break
        told = "".join(
            path.read_text(errors="replace")
            for path in (
                folder / "netbox.log",
                root / "srv/token.log",
                root / "srv/gunicorn.log",
                root / "srv/pg.log",
            )
            if path.is_file()
        )
        assert process.poll() is None, told
        assert time.monotonic() < until, told
        time.sleep(0.5)
    words = (root / "srv/token.txt").read_text().split()
    return words[words.index("TOKEN") + 1]


def as_root() -> bool:
    """Return True where roots can be made."""
    return os.geteuid() == 0
