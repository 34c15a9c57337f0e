"""A cluster on AWS from `up` to its end: instances of the embedded AWS are machines of a lab, born as ``ip-10-…``.

They get their names by the user data of their launch, which the cloud-init of Debian runs. Users and Ansible come in by
the public address of the login node.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from e2e.conftest import IMAGE, Lab
from instances import NETWORK, USER, Instances, some_instances
from lab_support import LAB_MARKS
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
NAME = "born"
BEGUN = ("--target", "local")

BLUEPRINT = f"""
apiVersion: rackwright/v1
name: {NAME}
policy_set: "0.1"
sites:
  - name: cloud
    provider: aws
    region: us-east-1
    network:
      cidr: {NETWORK}
      availability_zones: [us-east-1a]
      nat: single
      endpoints: [s3]
      ssh_from: ["5.5.5.0/24"]
      dns_zone: {NAME}.internal
    access: {{user: {USER}, key_pair: platform, connect: jump}}
    head: &server {{type: m7i.4xlarge, image: {IMAGE}, root_volume: 100 GiB}}
    login: *server
    node_groups:
      - name: train
        type: p5.48xlarge
        count: 2
        capacity: {{kind: on-demand}}
        image: {IMAGE}
        root_volume: 500 GiB
    limits:
      recorded: 2026-11-21
      quotas: {{L-417A185B: 4096, L-1216C47A: 1024}}
scheduler:
  kind: slurm
  version: "22.05"
  controllers: [{{host: head-1}}]
  topology: {{plugin: flat}}
  partitions: [{{name: train, groups: [train], default: true}}]
  processes: {{tracking: linuxproc, tasks: [none], accounting: none, contain: false}}
  return_to_service: 2
  # A slow machine takes longer than the five minutes for which Slurm remembers a job.
  extra: {{SlurmdParameters: config_overrides, MinJobAge: 86400}}
"""


@dataclass
class Site:
    """The command line, the machines, and what is known of the hosts."""

    cloud: Lab
    instances: Instances
    blueprint: Path
    jump: str = ""
    addresses: dict[str, str] = field(default_factory=dict)

    @property
    def inventory(self) -> Path:
        """How a team says which settings of ssh Ansible takes, and what it leaves out here."""
        path = self.cloud.folder / "team.json"
        own = {
            "ansible_ssh_extra_args": f"-F {self.instances.ssh_config}",
            "configure_monitoring": False,
            "configure_backups": False,
        }
        path.write_text(json.dumps({"all": {"vars": own}}))
        return path

    def run(self, verb: str, *more: object, expect: int = 0) -> str:
        return self.cloud.run(verb, self.blueprint, *BEGUN, *more, expect=expect)

    def look(self) -> dict[str, str]:
        """The instances of the node group by host, as `status` tells them; where hosts are is kept."""
        told = json.loads(self.run("status", "--json"))
        (self.cloud.folder / "outputs.json").write_text(json.dumps(told))
        (cluster,) = [one for one in told["stacks"] if one["stack"] == "aws-cluster"]
        servers, nodes = cluster["outputs"]["servers"], told["nodes"]["train"]
        (self.jump,) = servers["login"]["public_ips"].values()
        private = (servers["head"], servers["login"], nodes)
        self.addresses = {
            host: there for one in private for host, there in one["private_ips"].items()
        }
        return dict(nodes["instance_ids"])

    def configure(self) -> None:
        """What a user does after `up`."""
        self.look()
        plugin = self.cloud.folder / "cloud.rackwright.yml"
        plugin.write_text(
            "plugin: rackwright.cluster.blueprint\n"
            f"blueprint: {self.blueprint}\noutputs: {self.cloud.folder}/outputs.json\n"
        )
        options = [f"--inventory={path}" for path in (plugin, self.inventory)]
        self.cloud.run("configure", self.blueprint, *options)

    def on(self, host: str, command: str, *, check: bool = True) -> str:
        """What ``command`` prints on a host, which is reached as a user reaches it."""
        way = [f"{USER}@{self.jump}"]
        if host != "login-1":
            way = ["-J", f"{USER}@{self.jump}", f"{USER}@{self.addresses[host]}"]
        words = ["ssh", "-F", str(self.instances.ssh_config), *way, command]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900)
        assert self.instances.trouble is None, self.instances.trouble
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def is_named(self, host: str) -> bool:
        return self.on(host, "hostname", check=False) == host

    def interrupt(
        self, verb: str, *more: object, at: str, meanwhile: Mapping[str, Callable[[], object]]
    ) -> None:
        """Begin a command, do things when it says parts of lines, and interrupt it when it says ``at``."""
        words = self.cloud.command(verb, self.blueprint, *BEGUN, *more)
        process = subprocess.Popen(
            words,
            env=self.cloud.environment,
            cwd=self.cloud.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        said = ""
        with process:
            for line in process.stderr:
                said += line
                for part, do in meanwhile.items():
                    if part in line:
                        do()
                if at in line:
                    process.send_signal(signal.SIGINT)
        assert at in said, said
        assert process.returncode not in {0, None}, said
        assert "Traceback" not in said, said

    def runs(self, job: str) -> bool:
        return "JobState=RUNNING" in self.on("login-1", f"scontrol --oneliner show job {job}")

    def types(self) -> dict[str, str]:
        """The type of each instance of the node group that is there."""
        wanted = [
            {"Name": "tag:rackwright:cluster", "Values": [NAME]},
            {"Name": "tag:rackwright:host", "Values": ["train-*"]},
            {"Name": "instance-state-name", "Values": ["pending", "running"]},
        ]
        told = self.cloud.client("ec2").describe_instances(Filters=wanted)["Reservations"]
        return {
            one["InstanceId"]: one["InstanceType"] for part in told for one in part["Instances"]
        }

    def change(self, old: str, new: str) -> None:
        text = self.blueprint.read_text()
        assert text.count(old) == 1, old
        self.blueprint.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def site(lab: Lab) -> Iterator[Site]:
    path = lab.folder / f"{NAME}.yaml"
    path.write_text(BLUEPRINT)
    with some_instances(lab.folder, lab, NAME) as instances:
        made = Site(lab, instances, path)
        made.run("up", "--yes")
        yield made


def test_hosts_are_born_with_names_of_ec2_and_take_those_of_the_plan(site: Site) -> None:
    site.look()
    assert set(site.addresses) == {"head-1", "login-1", "train-1", "train-2"}
    for host, address in site.addresses.items():
        named = wait_for(partial(site.is_named, host), 900, 2)
        assert named, (host, site.on(host, "hostname; cloud-init status --long", check=False))
        born = f"ip-{address.replace('.', '-')}"
        assert (
            born in site.on(host, "sudo journalctl -b -o short | cut -d' ' -f4 | sort -u").split()
        )
    for host in site.addresses:
        for other, there in site.addresses.items():
            assert site.on(host, f"getent ahostsv4 {other}").split()[0] == there


def test_private_hosts_are_reached_through_the_login_node_alone(site: Site) -> None:
    words = [
        "ssh",
        "-F",
        str(site.instances.ssh_config),
        f"{USER}@{site.addresses['train-1']}",
        "id",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, "timed out" in done.stderr) == (255, True), done.stderr
    assert f"({USER})" in site.on("train-1", "id")


def test_they_become_a_cluster_that_runs_a_job_across_nodes(site: Site) -> None:
    site.configure()
    ran = site.on("login-1", "srun --chdir=/ -N2 hostname")
    assert sorted(ran.split()) == ["train-1", "train-2"]
    refused = site.on(
        "train-1", "curl -s -m 5 http://169.254.169.254/latest/meta-data/", check=False
    )
    assert refused == ""


def test_another_type_rolls_through_the_group_and_no_job_is_killed(site: Site) -> None:
    """`up --waves` is interrupted at three steps of its first node, and goes on.

    The job ends once the second run waits for it.
    """
    before = site.look()
    work = "until test -e /tmp/enough; do sleep 1; done"
    sent = f"sbatch --parsable --chdir=/tmp --output=/dev/null --nodelist=train-1 --wrap '{work}'"
    job = site.on("login-1", sent)
    assert wait_for(partial(site.runs, job), 900, 2)
    meanwhile: dict[str, Callable[[], object]] = {}
    site.change("type: p5.48xlarge", "type: p5en.48xlarge")
    waves = ("--inventory", site.inventory, "--launch-timeout", "10 min")
    begun = ["--waves", "unit", "--wave-limit", "1"]
    states = {"draining": "RUNNING", "ending i-": "COMPLETED", "verifying": "COMPLETED"}
    for mark, state in states.items():
        site.interrupt("up", "--yes", *begun, *waves, at=mark, meanwhile=meanwhile)
        shown = site.on("login-1", f"scontrol --oneliner show job {job}")
        assert (f"JobState={state}" in shown, "Restarts=0" in shown) == (True, True), (mark, shown)
        begun = ["--resume"]
        meanwhile["1 job still running on train-1"] = partial(
            site.on, "train-1", "touch /tmp/enough"
        )
    site.run("up", "--yes", *begun, *waves)
    after = site.look()
    assert set(after) == set(before)
    assert not set(after.values()) & set(before.values()), "each host has another instance"
    assert site.types() == dict.fromkeys(after.values(), "p5en.48xlarge")
    assert site.instances.born == 4 + 2, "and none has been launched twice"
    ran = site.on("login-1", "srun --chdir=/ -N2 hostname")
    assert sorted(ran.split()) == ["train-1", "train-2"]
    site.run("up", "--yes")  # ends with 8 where a node is outdated


def test_a_group_that_gets_smaller_loses_the_nodes_that_were_drained(site: Site) -> None:
    before = site.look()
    site.change("count: 2", "count: 1")
    site.run("up", "--yes", expect=2)
    site.run("replace", "--yes", "--surplus", "--inventory", site.inventory)
    site.run("up", "--yes")
    assert site.look() == {"train-1": before["train-1"]}
    site.configure()
    assert site.on("login-1", "sinfo -h -N -o %N") == "train-1"
    assert site.on("login-1", "srun --chdir=/ hostname") == "train-1"
