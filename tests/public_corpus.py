"""Files that others have written, in numbers: which are read, which are refused and why.

    python tests/public_corpus.py FOLDER... [--list]

Folders are searched for slurm.conf, device types of NetBox's and Nautobot's libraries, dumps of cables and exports of
NetBox. Each is read as its command reads it. Device types are compared with their YAML by rules of this file alone.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from rackwright.brownfield.cabling.networks import is_neighbours, is_subnet, read_network, views_of
from rackwright.brownfield.netbox_dumps import is_netbox_dump
from rackwright.catalog.netbox import import_device
from rackwright.cli import main as rackwright
from rackwright.errors import RackwrightError, SpecErrors
from rackwright.plan.load import load_plan

FILLED = {
    "continuous_derate": "80 %", "power_factor": "0.95", "feeds": "[A, B]", "utility": "60 MW",
    "feed_path": "[{kind: ups, capacity: 40000 kW}, {kind: rpp, circuit: {voltage: 415 V, current: 80000 A, phases: 3}}]",
    "pdu": "pdu-415v-60a-24c19", "circuit": "{voltage: 415 V, current: 60 A, phases: 3}", "per_rack": "40",
    "version": '"24.11"', "controllers": "[{host: ctl-x, address: 192.0.2.1}]", "name": "found", "role": "compute", "mode": "air",
}  # fmt: skip
"""Answers to what no file says, for the model alone."""
KNOWN = {"dgx-a100", "dgx-h100", "dgx-h200", "rack-48u"}
LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True)
class Outcome:
    """A file of the corpus.

    Attributes:
        kind: of the file.
        result: one or two words that are counted.
        detail: of this file alone.
    """

    kind: str
    result: str
    detail: str = ""


def outcome_of(path: Path) -> Outcome | None:
    """Return what becomes of a file; None for a file of another kind."""
    if path.stat().st_size > LARGEST:
        return None
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return None
    readers: list[tuple[bool, Callable[[Path, str], Outcome]]] = [
        (path.name == "slurm.conf", _slurm),
        (
            path.suffix in {".yaml", ".yml"} and bool(re.search(r"(?m)^manufacturer:", text)),
            _device_type,
        ),
        (is_subnet(text) or is_neighbours(text), _cables),
        (_is_netbox(text) or is_netbox_dump(text), _netbox),
    ]
    for fits, read in readers:
        if fits:
            try:
                return read(path, text)
            except RackwrightError as error:
                kinds: dict[object, str] = {
                    _slurm: "slurm.conf",
                    _device_type: "device type",
                    _cables: "cables",
                }
                kind = kinds.get(read, "NetBox")
                return Outcome(kind, "refused", _first(error))
    return None


def _first(error: RackwrightError) -> str:
    return str(error.errors[0]) if isinstance(error, SpecErrors) else str(error)


def _slurm(path: Path, text: str) -> Outcome:
    """Adopt a cluster, fill in what no file says, and load the blueprint."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "site"
        _run("init", str(folder), "--from", str(path))
        todo = folder / "todo.yaml"
        layers = [todo] if todo.exists() else []
        if layers:
            todo.write_text(filled(todo.read_text()))
        load_plan(folder / "blueprint.yaml", layers)
    return Outcome("slurm.conf", "usable")


def _run(*words: str) -> None:
    """Run a command, and raise its message where it fails."""
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
        code = rackwright(list(words))
    if code:
        message = next(
            (line for line in told.getvalue().splitlines() if not line.startswith("notice")), ""
        )
        raise RackwrightError(message.removeprefix("error: "))


def filled(todo: str) -> str:
    """Return a to-do sheet with every field filled in."""
    racks = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal racks
        indent, name, hint = match[1], match[2], match[3].split("|")[0].strip()
        if name == "racks":
            racks += 1
            return f"{indent}racks: 'g{racks}-[01-40]'"
        if name == "type":
            return f"{indent}type: {hint if hint in KNOWN else 'cpu-2u'}"
        return f"{indent}{name}: {FILLED.get(name, '')}"

    halls = re.compile(r"(?m)^(\s*(?:- )?)halls:\s+#.*$")
    text = re.sub(r"(?m)^(\s*(?:- )?)(?!halls)(\w+):\s+#(.*)$", fill, todo)
    groups = ", ".join(
        f"{{racks: 'g{number}-[01-40]', type: rack-48u, cooling: {{mode: air}}}}"
        for number in range(1, racks + 1)
    )
    return halls.sub(
        rf"\1halls: [{{name: hall-1, rows: [{{name: row-1, rack_groups: [{groups}]}}]}}]", text
    )


_SERVER = re.compile(
    r"(?i)drac|ilo|ipmi|bmc|imm|xcc|cimc|irmc|poweredge|proliant|thinksystem|system x|primergy|server|ucs|dgx|sys-|as-|nuc|apic"
)
_RATE = re.compile(r"(\d+)gbase|infiniband-(edr|hdr|ndr|xdr)")
_GBPS = {"edr": 100, "hdr": 200, "ndr": 400, "xdr": 800}


def _gbps(kind: str) -> float:
    match = _RATE.match(kind)
    return 0 if match is None else float(match[1] or _GBPS[match[2]])


def _device_type(path: Path, text: str) -> Outcome:
    """Import a device type, and compare the entry with what the YAML has."""
    try:
        made = import_device(path, day=date(2026, 1, 1))
    except SpecErrors as error:
        return Outcome("device type", "refused as what it is", _first(error))
    wrong = list(_wrong(yaml.safe_load(text), made.folder, made.document))
    return Outcome("device type", "wrong" if wrong else f"right ({made.folder})", "; ".join(wrong))


def _wrong(data: dict[str, Any], folder: str, made: Any) -> Iterator[str]:
    """Yield what an entry has otherwise than the YAML that it is made of."""
    names = " ".join(str(one.get("name")) for one in data.get("interfaces") or ())
    if folder == "nodes" and not _SERVER.search(f"{data['model']} {names}"):
        yield "nothing says that it is a server"
    if data.get("power-outlets"):
        yield "a device with outlets became a product that draws power"
    height = made.get("height")
    if height is not None and float(height["value"].split()[0]) != float(data["u_height"]):
        yield f"height {height['value']} of {data['u_height']}"
    supplies, ports = made.get("power_supplies"), data.get("power-ports") or []
    if supplies is not None and ports and supplies["count"] != len(ports):
        yield f"{supplies['count']} supplies of {len(ports)} power ports"
    if folder == "switches":
        kinds = Counter(str(one["type"]) for one in data["interfaces"] if not one.get("mgmt_only"))
        rates = {kind: _gbps(kind) for kind in kinds}
        if "uplinks" in made and rates:
            up = made["uplinks"]["count"]
            radix = made["radix"]
            fast = [rates[kind] for kind, count in kinds.items() if count == up]
            slow = [rates[kind] for kind, count in kinds.items() if count == radix]
            named = any("uplink" in str(one["name"]).lower() for one in data["interfaces"])
            if not named and fast and slow and max(fast) < min(slow):
                yield f"{up} slower ports became uplinks"


def _cables(path: Path, text: str) -> Outcome:
    network = read_network(path, text)
    (view,) = views_of([network], {})
    tiers = Counter(str(view.tier(name)) for name in view.switches)
    shown = ", ".join(f"{count} {tier}" for tier, count in sorted(tiers.items()))
    return Outcome(
        "cables",
        "read",
        f"{network.technology}: {shown}; {len(view.hosts)} hosts, {len(network.cables)} cables",
    )


def _is_netbox(text: str) -> bool:
    head = text[:4000]
    return ("Manufacturer" in head and "Rack" in head and "Status" in head.partition("\n")[0]) or (
        head.lstrip()[:1] in {"{", "["} and '"device_type"' in head
    )


def _netbox(path: Path, text: str) -> Outcome:
    """Adopt a data centre, leaving out what the catalogue does not know."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "site"
        _run("init", str(folder), "--from", str(path), "--leave-out-unknown")
        todo = folder / "todo.yaml"
        todo.write_text(filled(todo.read_text()))
        data = load_plan(folder / "blueprint.yaml", [todo]).tree.data
    tiers = [len(one["tiers"]) for site in data["sites"] for one in site.get("fabrics", ())]
    groups = sum(len(site["node_groups"]) for site in data["sites"])
    return Outcome(
        "NetBox", "usable with one flag", f"{groups} node groups, tiers of fabrics: {tiers}"
    )


def measure(folders: list[Path]) -> dict[Path, Outcome]:
    """Return what becomes of every file in folders."""
    made = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            if path.is_file() and (found := outcome_of(path)) is not None:
                made[path] = found
    return made


def table(made: dict[Path, Outcome]) -> str:
    """Return the numbers as a table."""
    counts = Counter((one.kind, one.result) for one in made.values())
    lines = ["| Kind | Result | Files |", "|---|---|---|"]
    lines += [
        f"| {kind} | {result} | {count:,} |" for (kind, result), count in sorted(counts.items())
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--list", action="store_true", help="print each file with its result")
    chosen = parser.parse_args()
    measured = measure(chosen.folders)
    print(table(measured))
    for file, result in measured.items():
        if chosen.list or result.result in {"wrong", "refused"}:
            print(f"{file}: {result.kind}: {result.result} {result.detail}")
