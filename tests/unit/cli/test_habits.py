"""Habits of other tools: short options, their names of commands, groups in ``--help``."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_support import run_here
from rackwright import __version__
from rackwright.cli import GROUPS, OTHER_NAMES, VERBS
from rackwright.cli.commands.completion import whole_parser
from rackwright.cli.options.output_files import Output, OutputFile
from rackwright.errors import UsageError
from rackwright.policy.packs.loader import builtin_pack


def test_every_command_is_in_one_group() -> None:
    grouped = [verb for verbs in GROUPS.values() for verb in verbs]
    assert sorted(grouped) == sorted(VERBS)


def test_help_shows_each_command_once_under_its_group(tmp_path: Path) -> None:
    out = run_here(tmp_path, "--help").out
    assert {out.count(f"\n{group}:\n") for group in GROUPS} == {1}
    assert {len(re.findall(rf"^  {verb} ", out, re.MULTILINE)) for verb in VERBS} == {1}


@pytest.mark.parametrize("word", OTHER_NAMES)
def test_name_of_another_tool_leads_to_the_command(tmp_path: Path, word: str) -> None:
    ended = run_here(tmp_path, word, "x.yaml")
    ended.refused(f"there is no command '{word}'", f"did you mean '{OTHER_NAMES[word]}'?")
    assert word not in VERBS
    assert OTHER_NAMES[word] in VERBS


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version_has_a_short_option(tmp_path: Path, option: str) -> None:
    assert run_here(tmp_path, option).out == f"rackwright {__version__}\n"


def test_quiet_has_a_short_option(tmp_path: Path) -> None:
    path = str(builtin_pack() / "fixtures/air.yaml")
    long, short = (run_here(tmp_path, "check", path, option) for option in ("--quiet", "-q"))
    assert (short.code, short.out) == (long.code, long.out)
    assert "only warns" not in short.out


def test_blueprint_is_read_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = builtin_pack() / "fixtures/air.yaml"
    named = run_here(tmp_path, "check", str(path), "--json")
    with path.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        piped = run_here(tmp_path, "check", "-", "--json")
    assert piped.code == named.code
    assert len(piped.out.splitlines()) == len(named.out.splitlines())


def test_mistake_of_standard_input_has_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.yaml").write_text("apiVersion: rackwright/v1\nname: [\n")
    with (tmp_path / "b.yaml").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        run_here(tmp_path, "check", "-").refused("-:3:1", "a value is missing here")


def test_manual_page_has_every_command_and_option(tmp_path: Path) -> None:
    page = run_here(tmp_path, "completion", "man").out
    assert {page.count(f"\n.SS rackwright {verb}\n") for verb in VERBS} == {1}
    plain = page.replace("\\-", "-")
    options = {
        option
        for parser in every_parser(whole_parser())
        for action in parser._actions
        for option in action.option_strings
    }
    assert len(options) > 100
    assert [
        one for one in sorted(options - {"-h", "--help"}) if f"\\fB{one}\\fR" not in plain
    ] == []
    assert page.isascii()
    if groff := shutil.which("groff"):
        asked = [groff, "-man", "-ww", "-Tutf8"]
        done = subprocess.run(asked, input=page, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert "rackwright waivers prune" in done.stdout


def every_parser(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from every_parser(child)


def commands() -> dict[str, argparse.ArgumentParser]:
    """Each command that runs something, with its action where it has several."""
    return {
        parser.prog.removeprefix("rackwright "): parser
        for parser in every_parser(whole_parser())
        if not any(isinstance(one, argparse._SubParsersAction) for one in parser._actions)
    }


NO_ANSWER = {
    "completion": "prints a script for a shell, or the manual page",
    "fabric net": "prints the network as ibsim reads it",
    "lab ssh": "runs a command of the user on a host",
}
"""Commands without an answer of their own: stdout has the format of another program."""


def test_every_command_that_answers_has_json() -> None:
    """``fabric route``, ``baseline``, ``waivers prune``, ``unlock`` and 18 more had none."""
    known = commands()
    assert len(known) > 70
    without = {
        name
        for name, parser in known.items()
        if not any("--json" in action.option_strings for action in parser._actions)
    }
    assert without == set(NO_ANSWER)


def outputs() -> dict[str, argparse.Action]:
    return {
        name: action
        for name, parser in commands().items()
        for action in parser._actions
        if "--output" in action.option_strings
    }


def test_output_has_one_meaning() -> None:
    """It took FORMAT=FILE in four commands, a FILE in four, and either in one."""
    for name, action in outputs().items():
        if isinstance(action.type, OutputFile):
            assert action.metavar == "[FORMAT=]FILE", name
        else:
            assert (action.metavar, action.type) == ("DIR", Path), name
    folders = {name for name, action in outputs().items() if action.metavar == "DIR"}
    assert folders == {"draw", "render", "schema export"}


def test_output_takes_the_format_by_name_and_by_suffix() -> None:
    files = [one.type for one in outputs().values() if isinstance(one.type, OutputFile)]
    assert len(files) > 9
    for parse in files:
        for form, suffixes in parse.formats.items():
            assert parse(f"{form}=x").form == form
            assert [parse(f"x{suffix}").form for suffix in suffixes] == [form] * len(suffixes)
        assert parse("dir/plain") == Output(next(iter(parse.formats)), Path("dir/plain"), False)
        unknown = () if parse.folder else ("x.nonsense",)
        for text in ("nonsense=x", next(iter(parse.formats)), *unknown, "-"):
            with pytest.raises(UsageError, match="is not FORMAT=FILE") as caught:
                parse(text)
            assert caught.value.hint


def test_folder_of_sheets_may_have_a_dot_in_its_name(tmp_path: Path) -> None:
    """``--output out/site-1.0`` and the folder of ``mktemp -d`` were files with unknown suffixes."""
    path = str(builtin_pack() / "fixtures/slurm.yaml")
    for folder in ("out/site-1.0", "tmp.Xy12abcdEF"):
        ended = run_here(tmp_path, "sheets", path, "--output", folder)
        assert ended.code == 0, ended.err
        assert (tmp_path / folder / "cables.csv").is_file()
    run_here(tmp_path, "sheets", path, "--output", "csv").refused("write 'csv=DIR'")
    run_here(tmp_path, "expand", path, "--output", "full.conf").refused(
        "no format here ends in '.conf'", "name the format, as in 'yaml=full.conf'; formats: yaml"
    )


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("cost", "BLUEPRINT"), "total"),
        (("bom", "BLUEPRINT"), "lines"),
        (("expand", "--rules"), "rules"),
        (("waivers", "list", "BLUEPRINT"), "today"),
        (("policy", "show", "PWR-006"), "policy"),
        (("policy", "digest", "PACK"), "digest"),
        (("catalogue", "show", "dgx-h200"), "product"),
        (("faults", "list"), "faults"),
        (("doctor", "pdf"), "checks"),
        (("init", "new", "--template", "onprem-h200", "--example"), "files"),
        (("schema", "export", "--output", "out"), "files"),
        (("explain", "exit-codes"), "exit-codes"),
        (("explain", "hazards"), "hazards"),
        (("explain", "PWR-006"), "documentation"),
        (("init", "--list"), "templates"),
        (("expand", "BLUEPRINT"), "blueprint"),
        (("fabric", "cables", "BLUEPRINT", "--fabric", "compute"), "cables"),
        (("render", "BLUEPRINT", "--output", "out", "--check"), "files"),
        (("sheets", "BLUEPRINT", "--output", "out"), "rows"),
        (("draw", "power", "BLUEPRINT"), "drawings"),
        (("draw", "all", "BLUEPRINT", "--output", "out"), "drawings"),
        (("policy", "test", "--only", "RACK-001"), "passed"),
    ],
)
def test_answer_of_a_command_is_json_on_request(
    tmp_path: Path, words: tuple[str, ...], key: str
) -> None:
    paths = {"BLUEPRINT": builtin_pack() / "fixtures/slurm.yaml", "PACK": builtin_pack()}
    ended = run_here(tmp_path, *(str(paths.get(word, word)) for word in words), "--json")
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    assert document[key]
    assert re.fullmatch(r"rackwright\.[a-z-]+/v\d+", document["schema"])


def test_documents_without_a_schema_are_those_that_the_documentation_names(tmp_path: Path) -> None:
    path = str(builtin_pack() / "fixtures/slurm.yaml")
    (tmp_path / "aws.yaml").write_bytes((builtin_pack() / "fixtures/aws.yaml").read_bytes())
    documents = {
        "inventory": ("inventory", path),
        "ci permissions": ("ci", "permissions", "aws.yaml", "--role", "preview"),
        "schema export": ("schema", "export", "--kind", "waivers"),
    }
    text = (Path(__file__).parents[3] / "docs/commands.md").read_text(encoding="utf-8")
    named = re.search(r"and no `schema`: (.*?)\. ", text, re.DOTALL)
    assert named is not None
    assert re.findall(r"`([^`]+)`", named[1]) == list(documents)
    for words in documents.values():
        ended = run_here(tmp_path, *words, "--json")
        assert ended.code == 0, ended.err
        assert "schema" not in json.loads(ended.out)


def test_rules_of_derivation_never_go_to_a_file_in_silence(tmp_path: Path) -> None:
    """It ended with 0 and wrote nothing, and ``--json`` printed Markdown."""
    run_here(tmp_path, "expand", "--rules", "--output", "x.yaml").refused(
        "--output has no effect with --rules"
    )
    document = json.loads(run_here(tmp_path, "expand", "--rules", "--json").out)
    assert document["rules"]["fabric.name"] == "A fabric is called by its role."


def test_drawings_as_json_are_whole_or_the_files_that_hold_them(tmp_path: Path) -> None:
    path = str(builtin_pack() / "fixtures/air.yaml")
    (drawing,) = json.loads(run_here(tmp_path, "draw", "power", path, "--json").out)["drawings"]
    assert drawing["svg"].startswith("<svg ")
    found = run_here(tmp_path, "draw", "power", path, "--json", "--output", "out").out
    assert json.loads(found)["drawings"] == [{"file": drawing["file"]}]
    assert (tmp_path / "out" / drawing["file"]).read_text("utf-8") == drawing["svg"]


def test_mistakes_of_products_are_json_on_request(tmp_path: Path) -> None:
    entry = tmp_path / "hw/nodes/x.yaml"
    entry.parent.mkdir(parents=True)
    entry.write_text("kind: node\nid: x\nvendor: 3\n", encoding="utf-8")
    ended = run_here(tmp_path, "catalogue", "test", "hw", "--json")
    document = json.loads(ended.out)
    assert (ended.code, document["schema"]) == (2, "rackwright.catalogue-test/v1")
    found = {error["message"]: error for error in document["errors"]}
    assert found["vendor: '3' is not text"]["hint"] == "write 'vendor: \"3\"'"
    assert found["'name' is missing"]["hint"] is None  # 'id' is a key of its own


def test_full_form_goes_to_a_file(tmp_path: Path) -> None:
    path = str(builtin_pack() / "fixtures/air.yaml")
    shown = run_here(tmp_path, "expand", path).out
    assert run_here(tmp_path, "expand", path, "--output", "full.yaml").out == ""
    assert (tmp_path / "full.yaml").read_text(encoding="utf-8") == shown
    run_here(tmp_path, "expand", path, "--output", "json").refused(
        "'json' is not FORMAT=FILE", "write 'json=FILE'"
    )
