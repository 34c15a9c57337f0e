"""Tasks of a role that are commands, done as its playbook does them but without Ansible.

A task is a command with an ``argv``, ``when``, ``register``, ``changed_when`` and ``failed_when``, which is all that
tasks around ``sacctmgr`` and ``mariadb`` use. Machines without Python can be asked like this.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
import yaml
from jinja2.runtime import Context

from rackwright.resources import bundled

Run = Callable[[str], tuple[int, str]]
"""Return exit code and standard output of a line of the shell."""


@dataclass
class Result:
    """A command's result as tasks see it."""

    rc: int
    stdout: str

    @property
    def stdout_lines(self) -> list[str]:
        """Lines of the output."""
        return self.stdout.splitlines()


class RoleTasks:
    """The variables and tasks of a role, with values from the inventory."""

    def __init__(self, role: str, values: Mapping[str, Any]) -> None:
        self.folder = bundled("roles") / role
        self.values: dict[str, Any] = {
            "ansible_check_mode": False,
            "ansible_managed": "generated",
            "ansible_facts": {"os_family": "Debian"},
        }
        for name in ("defaults", "vars"):
            path = self.folder / name / "main.yml"
            self.values |= yaml.safe_load(path.read_text()) if path.is_file() else {}
        self.values |= values
        self.environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.ChainableUndefined)
        self.environment.context_class = _context(self)
        self.environment.filters["comment"] = lambda text: f"# {text}"
        self.environment.filters["split"] = lambda text, by=None: text.split(by)
        self.environment.filters["difference"] = lambda a, b: [one for one in a if one not in b]
        self.environment.tests["search"] = lambda text, word: word in str(text)

    def value(self, text: Any) -> Any:
        """Return a value with its templates filled in, as often as they lead to others."""
        if isinstance(text, list):
            return [self.value(one) for one in text]
        if not isinstance(text, str) or "{{" not in text:
            return text
        whole = text.strip()
        if whole.startswith("{{") and whole.endswith("}}") and whole.count("{{") == 1:
            return self.value(self.expression(whole[2:-2]))
        return self.environment.from_string(text).render()

    def expression(self, text: str) -> Any:
        """Return the value of an expression without braces."""
        return self.environment.compile_expression(text, undefined_to_none=False)()

    def template(self, name: str) -> str:
        """Return a file of the role's templates."""
        text = (self.folder / "templates" / name).read_text()
        return self.environment.from_string(text).render()

    def do(self, file: str, run: Run) -> list[str]:
        """Do the commands of a file of tasks; return the names of those that changed something.

        Raises:
            AssertionError: a command failed.
        """
        changed = []
        for task in yaml.safe_load((self.folder / "tasks" / file).read_text()):
            wanted = task.get("when", [])
            conditions = wanted if isinstance(wanted, list) else [wanted]
            if not all(self.expression(str(one)) for one in conditions):
                continue
            argv = self.value(task["ansible.builtin.command"]["argv"])
            result = Result(*run(shlex.join(map(str, argv))))
            self.values[task.get("register", "_")] = result
            fails = task.get("failed_when", result.rc != 0)
            failed = self.expression(fails) if isinstance(fails, str) else fails
            assert not failed, f"{task['name']}: {argv}: {result}"
            asked = task.get("changed_when", True)
            if self.expression(asked) if isinstance(asked, str) else asked:
                changed.append(task["name"])
        return changed


def _context(tasks: RoleTasks) -> type[Context]:
    """Return a context whose variables are filled in when they are asked for."""

    class Lazy(Context):
        def resolve_or_missing(self, key: str) -> Any:
            if key in tasks.values and key not in self.vars:
                return tasks.value(tasks.values[key])
            return super().resolve_or_missing(key)

    return Lazy
