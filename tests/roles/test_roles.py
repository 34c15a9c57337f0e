"""What holds for every role, read from its files; ansible-lint checks their syntax."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from collection_support import INCLUDE, ROOT, ansible, roles_of
from parsed import parsed
from rackwright.ansible_runs.events import LAST_TASK

ROLES = sorted(path for path in (ROOT / "roles").iterdir() if path.is_dir())
PLAYBOOKS = ROOT / "stacks/baremetal/playbooks"
PARTS = ("preflight", "install", "configure", "run", "verify")
LONGEST = 120
LICENCE = "Apache-2.0"
MEASURING = {"node_exporter", "slurm_exporter", "prometheus"}
"""Roles that every cluster asks for that does not turn them down."""

FAMILIES = {"Debian", "Ubuntu", "EL"}
KINDS: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "path": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "list": list,
    "dict": dict,
    "raw": object,
}

NOT_VARIABLES = {"rdma_rename", "rdma_ucm", "rdma_cm", "neuron_device"}
"""Programs, kernel modules and keys of output whose names begin like that of a role."""

each_role = pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def read_if_there(path: Path) -> Any:
    return read(path) if path.is_file() else {}


def entries_of(role: Path) -> dict[str, dict[str, Any]]:
    """What a playbook may run of the role, by the name of its file of tasks."""
    entries: dict[str, dict[str, Any]] = read(role / "meta/argument_specs.yml")["argument_specs"]
    return entries


def options_of(role: Path) -> dict[str, dict[str, Any]]:
    """The variables of all entries."""
    found: dict[str, dict[str, Any]] = {}
    for entry in entries_of(role).values():
        for name, option in (entry.get("options") or {}).items():
            # What one entry must have, another may do without.
            found.setdefault(name, option)
    return found


def task_files(role: Path) -> list[Path]:
    return sorted([*(role / "tasks").glob("*.yml"), *(role / "handlers").glob("*.yml")])


def walk(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each task, those in blocks as well."""
    for task in tasks:
        inner = [one for part in ("block", "rescue", "always") for one in task.get(part, ())]
        if inner:
            yield from walk(inner)
        else:
            yield task


def tasks_of(role: Path) -> list[dict[str, Any]]:
    return [task for path in task_files(role) for task in walk(read(path) or [])]


def code_of(role: Path) -> str:
    """Everything in which variables are used."""
    files = [*task_files(role), *(role / "templates").glob("*"), *(role / "vars").glob("*.yml")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def made_inside(role: Path) -> set[str]:
    """Variables that the role makes for itself."""
    found = set(read_if_there(role / "vars/main.yml") or {})
    for task in tasks_of(role):
        found |= {task["register"]} if "register" in task else set()
        found |= set(task.get("ansible.builtin.set_fact", {}))
        if "ansible.builtin.include_role" not in task:  # whose variables they would be
            found |= set(task.get("vars", {}))
        control = task.get("loop_control", {})
        found |= {control.get("loop_var"), control.get("index_var")} - {None}
    return {name for name in found if not name.startswith("ansible_")}


def used_in(role: Path) -> set[str]:
    """Variables with the prefix of the role, paths and names of files left out."""
    names = re.findall(rf"(?<![\w/.-]){role.name}_\w+(?![\w/]|\.(?:py|sh|j2|conf))", code_of(role))
    return set(names) - NOT_VARIABLES


@each_role
def test_every_variable_is_specified_and_every_specified_one_is_used(role: Path) -> None:
    used, options = used_in(role), set(options_of(role))
    assert used - made_inside(role) - options == set(), "used and not specified"
    assert options - used == set(), "specified and not used"
    assert all(name.startswith(f"{role.name}_") for name in options | made_inside(role))


@each_role
def test_defaults_are_those_of_the_specification(role: Path) -> None:
    defaults = read_if_there(role / "defaults/main.yml") or {}
    options = options_of(role)
    assert set(defaults) <= set(options)
    for name, value in defaults.items():
        # What is worked out, or is long, stands in the defaults alone.
        assert options[name].get("default", value) == value, name
        assert not options[name].get("required"), name
    for name, option in options.items():
        assert option["description"], name
        assert not (option.get("required") and "default" in option), name
        if "default" in option:
            assert name in defaults, name
            assert isinstance(option["default"], KINDS[option["type"]]), name


def test_a_variable_without_a_default_is_required_or_asked_for() -> None:
    unguarded, optional = [], 0
    for role in ROLES:
        code, defaults = code_of(role), read_if_there(role / "defaults/main.yml") or {}
        for name, option in options_of(role).items():
            if not option.get("required") and name not in defaults:
                optional += 1
                guarded = rf"\b{name}(\.\w+|\[[^]]+\])* *(is (not )?defined|\| *default)"
                unguarded += [] if re.search(guarded, code) else [name]
    assert unguarded == [], "they may be absent, and nothing asks for that"
    assert optional > 30


@each_role
def test_role_describes_itself_and_its_platforms(role: Path) -> None:
    galaxy = read(role / "meta/main.yml")["galaxy_info"]
    assert galaxy["role_name"] == role.name
    assert galaxy["license"] == LICENCE
    assert galaxy["description"]
    assert {one["name"] for one in galaxy["platforms"]} <= FAMILIES
    spec = read(role / "meta/argument_specs.yml")["argument_specs"]["main"]
    assert spec["short_description"]
    assert not spec["short_description"].endswith(".")


@each_role
def test_its_parts_have_their_tags_and_come_in_order(role: Path) -> None:
    main = read(role / "tasks/main.yml")
    parts = [str(task["name"]).lower() for task in main]
    assert parts[0] == "preflight"
    assert parts == [part for part in PARTS if part in parts]
    assert {"preflight", "verify"} <= set(parts)
    for part, task in zip(parts, main, strict=True):
        assert task["ansible.builtin.import_tasks"] == f"{part}.yml"
        # Whatever part is asked for, its requirements are checked first.
        assert set(task["tags"]) <= set(main[0]["tags"])
    imported = {task["ansible.builtin.import_tasks"] for task in main}
    included = {
        Path(task[word]["file"] if isinstance(task[word], dict) else task[word]).name
        for task in tasks_of(role)
        for word in ("ansible.builtin.include_tasks", "ansible.builtin.import_tasks")
        if word in task
    }
    there = {path.name for path in (role / "tasks").glob("*.yml")}
    assert there == {*(f"{entry}.yml" for entry in entries_of(role)), *imported, *included}


@each_role
def test_tasks_name_their_modules_in_full_and_hide_no_failure(role: Path) -> None:
    tasks = tasks_of(role)
    assert tasks
    for task in tasks:
        assert task["name"][0].isupper(), task
        assert "ignore_errors" not in task, task["name"]
        modules = [key for key in task if key.count(".") >= 2]
        assert len(modules) == 1, task["name"]
        if modules[0] in {"ansible.builtin.command", "ansible.builtin.shell"}:
            assert "changed_when" in task or "creates" in task[modules[0]], task["name"]
        assert modules[0] != "ansible.builtin.shell", task["name"]


REFUSES = re.compile(r"(bad|refused)(_|$)|test_.*refuse", re.IGNORECASE)
"""Names of the tables, and of the tests, that say what a role refuses."""


def texts(module: Path) -> Iterator[str]:
    """The texts in the tables and tests of a module that say what a role refuses."""
    for node in ast.walk(parsed(module).tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                pass
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.FunctionDef(name=name):
                pass
            case _:
                continue
        if REFUSES.match(name):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield inner.value


@pytest.fixture(scope="module")
def refusals() -> set[str]:
    return {text for path in (ROOT / "tests/e2e").glob("test_*.py") for text in texts(path)}


@each_role
def test_role_has_a_test_of_its_refusals(role: Path, refusals: set[str]) -> None:
    own = refusals & {role.name, *options_of(role)}
    assert own, f"no table or test of tests/e2e says what {role.name} refuses"


@each_role
def test_no_host_fails_for_all(role: Path) -> None:
    """What fails in a task with run_once ends the run for every host: none of them may need one."""
    tasks = tasks_of(role)
    assert tasks
    for task in tasks:
        if task.get("run_once"):
            assert task.get("delegate_to") == "localhost" or "ansible.builtin.set_fact" in task, (
                task
            )
        assert "any_errors_fatal" not in task, task["name"]


def test_no_host_of_a_playbook_fails_for_all() -> None:
    plays = [(path.name, play) for path in PLAYBOOKS.glob("*.yml") for play in read(path)]
    assert plays
    for name, play in plays:
        parts = [task for key in ("pre_tasks", "tasks", "post_tasks") for task in play.get(key, ())]
        for entry in (play, *play.get("roles", ()), *walk(parts)):
            assert not {"run_once", "any_errors_fatal"} & set(entry), f"{name}: {entry['name']}"


SETS = re.compile(r"\| (?:union|intersect|difference|symmetric_difference)(?P<open>\()")
ORDERED = re.compile(
    r"[)]* ?(?:\| (?:sort|length|union|intersect|difference|symmetric_difference)\b|== \[\])"
)


def test_result_of_a_set_filter_is_sorted_or_counted() -> None:
    """They give texts in an order of their own in each run, so the first one is any."""
    paths = [path for role in ROLES for path in role.rglob("*") if path.suffix in {".yml", ".j2"}]
    seen = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for found in SETS.finditer(text):
            seen += 1
            rest = " ".join(after_brackets(text[found.start("open") :]).split())
            where = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}"
            assert ORDERED.match(rest), where
    assert seen > 40


def after_brackets(text: str) -> str:
    """What comes after the bracket that closes the first one of ``text``."""
    depth = 0
    for index, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[index + 1 :]
    raise AssertionError(text)


def test_files_that_roles_write_say_who_manages_them() -> None:
    # JSON has no comments.
    paths = [
        path
        for role in ROLES
        for path in (role / "templates").glob("*")
        if not path.name.endswith(".json.j2")
    ]
    assert len(paths) > 30
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        first = lines[1] if lines[0].startswith("#!") else lines[0]
        assert first == "{{ ansible_managed | comment }}", path


def test_written_files_have_owner_and_mode() -> None:
    written = [
        (f"{role.name}: {task['name']}", arguments)
        for role in ROLES
        for task in tasks_of(role)
        for arguments in written_by(task)
    ]
    assert len(written) > 50
    for task, arguments in written:
        assert {"owner", "group", "mode"} <= set(arguments), task
        assert isinstance(arguments["mode"], str), task


def written_by(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments of each file or folder that a task writes."""
    for word in ("ansible.builtin.template", "ansible.builtin.copy"):
        if word in task:
            yield task[word]
    if several := task.get("rackwright.cluster.files"):
        shared = {key: value for key, value in several.items() if key != "files"}
        for entry in several["files"] if isinstance(several["files"], list) else [{}]:
            if entry.get("state") != "absent":
                yield {**shared, **entry}


RESTARTS = re.compile(r"systemctl\W+(try-)?restart\b")


@each_role
def test_role_repeats_interrupted_restarts(role: Path) -> None:
    """Ansible's own modules meet the start limit of a unit, as three runs of ``sssd`` within seconds did."""
    names = [
        task.get("name", "")
        for task in tasks_of(role)
        for arguments in task.values()
        if isinstance(arguments, dict) and arguments.get("state") == "restarted"
    ]
    assert names == [], "use rackwright.cluster.restart"
    scripts = [path for path in role.rglob("*") if path.is_file() and path.suffix != ".md"]
    assert scripts
    own = [path.name for path in scripts if RESTARTS.search(path.read_text("utf-8", "replace"))]
    assert own == [], "use rackwright.cluster.restart, or reset-failed before it"


def test_roles_restart_units() -> None:
    restarting = [
        task for role in ROLES for task in tasks_of(role) if "rackwright.cluster.restart" in task
    ]
    assert len(restarting) > 15


@each_role
def test_its_files_are_short(role: Path) -> None:
    # The descriptions of variables are a list, which is as long as there are variables.
    paths = [path for path in role.rglob("*") if path.suffix in {".yml", ".j2"}]
    paths = [path for path in paths if path.name != "argument_specs.yml"]
    counts = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert counts
    assert {name: count for name, count in counts.items() if count > LONGEST} == {}


def entries_of_site() -> dict[str, Mapping[str, Any]]:
    """How the playbook of a whole site calls each role."""
    plays = read(PLAYBOOKS / "site.yml")
    return {role: entry for play in plays for role, entry in roles_of(play).items()}


def test_roles_that_are_asked_for_by_a_variable_have_no_default_for_it() -> None:
    """A role's defaults are there when its own condition is looked at: it would always run."""
    asked = {
        role: set(re.findall(r"(\w+) is defined", str(entry.get("when", ""))))
        for role, entry in entries_of_site().items()
    }
    assert any(asked.values())
    for role, names in asked.items():
        defaults = read_if_there(ROOT / "roles" / role / "defaults/main.yml") or {}
        assert not names & set(defaults), role


def test_no_role_is_asked_for_by_a_default_of_one_that_its_play_imports() -> None:
    """A cluster without a federation, and without a database, was to have accounts of Slurm."""
    asked = 0
    for play in read(PLAYBOOKS / "site.yml"):
        imported = [role for role, entry in roles_of(play).items() if INCLUDE not in entry]
        defaults: set[str] = set()
        for role in imported:
            defaults |= set(read_if_there(ROOT / "roles" / role / "defaults/main.yml") or {})
        for task in play.get("tasks", []):
            names = set(re.findall(r"(\w+) is defined", str(task.get("when", ""))))
            asked += len(names)
            assert not names & defaults, task["name"]
    assert asked > 0


def test_roles_that_not_every_cluster_asks_for_are_included() -> None:
    """A condition of a role that is imported is looked at for each of its tasks on each host."""
    entries = entries_of_site()
    included = {role for role, entry in entries.items() if INCLUDE in entry}
    assert included
    assert entries.keys() - included
    for role, entry in entries.items():
        if role in included:
            assert entry["tags"] == ["always"], role  # else --tags would leave it out
            assert "when" in entry, role
        elif role not in MEASURING:
            assert "when" not in entry, role


def test_every_host_of_a_play_comes_to_the_end() -> None:
    *plays, last = read(PLAYBOOKS / "site.yml")
    named = {
        group
        for play in plays
        for group in (play["hosts"] if isinstance(play["hosts"], list) else [play["hosts"]])
    }
    asked = {part.partition("[")[0] for group in named for part in group.split(":")}
    assert set(last["hosts"]) == asked
    assert (last["tasks"][0]["name"], last["tags"]) == (LAST_TASK, ["always"])


def test_common_roles_come_first_and_once() -> None:
    """Servers of storage and subnet managers are in no group of Slurm, and need it as well."""
    first, *others = read(PLAYBOOKS / "site.yml")
    assert first["hosts"] == ["role_*", "slurm_hosts"], "'all' may hold what is no host of ours"
    assert list(roles_of(first)) == ["base"]
    where = {role: play["hosts"] for play in others for role in roles_of(play)}
    assert "base" not in where
    assert (where["users"], where["slurm_config"], where["munge"]) == ("slurm_hosts",) * 3


def test_task_prolog_of_skypilot_is_on_the_nodes_before_slurm_conf_names_it() -> None:
    """Slurmstepd ends each task whose TaskProlog is not there, and it came after slurm.conf."""
    plays = read(PLAYBOOKS / "site.yml")
    (before,) = (
        number
        for number, play in enumerate(plays)
        for task in play.get("tasks", ())
        if task.get(INCLUDE) == {"name": "skypilot", "tasks_from": "task_prolog"}
    )
    (named,) = (number for number, play in enumerate(plays) if "slurm_config" in roles_of(play))
    assert plays[before]["hosts"] == "slurm_compute"
    assert before < named
    names = [task["name"] for task in read(ROOT / "roles/skypilot/tasks/task_prolog.yml")]
    assert names == ["Make the folder of the task prolog", "Write the task prolog"], "no wheel"


def test_roles_are_found_by_their_names_in_the_collection(tmp_path: Path) -> None:
    names = [f"rackwright.cluster.{role.name}" for role in ROLES]
    play = {"name": "Every role", "hosts": "all", "roles": names}
    path = tmp_path / "all.yml"
    path.write_text(yaml.safe_dump([play]))
    assert check_syntax(path).returncode == 0
    path.write_text(yaml.safe_dump([{**play, "roles": ["rackwright.cluster.nothing"]}]))
    assert "'rackwright.cluster.nothing' was not found" in check_syntax(path).stderr


def check_syntax(playbook: Path) -> subprocess.CompletedProcess[str]:
    return ansible("playbook", "--syntax-check", "-i", "localhost,", playbook)
