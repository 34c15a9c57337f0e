"""Exports of NetBox that others have published, each imported with one mapping file.

Tiers of switches are compared with the roles of the export by rules of this file alone.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rackwright.brownfield.reading import read_standing
from rackwright.errors import RackwrightError
from rackwright.model.names import expand_hostlist
from rackwright.plan.load import load_plan

MAPS = Path(__file__).parent / "public_maps"
"""Mapping files of exports. The first line has the name of a device, by which the export is recognized."""
_FIELD = re.compile(r"""(?m)^(manufacturer|model|part_number|slug): *["']?(.+?)["']? *$""")


@dataclass(frozen=True)
class Adopted:
    """A data centre that was imported.

    Attributes:
        flags: options of the command.
        listed: devices of the export.
        standing: nodes and switches of the blueprint.
        tiers: number of switches by the role of the export.
        wrong: switches whose tier is not their role.
    """

    flags: int
    listed: int
    standing: int
    tiers: Mapping[str, int]
    wrong: Sequence[str]

    def __str__(self) -> str:
        tiers = ", ".join(f"{count} {name}" for name, count in sorted(self.tiers.items()))
        return (
            f"{self.listed:,} devices, {self.standing:,} in the blueprint, {self.flags} flags; tiers: {tiers or 'none'}"
            + "".join(f"; {one}" for one in self.wrong)
        )


def map_of(text: str) -> Path | None:
    """Return the mapping file whose first line names a device that an export has; None if there is none."""
    for path in sorted(MAPS.glob("*.yaml")):
        name = path.read_text().partition("\n")[0].removeprefix("# ")
        if name in text:
            return path
    return None


def adopt(
    path: Path,
    mapping: Path | None,
    library: Path | None,
    run: Callable[..., None],
    fill: Callable[[str], str],
) -> Adopted:
    """Import an export, and load its blueprint.

    Args:
        path: the export.
        mapping: file for ``--map``.
        library: folder with device types, of which those of the export are imported first.
        run: runs a command, and raises its error.
        fill: fills in a to-do sheet.

    Raises:
        RackwrightError: the export is refused, or its blueprint is.
    """
    wanted: dict[str, Any] = {} if mapping is None else yaml.safe_load(mapping.read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "site"
        folder.mkdir()
        if library is not None:
            for file in _types_of(path, library, list(wanted.get("products", {}).values())):
                try:
                    run("catalogue", "import", str(file), "--folder", str(folder / "hardware"))
                except RackwrightError:
                    continue  # A router or chassis that is no product of ours stays unknown.
            if (folder / "hardware").exists():
                (folder / "rackwright.yaml").write_text("catalogue: [{path: hardware}]\n")
        options = ["--from", str(path), "--leave-out-unknown"]
        options += [] if mapping is None else ["--map", str(mapping)]
        run("init", str(folder), *options)
        todo = folder / "todo.yaml"
        todo.write_text(fill(todo.read_text()))
        data = load_plan(folder / "blueprint.yaml", [todo]).tree.data
    listed = _roles(path)
    roles = dict(listed)
    tiers: Counter[str] = Counter()
    wrong: list[str] = []
    standing = 0
    for site in data["sites"]:
        standing += sum(group["count"] for group in site["node_groups"])
        for tier in (tier for fabric in site.get("fabrics", ()) for tier in fabric["tiers"]):
            standing += tier["count"]
            base = re.sub(r"-set\d+$", "", tier["name"])
            tiers[base] += tier["count"]
            names = tier.get("switch_names")
            for switch in () if names is None else expand_hostlist(names):
                role = roles.get(switch.lower(), "")
                told = wanted.get("roles", {}).get(
                    role, re.sub(r"\W+", "-", role).strip("-").lower()
                )
                if told != base:
                    wrong.append(f"'{switch}' is '{role}', and in the tier '{base}'")
    flags = sum(word.startswith("--") for word in options)
    return Adopted(flags, len(listed), standing, tiers, wrong)


def _types_of(path: Path, library: Path, named: Sequence[str]) -> Iterator[Path]:
    """Yield the device types of a library that an export or a mapping names."""
    products = {
        _letters(name) for device in read_standing(path).devices for name in device.product[:-1]
    }
    products |= {_letters(name) for name in named}
    for file in sorted(library.rglob("*.y*ml")):
        text = file.read_text("utf-8", errors="replace")
        fields = dict(_FIELD.findall(text))
        maker = fields.get("manufacturer", "")
        names = {
            fields.get("slug", maker + fields.get("model", "")),
            maker + fields.get("model", ""),
        }
        names.add(maker + fields.get("part_number", ""))
        if products & set(map(_letters, names)):
            yield file


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def _roles(path: Path) -> list[tuple[str, str]]:
    """Return the name and role of each device of an export."""
    text = path.read_text("utf-8", errors="replace")
    if path.suffix == ".csv":
        rows = [(row["Name"], row["Role"]) for row in csv.DictReader(io.StringIO(text))]
    else:
        rows = [("".join(one.names), one.group) for one in read_standing(path).devices]
    return [
        (re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-").lower(), role) for name, role in rows
    ]
