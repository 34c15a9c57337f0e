"""The state of the embedded AWS in a file."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import dill  # type: ignore[import-untyped]
import pytest
from moto.backends import get_backend

from rackwright.errors import StateError
from rackwright_lab.embedded_aws.api.moto_capacity import PlacementGroup
from rackwright_lab.embedded_aws.snapshot import (
    FORMAT,
    FORMER,
    dump_backends,
    load_backends,
    read_own,
)

REGION = "never-1"
SERVICES: tuple[Any, ...] = ("autoscaling", "ec2", "efs", "fsx", "kms", "logs", "ssm")


def test_a_state_that_names_the_former_modules_is_read() -> None:
    group = PlacementGroup("pg-1", "near", "cluster", "arn:1")
    state = {("ec2", "000000000001", REGION): group}
    text = pickle.dumps((FORMAT, state), protocol=2)  # names modules by lines of text
    text = text.replace(b"rackwright_lab.embedded_aws.", FORMER.encode())
    assert FORMER.encode() in text
    regions = get_backend("ec2")["000000000001"]
    try:
        assert load_backends(text) == 1
        read: object = dict.__getitem__(regions, REGION)
        assert read == group
    finally:
        dict.pop(regions, REGION)


class Planted:
    """Pickled, it calls what its reader lets it call."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.called = call, arguments

    def __reduce__(self) -> Any:
        return self.called


@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize("name", ["posix.system", "builtins.exec"])
def test_a_state_that_somebody_planted_runs_nothing(
    tmp_path: Path, name: str, protocol: int
) -> None:
    marker = tmp_path / "ran"
    text = {"builtins.exec": f"__import__('pathlib').Path({str(marker)!r}).touch()"}.get(
        name, f"touch {marker}"
    )
    call = exec if name == "builtins.exec" else os.system
    data = pickle.dumps(Planted(call, text), protocol=protocol)
    with pytest.raises(pickle.UnpicklingError, match="a state does not name"):
        load_backends(data)
    assert not marker.exists()
    pickle.loads(data)
    assert marker.exists()  # else nothing above is proven


@pytest.mark.parametrize("name", [b"os.system", b"os"])
def test_a_name_that_leads_through_a_module_is_refused(name: bytes) -> None:
    module = b"rackwright_lab.embedded_aws.snapshot"
    data = b"\x80\x04" + b"".join(b"\x8c" + bytes([len(n)]) + n for n in (module, name))
    data += b"\x93."
    with pytest.raises(pickle.UnpicklingError, match=r"a state does not name .*os"):
        load_backends(data)


def test_a_member_that_is_no_method_of_a_state_is_refused() -> None:
    group = PlacementGroup("pg-1", "near", "cluster", "arn:1")
    for owner, name in ((group, "__class__"), ("text", "format"), (group, "name")):
        data = pickle.dumps(Planted(getattr, owner, name))
        with pytest.raises(pickle.UnpicklingError, match="does not name the member"):
            load_backends(data)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_state_that_others_may_write_is_not_read(tmp_path: Path, mode: int) -> None:
    state = tmp_path / "state.pickle"
    state.write_bytes(dump_backends())
    state.chmod(0o600)
    assert read_own(state)
    state.chmod(mode)
    with pytest.raises(StateError, match="no file of this user alone"):
        read_own(state)


def test_a_link_is_no_state(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(dump_backends())
    (tmp_path / "state.pickle").symlink_to("other")
    with pytest.raises(OSError, match="symbolic link"):
        read_own(tmp_path / "state.pickle")


def test_a_function_in_a_state_of_a_former_revision_is_known_by_its_name() -> None:
    ours = get_backend("ssm")["000000000003"]["us-east-1"]._resource_tags.default_factory
    group = PlacementGroup("pg-1", "near", "cluster", "arn:1")
    for made, fits in ((ours, True), (lambda: os.system("false"), False)):
        state = {("ec2", "000000000001", REGION): (group, Planted(dill.loads, dill.dumps(made)))}
        text = pickle.dumps((FORMAT, state))
        if fits:
            assert load_backends(text) == 1
        else:
            with pytest.raises(pickle.UnpicklingError, match="carries code"):
                load_backends(text)
    for account, region in (("000000000001", REGION), ("000000000003", "us-east-1")):
        for name in ("ec2", "ssm"):
            dict.pop(get_backend(name)[account], region, None)


def test_every_backend_in_use_is_written_and_read_again() -> None:
    account = "000000000002"
    backends = [get_backend(name)[account]["us-east-1"] for name in SERVICES]
    try:
        assert load_backends(dump_backends()) >= len(backends)
        again = get_backend("ssm")[account]["us-east-1"]
        again._resource_tags["Parameter"]["name"]["key"] = "value"
        assert load_backends(dump_backends()) >= len(backends)
    finally:
        for name in SERVICES:
            dict.pop(get_backend(name)[account], "us-east-1", None)
