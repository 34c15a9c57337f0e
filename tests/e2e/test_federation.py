"""Three Slurm clusters of one blueprint, federated: jobs, the loss of a controller and of the database.

Daemons are those of Debian; files and SQL are rendered from the blueprint and the roles. Every job writes a line
when it begins and one when it ends, so that what was lost or done twice is seen without asking Slurm.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import yaml

from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import LoadedPlan, load_data
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.generated import generate
from role_tasks import RoleTasks
from slurm_machines import SlurmMachine, slurm_machines, wait_for

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root"),
    pytest.mark.skipif(shutil.which("debootstrap") is None, reason="not installed: debootstrap"),
]
SUITE = "trixie"
SITES = ("alpha", "beta", "gamma")
JOBS = 100
CPUS = 8
PASSWORD = "of-this-test-alone"
LONG_S = 500
"""Time for what seconds suffice for on an idle machine."""


def document() -> dict[str, Any]:
    """The fixture with one node at each site, which is its controller as well."""
    made: dict[str, Any] = yaml.safe_load((builtin_pack() / "fixtures/federation.yaml").read_text())
    for number, site in enumerate(made["sites"]):
        name, first = site["name"], 1 + 16 * number
        site["node_groups"] = [{"name": name, "role": "compute", "type": "cpu-2u", "count": 1}]
        site.pop("fabric")
        (network,) = site["addresses"]["networks"]
        network["prefix"] = f"10.98.0.{16 * number}/28"
        network["ranges"] = [{"of": name, "first": f"10.98.0.{first}"}]
    made["scheduler"] |= {
        "controllers": [{"host": f"{site}-1"} for site in SITES],
        "accounting": {"host": "alpha-1", "enforce": []},
        "partitions": [
            {"name": "cpu", "groups": list(SITES), "default": True, "max_time": "1:00:00"}
        ],
        "processes": {
            "tracking": "linuxproc",
            "tasks": ["none"],
            "accounting": "none",
            "contain": False,
        },
        "nodes": [
            {
                "groups": list(SITES),
                "cpus": CPUS,
                "memory": "8 GiB",
                "sockets": 1,
                "threads_per_core": 1,
            }
        ],
        "extra": {
            "SlurmdParameters": "config_overrides",
            "SlurmctldTimeout": 10,
            # On a slow machine an answer or the start of a job may take longer than Slurm's 10 s, after
            # which it gives the job up or does it again.
            "BatchStartTimeout": 300,
            "MessageTimeout": 60,
            "TCPTimeout": 30,
            "SchedulerParameters": "bf_interval=5",
        },
    }
    made["federation"]["database"]["replica"]["host"] = "beta-1"
    return made


@dataclass
class Site:
    """A site's machine, its files and the variables of its roles."""

    machine: SlurmMachine
    cluster: str
    files: Mapping[str, str]
    controller: RoleTasks
    database: RoleTasks | None

    def run(self, command: str) -> tuple[int, str]:
        """Return exit code and output of a command on the machine."""
        said = self.machine.on(f"{command} 2>&1; echo rc=$?", check=False)
        text, _, code = said.rpartition("rc=")
        return int(code), text.strip()

    def federate(self, **changes: Any) -> list[str]:
        """Do the role's tasks about the federation; return what changed."""
        self.controller.values["slurm_controller_federation"] |= changes
        return self.controller.do("federation.yml", self.run)

    def up(self) -> None:
        """Start slurmctld, and wait until it answers."""
        self.machine.start("slurmctld -D -v", "slurmctld.log")
        ping = f" at {self.machine.name} is UP"
        wait_for(lambda: ping in self.run("scontrol ping")[1], f"slurmctld of {self.cluster}")


def make_site(
    loaded: LoadedPlan, name: str, machine: SlurmMachine, files: Mapping[str, str]
) -> Site:
    plan = loaded.cluster_at(name).plan
    inventory = build_inventory(plan)
    own = inventory["_meta"]["hostvars"][f"{name}-1"]
    database = None
    if inventory["slurm_database"]["hosts"]:
        values = inventory["slurm_database"]["vars"] | {"slurm_database_password": PASSWORD}
        values["slurm_database_buffer_pool"] = "64M"
        database = RoleTasks("slurm_database", values)
    prefix = f"slurm/{plan.name}/"
    mine = {
        path.removeprefix(prefix): text for path, text in files.items() if path.startswith(prefix)
    }
    return Site(machine, plan.name, mine, RoleTasks("slurm_controller", own), database)


def start_database(site: Site) -> None:
    """Start MariaDB and slurmdbd with the files and statements of the role."""
    assert site.database is not None
    machine, role = site.machine, site.database
    machine.put({"90-slurm.cnf": role.template("mariadb.cnf.j2")}, "/etc/mysql/mariadb.conf.d")
    machine.on(
        "rm -f /etc/mysql/mariadb.conf.d/50-server.cnf; mkdir -p /run/mysqld; chown mysql /run/mysqld"
    )
    start_mariadb(site)
    statements = [role.value(role.values["slurm_database_statement"])]
    statements.append(role.value(role.values["slurm_database_peer_statement"]))
    for text in statements:
        sql(site, text)
    is_replica = role.values["slurm_database_part"] == "replica"
    if is_replica:
        follow(site)
    machine.put({"slurmdbd.conf": role.template("slurmdbd.conf.j2")})
    machine.on("chown slurm:slurm /etc/slurm/slurmdbd.conf; chmod 600 /etc/slurm/slurmdbd.conf")
    if not is_replica:
        machine.start("slurmdbd -D -v", "slurmdbd.log")


def start_mariadb(site: Site) -> None:
    site.machine.start("mariadbd --user=mysql", "mariadb.log")
    wait_for(lambda: site.run("mariadb -e 'SELECT 1'")[0] == 0, f"MariaDB of {site.cluster}")


def sql(site: Site, text: str) -> str:
    site.machine.put({"statement.sql": text}, "/tmp")
    return site.machine.on("mariadb --batch --skip-column-names < /tmp/statement.sql")


def follow(site: Site) -> None:
    """Do what ``tasks/follow.yml`` of the role does: copy the database, then follow the primary."""
    assert site.database is not None
    script = site.database.value(site.database.values["slurm_database_copy"])
    site.machine.put({"copy.sh": script}, "/tmp")
    site.machine.on(f"MYSQL_PWD={PASSWORD} bash /tmp/copy.sh")
    sql(site, site.database.value(site.database.values["slurm_database_follow_statement"]))


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Site]]:
    """Yield the three sites with every daemon up, none in the federation yet."""
    folder = tmp_path_factory.mktemp("federation")
    loaded = load_data(document())
    files = generate(loaded.plan)
    with slurm_machines(folder, SUITE, *(f"{site}-1" for site in SITES), step=16) as machines:
        made = {
            name: make_site(loaded, name, machine, files)
            for name, machine in zip(SITES, machines, strict=True)
        }
        for site in made.values():
            # These machines have no control groups.
            site.machine.put({**site.files, "cgroup.conf": "CgroupPlugin=disabled\n"})
            site.machine.on("chmod 1777 /srv/slurm; mkdir -p /var/log/slurm")
        start_database(made["alpha"])
        wait_for(lambda: made["alpha"].run("sacctmgr -n show cluster")[0] == 0, "slurmdbd")
        start_database(made["beta"])
        for site in made.values():
            site.up()
            site.machine.start("slurmd -D", "slurmd.log")
        for site in made.values():
            wait_for(partial(is_idle, site), f"slurmd of {site.cluster}")
        yield made


def is_idle(site: Site) -> bool:
    return site.run("sinfo -h -o %T")[1] == "idle"


def states(site: Site, *jobs: str) -> dict[str, tuple[str, ...]]:
    """The states of each job in the accounts, by its id, at every cluster that gave it a node.

    A federated job has a record at each cluster that might have run it; those that did not have no node in it.
    """
    asked = f"sacct -nPXD --federation -S now-2hours -o JobIDRaw,State,NodeList -j {','.join(jobs)}"
    found: dict[str, tuple[str, ...]] = {}
    for line in site.run(asked)[1].splitlines():
        job, state, nodes, *_ = (*line.split("|"), "", "")
        if nodes not in {"", "None assigned"}:
            found[job] = (*found.get(job, ()), state)
    return found


def submit(site: Site, number: int, between: str = "sleep 1") -> str:
    """Submit a job that writes when it begins and when it ends; return its id."""
    script = f"hostname >> /srv/slurm/places; echo begin {number} >> /srv/slurm/lines; {between}; echo end {number} >> /srv/slurm/lines"
    said = site.machine.on(
        f"cd /tmp && sbatch --parsable -n1 --mem=100 -o /dev/null --wrap '{script}'"
    )
    return said.split(";")[0]


def lines(site: Site) -> Counter[str]:
    return Counter(site.machine.on("cat /srv/slurm/lines 2>/dev/null || true").splitlines())


def test_sites_join_while_they_run_and_join_once(sites: dict[str, Site]) -> None:
    for site in sites.values():
        assert "Join the federation" in site.federate()
    for site in sites.values():
        assert site.federate() == [], "the second run changes nothing"
    alpha = sites["alpha"]
    wait_for(
        lambda: alpha.run("scontrol show federation")[1].count("Synced:Yes") == 2, "the federation"
    )
    assert alpha.run("sacctmgr -nP show cluster format=Cluster,Federation,Features")[
        1
    ].splitlines() == [
        "globe-alpha|globe|data-corpus",
        "globe-beta|globe|data-corpus",
        "globe-gamma|globe|",
    ]


def places(site: Site) -> Counter[str]:
    """Return how many jobs began at each machine."""
    return Counter(site.machine.on("cat /srv/slurm/places 2>/dev/null || true").split())


def ended(site: Site) -> int:
    """Return how many jobs have ended."""
    return sum(line.startswith("end") for line in lines(site))


def test_jobs_survive_the_loss_of_a_controller(sites: dict[str, Site]) -> None:
    """A hundred jobs; one controller is killed in the middle; each job is done, and once."""
    alpha, beta, gamma = sites.values()
    # As many as the three have CPUs and some more, however fast they are submitted: none ends before "go".
    early = len(SITES) * CPUS + 6
    hold = "until test -e /srv/slurm/go; do sleep 1; done; sleep 2"
    submitted = [submit((alpha, gamma)[n % 2], n, hold) for n in range(early)]
    wait_for(lambda: places(alpha)[beta.machine.name] == CPUS, "jobs at the controller to be lost")
    state = beta.run("scontrol show config | sed -n 's/^StateSaveLocation *= //p'")[1]
    beta.run("touch /tmp/full")
    submitted += [submit((alpha, gamma)[n % 2], n) for n in range(early, JOBS // 2)]
    # slurmctld writes its jobs a few seconds later; what it never wrote, Slurm itself does again.
    wait_for(lambda: beta.run(f"test {state}/job_state -nt /tmp/full")[0] == 0, "state of jobs")
    beta.machine.on("pkill -9 -x slurmctld")
    try:
        submitted += [submit((alpha, gamma)[n % 2], n) for n in range(JOBS // 2, JOBS)]
        assert len(set(submitted)) == JOBS
        alpha.machine.on("touch /srv/slurm/go")
        wait_for(lambda: ended(alpha) > JOBS // 2, "half", LONG_S)
    finally:
        alpha.machine.on("touch /srv/slurm/go")
        beta.up()
    wait_for(lambda: ended(alpha) >= JOBS, "all jobs", LONG_S)
    counted = lines(alpha)
    wanted = {f"{word} {n}" for word in ("begin", "end") for n in range(JOBS)}
    assert counted == Counter(wanted), "none lost, none twice"
    # Of jobs that ran at the lost controller and ended meanwhile the accounts may have another end than they had:
    # still running, until an operator asks for runaway jobs, or cancelled as a copy that was not needed any more.
    beta.run("sacctmgr --immediate show runawayjobs")

    def odd() -> dict[str, tuple[str, ...]]:
        return {
            job: found
            for job, found in states(alpha, *submitted).items()
            if found != ("COMPLETED",)
        }

    wait_for(
        lambda: set(states(alpha, *submitted)) == set(submitted), "each job in the accounts", LONG_S
    )
    wait_for(lambda: len(odd()) <= CPUS, "no more than ran at the lost controller", LONG_S)
    found = states(alpha, *submitted)
    assert {len(one) for one in found.values()} == {1}, "with one node that it had"
    by_site = places(alpha)
    print(f"jobs by site: {dict(by_site)}; accounts differ for {len(odd())}")
    assert set(by_site) == {site.machine.name for site in sites.values()}, "all three had some"


def test_a_site_leaves_and_comes_back(sites: dict[str, Site]) -> None:
    alpha, _, gamma = sites.values()
    assert gamma.federate(state="leave") == ["Set the state in the federation"]
    question = "sacctmgr -nP show cluster globe-gamma format=Federation"
    wait_for(lambda: alpha.run(question)[1] == "", "gamma to leave")
    assert gamma.federate(state="leave") == [], "it has left"
    job = submit(gamma, 1000)
    wait_for(lambda: lines(alpha)["end 1000"] == 1, f"job {job}: gamma goes on alone")
    assert "Join the federation" in gamma.federate(state="active")
    wait_for(
        lambda: gamma.run("scontrol show federation")[1].count("Synced:Yes") == 2, "the federation"
    )
    assert gamma.federate(state="active") == []


def test_the_replica_becomes_the_database(sites: dict[str, Site]) -> None:
    """MariaDB and slurmdbd of the first site die; jobs go on, and the replica has all of them."""
    alpha, beta, gamma = sites.values()
    before = submit(gamma, 2000)
    wait_for(lambda: states(gamma, before) == {before: ("COMPLETED",)}, "the job before")
    wait_for(lambda: copies_are_equal(alpha, beta), "the copy")
    alpha.machine.on("pkill -9 -x slurmdbd; pkill -9 -x mariadbd")
    during = submit(gamma, 2001)
    wait_for(lambda: lines(alpha)["end 2001"] == 1, "a job without a database")
    assert beta.database is not None
    sql(beta, beta.database.value(beta.database.values["slurm_database_promote_statement"]))
    beta.machine.start("slurmdbd -D -v", "slurmdbd.log")
    wait_for(lambda: states(gamma, before, during) == dict.fromkeys((before, during), ("COMPLETED",)),
             "the accounts of the replica", LONG_S)  # fmt: skip
    after = submit(gamma, 2002)
    wait_for(lambda: states(gamma, after) == {after: ("COMPLETED",)}, "the job after", LONG_S)


def copies_are_equal(primary: Site, replica: Site) -> bool:
    said = sql(replica, "SHOW SLAVE STATUS\\G")
    assert not re.search(r"Last_SQL_Errno: [1-9]", said), said  # of the network it tries again
    question = "SELECT COUNT(*) FROM slurm_acct_db.`globe-gamma_job_table` WHERE state = 3"
    return sql(primary, question) == sql(replica, question)
