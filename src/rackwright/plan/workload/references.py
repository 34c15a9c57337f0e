"""Names in workloads that lead nowhere."""

from __future__ import annotations

from rackwright.catalog.loader import Catalogue
from rackwright.harmless import counted
from rackwright.model.cluster import Blueprint
from rackwright.plan.base import Path
from rackwright.plan.problems import PlanProblem
from rackwright.plan.reliability.failures import hosts_of
from rackwright.plan.workload.library import known_models, known_programs
from rackwright.plan.workload.transformer import UnknownShapeError, read_config
from rackwright.reading.suggest import did_you_mean


def check_workloads(blueprint: Blueprint, catalogue: Catalogue) -> list[PlanProblem]:
    """Return the references of workloads that lead nowhere, and workloads larger than their groups."""
    sizes = {
        (site.name, group.name): hosts_of(group, catalogue)
        for site in blueprint.sites
        for group in site.node_groups
    }
    systems = {site.name: [one.name for one in site.file_systems] for site in blueprint.sites}
    jobs = [job.name for job in blueprint.reliability.jobs] if blueprint.reliability else []
    problems = []
    for index, one in enumerate(blueprint.workloads):
        path: Path = ("workloads", index)
        for field, value, known in (
            ("model", None if one.config else one.model, list(known_models())),
            ("software", one.software, list(known_programs())),
            ("job", one.job, jobs),
        ):
            if value is not None and value not in known:
                hint = did_you_mean(value, known) or (
                    f"known: {', '.join(known)}" if known else None
                )
                problems.append(PlanProblem((*path, field), f"there is no {field} '{value}'", hint))
        if one.config is not None:
            try:
                read_config(one.model, one.config)
            except UnknownShapeError as error:
                problems.append(PlanProblem((*path, "config"), str(error), None))
        store, stores = one.dataset.file_system if one.dataset else None, systems.get(one.site, [])
        if store is not None and one.site in systems and store not in stores:
            told = f"there is no file system '{store}' in '{one.site}'"
            hint = did_you_mean(store, stores) or (
                f"known: {', '.join(stores)}" if stores else "state it in the site's 'file_systems'"
            )
            problems.append(PlanProblem((*path, "dataset", "file_system"), told, hint))
        problems += _place(one.site, one.group, one.hosts, path, sizes)
    return problems


def _place(
    site: str, group: str, hosts: int | None, path: Path, sizes: dict[tuple[str, str], int | None]
) -> list[PlanProblem]:
    here = [name for place, name in sizes if place == site]
    if not here:
        known = list(dict.fromkeys(place for place, _ in sizes))
        return [
            PlanProblem((*path, "site"), f"there is no site '{site}'", did_you_mean(site, known))
        ]
    if group not in here:
        message = f"there is no node group '{group}' in '{site}'"
        return [PlanProblem((*path, "group"), message, did_you_mean(group, here))]
    most = sizes[site, group]
    if hosts is not None and most is not None and hosts > most:
        message = f"'{group}' has {counted(most, 'host')}; the workload takes {hosts:,}"
        return [PlanProblem((*path, "hosts"), message, f"take at most {most:,}" if most else None)]
    return []
