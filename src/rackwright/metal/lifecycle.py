"""Way of one host from its controller to its operating system: the next act, as a pure function.

Ironic's state of the node is the truth about what is going on; the record has what was proven before and
how often an act was tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rackwright.metal.discovery.compare import MachineState, compare
from rackwright.metal.discovery.machines import DiscoveredMachine
from rackwright.metal.ironic import IronicNode
from rackwright.metal.journal import HostRecord
from rackwright.metal.nodes import FIRMWARE_ORDER, HostPlan
from rackwright.model.provisioning import Image
from rackwright.nodelife.redfish import BmcState


class ProvisioningStep(StrEnum):
    """Steps in their order; each is proven before the next begins."""

    ENROLLED = "enrolled"
    INSPECTED = "inspected"
    FIRMWARE = "firmware"
    CLEANED = "cleaned"
    IMAGED = "imaged"
    SECURED = "secure boot"
    REACHED = "reached by ssh"
    ATTESTED = "attested"
    CONFIGURED = "configured"
    ACCEPTED = "accepted"


class Act(StrEnum):
    """Acts; those of ``SWITCHES_ON`` switch a machine on."""

    CREATE = "create"
    MANAGE = "manage"
    INSPECT = "inspect"
    UPDATE = "update"
    RESTART = "restart controller"
    """Restart the controller, whose machine runs on."""
    PROVIDE = "provide"
    DEPLOY = "deploy"
    SERVICE = "service"
    """Update a component of an installed host."""
    REBUILD = "rebuild"
    """Write an image over the one that is there."""
    UNDEPLOY = "undeploy"
    """Give up what is installed, and clean the disks."""
    READ = "read"
    """Read the machine by its controller."""
    REACH = "reach"
    ATTEST = "attest"
    CONFIGURE = "configure"
    ACCEPT = "accept"


LATE = (Act.REACH, Act.ATTEST, Act.CONFIGURE, Act.ACCEPT)
"""Acts on installed hosts, which end before the next is begun."""
SWITCHES_ON = frozenset(
    {Act.INSPECT, Act.UPDATE, Act.PROVIDE, Act.DEPLOY, Act.SERVICE, Act.REBUILD, Act.UNDEPLOY}
)
TRIES = 3
"""Tries of one act of a step."""
AWAY_S = 900.0
"""Seconds for which a controller may be away after an update or its own restart."""
DEADLINE_S: Mapping[ProvisioningStep, float] = {
    ProvisioningStep.ENROLLED: 600.0,
    ProvisioningStep.INSPECTED: 1800.0,
    ProvisioningStep.FIRMWARE: 5400.0,
    ProvisioningStep.CLEANED: 5400.0,
    ProvisioningStep.IMAGED: 3600.0,
    ProvisioningStep.REACHED: 1800.0,
}
"""Seconds within which an act has to end. Firmware of a whole server takes an hour on some makers."""
_UNDER_WAY = frozenset({
    "verifying", "inspecting", "inspect wait", "cleaning", "clean wait", "deploying", "wait call-back",
    "deleting", "adopting", "servicing", "service wait", "rescuing",
})  # fmt: skip
_TOLD, _OPEN = "as planned: ", "; not told: "
_PAST_INSPECTION = frozenset(
    {"available", "active", "deploying", "wait call-back", "deploy failed", "service failed"}
)
_AWAY = frozenset(
    {BmcState.UNREACHABLE, BmcState.SILENT, BmcState.LOST, BmcState.ERRORS, BmcState.BUSY}
)
_STUCK = frozenset({BmcState.STUCK_TASK, BmcState.VANISHED_TASK})
_REFUSED = frozenset(
    {MachineState.TWIN, MachineState.MISPLACED, MachineState.OTHER_MODEL, MachineState.OTHER_PARTS}
)


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until Ironic is done."""


@dataclass(frozen=True, slots=True)
class Do:
    """An act to begin.

    Attributes:
        detail: component that is updated.
    """

    step: ProvisioningStep
    act: Act
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Passed:
    """A step that is proven."""

    step: ProvisioningStep
    note: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """A host that is left alone, with the reason."""

    step: ProvisioningStep
    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """End of an act on an installed host.

    Attributes:
        reason: for which it failed; None where it did not.
        note: of what was seen.
    """

    reason: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """Machine of a host as its controller describes it.

    Attributes:
        machine: None where there is none, and in a rehearsal.
        problems: what keeps it from being provisioned.
        is_away: its controller does not answer, or answers with errors, as while it starts.
    """

    machine: DiscoveredMachine | None
    problems: tuple[str, ...] = ()
    is_away: bool = False


Decision = Wait | Do | Passed | Failed
_Decider = Callable[[HostPlan, HostRecord, IronicNode, Seen | None], Decision]


def steps_of(plan: HostPlan) -> tuple[ProvisioningStep, ...]:
    """Return the steps of a host."""
    left_out = set()
    if not plan.group.secure_boot:
        left_out.add(ProvisioningStep.SECURED)
    if plan.group.attestation is None:
        left_out.add(ProvisioningStep.ATTESTED)
    return tuple(step for step in ProvisioningStep if step not in left_out)


def is_at(plan: HostPlan, record: HostRecord, until: ProvisioningStep) -> bool:
    """Return True if a host has passed all its steps up to one, which need not be among them."""
    order = tuple(ProvisioningStep)
    wanted = order[: order.index(until) + 1]
    return all(step in record.done for step in steps_of(plan) if step in wanted)


def decide(
    plan: HostPlan,
    record: HostRecord,
    node: IronicNode | None,
    seen: Seen | None,
    cluster: str,
    now: float,
) -> Decision | None:
    """Return what comes next for a host; None where it is done or left alone.

    Args:
        plan: of the host.
        record: of the journal.
        node: as Ironic has it; None where it has none.
        seen: its machine, read since the last act; None where it was not read.
        cluster: whose node it has to be.
        now: on the clock of the journal.
    """
    if record.failure is not None:
        return None
    step = next((one for one in steps_of(plan) if one not in record.done), None)
    if step is None:
        return None
    if node is not None and (wrong := _not_ours(node, cluster)) is not None:
        return Failed(step, wrong)
    if node is None:
        if step is ProvisioningStep.ENROLLED:
            # A machine that is not the one that is meant is not even made known to Ironic.
            return _look(step, seen) or _try(record, step, Act.CREATE, None)
        return Failed(
            step, "its node is no longer in Ironic: 'provision --retry' begins at the beginning"
        )
    if node.provision_state in _UNDER_WAY:
        return _wait(record, step, node, now)
    if node.maintenance:
        return Failed(step, f"its node is in maintenance: {node.last_error or 'set by hand'}")
    if (
        step is ProvisioningStep.FIRMWARE
        and seen is not None
        and seen.is_away
        and record.begun is not None
        and now - record.begun <= AWAY_S
    ):
        return Wait()  # controllers go away while they start with their new firmware
    return _DECISIONS[step](plan, record, node, seen)


def _not_ours(node: IronicNode, cluster: str) -> str | None:
    own = node.extra.get("rackwright")
    owner = own.get("cluster") if isinstance(own, Mapping) else None
    if owner == cluster:
        return None
    return (
        f"Ironic has a node of this name that is not of '{cluster}' ({owner or 'made by others'})"
    )


def _wait(record: HostRecord, step: ProvisioningStep, node: IronicNode, now: float) -> Decision:
    limit = DEADLINE_S.get(step)
    if limit is not None and record.begun is not None and now - record.begun > limit:
        reason = f"'{node.provision_state}' for more than {limit / 60:.0f} min"
        return Failed(step, reason)
    return Wait()


def _try(
    record: HostRecord, step: ProvisioningStep, act: Act, error: str | None, detail: str = ""
) -> Decision:
    """Return the act, or the failure where it was tried often enough."""
    name = f"{act} {detail}".strip()
    if record.acts.get(name, 0) >= TRIES:
        return Failed(step, f"{name} failed {TRIES} times: {error or 'no reason was given'}")
    return Do(step, act, detail)


def _enrolled(plan: HostPlan, record: HostRecord, node: IronicNode, _: Seen | None) -> Decision:
    if node.provision_state == "enroll":
        return _try(record, ProvisioningStep.ENROLLED, Act.MANAGE, node.last_error)
    return Passed(ProvisioningStep.ENROLLED, node.uuid)


def _inspected(plan: HostPlan, record: HostRecord, node: IronicNode, seen: Seen | None) -> Decision:
    step = ProvisioningStep.INSPECTED
    if node.provision_state == "inspect failed" or (
        node.provision_state == "manageable" and not node.inspected
    ):
        return _try(record, step, Act.INSPECT, node.last_error)
    if node.provision_state not in {"manageable", *_PAST_INSPECTION}:
        return Failed(step, f"its node is in the state '{node.provision_state}'")
    if (other := _look(step, seen)) is not None:
        return other
    machine = None if seen is None else seen.machine
    if machine is None:
        return Passed(step, "rehearsed")
    return Passed(step, f"{machine.serial or '?'}, {machine.model or '?'}")


def _look(step: ProvisioningStep, seen: Seen | None) -> Decision | None:
    """Return that a machine is to be read, or that it is another one; None where it is the one that is meant."""
    if seen is None:
        return Do(step, Act.READ)
    return Failed(step, "; ".join(seen.problems)) if seen.problems else None


def facts_against(
    plans: Sequence[HostPlan], machines: Sequence[DiscoveredMachine]
) -> dict[str, Seen]:
    """Return each host's machine, and what it has otherwise than the blueprint means it or does not tell."""
    by_host = {plan.name: plan for plan in plans}
    made: dict[str, Seen] = {}
    for line in compare([plan.machine for plan in plans], machines):
        if line.host is None:
            continue
        states = {MachineState.MISSING, *_REFUSED}
        problems = [reason for state, reason in line.problems if state in states]
        machine = line.found
        if machine is not None and not machine.readable:
            problems = [f"{machine.state.value}: {machine.reason}"]
        serial = by_host[line.host].machine.serial
        if machine is not None and machine.readable and machine.serial is None and serial:
            # It is known by its address alone, at which another machine may be.
            problems.append(
                f"its controller does not tell its serial number, and {serial} is planned"
            )
        planned = by_host[line.host].machine.accelerators
        if machine is not None and machine.readable and machine.accelerators is None and planned:
            text = "its controller does not tell its accelerators"
            problems.append(f"{text}, and {planned} are planned")
        is_away = machine is not None and machine.state in _AWAY
        made[line.host] = Seen(machine, tuple(problems), is_away)
    return made


def _firmware(plan: HostPlan, record: HostRecord, node: IronicNode, seen: Seen | None) -> Decision:
    step = ProvisioningStep.FIRMWARE
    wanted = plan.machine.firmware
    if not wanted:
        return Passed(step, "no version is stated")
    if (wrong := _look(step, seen)) is not None:
        return wrong
    machine = None if seen is None else seen.machine
    if machine is None:
        return Passed(step, "rehearsed")
    other = {part: has for part, version in wanted.items()
             if (has := machine.firmware.get(part)) is not None and has != version}  # fmt: skip
    for part in FIRMWARE_ORDER:
        if part not in other:
            continue
        file = plan.firmware.get(part)
        text = f"{part} is {other[part]}, and {wanted[part]} is planned"
        if file is None or file.version != wanted[part]:
            return Failed(step, f"{text}: no file of 'provisioning.firmware' brings it there")
        if file.checksum is None:
            return Failed(step, f"{text}: the file '{file.name}' has no checksum")
        act = Act.UPDATE
        if record.renewing and node.provision_state in {"active", "service failed"}:
            act = Act.SERVICE
        elif node.provision_state not in {"manageable", "clean failed"}:
            return Failed(step, f"{text}: its node is '{node.provision_state}'")
        is_stuck = machine.state in _STUCK
        if is_stuck or record.acts.get(f"{act} {part}", 0) == TRIES - 1:
            if not record.acts.get(f"{Act.RESTART} {part}"):  # some take no update before
                return Do(step, Act.RESTART, part)
            if is_stuck:
                return Failed(step, f"{text}: {machine.state.value}: {machine.reason}")
        return _try(record, step, act, node.last_error or "not read back", part)
    told = [f"{part} {wanted[part]}" for part in wanted if part in machine.firmware]
    open_ones = [part for part in wanted if part not in machine.firmware]
    note = f"{_TOLD}{', '.join(told) or 'none'}"
    return Passed(step, f"{note}{_OPEN}{', '.join(open_ones)}" if open_ones else note)


def split_firmware_note(note: str) -> tuple[Mapping[str, str], frozenset[str]]:
    """Return the versions that were read back by component, and the components that were not told."""
    told, _, open_ones = note.removeprefix(_TOLD).partition(_OPEN)
    pairs = (text.partition(" ") for text in told.split(", "))
    return {part: version for part, _, version in pairs}, frozenset(open_ones.split(", "))


def image_note(image: Image) -> str:
    """Return the note of a host that has an image."""
    kind, _, digest = (image.checksum or "").partition(":")
    return f"{image.name} ({kind} {digest[:12]})"


def _cleaned(plan: HostPlan, record: HostRecord, node: IronicNode, _: Seen | None) -> Decision:
    step = ProvisioningStep.CLEANED
    if node.provision_state == "available":
        return Passed(step)
    if node.provision_state == "clean failed":
        return _try(record, step, Act.MANAGE, node.last_error)
    if node.provision_state == "manageable":
        return _try(record, step, Act.PROVIDE, node.last_error)
    if record.renewing and node.provision_state in {"active", "deploy failed", "error"}:
        return _try(record, step, Act.UNDEPLOY, node.last_error)
    return Failed(
        step, f"its node is in the state '{node.provision_state}': something else was done to it"
    )


def _imaged(plan: HostPlan, record: HostRecord, node: IronicNode, _: Seen | None) -> Decision:
    step = ProvisioningStep.IMAGED
    if plan.image.checksum is None:
        return Failed(step, f"the image '{plan.image.name}' has no checksum")
    digest = plan.image.checksum.partition(":")[2]
    own = node.instance_info.get("image_os_hash_value") == digest
    if node.provision_state == "active":
        # The node has the new image's name before it is written: it counts when the node's state has
        # changed since the writing was begun.
        begun = {name for name in record.acts if name.startswith((Act.REBUILD, Act.DEPLOY))}
        last = f"{Act.REBUILD} {node.updated}"
        if own and (not record.renewing or (begun and last not in begun)):
            return Passed(step, image_note(plan.image))
        if record.renewing:
            return _try(record, step, Act.REBUILD, node.last_error, node.updated)
        return Failed(step, "it runs another image: 'decommission' it first")
    if node.provision_state in {"available", "deploy failed"}:
        return _try(record, step, Act.DEPLOY, node.last_error)
    return Failed(step, f"its node is in the state '{node.provision_state}'")


def _secured(plan: HostPlan, record: HostRecord, node: IronicNode, seen: Seen | None) -> Decision:
    step = ProvisioningStep.SECURED
    if seen is None:
        return Do(step, Act.READ)
    machine = seen.machine
    if machine is None:
        return Passed(step, "rehearsed")
    if machine.secure_boot is None:
        return Failed(step, "its controller does not tell if secure boot is on")
    if not machine.secure_boot:
        return Failed(step, "secure boot is off")
    return Passed(step)


def _later(act: Act, step: ProvisioningStep) -> _Decider:
    def decided(plan: HostPlan, record: HostRecord, node: IronicNode, _: Seen | None) -> Decision:
        if node.provision_state != "active":
            return Failed(step, f"its node is in the state '{node.provision_state}'")
        return _try(record, step, act, record.last)

    return decided


_DECISIONS: Mapping[ProvisioningStep, _Decider] = {
    ProvisioningStep.ENROLLED: _enrolled,
    ProvisioningStep.INSPECTED: _inspected,
    ProvisioningStep.FIRMWARE: _firmware,
    ProvisioningStep.CLEANED: _cleaned,
    ProvisioningStep.IMAGED: _imaged,
    ProvisioningStep.SECURED: _secured,
    ProvisioningStep.REACHED: _later(Act.REACH, ProvisioningStep.REACHED),
    ProvisioningStep.ATTESTED: _later(Act.ATTEST, ProvisioningStep.ATTESTED),
    ProvisioningStep.CONFIGURED: _later(Act.CONFIGURE, ProvisioningStep.CONFIGURED),
    ProvisioningStep.ACCEPTED: _later(Act.ACCEPT, ProvisioningStep.ACCEPTED),
}
