"""Program of a stack: check the blueprint, and declare resources only if it passes.

Native projects call ``run``; the command line passes ``inline_program`` to the Automation API.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pulumi

from rackwright.errors import RackwrightError, UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import harmless_diagnostic
from rackwright.streams import guarded

if TYPE_CHECKING:
    from rackwright.components.cluster import Cluster, Lookup
    from rackwright.plan.aws.site import AwsSitePlan
    from rackwright.plan.load import LoadedPlan
    from rackwright.plan.model import Plan
    from rackwright.policy.engine import Report
    from rackwright.policy.gate import Gate

StackKind = Literal["aws-network", "aws-storage", "aws-cluster"]

LEFT_TO_DO = (
    "plain 'pulumi up' names no instances and looks for nothing that a killed run has made: run 'rackwright hosts "
    "BLUEPRINT' after it, since compute nodes wait for their names; after a killed run use 'rackwright up'"
)


class RefusedError(pulumi.RunError):
    """The stack declares nothing: its blueprint is invalid or violates a policy."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(harmless_diagnostic(message))
        self.exit_code = exit_code


@dataclass(frozen=True)
class StackSource:
    """Source of a stack's site.

    Attributes:
        packs: folders of more policies.
        waivers: the file of waivers that hold; None judges without any. The same for ``baseline``.
        gate: what was read already, instead of packs, waivers and baseline.
        adopted: ids of what is there already and is taken over, by type and name.
    """

    blueprint: Path
    layers: tuple[Path, ...] = ()
    site: str | None = None
    protect: bool = True
    packs: tuple[Path, ...] = ()
    waivers: Path | None = None
    baseline: Path | None = None
    gate: Gate | None = None
    adopted: Mapping[str, str] = field(default_factory=dict)


def run(kind: StackKind) -> None:
    """Run the native project of ``kind``; leave with an exit code when it is refused.

    Configuration: ``blueprint`` (a path, relative to the project), ``site``, ``layers`` (a list of
    paths), ``adopted`` (ids of what is there already and is taken over, by type and name),
    ``packs`` (folders of more policies), ``waivers`` and ``baseline`` (files; without them
    nothing is waived) and ``protect`` (storage, true unless set) are read from the stack.
    """
    with guarded():
        try:
            declare_stack(kind, _read_config(), _beside if kind == "aws-cluster" else None)
        except RefusedError as refused:
            pulumi.log.error(str(refused))
            sys.stdout.flush()
            sys.exit(refused.exit_code)


def inline_program(
    kind: StackKind,
    blueprint: Path | str,
    layers: Sequence[Path | str] = (),
    site: str | None = None,
    *,
    gate: Gate | None = None,
    adopted: Mapping[str, str] | None = None,
) -> Callable[[], None]:
    """Return the program of ``kind`` for the Automation API.

    ``adopted`` has the ids of what it takes over, by type and name.

    It raises ``RefusedError``, which carries the exit code, before it declares anything.
    """
    source = StackSource(
        Path(blueprint),
        tuple(Path(layer) for layer in layers),
        site,
        gate=gate,
        adopted=dict(adopted or {}),
    )

    def program() -> None:
        protect = pulumi.Config().get_bool("protect")
        declare_stack(kind, source if protect is None else replace(source, protect=protect))

    return program


def declare_stack(
    kind: StackKind,
    source: StackSource,
    before: Callable[[Plan, AwsSitePlan], None] | None = None,
) -> None:
    """Declare the resources of the stack, if its blueprint passes.

    Args:
        kind: the project.
        source: where its site comes from.
        before: called before anything is declared.

    Raises:
        RefusedError: it does not; no resource was declared.
    """
    cluster = declare_cluster(kind, source, _References(), before)
    for name, value in cluster.exports.items():
        pulumi.export(name, value)


def declare_cluster(
    kind: StackKind,
    source: StackSource,
    lookup: Lookup,
    before: Callable[[Plan, AwsSitePlan], None] | None = None,
    opts: pulumi.ResourceOptions | None = None,
) -> Cluster:
    """Return the root component of a stack, once its blueprint has passed.

    Args:
        kind: the project.
        source: where its site comes from.
        lookup: finds outputs of the site's other stacks.
        before: called before anything is declared.
        opts: options of the component.

    Raises:
        RefusedError: the blueprint does not pass; no resource was declared.
    """
    loaded, plan = _load(source)
    report = _judge(loaded, source)
    if report.exit_code != ExitCode.CLEAN:
        raise RefusedError(_refusal(report), int(report.exit_code))
    _check_region(plan)
    if before is not None:
        before(loaded.plan, plan)

    from rackwright.components.cluster import Cluster
    from rackwright.components.tags import SiteArgs

    args = SiteArgs(
        plan=plan, cluster=loaded.plan.name, owner=loaded.plan.owner, adopted=source.adopted
    )
    return Cluster(
        kind,
        args,
        loaded.plan.blueprint.model_dump(mode="json"),
        lookup,
        protect=source.protect,
        opts=opts,
    )


class _References:
    """Outputs of the site's other stacks, each stack referred to once."""

    def __init__(self) -> None:
        self._found: dict[str, pulumi.StackReference] = {}

    def __call__(self, kind: StackKind, name: str) -> pulumi.Output[Any]:
        stack = f"{pulumi.get_organization()}/{kind}/{pulumi.get_stack()}"
        if stack not in self._found:
            self._found[stack] = pulumi.StackReference(stack)
        return self._found[stack].outputs.apply(lambda outputs: _pick(stack, outputs, name))


def _pick(stack: str, outputs: dict[str, Any] | None, name: str) -> Any:
    """Return one output; in a preview, an output that is still to come is unknown.

    Raises:
        RunError: the stack has no such output, and this is no preview.
    """
    if outputs and name in outputs:
        return outputs[name]
    if pulumi.runtime.is_dry_run():
        return pulumi.UNKNOWN
    raise pulumi.RunError(f"the stack '{stack}' has no output '{name}'; provision it first")


def _read_config() -> StackSource:
    config = pulumi.Config()
    # Older language hosts do not tell the folder of the project; programs run in it.
    project = Path(pulumi.get_root_directory() or Path.cwd())
    layers = config.get_object("layers") or []
    packs = config.get_object("packs") or []
    protect = config.get_bool("protect")
    waivers, baseline = config.get("waivers"), config.get("baseline")
    blueprint = _join(project, config.require("blueprint"))
    return StackSource(
        blueprint=blueprint,
        layers=tuple(_join(project, str(layer)) for layer in layers),
        site=config.get("site"),
        protect=True if protect is None else protect,
        packs=team_packs(blueprint, [_join(project, str(pack)) for pack in packs]),
        waivers=_join(project, waivers) if waivers else None,
        baseline=_join(project, baseline) if baseline else None,
        adopted=config.get_object("adopted") or {},
    )


def team_packs(blueprint: Path, more: Sequence[Path]) -> tuple[Path, ...]:
    """Return the packs that the team of a blueprint lists, and ``more``.

    Raises:
        RefusedError: one is not what it is pinned to.
    """
    from rackwright.policy.packs.team_config import packs_for

    try:
        return packs_for(blueprint, more)
    except RackwrightError as error:
        raise RefusedError(str(error), int(error.exit_code)) from None


def _join(project: Path, path: str) -> Path:
    """Return ``path`` from the project's folder, without dots that findings would repeat."""
    return Path(os.path.normpath(project / path))


def _load(source: StackSource) -> tuple[LoadedPlan, AwsSitePlan]:
    from rackwright.plan.load import load_plan

    try:
        loaded = load_plan(source.blueprint, source.layers)
        return loaded, _choose_site(loaded.plan.aws, source.site)
    except RackwrightError as error:
        raise RefusedError(str(error), int(error.exit_code)) from None


def _choose_site(plans: Sequence[AwsSitePlan], name: str | None) -> AwsSitePlan:
    names = [plan.name for plan in plans]
    known = ", ".join(f"'{known}'" for known in names) or "none"
    if name is None and len(plans) == 1:
        return plans[0]
    if name is None:
        raise RackwrightError(
            f"the blueprint has {len(plans)} sites on AWS ({known})",
            hint="name one: pulumi config set site NAME",
        )
    if name not in names:
        raise RackwrightError(
            f"the blueprint has no site '{name}' on AWS", hint=f"its sites on AWS: {known}"
        )
    return plans[names.index(name)]


def _judge(loaded: LoadedPlan, source: StackSource) -> Report:
    from rackwright.policy.exceptions.exceptions import read_files
    from rackwright.policy.gate import Gate, refuse_early_stage

    try:
        refuse_early_stage(loaded.plan)
        gate = source.gate or Gate(source.packs, read_files(source.waivers, source.baseline))
        return gate.judge(loaded)
    except RackwrightError as error:
        raise RefusedError(str(error), int(error.exit_code)) from None


def _beside(plan: Plan, site: AwsSitePlan) -> None:
    """Do before a plain ``pulumi up`` what ``rackwright up`` does, and say what is left to do.

    Raises:
        RefusedError: Auto Scaling would be told to end nodes of its own choice, or a running host be renamed.
    """
    from rackwright.files import state_folder
    from rackwright.provision import nodes
    from rackwright.provision.targets import Target

    if not pulumi.runtime.is_dry_run():
        try:
            found = nodes.surplus(
                nodes.fleet_in(plan, site.name), Target("aws", state_folder(), {}, None)
            )
        except UsageError as error:
            raise RefusedError(str(error), int(error.exit_code)) from None
        except RackwrightError as error:
            pulumi.log.warn(f"cannot tell if a node group has more nodes than it should: {error}")
            found = ()
        if found:
            raise RefusedError(
                f"'pulumi up' ends no node: {'; '.join(map(str, found))}\n"
                "  hint: drain and terminate them first: rackwright replace BLUEPRINT --surplus",
                int(ExitCode.USAGE),
            )
    pulumi.log.info(LEFT_TO_DO)


def _refusal(report: Report) -> str:
    from rackwright.report.text import render_text

    return f"nothing is created: the blueprint is refused\n{render_text(report)}"


def _check_region(plan: AwsSitePlan) -> None:
    """Refuse to provision a site in a region that is not its own.

    Raises:
        RefusedError: the stack's region is another, or is not set.
    """
    chosen = pulumi.Config("aws").get("region") or os.environ.get("AWS_REGION")
    if chosen != plan.region:
        said = f"'{chosen}'" if chosen else "not set"
        raise RefusedError(
            f"the site '{plan.name}' is in region '{plan.region}', the stack's "
            f"aws:region is {said}\n  hint: pulumi config set aws:region {plan.region}",
            int(ExitCode.USAGE),
        )
