"""What tests of ``init --from`` have in common: files of what stands, and blueprints with their blanks filled."""

from __future__ import annotations

import copy
import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from factories import CATALOGUE
from rackwright.brownfield.document import TakenOver, make_blueprint
from rackwright.brownfield.products import Products
from rackwright.brownfield.reading import read_standing
from rackwright.model.names import expand_hostlist
from rackwright.plan.model import Plan
from rackwright.render.sheets import cell, sheets


def elevations_of(plan: Plan) -> str:
    """The sheet of elevations of a plan, as ``rackwright sheets`` writes it."""
    sheet = sheets(plan)[0]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(sheet.columns)
    writer.writerows([cell(value) for value in row] for row in sheet.rows)
    return text.getvalue()


def take_over(
    folder: Path,
    files: Mapping[str, str],
    *,
    products: Mapping[str, str] | None = None,
    left_out: Iterable[str] = (),
    only: str | None = None,
) -> TakenOver:
    """The blueprint of files with these texts."""
    found = []
    for name, text in files.items():
        path = folder / name
        path.write_text(text, encoding="utf-8", newline="")
        found.append(read_standing(path))
    known = Products(CATALOGUE, products or {}, list(left_out))
    return make_blueprint(found, known, only=only)


ELSEWHERE = ("power", "loops", "plant", "facility_water")
"""What a site says that no sheet of elevations does."""


def filled(made: TakenOver, original: Mapping[str, Any]) -> dict[str, Any]:
    """The blueprint with what no sheet tells taken from the one that the sheets are of."""
    data: dict[str, Any] = copy.deepcopy(dict(made.data))
    data.setdefault("name", original["name"])
    del data["derive"]
    for site, was in zip(data["sites"], original["sites"], strict=True):
        site |= {key: was[key] for key in ELSEWHERE if key in was}
        air = {
            hall["name"]: {key: one for key, one in hall.items() if key != "rows"}
            for hall in was["halls"]
        }
        groups = {
            name: group
            for hall in was["halls"]
            for row in hall["rows"]
            for group in row["rack_groups"]
            for name in expand_hostlist(group["racks"])
        }
        roles = {group["name"]: group["role"] for group in was["node_groups"]}
        for hall in site["halls"]:
            hall |= air[hall["name"]]
            for row in hall["rows"]:
                for group in row["rack_groups"]:
                    own = groups[expand_hostlist(group["racks"])[0]]
                    group |= {key: value for key, value in own.items() if key != "racks"}
        for group in site["node_groups"]:
            group.setdefault("role", roles.get(group["name"].partition("-set")[0], "management"))
        for fabric in site.get("fabrics", ()):
            fabric.setdefault("role", "compute")
    return data


def standing(plan: Plan) -> dict[str, list[tuple[Any, ...]]]:
    """Each rack in the order of its row with what stands in it: unit, product and names."""
    found = {}
    for site in plan.onprem:
        names = plan.racked[site.name]
        for rack in site.racks:
            for name, position in zip(rack.names, rack.positions, strict=True):
                devices = [
                    (one.unit_low, one.kind, one.entry, names.get(name, {}).get(number, ()))
                    for number, one in enumerate(rack.kind.devices)
                ]
                key = f"{site.name}/{rack.hall}/{rack.row}/{position}/{name}"
                found[key] = sorted(devices, key=repr)
    return found
