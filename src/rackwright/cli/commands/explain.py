"""``explain``: show the documentation of a policy."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final

from rackwright.cli.options.arguments import add_json, add_packs
from rackwright.cli.options.packs import add_isolated, packs_here
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text

SCHEMA: Final = "rackwright.explain/v1"
MEANINGS: Final = {
    ExitCode.CLEAN: "nothing failed, or only advisory findings",
    ExitCode.CRASH: "a defect in Rackwright or in a policy",
    ExitCode.USAGE: "bad usage, or a file that does not validate",
    ExitCode.NOTHING: "there was nothing to check",
    ExitCode.EXTERNAL: "an external tool failed",
    ExitCode.VIOLATION: "a mandatory policy failed",
    ExitCode.UNKNOWN: "the result of a mandatory policy is unknown",
    ExitCode.WAIVER: "waiver or baseline hygiene failed",
    ExitCode.OUTDATED: "done, but running nodes differ from the blueprint",
    ExitCode.CONFLICT: "done, but files have conflicts to resolve",
    ExitCode.PARTIAL: "partly done: some hosts have no instance yet",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
}
"""Meaning of each exit code."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``explain``."""
    parser.add_argument("topic", help="a policy id, 'exit-codes' or 'hazards'")
    add_packs(parser)
    add_isolated(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the documentation.

    Raises:
        UsageError: there is no such policy.
    """
    if arguments.topic == "exit-codes":
        _print(arguments, [{"code": int(code), "meaning": text} for code, text in MEANINGS.items()])
        return ExitCode.CLEAN
    if arguments.topic == "hazards":
        from rackwright.policy.hazards import hazards

        _print(arguments, [hazard.model_dump(mode="json") for hazard in hazards()])
        return ExitCode.CLEAN
    from rackwright.policy.api import Enforcement
    from rackwright.policy.authoring.parameters import describe_parameters
    from rackwright.policy.packs.loader import documentation, load_packs
    from rackwright.policy.policy_sets import RELEASED, is_preview
    from rackwright.reading.suggest import did_you_mean

    packs = packs_here(arguments.pack, isolated=arguments.isolated)
    policies = {policy.id: policy for policy in load_packs(packs)}
    policy = policies.get(arguments.topic.upper())
    if policy is None:
        hint = did_you_mean(arguments.topic.upper(), policies)
        raise UsageError(
            f"there is no policy '{arguments.topic}'",
            hint=hint or "'rackwright policy list' lists them",
        )
    text = documentation(policy).read_text(encoding="utf-8").rstrip()
    if arguments.json:
        facts = {"id": policy.id, "title": policy.title, "severity": policy.severity, "enforcement": policy.enforcement,
                 "profile": policy.profile, "stage": policy.stage, "since": policy.since}  # fmt: skip
        sys.stdout.write(json_text({"schema": SCHEMA, **facts, "documentation": text}))
        return ExitCode.CLEAN
    sys.stdout.write(f"{text}\n\n")
    mandatory = policy.enforcement is Enforcement.MANDATORY
    profile = f" from profile {policy.profile} on" if mandatory else ""
    if policy.mandatory_since:
        profile = f", mandatory from set {policy.mandatory_since} and profile {policy.profile} on"
    preview = " (a preview for older sets)" if is_preview(policy, RELEASED) else ""
    sys.stdout.write(
        f"Severity: {policy.severity}. Enforcement: {policy.enforcement}{profile}. "
        f"Stage: {policy.stage}. Policy set: {policy.since}{preview}.\n"
    )
    for line in describe_parameters(policy):
        sys.stdout.write(f"{line}\n")
    return ExitCode.CLEAN


def _print(arguments: argparse.Namespace, entries: list[dict[str, Any]]) -> None:
    if arguments.json:
        sys.stdout.write(json_text({"schema": SCHEMA, arguments.topic: entries}))
    elif arguments.topic == "hazards":
        sys.stdout.write(_hazards())
    else:
        sys.stdout.writelines(f"{int(code):>3}  {text}\n" for code, text in MEANINGS.items())


def _hazards() -> str:
    """Return the list of hazards, each with the rules that check it or the facts that a model would need."""
    from rackwright.policy.hazards import hazards

    lines = []
    for hazard in hazards():
        where = f" ({', '.join(hazard.where)})" if hazard.where else ""
        judged = ", ".join(hazard.rules) if hazard.rules else f"not modelled: {hazard.why}"
        lines.append(f"{hazard.title}{where}\n  {judged}\n")
    return "".join(lines)
