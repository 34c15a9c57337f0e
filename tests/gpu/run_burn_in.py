"""Checks of the burn-in on a machine with a real GPU: ``python3 run_burn_in.py FOLDER``.

Needs Python, PyTorch, numpy and nvidia-smi, and nothing else of this repository than the files of two roles. It
changes no setting of a GPU and resets none. The folder gets what was seen: reports, recordings of nvidia-smi, and
``summary.txt``, whose last line says how many of the checks passed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

ROLES = Path(__file__).resolve().parents[2] / "roles"
BURN_IN = ROLES / "acceptance/files/burn_in/burn_in.py"
GPU_RESET = ROLES / "acceptance/files/gpu_reset.py"
COLLECT = ROLES / "acceptance/files/collect.py"
HEALTH = ROLES / "health_check/files/node_health.py"
FIELDS = (
    "index,name,uuid,serial,pci.bus_id,driver_version,vbios_version,persistence_mode,ecc.mode.current,"
    "temperature.gpu,temperature.memory,clocks.sm,clocks.mem,power.draw,power.limit,pcie.link.gen.current,"
    "pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max,ecc.errors.uncorrected.volatile.total,"
    "ecc.errors.corrected.volatile.total,remapped_rows.uncorrectable,remapped_rows.pending,"
    "clocks_event_reasons.hw_thermal_slowdown,clocks_event_reasons.hw_power_brake_slowdown"
)
RECORDED = {
    "query.xml": ["nvidia-smi", "--query", "--xml-format"],
    "query.csv": ["nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv"],
    "list.txt": ["nvidia-smi", "-L"],
    "nvlink.txt": ["nvidia-smi", "nvlink", "--status"],
    "apps.csv": ["nvidia-smi", "--query-compute-apps=pid,name,gpu_uuid,used_memory", "--format=csv"],
    "remapped.csv": ["nvidia-smi", "--query-remapped-rows=gpu_uuid,remapped_rows.correctable,remapped_rows.uncorrectable,remapped_rows.pending,remapped_rows.failure", "--format=csv"],
    "topology.txt": ["nvidia-smi", "topo", "-m"],
    "dmon.txt": ["nvidia-smi", "dmon", "-c", "2", "-s", "pucvmet"],
    "kernel.txt": ["dmesg"],
}  # fmt: skip
HOLDER = "import sys, time, torch; torch.ones(8, device='cuda'); print('held', flush=True); time.sleep(120)"


class Checks:
    """Checks with their outcome; one that raises has failed, and hides no other."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lines = folder, list[str]()
        self.passed = self.failed = 0

    def say(self, text: str) -> None:
        self.lines.append(text)
        print(text, flush=True)

    def check(self, name: str, passed: bool, seen: object) -> None:
        self.passed, self.failed = self.passed + passed, self.failed + (not passed)
        self.say(f"{'pass' if passed else 'FAIL'}  {name}: {seen}")

    def part(self, name: str, run: Any) -> Any:
        began = time.monotonic()
        try:
            return run()
        except Exception as error:  # noqa: BLE001 - the next part is run in any case
            self.check(name, False, f"{type(error).__name__}: {error}")
        finally:
            self.say(f"      {name}: {time.monotonic() - began:.1f} s")


def burn_in(limit_s: float = 120, **request: Any) -> dict[str, Any]:
    """The report of one run of the program."""
    done = subprocess.run(
        [sys.executable, str(BURN_IN), json.dumps(request)],
        capture_output=True, text=True, timeout=limit_s, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    parts = [line.split(" ", 3)[3] for line in done.stdout.splitlines()]
    made: dict[str, Any] = json.loads("".join(parts))
    return made


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_whole(checks: Checks) -> None:
    """All steps for a while: sound hardware gives no wrong value, at the rates of its kind."""
    report = burn_in(
        steps=["cpu", "dimm", "storage", "gemm", "memory", "copy"], seconds=24, folder="/tmp",
        dimm_mib=4096,
    )  # fmt: skip
    (checks.folder / "report.json").write_text(json.dumps(report, indent=1))
    checks.check("nothing is without a result", not report["problems"], report["problems"])
    for device in report["devices"]:
        checks.say(f"      {device['model']} {device['uuid']}: {device['software']}")
        for form, found in (device["steps"]["gemm"] or {}).items():
            sound = not found["wrong_calls"] and not found["exact_wrong_rows"]
            checks.check(
                f"GEMM {form}", sound,
                f"{found['calls']} calls of {found['size']}, {found['tflop_s']} TFLOP/s, slowest "
                f"{found['slowest_tflop_s']}, wrong {found['wrong_calls']}, rows {found['exact_wrong_rows']}",
            )  # fmt: skip
        for name in ("memory", "copy"):
            found = device["steps"][name]
            checks.check(name, bool(found) and not found.get("wrong_words"), found)
    for name, found in report["steps"].items():
        wrong = [v for k, v in (found or {}).items() if k.startswith("wrong") and v]
        checks.check(name, found is not None and not wrong, found)
    checks.say(f"      under load: {report['samples']}")


def run_again(checks: Checks) -> None:
    """Another process multiplies the same matrices: the bits are the same."""
    digests = []
    for _ in range(2):
        report = burn_in(steps=["gemm"], seconds=3)
        digests.append(
            {f: one["digest"] for f, one in report["devices"][0]["steps"]["gemm"].items()}
        )
    whole = json.loads((checks.folder / "report.json").read_text())
    digests.append({f: one["digest"] for f, one in whole["devices"][0]["steps"]["gemm"].items()})
    same = digests[0] == digests[1] == digests[2]
    checks.check("three processes have equal digests", same, digests[0])


def run_flips(checks: Checks) -> None:
    """One flipped bit of one value is found, with its place."""
    for form, bit in (("bf16", 0), ("fp16", 9), ("fp32", 30)):
        flip = {"step": "gemm", "format": form, "call": 7, "position": 8192 * 5 + 6, "bit": bit}
        found = burn_in(steps=["gemm"], seconds=1, flip=flip)["devices"][0]["steps"]["gemm"]
        wrong = {name: one["wrong_calls"] for name, one in found.items()}
        place = {"call": 7, "row": 5, "column": 6, "bits": hex(1 << bit)}
        checks.check(
            f"bit {bit} of a {form} value", found[form]["first_wrong"] == place and sum(wrong.values()) == 1,
            f"{wrong} {found[form]['first_wrong']}",
        )  # fmt: skip
    flip = {"step": "memory", "pattern": 2, "position": 99, "bit": 41}
    found = burn_in(steps=["memory"], share=0.3, flip=flip)["devices"][0]["steps"]["memory"]
    first = found["first_wrong"] or {}
    good = found["wrong_words"] == 1 and first.get("bits") == hex(1 << 41) and first["pattern"] == 2
    checks.check("bit 41 of a word of memory", good, f"{found['wrong_words']} {first}")


def run_reset(checks: Checks) -> None:
    """A GPU that a process holds may not be reset; none is reset here in any case."""

    def ask() -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, str(GPU_RESET), "--check", "0"], capture_output=True, text=True, check=False
        )  # fmt: skip
        return done.returncode, done.stdout.strip()

    before = ask()
    checks.say(f"      before: {before}")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        apps = subprocess.run(RECORDED["apps.csv"], capture_output=True, text=True, check=False)
        (checks.folder / "apps-held.csv").write_text(apps.stdout)
        code, told = ask()
        checks.check("a held GPU is not reset", code == 3 and str(holder.pid) in told, told)
    finally:
        holder.kill()
        holder.wait()
    after = ask()
    checks.check("it may be when the process has ended", after == before, after)


def run_programs_of_nodes(checks: Checks) -> None:
    """The health check and the acceptance read what this nvidia-smi prints."""
    health = load(HEALTH)
    health.PATHS = os.environ["PATH"]
    listed = subprocess.run(RECORDED["list.txt"], capture_output=True, text=True, check=False)
    count = len(listed.stdout.splitlines())
    reasons = health.judge(
        {"accelerators": count, "gpus": {"ecc": True, "throttling": True}}, (health.check_gpus,)
    )
    checks.check("the health check finds the GPUs sound", reasons == [], reasons)
    more = health.judge({"accelerators": count + 1, "gpus": {"ecc": True}}, (health.check_gpus,))
    checks.check(
        "it misses one GPU more", more == [f"nvidia-smi sees {count} of {count + 1} GPUs"], more
    )
    request = {"devices": ["/dev/nvidia[0-9]*"], "mounts": [], "services": [], "slurm_node": None}
    done = subprocess.run(
        [sys.executable, str(COLLECT), json.dumps(request)], capture_output=True, text=True, check=False
    )  # fmt: skip
    (checks.folder / "facts.json").write_text(done.stdout)
    facts = json.loads(done.stdout)
    models = facts.get("accelerator_models") or []
    checks.check(
        "the acceptance counts them", facts["accelerators"] == count == len(models), models
    )


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks(folder)
    recordings = folder / "recordings"
    recordings.mkdir(exist_ok=True)
    for name, command in RECORDED.items():
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
            (recordings / name).write_text(done.stdout + done.stderr)
        except (OSError, subprocess.TimeoutExpired) as error:
            checks.say(f"      not recorded: {name}: {error}")
    for part in (run_reset, run_whole, run_again, run_flips, run_programs_of_nodes):
        checks.part(part.__name__, lambda part=part: part(checks))
    with tarfile.open(folder / "recordings.tar.gz", "w:gz") as archive:
        archive.add(recordings, "recordings")
    for left in recordings.iterdir():
        left.unlink()
    recordings.rmdir()
    checks.say(f"{checks.passed} of {checks.passed + checks.failed} checks passed")
    (folder / "summary.txt").write_text("\n".join(checks.lines) + "\n")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
