"""Configurations that a release of Slurm is given to read: the golden ones, and a large cluster."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jinja2
import pytest
import yaml

from large_cluster import NODES, large_cluster
from rackwright.model.names import expand_hostlist
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.slurm.releases import Release, name_of
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.render.slurm import render_slurm
from rackwright.resources import bundled
from slurm_releases import Answers, Case

GOLDEN = Path(__file__).parent / "golden/slurm"
BLUEPRINTS: Mapping[str, str] = {"tree": "slurm", "hybrid": "slurm", "blocks": "liquid"}
"""The golden clusters, and the built-in fixtures that they are layers of."""
FIRST_WITH: Mapping[str, Release] = {"blocks": (23, 11)}
"""The release from which on there is what a golden cluster needs."""
TEMPLATES = ("hybrid-h100", "lab")
"""What users begin with, which is read by the release that it names and by those after it."""
LARGE = "large"
RELEASES_MARKS = [
    pytest.mark.e2e,
    pytest.mark.timeout(2400),
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root"),
    pytest.mark.skipif(shutil.which("debootstrap") is None, reason="not installed: debootstrap"),
]
WARNINGS = re.compile(
    r"error:|fatal:|warning|deprecat|obsolete|ignor|defunct|no longer|not recommended",
    re.IGNORECASE,
)
NOT_OF_THE_FILES = (
    "state file",  # there is no state yet
    "backup state save",
    "_shutdown_bu_thread",  # the backup controller does not answer
    "Unexpected missing socket",  # a command has gone before its answer
    "very large processing time",
    "High latency for 1000 calls to gettimeofday",  # of a machine that is busy
    "mpi/pmix",  # of 22.05, whose plugin looks for the library of another build
    "Ending any jobs",
)
ANOTHER_SERVER = (
    "SSL is required, but the server does not support it",  # the older MariaDB's; then without
    "The database must be up when starting",
    "We can't find assoc",  # an account was made before slurmctld had its cluster
)
APART: Mapping[str, tuple[str, ...]] = {
    "hybrid": (
        "no switch can reach all nodes through its descendants",
        "switches lack access to 20 nodes: infer-[1-4],train-[01-16]",
    ),
    "template hybrid-h100": (
        "no switch can reach all nodes through its descendants",
        "switches lack access to 16 nodes: train-[01-16]",
    ),
}
"""What Slurm says in case that it is not intended: nodes on AWS are on no switch of the other site."""


def cases_for(release: Release) -> dict[str, Case]:
    """What a release is given: each golden cluster with the files for that release and with those that
    are kept, where it can read them; and a cluster of 12,500 nodes that nobody resolves."""
    found = {}
    for name in BLUEPRINTS:
        if release < FIRST_WITH.get(name, release):
            continue
        plan = golden_plan(name, release)
        files = dict(render_slurm(plan))
        found[name] = case_of(plan, files)
        layer = yaml.safe_load((GOLDEN / name / "layer.yaml").read_text())
        year, month = layer["scheduler"]["version"].split(".")
        kept = {
            path: (GOLDEN / name / path).read_text()
            for path in files
            if (GOLDEN / name / path).exists()
        }
        if release >= (int(year), int(month)) and kept != files:
            found[f"{name}, as kept"] = case_of(plan, kept)
    for name in TEMPLATES:
        with TemporaryDirectory() as folder:
            plan = load_plan(write_blueprint(find_template(name), Path(folder), {})[0]).plan
        if plan.scheduler is not None and release >= plan.scheduler.release:
            found[f"template {name}"] = case_of(plan, render_slurm(plan))
    plan = large_cluster(version=name_of(release))
    found[LARGE] = Case(render_slurm(plan), "head-1", dict([any_address()]))
    return found


def any_address() -> tuple[str, str]:
    """Return the name that the role slurm_controller gives the address of every interface, and that address."""
    text = (bundled("roles") / "slurm_controller/vars/main.yml").read_text()
    address, name = yaml.safe_load(text)["slurm_controller_any_address"].split()
    return name, address


def golden_plan(name: str, release: Release) -> Plan:
    """A golden cluster with this release, without what the release does not have yet."""
    layer = yaml.safe_load((GOLDEN / name / "layer.yaml").read_text())
    scheduler = layer["scheduler"]
    scheduler["version"] = name_of(release)
    if release < (25, 5):
        for partition in scheduler["partitions"]:
            partition.pop("topology", None)
    if release < (24, 11):
        for nodes in scheduler.get("nodes", ()):
            nodes.pop("detect", None)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "layer.yaml"
        path.write_text(yaml.safe_dump(layer))
        return load_plan(builtin_pack() / f"fixtures/{BLUEPRINTS[name]}.yaml", [path]).plan


def case_of(plan: Plan, files: Mapping[str, str]) -> Case:
    """The files with what they need: names of hosts, QOS and accounts."""
    assert plan.slurm is not None
    scheduler = plan.slurm.scheduler
    servers = [(one.host, one.address) for one in scheduler.controllers]
    accounting: list[tuple[str, ...]] = []
    if scheduler.accounting is not None:
        servers.append((scheduler.accounting.host, scheduler.accounting.address))
        accounting.append(("add", "cluster", plan.slurm.name))
        accounting += [("add", "qos", qos.name) for qos in scheduler.qos]
        accounts = {name for partition in scheduler.partitions for name in partition.allow_accounts}
        accounting += [("add", "account", name) for name in sorted(accounts)]
    backups = {one.host for one in scheduler.controllers[1:]}  # they do not answer
    hosts = {}
    for index, (host, address) in enumerate(servers):
        is_address = address is not None and address.replace(".", "").isdigit()
        hosts[host] = address if is_address and address else f"10.99.1.{index + 1}"
        if address is not None and not is_address:
            hosts[address] = hosts[host]
    own = [hosts[host] for host in dict(servers) if host not in backups]
    nodes = [name for nodes in plan.slurm.nodes for name in expand_hostlist(nodes.hostlist)]
    hosts |= {name: f"10.98.{n // 250}.{n % 250 + 1}" for n, name in enumerate(nodes)}
    return Case(files, servers[0][0], hosts, own, accounting)


def database_config() -> dict[str, str]:
    """What the role ``slurm_database`` writes, with everything that it may have."""
    role = bundled("roles") / "slurm_database"
    variables: dict[str, Any] = yaml.safe_load((role / "defaults/main.yml").read_text())
    variables |= yaml.safe_load((role / "vars/main.yml").read_text())
    variables |= {
        "ansible_managed": "made by a test",
        "ansible_facts": {"memtotal_mb": 32_000},
        "slurm_database_host": "database",
        "slurm_database_keep_days": dict.fromkeys(variables["slurm_database_records"], 100),
        "slurm_database_archive_folder": "/var/spool",
        "slurm_database_private_data": ["accounts", "users"],
    }
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["comment"] = lambda text: f"# {text}\n"
    texts = {
        name: (role / f"templates/{name}.j2").read_text()
        for name in ("slurmdbd.conf", "mariadb.cnf")
    }
    texts["statement"] = variables["slurm_database_statement"]
    for name in (
        "slurm_database_quietly",
        "slurm_database_name",
    ):  # as Ansible, which renders variables too
        variables[name] = environment.from_string(variables[name]).render(variables)
    return {name: environment.from_string(text).render(variables) for name, text in texts.items()}


def assert_no_warning(answers: Answers) -> None:
    """Check that neither slurmdbd nor slurmctld says anything against a file."""
    assert {"tree", "hybrid", "template lab", LARGE} <= set(answers.readings)
    found = {"slurmdbd": _warnings(answers.database_log, ANOTHER_SERVER)}
    for name, reading in answers.readings.items():
        apart = APART.get(name.partition(",")[0], ())
        found[name] = _warnings(reading.log, (*NOT_OF_THE_FILES, *apart))
    said = {name: lines for name, lines in found.items() if lines}
    assert said == {}, f"{answers.version}: {said}"


def _warnings(log: str, known: Iterable[str]) -> list[str]:
    lines = [line for line in log.splitlines() if WARNINGS.search(line)]
    return [line for line in lines if not any(text in line for text in known)]


def assert_sizes(answers: Answers, measured: Callable[[str], None]) -> None:
    """Check that all nodes are there, and that no name of a node was asked of the name server."""
    large = answers.readings[LARGE]
    measured(
        f"slurmctld {answers.version} with {NODES:,} nodes: up in {large.seconds:.2f} s, "
        f"{large.memory_mib:.0f} MiB"
    )
    assert large.nodes == NODES
    assert large.memory_mib < 1024
    assert list(large.asked) == [], "a resolver that does not answer costs five seconds a name"
    assert large.config["SLURM_VERSION"] == answers.version
