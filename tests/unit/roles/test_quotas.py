"""The module that sets quotas: what it concludes, and what the kernel of this machine answers it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.rackwright.cluster.plugins.module_utils import quota_limits
from ansible_collections.rackwright.cluster.plugins.module_utils.quota_limits import (
    Entry,
    Lustre,
    Mounted,
)
from ansible_collections.rackwright.cluster.plugins.modules import quotas
from ansible_collections.rackwright.cluster.plugins.modules.quotas import Change

ON = quota_limits.COUNTED | quota_limits.ENFORCED
NOTHING: dict[str, Any] = {}


def entry(space: int, files: int, soft: int = 0, held: int = 0) -> Entry:
    return Entry((space, files), (soft, 0), (held, 1))


def mounted(kind: str = "ext4", folder: str = "/export", options: str = "rw,usrquota") -> Mounted:
    return Mounted(folder, "/dev/sdb1", kind, options.split(","), "8:17")


def test_only_what_differs_is_set() -> None:
    wanted = {2001: (2048, 10), 2002: (2048, 10), 2003: (2048, 10)}
    known = {0: entry(0, 0), 2001: entry(2048, 10), 2002: entry(1024, 10), 3000: entry(5, 5)}
    changes, kept = quotas.judge(wanted, None, known, NOTHING, copies=True)
    assert changes == [
        Change(2002, (1024, 10), (2048, 10)),
        Change(2003, (0, 0), (2048, 10)),
    ]
    assert kept == []


def test_a_soft_limit_of_an_account_that_is_ours_is_taken_away() -> None:
    changes, _ = quotas.judge(
        {2001: (2048, 10)}, None, {2001: entry(2048, 10, soft=9)}, NOTHING, copies=True
    )
    assert changes == [Change(2001, (2048, 10), (2048, 10))]


def test_a_limit_of_ours_that_is_not_wanted_goes_and_no_other() -> None:
    record = {"accounts": {"2001": [2048, 10], "2002": [2048, 10]}}
    known = {2001: entry(2048, 10), 2002: entry(4096, 10), 3000: entry(2048, 10)}
    changes, kept = quotas.judge({}, None, known, record, copies=True)
    assert changes == [Change(2001, (2048, 10), (0, 0))]
    assert kept == [2002], "somebody else changed it"


def test_the_default_is_that_of_number_0_and_goes_with_its_copies() -> None:
    """XFS writes the default to each number that it meets, where it stays when the default changes."""
    known = {0: entry(2048, 10), 2001: entry(9, 9), 3000: entry(2048, 10), 3001: entry(7, 7)}
    record = {"accounts": {"2001": [9, 9]}, "default": [2048, 10]}
    changes, _ = quotas.judge({2001: (9, 9)}, (4096, 20), known, record, copies=True)
    assert changes == [
        Change(0, (2048, 10), (4096, 20)),
        Change(3000, (2048, 10), (4096, 20)),
    ]
    changes, _ = quotas.judge({}, None, known, record, copies=True)
    assert [(one.uid, one.after) for one in changes] == [
        (0, (0, 0)),
        (2001, (0, 0)),
        (3000, (0, 0)),
    ]


def test_the_limits_of_root_on_ext4_are_left() -> None:
    record = {"accounts": {"2001": [9, 9]}, "default": None}
    assert quotas.judge(
        {2001: (9, 9)}, None, {0: entry(5, 5), 2001: entry(9, 9)}, record, copies=True
    ) == (
        [],
        [],
    )


@pytest.mark.parametrize(
    ("flags", "where", "fstab", "said"),
    [
        (ON, mounted(), None, ""),
        (ON, mounted(), ["rw", "usrquota"], ""),
        (ON, mounted(options="rw,usrjquota=aquota.user"), ["usrjquota=aquota.user"], ""),
        (ON, mounted("xfs", options="rw,usrquota"), ["uquota"], ""),
        (0, mounted("btrfs"), None, "quotas are for ext4 and xfs"),
        (
            0,
            mounted(options="rw"),
            None,
            (
                "while nobody uses it: umount /export; tune2fs -O quota /dev/sdb1; write usrquota among its options in"
                " /etc/fstab; mount /export"
            ),
        ),
        (
            0,
            mounted("xfs", options="rw,noquota"),
            None,
            "while nobody uses it: umount /export; write uquota among its options in /etc/fstab; mount /export",
        ),
        (0, mounted(folder="/", options="rw"), None, "give it a file system of its own"),
        (
            quota_limits.COUNTED,
            mounted(options="rw"),
            None,
            (
                "counted and are off: write usrquota among its options in /etc/fstab;"
                " mount -o remount,usrquota /export; quotaon --user /export"
            ),
        ),
        (
            quota_limits.COUNTED,
            mounted("xfs", options="rw,uqnoenforce"),
            None,
            "counted and are off: write uquota among its options in /etc/fstab; quotaon --user /export",
        ),
        (
            ON,
            mounted(options="rw"),
            None,
            (
                "are off after the next boot: write usrquota among its options in /etc/fstab;"
                " mount -o remount,usrquota /export"
            ),
        ),
        (ON, mounted(), ["defaults"], "are off after the next boot: write usrquota"),
    ],
)
def test_a_file_system_without_quotas_is_told_with_what_to_run(
    flags: int, where: Mounted, fstab: list[str] | None, said: str
) -> None:
    why = quota_limits.obstacle("/export/home", where, flags, fstab)
    assert why.endswith(said) if said.endswith("/export") else said in why
    assert bool(why) == bool(said)
    if why:
        assert why.startswith(f"'/export/home' is on '{where.folder}' (/dev/sdb1, {where.kind})")


def test_a_path_that_is_not_there_is_on_what_its_folder_is_on(tmp_path: Any) -> None:
    asked = []

    def run(words: list[str]) -> tuple[int, str]:
        asked.append(words[-1])
        return 0, (
            '{"filesystems": [{"target": "/export", "source": "/dev/sdb1[/volume]", "fstype": "xfs",'
            ' "options": "rw,usrquota", "maj:min": "8:17"}]}'
        )

    found = quota_limits.find_mount(str(tmp_path / "home/deep"), run)
    assert asked == [str(tmp_path)]
    assert found == Mounted("/export", "/dev/sdb1", "xfs", ["rw", "usrquota"], "8:17")


def test_usage_above_the_limit_is_reported() -> None:
    wanted = {2001: (2048, 0), 2002: (2048, 0), 2003: (0, 5), 2004: (2048, 1)}
    known = {
        2001: Entry((0, 0), (0, 0), (4096, 7)),
        2003: Entry((0, 0), (0, 0), (9, 6)),
        2004: Entry((2048, 1), (0, 0), (2048, 1)),
    }
    assert quotas.beyond(wanted, known, {2001: "alice", 2003: "bob"}) == [
        "alice (2001): 2048 KiB, any files holds 4096 KiB in 7 files",
        "bob (2003): any space, 5 files holds 9 KiB in 6 files",
    ]


def test_limits_are_not_guessed_from_a_broken_record(tmp_path: Any) -> None:
    record = tmp_path / "quotas.json"
    record.write_text("{")
    module: Any = SimpleNamespace(params={"record": str(record), "lustre": False, "look": True})
    with pytest.raises(OSError, match=r"quotas\.json', which keeps .* is no JSON .*move it away"):
        quotas.Host(module).go()


def test_a_file_system_that_has_no_quotas_says_so() -> None:
    """The kernel is asked of a device that is none: whatever it answers means that nothing is limited."""
    assert quota_limits.state("/dev/null") == 0


DEFAULT = "   /mnt/lustre      0 2097152       0      0     100       0\n"
OWN = "/mnt/lustre/deep\n                     8*      0       8       -       2       0     100       -\n"
NONE = (
    "   /mnt/lustre    [4]      0 2097152       -       1       0     100       -\n"
    "uid 2001 is using default block quota setting\nuid 2001 is using default file quota setting\n"
)


class Asked:
    """An ``lfs`` that answers as the real one prints."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def run(self, words: list[str]) -> tuple[int, str]:
        self.words.append(" ".join(words))
        if words[1] == "setquota":
            return (1, "no quota\n") if "9" in words else (0, "")
        return 0, DEFAULT if "-U" in words else NONE if "2001" in words else OWN


def test_lustre_tells_limits_of_accounts_and_its_default() -> None:
    lustre = Lustre("/mnt/lustre", Asked().run)
    assert lustre.known([2001, 2002]) == {
        0: Entry((2097152, 100), (0, 0), (0, 0)),
        2001: Entry((0, 0), (0, 0), (4, 1)),
        2002: Entry((8, 100), (0, 0), (8, 2)),
    }


def test_lustre_is_asked_for_limits_and_for_its_default() -> None:
    asked = Asked()
    lustre = Lustre("/mnt/lustre", asked.run)
    for uid, limits in ((2001, (2048, 0)), (2001, (0, 0)), (0, (2048, 5)), (0, (0, 0))):
        lustre.set(uid, limits)
    assert asked.words == [
        "lfs setquota -u 2001 -b 0 -B 2048 -i 0 -I 0 /mnt/lustre",
        "lfs setquota -u 2001 --default /mnt/lustre",
        "lfs setquota -U -b 0 -B 2048 -i 0 -I 5 /mnt/lustre",
        "lfs setquota -U -b 0 -B 0 -i 0 -I 0 /mnt/lustre",
    ]
    with pytest.raises(
        OSError, match="'lfs setquota -u 9 --default /mnt/lustre' ends with 1: no quota"
    ):
        lustre.set(9, (0, 0))


def test_lustre_that_tells_something_else_has_no_unlimited_accounts() -> None:
    told = "/mnt/lustre: quotas are not enabled.\n"
    said = "'lfs quota' of '/mnt/lustre' tells no limits of its default: .*quotas are not enabled"
    with pytest.raises(OSError, match=said):
        Lustre("/mnt/lustre", lambda words: (0, told)).known([2001])


def test_lustre_has_no_copies_of_its_default() -> None:
    record = {"accounts": {"2001": [9, 9]}, "default": [5, 5]}
    known = {0: entry(5, 5), 2001: entry(9, 9)}
    changes, _ = quotas.judge({}, (6, 6), known, record, copies=False)
    assert changes == [Change(0, (5, 5), (6, 6)), Change(2001, (9, 9), (0, 0))]
