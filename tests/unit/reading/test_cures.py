"""Cures for values that people write by the habits of other tools."""

from __future__ import annotations

import pytest

from cli_support import run_here
from rackwright.reading.cures import of_choice, of_number
from wrong_inputs import BASE

VARIABLES = ("{{ x }}", "${X}", "$X", "<x>", "${{ vars.X }}", "{% if x %}", "{# x #}")


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: atlas", 'name: "a-V"'),
        ("altitude: 30 m", 'altitude: "V m"'),
        ("count: 64", 'count: "V"'),
        ("policy_set", '"V": 1\npolicy_set'),
        ("provider: onprem", 'provider: "V"'),
        ("technology: infiniband", 'technology: "V"'),
        ("feeds: [A, B, C]", 'feeds: "V"'),
        ("facility_informed: true", 'facility_informed: "V"'),
        ("stage: concept", 'stage: "V"'),
    ],
)
def test_variable_is_named_in_one_sentence_in_every_kind_of_value(tmp_path, variable, old, new):
    """Quantities, words and whole numbers had four sentences for it, and a name the guess 'a--n'."""
    (tmp_path / "b.yaml").write_text(BASE.replace(old, new.replace("V", variable), 1))
    run_here(tmp_path, "check", "b.yaml").refused(
        f"hint: '{variable}' is not replaced: write the value"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count: 64", "count: V"),
        ("altitude: 30 m", "altitude: V m"),
        ("policy_set", "V: 1\npolicy_set"),
    ],
)
@pytest.mark.parametrize("variable", ["{{ x }}", "{% if x %}"])
def test_variable_that_breaks_the_document_is_named_once(tmp_path, old, new, variable):
    """A block of Jinja was 'a value cannot begin with %', and the braces of a key two errors."""
    (tmp_path / "b.yaml").write_text(BASE.replace(old, new.replace("V", variable), 1))
    ended = run_here(tmp_path, "check", "b.yaml")
    ended.refused(
        ": a variable is not a value\n",
        f"hint: '{variable}' is not replaced: write the value",
    )
    assert ended.err.count("hint: ") == 1


@pytest.mark.parametrize(
    ("given", "hint"), [("95", "0.95"), ("90", "0.9"), ("100", "1"), ("1.5", None), ("120", None)]
)
def test_power_factor_in_percent_is_told_as_a_share(tmp_path, given, hint):
    """'95' is not 1 or less: nothing said what to write."""
    text = BASE.replace("power_factor: 0.95", f"power_factor: {given}", 1)
    (tmp_path / "b.yaml").write_text(text)
    ended = run_here(tmp_path, "check", "b.yaml")
    ended.refused(f"sites.sjc1.power.power_factor: '{given}' is not 1 or less")
    assert (f"write '{hint}'" in ended.err) if hint else ("write" not in ended.err)


def test_block_of_a_template_on_its_own_line_is_named(tmp_path):
    text = BASE.replace("policy_set", "{% if x %}\npolicy_set", 1)
    (tmp_path / "b.yaml").write_text(text)
    run_here(tmp_path, "check", "b.yaml").refused("'{% if x %}' is not replaced")


@pytest.mark.parametrize("new", ["? [a, b]\n: c\npolicy_set", '"$5": 1\npolicy_set'])
def test_list_or_amount_of_money_as_key_is_no_variable(tmp_path, new):
    (tmp_path / "b.yaml").write_text(BASE.replace("policy_set", new, 1))
    ended = run_here(tmp_path, "check", "b.yaml")
    ended.refused()
    assert "replaced" not in ended.err


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        ("8x8", "write '64'"),
        ("8 × 8", "write '64'"),
        ("sixty-four", "write '64'"),
        ("~64", "write '64'"),
        ("about 64", "write '64'"),
        (">= 64", "write '64'"),
        ("1.5k", "write '1500'"),
        ("60-64", "write one number"),
        ("60 to 64", "write one number"),
        ("64 servers", "write '64', without a unit"),
        ("64 (8x8)", "write '64'"),
        ("64+", "write '64'"),
        ("N+1", None),
        ("8x8x2", None),
        ("0x40", None),
        ("many", None),
    ],
)
def test_count_in_another_spelling_has_a_cure(given, cure):
    assert of_number(given, whole=True, name="count") == cure


@pytest.mark.parametrize(
    ("given", "cure"), [("8x8", None), ("2k", None), ("1.3 to 1.4", "write one number")]
)
def test_number_that_is_not_whole_is_no_product(given, cure):
    assert of_number(given, whole=False) == cure


@pytest.mark.parametrize("given", ["three", "three-phase", "3-phase", "3~"])
def test_phases_in_words_are_one_of_the_choice(given):
    assert of_choice(given, "phases", [1, 3]) == "write '3'"


@pytest.mark.parametrize("name", ["mtu", "sequence"])
def test_thousands_that_may_be_of_1024_get_no_number(name):
    """A '4k' of InfiniBand and of a model's context is 4096."""
    assert of_number("4k", whole=True, name=name) is None


@pytest.mark.parametrize("given", ["2N", "N", "2 n"])
def test_redundancy_of_whole_systems_is_no_number_of_spares(given):
    """'2N' was 'write 2, without a unit'."""
    assert of_number(given, whole=True, name="spare") == "write how many may fail"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("init", "s", "--template", "h200"), ("did you mean 'onprem-h200'?",)),
        (("init", "s", "--template", "dgx_h100"), ("'hybrid-h100' or 'onprem-h100'?",)),
        (("init", "b.yaml", "--template", "lab", "--example"), ("file exists", "name a folder")),
        (
            ("init", "s", "--template", "lab", "--answers", "todo.csv"),
            ("'todo.csv' is a table, not a file of answers", "'--questions FILE'"),
        ),
        (("check", "--only", "PWR-01", "b.yaml"), ("did you mean 'PWR-001'?",)),
        (("check", "--stage", "final", "b.yaml"), ("did you mean 'build'?",)),
        (("check", "nowhere"), ("name a blueprint, or a folder with a blueprint.yaml",)),
        (("todo",), ("did you mean 'check'?",)),
        (("bom", "b.yaml", "--site", "x"), ("the blueprint has: sjc1",)),
        (("bom", "b.yaml", "--output", "."), ("cannot be written: is a directory",)),
    ],
)
def test_slip_of_the_command_line_has_a_cure(tmp_path, command, words):
    (tmp_path / "b.yaml").write_text(BASE)
    (tmp_path / "todo.csv").write_text("field,answer\n")
    run_here(tmp_path, *command).refused(*words)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.yaml", "todo.csv"]


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ('racks: "c[01-02]"', "racks: c01-c02", "'c01-c02' is the name of one rack: a range is written 'c[01-02]'"),
        ('racks: "c[01-02]"', "racks: [c01, c02]", "write 'racks: \"c01,c02\"'"),
        ('racks: "c[01-02]"', "racks: 2", "name them: 'racks: \"r[01-02]\"'"),
        ("attached: [{group: dgx}]", "attached: dgx", "write 'attached: [{group: dgx}]'"),
        ("attached: [{group: dgx}]", "attached: [dgx]", "write '{group: dgx}'"),
        ("mode: air", "mode: DLC", "did you mean 'liquid'?"),
    ],
)  # fmt: skip
def test_full_form_has_a_cure_as_well(tmp_path, old, new, hint):
    (tmp_path / "b.yaml").write_text(BASE.replace("count: 64", "count: 8"))
    full = run_here(tmp_path, "expand", "b.yaml").out
    assert old in full
    (tmp_path / "full.yaml").write_text(full.replace(old, new, 1))
    run_here(tmp_path, "check", "full.yaml").refused(f"hint: {hint}\n")
