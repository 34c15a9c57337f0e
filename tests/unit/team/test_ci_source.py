"""Where CI installs from: only what a digest or a full commit pins is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rackwright import __version__
from rackwright.cli import main
from rackwright.errors import UsageError
from rackwright.render.ci import ci_files
from rackwright.team.ci_source import InstallSource, parse_source

DIGEST = "0123456789abcdef" * 4
HASH = f"sha256:{DIGEST}"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
WHEEL = f"rackwright-{__version__}-py3-none-any.whl"
FILE = f"vendor/{WHEEL}#sha256={DIGEST}"
INDEX = f"index:rackwright=={__version__}"
URL = f"https://files.example/a/{WHEEL}"
GIT = "git+https://git.example/infra/rackwright"
SETUP = ".github/actions/rackwright-setup"


@pytest.mark.parametrize(
    ("text", "hashes", "source"),
    [
        (INDEX, [HASH], InstallSource(f"rackwright=={__version__} --hash={HASH}")),
        (
            f"index:acme-rackwright=={__version__}+acme.1",
            [HASH, f"sha256:{'0' * 64}"],
            InstallSource(
                f"acme-rackwright=={__version__}+acme.1 --hash={HASH} --hash=sha256:{'0' * 64}"
            ),
        ),
        (f"wheel:{URL}#sha256={DIGEST}", [], InstallSource(f"rackwright @ {URL} --hash={HASH}")),
        (f"wheel:{FILE}", [], InstallSource(f"./vendor/{WHEEL} --hash={HASH}")),
        (f"{GIT}@{COMMIT}", [], InstallSource("", f"{GIT}@{COMMIT}")),
        (
            f"git+ssh://git@git.example:2222/infra/rackwright.git@{COMMIT}",
            [],
            InstallSource("", f"git+ssh://git@git.example:2222/infra/rackwright.git@{COMMIT}"),
        ),
    ],
)
def test_pinned_source_is_accepted(text: str, hashes: list[str], source: InstallSource) -> None:
    assert parse_source(text, hashes) == source


@pytest.mark.parametrize(
    ("text", "hashes", "wrong"),
    [
        (INDEX, [], "there is no --hash of its files"),
        (INDEX, ["sha256:12"], "--hash 'sha256:12' is not sha256:DIGEST"),
        (INDEX, [HASH.upper()], "is not sha256:DIGEST"),
        ("index:rackwright", [HASH], "not written NAME==VERSION"),
        ("index:rackwright>=0.1", [HASH], "not written NAME==VERSION"),
        ("index:rackwright==0.*", [HASH], "not written NAME==VERSION"),
        (f"{INDEX} --pre", [HASH], "not written NAME==VERSION"),
        (f"{INDEX}\nevil==1", [HASH], "not written NAME==VERSION"),
        ("index:rackwright==9.9", [HASH], f"it is not of version {__version__}"),
        (f"wheel:{URL}", [], "does not end with #sha256=DIGEST"),
        (f"wheel:{URL}#md5={DIGEST}", [], "does not end with #sha256=DIGEST"),
        (f"wheel:{URL}#sha256={DIGEST}0", [], "does not end with #sha256=DIGEST"),
        (f"wheel:{FILE}", [HASH], "--hash is for an index only"),
        (f"wheel:http://files.example/{FILE}", [], "it is no https address"),
        (f"wheel:https://ada:secret@files.example/{FILE}", [], "without a password"),
        (f"wheel:../{FILE}", [], "no path in the repository"),
        (f"wheel:/srv/{FILE}", [], "no path in the repository"),
        (f"wheel:a b/{FILE}", [], "no path in the repository"),
        (f"wheel:${{{{ x }}}}/{FILE}", [], "no path in the repository"),
        (f"wheel:vendor/rackwright.tar.gz#sha256={DIGEST}", [], "not named like a wheel"),
        (
            f"wheel:rackwright-9.9-py3-none-any.whl#sha256={DIGEST}",
            [],
            f"it is not of version {__version__}",
        ),
        (GIT, [], "it does not end with @COMMIT"),
        (f"{GIT}@main", [], "it does not end with @COMMIT"),
        (f"{GIT}@v0.1.0", [], "it does not end with @COMMIT"),
        (f"{GIT}@{COMMIT[:12]}", [], "it does not end with @COMMIT"),
        (f"{GIT}@{COMMIT.upper()}", [], "it does not end with @COMMIT"),
        (f"{GIT}@{COMMIT}#subdirectory=x", [], "it does not end with @COMMIT"),
        (f"{GIT}@{COMMIT}", [HASH], "--hash is for an index only"),
        (f"git+http://git.example/r@{COMMIT}", [], "no address git+https://"),
        (f"git+file:///srv/r@{COMMIT}", [], "no address git+https://"),
        (f"git+https://ada:secret@git.example/r@{COMMIT}", [], "without a password"),
        (f"git+https://git.example/a;b@{COMMIT}", [], "no address git+https://"),
        ("rackwright==0.1.0", [HASH], "neither an index, nor a wheel, nor a commit"),
        ("", [], "neither an index, nor a wheel, nor a commit"),
    ],
)
def test_unpinned_source_is_refused(text: str, hashes: list[str], wrong: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_source(text, hashes)
    assert wrong in caught.value.summary
    assert "\n" not in caught.value.summary.replace(text, "")
    assert COMMIT not in (caught.value.hint or "")


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        parse_source("git+http://git.example/r@main", [HASH])
    assert caught.value.summary.count(";") == 2


def test_without_a_source_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was written without one asked an index for a package that it does not have."""
    assert main(["ci", "init", str(tmp_path), "--forge", "github"]) == 2
    said = capsys.readouterr().err
    assert "is not told where CI installs Rackwright from" in said
    assert "--install-from index:" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [f"wheel:{FILE}", f"{GIT}@{COMMIT}"])
def test_every_requirement_has_a_digest(text: str) -> None:
    source = parse_source(text)
    for forge, name in (
        ("github", f"{SETUP}/requirements.txt"),
        ("gitlab", "rackwright-requirements.txt"),
    ):
        files = {str(path): body for path, body in ci_files(forge, "a.yaml", source).items()}
        lines = files[name].replace("\\\n", " ").splitlines()
        entries = [line for line in lines if line and not line.startswith("#")]
        assert len(entries) > 30
        assert [line for line in entries if "--hash=sha256:" not in line] == []
        names = [line.split("==")[0] for line in entries]
        assert ("hatchling" in names) == bool(source.git)
        assert entries[0].startswith("./vendor/") == (not source.git)
        named = [path for path, body in files.items() if GIT in body]
        assert len(named) == bool(source.git)


def test_the_cache_is_of_what_is_installed() -> None:
    keys = set()
    for text in (f"wheel:{FILE}", f"wheel:more/{FILE}", f"{GIT}@{COMMIT}"):
        files = ci_files("github", "a.yaml", parse_source(text))
        (action,) = [body for path, body in files.items() if path.match("*-setup/action.yml")]
        steps = yaml.safe_load(action)["runs"]["steps"]
        (cache,) = [step for step in steps if step.get("uses", "").startswith("actions/cache@")]
        keys.add(cache["with"]["key"])
    assert len(keys) == 3
