"""``policy``: new rules that work as they are, and packs that are what they are pinned to."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.policy.authoring.examples import load_examples, run_example
from rackwright.policy.packs.loader import builtin_pack, load_pack, load_packs

FIXTURE = builtin_pack() / "fixtures" / "aws.yaml"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A team's folder with a blueprint, and the working directory in it."""
    made = tmp_path / "team"
    (made / ".git").mkdir(parents=True)
    (made / "clusters").mkdir()
    shutil.copy(FIXTURE, made / "clusters" / "blueprint.yaml")
    monkeypatch.chdir(made)
    return made


def check(*more: str) -> int:
    return main(["check", "clusters/blueprint.yaml", *more])


def new(*more: str) -> int:
    return main(["policy", "new", "own/ACME-001", "Sites don't lie too high", *more])


def outcome_of(policy: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    capsys.readouterr()
    check("--json")
    document = json.loads(capsys.readouterr().out)
    return {r["outcome"] for r in document["results"] if r["policy"] == policy}


def test_a_new_rule_works_as_it_is(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new() == 0
    written = {str(path.relative_to(repository)) for path in repository.rglob("*.*")}
    stem = "policies/own/acme001_sites_dont_lie_too_high"
    assert {f"{stem}.py", f"{stem}.md", f"{stem}.examples.yaml"} <= written
    assert "policies/pack.yaml" in written
    capsys.readouterr()
    assert main(["policy", "test", "policies"]) == 0
    assert capsys.readouterr().out == "4 passed, 0 failed\n"
    (policy,) = load_pack(repository / "policies")
    assert (policy.id, policy.family) == ("ACME-001", "own")


def test_a_second_rule_stands_beside_the_first(repository: Path) -> None:
    assert new() == 0
    fixture = repository / "policies" / "fixtures" / "small.yaml"
    fixture.write_text(fixture.read_text() + "# ours\n")
    assert main(["policy", "new", "own/ACME-002", "Another one"]) == 0
    assert fixture.read_text().endswith("# ours\n")
    assert main(["policy", "test", "policies"]) == 0
    assert [p.id for p in load_pack(repository / "policies")] == ["ACME-001", "ACME-002"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["own/ACME-001", "Again"], "is used already"),
        (["power/PWR-900", "Ours"], "belong to the built-in policies"),
        (["ACME-001", "No family"], "is not FAMILY/ID"),
        (["own/acme-1", "Small"], "is not FAMILY/ID"),
        (["fixtures/ACME-002", "There"], "is not FAMILY/ID"),
        (["../own/ACME-002", "Elsewhere"], "is not FAMILY/ID"),
        (["own/ACME-002", 'x"""\nimport os'], "cannot be a title"),
        (["own/ACME-002", "{{ 7 * 7 }}"], "cannot be a title"),
        (["own/ACME-002", "…!"], "cannot be a title"),
        (["own/ACME-002", "x" * 101], "cannot be a title"),
    ],
)
def test_invalid_new_rule_is_refused(
    repository: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new() == 0
    before = sorted(repository.rglob("*"))
    assert main(["policy", "new", *arguments]) == 2
    assert said in capsys.readouterr().err
    after = [path for path in sorted(repository.rglob("*")) if "__pycache__" not in path.parts]
    assert after == before


def test_an_incomplete_rule_fails_the_test_of_its_pack(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new()
    stem = repository / "policies" / "own" / "acme001_sites_dont_lie_too_high"
    documentation, examples = stem.with_suffix(".md"), stem.with_suffix(".examples.yaml")
    documentation.write_text(documentation.read_text().replace("## Source", "## Origin"))
    kept = examples.read_text().replace("`highest_altitude`", "")
    examples.write_text(kept[: kept.index("- name: altitude is not set")])
    capsys.readouterr()
    assert main(["policy", "test", "policies"]) == 5
    told = capsys.readouterr().out
    assert "INCOMPLETE ACME-001: its documentation lacks '## Source'" in told
    assert "INCOMPLETE ACME-001: it has no example of kind 'unknown'" in told
    assert "4 passed" not in told


def test_an_example_that_does_not_hold_fails(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new()
    (examples,) = (repository / "policies" / "own").glob("*.examples.yaml")
    examples.write_text(examples.read_text().replace("1600 m", "16 m"))
    assert main(["policy", "test", "policies"]) == 5
    assert "FAILED ACME-001 too high" in capsys.readouterr().out


def test_show_tells_what_a_rule_is(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new()
    capsys.readouterr()
    assert main(["policy", "show", "acme-001", "--pack", "policies"]) == 0
    shown = capsys.readouterr().out
    for text in ("ACME-001: Sites don't lie too high", "Parameter highest_altitude", "pilot",
                 "boundary: at the limit", "acme001_sites_dont_lie_too_high.py"):  # fmt: skip
        assert text in shown
    assert main(["policy", "show", "PWR-001", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "rackwright.policy/v1"
    assert (document["policy"]["since"], document["policy"]["profile"]) == ("0.1", "lab")
    assert main(["policy", "show", "PWR-01"]) == 2
    assert "did you mean 'PWR-0" in capsys.readouterr().err


def test_list_shows_set_and_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if line.startswith("PWR-001 ")]
    assert line.split()[2:5] == ["mandatory", "lab", "concept"]
    assert main(["policy", "list", "--json"]) == 0
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)["policies"]}
    assert set(rows) == {policy.id for policy in load_packs()}
    assert (rows["SEC-001"]["since"], rows["SEC-001"]["preview"]) == ("0.2", False)


CONFIG = "rackwright.yaml"


def test_check_reads_the_packs_of_the_team(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new()
    assert outcome_of("ACME-001", capsys) == set()
    (repository / CONFIG).write_text("packs:\n  - path: policies\n")
    assert outcome_of("ACME-001", capsys) == {"not_applicable"}


def test_isolated_runs_no_code_of_the_repository(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new()
    (repository / CONFIG).write_text("packs:\n  - path: policies\n")
    (rule,) = (repository / "policies" / "own").glob("*.py")
    rule.write_text(f"{rule.read_text()}\nopen({str(repository / 'ran')!r}, 'w').close()\n")
    code = check("--isolated")
    assert not (repository / "ran").exists()
    assert code == check("--isolated", "--json")
    check()
    assert (repository / "ran").exists()


def test_a_pack_named_twice_is_loaded_once(repository: Path) -> None:
    new()
    (repository / CONFIG).write_text("packs:\n  - path: policies\n")
    assert check("--pack", "policies") == check()


@pytest.fixture
def shared(repository: Path, tmp_path: Path) -> Path:
    """A pack outside the team's folder."""
    folder = tmp_path / "shared"
    assert new("--pack", str(folder)) == 0
    return folder


def digest_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["policy", "digest", str(folder)]) == 0
    return capsys.readouterr().out.strip()


def test_a_shared_pack_is_pinned(
    repository: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = repository / CONFIG
    config.write_text("packs:\n  - path: ../shared\n")
    assert check() == 2
    told = capsys.readouterr().err
    assert "rackwright.yaml:2:11: packs: '../shared' lies outside the team's folder" in told
    digest = digest_of(shared, capsys)
    assert f"digest: {digest}" in told

    config.write_text(f"packs:\n  - path: ../shared\n    digest: {digest}\n")
    assert outcome_of("ACME-001", capsys) == {"not_applicable"}
    (rule,) = (shared / "own").glob("*.py")
    rule.write_text(rule.read_text() + "\n")
    assert check() == 2
    told = capsys.readouterr().err
    assert "rackwright.yaml:3:13: packs: '../shared' is not what it is pinned to" in told
    assert digest_of(shared, capsys) in told


def test_a_pack_can_be_pinned_to_a_revision(
    repository: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def git(*words: str) -> str:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        done = subprocess.run(
            ["git", "-C", str(shared), *identity, *words],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    revision, digest = git("rev-parse", "HEAD"), digest_of(shared, capsys)
    config = repository / CONFIG
    pin = f"packs:\n  - path: ../shared\n    digest: {digest}\n    revision: "
    config.write_text(f"{pin}{revision}\n")
    assert outcome_of("ACME-001", capsys) == {"not_applicable"}
    config.write_text(f"{pin}{'0' * 40}\n")
    assert check() == 2
    assert f"is checked out at '{revision}'" in capsys.readouterr().err


def test_every_mistake_of_the_list_is_told(
    repository: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "packs:\n  - path: nowhere\n  - path: ../shared\n  - path: policies\n  - path: policies\n"
    )
    (repository / CONFIG).write_text(text)
    new()
    capsys.readouterr()
    assert check() == 2
    told = capsys.readouterr().err
    assert "'nowhere' is not a folder" in told
    assert "'../shared' lies outside" in told
    assert "'policies' is listed twice" in told
    (repository / CONFIG).write_text("packs:\n  - pth: policies\n")
    assert check() == 2
    assert "did you mean 'path'?" in capsys.readouterr().err


def test_an_id_of_the_built_in_policies_is_never_shadowed(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new()
    (repository / CONFIG).write_text("packs:\n  - path: policies\n")
    for path in (repository / "policies" / "own").iterdir():
        if path.is_file():
            text = path.read_text().replace("ACME-001", "PWR-001")
            path.with_name(path.name.replace("acme001", "pwr001")).write_text(text)
            path.unlink()
    assert check() == 1
    assert "the policy id 'PWR-001' is used twice" in capsys.readouterr().err
    assert main(["policy", "test", "policies"]) == 1


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("SEC-001", "mandatory from profile pilot on. Stage: build. Policy set: 0.2."),
        ("PWR-001", "mandatory from profile lab on. Stage: concept. Policy set: 0.1."),
        ("RACK-005", "advisory. Stage: design. Policy set: 0.1."),
    ],
)
def test_explain_tells_how_a_rule_stands(
    policy: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", policy]) == 0
    assert f"Enforcement: {said}\n" in capsys.readouterr().out


def test_a_rule_of_a_set_that_is_not_released_is_a_preview(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rackwright.policy.policy_sets.RELEASED", "0.1")
    assert main(["explain", "SEC-001"]) == 0
    assert "Policy set: 0.2 (a preview for older sets).\n" in capsys.readouterr().out
    assert main(["policy", "show", "SEC-001", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["policy"]["preview"] is True


@pytest.mark.parametrize(
    "command", [("policy", "list"), ("policy", "show", "ACME-001"), ("explain", "ACME-001")]
)
def test_the_packs_of_the_team_are_known(
    command: tuple[str, ...], repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new() == 0
    (repository / "rackwright.yaml").write_text("packs: [{path: policies}]\n")
    capsys.readouterr()
    assert main([*command]) == 0
    assert "don't lie too high" in capsys.readouterr().out
    code = main([*command, "--isolated"])
    assert (code, "too high" in capsys.readouterr().out) == (0 if "list" in command else 2, False)


def test_document_while_an_example_does_not_hold_names_the_example(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new()
    (examples,) = (repository / "policies" / "own").glob("*.examples.yaml")
    (text,) = (repository / "policies" / "own").glob("*.md")
    before = text.read_text()
    examples.write_text(examples.read_text().replace("1600 m", "16 m"))
    capsys.readouterr()
    assert main(["policy", "document", "policies"]) == 5
    printed = capsys.readouterr()
    assert "FAILED ACME-001: the example 'too high' does not hold: no result is" in printed.out
    assert text.read_text() == before


def test_document_without_an_example_names_the_policy(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new()
    (examples,) = (repository / "policies" / "own").glob("*.examples.yaml")
    examples.write_text("[]\n")
    capsys.readouterr()
    assert main(["policy", "document", "policies"]) == 5
    assert capsys.readouterr().out == "FAILED ACME-001 has no example to show\n"


@pytest.mark.parametrize(
    "wrong",
    ["catalogue: {no-such-product: {height: null}}", "layer: {name: 7}", "layer: {sites: 3}",
     "base: no-such-fixture", "parameters: {highest: 3}", "layer: {policies: {ACME-002: {}}}",
     "layer: {policies: {ACME-001: {parameters: {highest_altitude: low}}}}",
     "layer: {policies: {ACME-001: {parameters: {altitude: 3}}}}"],
)  # fmt: skip
@pytest.mark.parametrize("action", ["test", "document"])
def test_an_example_whose_blueprint_is_not_valid_is_named(
    repository: Path, capsys: pytest.CaptureFixture[str], action: str, wrong: str
) -> None:
    new()
    (examples,) = (repository / "policies" / "own").glob("*.examples.yaml")
    text = examples.read_text()
    key = wrong.partition(":")[0]
    head, _, rest = text.partition("- name: too high\n")
    example, _, rest = rest.partition("\n\n")
    lines = [line for line in example.splitlines() if not line.strip().startswith(f"{key}:")]
    examples.write_text("\n".join([f"{head}- name: too high", *lines, f"  {wrong}", "", rest]))
    capsys.readouterr()
    assert main(["policy", action, "policies"]) == 5
    printed = capsys.readouterr().out
    assert "too high" in printed
    assert "not valid" in printed


def test_a_parameter_in_the_layer_of_an_example_counts_as_in_a_blueprint(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new()
    (examples,) = (repository / "policies" / "own").glob("*.examples.yaml")
    layer = "layer: {policies: {ACME-001: {parameters: {highest_altitude: 20}}}}"
    text = examples.read_text().replace("layer: {sites: [{name: lab1, altitude: 1600 m}]}", layer)
    text = text.replace("at: lab1, value: 1600}", "at: lab1, value: 30, limit: 20 m}")
    examples.write_text(text)
    capsys.readouterr()
    assert main(["policy", "test", "policies"]) == 0, capsys.readouterr().out
    examples.write_text(text.replace(layer, f"{layer}\n  parameters: {{highest_altitude: 25}}"))
    assert main(["policy", "test", "policies"]) == 5
    assert "no limit is 20 m" in capsys.readouterr().out


def test_only_tests_one_policy(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new()
    main(["policy", "new", "own/ACME-002", "Another one"])
    (broken,) = (repository / "policies" / "own").glob("acme001*.examples.yaml")
    broken.write_text(broken.read_text().replace("1600 m", "16 m"))
    capsys.readouterr()
    assert main(["policy", "test", "policies", "--only", "acme-002"]) == 0
    assert capsys.readouterr().out == "4 passed, 0 failed\n"
    assert main(["policy", "document", "policies", "--only", "ACME-002"]) == 0
    assert main(["policy", "test", "--only", "PWR-001"]) == 0
    assert main(["policy", "test", "policies", "--only", "ACME-02"]) == 2
    assert "did you mean 'ACME-002'?" in capsys.readouterr().err


def test_a_failing_example_without_a_fix_is_incomplete(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new()
    (rule,) = (repository / "policies" / "own").glob("*.py")
    rule.write_text(re.sub(r"\n +fix=.*", "", rule.read_text()))
    capsys.readouterr()
    assert main(["policy", "test", "policies"]) == 5
    assert "INCOMPLETE ACME-001: 'too high' fails without a fix" in capsys.readouterr().out


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the built-in pack that counts as the built-in one."""
    folder = tmp_path / "checkout/policies"
    shutil.copytree(builtin_pack(), folder)
    monkeypatch.setattr("rackwright.policy.authoring.scaffold.builtin_pack", lambda: folder)
    monkeypatch.chdir(folder.parent)
    return folder


def test_a_new_built_in_rule_belongs_to_its_family_and_to_the_next_set(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "new", "rack/RACK-900", "Racks keep units free"]) == 0
    assert "wrote policies/rack/rack900_racks_keep_units_free.py" in capsys.readouterr().out
    (rule,) = checkout.glob("rack/rack900*.py")
    assert 'since="0.5"' in rule.read_text()
    made = next(policy for policy in load_pack(checkout) if policy.id == "RACK-900")
    assert [run_example(made, one, checkout) for one in load_examples(made)] == [None] * 4
    assert not (checkout / "fixtures/small.yaml").exists()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("rack/PWR-900", "ids of the family 'rack' begin with 'RACK-', not 'PWR-'"),
        ("own/PWR-900", "ids that begin with 'PWR-' belong to the family 'power'"),
        ("rack/RACK-001", "the policy id 'RACK-001' is used already"),
    ],
)
def test_a_built_in_rule_keeps_to_its_family(
    checkout: Path, capsys: pytest.CaptureFixture[str], place: str, said: str
) -> None:
    assert main(["policy", "new", place, "Racks keep units free"]) == 2
    assert said in capsys.readouterr().err
