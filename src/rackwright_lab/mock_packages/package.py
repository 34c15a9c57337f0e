"""A Debian package that stands in for one that needs hardware."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from rackwright_lab.system import run


@dataclass(frozen=True)
class MockPackage:
    """A package that poses as one that needs hardware.

    Attributes:
        files: path below the root to text; files of ``bin`` folders are programs.
        plugins: path below the root to the C source of a plugin of Slurm, compiled against the
            headers of Slurm in the repository.
        installed: script that dpkg runs once the files are there.
    """

    name: str
    version: str
    summary: str
    depends: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    plugins: dict[str, str] = field(default_factory=dict)
    installed: str = ""

    def build(self, pool: Path) -> None:
        """Write its archive into the folder ``pool``; nothing where it needs a compiler and there is none.

        Raises:
            ExternalToolError: dpkg or the compiler refuses it.
        """
        if self.plugins and shutil.which("gcc") is None:
            return
        tree = pool.parent / "build" / self.name
        control = tree / "DEBIAN/control"
        control.parent.mkdir(parents=True)
        depends = f"Depends: {', '.join(self.depends)}\n" if self.depends else ""
        control.write_text(
            f"Package: {self.name}\nVersion: {self.version}\nArchitecture: amd64\n"
            f"Maintainer: Rackwright lab <lab@localhost>\n{depends}"
            f"Description: {self.summary}\n",
            encoding="utf-8",
        )
        for path, text in self.files.items():
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            target.chmod(0o755 if target.parent.name in {"bin", "sbin"} else 0o644)
        if self.installed:
            script = control.with_name("postinst")
            script.write_text(self.installed, encoding="utf-8")
            script.chmod(0o755)
        for path, source in self.plugins.items():
            _compile(source, tree / path, pool)
        for made in (tree, *tree.rglob("*")):
            if made.is_dir():
                made.chmod(0o755)
        plain = self.version.rpartition(":")[2]  # names of archives carry no epoch
        deb = pool / f"{self.name}_{plain}_amd64.deb"
        run("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", tree, deb)
        shutil.rmtree(tree.parent)


def _compile(source: str, target: Path, pool: Path) -> None:
    """Compile a plugin against the Slurm whose headers are in ``pool``."""
    headers = pool.parent / "build/headers"
    (archive,) = pool.glob("libslurm-dev_*.deb")
    run("dpkg-deb", "-x", archive, headers)
    code = headers / "plugin.c"
    code.write_text(source, encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    run("gcc", "-shared", "-fPIC", "-O1", "-I", headers / "usr/include", "-o", target, code)
    target.chmod(0o644)


def daemon(name: str) -> dict[str, str]:
    """Return files of a package whose service is up and does nothing."""
    unit = (
        f"[Unit]\nDescription={name} (stand-in of a lab)\n"
        "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )
    return {f"lib/systemd/system/{name}.service": unit}
