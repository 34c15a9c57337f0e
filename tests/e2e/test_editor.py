"""What an editor tells, offers and shows of the files of a cluster, by the YAML language server itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalogue_team import SERVER, a_server, write
from cli_support import run_here
from npm_tools import NODE, NPM, ask
from rackwright.render.blueprints import find_template, list_templates
from template_support import example_answers

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(NPM is None or NODE is None, reason="npm is not installed"),
]
TEMPLATES = [template.name for template in list_templates()]
ONPREM = """\
# yaml-language-server: $schema=.schemas/blueprint.schema.json
apiVersion: rackwright/v1
name: atlas
derive: "1"
sites:
  - name: sjc1
    provider: onprem
    power:
      contract: 550 kW
      continuous_derate: 80 %
      power_factor: 0.95
    node_groups:
      - name: dgx
        role: compute
        type: dgx-h100
        count: 4
"""
TEAM = """\
# yaml-language-server: $schema=.schemas/team.schema.json
catalogue:
  - path: hardware
"""


@dataclass(frozen=True)
class Told:
    """What the server says of a document.

    Attributes:
        mistakes: their lines, counted from one, with what is said.
        answer: to what was asked about a place in it.
    """

    mistakes: list[tuple[int, str]]
    answer: Any


@dataclass(frozen=True)
class Document:
    """A text as it is open in the editor, and what is asked where ``|`` stands in it."""

    path: Path
    text: str
    method: str = ""

    @property
    def opened(self) -> dict[str, Any]:
        """As the client takes it."""
        before, cursor, after = self.text.partition("|")
        if not self.method:
            return {"path": str(self.path), "text": self.text, "asked": []}
        assert cursor, "nothing says what is asked about"
        lines = before.split("\n")
        place = {"line": len(lines) - 1, "character": len(lines[-1])}
        asked = [{"method": f"textDocument/{self.method}", **place}]
        return {"path": str(self.path), "text": before + after, "asked": asked}


def told(*documents: Document) -> list[Told]:
    """What the server says of each document."""
    question = {"documents": [one.opened for one in documents]}
    return [
        Told(
            [(one["range"]["start"]["line"] + 1, one["message"]) for one in answer["diagnostics"]],
            next(iter(answer["answers"]), None),
        )
        for answer in ask("yaml_language_server", "edit.cjs", question)
    ]


def changed(old: str, new: str, text: str = ONPREM) -> str:
    """The text with one change."""
    assert text.count(old) == 1
    return text.replace(old, new)


def line_of(word: str, text: str) -> int:
    """The number of the only line that has the word, counted from one."""
    (found,) = [number for number, line in enumerate(text.splitlines(), 1) if word in line]
    return found


def offered(answer: Any) -> dict[str, str]:
    """What may be written at a place, with what is said of it."""
    return {
        one["label"]: (one.get("documentation") or {}).get("value", "") for one in answer["items"]
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A team's folder with a product of its own and all schemas."""
    made = tmp_path_factory.mktemp("team")
    (made / "rackwright.yaml").write_text(TEAM, "utf-8")
    write(made, SERVER, a_server())
    ended = run_here(made, "schema", "export", "--output", ".schemas")
    assert ended.code == 0, ended.err
    return made


def test_what_init_writes_is_without_mistakes_and_explained(tmp_path: Path) -> None:
    """Each built-in template, and a hover that tells that the schema beside it was read."""
    opened = []
    for name in TEMPLATES:
        answers = example_answers(find_template(name))
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(dict(answers)), "utf-8")
        given = ("--template", name, "--answers", f"{name}.yaml", "--example")
        ended = run_here(tmp_path, "init", name, *given)
        assert ended.code == 0, ended.err
        path = tmp_path / name / "blueprint.yaml"
        text = re.sub("^name:", "na|me:", path.read_text("utf-8"), count=1, flags=re.MULTILINE)
        opened.append(Document(path, text, "hover"))
    found = told(*opened)
    assert {name: one.mistakes for name, one in zip(TEMPLATES, found, strict=True)} == {
        name: [] for name in TEMPLATES
    }
    shown = [one.answer["contents"]["value"] for one in found]
    assert [text for text in shown if "blueprint.schema.json" not in text] == []


def mistaken(folder: Path, changes: Sequence[tuple[str, str]]) -> list[Told]:
    """What is told of the blueprint with each of the changes by itself."""
    return told(
        *(
            Document(folder / f"mistake-{number}.yaml", changed(old, new))
            for number, (old, new) in enumerate(changes)
        )
    )


def test_a_mistake_is_told_at_its_field(folder: Path) -> None:
    """One of a site is not told at the site, of which an editor knows only the provider."""
    changes = {
        "contract: 550": ("contract: 550 kW", "contract: 550"),
        "contrat:": ("contract: 550 kW", "contrat: 550 kW"),
        "rolle:": ("role: compute\n", "role: compute\n        rolle: compute\n"),
        "count: four": ("count: 4", "count: four"),
        "nmae:": ("name: atlas\n", "name: atlas\nnmae: atlas\n"),
        "provider: on-site": ("provider: onprem", "provider: on-site"),
    }
    right, *found = mistaken(folder, [("550 kW", "560 kW"), *changes.values()])
    assert right.mistakes == []
    for (word, change), one in zip(changes.items(), found, strict=True):
        lines = {line for line, _ in one.mistakes}
        assert lines == {line_of(word, changed(*change))}, (word, one.mistakes)
    assert "contrat" in found[1].mistakes[0][1]


def test_fields_are_offered_with_what_they_are(folder: Path) -> None:
    text = changed("      contract: 550 kW\n", "      contract: 550 kW\n      |\n")
    (found,) = told(Document(folder / "fields.yaml", text, "completion"))
    fields = offered(found.answer)
    assert fields["capping"] == "True if a power-capping controller enforces the budgets."
    assert "contract" not in fields, "it is there already"
    assert "availability_zones" not in fields, "of another provider"


def test_ids_of_the_catalogue_and_of_the_team_are_offered_and_no_others_forbidden(
    folder: Path,
) -> None:
    nodes, racks, other = told(
        Document(folder / "nodes.yaml", changed("dgx-h100", "|"), "completion"),
        Document(
            folder / "racks.yaml",
            changed("    power:", "    racks: {type: |}\n    power:"),
            "completion",
        ),
        Document(folder / "other.yaml", changed("dgx-h100", "bought-tomorrow")),
    )
    assert {"acme-8x", "dgx-h100"} <= offered(nodes.answer).keys()
    assert "rack-48u" in offered(racks.answer)
    assert "acme-8x" not in offered(racks.answer), "it is no rack"
    assert other.mistakes == []


def test_hover_tells_what_a_field_is(folder: Path) -> None:
    text = changed("contract: 550 kW", "con|tract: 550 kW")
    (found,) = told(Document(folder / "hover.yaml", text, "hover"))
    assert "Power the utility has contracted, in kW." in found.answer["contents"]["value"]


def test_the_configuration_of_a_team_is_checked_and_completed(folder: Path) -> None:
    right, wrong, more = told(
        Document(folder / "rackwright.yaml", TEAM),
        Document(folder / "wrong.yaml", TEAM + "pack: []\n"),
        Document(folder / "more.yaml", TEAM + "|", "completion"),
    )
    assert right.mistakes == []
    assert [line for line, _ in wrong.mistakes] == [line_of("pack:", TEAM + "pack: []\n")]
    assert "Price lists" in offered(more.answer)["prices"]
