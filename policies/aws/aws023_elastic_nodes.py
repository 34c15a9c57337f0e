"""AWS-023: elastic nodes can join, and stay up longer than they take to boot."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)

_PUBLIC = "ssm:/aws/service/"


@rule(
    "AWS-023",
    "Elastic nodes can join, and stay up longer than they take to boot",
    Severity.HIGH,
    since="0.4",
    stage="build",
    profile=Profile.LAB,
)
class ElasticNodes(Policy):
    """Nodes that Slurm launches join by themselves and in time, and are not terminated right after their boot."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings for the configuration and each image, and measures of the times."""
        groups = [
            (site, group) for site in plan.aws for group in site.groups if group.spec.is_elastic
        ]
        if not groups or plan.scheduler is None:
            return
        scheduler = plan.scheduler
        yield Finding(
            Subject("configuration of Slurm", ("scheduler", "configless")),
            ok=scheduler.configless,
            message="elastic nodes read slurm.conf from the controller when they boot"
            if scheduler.configless
            else "elastic nodes boot with the slurm.conf of their image, which becomes outdated",
            fix=None if scheduler.configless else "set 'scheduler.configless: true'",
        )
        for site, group in groups:
            stock = group.spec.image.startswith(_PUBLIC)
            yield Finding(
                Subject(f"{site.name} {group.spec.name}", (*group.path, "image")),
                ok=not stock,
                message=f"'{group.spec.image}' is a public image without slurmd and drivers, and 'configure' does not run "
                "on nodes that Slurm launches"
                if stock
                else f"'{group.spec.image}' is a private image",
                fix="create an image with the roles applied, and set it as 'image'"
                if stock
                else None,
            )
        yield from _times(plan)


def _times(plan: Plan) -> Iterator[Measure]:
    assert plan.scheduler is not None  # noqa: S101 - the caller has looked
    times = plan.scheduler.power_saving
    path = ("scheduler", "power_saving")
    missing: tuple[Missing, ...] = ()
    if times.boot is None:
        missing = (Missing("time from the launch of a node to its slurmd", (*path, "boot")),)
    yield Measure(
        Subject("time to join", (*path, "resume_timeout")),
        value=times.resume_timeout,
        limit=times.boot,
        unit="s",
        sense="at_least",
        what="time that a launched node has to join",
        fix="raise 'scheduler.power_saving.resume_timeout'",
        missing=missing,
    )
    yield Measure(
        Subject("idle time", (*path, "idle")),
        value=times.idle,
        limit=times.boot,
        unit="s",
        sense="at_least",
        what="time that an idle node is kept for the next job",
        fix="raise 'scheduler.power_saving.idle'",
        missing=missing,
    )
