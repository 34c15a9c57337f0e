"""What roles refuse because of their variables alone, each case a host of one play on this machine.

They run whole, in check mode, as this user: should a role go on, nothing is changed all the same.
What is refused because of a host is in the tests of the roles, which have one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from collection_support import ROOT, environment
from lab_support import Played, Refused

pytestmark = pytest.mark.e2e

MANAGED: Mapping[str, Any] = {
    "alertmanager_receivers": [
        {"name": name, "webhook_configs": [{"url": f"http://127.0.0.1:9999/{name}"}]}
        for name in ("pager", "chat")
    ],
    "alertmanager_critical": "pager",
    "alertmanager_warning": "chat",
    "users_groups": [{"name": "research", "gid": 20011}, {"name": "admins", "gid": 20012}],
    "nfs_server_implementation": "ganesha",
    "nfs_server_lease_s": 10,
}
"""Variables that are good, of every role."""
EXPORT = {"path": "/export/home", "networks": ["10.0.0.1/32"]}
SUBNET: Mapping[str, Any] = {
    "name": "compute",
    "routing_engine": "ftree",
    "priority": 14,
    "mtu": 4096,
    "partitions": [{"name": "default", "pkey": 32767, "ipoib": True}],
}


def a_manager(**changes: Any) -> dict[str, Any]:
    """Variables of the role opensm."""
    return {
        "opensm_guids": {"compute": ["0x10001"]},
        "opensm_instances": [{**SUBNET, **changes}],
    }


REFUSED: Refused = {
    "alerts-receiver": (
        "alertmanager",
        {"alertmanager_critical": "nobody"},
        "there is no receiver nobody among",
    ),
    "alerts-inline": (
        "alertmanager",
        {"alertmanager_global": {"smtp_auth_password": "x"}},
        "smtp_auth_password in the receivers would be readable",
    ),
    "alerts-secret": (
        "alertmanager",
        {"alertmanager_secrets": {"token": "/etc/passwd"}},
        "with mode 0600",
    ),
    "alerts-address": (
        "alertmanager",
        {"alertmanager_address": "everywhere"},
        "cannot listen on 'everywhere'",
    ),
    "watch-retention": ("prometheus", {"prometheus_retention": "forever"}, "is 'forever'; write"),
    "watch-address": (
        "node_exporter",
        {"node_exporter_address": "300.1.1.1"},
        "on '300.1.1.1' port",
    ),
    "watch-port": ("node_exporter", {"node_exporter_port": 70000}, "port '70000'"),
    "watch-listen": ("prometheus", {"prometheus_address": "::"}, "on '::' port"),
    "watch-host": ("prometheus", {"prometheus_hosts": ["stranger"]}, "hosts of the inventory"),
    "watch-interval": (
        "slurm_exporter",
        {"slurm_exporter_interval_s": 1},
        "write 10 to 120 seconds",
    ),
    "elastic-nowhere": (
        "elastic",
        {
            "elastic_sites": [
                {
                    "cluster": "train",
                    "site": "use1",
                    "region": "us-east-1",
                    "zone": "train.internal",
                    "parameter": "/train/use1/network",
                    "subnets": [],
                    "groups": {"gpu": {"template": "train-use1-gpu", "first": 1, "last": 4}},
                }
            ],
            "elastic_folder": "/var/spool/slurmctld/elastic",
        },
        "'use1' of elastic_sites has 1 groups and 0 subnets",
    ),
    "users-uid-twice": (
        "users",
        {
            "users_accounts": [
                {"name": "ada", "uid": 20001, "group": "research"},
                {"name": "eve", "uid": 20001, "group": "research"},
            ]
        },
        "every uid is given once",
    ),
    "users-key-with-options": (
        "users",
        {
            "users_accounts": [
                {
                    "name": "eve",
                    "uid": 20003,
                    "group": "research",
                    "keys": ['command="sh" ssh-ed25519 AAAA'],
                }
            ]
        },
        "public keys without options",
    ),
    "users-sudo-for-nobody": (
        "users",
        {"users_sudo": [{"group": "wheel", "commands": ["ALL"]}]},
        "the sudo rule of 'wheel' cannot be",
    ),
    "ssh-startups": ("ssh_server", {"ssh_server_max_startups": "many"}, "not 'many'"),
    "nfs-everybody": (
        "nfs_server",
        {"nfs_server_exports": [{"path": "/export/home", "networks": ["*"]}]},
        "'/export/home' cannot be exported to '*'",
    ),
    "nfs-the-world": (
        "nfs_server",
        {"nfs_server_exports": [{"path": "/export/home", "networks": ["0.0.0.0/0"]}]},
        "cannot be exported to '0.0.0.0/0'",
    ),
    "nfs-nobody": (
        "nfs_server",
        {"nfs_server_exports": [{"path": "/export/home", "networks": []}]},
        "'/export/home' cannot be exported to 'nobody'",
    ),
    "nfs-root": (
        "nfs_server",
        {"nfs_server_exports": [{**EXPORT, "squash": "none"}]},
        "would give root of every host in 10.0.0.1/32 the rights of root",
    ),
    "nfs-relative": (
        "nfs_server",
        {"nfs_server_exports": [{**EXPORT, "path": "export/home"}]},
        "nfs_server_exports has the paths 'export/home'",
    ),
    "opensm-of-ufm": (
        "opensm",
        a_manager(routing_engine="ar_ftree"),
        "opensm has no routing engine 'ar_ftree' for the subnet 'compute'; it is of UFM",
    ),
    "opensm-priority": (
        "opensm",
        a_manager(priority=16),
        "the priority of 'compute' is 16; it goes from 0 to 15",
    ),
    "opensm-two-subnets-one-port": (
        "opensm",
        {**a_manager(), "opensm_instances": [SUBNET, {**SUBNET, "name": "storage"}]},
        "for the subnet 'storage'",
    ),
    "opensm-no-port-of-a-member": (
        "opensm",
        a_manager(partitions=[{"name": "jobs", "pkey": 1, "hosts": ["unknown"]}]),
        "the partition 'jobs' has 1 hosts of which opensm_guids gives no port: elsewhere",
    ),
    "opensm-one-p-key-twice": (
        "opensm",
        a_manager(partitions=[{"name": "a", "pkey": 1}, {"name": "b", "pkey": 1}]),
        "have the P_Keys 1, 1",
    ),
    "opensm-no-key": (
        "opensm",
        a_manager(m_key=True),
        "the blueprint asks for the m_key of compute",
    ),
    "opensm-own-setting": (
        "opensm",
        {**a_manager(), "opensm_settings": {"sm_priority": 3}},
        "'sm_priority' cannot be in opensm_settings",
    ),
}
"""By case a role, variables under which it must refuse, and what it says."""
GROUPS: Mapping[str, Any] = {"unknown": {"hosts": {"elsewhere": {}}}, "gpus": {"hosts": {}}}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """How the play of all cases ended."""
    folder = tmp_path_factory.mktemp("refusals")
    own = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    cases = {
        case: {"refusing_role": role, **variables} for case, (role, variables, _) in REFUSED.items()
    }
    every = {"hosts": cases, "vars": {**MANAGED, **own}, "children": GROUPS}
    (folder / "inventory.json").write_text(json.dumps({"all": every}))
    first, *others = cases
    _play(folder, [{"hosts": first, "gather_subset": ["min"], "tasks": []}])
    # The facts of this machine are those of each host: gathering them is half of the time.
    (kept,) = (folder / "facts").iterdir()
    for case in others:
        shutil.copy(kept, kept.with_name(kept.name.replace(first, case)))
    role = {"ansible.builtin.include_role": {"name": "{{ refusing_role }}"}}
    done = _play(folder, [{"hosts": ",".join(cases), "become": False, "tasks": [role]}])
    return Played(done.returncode, done.stdout + done.stderr)


def _play(folder: Path, plays: list[dict[str, Any]]) -> subprocess.CompletedProcess[str]:
    (folder / "play.yml").write_text(json.dumps(plays))
    inventory, playbook = str(folder / "inventory.json"), str(folder / "play.yml")
    words = ["-i", inventory, playbook, "--check", "--forks", "4"]
    return subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", *words],
        env={
            **environment(),
            "ANSIBLE_CACHE_PLUGIN": "jsonfile",
            "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(folder / "facts"),
            "ANSIBLE_GATHERING": "smart",
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_ROLES_PATH": str(ROOT / "roles"),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_work_is_refused_before_anything_is_changed(played: Played, case: str) -> None:
    _, _, message = REFUSED[case]
    assert message in " ".join(played.failure(case).split()), played.output
    assert played.changes[case] == 0
