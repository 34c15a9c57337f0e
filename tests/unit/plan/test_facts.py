"""A number that a blueprint states of a product fills what the catalogue has from no document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from catalogue_team import SERVER, a_server, write
from factories import CATALOGUE, a_blueprint, a_site, some_nodes
from rackwright.errors import SpecErrors
from rackwright.model.facts import ProductFact
from rackwright.model.hardware import Confidence, Fact, Node
from rackwright.plan.facts import with_stated
from rackwright.plan.load import LoadedPlan, load_data, load_plan
from rackwright.policy.check import check_plan
from rackwright.policy.exception_report import NoticeKind


def a_fact(**changes: Any) -> dict[str, Any]:
    return {
        "product": "acme-8x",
        "field": "weight",
        "value": "118 kg",
        "source": "Weighed at goods receipt",
        "date": "2026-05-02",
        "confidence": "official",
        **changes,
    }


@pytest.fixture
def top(tmp_path: Path) -> Path:
    write(tmp_path, Path("rackwright.yaml"), {"catalogue": [{"path": "hardware"}]})
    write(tmp_path, SERVER, a_server(weight=None, power_supplies={"count": 6, "inlet": "C20"}))
    return tmp_path


def loaded(top: Path, *facts: dict[str, Any]) -> LoadedPlan:
    site = a_site(node_groups=[some_nodes(type="acme-8x")])
    write(top, Path("blueprint.yaml"), a_blueprint(site, facts=list(facts)))
    return load_plan(top / "blueprint.yaml")


def refusal(top: Path, *facts: dict[str, Any]) -> str:
    with pytest.raises(SpecErrors) as caught:
        loaded(top, *facts)
    return str(caught.value)


def test_a_fact_fills_what_the_catalogue_lacks(top: Path) -> None:
    assert loaded(top).plan.catalogue.get(Node, "acme-8x").weight is None
    node = loaded(top, a_fact()).plan.catalogue.get(Node, "acme-8x")
    assert node.weight is not None
    assert node.weight.value == 118.0
    source = node.sources[node.weight.source]
    assert (source.title, str(source.date)) == ("Weighed at goods receipt", "2026-05-02")
    Node.model_validate(node.model_dump(mode="json", exclude_none=True))


def test_a_fact_inside_of_another_part(top: Path) -> None:
    facts = (
        a_fact(field="power_supplies.rating", value="3.3 kW"),
        a_fact(field="power_supplies.full_performance", value=4),
    )
    supplies = loaded(top, *facts).plan.catalogue.get(Node, "acme-8x").power_supplies
    assert supplies is not None
    assert supplies.rating is not None
    assert supplies.rating.value == 3300.0
    assert supplies.full_performance is not None
    assert supplies.full_performance.value == 4


@pytest.mark.parametrize("known", ["common", "estimate", "example"])
def test_a_fact_takes_the_place_of_a_number_that_no_one_read(top: Path, known: str) -> None:
    rule = "CAT-002" if known == "estimate" else "CAT-005"
    server = a_server(weight={"value": "90 kg", "source": "hearsay"})
    server["sources"]["hearsay"] = {"title": "Hearsay", "date": "2026-01-01", "confidence": known}
    write(top, SERVER, server)
    assert _outcomes(top, rule) == ["fail" if known == "estimate" else "unknown"]
    assert _outcomes(top, rule, a_fact()) == ["pass"]
    node = loaded(top, a_fact()).plan.catalogue.get(Node, "acme-8x")
    assert node.weight is not None
    assert node.weight.value == 118.0


def knows_weight(top: Path, value: str, confidence: str = "official") -> None:
    """The catalogue learns the weight of the server."""
    server = a_server(weight={"value": value, "source": "sheet"})
    server["sources"]["sheet"] = {"title": "Sheet", "date": "2026-01-01", "confidence": confidence}
    write(top, SERVER, server)


def notice_of_the_fact(plan: LoadedPlan) -> str:
    report = check_plan(plan, only=["RACK-002"])
    assert report.hygiene is not None
    (notice,) = report.hygiene.notices
    assert notice.kind is NoticeKind.STATED
    assert not notice.problem
    return notice.message


@pytest.mark.parametrize("value", ["118 kg", "260.1 lb", "118.3 kg"])
@pytest.mark.parametrize("confidence", ["official", "example"])
def test_fact_that_agrees_with_the_catalogue_is_remarked_and_has_no_effect(
    top: Path, value: str, confidence: str
) -> None:
    """A blueprint was refused once the catalogue learned a number: an upgrade broke three templates."""
    knows_weight(top, "118 kg")
    plan = loaded(top, a_fact(value=value, confidence=confidence))
    assert plan.plan.catalogue.get(Node, "acme-8x") == loaded(top).plan.catalogue.get(
        Node, "acme-8x"
    )
    assert notice_of_the_fact(plan) == (
        f"'{value}' has no effect: the catalogue has '118 kg' from 'Sheet' (2026-01-01, official); "
        "remove the fact"
    )


@pytest.mark.parametrize(
    ("known", "stated"),
    [("official", "official"), ("secondary", "official"), ("common", "example")],
)
def test_fact_that_is_more_careful_than_the_catalogue_is_remarked_and_has_no_effect(
    top: Path, known: str, stated: str
) -> None:
    knows_weight(top, "90 kg", known)
    plan = loaded(top, a_fact(confidence=stated))
    node = plan.plan.catalogue.get(Node, "acme-8x")
    assert node.weight is not None
    assert node.weight.value == 90
    assert notice_of_the_fact(plan).startswith("'118 kg' has no effect: the catalogue has '90 kg'")


@pytest.mark.parametrize(
    ("field", "value", "known"),
    [
        ("weight", "117 kg", "118 kg"),
        ("max_power", "10.1 kW", "10200 W"),
        ("inlet_max", "36 °C", "30 °C"),
        ("power_supplies.full_performance", 3, "4"),
    ],
)
def test_fact_that_is_bolder_than_the_catalogue_is_refused_with_both_numbers(
    top: Path, field: str, value: str | int, known: str
) -> None:
    knows_weight(top, "118 kg")
    text = refusal(top, a_fact(field=field, value=value))
    assert f"the catalogue knows '{field}' of 'acme-8x': {known}; the fact says {value}" in text
    assert "hint: remove the fact, or write an entry of your own" in text


@pytest.mark.parametrize("value", ["1 TiB", "4 TiB"])
def test_fact_is_refused_either_way_where_every_other_number_can_help(
    top: Path, value: str
) -> None:
    stated = a_fact(field="host_memory", value=value)
    assert "the catalogue knows 'host_memory' of 'acme-8x'" in refusal(top, stated)
    known = a_server()["host_memory"]["value"]
    assert loaded(top, {**stated, "value": known}).plan.facts


def test_fact_of_a_word_agrees_or_is_refused(top: Path) -> None:
    write(top, SERVER, a_server())
    stated = a_fact(field="power_supplies.inlet", value="C20")
    assert loaded(top, stated).plan.facts
    assert "knows 'power_supplies.inlet'" in refusal(top, {**stated, "value": "C14"})


def _outcomes(top: Path, rule: str, *facts: dict[str, Any]) -> list[str]:
    report = check_plan(loaded(top, *facts), only=[rule])
    return [str(r.outcome) for r in report.results if "acme" in r.subject.name]


def test_an_estimate_is_one(top: Path) -> None:
    node = loaded(top, a_fact(confidence="estimate")).plan.catalogue.get(Node, "acme-8x")
    assert node.weight is not None
    assert node.sources[node.weight.source].confidence is Confidence.ESTIMATE
    report = check_plan(loaded(top, a_fact(confidence="estimate")), only=["CAT-002"])
    assert report.exit_code == 5


def test_the_report_lists_each_fact_with_its_source(top: Path) -> None:
    report = check_plan(loaded(top, a_fact()), only=["RACK-002"])
    assert report.hygiene is not None
    (notice,) = report.hygiene.notices
    assert notice.kind is NoticeKind.STATED
    assert notice.id == "acme-8x: weight"
    assert notice.message == (
        "'118 kg', which the catalogue has from no document: 'Weighed at goods receipt' "
        "(2026-05-02, official)"
    )
    assert not notice.problem
    assert notice.location is not None
    assert notice.location.file.endswith("blueprint.yaml")


def test_a_fact_makes_a_finding_known(top: Path) -> None:
    before = check_plan(loaded(top), only=["CAT-001"])
    assert [r.outcome for r in before.results if "acme" in r.subject.name] == ["unknown"]
    after = check_plan(loaded(top, a_fact()), only=["CAT-001"])
    assert [r.outcome for r in after.results if "acme" in r.subject.name] == ["pass"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"field": "max_power", "value": "5 kW"},
            "the catalogue knows 'max_power' of 'acme-8x': 10200 W",
        ),
        ({"product": "acme-9x"}, "there is no product 'acme-9x' in the catalogue"),
        ({"field": "wieght"}, "a Node has no value 'wieght'"),
        ({"field": "hosts", "value": 2}, "a Node has no value 'hosts'"),
        ({"field": "sources"}, "a Node has no value 'sources'"),
        ({"field": "liquid.flow", "value": "1 L/min"}, "has no 'liquid'"),
        ({"field": "max_power.value"}, "has no 'max_power' that 'value'"),
        ({"field": "liquid"}, "'liquid' is more than one value"),
        ({"value": "118"}, "'118' has no unit"),
        ({"value": 118}, "'118' has no unit"),
        ({"value": "118 kW"}, "'kW' is not a unit of mass"),
        ({"source": ""}, "the text is empty"),
        ({"date": "soon"}, "facts.0.date"),
        ({"field": "a.b.c.d"}, "facts.0.field"),
        ({"product": "../x"}, "facts.0.product"),
    ],
)
def test_invalid_fact_is_refused_at_its_place(
    top: Path, changes: dict[str, Any], message: str
) -> None:
    said = refusal(top, a_fact(**changes))
    assert message in said
    assert "blueprint.yaml:" in said


def test_a_number_is_stated_once(top: Path) -> None:
    assert "'weight' of 'acme-8x' is stated twice" in refusal(top, a_fact(), a_fact(value="1 kg"))


def test_a_plan_that_is_made_again_states_them_once(top: Path) -> None:
    """The catalogue of a plan knows the fact already; what is made of it begins without."""
    first = loaded(top, a_fact())
    again = load_data(first.tree.data, catalogue=first.plan.catalogue)
    assert again.plan.catalogue.get(Node, "acme-8x") == first.plan.catalogue.get(Node, "acme-8x")
    assert first.plan.catalogue.as_data()["held"] == []


def a_connector(value: str) -> ProductFact:
    stated = a_fact(product="gb200-nvl72", field="liquid.connector", value=value)
    return ProductFact.model_validate(stated)


def test_a_fact_states_a_connector() -> None:
    catalogue, problems = with_stated([a_connector("lqc-v2")], CATALOGUE)
    assert problems == []
    node = catalogue.get(Node, "gb200-nvl72")
    assert node.liquid is not None
    assert isinstance(node.liquid.connector, Fact)
    assert node.liquid.connector.value == "lqc-v2"
    assert node.sources[node.liquid.connector.source].title == "Weighed at goods receipt"


def test_a_fact_of_a_connector_that_nobody_has_is_refused() -> None:
    _, problems = with_stated([a_connector("lqc-v3")], CATALOGUE)
    assert [(one.path, one.hint) for one in problems] == [
        (("facts", 0, "value"), "did you mean 'lqc-v2'?")
    ]
    assert "no connector 'lqc-v3'" in problems[0].message
