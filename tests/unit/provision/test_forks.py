"""Programs that are started beside the gRPC of Pulumi, as Ansible is by `up --waves`."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import rackwright.provision
from concurrent import futures
import grpc, pexpect

server = grpc.server(futures.ThreadPoolExecutor(2))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
channels = [grpc.insecure_channel(f"127.0.0.1:{port}") for _ in range(4)]
for channel in channels:
    grpc.channel_ready_future(channel).result(30)
for _ in range(80):
    child = pexpect.spawn("/bin/echo", ["done"])
    said = child.read()
    child.close()
    print(child.exitstatus, child.signalstatus, said.decode().strip())
"""


def test_no_program_that_is_started_beside_grpc_is_aborted() -> None:
    """One in twelve was, by SIGABRT: `ansible-playbook ended with None`."""
    environment = {key: told for key, told in os.environ.items() if not key.startswith("GRPC_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.splitlines()) == {"0 None done"}
