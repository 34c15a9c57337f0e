"""A plugin of Ansible's: adds the names of the roles that a run plays to the file RACKWRIGHT_PLAYED_ROLES, if it is set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: played_roles
type: aggregate
short_description: Names the roles of a run
description: Names are added to the file that RACKWRIGHT_PLAYED_ROLES names, one a line.
"""


class CallbackModule(CallbackBase):
    """Adds each role once, with its first task or handler; an include that is skipped has neither."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "played_roles"

    def __init__(self) -> None:
        super().__init__()
        self._file = os.environ.get("RACKWRIGHT_PLAYED_ROLES")
        self._seen: set[str] = set()

    def v2_playbook_on_task_start(self, task: Any, is_conditional: Any) -> None:
        """Add the role of a task."""
        self._add(task)

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        """Add the role of a handler."""
        self._add(task)

    def _add(self, task: Any) -> None:
        if self._file is None or task._role is None:
            return
        name = task._role.get_name()
        if name not in self._seen:
            self._seen.add(name)
            with Path(self._file).open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
