"""The folder of packed modules that tests share: its name tells what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from callbacks.kept_modules import TREE, folder_name


@pytest.mark.parametrize(
    "path",
    [
        "src/ansible_collections/rackwright/cluster/plugins/modules/probe.py",
        "src/ansible_collections/rackwright/cluster/plugins/module_utils/deep/values.py",
        "roles/base/library/probe.py",
        "roles/base/module_utils/values.py",
    ],
)
def test_a_changed_module_is_packed_anew(tmp_path: Path, path: str) -> None:
    """Ansible finds a pack by the name of its module, so an older one would be sent for ever."""
    empty = folder_name(tmp_path)
    module = tmp_path / path
    module.parent.mkdir(parents=True)
    module.write_text("one\n")
    first = folder_name(tmp_path)
    module.write_text("two\n")
    second = folder_name(tmp_path)
    assert len({empty, first, second}) == 3
    module.write_text("one\n")
    assert folder_name(tmp_path) == first


def test_the_tree_is_this_one() -> None:
    assert (TREE / "src/ansible_collections/rackwright/cluster/plugins").is_dir()
