"""``ci``: files for a team's CI, and the comment on its pull requests."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from rackwright.cli.options.arguments import add_blueprint, add_json
from rackwright.cli.options.telling import answer, answer_files
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

_ANY = 1  # results belong to a commit, not to a request
FORGES = ("github", "gitlab")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``ci``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    init = actions.add_parser("init", help="write workflows, the action and hooks")
    init.add_argument("folder", type=Path, nargs="?", default=Path(), help="top of the repository")
    init.add_argument("--forge", choices=FORGES, required=True)
    init.add_argument("--blueprint", default="blueprint.yaml", help="path in the repository")
    init.add_argument(
        "--install-from",
        metavar="SOURCE",
        help="source of Rackwright for CI: index:NAME==VERSION, wheel:URL#sha256=DIGEST, "
        "wheel:PATH#sha256=DIGEST or git+https://HOST/PATH@COMMIT",
    )
    init.add_argument(
        "--hash",
        action="append",
        default=[],
        metavar="sha256:DIGEST",
        help="digest of a file that the index may serve; repeatable",
    )
    comment = actions.add_parser(
        "comment",
        help="post a report on the pull request",
        description="Create the comment, or update the existing one. The token comes from "
        "GITHUB_TOKEN or GITLAB_TOKEN, everything else from the variables of the CI.",
    )
    comment.add_argument("body", type=Path, help="report of 'check --output md=FILE'")
    comment.add_argument("--forge", choices=FORGES, required=True)
    comment.add_argument(
        "--number", type=_positive, help="number of the pull request (default: the CI's own)"
    )
    comment.add_argument("--author", help="login of the GitHub account that comments")
    comment.add_argument(
        "--valid-at",
        metavar="TIME",
        help="time of the change, like 2026-11-21T09:00:00Z; an older report never replaces a newer "
        "one (default: RACKWRIGHT_VALID_AT, or now)",
    )
    upload = actions.add_parser(
        "upload",
        help="upload a report to GitHub code scanning",
        description="The token comes from GITHUB_TOKEN, the commit from the variables of the CI.",
    )
    upload.add_argument("sarif", type=Path, help="report of 'check --output sarif=FILE'")
    permissions = actions.add_parser(
        "permissions",
        help="print the IAM policy for a role of the jobs",
        description="Print the permissions of the role that previews a site on AWS, or the additional ones of the role "
        "that applies it: those of 'preview', 'up', 'hosts', 'replace' and 'down', limited to the names and tags of the "
        "cluster. Attach that of 'preview' to both roles as a managed policy, that of 'apply' as an inline policy. "
        "They exclude the bucket and the key of Pulumi's state, and existing roles of instance profiles.",
    )
    add_blueprint(permissions)
    permissions.add_argument("--site", help="the AWS site, if the blueprint has several")
    permissions.add_argument("--role", choices=("preview", "apply"), required=True)
    add_json(init, "the files")
    add_json(comment)
    add_json(upload)
    add_json(permissions, "the policy, as without this option,")


def run(arguments: argparse.Namespace) -> int:
    """Write the files or the comment, or upload."""
    actions = {"init": _init, "comment": _comment, "upload": _upload, "permissions": _permissions}
    return actions[arguments.action](arguments)


def _init(arguments: argparse.Namespace) -> int:
    from rackwright.render.ci import write_ci
    from rackwright.team.ci_source import parse_source

    source = parse_source(arguments.install_from, arguments.hash)
    written = write_ci(arguments.forge, arguments.folder, arguments.blueprint, source)
    answer_files(arguments, written)
    return ExitCode.CLEAN


def _comment(arguments: argparse.Namespace) -> int:
    from rackwright.forge.forges import FORGES as REACHED
    from rackwright.forge.publish import publish

    body = _read(arguments.body).decode("utf-8", errors="replace")
    moment = valid_at(arguments.valid_at, os.environ)
    forge = REACHED[arguments.forge](os.environ, number=arguments.number, author=arguments.author)
    outcome = publish(forge, body, moment)
    document = {"forge": arguments.forge, "comment": outcome.value}
    answer(arguments, "comment", document, f"comment: {outcome.value}\n")
    return ExitCode.CLEAN


def _upload(arguments: argparse.Namespace) -> int:
    from rackwright.forge.forges import github
    from rackwright.forge.scanning import revision, upload

    sarif = _read(arguments.sarif)
    commit, ref = revision(os.environ)
    upload(github(os.environ, number=_ANY), sarif, commit=commit, ref=ref)
    answer(arguments, "upload", {"commit": commit, "ref": ref}, "uploaded\n")
    return ExitCode.CLEAN


def _permissions(arguments: argparse.Namespace) -> int:
    from rackwright.cli.commands.stack import choose_site
    from rackwright.harmless import json_text
    from rackwright.plan.aws.deployer import deployer_policy
    from rackwright.plan.load import load_plan

    loaded = load_plan(arguments.blueprint, layers=tuple(arguments.layer))
    name = choose_site(arguments, loaded).name
    planned = next(one for one in loaded.plan.aws if one.name == name)
    sys.stdout.write(json_text(deployer_policy(planned, loaded.plan.name, arguments.role)))
    return ExitCode.CLEAN


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from None


def valid_at(text: str | None, environment: Mapping[str, str]) -> datetime:
    """Return the time that a comment holds for.

    Raises:
        UsageError: it is no time, or one without an offset from UTC.
    """
    given = text or environment.get("RACKWRIGHT_VALID_AT")
    if not given:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise UsageError(f"'{given}' is not a time", hint="write it like 2026-11-21T09:00:00Z")
    return moment


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not the number of a request")
    return int(text)
