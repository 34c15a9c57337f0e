"""Python on the hosts of a lab: what it keeps of a zip is what it would compile."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rackwright_lab import kept
from rackwright_lab.base import KEPT, KEPT_CODE

COUNTED = """
import zipimport
compile_it = zipimport._compile_source
def counted(*words):
    print("compiled", end=" ")
    return compile_it(*words)
zipimport._compile_source = counted
"""


class Python:
    """A Python that keeps code in a folder, and tells when it compiles."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.kept = folder, folder / "kept"
        shutil.copy(KEPT, folder / "lab_kept.py")
        begin = f"import lab_kept; lab_kept.install({str(self.kept)!r})\n"
        (folder / "sitecustomize.py").write_text(COUNTED + begin)
        self.kept.mkdir()

    def says(self, source: str, name: str = "one.zip") -> str:
        """What the module ``told`` with ``source`` prints, imported out of a zip."""
        path = self.folder / name
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("told.py", source)
        done = subprocess.run(
            [sys.executable, "-c", "import told"],
            env={"PYTHONPATH": f"{self.folder}:{path}"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()


@pytest.fixture
def python(tmp_path: Path) -> Python:
    return Python(tmp_path)


def test_the_lab_makes_the_folder_that_is_used() -> None:
    assert f"/{KEPT_CODE}" == kept.FOLDER


def test_a_source_is_compiled_once_wherever_it_lies(python: Python) -> None:
    assert python.says("print(1)") == "compiled 1"
    assert python.says("print(1)", "two.zip") == "1"
    assert len(list(python.kept.iterdir())) == 1


def test_another_source_is_another_one(python: Python) -> None:
    python.says("print(1)")
    assert python.says("print(2)") == "compiled 2"


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xe3"])
def test_broken_cached_build_is_compiled_again(python: Python, content: bytes) -> None:
    python.says("print(1)")
    (path,) = python.kept.iterdir()
    path.write_bytes(content)
    assert python.says("print(1)") == "compiled 1"
    assert python.says("print(1)") == "1"


def test_without_its_folder_it_is_python_as_ever(python: Python) -> None:
    shutil.rmtree(python.kept)
    # Python compiles a module of a zip twice: to tell its file name, and to run it.
    assert python.says("print(1)") == "compiled compiled 1"
    assert python.says("print(1)") == "compiled compiled 1"
