"""QOS on one machine of a lab: in slurmdbd before a partition names one, and what jobs make of them.

At the end its database and its state are lost, and brought back.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

from lab_snapshots import configured_machines
from lab_support import LAB_MARKS, Played, Refused
from rackwright_lab.system import wait_for
from small_cluster import (
    ASSOCIATIONS,
    CLUSTER,
    EVERY,
    HEAD,
    LATER,
    QOS_NAMES,
    SLURM,
    URGENT,
    Machine,
)

pytestmark = LAB_MARKS


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("qos")
    with configured_machines(folder, "qos", "10.214.1.0/24", CLUSTER) as machines:
        yield Machine(machines, folder)


def test_a_second_run_changes_nothing_and_a_check_foresees_nothing(machine: Machine) -> None:
    assert machine.play(*EVERY).changed == 0
    foreseen = machine.play(*EVERY, arguments=["--check", "--diff"])
    assert foreseen.changed == 0
    assert "+++ " not in foreseen.output


def test_slurmdbd_has_the_qos_and_every_account_may_use_them(machine: Machine) -> None:
    assert machine.qos_there() == [
        "normal|0||cluster|00:00:00||",
        "scavenger|0||requeue|00:00:00|2-01:00:00|node=8",
        "urgent|1000|scavenger|cluster|1-01:01:01||gres/gpu=1",
    ]
    allowed = machine.on("sacctmgr -nP show associations user=ada format=QOS")
    assert sorted(allowed.split(",")) == ["normal", "scavenger", "urgent"]


def test_a_job_gives_way_to_an_urgent_one_and_finishes_afterwards(machine: Machine) -> None:
    low = machine.send("scavenger", 20)
    assert wait_for(lambda: machine.state(low) == "RUNNING 0", 300, 1), machine.state(low)
    high = machine.send("urgent", 1)
    assert wait_for(lambda: machine.state(high) == "COMPLETED 0", 300, 1), machine.state(high)
    assert machine.state(low).endswith(" 1"), "it was put into the queue again"
    # Slurm waits two minutes before a job that was requeued begins.
    machine.on(f"scontrol update job={low} starttime=now")
    assert wait_for(lambda: machine.state(low) == "COMPLETED 1", 300, 1), machine.state(low)
    many = machine.on(
        "su ada -c 'cd /tmp; sbatch --parsable --qos=urgent --gres=gpu:2 --wrap true'"
    )
    why = f"squeue --noheader --jobs={many} --format=%r"
    assert wait_for(lambda: machine.on(why) == "QOSMaxGRESPerUser", 300, 1), machine.on(why)
    machine.on(f"scancel {many}")


def test_jobs_of_one_gpu_share_a_node_that_the_first_would_have_whole(machine: Machine) -> None:
    """With the lines that ``render`` writes for partitions, and in a partition without them."""
    options = "--gres=gpu:1 --output=/dev/null --parsable --wrap 'sleep 60'"

    def two(partition: str) -> list[str]:
        send = f'su ada -c "cd /tmp; sbatch --partition={partition} {options}"'
        return [machine.on(send) for _ in range(2)]

    shared = two("shares")
    running = ["RUNNING 0", "RUNNING 0"]
    assert wait_for(lambda: [machine.state(job) for job in shared] == running, 300, 1)
    for job in shared:
        assert "TRES=cpu=2,mem=250M,node=1," in machine.on(f"scontrol show job {job}")
    machine.on(f"scancel {' '.join(shared)}")
    first, second = whole = two("all")
    assert wait_for(lambda: machine.state(first) == "RUNNING 0", 300, 1), machine.state(first)
    assert "mem=500M" in machine.on(f"scontrol show job {first}")
    why = f"squeue --noheader --jobs={second} --format=%r"
    assert wait_for(lambda: machine.on(why) == "Resources", 300, 1), machine.on(why)
    machine.on(f"scancel {' '.join(whole)}")


def test_no_job_starts_that_would_outlive_a_capacity_block(machine: Machine) -> None:
    def reserved(minutes: int) -> dict[str, Any]:
        start = f"{dt.datetime.now(dt.UTC) + dt.timedelta(minutes=minutes):%Y-%m-%dT%H:%M:00Z}"
        return {"name": "rackwright-cr-0123456789abcdef0", "nodes": "gpu-1", "start": start}

    def play(wanted: list[dict[str, Any]], *arguments: str) -> Played:
        given: dict[str, Any] = {"slurm_controller_reservations": wanted}
        return machine.play("slurm_controller", arguments=("--tags", "run", *arguments), **given)

    def told() -> str:
        return machine.on("scontrol --oneliner show reservation || true")

    def send(minutes: int) -> str:
        options = f"--parsable --time={minutes} --output=/dev/null --wrap 'sleep 45'"
        return machine.on(f'su ada -c "cd /tmp; sbatch {options}"')

    machine.on(
        "scontrol create ReservationName=team Users=root StartTime=now+90days Duration=1 Nodes=ALL"
    )
    running = send(600)
    assert wait_for(lambda: machine.state(running) == "RUNNING 0", 300, 1), machine.state(running)
    block = [reserved(60)]
    foreseen = play(block, "--check", "--diff")
    assert foreseen.changed == 1
    assert "rackwright-cr-0123456789abcdef0" not in told()
    made = play(block)
    assert made.changed == 1
    assert (
        f"may do so beyond the start of the reservation '{block[0]['name']}': {running}"
        in " ".join(made.output.split())
    )
    assert play(block).changed == 0
    machine.on(f"scancel {running}")
    long, short = send(600), send(1)
    assert wait_for(lambda: machine.state(short).startswith("COMPLETED"), 300, 1), machine.state(
        short
    )
    assert machine.state(long) == "PENDING 0", "it could still run when the block ends"
    # The block was extended by a day; later it has ended, which cannot be moved but made again.
    extended = [reserved(60 + 1440)]
    assert play(extended).changed == 1
    assert wait_for(lambda: machine.state(long) == "RUNNING 0", 300, 1), machine.state(long)
    machine.on(f"scancel {long}")
    ended = [reserved(-60)]
    assert play(ended).changed == 1
    assert "State=ACTIVE" in told()
    assert play(ended).changed == 0
    assert play(extended).changed == 1
    assert play([]).changed == 1
    left = told()
    assert "ReservationName=team" in left
    assert "rackwright-" not in left
    machine.on("scontrol delete ReservationName=team")


def test_a_controller_that_starts_with_its_slurmdbd_is_registered(machine: Machine) -> None:
    """As after a boot; slurmctld 22.05 that found no slurmdbd never was, as long as it ran."""
    machine.on("systemctl stop slurmctld slurmdbd mariadb")
    machine.on("systemctl start slurmctld slurmdbd mariadb")
    assert wait_for(lambda: machine.on("scontrol ping || true").count(" is UP") == 1, 300, 1)
    told = machine.on("sacctmgr -nP show cluster format=Cluster,ControlPort")
    assert told.strip() == "small|6817"


TREE = [{"name": "research", "share": 3}, {"name": "product", "max_gpus": 1}]


def test_the_account_that_has_used_less_than_its_share_starts_first(machine: Machine) -> None:
    ada, bob = ({"name": name, "uid": uid, "group": "research", "slurm_account": account}
                for name, uid, account in (("ada", 20001, "research"), ("bob", 20002, "product")))  # fmt: skip
    given: dict[str, Any] = {
        "users_tree": TREE,
        "users_cluster": "small",
        "users_accounts": [ada, bob],
    }
    machine.play("users", ASSOCIATIONS, **given)
    assert machine.play(ASSOCIATIONS, **given).changed == 0
    foreseen = machine.play(ASSOCIATIONS, arguments=["--check", "--diff"], **given)
    assert foreseen.changed == 0
    fields = "format=Account,ParentName,Share,GrpTRES,User"
    tree = machine.on(f"sacctmgr -nP show associations cluster=small {fields}").split()
    assert {"research|root|3||", "product|root|1|gres/gpu=1|"} <= set(tree), tree

    def send(user: str, seconds: int, *options: str) -> str:
        words = " ".join(("--parsable", "--cpus-per-task=4", "--output=/dev/null", *options))
        return machine.on(f"su {user} -c 'cd /tmp; sbatch {words} --wrap \"sleep {seconds}\"'")

    def shares(of: str) -> dict[str, float]:
        rows = machine.on(f"sshare -nP -a -o User,{of}").splitlines()
        return {user: float(told or 0) for user, told in (row.split("|") for row in rows) if user}

    def usage() -> dict[str, float]:
        return shares("RawUsage")

    def ranks() -> dict[str, float]:
        return shares("FairShare")

    # The one with a quarter of the shares uses the machine, and then both want it: ada's comes first,
    # though it was sent last.
    for who in ("user where name=ada account=research", "account where name=research"):
        machine.on(f"sacctmgr -i modify {who} cluster=small set RawUsage=0")  # of what ran before
    used = send("bob", 20)
    assert wait_for(lambda: machine.state(used).startswith("COMPLETED"), 300, 1), machine.state(
        used
    )
    assert wait_for(lambda: usage()["bob"] > usage()["ada"], 300, 1), usage()
    # Priorities follow usage from the next calculation on, once a minute.
    assert wait_for(lambda: ranks()["bob"] < ranks()["ada"], 300, 1), ranks()
    root = "cd /tmp; sbatch --parsable --cpus-per-task=4 --output=/dev/null --wrap 'sleep 15'"
    blocking = machine.on(root)
    assert wait_for(lambda: machine.state(blocking).startswith("RUNNING"), 300, 1)
    last, first = send("bob", 1), send("ada", 1)
    priorities = machine.on(f"sprio -h -o '%i %Y' -j {last},{first}").splitlines()
    by_job = {row.split()[0]: int(row.split()[1]) for row in priorities}
    assert by_job[first] > by_job[last], (by_job, usage())

    def all_done() -> bool:
        return all(machine.state(job).startswith("COMPLETED") for job in (first, last))

    assert wait_for(all_done, 300, 1), (machine.state(first), machine.state(last))
    starts = machine.on(f"sacct -nXP -j {first},{last} --format=JobID,Start").splitlines()
    began = dict(row.split("|") for row in starts)
    assert began[first] < began[last], began
    many = send("bob", 1, "--gres=gpu:2")
    reason = f"squeue --noheader --jobs={many} --format=%r"
    assert wait_for(lambda: machine.on(reason) == "AssocGrpGRES", 300, 1), machine.on(reason)
    machine.on(f"scancel {many}")

    machine.on(
        "sacctmgr -i modify account where name=product cluster=small set Fairshare=9 Parent=research"
    )
    assert machine.play(ASSOCIATIONS, **given).changed == 1
    assert machine.play(ASSOCIATIONS, **given).changed == 0


def test_what_somebody_has_changed_is_set_again(machine: Machine) -> None:
    limits = "Priority=5 Preempt=normal GraceTime=7 MaxWall=9 MaxTRESPerUser=node=3,cpu=64"
    machine.on(f"sacctmgr -i modify qos where name=urgent set {limits}")
    machine.on("sacctmgr -i modify account where name=root cluster=small set qos-=scavenger")
    foreseen = machine.play("slurm_controller", arguments=["--check"])
    assert foreseen.changed == 1
    assert "would set the QOS 'urgent'" in foreseen.words
    assert machine.play("slurm_controller").changed == 2
    assert "urgent|1000|scavenger|cluster|1-01:01:01||cpu=64,gres/gpu=1" in machine.qos_there()
    allowed = machine.on("sacctmgr -nP show associations user=ada format=QOS")
    assert "scavenger" in allowed
    assert machine.play("slurm_controller").changed == 0


REFUSED: Refused = {
    "a-copy-within-the-state": (
        "slurm_backup",
        {
            "slurm_backup_kind": "state",
            "slurm_backup_of": "/var/spool/slurmctld",
            "slurm_backup_folder": "/var/spool/slurmctld/copies",
        },
        "copies lie outside the state",
    ),
    "a-database-that-is-sql": (
        "slurm_backup",
        {"slurm_backup_kind": "database", "slurm_backup_of": "x; DROP"},
        "a database has a name of small letters",
    ),
    "no-such-qos": (
        "slurm_controller",
        {"slurm_controller_qos": [{**URGENT, "preempts": ["gone"]}]},
        "the QOS 'urgent' of the cluster 'small' cannot be",
    ),
    "a-reservation-in-no-time": (
        "slurm_controller",
        {
            "slurm_controller_reservations": [
                {"name": "rackwright-x", "nodes": "gpu-1", "start": "tomorrow"}
            ]
        },
        "the reservation 'rackwright-x' cannot be",
    ),
    "no-limit": (
        "slurm_controller",
        {"slurm_controller_qos": [{"name": "new", "max_gpus_per_user": 0}]},
        "limits of 1 or more",
    ),
}
"""Variables under which the role must refuse, and what it says."""


def test_the_role_refuses_qos_that_cannot_be(machine: Machine) -> None:
    before = machine.qos_there()
    machine.machines.check_refusals("gpu-1", REFUSED, variables=machine.variables)
    assert machine.qos_there() == before


def test_a_running_controller_survives_a_partition_with_a_new_qos(machine: Machine) -> None:
    (machine.folder / "slurm/slurm.conf").write_text(SLURM + LATER)
    machine.qos.append({"name": "later"})
    machine.play(QOS_NAMES, *EVERY)
    assert "QoS=later" in machine.on("scontrol show partition later")
    assert "fatal" not in machine.on("journalctl --no-pager -u slurmctld")
    allowed = machine.on("sacctmgr -nP show associations user=ada format=QOS")
    assert "later" in allowed.split(",")


def test_daemons_start_again_for_what_they_read_at_their_start_alone(machine: Machine) -> None:
    before = machine.processes()
    (machine.folder / "slurm/slurm.conf").write_text(f"{SLURM}{LATER}MessageTimeout=11\n")
    machine.play("slurm_config")
    assert machine.processes() == before, "they read the new file as they ran"
    assert machine.on("scontrol show config | grep ^MessageTimeout").endswith("= 11 sec")
    (machine.folder / "slurm/slurm.conf").write_text(f"{SLURM}{LATER}MaxJobCount=5000\n")
    played = machine.play("slurm_config")
    assert "slurmctld for MaxJobCount" in played.output
    assert not set(machine.processes()) & set(before)
    job_count = "scontrol show config | grep ^MaxJobCount"
    assert wait_for(lambda: machine.on(f"{job_count} || true").endswith("= 5000"), 300, 1)


def test_files_that_are_generated_no_more_go_and_a_team_s_own_stay(machine: Machine) -> None:
    own = {
        "/etc/slurm/topology.yaml": f"# ours\n{HEAD}",
        "/etc/slurm/acct_gather.conf": HEAD,
    }
    for path, text in own.items():
        machine.on(f"printf %s {text!r} > {path}")
    kept = machine.on(f"sha256sum /etc/slurm/slurmdbd.conf {' '.join(own)}")
    (machine.folder / "slurm/topology.conf").unlink()
    foreseen = machine.play("slurm_config", arguments=["--check", "--diff"])
    assert foreseen.changed >= 1
    machine.on("test -e /etc/slurm/topology.conf")
    machine.play("slurm_config")
    assert machine.on("test -e /etc/slurm/topology.conf || echo gone") == "gone"
    assert machine.on(f"sha256sum /etc/slurm/slurmdbd.conf {' '.join(own)}") == kept
    assert machine.play("slurm_config").changed == 0
    machine.on(f"rm {' '.join(own)}")


COPIES: dict[str, str] = {"database": "slurm_acct_db", "state": "/var/spool/slurmctld"}


def newest(machine: Machine, kind: str) -> str:
    return machine.on(f"ls /var/backups/slurm/{kind}-* | tail -n 1").strip()


def test_a_lost_database_and_a_lost_state_are_as_they_were(machine: Machine) -> None:
    done = machine.on(
        "su ada -c 'cd /tmp; sbatch --parsable --wait --output=/dev/null --wrap true'"
    ).strip()
    held = machine.on(
        "su ada -c 'cd /tmp; sbatch --parsable --hold --output=/dev/null --wrap true'"
    ).strip()
    machine.on("systemctl restart slurmctld")  # which writes its state when it ends
    for kind, of in COPIES.items():
        given: dict[str, Any] = {"slurm_backup_kind": kind, "slurm_backup_of": of}
        assert machine.play("slurm_backup", **given).changed > 0
        assert machine.play("slurm_backup", **given).changed == 0
        foreseen = machine.play("slurm_backup", arguments=["--check", "--diff"], **given)
        assert foreseen.changed == 0
        machine.on(f"systemctl start rackwright-slurm-backup-{kind}.service")
    restore = "rackwright-slurm-backup restore"
    refused = machine.machines.on(
        "gpu-1",
        f"{restore} database slurm_acct_db {newest(machine, 'database')} 2>&1",
        check=False,
    )
    assert "slurmdbd is active; stop it first" in refused
    machine.on("systemctl stop slurmctld slurmdbd; mariadb -e 'DROP DATABASE slurm_acct_db'")
    machine.on("mariadb -e 'CREATE DATABASE slurm_acct_db'; rm -rf /var/spool/slurmctld/*")
    for kind, of in COPIES.items():
        machine.on(f"{restore} {kind} {of} {newest(machine, kind)}")
    machine.on("systemctl start slurmdbd; sleep 5; systemctl start slurmctld")
    assert wait_for(lambda: "PENDING" in machine.state(held), 300, 1.0)
    assert machine.on(f"sacct -nX -j {done} --format=State").strip() == "COMPLETED"
    associations = machine.on("sacctmgr -nP show associations user=ada format=Account")
    assert associations.strip() == "research"


def test_a_log_that_is_too_long_is_taken_away_and_another_begins(machine: Machine) -> None:
    assert (
        machine.on("logrotate --debug /etc/logrotate.conf 2>&1 | grep -c 'duplicate' || true")
        == "0"
    )
    for daemon in ("slurmctld", "slurmd", "slurmdbd"):
        log = f"/var/log/slurm/{daemon}.log"
        machine.on(f"logrotate --force /etc/logrotate.d/{daemon}")
        machine.on(f"test -s {log}.1")
        assert machine.on(f"stat --format %U {log}").strip() == "slurm"
    machine.on("scontrol reconfigure")
    assert wait_for(
        lambda: machine.on("stat --format %s /var/log/slurm/slurmctld.log") != "0", 300, 1.0
    )
