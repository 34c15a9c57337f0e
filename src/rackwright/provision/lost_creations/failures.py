"""Creations that failed while the engine lived, kept until it is known what became of them.

The engine forgets a creation that its provider answers with an error. AWS may have done it all the
same: the answer was lost, or the provider's process ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.crossguard.decode import SECRET, SIGNATURE_KEY
from rackwright.files import write_changed

if TYPE_CHECKING:
    from pulumi.automation.events import StepEventMetadata


@dataclass(frozen=True, slots=True)
class FailedCreations:
    """The file with them; AWS is asked again when it cannot be read, since nothing is in it.

    Attributes:
        path: a file of this machine's state folder.
    """

    path: Path

    def read(self) -> list[dict[str, Any]]:
        """Return the resources, as a checkpoint would have them."""
        try:
            told = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return []
        if not isinstance(told, list):
            return []
        failed = [one for one in told if isinstance(one, dict) and {"urn", "type"} <= one.keys()]
        return [{**one, "inputs": _without_secrets(one.get("inputs") or {})} for one in failed]

    @contextmanager
    def noted(self, failed: Sequence[Mapping[str, Any]]) -> Iterator[None]:
        """Keep those that have failed when what is done inside has ended."""
        try:
            yield
        finally:
            self.add(failed)

    def add(self, failed: Sequence[Mapping[str, Any]]) -> None:
        """Keep more of them."""
        if not failed:
            return
        kept = {one["urn"]: one for one in [*self.read(), *failed]}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_changed(self.path, json.dumps(list(kept.values())))

    def clear(self) -> None:
        """Forget them."""
        self.path.unlink(missing_ok=True)


def failed_creation(meta: StepEventMetadata) -> dict[str, Any] | None:
    """Return the resource whose creation failed, in the form of a checkpoint; None for any other step."""
    operation = str(getattr(meta.op, "value", meta.op))
    if operation not in {"create", "create-replacement"} or meta.new is None:
        return None
    told = {
        "urn": meta.urn,
        "type": meta.type,
        "custom": bool(meta.new.custom),
        "inputs": _without_secrets(meta.new.inputs or {}),
        "parent": meta.new.parent,
        "provider": meta.new.provider or meta.provider,
        "protect": meta.new.protect,
        "retainOnDelete": meta.new.retain_on_delete,
    }
    return {key: one for key, one in told.items() if one not in (None, "")}


def _without_secrets(value: Any) -> Any:
    """Return inputs without the secrets: events hide what is in them, and the next run sets them.

    A secret that is kept by half makes a checkpoint that the engine refuses.
    """
    if isinstance(value, Mapping):
        return {key: _without_secrets(one) for key, one in value.items() if not _secret(one)}
    if isinstance(value, list):
        return [_without_secrets(one) for one in value if not _secret(one)]
    return value


def _secret(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get(SIGNATURE_KEY) == SECRET
