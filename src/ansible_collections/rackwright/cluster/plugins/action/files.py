"""Files and folders of a host in one task: what is right already costs one look at all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

SOURCES = ("template", "copy")
RIGHTS = ("owner", "group", "mode")
KEYS = frozenset({"path", "state", "validate", "vars", *RIGHTS, *SOURCES})
STATES = ("file", "directory", "absent")
TEMPLATE, COPY, FILE = "ansible.builtin.template", "ansible.builtin.copy", "ansible.builtin.file"


class ActionModule(ActionBase):
    """Looks at everything at once, and has the modules of Ansible change what is otherwise."""

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Write the files, and return what changed as a result of Ansible."""
        super().run(tmp, task_vars)
        known = task_vars or {}
        entries = [self._entry(one) for one in self._task.args.get("files") or ()]
        seen: dict[str, Any] = self._execute_module(
            module_name="rackwright.cluster.probe",
            module_args={"paths": {entry["path"]: entry["path"] for entry in entries}},
            task_vars=known,
        )
        if seen.get("failed"):
            return seen
        changed: list[str] = []
        diffs: list[Any] = []
        for entry in entries:
            if self._is_right(entry, seen["paths"][entry["path"]], known):
                continue
            done = self._make(entry, known)
            if done.get("failed"):
                return {**done, "msg": f"{entry['path']}: {done.get('msg', '')}"}
            if done.get("changed"):
                changed.append(entry["path"])
                found = done.get("diff") or []
                diffs += found if isinstance(found, list) else [found]
        return {"changed": bool(changed), "paths": changed, "diff": diffs}

    def _entry(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a file or folder with what holds for all of the task.

        Raises:
            AnsibleActionFail: a setting is unknown, or one that the entry needs is missing or
                wrong.
        """
        shared = {key: self._task.args[key] for key in RIGHTS if key in self._task.args}
        entry = {"state": "file", **shared, **given}
        sources = [key for key in SOURCES if key in entry]
        if unknown := sorted(set(entry) - KEYS):
            raise AnsibleActionFail(f"'{unknown[0]}' is no setting of a file")
        if not entry.get("path") or entry["state"] not in STATES:
            raise AnsibleActionFail(f"{given} needs a path, and a state of {', '.join(STATES)}")
        if entry["state"] != "absent":
            if len(sources) != (entry["state"] == "file"):
                raise AnsibleActionFail(
                    f"{entry['path']}: a file needs one of {', '.join(SOURCES)}"
                )
            if not set(RIGHTS) <= set(entry):
                raise AnsibleActionFail(f"{entry['path']}: {', '.join(RIGHTS)} are needed")
        return entry

    def _is_right(
        self, entry: Mapping[str, Any], seen: Mapping[str, Any], known: dict[str, Any]
    ) -> bool:
        """Return True if nothing has to be done; if that is not certain, Ansible's modules decide."""
        if entry["state"] == "absent":
            return not seen["exists"] and not seen["is_link"]
        if seen["is_link"] or any(seen[key] != str(entry[key]) for key in RIGHTS):
            return False
        if entry["state"] == "directory":
            return bool(seen["is_folder"])
        content = self._content(entry, known)
        return content is not None and seen["sha256"] == hashlib.sha256(content).hexdigest()

    def _content(self, entry: Mapping[str, Any], known: dict[str, Any]) -> bytes | None:
        """Return the content that the file should have; None if it is unknown."""
        if "copy" in entry:
            return Path(self._find_needle("files", entry["copy"])).read_bytes()
        taken = _Rendered(self._shared_loader_obj)
        template = self._action(TEMPLATE, _arguments(entry))
        template._shared_loader_obj = taken
        template._task.check_mode = True  # whatever an Ansible of another version does with it
        template.TRANSFERS_FILES = False  # else it makes a folder on the host
        template.run(task_vars={**known, **entry.get("vars", {})})
        return taken.content

    def _make(self, entry: Mapping[str, Any], known: dict[str, Any]) -> dict[str, Any]:
        """Make the file or folder with Ansible's own module, and return its result."""
        arguments = _arguments(entry)
        if entry["state"] != "file":
            done: dict[str, Any] = self._execute_module(
                module_name=FILE, module_args=arguments, task_vars=known
            )
        else:
            name = TEMPLATE if "template" in entry else COPY
            action = self._action(name, arguments)
            done = action.run(task_vars={**known, **entry.get("vars", {})})
        return done

    def _action(self, name: str, arguments: dict[str, Any]) -> Any:
        """Return an action of Ansible with arguments of its own, for the same host and task."""
        task = self._task.copy()
        task.action, task.args = name, arguments
        return self._shared_loader_obj.action_loader.get(
            name,
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )


def _arguments(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of Ansible's module for a file or folder."""
    if entry["state"] == "absent":
        return {"path": entry["path"], "state": "absent"}
    found = {key: entry[key] for key in (*RIGHTS, "validate") if key in entry}
    if entry["state"] == "directory":
        return {**found, "path": entry["path"], "state": "directory"}
    source = entry["template"] if "template" in entry else entry["copy"]
    return {**found, "src": source, "dest": entry["path"]}


class _Rendered:
    """The loaders of Ansible for its template action, which hands what it has rendered to copy."""

    def __init__(self, loaders: Any) -> None:
        self.content: bytes | None = None
        self._loaders = loaders

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loaders, name)

    @property
    def action_loader(self) -> _Rendered:
        """This one, which gives itself for every action."""
        return self

    def get(self, name: str, *, task: Any, **others: Any) -> _Rendered:
        """Return the action that takes the place of copy."""
        self.content = Path(task.args["src"]).read_bytes()
        return self

    def run(self, task_vars: Any = None) -> dict[str, Any]:
        """Return the result that copy would have if nothing has to be done."""
        return {"changed": False}
