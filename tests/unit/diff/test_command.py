"""The command line of ``diff``: what it refuses before it looks at anything."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from factories import a_blueprint
from rackwright.cli import main


@pytest.fixture
def blueprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    names = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    path = tmp_path / "blueprint.yaml"
    path.write_text(json.dumps(a_blueprint()), encoding="utf-8")
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "one"]):
        subprocess.run(["git", "-C", str(tmp_path), *names, *words], check=True)
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "is missing"),
        (["HEAD", "blueprint.yaml", "--json", "-v"], "has an effect on text only"),
        (["HEAD", "blueprint.yaml", "--output", "pdf=x"], "is not FORMAT=FILE"),
        (["HEAD", "blueprint.yaml", "--output", "md="], "is not FORMAT=FILE"),
        (["HEAD", "other.yaml"], "there is no 'other.yaml' at 'HEAD' or at 'working tree'"),
        (["HEAD..HEAD", "blueprint.yaml", "--layer", "x.yaml"], "there is no 'x.yaml' at 'HEAD'"),
        (["HEAD", "blueprint.yaml", "--accept", "name"], "nothing is refused at 'name'"),
        (["HEAD", "/blueprint.yaml"], "not in a git repository"),
    ],
)
def test_bad_usage_ends_with_two(
    blueprint: Path, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *arguments]) == 2
    shown = capsys.readouterr()
    assert text in shown.err
    assert shown.out == ""


def test_every_output_of_one_run_says_the_same(
    blueprint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = a_blueprint(owner="team@example.com")
    blueprint.write_text(json.dumps(changed), encoding="utf-8")
    forms = [f"--output={form}={tmp_path}/out/{form}" for form in ("json", "md", "comment", "text")]
    code = main(["diff", "HEAD", "blueprint.yaml", *forms])
    shown = capsys.readouterr().out
    assert (tmp_path / "out" / "text").read_text(encoding="utf-8") == shown
    document = json.loads((tmp_path / "out" / "json").read_text(encoding="utf-8"))
    assert document["exit_code"] == code
    assert [update["path"] for update in document["updates"]] == ["owner"]
    for form in ("md", "comment"):
        text = (tmp_path / "out" / form).read_text(encoding="utf-8")
        assert document["summary"] in text
        assert "`owner`" in text
