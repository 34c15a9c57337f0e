"""Pull requests of somebody hostile are refused in words, and run no code.

What would take too much memory or time is in ``tests/e2e/test_hostile.py``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from hostile_support import BLUEPRINT, Repository, a_repository
from planted import plant

SECRET = "root:correct-horse-battery-staple: [\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_repository(tmp_path / "team")


DOCUMENTS: dict[str, tuple[str | bytes, str]] = {
    "code": ("!!python/object/apply:os.system ['touch pwned']", "python/object/apply:os.system'"),
    "nul": (
        "name: a\0b",
        f"{BLUEPRINT}:1:8: the file has the character U+0000, which cannot be seen",
    ),
    "bidi_key": ("\u202ename: a", f"{BLUEPRINT}:1:1: the key '\\u202ename' holds characters"),
    "escape": (
        'name: "a\\e[2Jb\\u202e"',
        f"{BLUEPRINT}:1:7: name: 'a\\x1b[2Jb\\u202e' has '\\x1b'",
    ),
    "escape_in_key": ('"a\\e[2J": 1\n"a\\e[2J": 2', f"{BLUEPRINT}:1:1: the key 'a\\x1b[2J' holds"),
    "tab": ("sites:\n\t- name: a", f"{BLUEPRINT}:2:1: "),
    "utf_16": (
        "name: a".encode("utf-16"),
        f"{BLUEPRINT}:1:1: the file is UTF-16, not text in UTF-8",
    ),
    "nothing": ("", f"{BLUEPRINT}:1:1: '{BLUEPRINT}' is empty"),
}


@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_hostile_document_is_refused(repository: Repository, case: str) -> None:
    text, message = DOCUMENTS[case]
    repository.file.write_bytes(text if isinstance(text, bytes) else text.encode())
    repository.check().refused(message, BLUEPRINT)
    assert not (repository.top / "pwned").exists()


CHANGES: dict[str, tuple[tuple[str, str], str]] = {
    "huge_integer": (("count: 16", f"count: {10**400}"), "a number has at most 18 digits"),
    "1e999": (("power_factor: 0.95", "power_factor: 1e999"), "'1e999' is too large"),
    "nan": (("power_factor: 0.95", "power_factor: .nan"), "'.nan' is not a finite number"),
    "inf": (("power_factor: 0.95", "power_factor: -.inf"), "'-.inf' is not a finite number"),
    "nan_kw": (("contract: 550 kW", "contract: nan kW"), "'nan kW' is not a power"),
    "long_kw": (("contract: 550 kW", f"contract: '{'9' * 9999} kW'"), "at most 64 characters"),
    "twins": (("owner:", "name: b\nowner:"), "the key 'name' is given twice"),
    "group_path": (("name: dgx,", "name: ../../etc,"), "'../../etc' has '.'"),
    "network": (("10.20.0.0/16", "0.0.0.0/0"), "a VPC is between /28 and /16"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_hostile_number_is_refused_at_its_place(repository: Repository, case: str) -> None:
    change, message = CHANGES[case]
    repository.change(*change)
    ended = repository.check()
    ended.refused(message)
    assert ended.err.startswith(f"{BLUEPRINT}:")
    repository.diff().refused(message)


def test_a_product_is_no_path(repository: Repository) -> None:
    lines = (repository.top / BLUEPRINT).read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "type: dgx-h100" in text)
    repository.change("type: dgx-h100", "type: ../../../../../etc/passwd")
    repository.check().refused(f"{BLUEPRINT}:{line}:", "in the catalogue")


def _link_blueprint(top: Path, target: Path) -> list[str]:
    (top / BLUEPRINT).unlink()
    (top / BLUEPRINT).symlink_to(target)
    return [BLUEPRINT]


def _link_folder(top: Path, target: Path) -> list[str]:
    (top / "other").symlink_to(target.parent)
    return [f"other/{target.name}"]


def _link_layer(top: Path, target: Path) -> list[str]:
    (top / "layer.yaml").symlink_to(target)
    return ["--layer", "layer.yaml", BLUEPRINT]


def _climb(top: Path, target: Path) -> list[str]:
    return ["--layer", f"demo/../../{target.name}", BLUEPRINT]


def _link_waivers(top: Path, target: Path) -> list[str]:
    (top / "demo" / "policies").mkdir()
    (top / "demo" / "policies" / "waivers.yaml").symlink_to(target)
    return [BLUEPRINT]


def _link_baseline(top: Path, target: Path) -> list[str]:
    (top / "demo" / "policies").mkdir()
    (top / "demo" / "policies" / "baseline.json").symlink_to(target)
    return [BLUEPRINT]


def _link_policies(top: Path, target: Path) -> list[str]:
    target.rename(target.with_name("waivers.yaml"))
    (top / "demo" / "policies").symlink_to(target.parent)
    return [BLUEPRINT]


@pytest.mark.parametrize(
    "escape",
    [
        _link_blueprint,
        _link_folder,
        _link_layer,
        _climb,
        _link_waivers,
        _link_baseline,
        _link_policies,
    ],
)
def test_a_file_outside_the_repository_is_not_read(
    repository: Repository, tmp_path: Path, escape: Callable[[Path, Path], list[str]]
) -> None:
    target = tmp_path / "secret.yaml"
    target.write_text(SECRET)
    arguments = escape(repository.top, target)
    for ended in (repository.check(*arguments), repository.diff("main", *arguments)):
        ended.refused("leads out of the repository")
        assert "correct-horse" not in ended.out + ended.err


def test_a_link_is_no_file_of_waivers(repository: Repository) -> None:
    """Nothing that was approved says what a link leads to, with or without --isolated."""
    (repository.top / "demo" / "policies").mkdir()
    (repository.top / "w.yaml").write_text("waivers: []\n")
    (repository.top / "demo" / "policies" / "waivers.yaml").symlink_to("../../w.yaml")
    repository.check().refused("waivers.yaml' is a link")
    repository.run("check", BLUEPRINT).refused("waivers.yaml' is a link")


def test_a_linked_configuration_is_refused(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "rackwright.yaml").write_text(SECRET)
    (repository.top / "rackwright.yaml").symlink_to(tmp_path / "rackwright.yaml")
    repository.check().refused("rackwright.yaml' is a link")
    repository.run("check", BLUEPRINT).refused("rackwright.yaml' is a link")


def test_a_folder_is_no_blueprint(repository: Repository) -> None:
    repository.file.unlink()
    repository.file.mkdir()
    repository.check().refused("blueprint.yaml/blueprint.yaml' cannot be read: no such file")


RULE = """
from pathlib import Path
Path({marker!r}).write_text("ran")
"""


def test_code_of_the_change_runs_only_where_it_is_trusted(
    repository: Repository, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    pack = repository.top / "policies" / "power"
    pack.mkdir(parents=True)
    (pack / "acme001_evil.py").write_text(RULE.format(marker=str(marker)))
    (repository.top / "rackwright.yaml").write_text("packs: [{path: policies}]\n")
    assert repository.check().code == 0
    assert repository.diff().code == 0
    assert not marker.exists()
    repository.run("check", BLUEPRINT)
    assert marker.exists()  # else the check above proves nothing


@pytest.mark.parametrize(
    "pin",
    [
        f"{{path: policies, revision: '{'0' * 40}'}}",
        f"{{path: policies, digest: 'sha256:{'0' * 64}'}}",
        "{path: ../foreign}",
        "{path: /}",
        '{path: "a\\e[2J"}',
        "{path: --upload-pack=x}",
    ],
)
def test_a_pack_that_is_not_what_it_is_pinned_to_is_not_run(
    repository: Repository, tmp_path: Path, pin: str
) -> None:
    marker = tmp_path / "ran"
    for folder in (repository.top / "policies", tmp_path / "foreign"):
        (folder / "power").mkdir(parents=True)
        (folder / "power" / "acme001_evil.py").write_text(RULE.format(marker=str(marker)))
    (repository.top / "rackwright.yaml").write_text(f"packs: [{pin}]\n")
    ended = repository.run("check", BLUEPRINT)
    ended.refused("rackwright.yaml:1:")
    assert not marker.exists()


@pytest.mark.parametrize("name", ["--upload-pack=touch pwned", "-x", "a\x1b[2J", "main:x", "$(x)"])
def test_a_revision_is_a_name_and_nothing_else(repository: Repository, name: str) -> None:
    run = repository.run
    run("check", "--isolated", f"--base-ref={name}", BLUEPRINT).refused("revision")
    run("diff", "--isolated", "--", f"{name}..HEAD", BLUEPRINT).refused("revision")
    assert not (repository.top / "pwned").exists()


STRICTLY = ("--strict-waivers", "--base-ref", "origin/main")


@pytest.fixture
def refused(repository: Repository) -> Repository:
    """A pull request that overfills the racks and switches off every rule that it breaks."""
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.git("switch", "--quiet", "--create", "change")
    repository.change("per_rack: 4", "per_rack: 5")
    found = json.loads(repository.check("--json", BLUEPRINT).out)
    rules = sorted({result["policy"] for result in found["results"] if result["blocks"]})
    off = {rule: {"enforcement": "disabled", "reason": "the racks hold five"} for rule in rules}
    text, key, own = repository.file.read_text(encoding="utf-8").partition("\npolicies:\n")
    policies = yaml.safe_load(f"{key}{own}")["policies"] | off
    repository.file.write_text(f"{text}\n{yaml.safe_dump({'policies': policies})}", "utf-8")
    repository.git("commit", "--quiet", "--all", "--message=five a rack")
    assert repository.check().code == 0  # what the change says of itself
    judged = repository.check(*STRICTLY, BLUEPRINT)
    assert judged.code == 5, judged.err
    return repository


@pytest.mark.parametrize("place", ["demo", "."])
def test_a_planted_repository_does_not_make_the_change_its_own_base(
    refused: Repository, place: str
) -> None:
    plant(refused.file.parent)
    refused.git("add", "--all")
    refused.git("commit", "--quiet", "--message=planted")
    here = Repository(refused.top / place)
    blueprint = os.path.relpath(refused.file, here.top)
    judged = here.check(*STRICTLY, blueprint)
    assert judged.code == 5, judged.err
    judged.harmless()
    compared = here.diff("origin/main...HEAD", blueprint)
    assert compared.code == 5, compared.err


@pytest.mark.parametrize("kind", ["tags", "heads"])
def test_a_ref_that_is_called_like_the_base_does_not_take_its_place(
    refused: Repository, kind: str
) -> None:
    refused.git("update-ref", f"refs/{kind}/origin/main", "HEAD")
    for ended in (
        refused.check(*STRICTLY, BLUEPRINT),
        refused.diff("origin/main...HEAD", BLUEPRINT),
        refused.diff("HEAD..origin/main", BLUEPRINT),
        refused.diff("origin/main", BLUEPRINT),
    ):
        ended.refused("'origin/main' is ambiguous", f"refs/{kind}/origin/main", "full name")
    whole = "refs/remotes/origin/main"
    assert refused.check("--strict-waivers", f"--base-ref={whole}", BLUEPRINT).code == 5
    assert refused.diff(f"{whole}...HEAD", BLUEPRINT).code == 5


def test_a_submodule_in_the_place_of_the_folder_is_not_its_own_base(refused: Repository) -> None:
    """Its commits, and its ``origin/main``, are whatever the change's author has pushed there."""
    own = Repository(refused.file.parent)
    own.git("init", "--quiet", "--initial-branch=main")
    own.git("add", "--all")
    own.git("commit", "--quiet", "--message=mine")
    own.git("update-ref", "refs/remotes/origin/main", "HEAD")
    said = "is a repository inside another one"
    refused.check(*STRICTLY, BLUEPRINT).refused(said)
    refused.diff("origin/main...HEAD", BLUEPRINT).refused(said)


def test_a_hostile_file_name_is_only_a_name_in_comment_and_log(repository: Repository) -> None:
    name = "a\nb\x1b[2J<img src=x onerror=1> --><script>`|@team\u202e.yaml"
    repository.file.rename(repository.top / name)
    arguments = ["--output", "md=out/c.md", "--output", "github=-", "--output", "sarif=out/s.json"]
    ended = repository.check(*arguments, name)
    assert ended.code == 0
    ended.harmless()
    (repository.top / name).write_text("name: [")
    told = repository.check(*arguments, name)
    told.refused("b\\x1b[2J<img", "a value is missing here")
    for text in (ended.out, (repository.top / "out" / "c.md").read_text(encoding="utf-8")):
        assert "\x1b" not in text
        assert "\u202e" not in text
    mark, title, *_ = (repository.top / "out" / "c.md").read_text(encoding="utf-8").split("\n")
    assert mark.startswith("<!-- rackwright:pr:a-b")
    assert mark.count("-->") == 1
    assert "<" not in title


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "--template", "../../../etc"],
        ["x", "--template", "\x1b[2J"],
        ["x", "--template", "lab", "--set", "__class__=1"],
        ["x", "--template", "lab", "--set", "nothing"],
        ["/dev/null/x", "--template", "lab"],
    ],
)
def test_init_refuses_what_it_cannot_write(repository: Repository, arguments: list[str]) -> None:
    repository.run("init", *arguments).refused()
    assert not (repository.top / "x").exists()
