"""Saved plans: what was reviewed is what is applied, and nothing else.

A folder holds the engine's plan of each stack and a seal. The engine refuses a step that is not in
its plan; the seal refuses a plan that was made of another blueprint, site or version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rackwright import __version__
from rackwright.errors import UsageError
from rackwright.files import write_changed
from rackwright.provision.access.stack_settings import ENCRYPTION

if TYPE_CHECKING:
    from pulumi import automation

SEAL = "seal.json"
SCHEMA = "rackwright.plan/v1"


def digest(document: object) -> str:
    """Return a name for a blueprint's whole content, layers and all."""
    text = json.dumps(document, sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def prepare(folder: Path) -> None:
    """Make the folder of a plan.

    Raises:
        UsageError: it holds something already; a plan is never mixed with another.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        held = any(folder.iterdir())
        folder.chmod(0o700)
    except OSError as error:
        raise UsageError(f"'{folder}' cannot be written: {error.strerror}") from None
    if held:
        raise UsageError(f"the folder '{folder}' is not empty", hint="name a new one")


def seal(folder: Path, *, stack: str, blueprint: str) -> None:
    """Write down what the plans in ``folder`` were made of; they are for their owner alone."""
    document = {**_identity(stack, blueprint), "plans": _plans(folder)}
    write_changed(folder / SEAL, json.dumps(document, indent=2) + "\n", 0o600)
    for path in folder.iterdir():
        path.chmod(0o600)


def verify(folder: Path, *, stack: str, blueprint: str) -> None:
    """Refuse plans that were not made of exactly this.

    Raises:
        UsageError: the seal is missing or broken, or something differs.
    """
    try:
        found = json.loads((folder / SEAL).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, Mapping):
        raise UsageError(
            f"'{folder}' holds no sealed plan", hint="make one with 'preview --save-plan'"
        )
    for key, value in _identity(stack, blueprint).items():
        if found.get(key) != value:
            raise UsageError(
                f"the plan in '{folder}' was made for another {_NAMES[key]}",
                hint="preview again, and have that reviewed",
            )
    if found.get("plans") != _plans(folder):
        raise UsageError(f"a plan in '{folder}' was changed after it was made")


_NAMES = {
    "schema": "version of rackwright",
    "version": "version of rackwright",
    "stack": "site",
    "blueprint": "blueprint",
}


def _identity(stack: str, blueprint: str) -> dict[str, Any]:
    return {"schema": SCHEMA, "version": __version__, "stack": stack, "blueprint": blueprint}


def _plans(folder: Path) -> dict[str, str]:
    """Return the digest of each plan by file name."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*.json"))
        if path.name != SEAL
    }


def save_encryption(stack: automation.Stack, file: Path) -> None:
    """Write down how the secrets of a saved plan are encrypted; the key itself is not in it.

    The engine's workspace is made again for each run, and with it the salt of a passphrase.
    """
    settings = yaml.safe_load(_settings_file(stack).read_text("utf-8"))
    write_changed(file, json.dumps({name: settings.get(name) for name in ENCRYPTION}))


def load_encryption(stack: automation.Stack, file: Path) -> None:
    """Read secrets as the saved plan has written them; the other settings of the stack stay.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        saved = json.loads(file.read_text(encoding="utf-8"))
        saved = saved if isinstance(saved, Mapping) else None
    except (OSError, ValueError, RecursionError):
        saved = None
    if saved is None:
        raise UsageError(f"'{file}' cannot be read", hint="make the plan again") from None
    path = _settings_file(stack)
    settings = yaml.safe_load(path.read_text("utf-8"))
    others = {name: value for name, value in settings.items() if name not in ENCRYPTION}
    encryption = {name: saved[name] for name in ENCRYPTION if saved.get(name)}
    write_changed(path, json.dumps({**others, **encryption}))


def _settings_file(stack: automation.Stack) -> Path:
    """Return the file itself: the SDK's record of it drops environments, lists and mappings."""
    return Path(stack.workspace.work_dir, f"Pulumi.{stack.name}.yaml")
