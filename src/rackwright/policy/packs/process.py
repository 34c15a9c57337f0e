"""Rules of a team, run in a process per pack.

A pack is code that a change may have written. Where it ran beside the engine it could change the
engine's results, or another pack's, so it runs apart: it is given the blueprint and the parameters,
plans by itself, and sends measures and findings back as JSON, which are checked here before a
report is made of them. It has the rights of the user and no variables of the environment but those
in ``_KEPT``, and this process hides its own, so that tokens of CI are not in its reach by chance.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from pydantic import PrivateAttr, ValidationError, create_model
from pydantic_core import InitErrorDetails, PydanticCustomError

from rackwright.catalog.loader import Catalogue
from rackwright.errors import Location, PolicyLoadError
from rackwright.plan.model import Plan
from rackwright.policy.api import Enforcement, Finding, Measure, Policy, Profile, Severity, Stage
from rackwright.policy.packs.exchange import decode
from rackwright.policy.packs.loader import builtin_rules, check_contract, unique
from rackwright.policy.packs.manifest import read_manifest
from rackwright.policy.result_validation import RuleFailedError
from rackwright.processes import hide_process

_KEPT = frozenset(
    [
        "HOME",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "LD_LIBRARY_PATH",
        "PATH",
        "PYTHONHASHSEED",
        "PYTHONHOME",
        "PYTHONPATH",
        "TMPDIR",
        "TZ",
        "VIRTUAL_ENV",
    ]
)
"""Variables of the environment that the process of a pack gets."""
_MOST_SAID = 64 * 1024
"""Bytes of what a pack prints that are shown."""
_TIMEOUT_S = 5
"""Seconds that a process has to end by itself after its last question."""


class TeamPolicy(Policy):
    """A rule of a pack as the engine sees it: its fields hold its parameters as texts."""

    pack: ClassVar[PackProcess]
    file: ClassVar[Path]
    _given: Mapping[str, Any] = PrivateAttr(default_factory=dict)
    _answer: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def model_validate(cls, obj: Any, **_options: Any) -> Self:
        """Return the rule with these parameters.

        Raises:
            ValidationError: the pack does not take them.
        """
        values: dict[str, Any] = cls.pack.validate(cls, obj)
        made = cast("Self", cls.model_construct(None, **values))
        made._given = obj
        return made

    def answered(self, answer: Mapping[str, Any]) -> Self:
        """Return the same rule, which has looked at a plan already."""
        made = self.model_copy()
        made._answer = answer
        return made

    @property
    def question(self) -> dict[str, Any]:
        """Question to its pack."""
        day = None if self.judged_on is None else self.judged_on.isoformat()
        return {"rule": self.id, "parameters": self._given, "day": day}

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield the answer of its pack about ``plan``.

        Raises:
            RuleFailedError: it failed, or sent what is no result.
        """
        yields = self._answer.get("yields")
        if not isinstance(yields, list):
            failed = self._answer.get("failed", "its pack did not answer")
            raise RuleFailedError(str(failed))
        yield from [decode(item) for item in yields]


class PackProcess:
    """The process of one pack; it ends with this object.

    Attributes:
        folder: of the pack.
        rules: each of its rules.
    """

    def __init__(self, folder: Path) -> None:
        """Start it.

        Raises:
            PolicyLoadError: the pack cannot be loaded.
            SpecErrors: its ``pack.yaml`` is not valid.
        """
        read_manifest(folder)
        hide_process()
        self.folder = folder
        self._lock = threading.Lock()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._shown = 0
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rackwright.policy.packs.worker", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={name: text for name, text in os.environ.items() if name in _KEPT},
        )
        self._end = weakref.finalize(self, _end, self._process, self._said)
        told = self._read()
        self._show_said()
        if told is None or "refused" in told:
            self._end()
            raise (
                _refusal(told["refused"])
                if told
                else PolicyLoadError(
                    f"the policy pack '{folder}' ended its process while it was loaded",
                    hint="a rule file defines a rule, and does nothing else",
                )
            )
        try:
            self.rules = tuple(self._rule(facts) for facts in told["rules"])
        except (KeyError, TypeError, ValueError) as error:
            self._end()
            raise PolicyLoadError(
                f"the policy pack '{folder}' does not say what its rules are: {error}"
            ) from None

    def validate(self, rule: type[TeamPolicy], parameters: Any) -> dict[str, Any]:
        """Return the values of all parameters of ``rule``, as texts.

        Raises:
            ValidationError: the pack does not take ``parameters``.
            PolicyLoadError: its process has ended.
        """  # noqa: DOC501 - from_exception_data() makes the ValidationError
        told = self._ask({"rule": rule.id, "parameters": parameters})
        if told is None:
            raise PolicyLoadError(f"the policy pack '{self.folder}' ended its process")
        if "wrong" in told:
            raise ValidationError.from_exception_data(
                rule.id, [_detail(one, parameters) for one in told["wrong"]]
            )
        return {str(name): str(text) for name, text in told["values"].items()}

    def judge(
        self, blueprint: Any, catalogue: Catalogue, rules: Sequence[TeamPolicy]
    ) -> Sequence[Mapping[str, Any]]:
        """Return the answer of each of ``rules`` about a blueprint and its products, as plain data."""
        asked = [rule.question for rule in rules]
        told = self._ask({"blueprint": blueprint, "catalogue": catalogue.as_data(), "judge": asked})
        answers = told.get("answers") if told else None
        if not isinstance(answers, list) or len(answers) != len(rules):
            return [{"failed": "the policy failed: its pack ended its process"} for _ in rules]
        return [answer if isinstance(answer, dict) else {} for answer in answers]

    def _rule(self, facts: Mapping[str, Any]) -> type[TeamPolicy]:
        fields: dict[str, Any] = {str(name): (Any, None) for name in facts["fields"]}
        made = create_model(str(facts["id"]), __base__=TeamPolicy, **fields)
        path = Path(facts["file"])
        for name, value in {
            "id": facts["id"],
            "title": facts["title"],
            "severity": Severity(facts["severity"]),
            "since": facts["since"],
            "family": facts["family"],
            "enforcement": Enforcement(facts["enforcement"]),
            "profile": Profile(facts["profile"]),
            "stage": Stage(facts["stage"]),
            "waivable": facts["waivable"],
            "mandatory_since": _set_or_none(facts.get("mandatory_since")),
            "file": path,
            "pack": self,
        }.items():
            setattr(made, name, value)
        # The pack said so itself, so that it is looked at here once more.
        check_contract(made, path, Location(str(path), 1, 1))
        return made

    def _ask(self, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answer; None where the process has ended."""
        with self._lock:
            try:
                assert self._process.stdin is not None  # noqa: S101 - it is a pipe
                self._process.stdin.write(json.dumps(question).encode() + b"\n")
                self._process.stdin.flush()
            except (BrokenPipeError, ValueError):
                return None
            told = self._read()
            self._show_said()
            return told

    def _read(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        try:
            told = json.loads(self._process.stdout.readline())
        except ValueError:  # nothing, for it has ended, or not what was agreed
            return None
        return told if isinstance(told, dict) else None

    def _show_said(self) -> None:
        """Show what the pack has printed since the last time."""
        # The process writes at the file's own position, which is left where it is.
        text = os.pread(self._said.fileno(), _MOST_SAID, self._shown)
        self._shown = os.fstat(self._said.fileno()).st_size
        sys.stderr.write(text.decode("utf-8", "replace"))


def judging_rules(folders: Sequence[Path] = ()) -> tuple[type[Policy], ...]:
    """Return every rule of the built-in pack and of the packs in ``folders``, sorted by id.

    Raises:
        PolicyLoadError: a pack cannot be loaded, or repeats an id.
        SpecErrors: a ``pack.yaml`` is not valid.
    """
    return unique((*builtin_rules(), *(rule for folder in folders for rule in team_rules(folder))))


def team_rules(folder: Path) -> tuple[type[TeamPolicy], ...]:
    """Return the rules of the pack in ``folder``, in its process.

    Raises:
        PolicyLoadError: it cannot be loaded.
        SpecErrors: its ``pack.yaml`` is not valid.
    """
    real = folder.resolve()
    return _process_of(real, _state(real)).rules


def judged_apart(
    policies: Sequence[Policy], disabled: Collection[str], blueprint: Any, catalogue: Catalogue
) -> tuple[Policy, ...]:
    """Return ``policies``, where those of teams have looked at a blueprint.

    Args:
        policies: with their parameters.
        disabled: ids of those that do not judge.
        blueprint: the document, as plain data.
        catalogue: the products and prices that it is judged by.
    """
    asked: dict[PackProcess, list[TeamPolicy]] = {}
    for policy in policies:
        if isinstance(policy, TeamPolicy) and policy.id not in disabled:
            asked.setdefault(policy.pack, []).append(policy)
    answered: dict[int, Policy] = {}
    for pack, rules in asked.items():
        for rule, answer in zip(rules, pack.judge(blueprint, catalogue, rules), strict=True):
            answered[id(rule)] = rule.answered(answer)
    return tuple(answered.get(id(policy), policy) for policy in policies)


@lru_cache(maxsize=8)
def _process_of(folder: Path, _: object) -> PackProcess:
    return PackProcess(folder)


def _state(folder: Path) -> tuple[object, ...]:
    """Return a value that changes when a Python file of the pack does."""
    found = [(path, path.stat()) for path in sorted(folder.rglob("*.py")) if path.is_file()]
    return tuple((path, status.st_mtime_ns, status.st_size) for path, status in found)


def _detail(one: Mapping[str, Any], parameters: Any) -> InitErrorDetails:
    loc = tuple(part for part in one.get("loc", ()) if isinstance(part, (str, int)))
    given = parameters
    for part in loc:
        try:
            given = given[part]
        except (KeyError, IndexError, TypeError):
            break
    kind, text = str(one.get("type", "value_error")), str(one.get("msg", ""))
    error = PydanticCustomError(kind, text, one.get("ctx") or None)
    return InitErrorDetails(type=error, loc=loc, input=given)


def _refusal(told: Mapping[str, Any]) -> PolicyLoadError:
    place, hint = told.get("location"), told.get("hint")
    where = Location(str(place[0]), int(place[1]), int(place[2])) if place else None
    return PolicyLoadError(str(told.get("summary")), hint=hint and str(hint), location=where)


def _end(process: subprocess.Popen[bytes], said: Any) -> None:
    for stream in (process.stdin, process.stdout, said):
        if stream is not None:
            try:
                stream.close()
            except BrokenPipeError:
                continue
    try:
        process.wait(_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _set_or_none(name: Any) -> str | None:
    return None if name is None else str(name)
