"""What documents show is so: a tutorial runs as it stands, and every command can be typed."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from documented_commands import (
    ShownCommand,
    WrittenFile,
    first_difference,
    follow,
    in_a_shell,
    reader_environment,
    steps,
)
from rackwright import cli
from rackwright.cli.options.examples import EXAMPLES, actions_of

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
SHELL = re.compile(r"[|><$*;&]")
"""What only a shell understands."""


def rackwright_lines(text: str) -> list[list[str]]:
    """The words of each command of ours in a document, without what stands for something left out."""
    lines = [step.line for step in steps(text) if isinstance(step, ShownCommand)]
    parts = [part.strip() for line in lines for part in re.split(r"[|>&;]+", line)]
    return [
        [word for word in shlex.split(part)[1:] if word != "…"]
        for part in parts
        if part.startswith("rackwright ")
    ]


def parse(words: list[str]) -> None:
    """Parse a command line as the command does, without running it."""
    verb, *rest = words
    module: Any = importlib.import_module(cli.VERBS[verb][0])
    parser = argparse.ArgumentParser(prog=f"rackwright {verb}", exit_on_error=False)
    module.configure(parser, verb)
    parser.parse_args(rest)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_in_a_document_can_be_typed(document: Path) -> None:
    refused, text = [], document.read_text("utf-8")
    added = set(
        re.findall(r'^    "(\w+)": \("rackwright\.cli\.commands\.\1", ', text, re.MULTILINE)
    )
    for words in rackwright_lines(text):
        if words and words[0] in added - set(cli.VERBS):
            continue  # a verb that the document has its reader write
        if words and words[0] in cli.VERBS:
            try:
                parse(words)
            except (SystemExit, argparse.ArgumentError) as error:
                refused.append(f"rackwright {shlex.join(words)}: {error}")
        elif words not in (["--help"], ["--version"]):
            refused.append(f"rackwright {shlex.join(words)}")
    assert refused == []


def test_the_help_of_every_command_and_action_has_an_example_that_can_be_typed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = set()
    for verb, (place, _) in cli.VERBS.items():
        parser = argparse.ArgumentParser()
        module: Any = importlib.import_module(place)
        module.configure(parser, verb)
        names |= {verb, *(f"{verb} {action}" for action, _ in actions_of(parser))}
    assert set(EXAMPLES) == names
    for name, lines in EXAMPLES.items():
        with pytest.raises(SystemExit):
            cli.main([*name.split(), "--help"])
        shown = capsys.readouterr().out
        for line in lines:
            assert f"\n  rackwright {line}\n" in shown
            assert line.startswith(f"{name} ") or line == name or name == line.split()[0]
            parse(shlex.split(line))


def test_the_commands_at_a_glance_are_all_commands() -> None:
    rows = (ROOT / "docs/commands.md").read_text("utf-8").partition("\n## ")[0]
    named = {
        cell.split()[0]
        for row in re.findall(r"^\| (`.+?) \|", rows, re.MULTILINE)
        for cell in re.findall(r"`([^`]+)`", row)
    }
    assert set(cli.VERBS) - named == set()


@pytest.mark.parametrize(("document", "commands"), [("tutorial-hall.md", 26), ("design.md", 6)])
def test_a_tutorial_runs_as_it_stands(
    document: str,
    commands: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home, folder = tmp_path / "home", tmp_path / "empty"
    home.mkdir()
    folder.mkdir()
    environment = reader_environment(home)
    monkeypatch.chdir(folder)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def run(line: str) -> tuple[int, str]:
        """A command of ours in this process, which has read the catalogue before; else in a shell."""
        if line.startswith("rackwright ") and not SHELL.search(line):
            code = cli.main(shlex.split(line)[1:])
            said = capsys.readouterr()
            return code, said.out + said.err
        return in_a_shell(line, folder, environment)

    text = (ROOT / "docs" / document).read_text("utf-8")
    assert follow(text, folder, run) >= commands


TEXT = """\
```yaml title="sub/one.yaml"
a: 1
```

```yaml
b: 2
```

```console
$ first --word   # a remark
$ second \\
    word   # exit code 5
shown … here
…
```
"""


def test_files_and_commands_are_read_from_their_blocks() -> None:
    assert list(steps(TEXT)) == [
        WrittenFile("sub/one.yaml", "a: 1\n"),
        ShownCommand("first --word", 0, ()),
        ShownCommand("second     word", 5, ("shown … here", "…")),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "missing"),
    [
        ((), "anything", None),
        (("a  b",), "a b\n", None),
        (("a … d", "…"), "a b c d\ne\n", None),
        (("…", "b"), "a\nb\n", None),
        (("b",), "a\nb\n", "b"),
        (("a",), "a\nb\n", "the end, but 'b' follows"),
        (("…", "c", "…"), "a\nb\n", "c"),
        (("…", "b", "…", "a", "…"), "a\nb\n", "a"),
        (("a … c",), "a b d\n", "a … c"),
    ],
)
def test_output_is_compared_with_the_document(
    shown: tuple[str, ...], printed: str, missing: str | None
) -> None:
    assert first_difference(shown, printed) == missing


def test_a_document_that_does_not_hold_is_refused(tmp_path: Path) -> None:
    for text in ("```console\n$ true   # exit code 5\n```\n", "```console\n$ echo a\nb\n```\n"):
        with pytest.raises(AssertionError, match=r"^\$ "):
            follow(text, tmp_path, lambda line: in_a_shell(line, tmp_path, {"PATH": "/bin"}))
