"""``waivers``: list, add, remove and check the permissions to violate a policy."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import BLUEPRINT, add_json, add_layers, add_packs, in_folder
from rackwright.cli.options.exceptions import add_judging, add_today, choice_of
from rackwright.cli.options.telling import answer
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text, visible

if TYPE_CHECKING:
    from rackwright.policy.engine import Report, Result
    from rackwright.policy.exceptions.waivers import Waiver


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``waivers``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = _action(actions, "list", "list the waivers")
    add_today(listing)
    listing.add_argument("--json", action="store_true", help="as JSON")

    checking = _action(
        actions, "check", "report problems of the waivers; exit with 7 if there are any"
    )
    _add_judged(checking)
    add_judging(checking)
    checking.add_argument("--json", action="store_true", help="as JSON")

    adding = _action(actions, "add", "add a waiver")
    _add_judged(adding)
    add_today(adding)
    adding.add_argument(
        "--from",
        dest="finding",
        metavar="FINGERPRINT",
        help="the finding to waive, by its fingerprint in 'check --json'; sets policy, match and "
        "worst value",
    )
    adding.add_argument("--policy", metavar="ID", help="the policy to waive")
    adding.add_argument(
        "--match",
        action="append",
        default=[],
        metavar="WORD=NAME",
        help="scope of the waiver, like rack=r12; repeatable, all must match",
    )
    adding.add_argument("--up-to", metavar="QUANTITY", help="worst value covered, like '47 kW'")
    adding.add_argument(
        "--limit",
        metavar="QUANTITY",
        help="limit that --up-to is approved against (default: the blueprint's, if it has one)",
    )
    adding.add_argument(
        "--unknown", action="store_true", help="cover what cannot be checked, instead of a value"
    )
    adding.add_argument("--reason", required=True, help="reason, in 15 characters or more")
    adding.add_argument("--owner", required=True, help="responsible person or team")
    adding.add_argument("--ticket", required=True, help="ticket that tracks it")
    adding.add_argument(
        "--expires", required=True, metavar="YYYY-MM-DD", help="last day on which it applies"
    )
    add_json(adding, "the waiver")
    adding.add_argument("--id", help="id of the waiver (default: the next one of the year)")

    pruning = _action(actions, "prune", "remove the waivers that have expired")
    _add_judged(pruning)
    add_today(pruning)
    pruning.add_argument("--unused", action="store_true", help="also remove unused waivers")
    pruning.add_argument("--dry-run", action="store_true", help="only list them")
    add_json(pruning, "the removed waivers")


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=summary)
    parser.add_argument(
        "blueprint",
        type=in_folder,
        nargs="?",
        default=BLUEPRINT,
        help=f"blueprint of the waivers, or its folder (default: {BLUEPRINT})",
    )
    parser.add_argument(
        "--waivers",
        type=Path,
        metavar="FILE",
        help="file of waivers (default: policies/waivers.yaml beside the blueprint)",
    )
    return parser


def _add_judged(parser: argparse.ArgumentParser) -> None:
    add_layers(parser)
    add_packs(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    actions = {"list": _list, "check": _check, "add": _add, "prune": _prune}
    return actions[arguments.action](arguments)


def _list(arguments: argparse.Namespace) -> int:
    waivers, today = _read(_path(arguments)), _today(arguments)
    if arguments.json:
        rows = [
            {**waiver.model_dump(mode="json"), "days_left": (waiver.expires - today).days}
            for waiver in waivers
        ]
        document = {"schema": "rackwright.waivers/v1", "today": str(today), "waivers": rows}
        sys.stdout.write(json_text(document))
        return ExitCode.CLEAN
    sys.stdout.write("".join(_row(waiver, today) for waiver in waivers) or "there are no waivers\n")
    return ExitCode.CLEAN


def _row(waiver: Waiver, today: date) -> str:
    left = (waiver.expires - today).days
    when = f"{left} days left" if left > 0 else "last day" if left == 0 else "expired"
    what = "what is unknown" if waiver.unknown else ""
    bound = f"up to {waiver.up_to}" if waiver.up_to else what
    bound += f" at a limit of {waiver.limit}" if waiver.limit else ""
    match = " ".join(f"{key}={pattern}" for key, pattern in waiver.match.items())
    told = "  ".join(part for part in (match, bound) if part)
    return (
        f"{waiver.id}  {waiver.policy}  {waiver.expires} ({when})  {told}\n"
        f"  {waiver.owner}, {waiver.ticket}: {waiver.reason}\n"
    )


def _check(arguments: argparse.Namespace) -> int:
    from rackwright.report.json import hygiene_document
    from rackwright.report.text import render_hygiene

    report = _judge(arguments)
    assert report.hygiene is not None  # noqa: S101 - it was judged with waivers
    if arguments.json:
        document = {"schema": "rackwright.waivers/v1", **hygiene_document(report.hygiene)}
        sys.stdout.write(json_text(document))
    else:
        from rackwright.policy.api import Outcome

        waived = report.count(Outcome.WAIVED)
        sys.stdout.write(render_hygiene(report.hygiene, waived, whole=True) + "\n")
    return ExitCode.WAIVER if report.hygiene.problems else ExitCode.CLEAN


def _add(arguments: argparse.Namespace) -> int:
    from pydantic import ValidationError

    from rackwright.policy.exceptions.waiver_edits import appended, next_id
    from rackwright.policy.exceptions.waivers import Waiver, limit_for
    from rackwright.policy.packs.team_config import packs_for

    path, today = _path(arguments), _today(arguments)
    packs = packs_for(arguments.blueprint, arguments.pack)
    given: dict[str, object] = {
        "id": arguments.id or next_id(_read(path), today.year),
        "up_to": arguments.up_to,
        "limit": arguments.limit,
        "unknown": arguments.unknown,
        "reason": arguments.reason,
        "owner": arguments.owner,
        "ticket": arguments.ticket,
        "expires": arguments.expires,
    }
    if arguments.finding:
        results = _results(arguments, packs)
        given |= _of_finding(arguments, results)
    elif arguments.policy and arguments.match:
        given["policy"] = arguments.policy
        given["match"] = dict(_pair(text) for text in arguments.match)
        results = None
    else:
        raise UsageError(
            "the finding to waive is not set",
            hint="give '--policy' and '--match', or '--from' with a finding's fingerprint",
        )
    try:
        waiver = Waiver.model_validate(given)
    except ValidationError as error:
        raise UsageError(_first_problem(error)) from None
    _require_admissible(waiver, today, packs)
    if results is None:
        results = _results(arguments, packs, only=waiver.policy)
    if waiver.limit is None and waiver.up_to is not None:
        waiver = waiver.model_copy(update={"limit": limit_for(waiver, results)})
    _write(path, appended(_text(path), waiver))
    answer(
        arguments,
        "waiver-change",
        {"file": str(path), "added": waiver.model_dump(mode="json")},
        f"{waiver.id} added to '{path}'\n",
    )
    _say_whether_idle(waiver, results)
    return ExitCode.CLEAN


def _results(
    arguments: argparse.Namespace, packs: Sequence[Path], *, only: str | None = None
) -> Sequence[Result]:
    """Return the results of the present blueprint without waivers, of one policy or of all."""
    from rackwright.policy.check import check_blueprint

    layers = tuple(arguments.layer)
    rules = [only] if only else []
    return check_blueprint(arguments.blueprint, layers=layers, packs=packs, only=rules).results


def _of_finding(arguments: argparse.Namespace, results: Sequence[Result]) -> dict[str, object]:
    """Return the waiver of the finding that ``--from`` names; options take precedence.

    Raises:
        UsageError: there is no such finding, it has nothing to waive, or it is named twice.
    """
    from rackwright.policy.api import Outcome
    from rackwright.policy.exceptions.subject_patterns import match_for
    from rackwright.policy.exceptions.waivers import exact_text

    if arguments.policy or arguments.match:
        raise UsageError("'--from' sets policy and match; leave out '--policy' and '--match'")
    name = arguments.finding
    result = next((one for one in results if one.fingerprint == name), None)
    if result is None:
        raise UsageError(
            f"no finding has the fingerprint '{visible(name)}'",
            hint="'rackwright check BLUEPRINT --json' gives each one's 'fingerprint'; name the "
            "same '--layer' and '--pack' here",
        )
    if result.outcome not in {Outcome.FAIL, Outcome.UNKNOWN}:
        raise UsageError(
            f"{result.policy} at '{visible(result.subject.name)}' is '{result.outcome}'; there is "
            "nothing to waive"
        )
    found: dict[str, object] = {
        "policy": result.policy,
        "match": match_for(result, results),
    }
    if result.outcome is Outcome.UNKNOWN:
        return found | {"unknown": True}
    if arguments.up_to is None and result.value is not None:
        found["up_to"] = exact_text(result.value, result.unit)
    return found


def _say_whether_idle(waiver: Waiver, results: Sequence[Result]) -> None:
    """Tell on stderr when ``waiver`` is about nothing that its policy judges now."""
    from rackwright.policy.exceptions.subject_patterns import matches

    own = [result for result in results if result.policy == waiver.policy]
    if any(matches(waiver.match, result) for result in own):
        return
    match = " ".join(f"{key}={pattern}" for key, pattern in waiver.match.items())
    judged = sorted({result.subject.name for result in own})
    some = ", ".join(f"'{visible(name)}'" for name in judged[:3]) or "nothing"
    more = f" and {len(judged) - 3} more" if len(judged) > 3 else ""
    sys.stderr.write(
        f"note: '{visible(match)}' matches nothing that {waiver.policy} judges here, which is "
        f"{some}{more}\n"
    )


def _prune(arguments: argparse.Namespace) -> int:
    from rackwright.policy.exception_report import NoticeKind
    from rackwright.policy.exceptions.waiver_edits import without

    path, today = _path(arguments), _today(arguments)
    gone = [waiver.id for waiver in _read(path) if waiver.expires < today]
    if arguments.unused:
        hygiene = _judge(arguments).hygiene
        notices = hygiene.notices if hygiene else ()
        gone += [notice.id for notice in notices if notice.kind is NoticeKind.UNUSED]
    text = _text(path)
    if gone and text is not None and not arguments.dry_run:
        _write(path, without(text, gone))
    done = "would be removed" if arguments.dry_run else "removed"
    answer(
        arguments,
        "waiver-change",
        {"file": str(path), "removed": gone, "dry_run": arguments.dry_run},
        f"{done} from '{path}': {', '.join(gone)}\n" if gone else "nothing to remove\n",
    )
    return ExitCode.CLEAN


def _judge(arguments: argparse.Namespace) -> Report:
    """Return the report with the waivers, without any baseline."""
    from dataclasses import replace

    from rackwright.plan.load import load_plan
    from rackwright.policy.gate import open_gate

    choice = replace(choice_of(arguments), use_baseline=False)
    gate = open_gate(arguments.blueprint, packs=arguments.pack, choice=choice)
    return gate.judge(load_plan(arguments.blueprint, tuple(arguments.layer)))


def _require_admissible(waiver: Waiver, today: date, packs: Sequence[Path]) -> None:
    """Refuse a waiver that would never hold.

    Raises:
        UsageError: there is no such policy, it admits no waivers, or the waiver ends too early or
            too late.
    """
    from rackwright.policy.exceptions.waivers import LONGEST_DAYS
    from rackwright.policy.packs.loader import load_packs
    from rackwright.reading.suggest import did_you_mean

    policies = {policy.id: policy for policy in load_packs(packs)}
    policy = policies.get(waiver.policy)
    if policy is None:
        near = did_you_mean(waiver.policy, policies)
        raise UsageError(f"there is no policy '{waiver.policy}'", hint=near)
    if not policy.waivable:
        raise UsageError(f"'{policy.id}' admits no waivers", hint="fix what it finds")
    left, longest = (waiver.expires - today).days, LONGEST_DAYS[policy.severity]
    if not 0 <= left <= longest:
        raise UsageError(
            f"a waiver of '{policy.id}' ends between today and {longest} days from now, "
            f"not on {waiver.expires}",
            hint=f"the severity of the policy is {policy.severity}",
        )


def _pair(text: str) -> tuple[str, str]:
    key, equals, pattern = text.partition("=")
    if not equals:
        raise UsageError(f"'{text}' is not WORD=NAME", hint="write it like 'rack=r12'")
    return key, pattern


def _first_problem(error: Exception) -> str:
    """Return the first mistake of a validation, with the option it is in."""
    from pydantic import ValidationError

    assert isinstance(error, ValidationError)  # noqa: S101 - the only kind that is caught
    detail = error.errors(include_url=False)[0]
    where = str(detail["loc"][0]) if detail["loc"] else ""
    text = str(detail["msg"]).removeprefix("Value error, ")
    option = f"--{where.replace('_', '-')}: " if where else ""
    return f"{option}{text[:1].lower()}{text[1:]}"


def _path(arguments: argparse.Namespace) -> Path:
    from rackwright.policy.exceptions.exceptions import waivers_beside

    path: Path = arguments.waivers or waivers_beside(arguments.blueprint)
    if arguments.waivers and arguments.action != "add" and not path.exists():
        raise UsageError(f"there is no file '{path}'")
    return path


def _read(path: Path) -> tuple[Waiver, ...]:
    from rackwright.policy.exceptions.waivers import WaiverFile
    from rackwright.reading.loader import load

    return load(path, WaiverFile).value.waivers if path.exists() else ()


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8-sig") if path.exists() else None


def _write(path: Path, text: str) -> None:
    from rackwright.cli.options.outputs import write_file

    write_file(path, text)


def _today(arguments: argparse.Namespace) -> date:
    given: date | None = arguments.today
    return given or datetime.now(UTC).date()
