"""A TPM 2.0 of swtpm, asked by tpm2-tools, both of Debian in a root of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rackwright_lab.system import run

PACKAGES = ("openssl", "swtpm", "swtpm-tools", "tpm2-tools")
WITHIN_S = 300
SETUP = """\
create_certs_tool=/usr/bin/swtpm_localca
create_certs_tool_config=/tpm/localca.conf
create_certs_tool_options=/tpm/localca.options
active_pcr_banks=sha256
"""
LOCAL_CA = """\
statedir=/tpm/ca
signingkey=/tpm/ca/signkey.pem
issuercert=/tpm/ca/issuercert.pem
certserial=/tpm/ca/certserial
"""
PLATFORM = "--platform-manufacturer QEMU\n--platform-version 1\n--platform-model lab\n"
TOOL = """\
#!/bin/sh
# The kernel keeps objects of programs apart; without it they stay in the TPM, which has place for three.
/usr/bin/$(basename "$0") "$@" || exit $?
/usr/bin/tpm2_flushcontext -Q -t
"""
TOOLS = ("createek", "createak", "quote", "activatecredential")


@dataclass(frozen=True)
class TpmMachine:
    """A TPM that runs.

    Attributes:
        root: with its programs.
        makers: certificate of the maker of its endorsement key.
    """

    root: Path
    makers: Path
    port: int

    def __call__(self, script: str) -> str:
        """Run a script beside the TPM, and return its output."""
        tcti = f"TPM2TOOLS_TCTI=swtpm:host=127.0.0.1,port={self.port}"
        path = "PATH=/tpm/tools:/usr/sbin:/usr/bin:/sbin:/bin"
        return run("chroot", self.root, "env", tcti, path, "sh", "-c", script, timeout_s=WITHIN_S)


@contextlib.contextmanager
def tpm_machine(root: Path, port: int) -> Iterator[TpmMachine]:
    """Make a TPM with a certificate of a maker, and have it run on two ports of loopback until the block ends."""
    folder = root / "tpm"
    for made in (folder / "state", folder / "ca", folder / "tools"):
        made.mkdir(parents=True)
    for name, text in (
        ("setup.conf", SETUP),
        ("localca.conf", LOCAL_CA),
        ("localca.options", PLATFORM),
    ):
        (folder / name).write_text(text)
    for name in TOOLS:
        (folder / "tools" / f"tpm2_{name}").write_text(TOOL)
        (folder / "tools" / f"tpm2_{name}").chmod(0o755)
    maker = "openssl req -new -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=maker"
    keys = ("-keyout", "/tpm/ca/signkey.pem", "-out", "/tpm/ca/issuercert.pem")
    run("chroot", root, *maker.split(), *keys, timeout_s=WITHIN_S)
    setup = "swtpm_setup --tpm2 --tpmstate /tpm/state --config /tpm/setup.conf --create-ek-cert --runas root"
    run("chroot", root, *setup.split(), timeout_s=WITHIN_S)
    words = f"swtpm socket --tpm2 --tpmstate dir=/tpm/state --flags not-need-init,startup-clear --server type=tcp,port={port} --ctrl type=tcp,port={port + 1}"
    process = subprocess.Popen(["chroot", root, *words.split()], start_new_session=True)
    machine = TpmMachine(root, folder / "ca/issuercert.pem", port)
    try:
        until = time.monotonic() + WITHIN_S
        while True:
            with contextlib.suppress(Exception):
                machine("tpm2_pcrread -Q sha256:0")
                break
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.2)
        yield machine
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)
