"""From fault to fixed on a real Slurm 24.11: faults are put into recordings, drains, jobs, reboots and returns are real.

BMCs are fake machines of sushy-tools, whose power is that of slurmd: off takes up to eleven seconds there. Stand-ins:
programs of GPUs and of systemd, and the health check. A reboot starts slurmd again as after a boot.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

from bmc_emulator import PASSWORD, USER, certificates
from metal_machines import fake_system, sushy
from netbox_machine import free_port
from rackwright.catalog.fault_table import builtin_faults
from rackwright.model.faults import BY_HAND, Fault, FaultAction
from rackwright.plan.load import load_plan
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.render.slurm import render_slurm
from rackwright.resources import bundled
from slurm_machines import SlurmMachine, slurm_machines, wait_for

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root"),
    pytest.mark.skipif(shutil.which("debootstrap") is None, reason="not installed: debootstrap"),
]
TABLE = builtin_faults()
NODES = tuple(f"dgx-0{number}" for number in range(1, 7))
LAYER = {
    "operations": {
        "repair": {
            "most_nodes": "60 %", "nodes_per_hour": 10_000, "repairs_per_week": 1000, "storm_nodes": 100,
            "probation": "1 s",
        }
    }
}  # fmt: skip
OF_RACK_2 = ("dgx-05", "dgx-06")
BY_RACK = {"cooling", "power", "host", "bmc", "nvlink"}
"""Subjects of faults that several nodes of a rack share: on three of its nodes its rack would be named for them."""
KILLS = 12
"""Times that a loop is killed before it may end."""
PROGRAMS = {
    "/usr/local/sbin/nvidia-smi": '#!/bin/sh\necho "nvidia-smi $*" >>/var/log/acts; sleep 0.2\n',
    "/usr/local/sbin/dcgmi": '#!/bin/sh\necho "dcgmi $*" >>/var/log/acts\n',
    "/usr/local/sbin/systemctl": '#!/bin/sh\necho "systemctl $*" >>/var/log/acts\n',
    "/usr/local/sbin/journalctl": "#!/bin/sh\necho kernel\n",
    "/usr/local/sbin/python3": "#!/bin/sh\ncat >/var/log/program; exec nvidia-smi --gpu-reset\n",
    "/usr/local/sbin/reboot-node": "#!/bin/sh\ntouch /var/log/reboot-wanted\n",
    "/usr/local/lib/rackwright/node_health.py": "#!/bin/sh\ntest ! -e /var/log/broken || { echo 'still broken'; exit 1; }\n",
}
"""Stand-ins on each node."""


class Hall:
    """Nodes with slurmd, each with a machine of sushy-tools that switches its slurmd."""

    def __init__(
        self, head: SlurmMachine, machines: list[SlurmMachine], folder: Path, url: str
    ) -> None:
        self.head, self.folder, self.url = head, folder, url
        self.machines = {machine.name: machine for machine in machines}
        self.power = dict.fromkeys(self.machines, "On")
        self.resets: list[tuple[str, str]] = []
        self.slurmd: dict[str, subprocess.Popen[bytes]] = {}
        self.lock = threading.Lock()
        self.over = threading.Event()
        for name in self.machines:
            self.boot(name, first=True)
        threading.Thread(target=self._reboot_nodes, daemon=True).start()
        threading.Thread(target=self._follow_power, daemon=True).start()

    def boot(self, name: str, *, first: bool = False) -> None:
        """Start slurmd as after a boot; what was in /run is gone."""
        machine = self.machines[name]
        machine.on("rm -rf /run/rackwright /var/log/reboot-wanted")
        self.slurmd[name] = machine.start(
            f"slurmd -D -N {name}{'' if first else ' -b'}", "slurmd.log"
        )

    def stop(self, name: str) -> None:
        self.slurmd[name].kill()
        self.slurmd[name].wait()
        self.machines[name].on("pkill -9 slurmstepd; pkill -9 sleep; true")

    def _reboot_nodes(self) -> None:
        while not self.over.wait(0.3):
            for name, machine in self.machines.items():
                with self.lock, contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
                    if (
                        machine.on("test -e /var/log/reboot-wanted && echo yes", check=False)
                        == "yes"
                    ):
                        self.resets.append((name, "reboot"))
                        self.stop(name)
                        self.boot(name)

    def _follow_power(self) -> None:
        while not self.over.wait(0.5):
            for name in self.machines:
                with contextlib.suppress(AssertionError, subprocess.TimeoutExpired, OSError):
                    self._follow(name, self.ask_bmc(name)["PowerState"])

    def _follow(self, name: str, power: str) -> None:
        with self.lock:
            if power == self.power[name]:
                return
            self.power[name] = power
            self.resets.append((name, "ForceOff" if power == "Off" else "On"))
            self.stop(name) if power == "Off" else self.boot(name)

    def ask_bmc(self, name: str, kind: str | None = None) -> dict[str, Any]:
        """Return the system of a node, or ask for a reset, as an operator does."""
        path = system_of(name)
        body = None
        if kind is not None:
            path, body = f"{path}/Actions/ComputerSystem.Reset", json.dumps({"ResetType": kind})
        pair = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {pair}", "Content-Type": "application/json"}
        address, port = self.url.removeprefix("https://").split(":")
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection(address, int(port), timeout=60, context=context)
        try:
            connection.request("GET" if kind is None else "POST", path, body, headers)
            text = connection.getresponse().read()
        finally:
            connection.close()
        return json.loads(text) if text else {}

    def acts(self, name: str) -> list[str]:
        return self.machines[name].on("cat /var/log/acts 2>/dev/null", check=False).splitlines()


def system_of(name: str) -> str:
    """Return the path of the machine of a node at sushy-tools."""
    return f"/redfish/v1/Systems/{fake_system(NODES.index(name) + 1, name)['uuid']}"


@contextlib.contextmanager
def liar() -> Iterator[tuple[str, list[str]]]:
    """Serve a BMC that says what it was asked for last, and does nothing; yield its address and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self, data: Mapping[str, Any]) -> None:
            body = json.dumps(data).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            if self.path == "/redfish/v1/":
                links = {
                    kind: {"@odata.id": f"/redfish/v1/{kind}"}
                    for kind in ("Systems", "Chassis", "Managers")
                }
                self._answer({"RedfishVersion": "1.15.0", **links})
            elif self.path == "/redfish/v1/Systems":
                self._answer({"Members": [{"@odata.id": "/redfish/v1/Systems/1"}]})
            elif self.path == "/redfish/v1/Systems/1":
                state = "Off" if asked[-1:] == ["ForceOff"] else "On"
                self._answer({"@odata.id": self.path, "PowerState": state})
            else:
                self._answer({"Members": []})

        def do_POST(self) -> None:
            asked.append(
                json.loads(self.rfile.read(int(self.headers["Content-Length"])))["ResetType"]
            )
            self._answer({})

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("hall")
    place = bundled("templates") / "blueprints/onprem-h100/template-test.yaml"
    answers = yaml.safe_load(place.read_text())["cases"]["three-feeds"]
    (folder / "layer.yaml").write_text(yaml.safe_dump(LAYER))
    blueprint = write_blueprint(find_template("onprem-h100"), folder / "site", answers)[0]
    files = dict(render_slurm(load_plan(blueprint, [folder / "layer.yaml"]).plan))
    out = r"^(Accounting\w*|Prolog|Epilog|HealthCheck\w*|JobAcct\w*|PrologFlags|TopologyPlugin|SlurmctldHost|RebootProgram|SlurmdTimeout|ResumeTimeout)=.*\n"  # fmt: skip
    text = re.sub(out, "", files["slurm.conf"], flags=re.MULTILINE)
    text = re.sub(r"^(ProctrackType=).*", r"\1proctrack/linuxproc", text, flags=re.MULTILINE)
    text = re.sub(r"^(TaskPlugin=).*", r"\1task/none", text, flags=re.MULTILINE)
    text = re.sub(r"^(ReturnToService=).*", r"\g<1>0", text, flags=re.MULTILINE)
    text = re.sub(r"NodeAddr=\S+ ", "", text).replace("dgx-[01-32]", "dgx-[01-06]")
    text += "SlurmdParameters=config_overrides\nSlurmctldHost=head-1\nSlurmdTimeout=15\n"
    text += "RebootProgram=/usr/local/sbin/reboot-node\nResumeTimeout=120\n"
    gres = re.sub(r" AutoDetect=nvidia", "", files["gres.conf"]).replace(
        "dgx-[01-32]", "dgx-[01-06]"
    )
    made = {"slurm.conf": text, "gres.conf": gres, "cgroup.conf": "CgroupPlugin=disabled\n"}
    certificates(folder, ["127.20.0.1"])
    systems = [
        {**fake_system(number, name), "power_state": "On"} for number, name in enumerate(NODES, 1)
    ]
    with (
        sushy(folder, free_port(), systems, USER, PASSWORD) as url,
        slurm_machines(folder, "trixie", "head-1", *NODES) as (head, *machines),
    ):
        head.put(made)
        head.start("slurmctld -D -v", "slurmctld.log")
        for machine in machines:
            machine.on("for n in $(seq 0 7); do mknod /dev/nvidia$n c 195 $n; done")
            machine.put(made)
            for path, script in PROGRAMS.items():
                name = path.rpartition("/")[2]
                machine.put({name: script}, path.rpartition("/")[0])
                machine.on(f"chmod 755 {path}")
        made_hall = Hall(head, machines, folder, url)
        (folder / "password").write_text(f"{PASSWORD}\n")
        (folder / "password").chmod(0o600)
        bmcs = {
            name: {"url": url, "user": USER, "password_file": "password", "certificates": "bmc-ca.pem", "system": system_of(name)}
            for name in NODES
        }  # fmt: skip
        (folder / "bmcs.yaml").write_text(yaml.safe_dump({"nodes": bmcs}))
        cases = "".join(
            f'{m.name}) exec {" ".join(m.enter())} chroot {m.root} "$@";;\n'
            for m in (head, *machines)
        )
        (folder / "on").write_text(
            f"#!/bin/sh\nname=$1; shift\ncase $name in\n{cases}esac\nexit 255\n"
        )
        (folder / "on").chmod(0o755)
        (folder / "recordings").mkdir()
        for name in NODES:
            wait_for(partial(is_idle, head, name), f"slurmd of {name}")
        try:
            yield made_hall
        finally:
            made_hall.over.set()


def state_of(head: SlurmMachine, node: str) -> str:
    return head.on(f"sinfo -h -n {node} -o %T", check=False)


def is_idle(head: SlurmMachine, node: str) -> bool:
    return state_of(head, node) == "idle"


def answers(head: SlurmMachine, node: str) -> bool:
    """Say if slurmd of a node answers its controller."""
    powered = "NOT" not in head.on(f"scontrol -o show node {node}")
    return powered and "*" not in state_of(head, node)


class Loop:
    """The loop as a process, with a journal of its own."""

    def __init__(self, hall: Hall, name: str) -> None:
        self.hall, self.store = hall, hall.folder / f"{name}.sqlite"
        self.log = hall.folder / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None

    def words(self, *more: str) -> list[str]:
        folder = self.hall.folder
        return [
            sys.executable, "-m", "rackwright", "repair", *more, str(folder / "site/blueprint.yaml"),
            "--layer", str(folder / "layer.yaml"), "--store", str(self.store),
        ]  # fmt: skip

    def run_words(self, *more: str) -> list[str]:
        folder = self.hall.folder
        return [
            *self.words("run"), "--slurm", f"{folder}/on head-1", "--on-node", f"{folder}/on {{node}}",
            "--bmc", str(folder / "bmcs.yaml"), "--recordings", str(folder / "recordings"), *more,
        ]  # fmt: skip

    def start(self) -> None:
        with self.log.open("ab") as file:
            self.process = subprocess.Popen(
                self.run_words("--loop", "0.5"), stdin=subprocess.DEVNULL, stdout=file, stderr=file
            )

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self.process = None

    def done(self, node: str) -> None:
        subprocess.run(
            [*self.words("done", node), "--text", "swapped"], check=True, stdout=subprocess.DEVNULL
        )

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        if not self.store.exists():
            return []
        connection = sqlite3.connect(f"file:{self.store}", uri=True, timeout=300)
        try:
            return connection.execute(query, values).fetchall()
        except sqlite3.OperationalError:
            return []
        finally:
            connection.close()

    def state(self, node: str) -> str:
        rows = self.ask("SELECT state FROM repair_nodes WHERE node = ?", node)
        return str(rows[0][0]) if rows else "healthy"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


@pytest.fixture(autouse=True)
def nodes_in_service(hall: Hall) -> None:
    """Give the nodes of the last test's journal back: a loop leaves those of another journal alone."""
    for recorded in (hall.folder / "recordings").glob("*"):
        shutil.rmtree(recorded)
    for node in NODES:
        if state_of(hall.head, node).startswith(("drain", "down")):
            hall.head.on(f"scontrol update nodename={node} state=resume", check=False)
    for node in NODES:
        wait_for(partial(is_idle, hall.head, node), f"{node} in service", 180)


def inject(hall: Hall, node: str, material: Mapping[str, str]) -> None:
    """Put a recording of a node where the loop looks, as a collector does."""
    place = hall.folder / "recordings" / node
    shutil.rmtree(place, ignore_errors=True)
    draft = hall.folder / f"{node}.new"
    draft.mkdir()
    for source, text in material.items():
        (draft / f"{source}.txt").write_text(text)
    draft.rename(place)


def material_of(fault: Fault) -> Mapping[str, str]:
    """Return the first recording of the table that shows the fault."""
    return next(
        one.material for one in fault.examples if one.expect is None or fault.id in one.expect
    )


def test_forty_faults_are_found_and_repaired_as_the_table_says(hall: Hall) -> None:
    """Each fault that leaves service is drained, repaired by its first action, proven and taken back."""
    faults = [
        fault
        for fault in TABLE.faults.values()
        if fault.examples
        and not ({"slurm"} & set(material_of(fault)))
        and fault.subject != "silent"  # the loop here proves nodes by a health check, which cannot
    ]
    assert len(faults) >= 40
    rows: list[str] = []
    left, running = list(faults), dict[str, tuple[Fault, float, float | None]]()
    wrong: list[str] = []
    had: dict[str, set[str]] = {node: set() for node in NODES}
    by_machine = 0
    with Loop(hall, "forty") as loop:
        end = time.monotonic() + 3000
        while (left or running) and time.monotonic() < end:
            assert loop.process is not None
            assert loop.process.poll() is None, loop.log.read_text()[-2000:]
            for node in NODES:
                fit = [one for one in left if node in OF_RACK_2 or one.subject not in BY_RACK]
                if node not in running and fit:
                    left.remove(fault := fit[0])
                    running[node] = (fault, time.time(), None)
                    inject(hall, node, material_of(fault))
            time.sleep(0.5)
            for node, (fault, since, seen) in list(running.items()):
                if seen is None:
                    found = loop.ask(
                        "SELECT seen FROM repair_events WHERE node = ? AND fault = ? AND seen >= ?", node, fault.id, since - 2
                    )  # fmt: skip
                    if not found:
                        continue
                    seen = float(found[0][0])
                    running[node] = (fault, since, seen)
                state = loop.state(node)
                if not fault.severity.leaves_service:
                    drained = loop.ask(
                        "SELECT argument FROM repair_actions WHERE node = ? AND kind = 'drain' AND argument LIKE ?",
                        node, f"% {fault.id} %",
                    )  # fmt: skip
                    wrong += [f"{fault.id}: drained" for _ in drained]
                elif state in {"repairing", "rma"} and loop.ask(
                    "SELECT 1 FROM repair_actions WHERE node = ? AND kind = 'hands' AND phase = 'intent'", node
                ):  # fmt: skip
                    if hall.power[node] == "Off":
                        hall.ask_bmc(node, "On")
                        wait_for(partial(answers, hall.head, node), node)
                    loop.done(node)
                    continue
                elif state not in {"healthy", "probation"} or not loop.ask(
                    "SELECT 1 FROM repair_actions WHERE node = ? AND kind = 'resume' AND phase = 'done' AND begun >= ?",
                    node, since,
                ):  # fmt: skip
                    continue
                del running[node]
                shutil.rmtree(hall.folder / "recordings" / node)
                chosen = loop.ask(
                    "SELECT kind, argument FROM repair_actions WHERE node = ? AND kind IN ('repair', 'hands') AND begun >= ? ORDER BY id",
                    node, since,
                )  # fmt: skip
                action = chosen[0][1] if chosen else fault.action.value
                expected = (
                    FaultAction.REPLACE if fault.action is FaultAction.POWER_OFF else fault.action
                )
                # A second fault of one kind on a node has returned, and gets the next step.
                returned = fault.subject in had[node]
                had[node].add(fault.subject)
                if fault.severity.leaves_service and action != expected.value and not returned:
                    wrong.append(f"{fault.id}: {action} instead of {expected}")
                if fault.severity.leaves_service and expected not in BY_HAND:
                    by_machine += 1
                rows.append(f"{fault.id:28} {fault.subject:10} {fault.severity:9} {action:16} found in {seen - since:5.1f} s, {'validated' if fault.severity.leaves_service else 'stays'}")  # fmt: skip
    print("\n" + "\n".join(rows))
    print(
        f"{len(rows)} of {len(faults)} faults, {by_machine} from fault to validated without a person"
    )
    assert [fault.id for fault, _, _ in running.values()] + [fault.id for fault in left] == []
    assert wrong == []
    assert by_machine >= 24


def test_job_is_queued_again_and_the_node_returns_after_a_real_power_cycle(hall: Hall) -> None:
    with Loop(hall, "job") as loop:
        job = hall.head.on("sbatch --parsable --requeue -w dgx-02 --gres=gpu:8 --wrap 'sleep 300'")
        wait_for(lambda: hall.head.on(f"squeue -h -j {job} -o %T") == "RUNNING", "the job")
        before = len(hall.resets)
        inject(hall, "dgx-02", material_of(TABLE.faults["gpu-off-bus"]))
        wait_for(lambda: loop.state("dgx-02") != "healthy", "the fault")
        wait_for(lambda: hall.head.on("squeue -h -w dgx-02") == "", "the job to leave")
        wait_for(lambda: state_of(hall.head, "dgx-02") in {"idle", "mixed", "allocated"} and loop.state("dgx-02") in {"healthy", "probation"}, "dgx-02", 180)  # fmt: skip
        assert hall.resets[before:] == [("dgx-02", "ForceOff"), ("dgx-02", "On")]
        assert hall.head.on(f"scontrol show job {job}").count("Restarts=1") == 1
        hall.head.on(f"scancel {job}")


@pytest.mark.soak  # after the other tests of this file, slurmctld once lacked a slurmd for 90 s; alone it passed
def test_loop_that_is_killed_at_any_place_resumes_and_does_nothing_twice(hall: Hall) -> None:
    """It is killed again and again, at whatever place it is, until the node is back."""
    loop = Loop(hall, "killed")
    inject(hall, "dgx-03", material_of(TABLE.faults["gpu-off-bus"]))
    inject(hall, "dgx-04", material_of(TABLE.faults["gpu-context-timeout"]))
    inject(hall, "dgx-05", material_of(TABLE.faults["gpu-recovery-reboot"]))
    before, acts = len(hall.resets), len(hall.acts("dgx-04"))
    kills, end = 0, time.monotonic() + 1800
    nodes = ("dgx-03", "dgx-04", "dgx-05")
    written = "SELECT count(*) + (SELECT count(*) FROM repair_actions) FROM repair_log"
    back = (
        "SELECT count(DISTINCT node) FROM repair_actions WHERE kind = 'resume' AND phase = 'done'"
    )
    while loop.ask(back) != [(3,)]:
        rows = loop.ask(written)
        loop.start()
        while loop.ask(back) != [(3,)] and (kills >= KILLS or loop.ask(written) == rows):
            assert time.monotonic() < end, [loop.state(node) for node in nodes]
            time.sleep(0.02)
        time.sleep(0.05 * (kills % 6))
        loop.kill()
        kills += 1
    assert kills >= 3
    print(f"\nkilled {kills} times")
    done = [one for one in hall.resets[before:] if one[0] in nodes]
    assert sorted(done) == [("dgx-03", "ForceOff"), ("dgx-03", "On"), ("dgx-05", "reboot")]
    resets = [line for line in hall.acts("dgx-04")[acts:] if "--gpu-reset" in line]
    assert len(resets) == 1
    for node in nodes:  # slurmctld says "idle*" until it has heard from a slurmd that started again
        wait_for(partial(is_idle, hall.head, node), node)


def test_repair_that_does_not_help_is_not_given_back(hall: Hall) -> None:
    hall.machines["dgx-06"].on("touch /var/log/broken")
    with Loop(hall, "broken") as loop:
        inject(hall, "dgx-06", material_of(TABLE.faults["gpu-context-timeout"]))
        waits = "SELECT waits FROM repair_nodes WHERE node = 'dgx-06'"
        wait_for(lambda: loop.ask(waits) == [("by hand: ticket",)], "the ladder", 180)
        assert state_of(hall.head, "dgx-06").startswith("drain")
        hall.machines["dgx-06"].on("rm /var/log/broken")
        loop.done("dgx-06")
        wait_for(lambda: state_of(hall.head, "dgx-06") == "idle", "dgx-06")


def test_second_controller_is_refused_and_a_dry_run_touches_nothing(hall: Hall) -> None:
    with Loop(hall, "two") as loop:
        wait_for(
            lambda: loop.ask("SELECT 1 FROM repair_settings WHERE name = 'last_pass'") == [(1,)],
            "a pass",
        )
        second = subprocess.run(loop.run_words(), capture_output=True, text=True, check=False)
        assert second.returncode == 4
        assert "is being changed by process" in second.stderr
    dry = Loop(hall, "dry")
    inject(hall, "dgx-01", material_of(TABLE.faults["gpu-off-bus"]))
    told = subprocess.run(dry.run_words("--dry-run"), capture_output=True, text=True, check=True)
    assert "would: dgx-01: drain rackwright: repair gpu-off-bus 1" in told.stdout
    assert state_of(hall.head, "dgx-01") == "idle"
    shutil.rmtree(hall.folder / "recordings/dgx-01")


def test_fault_that_a_health_check_leaves_to_the_loop_is_answered_in_slurm(hall: Hall) -> None:
    """Slurm 24.11 shows the comment of a node, and takes another one or an empty one."""
    left = "7 of 8 infiniband ports of 400 Gbps [port-down]"
    hall.head.on(f"scontrol update nodename=dgx-01 comment='node health: {left}'")
    with Loop(hall, "left") as loop:
        answer = f"Comment=rackwright: left: {left}"
        wait_for(lambda: answer in hall.head.on("scontrol -o show node dgx-01"), "the answer")
        rows = loop.ask("SELECT state, fault, waits FROM repair_nodes WHERE node = 'dgx-01'")
        assert rows == [("suspect", "port-down", "others with the same fault are waited for")]
        assert state_of(hall.head, "dgx-01") == "idle"
    hall.head.on("scontrol update nodename=dgx-01 comment=")
    assert "left: " not in hall.head.on("scontrol -o show node dgx-01")


def test_bmc_that_lies_is_found_out_and_the_node_is_not_given_back(hall: Hall) -> None:
    """It says Off and On, and the host has never stopped."""
    former = (hall.folder / "bmcs.yaml").read_text()
    with liar() as (url, asked):
        bmcs = yaml.safe_load(former)
        bmcs["nodes"]["dgx-01"] = {"url": url, "user": "x", "password_file": "password"}
        (hall.folder / "bmcs.yaml").write_text(yaml.safe_dump(bmcs))
        try:
            with Loop(hall, "lies") as loop:
                inject(hall, "dgx-01", material_of(TABLE.faults["gpu-off-bus"]))
                waits = "SELECT waits FROM repair_nodes WHERE node = 'dgx-01'"
                wait_for(
                    lambda: "Slurm still has the boot of" in str(loop.ask(waits)), "the lie", 120
                )
                time.sleep(2)
                assert state_of(hall.head, "dgx-01").startswith("drain")
                assert asked == ["ForceOff", "On"]
        finally:
            (hall.folder / "bmcs.yaml").write_text(former)
