"""Files that others have written, in numbers: which are read, which are refused and why.

    python tests/public_corpus.py FOLDER... [--library FOLDER] [--list]

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

from public_netbox import adopt, map_of
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
LIBRARY: list[Path] = []
"""Folder with device types, from which products of exports are imported first."""
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


_INPUT = {
    "voltage": "400 V", "current": "32 A", "phases": "3", "wiring": "wye", "C13": "10 A", "C19": "16 A", "capacity": "9 kW", "hosts": "4",
}  # fmt: skip
"""Facts of an invented data sheet, without which PDUs and CDUs are not imported; the facts of the file are compared."""
_POUNDS = {"kg": 1.0, "g": 0.001, "lb": 0.45359237, "oz": 0.45359237 / 16}
"""Kilograms of each unit."""
_NO_SWITCHES = {
    "A10", "Avocent", "Barracuda", "Check Point", "Citrix", "Deciso", "Opengear", "Palo Alto", "Peplink", "Perle", "Raritan",
}  # fmt: skip
"""Makers of firewalls, balancers and console servers alone."""
_NO_SWITCH_FILES = re.compile(r"FG-|SRX|NS(a|sp)\d|TZ\d|ASA|F[P]R|ISR|FSP-|ZXA10|MX\d|IM\d|CM\d")


def _device_type(path: Path, text: str) -> Outcome:
    """Import a device type, and compare the entry with what the YAML has."""
    data = yaml.safe_load(text)
    try:
        made = import_device(path, day=date(2026, 1, 1))
    except SpecErrors as error:
        why = _first(error)
        if "does not state" not in why:
            result = "asks for its kind" if "says that it is a server" in why else "refused"
            wrong = list(_refused_wrongly(data, path, why))
            return Outcome(
                "device type",
                "wrong" if wrong else f"{result} as what it is",
                "; ".join(wrong) or why,
            )
        asked = re.findall(r"--fact '(\w+)=", str(error))
        made = import_device(
            path,
            facts={**{name: _INPUT[name] for name in asked}, **_rated(data)},
            day=date(2026, 1, 1),
        )
    wrong = list(_wrong(data, made.folder, made.document))
    if made.folder == "switches" and (
        data["manufacturer"] in _NO_SWITCHES or _NO_SWITCH_FILES.match(path.stem)
    ):
        wrong.append("its maker calls it no switch")
    return Outcome("device type", "wrong" if wrong else f"right ({made.folder})", "; ".join(wrong))


def _rated(data: dict[str, Any]) -> dict[str, str]:
    kinds = {str(one.get("type")) for one in data.get("power-outlets") or ()}
    return {name: _INPUT[name] for name in ("C13", "C19") if f"iec-60320-{name.lower()}" in kinds}


def _refused_wrongly(data: dict[str, Any], path: Path, why: str) -> Iterator[str]:
    """Yield the reasons for which a refused file is a product that should have been imported."""
    ports = [str(one["type"]) for one in data.get("interfaces") or () if not one.get("mgmt_only")]
    most = max(Counter(ports).values(), default=0)
    fast = any(_gbps(kind) >= 40 and count >= 16 for kind, count in Counter(ports).items())
    if fast and "is none" not in why and "u_height" in data:
        yield f"{most} ports of a fast switch are refused"
    if re.match(r"(DGX|PowerEdge-[RX]|ProLiant-DL|ThinkSystem-SR)", path.stem) and most:
        yield "a server is refused"


def _wrong(data: dict[str, Any], folder: str, made: Any) -> Iterator[str]:
    """Yield what an entry has otherwise than the YAML that it is made of."""
    names = " ".join(str(one.get("name")) for one in data.get("interfaces") or ())
    if folder == "nodes" and not _SERVER.search(f"{data['model']} {names}"):
        yield "nothing says that it is a server"
    if data.get("power-outlets") and folder != "pdus":
        yield "a device with outlets became a product that draws power"
    height, units = made.get("height"), data.get("u_height")
    if (None if height is None else float(height["value"].split()[0])) != (
        float(units) if units or (folder == "pdus" and units == 0) else None
    ):
        yield f"height {height} of {units}"
    stated, weight = data.get("weight"), made.get("weight")
    if (stated is None or data.get("weight_unit") is None) != (weight is None):
        yield f"weight {weight} of {stated}"
    elif weight is not None and stated is not None:
        number, unit = weight["value"].split()
        if abs(float(number) * _POUNDS[unit] / (stated * _POUNDS[data["weight_unit"]]) - 1) > 1e-5:
            yield f"weight {weight['value']} of {stated} {data['weight_unit']}"
    if folder in {"nodes", "switches"}:
        yield from _wrong_device(data, made)
    if folder == "pdus":
        counts = Counter(str(one.get("type")) for one in data["power-outlets"])
        had = {one["type"]: one["count"] for one in made.get("outlets", ())}
        if had != {
            name: count for name in ("C13", "C19") if (count := counts[f"iec-60320-{name.lower()}"])
        }:
            yield f"outlets {had} of {dict(counts)}"
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


def _wrong_device(data: dict[str, Any], made: Any) -> Iterator[str]:
    """Yield what air, depth and supplies of a node or switch are otherwise than the YAML has them."""
    air = str(data.get("airflow") or "").replace("rear", "back")
    if air not in {"", "mixed"} and made.get("airflow_direction") != air:
        yield f"air {made.get('airflow_direction')} of {data['airflow']}"
    if made.get("full_depth") != data.get("is_full_depth"):
        yield f"full depth {made.get('full_depth')} of {data.get('is_full_depth')}"
    supplies, ports = made.get("power_supplies"), data.get("power-ports") or []
    kinds = {str(port.get("type")) for port in ports}
    draws = {port.get("maximum_draw") for port in ports}
    (kind,) = kinds if len(kinds) == 1 else ("",)
    if re.fullmatch(r"iec-60320-c(14|20|22)|hardwired|dc-terminal", kind):
        inlet = kind.removeprefix("iec-60320-").upper() if kind.startswith("iec") else "hardwired"
        rating = f"{next(iter(draws))} W" if len(draws) == 1 and draws != {None} else None
        seen = (supplies or {}).get("rating", {}).get("value")
        if supplies is None or (supplies["count"], supplies["inlet"], seen) != (
            len(ports),
            inlet,
            rating,
        ):
            yield f"supplies {supplies} of {len(ports)} {kind}"
    elif supplies is not None:
        yield f"supplies {supplies} of {sorted(kinds)}"


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
    """Import a data centre with its mapping file, leaving out devices of unknown products."""
    made = adopt(path, map_of(text), LIBRARY[0] if LIBRARY else None, _run, filled)
    result = "wrong" if made.wrong else f"usable with {made.flags} flags"
    return Outcome("NetBox", result, str(made))


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
    parser.add_argument("--library", type=Path, help="folder of NetBox's device types for exports")
    chosen = parser.parse_args()
    LIBRARY += [] if chosen.library is None else [chosen.library]
    measured = measure(chosen.folders)
    print(table(measured))
    for file, result in measured.items():
        if chosen.list or result.result in {"wrong", "refused"}:
            print(f"{file}: {result.kind}: {result.result} {result.detail}")
