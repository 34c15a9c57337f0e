"""Examples of policies: small blueprints with the verdict that must come of them.

An example takes a base blueprint from the pack's ``fixtures`` folder, puts a layer over it,
changes catalogue entries if need be, and says what the policy must find.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from rackwright.catalog.loader import Catalogue, load_catalogue
from rackwright.errors import RackwrightError, SpecError, SpecErrors
from rackwright.model.base import MaybeEmpty, Model
from rackwright.model.cluster import PolicySetting
from rackwright.model.quantities import format_quantity
from rackwright.plan.load import LoadedPlan, plan_tree
from rackwright.policy.api import TOLERANCE, Outcome, Policy
from rackwright.policy.engine import Result, evaluate
from rackwright.policy.packs.loader import builtin_rules, examples, policy_file, rule_files
from rackwright.policy.settings import configure
from rackwright.reading.layering import merge
from rackwright.reading.loader import load_tree
from rackwright.reading.tree import Item, KeyValue, Tree, to_data
from rackwright.reading.yaml_reader import read_bytes, read_raw

KINDS = ("pass", "fail", "boundary", "unknown")
"""Each policy has an example of every kind."""


class ExpectedFinding(Model):
    """Finding that an example expects.

    A value or limit is a number in the canonical unit, or the text that a report shows.
    """

    outcome: Outcome
    at: MaybeEmpty = ""
    """Text in the name of the subject."""
    what: MaybeEmpty = ""
    """Text in what is measured or in the message."""
    value: float | str | None = None
    limit: float | str | None = None
    count: int | None = None
    """Number of results with this outcome."""


class Example(Model):
    """One example of a policy."""

    name: str
    kind: Literal["pass", "fail", "boundary", "unknown"]
    base: str
    layer: dict[str, Any] = {}
    catalogue: dict[str, dict[str, Any]] = {}
    parameters: dict[str, Any] = {}
    """Parameters of the policy, over those that the blueprint sets in ``policies``."""
    today: dt.date | None = None
    """The day that it is judged for."""
    expect: ExpectedFinding


_EXAMPLES = TypeAdapter(tuple[Example, ...])


def load_examples(policy: type[Policy]) -> tuple[Example, ...]:
    """Return the examples beside the policy's file.

    Raises:
        SpecErrors: the file is not a list of examples.
    """
    path = examples(policy)
    tree = load_tree(path)
    try:
        return _EXAMPLES.validate_python(tree.data)
    except ValidationError as error:
        raise SpecErrors(
            [
                SpecError(f"{tree.describe(loc)}: {detail['msg']}", location=tree.locate(loc))
                for detail in error.errors()
                for loc in [tuple(detail["loc"])]
            ]
        ) from None


def run_example(policy: type[Policy], example: Example, pack: Path) -> str | None:
    """Return why the example does not hold; None if it does."""
    try:
        results = judge(policy, example, pack)
    except RackwrightError as error:
        return f"the blueprint of the example is not valid:\n{error}"
    return compare(example, results)


def judge(policy: type[Policy], example: Example, pack: Path) -> tuple[Result, ...]:
    """Return the results of the policy on the blueprint of the example."""
    path = _base(example, pack)
    layer, catalogue = json.dumps(example.layer), json.dumps(example.catalogue)
    tree, loaded = _planned(pack, path, read_raw(path), layer, catalogue)
    return judge_plan(policy, example, tree, loaded)


def document(example: Example, pack: Path) -> Tree:
    """Return the blueprint of the example."""
    path = _base(example, pack)
    return _layered(pack, path, read_raw(path), example.layer)


@lru_cache(maxsize=512)
def _planned(
    pack: Path, path: Path, content: bytes, layer: str, catalogue: str
) -> tuple[Tree, LoadedPlan]:
    """Return a blueprint and its plan, which examples of many policies share; what changes them is JSON."""
    tree = _layered(pack, path, content, json.loads(layer))
    return tree, _plan(tree, json.loads(catalogue))


def _base(example: Example, pack: Path) -> Path:
    return pack / "fixtures" / f"{example.base}.yaml"


def _layered(pack: Path, path: Path, content: bytes, layer: Mapping[str, Any]) -> Tree:
    root = read_bytes(content, str(path))
    if layer:
        root = merge(root, _item(layer))
    return Tree(root, to_data(root), (str(pack),))


def _plan(tree: Tree, catalogue: Mapping[str, Mapping[str, Any]]) -> LoadedPlan:
    return plan_tree(tree, _catalogue().patched(catalogue))


def judge_plan(
    policy: type[Policy], example: Example, tree: Tree, loaded: LoadedPlan
) -> tuple[Result, ...]:
    """Return the results of the policy on a plan, with the parameters and the date of the example.

    Raises:
        SpecErrors: the blueprint sets a policy that does not exist.
    """
    set_here = loaded.plan.policies
    if set_here and (unknown := sorted(set(set_here) - _known_ids(policy))):
        raise SpecErrors([SpecError(f"policies: there is no policy '{unknown[0]}'")])
    own = set_here.get(policy.id, PolicySetting()).parameters
    chosen = {**own, **example.parameters}
    settings = {policy.id: PolicySetting(parameters=chosen)}
    data = {"policies": {policy.id: {"parameters": chosen}}}
    parameters = Tree(_item(data), data, ("<example>",))
    (configured,) = configure([policy], settings, parameters)
    return evaluate(loaded.plan, [configured.on(example.today)], {}, tree.locate).results


def _known_ids(policy: type[Policy]) -> set[str]:
    """Return the ids of the built-in policies and, by their file names, of the pack of ``policy``."""
    stems = (path.stem for path in rule_files(policy_file(policy).parents[1]))
    own = (re.sub(r"^([a-z]+)(\d+)_.*", r"\1-\2", stem).upper() for stem in stems)
    return {*own, *(rule.id for rule in builtin_rules())}


@lru_cache(maxsize=1)
def _catalogue() -> Catalogue:
    return load_catalogue()


def _item(value: Any) -> Item:
    """Return plain data as a document without positions."""
    if isinstance(value, Mapping):
        value = {key: KeyValue(_item(child), 1, 1) for key, child in value.items()}
    elif isinstance(value, list):
        value = [_item(child) for child in value]
    return Item(value, "<example>", 1, 1)


def _near(expect: ExpectedFinding, results: tuple[Result, ...]) -> list[Result]:
    """Return the results about what the example names, whatever their outcome."""
    return [
        r
        for r in results
        if expect.at in r.subject.name and (expect.what in r.what or expect.what in r.message)
    ]


def matching(example: Example, results: tuple[Result, ...]) -> list[Result]:
    """Return the results that the example expects."""
    near = _near(example.expect, results)
    return [result for result in near if result.outcome is example.expect.outcome]


def compare(example: Example, results: tuple[Result, ...]) -> str | None:
    """Return the reason why ``results`` differ from the example's expectation; None if they do not."""
    expect = example.expect
    near = _near(expect, results)
    found = matching(example, results)
    if not found:
        return f"no result is '{expect.outcome}' at '{expect.at}': {_list(results)}"
    if example.kind in {"pass", "boundary"} and any(r.outcome is not expect.outcome for r in near):
        return f"something at '{expect.at}' is not '{expect.outcome}': {_list(tuple(near))}"
    if expect.count is not None and len(found) != expect.count:
        return f"{len(found)} results are '{expect.outcome}', not {expect.count}: {_list(results)}"
    for name in ("value", "limit"):
        wanted = getattr(expect, name)
        if wanted is not None and not any(_same(getattr(r, name), wanted, r.unit) for r in found):
            return f"no {name} is {wanted}: {_list(tuple(found))}"
    at_limit_needed = example.kind == "boundary" and expect.outcome is Outcome.PASS
    if at_limit_needed and not any(_at_limit(r) for r in found):
        return f"no value is at its limit: {_list(tuple(found))}"
    return None


def _same(actual: float | None, wanted: float | str, unit: str) -> bool:
    if actual is None:
        return False
    if isinstance(wanted, str):
        return format_quantity(actual, unit) == wanted
    return abs(actual - wanted) <= 1e-6 * max(1.0, abs(wanted))


def _at_limit(result: Result) -> bool:
    if result.value is None or result.limit is None:
        # A rule without a number has no limit to be at; its boundary is the last case that passes.
        return not result.unit
    slack = TOLERANCE * max(abs(result.value), abs(result.limit))
    return abs(result.value - result.limit) <= slack


def _list(results: tuple[Result, ...]) -> str:
    return "; ".join(f"{r.outcome} {r.subject.name}: {r.message}" for r in results) or "nothing"
