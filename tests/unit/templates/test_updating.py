"""Three-way updates of what a template made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.errors import RackwrightError, UsageError
from rackwright.plan.audit.catalogue_digest import catalogue_digest
from rackwright.plan.load import load_plan
from rackwright.render.blueprints import find_template
from rackwright.templates.making import (
    MODELINE,
    Made,
    digest_of_products,
    make_cluster,
    write_cluster,
)
from rackwright.templates.record import ANSWERS_FILE, Kept, find_clusters, read_kept, record_text
from rackwright.templates.source import Template, TemplateSource, open_template
from rackwright.templates.updating import Step, Update, merge_texts, plan_update, write_update
from template_support import TEXT, V1, write_files

SOURCE = TemplateSource("folder", "../t")
LABELS = ("yours", "old", "new")


def template(folder: Path, files: Mapping[str, str]) -> Template:
    write_files(folder / "t", files)
    return open_template(SOURCE, beside=folder / "a")


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    made = make_cluster(template(tmp_path, V1), tmp_path / "a", {"name": "b"}, "0.3")
    write_cluster(made, tmp_path / "a")
    return tmp_path / "a"


def update(cluster: Path, **changed: str) -> Update:
    """What is done with the cluster where files of the template change: ``room`` and ``notes``."""
    names = {"room": "room.yaml.j2", "notes": "notes.txt", "more": "more.yaml"}
    files = {**V1, **{names[key]: text for key, text in changed.items()}}
    return plan_update(cluster, read_kept(cluster), template(cluster.parent, files), {})


def test_a_cluster_keeps_its_answers_and_its_files_as_they_came(cluster: Path) -> None:
    kept = read_kept(cluster)
    assert kept.record.answers == {"name": "b", "count": 2, "feeds": 3}
    assert kept.base == {name: (cluster / name).read_text() for name in ("notes.txt", "room.yaml")}
    assert list(find_clusters(cluster.parent)) == [cluster]


def test_nothing_changes_where_the_template_did_not(cluster: Path) -> None:
    (cluster / "room.yaml").write_text("our own\n")
    assert update(cluster).changes == ()


def test_changes_of_the_team_and_the_template_are_merged(cluster: Path) -> None:
    path = cluster / "room.yaml"
    path.write_text(path.read_text().replace("team@example.com", "us@example.com"))
    made = update(cluster, room=TEXT.replace("# end", "# the end"))
    assert [(c.name, c.step, c.conflicts) for c in made.changes] == [
        ("room.yaml", Step.UPDATED, ())
    ]
    write_update(cluster, made)
    assert "us@example.com" in path.read_text()
    assert path.read_text().endswith("# the end\n")
    assert update(cluster, room=TEXT.replace("# end", "# the end")).changes == ()


def test_lines_that_both_changed_are_marked_and_named(cluster: Path) -> None:
    path = cluster / "room.yaml"
    path.write_text(path.read_text().replace("team@example.com", "us@example.com"))
    made = update(cluster, room=TEXT.replace("team@", "all@"))
    (change,) = made.changes
    assert (change.step, change.conflicts, made.conflicts) == (Step.CONFLICT, (2,), 1)
    write_update(cluster, made)
    lines = path.read_text().splitlines()
    assert lines[1:3] == ["<<<<<<< yours", "owner: us@example.com"]
    assert "owner: all@example.com" in lines
    with pytest.raises(UsageError, match="still has conflicts"):
        update(cluster, room=TEXT.replace("team@", "everybody@"))


def test_files_come_and_go_and_what_the_team_removed_stays_away(cluster: Path) -> None:
    (cluster / "notes.txt").unlink()
    made = update(cluster, notes="other\n", more="new: true\n")
    steps = {change.name: change.step for change in made.changes}
    assert steps == {"notes.txt": Step.LEFT_OUT, "more.yaml": Step.NEW}
    write_update(cluster, made)
    assert (cluster / "more.yaml").read_text() == "new: true\n"
    assert not (cluster / "notes.txt").exists()


@pytest.mark.parametrize(("own", "step"), [(False, Step.REMOVED), (True, Step.KEPT)])
def test_a_file_that_the_template_has_no_more(own: bool, step: Step, cluster: Path) -> None:
    path = cluster / "notes.txt"
    if own:
        path.write_text("ours\n")
    (cluster.parent / "t/notes.txt").unlink()
    found = open_template(SOURCE, beside=cluster)
    made = plan_update(cluster, read_kept(cluster), found, {})
    assert [(c.name, c.step) for c in made.changes] == [("notes.txt", step)]
    write_update(cluster, made)
    assert path.exists() is own
    assert "notes.txt" not in read_kept(cluster).base


ROOM = "name: a\nowner: team\nracks: 2\n"
PLAIN = {"copier.yml": "_description: a room\n", "blueprint.yaml": ROOM}


def before_modelines(folder: Path, mine: str) -> Path:
    """A cluster that was made before blueprints began with a modeline, changed by hand."""
    cluster = folder / "a"
    cluster.mkdir()
    kept = make_cluster(template(folder, PLAIN), cluster, {}, "0.3").kept
    write_cluster(
        Made({"blueprint.yaml": mine}, Kept(kept.record, {"blueprint.yaml": ROOM})), cluster
    )
    return cluster


@pytest.mark.parametrize(
    ("mine", "wanted"),
    [
        (ROOM, MODELINE + ROOM),
        (ROOM.replace("name: a", "name: b"), MODELINE + ROOM.replace("name: a", "name: b")),
        (f"# ours\n{ROOM}", f"{MODELINE}# ours\n{ROOM}"),
        (MODELINE + ROOM, MODELINE + ROOM),
        (
            f"# yaml-language-server: $schema=x\n{ROOM}",
            f"# yaml-language-server: $schema=x\n{ROOM}",
        ),
    ],
    ids=["as-it-came", "first-line", "comment", "by-the-recipe", "another-schema"],
)
def test_a_cluster_of_before_gets_the_modeline_and_no_conflict(
    mine: str, wanted: str, tmp_path: Path
) -> None:
    cluster = before_modelines(tmp_path, mine)
    made = plan_update(cluster, read_kept(cluster), template(tmp_path, PLAIN), {})
    assert made.conflicts == 0
    write_update(cluster, made)
    assert (cluster / "blueprint.yaml").read_text() == wanted
    assert read_kept(cluster).base == {"blueprint.yaml": MODELINE + ROOM}
    assert plan_update(cluster, read_kept(cluster), template(tmp_path, PLAIN), {}).changes == ()


def test_a_modeline_that_the_team_removed_stays_away(tmp_path: Path) -> None:
    cluster = before_modelines(tmp_path, ROOM)
    write_update(cluster, plan_update(cluster, read_kept(cluster), template(tmp_path, PLAIN), {}))
    (cluster / "blueprint.yaml").write_text(ROOM)
    files = {**PLAIN, "blueprint.yaml": ROOM.replace("racks: 2", "racks: 3")}
    made = plan_update(cluster, read_kept(cluster), template(tmp_path, files), {})
    assert made.conflicts == 0
    write_update(cluster, made)
    assert (cluster / "blueprint.yaml").read_text() == ROOM.replace("racks: 2", "racks: 3")


def test_a_template_with_a_modeline_of_its_own_keeps_it(tmp_path: Path) -> None:
    own = f"# yaml-language-server: $schema=theirs.json\n{ROOM}"
    (tmp_path / "a").mkdir()
    made = make_cluster(template(tmp_path, {**PLAIN, "blueprint.yaml": own}), tmp_path, {}, "0.3")
    assert made.files == {"blueprint.yaml": own}


def test_an_answer_can_change_without_the_template(cluster: Path) -> None:
    found = open_template(SOURCE, beside=cluster)
    made = plan_update(cluster, read_kept(cluster), found, {"count": "5"})
    write_update(cluster, made)
    assert "racks: 5" in (cluster / "room.yaml").read_text()
    assert read_kept(cluster).record.answers["count"] == 5


def test_an_answer_to_a_question_that_is_gone_is_dropped(cluster: Path) -> None:
    files = {"copier.yml": "name: {help: a, default: x}\n", "room.yaml.j2": "name: {{ name }}\n"}
    made = plan_update(cluster, read_kept(cluster), template(cluster.parent, files), {})
    assert made.kept.record.answers == {"name": "b"}


def test_a_link_in_the_place_of_a_file_is_not_written_through(cluster: Path) -> None:
    outside = cluster.parent / "outside"
    outside.write_text((cluster / "room.yaml").read_text())
    (cluster / "room.yaml").unlink()
    (cluster / "room.yaml").symlink_to(outside)
    with pytest.raises(UsageError, match="is a link"):
        update(cluster, room=TEXT.replace("# end", "# the end"))


BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "template: lab\n",
        "[]",
        "\x00",
        "template: !!python/object/apply:os.system [touch x]\n",
        'template: "../t"\ndigest: "x"\noffered: {}\nanswers: {}\n',
    ],
)
def test_a_hostile_record_is_refused_in_words(text: str, cluster: Path) -> None:
    (cluster / ANSWERS_FILE).write_text(text)
    with pytest.raises(RackwrightError):
        read_kept(cluster)


def test_an_answer_of_a_hostile_record_is_no_second_line(cluster: Path) -> None:
    path = cluster / ANSWERS_FILE
    path.write_text(path.read_text().replace('name: "b"', 'name: "b\\nsites: []"'))
    with pytest.raises(UsageError, match="the answer to 'name' must be printable text"):
        update(cluster)


def test_a_kept_file_cannot_lead_out(cluster: Path) -> None:
    base = cluster / ".rackwright-template/base"
    (base / "x.base").symlink_to("/etc/passwd")
    with pytest.raises(RackwrightError, match="is a link"):
        read_kept(cluster)


def test_a_record_reads_as_what_was_written(cluster: Path) -> None:
    record = read_kept(cluster).record
    record = record.model_copy(update={"answers": {"name": 'é "x" \\ ☃', "count": 3}})
    (cluster / ANSWERS_FILE).write_text(record_text(record))
    assert read_kept(cluster).record == record


LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=8).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@settings(max_examples=25)
@given(LINES, LINES)
def test_a_side_that_changed_nothing_gives_the_other_one(base: str, other: str) -> None:
    assert merge_texts(base, base, other, LABELS) == other
    assert merge_texts(other, base, base, LABELS) == other


@pytest.fixture
def lab(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A cluster made from a copy of the template of the lab, and the files of the copy."""
    files = {name: raw.decode() for name, raw in find_template("lab").files.items()}
    (tmp_path / "a").mkdir()
    made = make_cluster(template(tmp_path, files), tmp_path / "a", {}, "0.3")
    write_cluster(made, tmp_path / "a")
    return tmp_path / "a", files


def test_table_among_the_layers_of_a_template_is_read_as_a_table(
    lab: tuple[Path, dict[str, str]],
) -> None:
    """It was read as YAML, and its text replaced the blueprint."""
    cluster, _ = lab
    text = (cluster / "blueprint.yaml").read_text() + "layers: [todo.csv]\n"
    files = {"blueprint.yaml": text, "todo.csv": "\ufefffield,answer\nname,other\n"}
    digest = read_kept(cluster).record.offered["catalogue_digest"]
    assert digest_of_products(files, cluster) == digest


APPROVED = f"sha256:{1:064}"


def approve(cluster: Path) -> None:
    """Have the team have pinned what the catalogue said on another day."""
    digest = read_kept(cluster).record.offered["catalogue_digest"]
    for path in cluster.rglob("*"):
        if path.is_file():
            path.write_text(path.read_text().replace(digest, APPROVED))


def test_the_digest_of_the_catalogue_stays_where_the_template_changed_no_product(
    lab: tuple[Path, dict[str, str]],
) -> None:
    cluster, files = lab
    approve(cluster)
    changed = files["blueprint.yaml.j2"].replace("contract: 120 kW", "contract: 121 kW")
    found = template(cluster.parent, {**files, "blueprint.yaml.j2": changed})
    write_update(cluster, plan_update(cluster, read_kept(cluster), found, {}))
    text = (cluster / "blueprint.yaml").read_text()
    assert "contract: 121 kW" in text
    assert APPROVED in text


def test_the_digest_of_the_catalogue_is_pinned_anew_where_the_template_changed_a_product(
    lab: tuple[Path, dict[str, str]],
) -> None:
    cluster, files = lab
    approve(cluster)
    changed = files["blueprint.yaml.j2"].replace("dgx-h100", "dgx-h200")
    found = template(cluster.parent, {**files, "blueprint.yaml.j2": changed})
    write_update(cluster, plan_update(cluster, read_kept(cluster), found, {}))
    plan = load_plan(cluster / "blueprint.yaml").plan
    assert plan.blueprint.operations is not None
    assert plan.blueprint.operations.catalogue_digest == catalogue_digest(plan) != APPROVED
