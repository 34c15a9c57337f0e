"""``predict``: what training jobs get of a planned cluster."""

from __future__ import annotations

import argparse
import copy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.arguments import add_blueprint
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.files import write_changed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rackwright.catalog.loader import Catalogue
    from rackwright.plan.base import Path as Place
    from rackwright.plan.load import LoadedPlan
    from rackwright.plan.workload.prediction import Prediction


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``predict``."""
    add_blueprint(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--write-astra",
        type=Path,
        metavar="DIR",
        help="write inputs of ASTRA-sim and SimAI for each workload into a folder of this directory",
    )
    parser.add_argument("--workload", metavar="NAME", help="predict only this workload")


def run(arguments: argparse.Namespace) -> int:
    """Print tokens a day of each workload. It informs only.

    Raises:
        UsageError: the blueprint has no workloads, none of that name, or none that ASTRA-sim could be given.
    """
    from rackwright.catalog.team import catalogue_for
    from rackwright.plan.load import load_plan
    from rackwright.plan.workload.economy import economy
    from rackwright.report.prediction import render_json, render_text

    catalogue = catalogue_for(arguments.blueprint)
    loaded = load_plan(arguments.blueprint, tuple(arguments.layer), catalogue=catalogue)
    plan = loaded.plan
    if not plan.workloads:
        raise UsageError(
            "the blueprint has no 'workloads'",
            hint="add a job, with a site and a node group of yours:\n"
            "workloads:\n"
            "  - {name: pretrain, model: llama3.1-405b, site: sjc1, group: dgx, precision: fp8,\n"
            "     sequence: 8192, batch: 12.58 M tokens}",
        )
    wanted = arguments.workload
    found = [one for one in plan.predictions if wanted in (None, one.workload.name)]
    if not found:
        names = ", ".join(one.name for one in plan.workloads)
        raise UsageError(f"there is no workload '{wanted}'", hint=f"the blueprint has {names}")
    economies = [economy(plan, plan.cost, one) for one in found]
    render = render_json if arguments.json else render_text
    tree = loaded.written or loaded.tree

    def place(path: Place) -> str:
        return f"{tree.locate(path)}: {tree.describe(path)}"

    flat = _flat_fabrics(loaded, found, catalogue)
    sys.stdout.write(render(plan.name, found, economies, flat, place, loaded.names))
    if arguments.write_astra is not None:
        _write_astra(arguments.write_astra, found)
    return ExitCode.CLEAN


def _flat_fabrics(
    loaded: LoadedPlan, predictions: Iterable[Prediction], catalogue: Catalogue
) -> Mapping[str, float]:
    """Return the dollars that each site with an oversubscribed fabric costs more in a year without it.

    Left out are sites whose fabric is written tier by tier, and those whose cost is not known.
    """
    from rackwright.errors import SpecErrors
    from rackwright.plan.load import load_data

    found: dict[str, float] = {}
    for one in predictions:
        site, links = one.workload.site, one.placement and one.placement.links
        if not links or links.oversubscription <= 1 or site in found:
            continue
        document = copy.deepcopy((loaded.written or loaded.tree).data)
        written: dict[str, Any] = next(
            (each for each in document["sites"] if each.get("name") == site), {}
        )
        if not isinstance(written.get("fabric"), dict):
            continue
        written["fabric"]["oversubscription"] = 1
        try:
            flat = load_data(document, catalogue=catalogue).plan
        except SpecErrors:
            continue  # such a fabric does not fit the site
        now, then = (
            next(each.amount.per_year for each in plan.cost.sites if each.name == site)
            for plan in (loaded.plan, flat)
        )
        if now is not None and then is not None:
            found[site] = float(then) - float(now)
    return found


def _write_astra(folder: Path, found: Sequence[Prediction]) -> None:
    """Write the inputs of ASTRA-sim and SimAI of all workloads that have a prediction.

    Raises:
        UsageError: none has one.
    """
    from rackwright.render.astra import astra_files

    written = 0
    for one in found:
        for name, text in (astra_files(one) or {}).items():
            path = folder / one.workload.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_changed(path, text)
            sys.stderr.write(f"{path}\n")
            written += 1
    if not written:
        raise UsageError(
            "no workload has a prediction that could be written for ASTRA-sim and SimAI"
        )
