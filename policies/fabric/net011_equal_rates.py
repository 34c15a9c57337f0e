"""NET-011: both ends of every cable run at one rate, which the cable carries."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.model.connections import Cable
from rackwright.model.fabric import Cables
from rackwright.model.hardware import fact_value
from rackwright.plan.fabric.cables import End, ends
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.missing import each_once, of_product
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of, unattached, uncabled


@rule(
    "NET-011",
    "Both ends of a cable and the cable itself have one rate",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class EqualRates(Policy):
    """No link comes up slower than it is meant to because one of its parts is slower."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each kind of cables."""
        for found in fabrics_of(plan):
            if found.layout is None:
                yield unattached(found, "at which rate the links run")
                continue
            for at, link in found.links():
                yield _judge(found, at, found.layout, link)
            if missing := uncabled(found.layout, found.path):
                yield Finding(found.at(), ok=None, message="cables", missing=missing)


def _judge(found: FabricAt, at: Subject, layout: Layout, link: Cables) -> Finding:
    lower, upper = ends(layout, link)
    from_hosts = link.lower in {hosts.group.name for hosts in layout.hosts}
    expected = found.fabric.rate
    missing = _missing(found, at, (lower, upper))
    if from_hosts and expected is None:
        missing += (found.lacks("rate", ": what every link of a node must come up at"),)
    if lower.rate is None or missing or upper.rate is None:
        return Finding(at, ok=None, message="at which rate the links run", missing=missing)
    message = f"'{lower.name}' runs at {lower.rate:g} Gbps, '{upper.name}' at {upper.rate:g} Gbps"
    fix = None
    if lower.rate != upper.rate:
        fix = _split(lower, upper)
    elif from_hosts and expected != lower.rate:
        message = f"'{lower.name}' runs at {lower.rate:g} Gbps; {expected:g} Gbps is expected"
        fix = f"set 'rate: {lower.rate:g} Gbps', or order ports of {expected:g} Gbps"
    else:
        for end in (lower, upper):
            if end.cable and (told := _misfit(end.cable, lower.rate, layout.technology)):
                message, fix = told
    return Finding(at, ok=fix is None, message=message, fix=fix)


def _misfit(part: Cable, rate: float, technology: str | None) -> tuple[str, str] | None:
    """Return message and fix where ports of ``rate`` Gbps do not run through a part at full rate."""
    whole, each = fact_value(part.rate), fact_value(part.port_rate)
    if whole is not None and (whole < rate or whole % rate):
        told = f"{part.id} is for {whole:g} Gbps, the ports are {rate:g} Gbps"
        return told, f"use a part whose rate is a multiple of {rate:g} Gbps"
    if technology == "infiniband" and each is not None and each < rate:
        told = f"{part.id} is for InfiniBand ports of {each:g} Gbps, these are {rate:g} Gbps"
        return told, f"use a part for InfiniBand ports of {rate:g} Gbps"
    return None


def _split(lower: End, upper: End) -> str:
    """Return the fix that splits a faster port into several slower ones."""
    slow, fast = sorted((lower, upper), key=lambda end: end.rate or 0.0)
    share = (fast.rate or 0.0) / (slow.rate or 1.0)
    if fast is upper and share.is_integer():
        return f"split each port of '{upper.name}' in {share:g} with 'split: {share:g}'"
    return f"order ports of {fast.rate:g} Gbps for '{slow.name}'"


def _missing(found: FabricAt, at: Subject, both: tuple[End, End]) -> tuple[str, ...]:
    groups = [attached.group for attached in found.fabric.attached]
    missing = []
    for end in both:
        if end.rate is None:
            where = (
                ("attached", groups.index(end.name), "rate") if end.name in groups else ("tiers",)
            )
            words = f"rate of the ports of '{end.name}'"
            missing.append(Missing(words, found.at(*where).path))
    for end in both:
        if end.cable is None:
            missing.append(Missing("'cable'", (*at.path, "cable")))
        elif end.cable.rate is None:
            missing.append(of_product(end.cable.id, "rate", "rate"))
    return each_once(missing)
