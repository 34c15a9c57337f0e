"""READMEs of roles follow their argument specifications; ``UPDATE_GOLDEN=1`` writes them anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from rackwright.resources import bundled
from role_documents import RoleFacts, read_role, render_index, render_readme

BEGIN, END = "<!-- every role -->\n", "<!-- end -->\n"
ROLES = sorted(path.parents[1] for path in bundled("roles").glob("*/meta/argument_specs.yml"))


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_the_readme_of_each_role_is_up_to_date(role: Path) -> None:
    made, path = render_readme(read_role(role)), role / "README.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(made, encoding="utf-8")
    there = path.read_text(encoding="utf-8") if path.is_file() else ""
    assert there == made, f"{role.name}: run 'make roles-docs'"


def test_the_index_lists_every_role() -> None:
    path = bundled("roles") / "README.md"
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    made = before + BEGIN + render_index([read_role(role) for role in ROLES]) + END + after
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(made, encoding="utf-8")
        text = made
    assert text == made, "run 'make roles-docs'"


def test_the_index_says_of_every_role_where_it_was_run() -> None:
    text = (bundled("roles") / "README.md").read_text(encoding="utf-8").split(END)[1]
    said = set(re.findall(r"`(\w+)`", text))
    assert {role.name for role in ROLES} <= said


def test_everything_that_a_specification_says_is_in_the_readme() -> None:
    ports = {
        "type": "list",
        "elements": "dict",
        "required": True,
        "description": ["Ports, as C(ibstat) counts them.", "At least one."],
        "options": {"rate": {"type": "int", "description": "Rate | speed.", "default": 400}},
    }
    packages = {"type": "dict", "description": "Packages."}
    level = {"description": "How much\n  is said.", "choices": ["much", "little"], "default": ""}
    main = {
        "short_description": "Fabric",
        "description": "Cables. See O(x_ports).",
        "options": {"x_ports": ports, "x_level": level, "x_packages": packages},
    }
    galaxy = {
        "min_ansible_version": "2.16",
        "platforms": [
            {"name": "Debian", "versions": ["bookworm"]},
            {"name": "EL", "versions": ["8", "9"]},
        ],
    }
    other = {"short_description": "Undo", "options": {}}
    specs = {"main": main, "undo": other}
    made = render_readme(RoleFacts("x", specs, galaxy, ["install"], ["x_packages", "x_level"]))
    assert made.splitlines() == [
        "# rackwright.cluster.x",
        "",
        "Fabric.",
        "",
        "Cables. See `x_ports`.",
        "",
        "| Variable | Type | Default | What it is |",
        "|---|---|---|---|",
        "| `x_ports` | list of dict | required | Ports, as `ibstat` counts them. At least one. |",
        "| `x_ports[].rate` | int | `400` | Rate \\| speed. |",
        '| `x_level` | str | `""` | How much is said. One of `much`, `little`. |',
        "| `x_packages` | dict | see `defaults/main.yml` | Packages. |",
        "",
        "## Entry point undo",
        "",
        "Undo.",
        "",
        "It has no variables.",
        "",
        "Tags: `install`.",
        "",
        "Written for Debian (bookworm) and EL (8, 9), ansible-core 2.16 or newer.",
        "The index of the roles says where it was run.",
        "",
        "Written from `meta/argument_specs.yml`; `make roles-docs` regenerates it.",
    ]


def test_a_role_is_read_from_its_files(tmp_path: Path) -> None:
    for folder in ("tasks", "meta", "defaults"):
        (tmp_path / "x" / folder).mkdir(parents=True)
    (tmp_path / "x/tasks/main.yml").write_text(
        "- {tags: [preflight, install, configure]}\n- {tags: [install]}\n- {tags: [install]}\n"
    )
    (tmp_path / "x/meta/main.yml").write_text("galaxy_info: {license: Apache-2.0}\n")
    (tmp_path / "x/meta/argument_specs.yml").write_text("argument_specs: {main: {}}\n")
    (tmp_path / "x/defaults/main.yml").write_text("x_packages: {}\n")
    read, galaxy = read_role(tmp_path / "x"), {"license": "Apache-2.0"}
    assert read == RoleFacts("x", {"main": {}}, galaxy, ("preflight", "install"), ("x_packages",))
