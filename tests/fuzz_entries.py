"""What reads text of others, each fed with documents that are changed by chance.

An entry makes a case of a number, and takes it: the case is accepted, or refused in words that say
where or why. All else that is raised is a mistake of Rackwright.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from cli_support import run_here
from fuzz_mutators import Corpus, as_file, mutate_bytes
from rackwright.catalog.loader import FOLDERS, Catalogue, load_catalogue
from rackwright.catalog.netbox import import_device
from rackwright.catalog.netbox import render as render_product
from rackwright.catalog.prices import load_prices
from rackwright.diff.compare import compare_plans
from rackwright.diff.forms.json import render_json
from rackwright.diff.forms.markdown import render_comment
from rackwright.diff.revisions import WorkingTree
from rackwright.errors import RackwrightError, SpecErrors
from rackwright.plan.base import Subject
from rackwright.plan.load import LoadedPlan, load_plan, plan_tree
from rackwright.policy.api import Outcome
from rackwright.policy.authoring.examples import document, load_examples
from rackwright.policy.check import check_plan
from rackwright.policy.engine import Report, fingerprint
from rackwright.policy.exceptions.baseline import (
    BaselineFile,
    created,
    failures,
    pruned,
    render_baseline,
    tightened,
)
from rackwright.policy.exceptions.exceptions import (
    ExceptionChoice,
    apply_exceptions,
    read_exceptions,
)
from rackwright.policy.exceptions.waivers import WaiverFile
from rackwright.policy.packs.loader import builtin_pack, load_packs
from rackwright.reading.loader import load_text, load_tree
from rackwright.render.blueprints import find_template, list_templates, write_blueprint
from rackwright.report.formats import FORMATS, Context, renderer
from rackwright.resources import bundled
from rackwright.templates.cases import read_cases
from rackwright.templates.contents import text_of
from rackwright.templates.questions import MANIFEST, SUFFIX, read_manifest
from rackwright.templates.record import ANSWERS_FILE, read_kept
from rackwright.templates.rendering import TEST_FILE
from rackwright.templates.source import Template, TemplateSource
from rackwright.templating import refuse_unbounded
from template_support import example_answers

TODAY = date(2026, 12, 1)
FILE = "document.yaml"
ACCEPTED, REFUSED = "accepted", "refused"
LONGEST_MESSAGE = 2_000_000
REFUSALS = frozenset({2, 3})
"""Exit codes of ``rackwright`` for what it cannot judge, and for what there is nothing to do."""


@dataclass(frozen=True)
class Case:
    """One input.

    Attributes:
        content: of the file.
        choice: what else the entry chooses by chance, as a seed.
    """

    content: bytes
    choice: int = 0


@dataclass(frozen=True)
class Entry:
    """Something that reads what others wrote.

    Attributes:
        make: makes the case of a seed.
        take: takes the case in an empty folder, and says whether it was accepted.
    """

    make: Callable[[random.Random], Case]
    take: Callable[[Case, Path], str]


def words_of(error: RackwrightError) -> str:
    """What an error says; it says something, in characters that can be shown, and not for ever."""
    said = str(error)
    assert said.strip(), "an error without words"
    assert all(line.isprintable() for line in said.split("\n")), "characters that cannot be shown"
    assert len(said) < LONGEST_MESSAGE, "a message without an end"
    return said


def _judged(take: Callable[[Case, Path], object]) -> Callable[[Case, Path], str]:
    def judge(case: Case, folder: Path) -> str:
        try:
            take(case, folder)
        except RackwrightError as error:
            words_of(error)
            return REFUSED
        return ACCEPTED

    return judge


def _read(path: Path) -> Any:
    return load_tree(path).data


_FACTS: Sequence[Mapping[str, Any]] = [
    {
        "product": product,
        "field": field,
        "value": value,
        "source": "Weighed at goods receipt",
        "date": "2026-05-02",
        "confidence": "official",
    }
    for product, field, value in (
        ("dgx-b300", "power_supplies.degraded", 3),
        ("dgx-h100", "liquid.flow", "1 L/min"),
        ("raritan-px3-5878", "weight", "12 kg"),
        ("dgx-h100", "max_power", "5 kW"),
    )
]


@cache
def blueprints() -> tuple[tuple[str, ...], Corpus]:
    """The text of every template and fixture, and what they hold, with the layers of all examples."""
    import tempfile

    texts, documents = [], []
    with tempfile.TemporaryDirectory() as folder:
        for template in list_templates():
            write_blueprint(template, Path(folder, template.name), example_answers(template))
        files = [*Path(folder).rglob("*.yaml"), *(builtin_pack() / "fixtures").glob("*.yaml")]
        for path in sorted(files):
            texts.append(path.read_text(encoding="utf-8"))
            documents.append(_read(path))
    for policy in load_packs():
        documents += [example.layer for example in load_examples(policy) if example.layer]
    return tuple(texts), Corpus(documents)


@cache
def sites() -> tuple[Any, ...]:
    """Whole blueprints: the small fixtures three times as often as the templates."""
    _, corpus = blueprints()
    whole = [d for d in corpus.documents if "apiVersion" in d]
    small = [_read(path) for path in sorted((builtin_pack() / "fixtures").glob("*.yaml"))]
    return (*whole, *small, *small)


@cache
def examples() -> tuple[tuple[Any, Mapping[str, Mapping[str, Any]]], ...]:
    """The blueprint of each example of each policy, and what it changes in the catalogue."""
    return tuple(
        (document(example, builtin_pack()).data, example.catalogue)
        for policy in load_packs()
        for example in load_examples(policy)
    )


@cache
def catalogue() -> Catalogue:
    """The products, each read once."""
    return load_catalogue()


def _make_loaded(chance: random.Random) -> Case:
    texts, corpus = blueprints()
    if chance.random() < 0.5:
        return Case(mutate_bytes(chance.choice(texts).encode(), chance), chance.randrange(4))
    made = as_file(corpus.mutate(chance.choice(sites()), chance), chance)
    if chance.random() < 0.2:
        made = mutate_bytes(made, chance)
    return Case(made, chance.randrange(4))


def _take_loaded(case: Case, folder: Path) -> str:
    """A blueprint, or a layer over one: each mistake is at a place in a file."""
    path = folder / FILE
    path.write_bytes(case.content)
    layers: Sequence[Path] = ()
    if case.choice == 0:
        layers, path = [path], folder / "base.yaml"
        path.write_text(blueprints()[0][0], encoding="utf-8")
    files = {str(path), *map(str, layers)}
    try:
        load_plan(path, layers, catalogue=catalogue())
    except SpecErrors as error:
        said = words_of(error)
        placed = [one.location.file for one in error.errors if one.location]
        assert set(placed) <= files, placed
        if len(placed) < len(error.errors):  # of a file as a whole its name is said
            assert any(name in said for name in files), said
        return REFUSED
    return ACCEPTED


def _make_judged(chance: random.Random) -> Case:
    number = chance.randrange(len(examples()))
    data, _ = examples()[number]
    if chance.random() < 0.2:
        data = {**data, "facts": chance.sample(_FACTS, 2)}
    return Case(json.dumps(blueprints()[1].mutate(data, chance)).encode(), number)


def _take_judged(case: Case, folder: Path) -> None:
    """A blueprint, judged by every policy: none of them breaks down."""
    path = folder / FILE
    path.write_bytes(case.content)
    _, patches = examples()[case.choice % len(examples())]
    judge(load_plan(path, catalogue=catalogue().patched(patches)))


def judge(loaded: LoadedPlan) -> Report:
    """The report about a plan, whose policies have not raised."""
    report = check_plan(loaded)
    broken = [r.message for r in report.results if r.outcome is Outcome.ERROR]
    assert not broken, broken[0]
    return report


@cache
def refused_reports() -> tuple[Report, ...]:
    """Reports with failures, for waivers and baselines to hold against."""
    found = []
    wanted = ("RACK-002", "PWR-002", "NET-001", "COOL-001", "STO-001", "SCH-001")
    for policy in load_packs():
        if policy.id not in wanted:
            continue
        for example in load_examples(policy):
            tree = document(example, builtin_pack())
            report = check_plan(plan_tree(tree, catalogue().patched(example.catalogue)))
            if failures(report):
                found.append(report)
    assert len(found) > 5
    return tuple(found)


@cache
def _waivers() -> tuple[Any, Corpus]:
    results = [failure for report in refused_reports()[:8] for failure in failures(report)[:3]]
    names = [result.subject.name for result in results]
    entries: list[dict[str, Any]] = [
        {
            "id": f"W-{number}",
            "policy": result.policy,
            "match": {"site": "sjc1", "rack": "c[01-04]"},
            "up_to": "47 kW",
            "reason": "burn-in until the second PDU arrives",
            "owner": "dc@example.com",
            "ticket": f"DC-{number}",
            "expires": "2026-12-12",
        }
        for number, result in enumerate(results)
    ]
    for number, entry in enumerate(entries):
        if number % 3 == 1:
            entry["match"] = {"subject": names[number]}
        if number % 3 == 2:
            entry["match"] = {"site": names[number].partition(" ")[0]}
            del entry["up_to"]
    return {"waivers": entries[:3]}, Corpus([{"waivers": entries}, {"waivers": entries[:3]}])


def _make_waivers(chance: random.Random) -> Case:
    whole, corpus = _waivers()
    some = {"waivers": chance.sample(corpus.documents[0]["waivers"], chance.randint(1, 4))}
    return _made(some if chance.random() < 0.9 else whole, corpus, chance)


def _made(data: Any, corpus: Corpus, chance: random.Random) -> Case:
    made = as_file(corpus.mutate(data, chance), chance)
    if chance.random() < 0.15:
        made = mutate_bytes(made, chance)
    return Case(made, chance.randrange(2**20))


def _take_waivers(case: Case, folder: Path) -> None:
    """Waivers, read beside a blueprint and held against a report, which is shown."""
    path = folder / WaiverFile.NAME
    path.write_bytes(case.content)
    _concede(case, folder, ExceptionChoice(waivers=path, use_baseline=False, today=TODAY))


def _concede(case: Case, folder: Path, choice: ExceptionChoice) -> None:
    exceptions = read_exceptions(folder / FILE, choice)
    report = refused_reports()[case.choice % len(refused_reports())]
    severities = {policy.id: policy.severity for policy in load_packs()}
    made = apply_exceptions(report, exceptions, severities)
    _show(made, ("text", "json", "md", "github")[case.choice % 4])
    if exceptions.baseline is not None:
        render_baseline(tightened(exceptions.baseline.entries, report))
        render_baseline(pruned(exceptions.baseline.entries, report))


def _show(report: Report, form: str) -> None:
    context = Context(file=FILE, verbose=True, show_waived=True)
    shown("".join(renderer(form)(report, context)), form in {"json", "sarif", "gitlab"})


def shown(text: str, is_json: bool) -> None:
    """Check a text that was rendered: it can be written, and read as what it is."""
    text.encode()
    if is_json:
        json.loads(text)


@cache
def _baselines() -> tuple[tuple[Any, ...], Corpus]:
    made = tuple(json.loads(render_baseline(created(report))) for report in refused_reports())
    return made, Corpus(made)


def _make_baseline(chance: random.Random) -> Case:
    number = chance.randrange(len(refused_reports()))
    whole, corpus = _baselines()
    data = corpus.mutate(whole[number], chance)
    if chance.random() < 0.7:  # else only what is as it was fits its fingerprint
        _fit(data)
    made = as_file(data, chance)
    if chance.random() < 0.2:
        made = mutate_bytes(made, chance)
    return Case(made, number)


def _fit(data: Any) -> None:
    entries = data.get("entries") if isinstance(data, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            names = [entry.get(name, "") for name in ("policy", "at", "what")]
            if all(isinstance(name, str) and name.isprintable() for name in names):
                entry["fingerprint"] = fingerprint(names[0], Subject(names[1], ()), names[2])


def _take_baseline(case: Case, folder: Path) -> None:
    """A baseline, read beside a blueprint, held against a report, tightened and pruned."""
    path = folder / BaselineFile.NAME
    path.write_bytes(case.content)
    _concede(case, folder, ExceptionChoice(baseline=path, use_waivers=False, today=TODAY))


@cache
def _products() -> tuple[tuple[tuple[str, Path], ...], Mapping[str, Corpus]]:
    """Each file of the catalogue with its folder, and what the files of each folder hold."""
    folder = bundled("inventory")
    found = {name: sorted((folder / "catalog" / name).glob("*.yaml")) for name in FOLDERS}
    found["prices"] = sorted((folder / "prices").glob("*.yaml"))
    names = tuple((name, path) for name, paths in found.items() for path in paths)
    return names, {name: Corpus([_read(path) for path in paths]) for name, paths in found.items()}


@cache
def _users() -> Mapping[str, tuple[int, ...]]:
    """The examples that name each product."""
    texts = [json.dumps(data) for data, _ in examples()]
    stems = [path.stem for _, path in _products()[0]]
    found = {
        stem: tuple(n for n, text in enumerate(texts) if f'"{stem}"' in text) for stem in stems
    }
    return {stem: numbers for stem, numbers in found.items() if numbers}


@cache
def _used() -> tuple[int, ...]:
    return tuple(n for n, (_, path) in enumerate(_products()[0]) if path.stem in _users())


def _make_product(chance: random.Random) -> Case:
    names, corpora = _products()
    number = chance.choice(_used()) if chance.random() < 0.7 else chance.randrange(len(names))
    name, path = names[number]
    if chance.random() < 0.3:
        return Case(mutate_bytes(path.read_bytes(), chance), number)
    return Case(as_file(corpora[name].mutate(_read(path), chance), chance), number)


def _take_product(case: Case, folder: Path) -> None:
    """A product or a price list; a site that is built of the product is judged."""
    names, _ = _products()
    name, original = names[case.choice % len(names)]
    entry = original.stem
    below = folder / name
    below.mkdir()
    path = below / f"{entry}.yaml"
    path.write_bytes(case.content)
    if name == "prices":
        load_prices(below)
        return
    kind = FOLDERS[name]
    files = {**catalogue().files, kind: {**catalogue().files[kind], entry: path}}
    changed = Catalogue(files)
    changed.get(kind, entry)
    users = _users().get(entry, ())
    if users:
        data, _ = examples()[users[len(case.content) % len(users)]]
        text = folder / FILE
        text.write_text(json.dumps(data))
        judge(load_plan(text, catalogue=changed))


_DEVICE: Mapping[str, Any] = {
    "manufacturer": "Acme",
    "model": "A-8125",
    "slug": "acme-a-8125",
    "u_height": 8,
    "weight": 166.4,
    "weight_unit": "lb",
    "airflow": "front-to-rear",
    "power-ports": [
        {"name": f"PSU{n}", "type": "iec-60320-c20", "maximum_draw": 3000} for n in range(3)
    ],
    "interfaces": [
        {"name": "ipmi", "type": "1000base-t", "mgmt_only": True},
        *({"name": f"eth{n}", "type": "400gbase-x-osfp"} for n in range(4)),
        {"name": "ib0", "type": "infiniband-ndr"},
    ],
}


def _make_device(chance: random.Random) -> Case:
    made = as_file(Corpus([_DEVICE]).mutate(_DEVICE, chance), chance)
    if chance.random() < 0.2:
        made = mutate_bytes(made, chance)
    return Case(made, chance.randrange(2))


def _take_device(case: Case, folder: Path) -> None:
    """A device type of NetBox's: what is made of it can be written, and reads the same."""
    path = folder / FILE
    path.write_bytes(case.content)
    kind: Any = ("nodes", "switches")[case.choice]
    made = import_device(path, kind, roles={}, day=TODAY)
    assert load_text(render_product(made.document), FOLDERS[kind]).value == made.entry


VERBS: tuple[tuple[str, ...], ...] = (
    ("render", FILE, "--check", "--diff", "--output", "made"),
    ("inventory", FILE),
    ("inventory", FILE, "--graph"),
    ("fabric", "cables", FILE),
    ("fabric", "net", FILE),
    ("cost", FILE),
    ("cost", FILE, "--json", "--compare"),
)
"""Commands that write what follows from a blueprint."""


def _make_rendered(chance: random.Random) -> Case:
    _, corpus = blueprints()
    whole = chance.choice(sites())
    return Case(as_file(corpus.mutate(whole, chance), chance), chance.randrange(2**20))


def _take_rendered(case: Case, folder: Path) -> str:
    """A blueprint, of which every kind of file is made that follows from it."""
    path = folder / FILE
    path.write_bytes(case.content)
    chance = random.Random(case.choice)
    try:
        loaded = load_plan(path, catalogue=catalogue())
        report = judge(loaded)
    except RackwrightError as error:
        words_of(error)
        return REFUSED
    for words in chance.sample(VERBS, 2):
        _run(words, folder)
    for form in chance.sample(FORMATS, 2):
        _show(replace(report, blueprint=loaded.plan.blueprint.name), form)
    if chance.random() < 0.2:
        _compare(loaded)
    return ACCEPTED


def _run(words: Sequence[str], folder: Path) -> None:
    """Run ``rackwright``; with ``--debug`` an error is raised as it is."""
    try:
        ended = run_here(folder, *words, "--debug")
    except RackwrightError as error:
        words_of(error)
        return
    assert ended.code in {0, *REFUSALS}, ended
    assert all(line.isprintable() for line in ended.out.replace("\t", " ").split("\n")), "not shown"
    shown(ended.out, "--json" in words or words == VERBS[1])


def _compare(loaded: LoadedPlan) -> None:
    base = plan_tree(_base_tree(), catalogue())
    made = compare_plans(base, loaded, sides=(WorkingTree("base"), WorkingTree("head")))
    shown(render_json(made), is_json=True)
    shown(render_comment(made), is_json=False)


@cache
def _base_tree() -> Any:
    return load_tree(builtin_pack() / "fixtures" / "air.yaml")


@cache
def template_files() -> tuple[Sequence[bytes], ...]:
    """Of the built-in templates what they ask, their texts, their tests, and a cluster's record."""
    import tempfile

    templates = list_templates()
    found = [(name, raw) for template in templates for name, raw in template.files.items()]
    with tempfile.TemporaryDirectory() as folder:
        write_blueprint(find_template("hybrid-h100"), Path(folder), {})
        record = (Path(folder) / ANSWERS_FILE).read_bytes()
    return (
        [raw for name, raw in found if name == MANIFEST],
        [raw for name, raw in found if name.endswith(SUFFIX)],
        [raw for name, raw in found if name == TEST_FILE],
        [record],
    )


def _make_template(chance: random.Random) -> Case:
    kind = chance.randrange(4)
    return Case(mutate_bytes(chance.choice(template_files()[kind]), chance), kind)


def _take_template(case: Case, folder: Path) -> None:
    """A file of a template of somebody else, or the record in somebody else's repository."""
    match case.choice:
        case 0:
            read_manifest({MANIFEST: case.content}, "t")
        case 1:
            refuse_unbounded(text_of(case.content, "t"), "t")
        case 2:
            source = TemplateSource("folder", "./t")
            read_cases(Template(source, None, None, {TEST_FILE: case.content}))
        case _:
            path = folder / ANSWERS_FILE
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(case.content)
            read_kept(folder)


ENTRIES: Mapping[str, Entry] = {
    "loader": Entry(_make_loaded, _take_loaded),
    "engine": Entry(_make_judged, _judged(_take_judged)),
    "waivers": Entry(_make_waivers, _judged(_take_waivers)),
    "baseline": Entry(_make_baseline, _judged(_take_baseline)),
    "catalogue": Entry(_make_product, _judged(_take_product)),
    "netbox": Entry(_make_device, _judged(_take_device)),
    "renderers": Entry(_make_rendered, _take_rendered),
    "templates": Entry(_make_template, _judged(_take_template)),
}


def case_of(name: str, seed: int) -> Case:
    """The case of ``seed`` for an entry: always the same."""
    return ENTRIES[name].make(random.Random(f"{name} {seed}"))
