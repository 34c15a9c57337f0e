"""Accounts of a real slapd on hosts of a lab: logins, jobs, an outage, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import people
from lab_snapshots import NO_LOGIN, Snapshot, configured_machines, digests
from lab_support import LAB_MARKS, Machines, Refused, lab_blueprint
from people import People
from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import load_plan
from rackwright.render.slurm import render_slurm
from rackwright_lab.lab import HostSpec
from rackwright_lab.system import run, wait_for

pytestmark = LAB_MARKS
HOSTS = (HostSpec("gpu-1", 8), HostSpec("head-1"))
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Yw1x0Gq1m0Yw1x0Gq1m0Yw1x0Gq1m0Yw1x0Gq1m0Y"
PASSWORD = "what-the-hosts-say"
FILES = "sha256sum /etc/sssd/*.conf /etc/sssd/*.pem /etc/nsswitch.conf /etc/pam.d/common-*"
START = "systemctl reset-failed sssd; systemctl start sssd"
"""Its unit refuses a sixth start within 50 s, and these tests start it more often than roles do."""

FORGET = f"systemctl stop sssd; rm /var/lib/sss/db/*.ldb; {START}"

UNIT = """\
[Service]
ExecStart=/usr/sbin/slapd -d 0 -f /srv/ldap/slapd.conf -h "ldap:/// ldaps:///"
"""
SCHEMA = r"sed '/posixGroup/,/STRUCTURAL/s/STRUCTURAL/AUXILIARY/' /etc/ldap/schema/nis.schema"
"""With groups as in RFC 2307bis, which may name entries as their members."""
SLAPD = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /srv/ldap/nis.schema
attributetype ( 1.3.6.1.4.1.24552.500.1.1.1.13 NAME 'sshPublicKey'
  EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 )
objectclass ( 1.3.6.1.4.1.24552.500.1.1.2.0 NAME 'ldapPublicKey' SUP top AUXILIARY MAY sshPublicKey )
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile /srv/ldap/server.pem
TLSCertificateKeyFile /srv/ldap/server.key
# Nobody is told anything in clear text.
security ssf=128
access to * by dn.exact="cn=hosts,dc=example,dc=com" read by anonymous auth by * none
database mdb
suffix "dc=example,dc=com"
directory /srv/ldap/data
"""
ENTRIES = f"""\
dn: dc=example,dc=com
objectClass: domain
dc: example

dn: cn=hosts,dc=example,dc=com
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: hosts
userPassword: {PASSWORD}

"""


def entry_of_group(name: str, gid: int) -> str:
    return (
        f"dn: cn={name},dc=example,dc=com\nobjectClass: organizationalRole\nobjectClass: posixGroup\n"
        f"cn: {name}\ngidNumber: {gid}\n\n"
    )


def entry_of_entries(name: str, gid: int, *members: str) -> str:
    """A group that names the entries of its members (RFC 2307bis)."""
    named = "".join(f"member: uid={member},dc=example,dc=com\n" for member in members)
    return (
        f"dn: cn={name},dc=example,dc=com\nobjectClass: groupOfNames\nobjectClass: posixGroup\n"
        f"cn: {name}\ngidNumber: {gid}\n{named}\n"
    )


def entry_of_person(name: str, uid: int, gid: int, key: str) -> str:
    return (
        f"dn: uid={name},dc=example,dc=com\nobjectClass: account\nobjectClass: posixAccount\n"
        f"objectClass: ldapPublicKey\nuid: {name}\ncn: {name}\nuidNumber: {uid}\ngidNumber: {gid}\n"
        f"homeDirectory: /home/{name}\nloginShell: /bin/bash\nsshPublicKey: {key}\n\n"
    )


def certificates(folder: Path, host: str) -> None:
    """A certificate of a server with who signs it, and somebody else who signs."""
    new = ("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-days", "3650")
    for name in ("ca", "other"):
        run(
            *(*new, "-x509", "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key"),
            *("-out", folder / f"{name}.pem"),
        )
    run(
        *(*new, "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}"),
        *("-x509", "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key"),
        *("-keyout", folder / "server.key", "-out", folder / "server.pem"),
    )


@dataclass
class Site(People):
    """Two hosts of a cluster, with a directory on one of them."""

    def write_blueprint(self) -> None:
        """Write the blueprint, with the files of these people."""
        self.machines.lab_blueprint(changes_of(self.people, self.public("ops")))

    def write(self, path: str, text: str) -> None:
        """Write a file on the host of the directory."""
        command = [*self.machines.lab.ssh(self.machines.host("head-1")), f"cat > {path}"]
        subprocess.run(command, input=text, text=True, check=True, timeout=300)

    def serve(self) -> None:
        """Have a slapd with people on head-1."""
        certificates(self.people, "head-1")
        self.on("head-1", "systemctl mask slapd")  # the distribution's own would have the port
        install = "apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install slapd"
        self.machines.on("head-1", install, timeout_s=180)
        self.on("head-1", f"mkdir -p /srv/ldap/data; {SCHEMA} > /srv/ldap/nis.schema")
        self.write("/srv/ldap/slapd.conf", SLAPD)
        for name in ("server.pem", "server.key"):
            self.write(f"/srv/ldap/{name}", (self.people / name).read_text())
        entries = ENTRIES + entry_of_group("physics", 30000) + entry_of_group("guests", 30010)
        for name, uid, gid in (("lin", 30001, 30000), ("mal", 30002, 30010), ("toor", 0, 30000)):
            entries += entry_of_person(name, uid, gid, self.public(name))
        entries += entry_of_entries("readers", 30020, "mal")
        self.write("/srv/ldap/entries.ldif", entries)
        self.write("/etc/systemd/system/directory.service", UNIT)
        self.on("head-1", "slapadd -q -f /srv/ldap/slapd.conf -l /srv/ldap/entries.ldif")
        self.on("head-1", "systemctl daemon-reload && systemctl start directory")

    @property
    def variables(self) -> dict[str, Any]:
        """Variables of every host, from the blueprint."""
        plan = load_plan(self.machines.folder / "blueprint.yaml").plan
        told: dict[str, Any] = build_inventory(plan)["all"]["vars"]
        return told


def changes_of(people: Path, key: str) -> dict[str, str]:
    """Return the changes of the blueprint: one node, and a directory by the files in ``people``."""
    secret = people / "password"
    secret.write_text(f"{PASSWORD}\n")
    secret.chmod(0o600)
    users = f"""
users:
  groups: [{{name: crew, gid: 20000}}]
  accounts: [{{name: ops, uid: 20001, group: crew, keys: ["{key}"]}}]
  directory:
    uris: ["ldap://head-1"]
    base: dc=example,dc=com
    ca: {people / "ca.pem"}
    bind: {{dn: "cn=hosts,dc=example,dc=com", password_file: {secret}}}
    allowed_groups: [physics]
    make_homes: true
  ssh: {{login_groups: [physics, crew]}}
"""
    return {
        'count: 4, racks: "c[01-02]", per_rack: 2': 'count: 1, racks: "c01", per_rack: 1',
        NO_LOGIN: "",
        "  accounting: {host: head-1}\n": "",
        "\noperations:\n": f"{users}\noperations:\n",
    }


class WithDirectory(Snapshot):
    """Bare hosts that ``configure`` has made a cluster whose users are in a directory."""

    def settings(self, scratch: Path) -> object:
        """Return the inventory and the files of Slurm, without what differs each time."""
        (scratch / "ca.pem").touch()
        plan = load_plan(lab_blueprint(scratch, changes_of(scratch, KEY))).plan
        told = json.dumps([build_inventory(plan), dict(render_slurm(plan))], sort_keys=True)
        return [told.replace(str(scratch), ""), digests([Path(__file__), Path(people.__file__)])]

    def configure(self, machines: Machines) -> None:
        """Make it of bare hosts."""
        # A blueprint names no file in a hidden folder, as the one of what is kept may be.
        with TemporaryDirectory() as people:
            self.serve(Site(machines, Path(people)))
            shutil.copytree(people, machines.folder / "people")

    def serve(self, site: Site) -> None:
        """Have a directory on one of the hosts, and configure both."""
        machines = site.machines
        site.serve()
        site.write_blueprint()
        foreseen = machines.play_roles("sssd", arguments=["--check"], variables=site.variables)
        assert foreseen.code == 0, foreseen.output
        assert set(foreseen.changes) == {"gpu-1", "head-1"}
        assert min(foreseen.changes.values()) > 0
        assert site.on("gpu-1", "command -v sssd || echo none") == "none"
        machines.rackwright("configure")


CLUSTER = WithDirectory(
    name="ldap", network="10.213.99.0/24", hosts=HOSTS, files=("people", "configure/*/secrets")
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with configured_machines(folder, "dldap", "10.213.72.0/24", CLUSTER) as machines:
        made = Site(machines, folder / "people")
        made.write_blueprint()
        made.on("head-1", "systemctl start directory")
        for host in ("gpu-1", "head-1"):
            made.on(host, f"systemctl stop sssd; {START}")
        # These hosts have keys of their own.
        known = machines.play_roles("ssh_server", variables=made.variables)
        assert known.code == 0, known.output
        yield made


def test_a_user_of_the_directory_logs_in_and_runs_a_job(site: Site) -> None:
    assert site.on("gpu-1", "grep -c ^lin: /etc/passwd || true") == "0"
    assert site.on("gpu-1", "id lin") == "uid=30001(lin) gid=30000(physics) groups=30000(physics)"
    listed = {line.split(":")[0] for line in site.on("gpu-1", "getent passwd").splitlines()}
    assert listed & {"ops", "lin"} == {"ops"}, "nobody asks for all of a directory"
    assert site.on("gpu-1", "getent passwd toor || echo nobody") == "nobody", "no second root"
    assert site.on("gpu-1", "stat -c '%a %U' /etc/sssd/sssd.conf") == "600 root"
    assert site.log_in("lin", "head-1", "id -un; pwd").split() == ["lin", "/home/lin"]
    assert site.on("head-1", "cd /tmp; su lin -c 'srun id -un'") == "lin"
    assert site.log_in("ops", "gpu-1") == "ops", "the host's own accounts are as before"


def test_a_user_outside_the_groups_is_refused(site: Site) -> None:
    assert site.on("head-1", "id -un mal") == "mal"
    assert site.log_in("mal", "head-1") == ""
    refused = site.on("head-1", "cd /tmp; su mal -c id 2>&1 || true")
    assert refused == "su: Permission denied"


def test_a_second_run_changes_nothing_and_a_check_foresees_nothing(site: Site) -> None:
    role = site.machines.play_roles("sssd", variables=site.variables)
    assert (role.code, role.changed) == (0, 0), role.output
    both = ("sssd", "ssh_server")
    foreseen = site.machines.play_roles(
        *both, arguments=["--check", "--diff"], variables=site.variables
    )
    assert (foreseen.code, foreseen.changed) == (0, 0), foreseen.output
    assert "+++ " not in foreseen.output


def test_what_cannot_be_used_is_refused_and_nothing_is_changed(site: Site) -> None:
    refused: Refused = {
        "wrong-ca": (
            "sssd",
            {"sssd_ca": str(site.people / "other.pem")},
            "cannot use the directory: ldap://head-1: unable to get local issuer certificate",
        ),
        "other-name": (
            "sssd",
            {"sssd_uris": [f"ldap://{site.machines.host('head-1').address.ip}"]},
            "IP address mismatch, certificate is not valid for",
        ),
        "no-answer": ("sssd", {"sssd_uris": ["ldap://gpu-1"]}, "ldap://gpu-1: [Errno 111]"),
        "clear-text": ("sssd", {"sssd_uris": ["http://head-1"]}, "servers are all ldaps://NAME"),
        "open-secret": (
            "sssd",
            {"sssd_bind_password_file": str(site.people / "other.pem")},
            "can be read by others: chmod 600",
        ),
    }
    before = site.on("gpu-1", FILES)
    site.machines.check_refusals("gpu-1", refused, variables=site.variables)
    assert site.on("gpu-1", FILES) == before


def test_a_group_that_the_directory_does_not_have_fails_the_host(site: Site) -> None:
    changed = {**site.variables, "sssd_allowed_groups": ["physics", "nobodies"]}
    played = site.machines.play_roles("sssd", variables=changed)
    assert played.code == 2, played.output
    assert "was told of no group 'nobodies'" in played.failure("gpu-1")
    mended = site.machines.play_roles("sssd", variables=site.variables)
    assert mended.code == 0, mended.output
    assert site.log_in("lin", "gpu-1") == "lin"


def test_a_directory_by_tls_is_asked_as_well(site: Site) -> None:
    changed = {**site.variables, "sssd_uris": ["ldaps://head-1"]}
    for variables in (changed, site.variables):
        played = site.machines.play_roles("sssd", variables=variables)
        assert played.code == 0, played.output
        assert min(played.changes.values()) > 0
        site.on("gpu-1", FORGET)
        assert site.on("gpu-1", "id -u lin") == "30001"


def test_groups_may_name_the_entries_of_their_members(site: Site) -> None:
    changed = {**site.variables, "sssd_members": "member", "sssd_allowed_groups": ["readers"]}
    try:
        played = site.machines.play_roles("sssd", variables=changed)
        assert played.code == 0, played.output
        site.on("gpu-1", FORGET)
        groups = "30010(guests),30020(readers)"
        assert site.on("gpu-1", "id mal") == f"uid=30002(mal) gid=30010(guests) groups={groups}"
        assert site.on("gpu-1", "cd /tmp; su mal -c 'id -un'") == "mal"
        refused = site.on("gpu-1", "cd /tmp; su lin -c id 2>&1 || true")
        assert refused == "su: Permission denied"
    finally:
        mended = site.machines.play_roles("sssd", variables=site.variables)
        site.on("gpu-1", FORGET)
    assert mended.code == 0, mended.output
    assert site.on("gpu-1", "id mal") == "uid=30002(mal) gid=30010(guests) groups=30010(guests)"


def test_restarts_in_a_row_are_not_refused(site: Site) -> None:
    """On a fast machine the third run of the role within seconds met the start limit of SSSD's unit."""
    folder, restart = "/run/systemd/system/sssd.service.d", "systemctl restart sssd"
    limit = "[Unit]\\nStartLimitIntervalSec=1h\\nStartLimitBurst=2\\n"
    site.on("gpu-1", f"mkdir {folder}; printf '{limit}' > {folder}/limit.conf")
    try:
        site.on("gpu-1", "systemctl daemon-reload; systemctl reset-failed sssd")
        often = site.on("gpu-1", f"{restart}; {restart}; {restart} 2>&1 || true")
        assert "attempted too often" in often
        task = {"rackwright.cluster.restart": {"name": "sssd.service"}, "loop": [1, 2, 3, 4]}
        played = site.machines.play([{"hosts": "gpu-1", "gather_facts": False, "tasks": [task]}])
        assert played.code == 0, played.output
    finally:
        site.on("gpu-1", f"rm -r {folder}; systemctl daemon-reload; {START}")


def test_without_the_directory_who_is_known_works_on(site: Site) -> None:
    for host in ("gpu-1", "head-1"):
        assert site.log_in("lin", host) == "lin"
    site.on("head-1", "systemctl stop directory")
    try:
        for host in ("gpu-1", "head-1"):
            site.on(host, f"systemctl stop sssd; {START}")  # what it has in memory is gone
        assert (
            site.on("gpu-1", "id lin") == "uid=30001(lin) gid=30000(physics) groups=30000(physics)"
        )
        assert site.on("head-1", "cd /tmp; su lin -c 'srun id -un'") == "lin"
        assert site.log_in("lin", "gpu-1") == "lin"
        played = site.machines.play_roles("sssd", variables=site.variables)
        assert played.code == 2
        assert "ldap://head-1: [Errno 111] Connection refused" in played.failure("gpu-1")
    finally:
        site.on("head-1", "systemctl start directory")


def test_without_sssd_root_and_the_host_s_own_accounts_get_in(site: Site) -> None:
    site.on("gpu-1", "systemctl stop sssd")
    try:
        assert site.on("gpu-1", "id -un") == "root"
        assert site.log_in("ops", "gpu-1") == "ops"
    finally:
        site.on("gpu-1", START)
    assert wait_for(lambda: site.log_in("lin", "gpu-1") == "lin", 300, 1.0)


def test_a_job_opens_its_host_to_a_user_of_the_directory(site: Site) -> None:
    contain = "sed -i s/^PrologFlags=.*/PrologFlags=Contain/ /etc/slurm/slurm.conf"
    site.on("head-1", f"{contain}; systemctl restart slurmctld")
    site.on("gpu-1", f"{contain}; systemctl restart slurmd")
    play = [{"hosts": "gpu-1", "roles": ["ssh_server"]}]
    jobs = {**site.variables, "ssh_server_jobs_only": True}
    played = site.machines.play(play, variables=jobs)
    assert played.code == 0, played.output
    assert site.log_in("lin", "gpu-1") == ""
    submit = "cd /tmp; su lin -c 'sbatch --output=/dev/null --wrap \"sleep 300\"'"
    site.on("head-1", submit)
    assert wait_for(lambda: site.log_in("lin", "gpu-1") == "lin", 300, 1.0)
    assert site.log_in("ops", "gpu-1") == "", "who has no job there"
    site.on("head-1", "scancel --user lin")
    assert wait_for(lambda: site.log_in("lin", "gpu-1") == "", 300, 1.0)
