"""Renewal of installed hosts: differences from the blueprint since the installation, and the steps that fix them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rackwright.metal.journal import HostRecord
from rackwright.metal.lifecycle import ProvisioningStep, image_note, split_firmware_note, steps_of
from rackwright.metal.nodes import HostPlan

_AFTER_FIRMWARE = frozenset({ProvisioningStep.CLEANED, ProvisioningStep.IMAGED})
"""Steps that a firmware update does not repeat."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """Renewal of one host.

    Attributes:
        reasons: differences from the blueprint.
        steps: steps to repeat.
    """

    reasons: tuple[str, ...]
    steps: tuple[ProvisioningStep, ...]


def renewal_of(plan: HostPlan, record: HostRecord) -> Renewal | None:
    """Return the renewal of a host; None if it is as in the blueprint, or was never accepted."""
    done = record.done
    is_accepted = ProvisioningStep.ACCEPTED in done
    if not is_accepted and not record.renewing:
        return None
    steps = steps_of(plan)
    again: set[ProvisioningStep] = set()
    reasons = [] if is_accepted else ["its renewal has not ended"]
    serial = plan.machine.serial
    was = done.get(ProvisioningStep.INSPECTED, "").partition(", ")[0]
    if serial is not None and was not in {"", serial, "rehearsed"}:
        reasons.append(f"the machine {was} is replaced by {serial}")
        again |= set(steps)
    before, after = done.get(ProvisioningStep.IMAGED), image_note(plan.image)
    if before not in {None, after}:
        reasons.append(f"its image is {before}, but {after} is planned")
        again |= set(steps[steps.index(ProvisioningStep.IMAGED) :])
    if wrong := _firmware(plan.machine.firmware, done.get(ProvisioningStep.FIRMWARE)):
        reasons.append(f"its firmware is not yet {', '.join(wrong)}")
        after_it = steps[steps.index(ProvisioningStep.FIRMWARE) :]
        again |= set(after_it) - _AFTER_FIRMWARE
    return Renewal(tuple(reasons), tuple(s for s in steps if s in again)) if reasons else None


def _firmware(wanted: Mapping[str, str], note: str | None) -> list[str]:
    """Return the planned versions that were not read back; empty before the step and after a rehearsal."""
    if note is None or note == "rehearsed":
        return []
    has, open_ones = split_firmware_note(note)
    return [
        f"{part} {version}"
        for part, version in wanted.items()
        if has.get(part) != version and part not in open_ones
    ]
