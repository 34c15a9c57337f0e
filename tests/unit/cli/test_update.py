"""``init`` from everywhere, ``update``, and its list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_team import git
from rackwright.cli import main
from template_support import TEXT, V1, tag_files, write_files


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A team's repository with a cluster made from a git template at v1, committed."""
    url = tag_files(tmp_path / "templates", "v1", V1)
    folder = tmp_path / "team"
    folder.mkdir()
    monkeypatch.chdir(folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    assert main(["init", "room", "--template", f"{url}@v1", "--set", "name=ours"]) == 0
    commit(folder, "from the template")
    return folder


def commit(folder: Path, message: str) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", f"--message={message}")


def release_v2(team: Path) -> None:
    """Version 2: another owner, and another end."""
    text = TEXT.replace("team@example.com", "platform@example.com").replace("# end", "# end of v2")
    tag_files(team.parent / "templates", "v2", {"room.yaml.j2": text})


def test_a_cluster_of_v1_changed_by_hand_goes_to_v2_with_one_conflict(
    team: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blueprint = team / "room/room.yaml"
    text = blueprint.read_text()
    blueprint.write_text(text.replace("team@example.com", "us@example.com").replace("2\n", "7\n"))
    commit(team, "by hand")
    release_v2(team)
    capsys.readouterr()

    assert main(["update", "--list", "."]) == 0
    source = f"git+file://{team.parent}/templates"
    assert capsys.readouterr().out == f"behind   room: {source} v1 (newest: v2)\n"

    assert main(["update", "room"]) == 9
    shown = capsys.readouterr()
    assert shown.out == (
        "conflict  room/room.yaml\n"
        "  room/room.yaml:2\n"
        "    <<<<<<< yours\n"
        "    owner: us@example.com\n"
        "    ||||||| template v1\n"
        "    owner: team@example.com\n"
        "    =======\n"
        "    owner: platform@example.com\n"
        "    >>>>>>> template v2\n"
    )
    assert shown.err.startswith(f"template {source}: v1 -> v2\n1 conflict: decide between")
    merged = blueprint.read_text()
    assert "racks: 7\n" in merged, "what was changed by hand stays"
    assert merged.endswith("# end of v2\n"), "what the template changed is there"

    assert main(["update", "--list", "."]) == 0
    assert capsys.readouterr().out == f"current  room: {source} v2\n"
    assert main(["update", "room", "--to", "v1"]) == 2
    assert "still has conflicts" in capsys.readouterr().err


def test_a_dry_run_shows_the_difference_and_writes_nothing(
    team: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release_v2(team)
    capsys.readouterr()
    assert main(["update", "room", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("updated   room/room.yaml\n--- room.yaml\n+++ room.yaml\n")
    assert "\n-# end\n+# end of v2\n" in shown
    assert git(team, "status", "--porcelain") == ""


def test_uncommitted_changes_are_not_overwritten(
    team: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blueprint = team / "room/room.yaml"
    blueprint.write_text(blueprint.read_text().replace("2\n", "7\n"))
    release_v2(team)
    before = blueprint.read_text()
    capsys.readouterr()
    for option in ((), ("--json",)):
        assert main(["update", "room", *option]) == 2
        shown = capsys.readouterr()
        assert "has changes that are not committed" in shown.err
        assert shown.out == "", "no update is reported that did not happen"
    assert blueprint.read_text() == before


def test_the_list_says_what_it_cannot_tell(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (team.parent / "templates").rename(team.parent / "elsewhere")
    capsys.readouterr()
    assert main(["update", "--list", ".", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["clusters"]
    assert (row["folder"], row["version"], row["state"]) == ("room", "v1", "unknown")
    assert "cannot be read" in row["why"]


def test_without_clusters_the_list_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["update", "--list", str(tmp_path)]) == 3
    assert "keeps its template" in capsys.readouterr().err
    assert main(["update", str(tmp_path)]) == 2
    assert "was not made from a template" in capsys.readouterr().err


def test_answers_come_from_a_file_and_from_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_files(tmp_path / "t", V1)
    answers = write_files(tmp_path, {"answers.yaml": "name: filed\ncount: 4\n"}) / "answers.yaml"
    words = ["init", str(tmp_path / "a"), "--template", str(folder), "--answers", str(answers)]
    assert main([*words, "--set", "count=5"]) == 0
    text = (tmp_path / "a/room.yaml").read_text()
    assert text.startswith("name: filed\n")
    assert "racks: 5\n" in text


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("name: [a]\n", "the answer to 'name' is a list"),
        ("- name\n", "is not a mapping of answers"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nname: [*b, *b]\n", ""),
        ("count: 41\n", "the answer to 'count' is refused: from 1 to 40"),
        ("count: many\n", "the answer to 'count' must be a whole number, got 'many'"),
        ('name: "a\\nb"\n', "must be printable text on one line"),
    ],
)
def test_hostile_answers_are_refused_and_nothing_is_written(
    answers: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_files(tmp_path / "t", V1)
    file = write_files(tmp_path, {"answers.yaml": answers}) / "answers.yaml"
    made = tmp_path / "a"
    assert main(["init", str(made), "--template", str(folder), "--answers", str(file)]) == 2
    assert words in capsys.readouterr().err
    assert not made.exists()
