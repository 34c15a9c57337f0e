"""``policy``: list and show the policies, test a pack, write a new rule."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.arguments import add_json, add_packs
from rackwright.cli.options.packs import add_isolated, packs_here
from rackwright.cli.options.telling import answer, answer_files, tell
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text
from rackwright.terminal import print_table

if TYPE_CHECKING:
    from rackwright.policy.api import Policy

TEAM_PACK = Path("policies")
"""Where a team's own pack lies in its repository."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``policy``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the policies")
    listing.add_argument("--json", action="store_true", help="as JSON")
    add_packs(listing)
    add_isolated(listing)
    showing = actions.add_parser("show", help="show one policy and its source")
    showing.add_argument("id", help="id of the policy")
    showing.add_argument("--json", action="store_true", help="as JSON")
    add_packs(showing)
    add_isolated(showing)
    testing = actions.add_parser("test", help="run the examples of a pack")
    _add_pack_and_only(testing)
    add_json(testing)
    new = actions.add_parser("new", help="write a rule with documentation and examples")
    new.add_argument("place", metavar="FAMILY/ID", help="like power/ACME-001")
    new.add_argument("title", help="title of the rule: its requirement, in one line")
    new.add_argument(
        "--pack", type=Path, default=TEAM_PACK, help=f"folder of the pack; else '{TEAM_PACK}'"
    )
    documenting = actions.add_parser(
        "document", help="write the example into the documentation of each policy"
    )
    _add_pack_and_only(documenting)
    digest = actions.add_parser("digest", help="print the digest that pins a shared pack")
    digest.add_argument("pack", type=Path, help="folder of the pack")
    add_json(new, "the files")
    add_json(documenting)
    add_json(digest, "the digest")


def _add_pack_and_only(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pack", type=Path, nargs="?", help="folder of the pack (default: the built-in pack)"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID", help="only this policy; repeatable"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    actions: Mapping[str, Callable[[argparse.Namespace], int]] = {
        "list": _list,
        "show": _show,
        "test": _test,
        "new": _new,
        "document": _document,
        "digest": _digest,
    }
    return actions[arguments.action](arguments)


def _list(arguments: argparse.Namespace) -> int:
    policies = _load(arguments)
    if arguments.json:
        _write_json("rackwright.policies/v1", policies=[_facts(policy) for policy in policies])
        return ExitCode.CLEAN
    print_table(
        ("id", "severity", "enforcement", "profile", "stage", "since", "title"),
        [(p.id, p.severity, p.enforcement, p.profile, p.stage, p.since, p.title) for p in policies],
        "{:<9} {:<8} {:<9} {:<10} {:<7} {:<4} {}",
    )
    return ExitCode.CLEAN


def _show(arguments: argparse.Namespace) -> int:
    from rackwright.policy.authoring.examples import load_examples
    from rackwright.policy.authoring.parameters import describe_parameters
    from rackwright.policy.packs.loader import documentation, policy_file
    from rackwright.reading.suggest import did_you_mean

    policies = {policy.id: policy for policy in _load(arguments)}
    policy = policies.get(arguments.id.upper())
    if policy is None:
        hint = did_you_mean(arguments.id.upper(), policies)
        raise UsageError(f"there is no policy '{arguments.id}'", hint=hint)
    facts = _facts(policy) | {"file": str(policy_file(policy))}
    names = [f"{example.kind}: {example.name}" for example in load_examples(policy)]
    if arguments.json:
        schema = policy.model_json_schema()
        parameters = schema.get("properties", {})
        _write_json("rackwright.policy/v1", policy=facts | {"parameters": parameters})
        return ExitCode.CLEAN
    lines = [f"{policy.id}: {policy.title}", ""]
    lines += [f"{key:<12} {_plain(value)}" for key, value in facts.items() if key not in _IN_HEAD]
    lines += ["", *describe_parameters(policy)] if policy.model_fields else []
    lines += ["", "Examples", *(f"  {name}" for name in names), ""]
    lines.append(f"Documentation: {documentation(policy)}")
    sys.stdout.write("\n".join(lines) + "\n")
    return ExitCode.CLEAN


_IN_HEAD = ("id", "title")


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _facts(policy: type[Policy]) -> dict[str, Any]:
    from rackwright.policy.policy_sets import RELEASED, is_preview

    return {
        "id": policy.id,
        "title": policy.title,
        "family": policy.family,
        "severity": policy.severity.value,
        "enforcement": policy.enforcement.value,
        "since": policy.since,
        "profile": policy.profile.value,
        "stage": policy.stage.value,
        "preview": is_preview(policy, RELEASED),
    }


def _test(arguments: argparse.Namespace) -> int:
    from rackwright.policy.authoring.checks import shortfalls
    from rackwright.policy.authoring.examples import load_examples, run_example

    folder, policies = _pack_to_work_on(arguments)
    count = 0
    failed: list[dict[str, str]] = []
    lacking: list[dict[str, str]] = []
    for policy in policies:
        problems = []
        for example in load_examples(policy):
            count += 1
            if problem := run_example(policy, example, folder):
                problems.append({"policy": policy.id, "example": example.name, "problem": problem})
        failed += problems
        left = () if problems else shortfalls(policy, folder)
        lacking += [{"policy": policy.id, "problem": shortfall} for shortfall in left]
    passed = count - len(failed)
    if arguments.json:
        _write_json("rackwright.policy-test/v1", passed=passed, failed=failed, incomplete=lacking)
    else:
        for one in failed:
            sys.stdout.write(f"FAILED {one['policy']} {one['example']}\n  {one['problem']}\n")
        for one in lacking:
            sys.stdout.write(f"INCOMPLETE {one['policy']}: {one['problem']}\n")
        more = f", {len(lacking)} incomplete" if lacking else ""
        sys.stdout.write(f"{passed} passed, {len(failed)} failed{more}\n")
    if failed or lacking:
        return ExitCode.VIOLATION
    return ExitCode.CLEAN if count else ExitCode.NOTHING


def _document(arguments: argparse.Namespace) -> int:
    from rackwright.policy.authoring.example_docs import with_example
    from rackwright.policy.packs.loader import documentation

    folder, policies = _pack_to_work_on(arguments)
    code = ExitCode.CLEAN
    written: list[str] = []
    failed: list[dict[str, str]] = []
    for policy in policies:
        path = documentation(policy)
        before = path.read_text(encoding="utf-8")
        try:
            text = with_example(policy, before, folder)
        except UsageError as error:
            failed.append({"policy": policy.id, "problem": str(error)})
            code = ExitCode.VIOLATION
            continue
        if text != before:
            path.write_text(text, encoding="utf-8")
            written.append(str(path))
    lines = [*(f"FAILED {one['problem']}" for one in failed), *written]
    document = {"written": written, "failed": failed}
    answer(arguments, "policy-documents", document, "".join(f"{line}\n" for line in lines))
    return code


def _pack_to_work_on(arguments: argparse.Namespace) -> tuple[Path, Sequence[type[Policy]]]:
    """Return the folder of a pack and its policies, those of ``--only`` if it is given.

    Raises:
        UsageError: ``--only`` names no policy of the pack.
    """
    from rackwright.policy.packs.loader import builtin_pack, load_pack, load_packs
    from rackwright.reading.suggest import did_you_mean

    folder = arguments.pack or builtin_pack()
    if folder.resolve() != builtin_pack().resolve():
        load_packs((folder,))  # refuses an id that a built-in policy has
    policies = load_pack(folder)
    known = {policy.id for policy in policies}
    only = {name.upper() for name in arguments.only}
    for name in sorted(only - known):
        raise UsageError(
            f"there is no policy '{name}' in '{folder}'", hint=did_you_mean(name, known)
        )
    return folder, [policy for policy in policies if not only or policy.id in only]


def _new(arguments: argparse.Namespace) -> int:
    from rackwright.policy.authoring.scaffold import new_policy

    written = new_policy(arguments.pack, arguments.place, arguments.title)
    answer_files(arguments, written, verb="wrote ")
    policy_id = arguments.place.rpartition("/")[2]
    tell(f"next: rackwright policy test {arguments.pack} --only {policy_id}\n")
    return ExitCode.CLEAN


def _digest(arguments: argparse.Namespace) -> int:
    from rackwright.team.digest import folder_digest

    digest = folder_digest(arguments.pack)
    answer(arguments, "digest", {"pack": str(arguments.pack), "digest": digest}, f"{digest}\n")
    return ExitCode.CLEAN


def _load(arguments: argparse.Namespace) -> Sequence[type[Policy]]:
    from rackwright.policy.packs.loader import load_packs

    return load_packs(packs_here(arguments.pack, isolated=arguments.isolated))


def _write_json(schema: str, **content: Any) -> None:
    sys.stdout.write(json_text({"schema": schema, **content}))
