"""What is installed only where it is asked for, and what is said where it is missing."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rackwright import __version__, extras
from rackwright.extras import MODULES, install_hint, missing_extra
from rackwright.render.blueprints import find_template, write_blueprint

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def packages_of(extra: str) -> set[str]:
    """The packages that an extra names, with those of the extras that it refers to."""
    wanted = [Requirement(line) for line in EXTRAS[extra]]
    found = {requirement.name for requirement in wanted}
    for requirement in wanted:
        if requirement.name == "rackwright":
            found |= {name for own in requirement.extras for name in packages_of(own)}
    return found


def test_all_is_every_extra_of_a_user() -> None:
    assert packages_of("all") >= {
        name
        for extra in EXTRAS
        if extra not in {"dev", "release", "test"}
        for name in packages_of(extra)
    }


@pytest.mark.parametrize(
    "module",
    # What others bring; and openleadr, which tests have in an environment of its own.
    sorted(
        set(MODULES)
        - {"cryptography", "google", "grpc", "openleadr", "rackwright_lab", "semver", "werkzeug"}
    ),
)
def test_the_extra_of_a_module_names_its_package(module: str) -> None:
    named = packages_of(MODULES[module])
    installed = packages_distributions()["boto3" if module == "botocore" else module]
    assert named & {name.replace("_", "-") for name in installed}


@pytest.mark.parametrize(
    ("verb", "template", "arguments", "module", "extra"),
    [
        ("up", "hybrid-h100", ["--target", "local", "--yes"], "pulumi", "aws"),
        ("configure", "lab", ["--check"], "ansible_runner", "configure"),
        ("design", "lab", [], "ortools", "design"),
        ("configure", "lab", ["--lab", "lab"], "rackwright_lab", "local"),
    ],
)
def test_a_command_that_lacks_its_extra_says_which(
    verb: str, template: str, arguments: list[str], module: str, extra: str, tmp_path: Path
) -> None:
    hide = f"import sys; sys.modules[{module!r}] = None\n"
    start = "from rackwright.cli import main; sys.exit(main(sys.argv[1:]))"
    write_blueprint(find_template(template), tmp_path, {})
    done = subprocess.run(
        [sys.executable, "-c", hide + start, verb, tmp_path / "blueprint.yaml", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "RACKWRIGHT_STATE": str(tmp_path / "state")},
    )
    assert done.returncode == 4, done.stdout + done.stderr
    assert f"needs the Python package '{module}', which is not installed" in done.stderr
    assert f"  hint: {install_hint(extra)}\n" in done.stderr
    assert not (tmp_path / "state/local/embedded-aws").exists(), "nothing was started"


@pytest.mark.parametrize(
    ("origin", "hint"),
    [
        (
            {"url": "file:///opt/rack%20wright", "dir_info": {"editable": True}},
            "pip install --editable '/opt/rack wright[aws,local]'",
        ),
        ({"url": "file:///opt/it", "dir_info": {}}, "pip install '/opt/it[aws,local]'"),
        (
            {"url": "https://example.com/r.git", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}},
            "pip install 'rackwright[aws,local] @ git+https://example.com/r.git@0a1b'",
        ),
        (
            {"url": "file:///tmp/rackwright-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install 'rackwright[aws,local] @ file:///tmp/rackwright-0.1.0-py3-none-any.whl'",
        ),
        (
            {},
            f"pip install 'rackwright[aws,local]=={__version__}', from the index that it came from",
        ),
    ],
)
def test_hint_installs_an_extra_from_where_the_package_came(
    origin: dict[str, object], hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name alone asks a public index, where a stranger may have registered it."""
    monkeypatch.setattr(extras, "install_origin", lambda: origin)
    assert install_hint("aws", "local") == hint


def test_documents_name_no_package_that_no_index_has() -> None:
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md")]
    assert len(texts) > 40
    assert [
        str(path) for path in texts if "pip install rackwright" in path.read_text("utf-8")
    ] == []


def test_without_the_lab_the_product_works(tmp_path: Path) -> None:
    hide = "import sys; sys.modules['rackwright_lab'] = None\n"
    start = "from rackwright.cli import main; sys.exit(main(sys.argv[1:]))"
    write_blueprint(find_template("lab"), tmp_path, {})
    for words in (["check"], ["inventory"], ["cost"]):
        done = subprocess.run(
            [sys.executable, "-c", hide + start, words[0], "blueprint.yaml", *words[1:]],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_another_missing_module_is_no_extra() -> None:
    assert missing_extra(ModuleNotFoundError("no", name="rackwright.nothing")) is None
    assert missing_extra(ModuleNotFoundError("no")) is None
