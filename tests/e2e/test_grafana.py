"""Grafana's role on a machine of a lab, with a stand-in of Grafana and a real Prometheus."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grafana_dashboards.build import SOURCE_UID
from grafana_dashboards.cluster import DASHBOARDS, RACK_LIMITS, RACK_POWER
from lab_support import LAB_MARKS, Machines, Played, some_machines
from promql import metrics_of
from rackwright_lab.lab import HostSpec
from rackwright_lab.mock_packages.dashboards import GRAFANA, OLD_GRAFANA
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
SECRET, NEW_SECRET = "a-password-of-the-lab", "another-password-of-the-lab"
FOLDER = "/var/lib/grafana/dashboards/rackwright"
RACK = {"rackwright_rack": "c01", "rackwright_site": "oslo", "rackwright_rack_power_limit_w": 45000}
QUESTIONS = [
    query.expression for one in DASHBOARDS for panel in one.panels() for query in panel.queries
]

ASK = """\
import json, sys, urllib.parse, urllib.request, urllib.error
for expression in json.load(open("/root/questions.json")):
    asked = urllib.parse.urlencode({"query": expression}).encode()
    try:
        urllib.request.urlopen("http://127.0.0.1:9090/api/v1/query", asked, timeout=300).read()
    except urllib.error.HTTPError as error:
        print(expression, error.read().decode())
"""


@dataclass(frozen=True)
class Watch:
    machines: Machines
    folder: Path

    @property
    def password(self) -> Path:
        return self.folder / "password"

    def play(
        self,
        *arguments: str,
        expect: int = 0,
        hosts: dict[str, dict[str, Any]] | None = None,
        roles: tuple[str, ...] = ("grafana",),
        **changed: Any,
    ) -> Played:
        variables = {
            "grafana_version": GRAFANA,
            "grafana_admin_password_file": str(self.password),
            "prometheus_scrape_interval_s": 1,
            "dcgm_exporter_gpus": 8,
            **RACK,
            **changed,
        }
        played = self.machines.play_roles(
            *roles, arguments=arguments, variables=variables, hosts=hosts
        )
        assert played.code == expect, played.output
        assert SECRET not in played.output
        assert NEW_SECRET not in played.output
        return played

    def on(self, command: str) -> str:
        return self.machines.on("head-1", command)

    def write(self, path: str, text: str) -> None:
        self.on(f"cat > {path} <<'END'\n{text}\nEND")

    def ask(self, path: str, *, password: str = SECRET, url: str = "http://127.0.0.1:3000") -> Any:
        """What Grafana answers the administrator; the status where that is no success."""
        self.write("/root/who", f'user = "admin:{password}"')
        found = self.on(f"curl -sk -K /root/who -w '\\n%{{http_code}}' '{url}/api/{path}'")
        body, _, status = found.rpartition("\n")
        return json.loads(body) if status == "200" else int(status)


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    folder = tmp_path_factory.mktemp("grafana")
    with some_machines(folder, "graf", "10.213.71.0/24", [HostSpec("head-1")]) as machines:
        made = Watch(machines, folder)
        made.password.write_text(f"{SECRET}\n")
        made.password.chmod(0o600)
        made.on("apt-get update -q")
        assert made.play("--check", "--diff").changed > 0
        assert made.on("ls /etc/grafana 2>&1 || true").endswith("No such file or directory")
        made.play(roles=("prometheus", "grafana"))
        yield made


def test_a_second_run_changes_nothing_and_a_check_foresees_nothing(watch: Watch) -> None:
    assert watch.play().changed == 0
    foreseen = watch.play("--check", "--diff")
    assert foreseen.changed == 0
    assert "+++ " not in foreseen.output
    modes = watch.on(
        "stat -c '%a %U %G' /etc/grafana/secrets/admin_password /etc/grafana/grafana.ini"
    )
    assert modes.splitlines() == ["640 root grafana"] * 2
    told = watch.on(
        "journalctl --no-pager; cat /etc/grafana/grafana.ini; ps -ef; dpkg --get-selections"
    )
    assert SECRET not in told
    assert re.search(r"^grafana\s+hold$", told, re.MULTILINE)


def test_grafana_has_the_source_and_every_dashboard(watch: Watch) -> None:
    found = {one["uid"]: (one["title"], one["folderTitle"]) for one in watch.ask("search")}
    assert found == {one.uid: (one.title, "Rackwright") for one in DASHBOARDS}
    (source,) = watch.ask("datasources")
    assert (source["uid"], source["url"]) == (SOURCE_UID, "http://127.0.0.1:9090")
    assert source["jsonData"] == {"httpMethod": "POST", "timeInterval": "1s"}
    page = watch.ask("dashboards/uid/rackwright-gpus")
    assert page["dashboard"]["title"] == "GPUs"
    assert watch.ask("search", password="wrong") == 401


def test_prometheus_answers_every_question(watch: Watch) -> None:
    filled = [one.replace("$instance", ".*").replace("$__rate_interval", "1m") for one in QUESTIONS]
    assert not [one for one in filled if "$" in one]
    watch.write("/root/questions.json", json.dumps(filled))
    watch.write("/root/ask.py", ASK)
    assert watch.on("python3 /root/ask.py") == ""
    watch.write("/root/questions.json", json.dumps(["topk(20, sum by (x) up"]))
    assert "parse error" in watch.on("python3 /root/ask.py")


def test_the_real_exporter_and_prometheus_measure_what_is_asked_for(watch: Watch) -> None:
    device = "/root/sys/class/infiniband/mlx5_0"
    port = f"{device}/ports/1"
    counters = (
        "symbol_error port_rcv_errors link_error_recovery link_downed port_rcv_data port_xmit_data"
    )
    watch.on(
        f"mkdir -p {port}/counters && cd {port} && echo '4: ACTIVE' > state"
        " && echo '5: LinkUp' > phys_state && echo '400 Gb/sec (4X NDR)' > rate"
        f" && echo a > {device}/board_id && echo 1 > {device}/fw_ver && echo MT4129 > {device}/hca_type"
        f" && for name in {counters}; do echo 1 > counters/$name; done"
    )
    watch.on(
        "systemd-run --unit=fabric prometheus-node-exporter --path.sysfs=/root/sys"
        " --web.listen-address=127.0.0.1:9101"
        " --collector.disable-defaults --collector.infiniband"
    )
    watch.on("touch /var/lib/prometheus/node-exporter/slurm.prom")
    ports = "9090 9100 9101"
    read = f"for port in {ports}; do curl -s http://127.0.0.1:$port/metrics; done"
    assert wait_for(lambda: "node_infiniband_state_id" in watch.on(read), 300, 0.5)
    measured = set(re.findall(r"^# TYPE (\S+)", watch.on(read), re.MULTILINE))
    asked = {name for one in QUESTIONS for name in metrics_of(one)}
    asked = {name for name in asked if name.startswith(("node_", "prometheus_"))}
    assert asked - measured == set()
    assert "node_infiniband_link_downed_total" in asked


def test_promtool_compares_the_power_of_racks_with_their_limits(watch: Watch) -> None:
    place = 'site="oslo",rack="c01",instance="head-1"'
    up = f'up{{job="dcgm",{place},rack_power_limit_w="45000"}}'
    targets = json.loads(watch.on("cat /etc/prometheus/targets/gpus.json"))
    assert [one["labels"]["rack_power_limit_w"] for one in targets] == ["45000"]
    gpus = [f'DCGM_FI_DEV_POWER_USAGE{{{place},gpu="{n}"}}' for n in range(2)]
    share = {
        "expr": f"{RACK_POWER} / on (site, rack) {RACK_LIMITS}",
        "eval_time": "5m",
        "exp_samples": [{"labels": '{site="oslo", rack="c01"}', "value": 0.03}],
    }
    test = {
        "interval": "1m",
        "input_series": [
            {"series": up, "values": "0x10"},
            *({"series": one, "values": "675x10"} for one in gpus),
        ],
        "promql_expr_test": [share],
    }
    document = {"rule_files": ["/etc/prometheus/rules/gpus.yml"], "tests": [test]}
    watch.write("/root/racks.json", json.dumps(document))
    assert "SUCCESS" in watch.on("promtool test rules /root/racks.json 2>&1")


def test_verify_finds_a_dashboard_that_grafana_refuses_and_strangers_that_it_lets_in(
    watch: Watch,
) -> None:
    verify = ("--tags", "verify", "--extra-vars", "grafana_reread_s=1")
    restart = "systemctl restart grafana-server"
    watch.on(f"""sed -i 's/"title": "Slurm",$/"title": "",/' {FOLDER}/slurm.json && {restart}""")
    refused = watch.play(*verify, expect=2)
    message = "Grafana has 'nothing' as rackwright-slurm, wanted the dashboard 'Slurm'"
    assert message in refused.words, refused.output
    watch.on(f"sed -i '/auth.anonymous/,+1 s/false/true/' /etc/grafana/grafana.ini && {restart}")
    refused = watch.play(*verify, expect=2)
    assert "answers strangers with the status 200, wanted 401" in refused.words
    watch.on(f"cp {FOLDER}/slurm.json {FOLDER}/of-a-former-run.json")
    repaired = watch.play()
    assert repaired.changed == 4, repaired.output  # settings, dashboard, the stranger, restart
    assert "of-a-former-run" not in watch.on(f"ls {FOLDER}")


def test_a_new_password_and_a_certificate_are_taken(watch: Watch, tmp_path: Path) -> None:
    watch.on(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=grafana.lab"
        " -keyout /root/tls.key -out /root/tls.crt 2>/dev/null"
    )
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).write_text(watch.on(f"cat /root/{name}") + "\n")
        (tmp_path / name).chmod(0o600)
    watch.password.write_text(NEW_SECRET)
    changed = watch.play(
        grafana_tls_certificate=str(tmp_path / "tls.crt"),
        grafana_tls_key=str(tmp_path / "tls.key"),
    ).changed
    # Three copies, the settings, the restart, and Grafana's own record of the password.
    assert changed == 6
    url = "https://127.0.0.1:3000"
    assert watch.ask("search", url=url, password=SECRET) == 401
    assert len(watch.ask("search", url=url, password=NEW_SECRET)) == len(DASHBOARDS)


def test_the_role_refuses_what_it_cannot_do(watch: Watch, tmp_path: Path) -> None:
    broken, twin = tmp_path / "broken.json", tmp_path / "twin.json"
    broken.write_text('{"uid": "x", ')
    twin.write_text('{"uid": "rackwright-slurm", "title": "Other"}')
    short, readable = tmp_path / "short", tmp_path / "readable"
    short.write_text("admin")
    short.chmod(0o600)
    readable.write_text(SECRET)
    readable.chmod(0o644)
    slurm = str(Path("roles/grafana/files/dashboards/slurm.json").resolve())
    refused: dict[str, tuple[dict[str, Any], str]] = {
        "version": (
            {"grafana_version": "11.0.0"},
            f"offers 0 packages grafana 11.0.0 among {GRAFANA}, {OLD_GRAFANA}",
        ),
        "old": ({"grafana_version": "9.5.2"}, "dashboards need Grafana 10.4.0 or newer"),
        "secret": (
            {"grafana_admin_password_file": "/nowhere/password"},
            "'/nowhere/password' must be a file on the control machine with mode 0600 (found: nothing)",
        ),
        "readable": ({"grafana_admin_password_file": str(readable)}, "(found: mode 0644)"),
        "short": ({"grafana_admin_password_file": str(short)}, "one line of 12 characters or more"),
        "address": ({"grafana_address": "everywhere"}, "cannot listen on 'everywhere' port '3000'"),
        "key": ({"grafana_tls_certificate": slurm}, "belong together"),
        "missing": (
            {"grafana_dashboards": ["/nowhere/a.json"]},
            "the control machine has no file /nowhere/a.json",
        ),
        "broken": ({"grafana_dashboards": [str(broken)]}, "dashboards broken.json must be JSON"),
        "twin": (
            {"grafana_dashboards": [slurm, str(twin)]},
            "they have the uids rackwright-slurm, rackwright-slurm",
        ),
    }
    played = watch.play(
        expect=2, hosts={case: variables for case, (variables, _) in refused.items()}
    )
    for case, (_, message) in refused.items():
        assert message in " ".join(played.failure(case).split()), (case, played.output)
    assert played.changed == 0
