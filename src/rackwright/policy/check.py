"""From a blueprint to a report: the one path that the command line, stacks and pack all take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rackwright.errors import Location
from rackwright.plan.load import LoadedPlan, load_data, load_plan
from rackwright.policy.api import Policy
from rackwright.policy.engine import Report, evaluate
from rackwright.policy.packs import load_packs
from rackwright.policy.sets import regime_of
from rackwright.policy.settings import configure


def check_blueprint(
    path: Path, *, layers: Sequence[Path] = (), packs: Sequence[Path] = (), only: Sequence[str] = ()
) -> Report:
    """The report about the blueprint in ``path``.

    Raises:
        SpecErrors: the blueprint is not valid.
        PolicyLoadError: a policy cannot be loaded.
    """
    return check_plan(load_plan(path, layers), packs=packs, only=only)


def check_data(data: Any, *, packs: Sequence[Path] = ()) -> Report:
    """The report about a blueprint that is plain data, as a stack's inputs carry it."""
    return check_plan(load_data(data), packs=packs)


def check_plan(
    loaded: LoadedPlan, *, packs: Sequence[Path] = (), only: Sequence[str] = ()
) -> Report:
    """The report about a plan; ``only`` restricts it to policies by id."""
    blueprint = loaded.plan.blueprint
    settings, regime = blueprint.policies, regime_of(blueprint)
    policies: Sequence[Policy] = configure(
        load_packs(packs),
        settings,
        loaded.tree,
        regime=regime,
        policy_set=blueprint.policy_set,
    )
    if only:
        policies = [policy for policy in policies if policy.id in only]

    def locate(path: tuple[str | int, ...]) -> Location | None:
        return loaded.tree.locate(path)

    return evaluate(loaded.plan, policies, settings, locate, regime)
