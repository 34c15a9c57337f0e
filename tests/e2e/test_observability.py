"""Prometheus and its exporters on machines of the lab, put there by the roles."""

from __future__ import annotations

import json
import shutil
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab_support import LAB_MARKS, Machines, Refused, some_machines
from rackwright_lab.lab import HostSpec
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
PLAYS = [
    {"hosts": "slurm_hosts", "roles": ["node_exporter"]},
    {"hosts": "monitoring", "roles": ["prometheus"]},
]
# A scrape may take as long as the interval; on a slow machine one of a second would be missed.
SETTINGS = {"prometheus_scrape_interval_s": 3, "prometheus_down_for_s": 2}
RULES = "/etc/prometheus/rules/rackwright.yml"


@dataclass(frozen=True)
class Site:
    machines: Machines

    def play(
        self,
        *arguments: str,
        plays: Any = PLAYS,
        roles: Path = Path("roles"),
        expect: int = 0,
        **variables: Any,
    ) -> tuple[str, dict[str, int]]:
        """What Ansible printed, and for each host how many tasks changed something."""
        names = {host.name: {"rackwright_site": "oslo"} for host in self.machines.lab.hosts()}
        groups = {
            "slurm_hosts": {"hosts": {name: {} for name in names}},
            "monitoring": {"hosts": {"head-1": {}}},
            "slurm_controller": {"hosts": {"head-1": {}}},
            "slurm_compute": {"hosts": {"gpu-1": {}}, "vars": {"slurm_compute_accelerators": 8}},
        }
        played = self.machines.play(
            plays,
            *arguments,
            variables={**SETTINGS, **variables},
            hosts=names,
            groups=groups,
            roles=roles,
        )
        assert played.code == expect, played.output
        return played.output, played.changes

    def on(self, name: str, command: str) -> str:
        return self.machines.on(name, command)

    def ask(self, path: str) -> Any:
        """The data of an answer of Prometheus."""
        url = f"http://127.0.0.1:9090/api/v1/{path}"
        answer = json.loads(self.on("head-1", f"curl --silent --max-time 10 '{url}'"))
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> dict[str, float]:
        """The value of an expression now, by instance."""
        found = self.ask(f"query?query={urllib.parse.quote(expression)}")["result"]
        return {one["metric"].get("instance", ""): float(one["value"][1]) for one in found}

    def rule(self, name: str) -> dict[str, Any]:
        """An alert rule as Prometheus has loaded it."""
        groups = self.ask("rules")["groups"]
        (rule,) = [one for group in groups for one in group["rules"] if one["name"] == name]
        assert isinstance(rule, dict)
        return rule


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("observability")
    hosts = [HostSpec("gpu-1", 8), HostSpec("head-1")]
    with some_machines(folder, "watch", "10.213.12.0/24", hosts) as machines:
        made = Site(machines)
        refresh = {"ansible.builtin.apt": {"update_cache": True}}
        made.play(plays=[{"hosts": "all", "gather_facts": False, "tasks": [refresh]}])
        made.play()
        yield made


def test_a_second_run_changes_nothing_and_a_check_foresees_nothing(site: Site) -> None:
    assert site.play()[1] == {"gpu-1": 0, "head-1": 0}
    printed, changed = site.play("--check", "--diff")
    assert changed == {"gpu-1": 0, "head-1": 0}
    assert "+++ " not in printed


def test_prometheus_sees_every_host(site: Site) -> None:
    # The package starts with targets of its own, which are remembered for five minutes.
    targets = 'up{job="node",site="oslo"}'
    seen = wait_for(lambda: site.query(targets) == {"gpu-1": 1, "head-1": 1}, 300, 0.5)
    assert seen, site.query(targets)
    retention = site.ask("status/flags")["storage.tsdb.retention.time"]
    assert retention == "30d"
    assert "8 - max(slurm_gpus_usable)" in site.rule("GpusMissing")["query"]


def test_a_host_that_goes_silent_fires_its_alert(site: Site) -> None:
    down = site.rule("HostDown")["query"]
    assert wait_for(lambda: site.query(down) == {}, 300, 0.5)
    site.on("gpu-1", "systemctl stop prometheus-node-exporter")
    try:
        assert wait_for(lambda: site.query(down) == {"gpu-1": 0}, 300, 0.5)
        assert wait_for(lambda: site.rule("HostDown")["state"] == "firing", 300, 0.5)
        (alert,) = site.rule("HostDown")["alerts"]
        assert alert["annotations"]["summary"] == "gpu-1 does not answer"
        assert site.play("--limit", "gpu-1")[1] == {"gpu-1": 1}, "the exporter is started again"
    finally:
        site.on("gpu-1", "systemctl start prometheus-node-exporter")
    assert wait_for(lambda: site.query(down) == {}, 300, 0.5)


def test_what_slurm_lacks_fires_its_alerts(site: Site) -> None:
    assert set(site.query(site.rule("SlurmSilent")["query"])) == {""}, "nothing is known of Slurm"
    measured = 'slurm_up 1\\nslurm_gpus_usable 7\\nslurm_node_drained{node="gpu-1"} 1\\n'
    file = "/var/lib/prometheus/node-exporter/slurm.prom"
    site.on("head-1", f"printf '{measured}' > {file}.new && mv {file}.new {file}")
    try:
        missing = site.rule("GpusMissing")["query"]
        assert wait_for(lambda: site.query(missing) == {"": 1}, 300, 0.5)
        drained = site.ask("query?query=" + urllib.parse.quote(site.rule("NodeDrained")["query"]))
        assert [one["metric"]["node"] for one in drained["result"]] == ["gpu-1"]
        assert site.query(site.rule("SlurmSilent")["query"]) == {}
        site.on("head-1", f"touch --date='10 minutes ago' {file}")
        silent = site.rule("SlurmSilent")["query"]
        assert wait_for(lambda: set(site.query(silent)) == {""}, 300, 0.5), "the file is old"
    finally:
        site.on("head-1", f"rm {file}")


def test_rules_that_promtool_refuses_are_not_put_in_place(site: Site, tmp_path: Path) -> None:
    broken = shutil.copytree("roles/prometheus", tmp_path / "prometheus")
    template = broken / "templates/rules.yml.j2"
    assert 'up{job="node"} == 0' in template.read_text()
    template.write_text(template.read_text().replace('up{job="node"} == 0', 'up{job="node"} ==='))
    before = site.on("head-1", f"sha256sum {RULES}")
    printed, changed = site.play("--limit", "head-1", roles=tmp_path, plays=PLAYS[1:], expect=2)
    assert "failed to validate" in printed
    assert changed == {"head-1": 0}
    assert site.on("head-1", f"sha256sum {RULES}") == before


def test_the_exporter_of_slurm_needs_that_of_the_host(site: Site) -> None:
    case: Refused = {
        "folder": (
            "slurm_exporter",
            {"slurm_exporter_folder": "/nowhere"},
            "run the role node_exporter first",
        )
    }
    site.machines.check_refusals("head-1", case, variables=SETTINGS)
