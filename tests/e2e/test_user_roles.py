"""Accounts and sshd on machines of a lab: numbers, keys, sudo, Slurm, and no lock-out."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lab_support import LAB_MARKS, Played, Refused, some_machines
from people import People
from rackwright_lab.lab import HostSpec
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
HOSTS = [HostSpec("gpu-1", 8), HostSpec("head-1")]
SETTINGS = "/etc/ssh/sshd_config.d/00-rackwright.conf"
KNOWN = "/etc/ssh/ssh_known_hosts"


@dataclass
class Site(People):
    """Two machines, and the keys of the people who use them."""

    groups: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.groups = [{"name": "research", "gid": 20000}, {"name": "admins", "gid": 20001}]

    @property
    def variables(self) -> dict[str, Any]:
        ada = {
            "name": "ada",
            "uid": 20001,
            "group": "research",
            "keys": [self.public("ada")],
            "slurm_account": "research",
        }
        grace = {
            "name": "grace",
            "uid": 20002,
            "group": "research",
            "groups": ["admins"],
            "keys": [self.public("grace")],
        }
        return {
            "users_groups": self.groups,
            "users_accounts": [ada, grace],
            "users_sudo": [{"group": "admins", "commands": ["/usr/bin/id", "/usr/bin/systemctl"]}],
            "ssh_server_managed_groups": ["research"],
            "ssh_server_admin_groups": ["admins"],
        }

    def play(
        self,
        *roles: str,
        arguments: Sequence[str] = (),
        expect: int = 0,
        folder: Path = Path("roles"),
        hosts: Mapping[str, Mapping[str, Any]] | None = None,
        **changed: Any,
    ) -> Played:
        played = self.machines.play_roles(
            *roles,
            arguments=arguments,
            variables={**self.variables, **changed},
            roles=folder,
            hosts=hosts,
        )
        assert played.code == expect, played.output
        return played


BOTH = ("users", "ssh_server")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("users")
    people = tmp_path_factory.mktemp("people")
    with some_machines(folder, "usrw", "10.213.66.0/24", HOSTS) as machines:
        made = Site(machines, people)
        foreseen = made.play("users", arguments=["--check"])
        assert foreseen.changed > 0
        assert made.on("head-1", "getent passwd ada || echo nobody") == "nobody"
        made.play(*BOTH)
        yield made


def test_a_second_run_changes_nothing_and_a_check_foresees_nothing(site: Site) -> None:
    assert site.play(*BOTH).changes == {"gpu-1": 0, "head-1": 0}
    foreseen = site.play(*BOTH, arguments=["--check", "--diff"])
    assert foreseen.changed == 0
    assert "+++ " not in foreseen.output


def test_accounts_have_their_numbers_keys_and_rights(site: Site) -> None:
    for host in ("gpu-1", "head-1"):
        assert site.log_in("ada", host, "id -u; id -g; id -Gn").split() == [
            "20001",
            "20000",
            "research",
        ]
        assert site.log_in("grace", host, "sudo -n id -u") == "0"
    assert site.log_in("ada", "gpu-1", "sudo -n id -u") == "", "ada is no admin"
    assert site.log_in("grace", "gpu-1", "sudo -n cat /etc/shadow") == "", "not in the rule"
    assert site.on("gpu-1", "getent shadow ada grace | cut -d: -f2").split() == ["*", "*"]
    assert site.on("gpu-1", "stat -c '%a %U' /etc/sudoers.d/90-rackwright") == "440 root"


def test_a_key_that_somebody_adds_at_home_lets_nobody_in(site: Site) -> None:
    home = "/home/ada/.ssh"
    site.on("gpu-1", f"install -d -o ada -g research -m 700 {home}")
    site.on("gpu-1", f"echo '{site.public('eve')}' > {home}/authorized_keys")
    site.on("gpu-1", f"chown ada:research {home}/authorized_keys")
    site.key("ada")
    shutil.copy(site.key("eve"), site.people / "ada.eve")
    address = site.machines.host("gpu-1").address.ip
    known = f"UserKnownHostsFile={site.machines.lab.known_hosts}"
    refused = subprocess.run(
        [
            *("ssh", "-F", "none", "-o", known, "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes"),
            *("-i", site.people / "ada.eve", f"ada@{address}", "id"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Permission denied (publickey)" in refused.stderr
    assert site.log_in("ada", "gpu-1") == "ada"


def test_numbers_that_have_drifted_are_refused_and_not_changed(site: Site) -> None:
    site.on("gpu-1", "useradd --uid 3777 --no-create-home bob")
    try:
        accounts = [
            {"name": "bob", "uid": 20009, "group": "research"},
            {"name": "carol", "uid": 3777, "group": "research"},
        ]
        before = site.on("gpu-1", "sha256sum /etc/passwd /etc/group")
        played = site.play(
            "users", arguments=["--limit", "gpu-1"], expect=2, users_accounts=accounts
        )
        told = played.failure("gpu-1")
        assert "'bob' is to have the uid 20009; it has 3777 there" in told, played.output
        assert (
            "'carol' is to have the uid 3777; it has none there, and 3777 belongs to 'bob'" in told
        )
        assert site.on("gpu-1", "sha256sum /etc/passwd /etc/group") == before
        assert played.changes["gpu-1"] == 0
    finally:
        site.on("gpu-1", "userdel bob")


def test_a_removed_account_is_locked_and_keeps_its_home(site: Site) -> None:
    site.on("gpu-1", "install -o grace /dev/null /home/grace/thesis")
    ada, grace = site.variables["users_accounts"]
    never = {"name": "never", "uid": 20003, "group": "research", "removed": True}
    gone = [ada, {**grace, "removed": True}, never]
    site.play("users", users_accounts=gone)
    assert site.play("users", users_accounts=gone).changed == 0
    assert site.log_in("grace", "gpu-1") == ""
    assert site.on("gpu-1", "id -Gn grace") == "research"
    assert site.on("gpu-1", "stat -c %U /home/grace/thesis") == "grace"
    assert site.on("gpu-1", "getent passwd never || echo nobody") == "nobody"
    assert site.on("gpu-1", "getent shadow grace | cut -d: -f2,8") == "!:1", "expired for long"
    site.play("users")
    assert site.log_in("grace", "gpu-1", "sudo -n id -u") == "0"


def test_sudo_rules_that_visudo_refuses_are_not_put_in_place(site: Site, tmp_path: Path) -> None:
    broken = shutil.copytree("roles/users", tmp_path / "users")
    template = broken / "templates/sudoers.j2"
    template.write_text(template.read_text().replace("ALL=(ALL:ALL)", "ALL=((ALL:ALL)"))
    before = site.on("head-1", "sha256sum /etc/sudoers.d/90-rackwright")
    played = site.play("users", folder=tmp_path, expect=2)
    assert "failed to validate" in played.failure("head-1"), played.output
    assert site.on("head-1", "sha256sum /etc/sudoers.d/90-rackwright") == before


REFUSED: Refused = {
    "root-shut-out": ("ssh_server", {"ssh_server_root_login": "no"}, "would lock it out"),
    "no-such-group": (
        "ssh_server",
        {"ssh_server_groups": ["nobodies"]},
        "has no group nobodies; run the role users first",
    ),
    "no-slurm": ("ssh_server", {"ssh_server_jobs_only": True}, "run the role slurm_config first"),
}
"""Variables under which a role must refuse, and what it says."""


def test_the_roles_refuse_what_they_cannot_do(site: Site) -> None:
    site.machines.check_refusals("gpu-1", REFUSED, variables=site.variables)


def test_sshd_is_hardened_and_knows_the_other_hosts(site: Site) -> None:
    settings = site.on("gpu-1", "sshd -T").splitlines()
    assert "passwordauthentication no" in settings
    assert "permitrootlogin without-password" in settings
    assert [line for line in settings if line.startswith("hostkey ")] == [
        "hostkey /etc/ssh/ssh_host_ed25519_key"
    ]
    listed = site.on("head-1", f"ssh-keygen -F gpu-1 -f {KNOWN}")
    (public,) = site.on("gpu-1", "cut -d' ' -f2 /etc/ssh/ssh_host_ed25519_key.pub").split()
    assert public in listed
    before = site.on("gpu-1", f"cat {KNOWN}")
    site.play("ssh_server", arguments=["--limit", "gpu-1"])
    assert site.on("gpu-1", f"cat {KNOWN}") == before, "hosts outside the run are kept"


LOCKED_OUT: dict[str, dict[str, Any]] = {
    "ciphers-that-no-client-offers": {"ssh_server_ciphers": ["aes128-cbc"]},
    "keys-of-root-looked-for-elsewhere": {"ssh_server_managed_groups": ["root"]},
}


@pytest.mark.parametrize("case", sorted(LOCKED_OUT))
def test_settings_that_lock_ansible_out_are_taken_back(site: Site, case: str) -> None:
    before = site.on("gpu-1", f"sha256sum {SETTINGS} /etc/pam.d/sshd")
    played = site.play("ssh_server", arguments=["--limit", "gpu-1"], expect=2, **LOCKED_OUT[case])
    assert "has its former settings again" in played.output, played.output
    assert site.on("gpu-1", f"sha256sum {SETTINGS} /etc/pam.d/sshd") == before
    assert (
        site.on("gpu-1", "systemctl is-active rackwright-ssh-rollback.timer || true") == "inactive"
    )
    assert site.log_in("ada", "gpu-1") == "ada"


def test_a_host_that_lost_its_controller_takes_the_settings_back_itself(site: Site) -> None:
    before = site.on("gpu-1", f"sha256sum {SETTINGS}")
    alone = {"ansible_ssh_args": "-o ControlMaster=no -o ControlPath=none"}
    address = site.machines.lab.connection(site.machines.host("gpu-1"))
    played = site.play(
        "ssh_server",
        expect=4,
        hosts={"gpu-1": {**address, **alone}},
        ssh_server_ciphers=["aes128-cbc"],
        ssh_server_rollback_after_s=30,
    )
    assert "unreachable=1" in played.output, "the role had no connection left to mend it"
    command = [*site.machines.lab.ssh(site.machines.host("gpu-1")), f"sha256sum {SETTINGS}"]

    def is_mended() -> bool:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
        return done.stdout.strip() == before

    assert not is_mended(), "it is locked now"
    assert wait_for(is_mended, 300, 1.0)
    assert site.play("ssh_server").changed == 0
