"""The gate: what judges a blueprint, read once, for every command that says yes or no to it.

A command that builds or configures takes the same gate as ``check``, so that they cannot disagree
about the team's packs, the waivers or the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import UsageError
from rackwright.plan.expansion import Expansion
from rackwright.plan.load import LoadedPlan
from rackwright.policy.api import Policy, Stage
from rackwright.policy.base_approval.approval import Approval, read_approval
from rackwright.policy.check import check_plan
from rackwright.policy.engine import Report
from rackwright.policy.exceptions.exceptions import (
    ExceptionChoice,
    PolicyExceptions,
    read_exceptions,
)
from rackwright.policy.packs.process import judging_rules, team_rules
from rackwright.policy.packs.team_config import packs_for
from rackwright.reading.links import refuse_links
from rackwright.reading.loader import layers_of
from rackwright.team.digest import folder_digest


@dataclass(frozen=True)
class Gate:
    """Settings of a check beside the built-in policies.

    Attributes:
        packs: folders of more policies: the team's own and those that a caller names.
        exceptions: waivers and baseline; None judges without any.
        approval: how a base revision has approved to be judged; None lets the blueprint decide.
    """

    packs: tuple[Path, ...] = ()
    exceptions: PolicyExceptions | None = None
    approval: Approval | None = None

    @property
    def rules(self) -> tuple[type[Policy], ...]:
        """Every rule that judges, once; those that a change deletes are among them.

        Raises:
            PolicyLoadError: a pack cannot be loaded.
        """
        found = judging_rules(self.packs)
        edited = self.approval.edited if self.approval else ()
        known = {rule.id for rule in found}
        deleted = [rule for pack in edited for rule in team_rules(pack) if rule.id not in known]
        return (*found, *deleted)

    def judge(
        self, loaded: LoadedPlan, *, only: Sequence[str] = (), stage: Stage | None = None
    ) -> Report:
        """Return the report about a plan.

        Args:
            loaded: the plan.
            only: ids of the policies to check; all if empty.
            stage: the stage to check for; the blueprint's own if omitted.

        Raises:
            PolicyLoadError: a policy cannot be loaded.
        """
        return check_plan(
            loaded,
            packs=self.packs,
            only=only,
            exceptions=self.exceptions,
            approval=self.approval,
            stage=stage,
        )


def open_gate(
    blueprint: Path,
    *,
    packs: Sequence[Path] = (),
    choice: ExceptionChoice | None = None,
    isolated: bool = False,
    layers: Sequence[Path] = (),
) -> Gate:
    """Return the gate for ``blueprint``.

    Args:
        blueprint: the file; the team's ``rackwright.yaml`` and the folder ``policies`` are found
            from it.
        packs: folders of more policies.
        choice: which files permit what, and of which revision; None means those beside it.
        isolated: leave out the packs that the repository itself asks for.
        layers: files over the blueprint.

    Raises:
        SpecErrors: a file is not valid, or a pack is not what it is pinned to.
        UsageError: a file that was named does not exist, or, where a base revision approves, is a
            link.
        RackwrightError: the base revision cannot be read.
    """
    approval = None
    if choice is not None and choice.base_ref is not None:
        refuse_links((blueprint,))
        refuse_links((*layers_of(blueprint), *layers))
        approval = read_approval(blueprint, layers, choice.base_ref, isolated=isolated)
    folders = packs_for(blueprint, packs, isolated=isolated)
    former = None if approval is None else approval.former
    exceptions = read_exceptions(blueprint, choice, former=former)
    return Gate(all_packs(folders, approval), exceptions, approval)


def refuse_early_stage(plan: Expansion) -> None:
    """Raise if a design is too early to be deployed.

    Raises:
        UsageError: its stage comes before ``build``.
    """
    if plan.stage is not None and Stage(plan.stage).before(Stage.BUILD):
        raise UsageError(
            f"'{plan.name}' is at stage '{plan.stage}': only 'build' and 'run' are deployed",
            hint="answer what 'rackwright check --stage build' asks, then set 'stage: build'",
        )


def all_packs(packs: tuple[Path, ...], approval: Approval | None) -> tuple[Path, ...]:
    """Return ``packs``, and those that a change may not drop.

    Raises:
        PolicyLoadError: one of them cannot be read.
    """
    kept = approval.packs if approval else ()
    if not kept:
        return packs
    # Who names the base's own pack, checked out beside the repository, names it a second time.
    known = {folder_digest(folder) for folder in packs}
    return (*packs, *(folder for folder in kept if folder_digest(folder) not in known))
