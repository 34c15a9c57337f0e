"""Stand-ins of Lustre: its kernel modules and its programs."""

from __future__ import annotations

import os
from pathlib import Path

from rackwright_lab.mock_packages.package import MockPackage

LUSTRE = "2.15.5"
KERNEL = os.uname().release
"""Hosts of a lab share the kernel of this machine; the names of the modules' packages carry it."""

_TOOLS = "#!/usr/bin/python3\n" + Path(__file__).with_name("lustre_tools.py").read_text(
    encoding="utf-8"
)
_SERVICE = """\
[Unit]
Description=lnet management (stand-in of a lab)
Requires=network-online.target
After=network-online.target
# Instead of /proc/sys/lnet: it does not start over modules that are loaded.
ConditionPathExists=!/run/lustre-stand-in.json

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=/usr/sbin/lnetctl lnet configure
ExecStart=/usr/sbin/lnetctl import /etc/lnet.conf
ExecStop=/usr/sbin/lustre_rmmod

[Install]
WantedBy=multi-user.target
"""
_SHARED = ("lustre_hosts", "lustre_nets", "lustre_quotas")
_CLIENT = {
    # By the name under which the programs import them.
    **{
        f"usr/lib/python3/dist-packages/rackwright_lab/mock_packages/{name}.py": (
            Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
        )
        for name in _SHARED
    },
    **{f"usr/sbin/{name}": _TOOLS for name in ("lnetctl", "lctl", "lustre_rmmod", "mount.lustre")},
    "usr/bin/lfs": _TOOLS,
    "lib/systemd/system/lnet.service": _SERVICE,
}
_SERVER = {**_CLIENT, **{f"usr/sbin/{name}": _TOOLS for name in ("mkfs.lustre", "tunefs.lustre")}}

MOCK_PACKAGES = tuple(
    MockPackage(name, f"{LUSTRE}-1", f"{name} (stand-in of a lab)", files=files)
    for name, files in (
        (f"lustre-server-modules-{KERNEL}", {}),
        ("lustre-server-utils", _SERVER),
        (f"lustre-client-modules-{KERNEL}", {}),
        ("lustre-client-utils", _CLIENT),
    )
)
