"""The page as PDF: which browser prints it, with what, and what is said where none does."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_support import Ended, run_here
from rackwright.errors import ExternalToolError
from rackwright.exit_codes import ExitCode
from rackwright.page.pdf import BROWSERS, print_page
from rackwright.provision.doctor import run_doctor
from rackwright.resources import bundled

AIR = str(bundled("policies") / "fixtures" / "air.yaml")
PRINTS = """#!/bin/sh
for word in "$@"; do
  case "$word" in
    --print-to-pdf=*) target=${word#--print-to-pdf=} ;;
    file://*) source=${word#file://} ;;
  esac
done
{ printf '%%PDF-'; printf '%s\\n' "$@"; printf 'home %s\\n' "$HOME"; cat "$source"; } >"$target"
"""


def a_browser(folder: Path, script: str, name: str = "chromium") -> Path:
    path = folder / name
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that programs are found in, before those that a shell needs; no browser is in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cat", "git"):
        (folder / name).symlink_to(
            next(Path(at) / name for at in ("/bin", "/usr/bin") if (Path(at) / name).exists())
        )
    monkeypatch.setenv("PATH", str(folder))
    return folder


def checked(folder: Path, *outputs: str) -> Ended:
    return run_here(folder, "check", AIR, "--exit-zero", *(f"--output={one}" for one in outputs))


@pytest.mark.parametrize("name", BROWSERS)
def test_page_is_printed_by_the_browser_that_is_there(
    programs: Path, tmp_path: Path, name: str
) -> None:
    a_browser(programs, PRINTS, name)
    assert checked(tmp_path, "pdf=site.pdf", "html=site.html").code == 0
    words = (tmp_path / "site.pdf").read_text(encoding="utf-8")
    assert words.endswith((tmp_path / "site.html").read_text(encoding="utf-8"))
    # Neither a network nor the profile of the user.
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in words
    (home,) = (line for line in words.splitlines() if line.startswith("home "))
    profile = next(line for line in words.splitlines() if line.startswith("--user-data-dir="))
    assert profile.removeprefix("--user-data-dir=").startswith(home.removeprefix("home "))
    assert not Path(home.removeprefix("home ")).exists()


def test_machine_without_a_browser_is_told_before_anything_is_checked(
    programs: Path, tmp_path: Path
) -> None:
    ended = checked(tmp_path, "pdf=site.pdf", "json=site.json")
    assert ended.code == ExitCode.EXTERNAL
    assert "Chromium or Chrome" in ended.err
    assert "install the package 'chromium', or write 'html=FILE'" in ended.err
    ended.harmless()
    assert sorted(tmp_path.iterdir()) == [programs]
    (seen,) = run_doctor(["pdf"])
    assert (seen.status, seen.purpose) == ("fail", "pdf")
    browser = a_browser(programs, PRINTS)
    (seen,) = run_doctor(["pdf"])
    assert (seen.status, seen.detail) == ("ok", str(browser))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("#!/bin/sh\necho starts >&2\necho 'no display' >&2\nexit 3\n", "no display"),
        ("#!/bin/sh\nexit 0\n", "it ended with 0"),
        (f"{PRINTS}exit 7\n", "it ended with 7"),
        (PRINTS.replace("%%PDF-", "<html>"), "it ended with 0"),
        ("#!/nowhere/sh\n", "No such file"),
    ],
    ids=["words", "nothing", "code", "no-pdf", "no-interpreter"],
)
def test_browser_that_prints_no_pdf_is_an_error_with_its_last_words(
    programs: Path, tmp_path: Path, script: str, words: str
) -> None:
    a_browser(programs, script)
    with pytest.raises(ExternalToolError, match=words):
        print_page("<p>x</p>")
    ended = checked(tmp_path, "pdf=site.pdf")
    assert ended.code == ExitCode.EXTERNAL
    assert words in ended.err
    assert not (tmp_path / "site.pdf").exists()


def test_pdf_goes_to_a_file_alone(programs: Path, tmp_path: Path) -> None:
    a_browser(programs, PRINTS)
    checked(tmp_path, "pdf=-").refused("the page is a file of its own", "pdf=FILE")
