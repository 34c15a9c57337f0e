"""Predictions for the workloads of a plan: what each gets of the hosts that it is to run on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rackwright.harmless import counted
from rackwright.model.hardware import Accelerators, fact_value
from rackwright.model.workloads import TrainingWorkload
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion
from rackwright.plan.fabric.layout import port_rate
from rackwright.plan.fabric.ports import oversubscription
from rackwright.plan.missing import fields_of
from rackwright.plan.storage.training import TrainingReads, training_reads
from rackwright.plan.workload.layout import ModelLayout, mistakes
from rackwright.plan.workload.library import accelerator_of, known_models, known_programs
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.memory import EVERYTHING
from rackwright.plan.workload.run import Bounds, LostTime, lost_time, tokens_a_day
from rackwright.plan.workload.search import batches, enough, fastest, layouts, nearest
from rackwright.plan.workload.software import Software
from rackwright.plan.workload.speeds import ROOFLINE_SPREAD, Accelerator, Basis
from rackwright.plan.workload.step import StepTime, TrainingJob, step_time
from rackwright.plan.workload.transformer import LanguageModel, read_config

if TYPE_CHECKING:
    from rackwright.plan.expansion import SitePlan
    from rackwright.plan.fabric.fabrics import FabricPlan
    from rackwright.plan.records.nodes import NodeGroupPlan


@dataclass(frozen=True, slots=True)
class JobPlacement:
    """Placement of a workload.

    Attributes:
        accelerators: of the job.
        hosts: of the job.
        links: what joins them; None where the network is not known.
        missing: what would have to be known.
        power: share of its TDP that each accelerator may draw under the cap of its group.
        uplinks: of a leaf, where nothing keeps flows off those that others take; else 0.
        group: place of its node group in the blueprint.
        fabric: of role ``compute`` that joins its hosts; None on AWS and where there is none.
    """

    board: Accelerators
    accelerators: int
    hosts: int
    links: Links | None
    missing: tuple[str, ...] = ()
    power: float = 1.0
    uplinks: int = 0
    group: Path = field(default=(), compare=False)
    fabric: FabricPlan | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class _Network:
    """Network of the hosts of a group.

    Attributes:
        rail: bytes in a second of an accelerator's port; 0 where it is not known.
        pod: accelerators of a pod.
        oversubscription: of the tiers above it.
        uplinks: of a leaf, where flows take them by chance.
        missing: what would have to be known.
    """

    rail: float = 0.0
    pod: int = 1 << 30
    oversubscription: float = 1.0
    uplinks: int = 0
    fabric: FabricPlan | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted yield of a workload.

    Attributes:
        layout: given or found; None where none fits or something is missing.
        step: with that layout.
        speed: tokens in a second of all accelerators, without failures.
        lost: share of the time that failures and checkpoints take; None where unknown.
        a_day: tokens of a day, failures included where they are known.
        missing: what would have to be known.
        problem: why there is no prediction, for people.
        field: of the workload that would state or change what is missing or wrong.
        memory: bytes of one accelerator; None where it is not known.
        slowed: speed under a power cap over that without one; None without a cap.
        basis: of the accelerator's speeds; None without a step.
        collisions: share of the speed that is lost at worst where flows take the same links; in the low end of the range.
        reads: of training data; None without a step.
        wanted: tokens in a second under the power cap, without waiting for training data; 0 without a step.
    """

    workload: TrainingWorkload
    path: Path
    placement: JobPlacement | None
    layout: ModelLayout | None = None
    step: StepTime | None = None
    speed: Bounds | None = None
    lost: LostTime | None = None
    a_day: Bounds | None = None
    missing: tuple[str, ...] = ()
    problem: str | None = None
    field: str = "group"
    memory: float | None = None
    slowed: Bounds | None = None
    basis: Basis | None = None
    collisions: float = 0.0
    reads: TrainingReads | None = None
    wanted: float = 0.0

    @property
    def effective(self) -> float | None:
        """Return the share of the time that failures and checkpoints leave; None where unknown."""
        return None if self.lost is None else self.lost.effective

    @property
    def lacking(self) -> tuple[tuple[str, Path], ...]:
        """Return what stands against a prediction, each with the field that would state or change it."""
        texts = self.missing if self.problem is None else (self.problem,)
        own: Path = (*self.path, self.field)
        fields = ([one for one in fields_of(text) if isinstance(one, tuple)] for text in texts)
        return tuple(
            (text, next(iter(found), own)) for text, found in zip(texts, fields, strict=True)
        )

    @property
    def days(self) -> Bounds | None:
        """Return the days of the whole run; None without a number of tokens, or where it never ends."""
        if self.a_day is None or not self.a_day.low or self.workload.tokens is None:
            return None
        return self.a_day.inverse(self.workload.tokens)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Reason for which a job has no layout, and the field of its workload to change."""

    text: str
    field: str


def predictions(plan: Expansion) -> Iterator[Prediction]:
    """Yield a prediction for each workload of the plan, in the order of the blueprint."""
    for index, workload in enumerate(plan.workloads):
        yield predict(plan, workload, ("workloads", index))


def predict(plan: Expansion, workload: TrainingWorkload, path: Path) -> Prediction:
    """Return what one workload gets of the plan."""
    placement = place(plan, workload)
    if placement is None:
        name = f"{workload.site}/{workload.group}"
        others = ", ".join(_with_accelerators(plan, workload.site))
        cure = f"; those of {others} have" if others else ""
        return Prediction(
            workload, path, None, problem=f"hosts of '{name}' have no accelerators{cure}"
        )
    accelerator = accelerator_of(placement.board)
    if accelerator is None:
        return Prediction(
            workload,
            path,
            placement,
            missing=(f"measured or published speeds of {placement.board.model}",),
        )
    if workload.precision not in accelerator.gemms:
        known = ", ".join(accelerator.gemms)
        return Prediction(
            workload,
            path,
            placement,
            missing=(
                f"speeds of {placement.board.model} at {workload.precision} (known: {known})",
            ),
            field="precision",
        )
    if placement.links is None:
        return Prediction(workload, path, placement, missing=placement.missing)
    return _predicted(plan, workload, path, placement, accelerator)


def _with_accelerators(plan: Expansion, site: str) -> Iterator[str]:
    """Yield the node groups of a site whose hosts have accelerators."""
    for metal in plan.onprem:
        yield from (
            f"'{one.name}'"
            for one in metal.groups
            if metal.name == site and one.product.accelerators is not None
        )
    for cloud in plan.aws:
        yield from (
            f"'{one.spec.name}'"
            for one in cloud.groups
            if cloud.spec.name == site and one.instance.accelerators is not None
        )


def _predicted(
    plan: Expansion,
    workload: TrainingWorkload,
    path: Path,
    placement: JobPlacement,
    accelerator: Accelerator,
) -> Prediction:
    job, software = job_of(workload), software_of(workload)
    assert placement.links is not None  # noqa: S101 - the caller has looked
    found = _laid_out(workload, job, placement, accelerator, placement.links, software)
    if isinstance(found, Misfit):
        return Prediction(workload, path, placement, problem=found.text, field=found.field)
    layout, step = found
    low, high = software.spread.get(job.model.kind, (0.5, 1.5))
    if accelerator.basis == "roofline":
        low, high = ROOFLINE_SPREAD
    value = step.tokens / step.seconds
    crowded = replace(placement.links, uplinks=placement.uplinks)
    worst = step_time(job, layout, placement.accelerators, accelerator, crowded, software)
    free = Bounds(value * low * step.seconds / worst.seconds, value, value * high)
    reads = training_reads(plan, workload, job.model.stored_token, placement.hosts, path)
    wanted = free
    slowed = slowed_by(step, placement.power) if placement.power < 1 else None
    if slowed is not None:
        wanted = Bounds(free.low * slowed.low, free.value * slowed.value, free.high * slowed.high)
    speed, uncapped = wanted.limited(reads.limit), free.limited(reads.limit)
    if slowed is not None and uncapped != free:
        slowed = Bounds(
            speed.low / uncapped.low, speed.value / uncapped.value, speed.high / uncapped.high
        )
    step, worst = step.limited(reads.limit), worst.limited(reads.limit)
    link = accelerator.host_link
    copies = None if link is None else link * placement.accelerators
    lost, missing = lost_time(plan, workload, placement.hosts, job.model.parameters, copies)
    effective = 1.0 if lost is None else lost.effective
    return Prediction(
        workload,
        path,
        placement,
        layout=layout,
        step=step,
        speed=speed,
        lost=lost,
        a_day=tokens_a_day(speed, effective),
        missing=missing,
        field="job",
        memory=accelerator.memory,
        slowed=slowed,
        basis=accelerator.basis,
        collisions=1 - step.seconds / worst.seconds,
        reads=reads,
        wanted=wanted.value,
    )


def slowed_by(step: StepTime, power: float) -> Bounds:
    """Return the speed of a step with ``power`` of the accelerators' TDP over that with all of it.

    Products and attention draw all that there is (docs/workloads.md has an H100 at its cap). The power of CMOS rises with
    the clock at one voltage, and with its third power where the voltage follows it: clocks fall to between ``power`` and
    its cube root.
    """
    bound = step.parts.products + step.parts.attention + step.output
    share = bound / step.seconds

    def speed(clock: float) -> float:
        return 1 / (1 - share + share / clock)

    return Bounds(speed(power), speed(power ** (2 / 3)), speed(power ** (1 / 3)))


def job_of(workload: TrainingWorkload) -> TrainingJob:
    """Return the job of a workload whose model is known (``check_workloads``)."""
    return TrainingJob(
        model_of(workload),
        workload.sequences,
        workload.sequence,
        workload.precision,
        workload.task,
    )


def model_of(workload: TrainingWorkload) -> LanguageModel:
    """Return the model of a workload: built in, or of its own ``config``.

    Raises:
        UnknownShapeError: the config describes no transformer that can be counted.
    """
    if workload.config is not None:
        return read_config(workload.model, workload.config)
    return known_models()[workload.model]


def software_of(workload: TrainingWorkload) -> Software:
    """Return the training program of a workload, the default where it names none."""
    programs = known_programs()
    return programs[workload.software] if workload.software else next(iter(programs.values()))


def _laid_out(
    workload: TrainingWorkload,
    job: TrainingJob,
    placement: JobPlacement,
    accelerator: Accelerator,
    links: Links,
    software: Software,
) -> tuple[ModelLayout, StepTime] | Misfit:
    """Return the layout with its step, or why there is none."""
    count = placement.accelerators
    if workload.given_layout is None:
        best = fastest(job, count, accelerator, links, software)
        if best is not None:
            return best
        if next(layouts(job, count, links), None) is None:
            whole = " or ".join(f"{one:,}" for one in batches(job, count, links))
            return Misfit(
                f"no layout divides the {job.sequences:,} sequences of a step among {count:,} accelerators"
                f"{f'; nearest that one divides: {whole}' if whole else ''}",
                "batch",
            )
        memory = accelerator.memory / 1e9
        more = enough(job, count, accelerator, links, software)
        return Misfit(
            f"no layout of {workload.model} fits {counted(count, 'accelerator')} of {memory:.0f} GB"
            f"{f'; one fits {more:,}' if more else ''}",
            "hosts",
        )
    layout = ModelLayout(**workload.given_layout.model_dump())
    wrong = "; ".join(mistakes(job.model, layout, count, job.sequences))
    if not wrong:
        step = step_time(job, layout, count, accelerator, links, software)
        if step.fits:
            return layout, step
        wrong = _too_large(step, accelerator)
    near = nearest(job, layout, count, accelerator, links, software)
    if not near:
        told = f"{wrong}; no layout of {workload.model} fits {counted(count, 'accelerator')}"
        return Misfit(told, "layout")
    return Misfit(f"{wrong}; nearest that fit: {' | '.join(map(str, near))}", "layout")


def _too_large(step: StepTime, accelerator: Accelerator) -> str:
    """Return the memory that a layout needs by its parts, in GB, with everything recomputed."""
    need = step.memory
    parts = {
        "states": need.states,
        "activations": need.least,
        "logits": need.logits,
        "libraries": need.reserved,
    }
    listed = ", ".join(f"{name} {size / 1e9:.0f}" for name, size in parts.items())
    total = need.total(EVERYTHING) / 1e9
    return (
        f"the layout needs {total:.0f} GB of {accelerator.memory / 1e9:.0f} GB with everything "
        f"recomputed: {listed}"
    )


def place(plan: Expansion, workload: TrainingWorkload) -> JobPlacement | None:
    """Return where a workload runs; None where its hosts have no accelerators."""
    for site in plan.onprem:
        if site.name == workload.site:
            return _on_metal(site, workload)
    for aws in plan.aws:
        if aws.spec.name == workload.site:
            named = [n for n, g in enumerate(aws.groups) if g.spec.name == workload.group]
            group = aws.groups[named[0]] if named else None
            board = None if group is None else group.instance.accelerators
            if group is None or board is None:
                return None
            hosts = workload.hosts or group.spec.most
            each = board.count // group.instance.hosts
            bandwidth = group.instance.bandwidth
            accelerator = accelerator_of(board)
            if accelerator is None or bandwidth is None:
                return JobPlacement(
                    board, hosts * each, hosts, None, (f"network bandwidth of {group.instance.id}",)
                )
            links = Links(
                domain=board.domain.value if board.domain else board.count,
                link=accelerator.link,
                delay=accelerator.delay,
                rail=bandwidth.value / 8 * 1e9 / each,
            )
            where = (*aws.path, "node_groups", named[0])
            return JobPlacement(board, hosts * each, hosts, links, group=where)
    return None


def _on_metal(site: SitePlan, workload: TrainingWorkload) -> JobPlacement | None:
    group = site.groups_by_name.get(workload.group)
    if group is None or group.product.accelerators is None:
        return None
    board, hosts = group.product.accelerators, workload.hosts or group.hosts
    each = board.count // group.product.hosts
    accelerator = accelerator_of(board)
    domain = board.domain.value if board.domain else board.count
    count = hosts * each
    if accelerator is None:
        return JobPlacement(board, count, hosts, None, (f"speeds of {board.model}",))
    network = _network(site, workload.group, each)
    links = Links(
        domain=domain,
        link=accelerator.link,
        delay=accelerator.delay,
        rail=network.rail,
        pod=network.pod,
        oversubscription=network.oversubscription,
    )
    if count > domain and not network.rail:
        return JobPlacement(board, count, hosts, None, network.missing)
    power = _power_share(group)
    if power is None:
        told = f"power of '{group.product.id}' and TDP of its accelerators, which its 'power_cap' lowers"
        return JobPlacement(board, count, hosts, None, (told,))
    return JobPlacement(
        board,
        count,
        hosts,
        links,
        power=power,
        uplinks=network.uplinks,
        group=group.path,
        fabric=network.fabric,
    )


def _power_share(group: NodeGroupPlan) -> float | None:
    """Return the share of its TDP that an accelerator may draw under its group's cap; None if unknown.

    All other parts of a node draw what they draw without the cap.
    """
    cap, board = group.spec.power_cap, group.product.accelerators
    if cap is None:
        return 1.0
    most = fact_value(group.product.max_power)
    each = fact_value(board.tdp) if board is not None else None
    if board is None or most is None or not each:
        return None
    left = each - max(0.0, most - cap) / board.count
    return max(left, fact_value(board.min_power) or 0.1 * each) / each


def _network(site: SitePlan, group: str, each: int) -> _Network:
    """Return the network of the hosts of a group, with ``each`` accelerators.

    The fabric is the one of role ``compute`` that the group hangs on. Routes of the fat-tree engine keep shifts apart, adaptive
    ones avoid what is busy; others, and equal paths of Ethernet that a hash chooses from, do neither.
    """
    for planned in site.fabrics:
        layout = planned.layout
        if planned.fabric.role != "compute" or layout is None:
            continue
        for hosts in layout.hosts:
            if hosts.group.name != group:
                continue
            gbps = port_rate(hosts)
            if hosts.interfaces is None or gbps is None:
                return _Network(missing=(f"ports of '{group}' on the fabric '{planned.name}'",))
            engine = planned.fabric.routing_engine or ""
            apart = engine == "ftree" or engine.startswith("ar_")
            if not planned.is_infiniband:
                apart = bool(planned.fabric.adaptive_routing)
            return _Network(
                rail=gbps / 8 * 1e9 * hosts.interfaces / each,
                pod=layout.unit_hosts * each if len(layout.tiers) > 1 else 1 << 30,
                oversubscription=math.prod(
                    max(1.0, oversubscription(layout, tier) or 1.0)
                    for tier in range(len(layout.tiers) - 1)
                ),
                uplinks=0 if apart else layout.up_ports(0) or 0,
                fabric=planned,
            )
    missing = f"a fabric with role 'compute' to which '{group}' of '{site.name}' is attached"
    return _Network(missing=(missing,))


def with_links(prediction: Prediction, **changes: float) -> StepTime | None:
    """Return the step of a prediction with other links, for what a change of the fabric would bring."""
    placement, layout = prediction.placement, prediction.layout
    if placement is None or placement.links is None or layout is None:
        return None
    accelerator = accelerator_of(placement.board)
    if accelerator is None:
        return None
    links = replace(placement.links, **changes)  # type: ignore[arg-type]
    workload = prediction.workload
    step = step_time(
        job_of(workload), layout, placement.accelerators, accelerator, links, software_of(workload)
    )
    return step if prediction.reads is None else step.limited(prediction.reads.limit)
