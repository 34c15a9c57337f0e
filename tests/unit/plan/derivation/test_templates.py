"""The short forms of the templates, and of a hall of DGX H200, against what is written in full."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.catalog.loader import load_catalogue
from rackwright.plan.load import LoadedPlan, plan_tree
from rackwright.render.blueprints import find_template
from rackwright.render.full_form import full_yaml
from rackwright.resources import repository
from rackwright.spec.loader import tree_of
from rackwright.spec.yaml_reader import read_text
from rackwright.templating import render_file

SHORT = Path(__file__).parent / "short"
CATALOGUE = load_catalogue()
DIGEST = f"sha256:{0:064}"


def planned(text: str) -> LoadedPlan:
    return plan_tree(tree_of([read_text(text, "blueprint.yaml")]), CATALOGUE)
