"""Alertmanager on a machine of a lab: alerts of Prometheus reach the receiver for their severity."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab_support import LAB_MARKS, Machines, Played, some_machines
from rackwright_lab.lab import HostSpec
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
SECRET = "a-token-that-nobody-else-has"
FILE = "/etc/prometheus/alertmanager.yml"
LISTENER = """\
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        size = int(self.headers["Content-Length"])
        with open("/root/told", "a") as file:
            print(self.path, self.headers.get("Authorization"), self.rfile.read(size).decode().strip(), file=file)
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", 9999), Handler).serve_forever()
"""


def a_receiver(name: str) -> dict[str, Any]:
    kept = {"credentials_file": "/etc/prometheus/alertmanager.d/token"}
    hook = {"url": f"http://127.0.0.1:9999/{name}", "http_config": {"authorization": kept}}
    return {"name": name, "webhook_configs": [hook]}


@dataclass(frozen=True)
class Watch:
    machines: Machines
    folder: Path

    @property
    def variables(self) -> dict[str, Any]:
        return {
            "alertmanager_receivers": [a_receiver("pager"), a_receiver("chat")],
            "alertmanager_critical": "pager",
            "alertmanager_warning": "chat",
            "alertmanager_secrets": {"token": str(self.folder / "token")},
            "prometheus_scrape_interval_s": 1,
            "prometheus_down_for_s": 1,
            "prometheus_hosts": ["head-1"],
        }

    def play(
        self, *arguments: str, expect: int = 0, roles: Path = Path("roles"), **changed: Any
    ) -> Played:
        played = self.machines.play_roles(
            "alertmanager",
            "prometheus",
            arguments=arguments,
            variables={**self.variables, **changed},
            roles=roles,
        )
        assert played.code == expect, played.output
        return played

    def on(self, command: str) -> str:
        return self.machines.on("head-1", command)

    def told(self) -> dict[tuple[str, str], str]:
        """What the web hook was sent: the secret by receiver and name of the alert."""
        found = {}
        for line in self.on("cat /root/told 2>/dev/null || true").splitlines():
            path, scheme, secret, body = line.split(" ", 3)
            for alert in json.loads(body)["alerts"]:
                found[path.strip("/"), alert["labels"]["alertname"]] = f"{scheme} {secret}"
        return found


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    folder = tmp_path_factory.mktemp("alerts")
    (folder / "token").write_text(SECRET)
    (folder / "token").chmod(0o600)
    with some_machines(folder, "alert", "10.213.68.0/24", [HostSpec("head-1")]) as machines:
        made = Watch(machines, folder)
        made.on("apt-get update -q")
        assert made.play("--check", "--limit", "head-1", "--tags", "preflight").changed == 0
        played = made.play()
        assert SECRET not in played.output
        yield made


def test_a_second_run_changes_nothing_and_a_check_foresees_nothing(watch: Watch) -> None:
    assert watch.play().changed == 0
    foreseen = watch.play("--check", "--diff")
    assert foreseen.changed == 0
    assert SECRET not in foreseen.output
    modes = watch.on("stat -c '%a %U %G' /etc/prometheus/alertmanager.d/token")
    assert modes == "640 root prometheus"


def test_alerts_reach_the_receiver_for_their_severity(watch: Watch) -> None:
    watch.on(f"systemd-run --unit=listener python3 -c '{LISTENER}'")
    watch.on("amtool alert add Slow severity=warning --alertmanager.url=http://127.0.0.1:9093")
    # Comes with Debian's package of Prometheus, which finds by itself that the host is silent.
    watch.on("systemctl stop prometheus-node-exporter")
    wanted = {("chat", "Slow"), ("pager", "HostDown")}
    assert wait_for(lambda: wanted <= set(watch.told()), 300, 1.0), watch.told()
    assert set(watch.told()) == wanted
    assert set(watch.told().values()) == {f"Bearer {SECRET}"}


def test_a_configuration_that_amtool_refuses_is_not_put_in_place(
    watch: Watch, tmp_path: Path
) -> None:
    for role in ("alertmanager", "prometheus"):
        shutil.copytree(f"roles/{role}", tmp_path / role)
    template = tmp_path / "alertmanager/templates/alertmanager.yml.j2"
    template.write_text(template.read_text().replace('severity="critical"', "severity critical"))
    before = watch.on(f"sha256sum {FILE}")
    played = watch.play(expect=2, roles=tmp_path)
    assert "failed to validate" in played.failure("head-1"), played.output
    assert watch.on(f"sha256sum {FILE}") == before
