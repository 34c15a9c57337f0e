"""A year of one cluster on the embedded AWS: it waits for capacity, loses its credentials, grows and loses machines.

Jobs run through all of it, under a real slurmctld with a slurmd for each instance. AWS takes time, and the runs are those
of a CI job that takes a role.
"""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from e2e.conftest import Lab
from elastic_hall import (
    SCHEDULER,
    ElasticHall,
    elastic_hall,
    journal,
    living,
    own_network,
    slurm_of,
)
from rackwright.provision.targets import embedded_variables
from rackwright.provision.tools.aws_provider import attach_plugin, need_aws_provider
from rackwright_lab.embedded_aws import control

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(2400),
    pytest.mark.soak(reason="once, under load, slurmd failed to begin its first job"),
]
NAME, AWS = "year", ("--target", "aws")
TIME = {"make_s": 3, "launch_s": 2, "see_after": 2, "throttle_every": 40, "token_s": 3600}
"""Minutes of AWS in seconds, the throttling of a busy account, and credentials of an hour."""
ROLE = "arn:aws:iam::123456789012:role/apply"
SMALL, LARGE = "10.20.0.0/26", "10.20.64.0/20"
SPOT = 24
TWO_PARTITIONS = SCHEDULER.replace(
    "max_time: 7-00:00:00}]", "max_time: 7-00:00:00}, {name: spot, groups: [spot], spot: true}]"
)
GROUP = f"""      - name: spot
        type: p5.48xlarge
        count: {{min: 0, max: {SPOT}}}
        capacity: {{kind: spot, max_price: 25 USD/h}}
        image: ami-0123456789abcdef0
        root_volume: 500 GiB
    file_systems:"""


@dataclass(frozen=True)
class Account(Lab):
    """An AWS account that a CI job reaches by a role: the embedded one."""

    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self.variables}

    @property
    def token(self) -> Path:
        """File with the identity token of the job."""
        return self.folder / "token"

    def begin_job(self, lives_s: float = 300) -> None:
        """Write an identity token that expires after ``lives_s``, as the runner of a job does once."""
        expires = json.dumps({"aud": "sts.amazonaws.com", "exp": time.time() + lives_s})
        parts = (b'{"alg": "RS256"}', expires.encode(), b"{}")
        encoded = (base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
        self.token.write_text(".".join(encoded))

    def up(self, blueprint: Path, expect: int = 0) -> str:
        """Run ``up`` as a job of its own."""
        self.begin_job()
        return self.run("up", blueprint, *AWS, "--yes", expect=expect)

    def hosts(self, blueprint: Path, expect: int = 0) -> dict[str, tuple[str, str]]:
        """Return instance and address of each node that always runs, by ``status``."""
        self.begin_job()
        told = json.loads(self.run("status", blueprint, *AWS, "--json", expect=expect))
        found = told["nodes"]["train"]
        return {
            host: (one, found["private_ips"][host]) for host, one in found["instance_ids"].items()
        }

    def nodes(self) -> Counter[str]:
        """Return the number of instances of each compute node that run or start."""
        alive = {"Name": "instance-state-name", "Values": ["pending", "running"]}
        pages = self.client("ec2").get_paginator("describe_instances").paginate(Filters=[alive])
        return Counter(
            tag["Value"]
            for page in pages
            for held in page["Reservations"]
            for one in held["Instances"]
            for tag in one["Tags"]
            if tag["Key"] == "rackwright:host"
        )

    def suspended(self) -> set[str]:
        """Return the processes of the Auto Scaling group that are suspended."""
        (group,) = self.client("autoscaling").describe_auto_scaling_groups(
            AutoScalingGroupNames=[f"{NAME}-cloud-train"]
        )["AutoScalingGroups"]
        return {one["ProcessName"] for one in group["SuspendedProcesses"]}

    def subnets(self) -> dict[str, str]:
        """Return the id of each subnet of the VPC by its network."""
        found = self.client("ec2").describe_subnets()["Subnets"]
        ours = [one for one in found if one["CidrBlock"].startswith("10.20.")]
        made = {one["CidrBlock"]: one["SubnetId"] for one in ours}
        assert len(made) == len(ours), "no subnet is there twice"
        return made


@pytest.fixture(scope="module", autouse=True)
def network() -> Iterator[None]:
    """Put what this module starts into a network of its own."""
    with own_network():
        yield


@pytest.fixture(
    params=[
        "REPLAY_ONLY",
        pytest.param("", marks=pytest.mark.soak(reason="the provider pauses as on AWS: minutes")),
    ],
    ids=["without pauses", "with the provider's pauses"],
)
def account(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Account]:
    state = tmp_path / "state/local/embedded-aws"
    state.mkdir(parents=True)
    embedded = control.start(state)
    home, backend = tmp_path / "pulumi-home", tmp_path / "states"
    backend.mkdir()
    attach_plugin(need_aws_provider(), home)
    variables = {
        **embedded_variables(embedded.endpoint, home),
        "VCR_MODE": request.param,
        "AWS_ENDPOINT_URL_STS": embedded.endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_ROLE_ARN": ROLE,
        "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"),
        "AWS_ACCESS_KEY_ID": "",
        "PULUMI_BACKEND_URL": f"file://{backend}",
        "PULUMI_CONFIG_PASSPHRASE": "a passphrase of this test",
    }
    yield Account(tmp_path, variables)
    control.stop(state)


def blueprint(account: Account, count: int, *subnets: str) -> Path:
    """Write the cluster at one time of its year: ``count`` nodes that always run, and spot nodes."""
    zones = "      availability_zones: [us-east-1a]\n"
    path = account.blueprint(
        NAME,
        **{
            "count: 2": f"count: {count}",
            zones: f"{zones}      cluster_subnets: [{', '.join(subnets)}]\n",
            "L-417A185B: 4096": "L-417A185B: 4096, L-C4BD4855: 8192",
            "    file_systems:": GROUP,
        },
    )
    path.write_text(path.read_text() + TWO_PARTITIONS)
    return path


def submit(hall: ElasticHall, partition: str, nodes: int, *more: str) -> str:
    """Submit a job that runs until the test lets it end, and writes a line for each start; return its number."""
    gate, starts = hall.folder / "go", hall.folder / "starts"
    script = f"echo $SLURM_JOB_ID >> {starts}; until test -e {gate}-$SLURM_JOB_ID; do sleep 1; done"
    words = (
        "--parsable",
        "--requeue",
        "--exclusive",
        f"-p{partition}",
        f"-N{nodes}",
        "-t60",
        *more,
    )
    return hall.call("sbatch", *words, "-o/dev/null", "-D/tmp", f"--wrap={script}").strip()


def job(hall: ElasticHall, number: str) -> dict[str, str]:
    """Return the fields of a job."""
    shown = hall.call("scontrol", "-o", "show", "job", number).split()
    return dict(word.split("=", 1) for word in shown if "=" in word)


def starts(hall: ElasticHall) -> Counter[str]:
    """Return how often each job has started."""
    return Counter((hall.folder / "starts").read_text().split())


def wait_for_job(hall: ElasticHall, number: str, state: str) -> dict[str, str]:
    """Wait until a job is in a state, and return its fields."""
    hall.wait_for(
        lambda: job(hall, number)["JobState"] == state, f"job {number} {state}", each=[hall.join]
    )
    return job(hall, number)


def cut_off(account: Account, path: Path) -> str:
    """Run ``up`` with credentials that expire once it has begun to change the network; return what it says."""
    account.begin_job()
    before = len(account.calls())
    process = subprocess.Popen(
        account.command("up", path, *AWS, "--yes"),
        env=account.environment,
        cwd=account.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        while "CreateSubnet" not in account.calls()[before:]:
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.05)
        account.begin_job(lives_s=-1)
        account.pace(**{**TIME, "token_s": 0.001})
        said = process.communicate()[0]
    account.pace(**TIME)
    assert process.returncode == 4, said
    assert "Traceback" not in said, said
    return said


def test_year_of_a_cluster_loses_no_job_and_launches_nothing_twice(account: Account) -> None:
    lab = account
    lab.pace(**TIME)
    ec2 = lab.client("ec2")

    # Two of four nodes are to be had, and then all.
    first = blueprint(lab, 4, SMALL)
    lab.capacity(p5_48xlarge=2)
    lab.up(first, expect=10)
    two = lab.hosts(first, expect=10)
    assert set(two) == {"train-1", "train-2"}
    assert lab.suspended() == {"AZRebalance", "ReplaceUnhealthy"}
    lab.up(first, expect=10)
    assert lab.hosts(first, expect=10) == two
    lab.capacity(p5_48xlarge=None)
    lab.up(first)
    four = lab.hosts(first)
    assert set(four) == {f"train-{number}" for number in range(1, 5)}
    assert {name: four[name] for name in two} == two

    hall = elastic_hall(lab, first)
    hall.static = {host: address for host, (_, address) in four.items()}
    with hall:
        hall.serve()
        hall.wait_for(lambda: set(four) <= hall.states("IDLE"), "the four nodes")
        long = submit(hall, "train", 4)
        wait_for_job(hall, long, "RUNNING")

        # Twelve do not fit into the subnet: the check says so before anything is changed.
        lab.run("check", blueprint(lab, 12, SMALL), expect=5)
        grown = blueprint(lab, 12, SMALL, LARGE)
        said = cut_off(lab, grown)
        assert "ExpiredToken" in said
        assert lab.nodes() == Counter(list(four))
        lab.up(grown)
        twelve = lab.hosts(grown)
        assert set(twelve) == {f"train-{number}" for number in range(1, 13)}
        assert {name: twelve[name] for name in four} == four, "no host got another name or machine"
        assert lab.nodes() == Counter(list(twelve))
        subnets = lab.subnets()
        assert {SMALL, LARGE} <= set(subnets)

        wider = "count: 12\n        name_digits: 2"
        renamed = first.with_name("renamed.yaml")
        renamed.write_text(grown.read_text().replace("count: 12", wider, 1))
        lab.up(renamed, expect=2)

        new = {host: twelve[host][1] for host in set(twelve) - set(four)}
        hall.static = {host: address for host, (_, address) in twelve.items()}
        hall.restart(*slurm_of(grown))
        hall.serve(new)
        hall.wait_for(lambda: set(new) <= hall.states("IDLE"), "the eight more nodes")
        assert job(hall, long)["JobState"] == "RUNNING"
        assert (job(hall, long)["Restarts"], starts(hall)[long]) == ("0", 1)

        # The first subnet has no address left: Slurm's nodes come in the other one.
        (told,) = ec2.describe_subnets(SubnetIds=[subnets[SMALL]])["Subnets"]
        for _ in range(told["AvailableIpAddressCount"]):
            ec2.create_network_interface(SubnetId=subnets[SMALL])
        spot = submit(hall, "spot", 2)
        wait_for_job(hall, spot, "RUNNING")
        launched = hall.instances()
        assert {one["SubnetId"] for one in launched} == {subnets[LARGE]}
        assert {one["InstanceLifecycle"] for one in launched} == {"spot"}
        assert len(launched) == 2

        # AWS takes one of them back: the job is queued again, and runs to its end on others.
        taken = launched[0]["InstanceId"]
        lab.take_back(taken)
        hall.run("sweep")
        hall.wait_for(lambda: job(hall, spot)["JobState"] != "RUNNING", "the queue")
        lab.take_back(taken, end=True)
        with journal(hall) as known:
            for one in known["launches"].values():
                one["at"] = 0  # they were launched long ago
        hall.run("sweep")
        hall.call("scontrol", "update", f"JobId={spot}", "StartTime=now")
        wait_for_job(hall, spot, "RUNNING")
        assert job(hall, spot)["Restarts"] == "1"
        assert taken not in {one["InstanceId"] for one in hall.instances()}
        assert max(living(lab).values()) == 1

        # The host of another one fails: AWS says so for five minutes, and the job runs on others again.
        (broken, *_) = hall.instances()
        node = next(tag["Value"] for tag in broken["Tags"] if tag["Key"] == "rackwright:host")
        lab.impair(broken["InstanceId"], since_s=300)
        hall.run("sweep")
        assert node in hall.states("DOWN")
        assert broken["InstanceId"] in hall.nodes()[node]["Reason"]
        assert broken["InstanceId"] not in {one["InstanceId"] for one in hall.instances()}
        hall.call("scontrol", "update", f"JobId={spot}", "StartTime=now")
        wait_for_job(hall, spot, "RUNNING")
        assert job(hall, spot)["Restarts"] == "2"

        # The node itself accepts jobs again after its pause.
        with journal(hall) as known:
            known["failures"][node]["at"] = 0  # it failed long ago
        hall.run("sweep")
        hall.wait_for(lambda: node not in hall.states("DOWN"), "the node whose host failed")
        assert node not in hall.states("DRAIN")

        # All jobs end, each once, and in the idle night no instance of Slurm is left.
        for number in (long, spot):
            (hall.folder / f"go-{number}").touch()
            wait_for_job(hall, number, "COMPLETED")
        assert starts(hall) == {long: 1, spot: 3}
        elastic = {f"spot-{number}" for number in range(1, SPOT + 1)}
        hall.wait_for(
            lambda: not living(lab), "the idle night", each=[lambda: hall.run("sweep"), hall.join]
        )
        hall.wait_for(lambda: elastic <= hall.states("POWERED_DOWN"), "power down")
        assert lab.nodes() == Counter(list(twelve))
        assert lab.hosts(grown) == twelve
        assert "NODE_FAIL" not in (hall.folder / "slurmctld.log").read_text()
