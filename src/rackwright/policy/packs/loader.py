"""Loading of policy packs into this process: the built-in one, and a team's for those who write it.

What judges beside the built-in rules is loaded by ``process``, each pack in a process.

A pack holds ``<family>/<id>_<slug>.py`` with a ``.md`` and an ``.examples.yaml`` beside it. Files
are loaded by path under synthetic names, so that no pack can shadow a module. A Python file that is
no rule is an error unless its name begins with ``_`` or ``test_``: a rule that is silently left out
would look like one that passes.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import re
import sys
import traceback
import types
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path

from rackwright.errors import Location, PolicyLoadError
from rackwright.policy.api import Enforcement, Policy, Profile, Severity, Stage
from rackwright.policy.packs.manifest import read_manifest
from rackwright.resources import bundled

_STEM = re.compile(r"([a-z]+)(\d+)_[a-z0-9_]+")
ID = re.compile(r"[A-Z]{2,8}-\d{3}")
"""Id of a policy."""


def builtin_pack() -> Path:
    """Return the folder of the built-in policies."""
    return bundled("policies")


def load_packs(folders: Sequence[Path] = ()) -> tuple[type[Policy], ...]:
    """Return every policy of the built-in pack and of ``folders``, sorted by id.

    Raises:
        PolicyLoadError: a file cannot be loaded, lacks its documentation or examples, or repeats
            an id.
    """
    return _load_all(tuple(folder.resolve() for folder in folders))


@lru_cache(maxsize=8)
def _load_all(folders: tuple[Path, ...]) -> tuple[type[Policy], ...]:
    teams = (policy for folder in folders for policy in load_pack(folder))
    return unique((*builtin_rules(), *teams))


@lru_cache(maxsize=1)
def builtin_rules() -> tuple[type[Policy], ...]:
    """Return every policy of the built-in pack, sorted by id."""
    return load_pack(builtin_pack())


def load_pack(folder: Path) -> tuple[type[Policy], ...]:
    """Return the policies of one pack, sorted by id.

    Raises:
        PolicyLoadError: as ``load_packs``, or the pack holds no policy.
        SpecErrors: its ``pack.yaml`` is not valid.
    """
    if not folder.is_dir():
        raise PolicyLoadError(f"the policy pack '{folder}' is not a folder")
    read_manifest(folder)
    files = rule_files(folder)
    if not files:
        raise PolicyLoadError(
            f"the policy pack '{folder}' holds no policy",
            hint="rules are files like 'power/acme001_busway.py'",
        )
    trusted = folder.resolve() == builtin_pack().resolve()
    return unique(_load_file(path, trusted=trusted) for path in files)


def unique(policies: Iterable[type[Policy]]) -> tuple[type[Policy], ...]:
    """Return ``policies`` sorted by id.

    Raises:
        PolicyLoadError: two have the same id.
    """
    by_id: dict[str, type[Policy]] = {}
    for policy in policies:
        if policy.id in by_id:
            first, second = policy_file(by_id[policy.id]), policy_file(policy)
            raise PolicyLoadError(
                f"the policy id '{policy.id}' is used twice: '{first}' and '{second}'",
                hint="give the team's policy an id with a prefix of its own",
            )
        by_id[policy.id] = policy
    return tuple(by_id[key] for key in sorted(by_id))


def rule_files(folder: Path) -> list[Path]:
    """Return the rule files of a pack; any other Python file in it must say that it is none.

    Raises:
        PolicyLoadError: a file says neither by its name.
    """
    found = []
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith((".", "_")) for part in inside.parts)
        if hidden or path.name.startswith("test_") or path.name == "conftest.py":
            continue
        if len(inside.parts) != 2 or not is_rule(path.stem):
            raise PolicyLoadError(
                f"'{inside}' is not named like a rule",
                hint="rules are files like 'power/acme001_busway.py'; "
                "begin the name of any other module with '_'",
                location=Location(str(path), 1, 1),
            )
        found.append(path)
    return found


def is_rule(stem: str) -> bool:
    """Return True if a file of this name, without its ending, is a rule."""
    return _STEM.fullmatch(stem) is not None


def policy_file(policy: type[Policy]) -> Path:
    """Return the file that ``policy`` was loaded from, here or in the process of its pack."""
    apart: Path | None = getattr(policy, "file", None)
    return apart or Path(inspect.getfile(policy))


def documentation(policy: type[Policy]) -> Path:
    """Return its ``.md`` file."""
    return policy_file(policy).with_suffix(".md")


def examples(policy: type[Policy]) -> Path:
    """Return its ``.examples.yaml`` file."""
    return policy_file(policy).with_suffix(".examples.yaml")


class _FromSource(SourceFileLoader):
    """Reads and leaves no bytecode: a pack's digest covers its sources, so nothing else may run."""

    def get_code(self, fullname: str) -> types.CodeType:
        """Return the code of the source file."""
        path = self.get_filename(fullname)
        code: types.CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _load_file(path: Path, *, trusted: bool) -> type[Policy]:
    name = f"rackwright_packs.p{hashlib.sha256(str(path).encode()).hexdigest()[:12]}.{path.stem}"
    loader = None if trusted else _FromSource(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None or spec.loader is None:
        raise PolicyLoadError(f"'{path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise PolicyLoadError(
            f"{type(error).__name__}: {error}", location=_line_of(error, path)
        ) from error
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Policy)
        and value.__module__ == name
        and not inspect.isabstract(value)
    ]
    where = Location(str(path), 1, 1)
    if len(found) != 1:
        raise PolicyLoadError(f"a rule file defines one policy, not {len(found)}", location=where)
    if not hasattr(found[0], "family"):
        found[0].family = path.parent.name
    check_contract(found[0], path, where)
    return found[0]


def check_contract(policy: type[Policy], path: Path, where: Location) -> None:
    """Refuse a rule that is not what the engine relies on.

    Args:
        policy: the rule.
        path: the file that it is in.
        where: the place that is told.

    Raises:
        PolicyLoadError: something is missing, or does not fit its file.
    """
    check_facts(policy, where)
    match = _STEM.fullmatch(path.stem)
    expected = f"{match.group(1).upper()}-{match.group(2)}" if match else ""
    if not ID.fullmatch(policy.id) or policy.id != expected:
        raise PolicyLoadError(
            f"the policy id '{policy.id}' does not fit the file name '{path.name}'",
            hint=f"call the file '{policy.id.lower().replace('-', '')}_<slug>.py'",
            location=where,
        )
    if policy.family != path.parent.name:
        raise PolicyLoadError(
            f"the family '{policy.family}' of '{policy.id}' is not its folder '{path.parent.name}'",
            location=where,
        )
    for sibling in (path.with_suffix(".md"), path.with_suffix(".examples.yaml")):
        if not sibling.is_file():
            raise PolicyLoadError(f"'{sibling.name}' is missing beside it", location=where)


def check_facts(policy: type[Policy], where: Location | None = None) -> None:
    """Raise if a class lacks a fact that the engine needs of each policy.

    Raises:
        PolicyLoadError: it lacks one, or one has the wrong type.
    """
    for attribute, kind in _CONTRACT:
        if not isinstance(getattr(policy, attribute, None), kind):
            raise PolicyLoadError(
                f"the policy '{policy.__name__}' lacks '{attribute}'", location=where
            )


_CONTRACT: Iterable[tuple[str, type]] = (
    ("id", str),
    ("title", str),
    ("severity", Severity),
    ("since", str),
    ("family", str),
    ("enforcement", Enforcement),
    ("waivable", bool),
    ("profile", Profile),
    ("stage", Stage),
)


def _line_of(error: BaseException, path: Path) -> Location:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return Location(str(path), error.lineno or 1, error.offset or 1)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return Location(str(path), (frames[-1].lineno or 1) if frames else 1, 1)
