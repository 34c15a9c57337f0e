"""One table of systems: the blueprint, the role ``base`` and the documents say the same."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.errors import SpecErrors
from rackwright.model.systems import SYSTEMS, Evidence, known_system
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.resources import bundled

ROOT = Path(__file__).parents[3]
BEGIN, END = "<!-- systems -->\n", "<!-- end -->\n"
ROLE_BEGIN = "# BEGIN systems that the roles are written for, by 'make systems-docs'\n"
ROLE_END = "# END systems\n"


def written(path: Path, begin: str, end: str, made: str) -> str:
    """The text between two marks; written anew where that is asked for."""
    before, rest = path.read_text(encoding="utf-8").split(begin)
    there, after = rest.split(end, 1)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(before + begin + made + end + after, encoding="utf-8")
        return made
    return there


def role_table() -> Mapping[str, Mapping[str, Any]]:
    """What the role ``base`` compares a host with, by id."""
    return {
        system.id: {
            "title": system.title,
            "distributions": list(system.distributions),
            "release": system.release,
        }
        | ({"mark": system.mark} if system.mark else {})
        for system in SYSTEMS
    }


def test_the_role_has_the_table() -> None:
    lines = [
        f"  {name}: {yaml.safe_dump(dict(one), default_flow_style=True, sort_keys=False, width=200)}"
        for name, one in role_table().items()
    ]
    made = "base_systems:\n" + "".join(lines)
    path = bundled("roles") / "base/vars/main.yml"
    assert written(path, ROLE_BEGIN, ROLE_END, made) == made, "run 'make systems-docs'"
    assert yaml.safe_load(path.read_text("utf-8"))["base_systems"] == role_table()


def test_the_documents_have_the_table() -> None:
    rows = [
        "| System | In a blueprint | Evidence | What was run | What a team brings |",
        "|---|---|---|---|---|",
    ]
    for one in SYSTEMS:
        brings = f"{one.lacks[0].upper()}{one.lacks[1:]}." if one.lacks else ""
        rows.append(f"| {one.title} | `{one.id}` | {one.evidence} | {one.ran}. | {brings} |")
    made = "\n".join(rows) + "\n"
    assert written(ROOT / "docs/systems.md", BEGIN, END, made) == made, "run 'make systems-docs'"


def test_ids_differ_and_what_is_alike_but_for_a_file_names_it() -> None:
    assert len({one.id for one in SYSTEMS}) == len(SYSTEMS)
    plain = [(one.distributions, one.release) for one in SYSTEMS if not one.mark]
    assert len(set(plain)) == len(plain)


def test_the_strongest_evidence_is_of_what_the_lab_boots() -> None:
    assert [one.id for one in SYSTEMS if one.evidence is Evidence.LAB] == ["debian-12", "debian-13"]


def test_a_system_that_is_not_there_is_refused_with_those_that_are() -> None:
    assert known_system("ubuntu-24.04") == "ubuntu-24.04"
    with pytest.raises(ValueError, match=r"not written for 'centos-7'; they are for debian-12, "):
        known_system("centos-7")


@pytest.mark.parametrize("field", ["system", "server_system"])
def test_check_refuses_a_system_with_its_place(tmp_path: Path, field: str) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(f"operations:\n  software:\n    - name: metal\n      {field}: sles-15\n")
    with pytest.raises(SpecErrors) as caught:
        load_plan(builtin_pack() / "fixtures/operated.yaml", (layer,))
    said = str(caught.value)
    assert "not written for 'sles-15'" in said
    assert f"layer.yaml:4:{len(field) + 9}" in said
