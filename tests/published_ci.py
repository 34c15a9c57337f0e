"""The action and the component that others name: made of what ``ci init`` writes, with another installation.

``UPDATE_GOLDEN=1 pytest tests/unit/render/test_published_ci.py`` writes both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from suites import ROOT

ACTION, COMPONENT = ROOT / "action.yml", ROOT / "templates/check.yml"
_GITHUB = ROOT / "templates/ci/github/action/action.yml"
_GITLAB = ROOT / "templates/ci/gitlab/rackwright.gitlab-ci.yml.j2"

_ACTION_HEAD = """# Made by tests/published_ci.py. In a workflow of pull requests, after a checkout with 'fetch-depth: 0':
#   - uses: OWNER/rackwright@COMMIT
#     with: {blueprint: site/blueprint.yaml}
name: Rackwright
description: Checks a blueprint of a GPU cluster, compares it with the base and comments on the pull request
branding: {icon: server, color: green}
inputs:
  python:
    description: Python of version 3.11 or newer
    default: python3
"""
_INSTALL = """    - name: Install
      shell: bash
      env:
        PYTHON: ${{ inputs.python }}
      run: |  # zizmor: ignore[github-env] no input is in what is written
        set -euo pipefail
        if ! "$PYTHON" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
          echo "::error title=rackwright::Python 3.11 or newer is needed"
          exit 2
        fi
        venv="$RUNNER_TEMP/rackwright-venv"
        "$PYTHON" -I -m venv "$venv"
        pip=("$venv/bin/python" -I -m pip --quiet --disable-pip-version-check)
        # Wheels alone, each by its digest; then the package of the commit that this action is of.
        for lock in requirements build; do
          "${pip[@]}" install --no-compile --no-deps --only-binary :all: --require-hashes \\
            --requirement "$GITHUB_ACTION_PATH/templates/ci/lock/$lock.txt"
        done
        "${pip[@]}" install --no-compile --no-deps --no-build-isolation --no-cache-dir -- "$GITHUB_ACTION_PATH"
        "${pip[@]}" check
        echo "$venv/bin" >>"$GITHUB_PATH"
"""
_BASE = "whose waivers, baseline and policy settings count, and to compare with; empty compares nothing\n"
_COMPONENT_HEAD = """# Made by tests/published_ci.py. In .gitlab-ci.yml:
#   include:
#     - component: $CI_SERVER_FQDN/GROUP/rackwright/check@COMMIT
#       inputs: {blueprint: site/blueprint.yaml, source: https://gitlab.example.com/GROUP/rackwright.git@COMMIT}
spec:
  inputs:
    blueprint:
      description: Path of the blueprint
      default: blueprint.yaml
    source:
      description: Address of a repository of Rackwright with the full commit to install, as URL@COMMIT
    stage:
      description: Stage of the job
      default: test
---
.rackwright:
  image: python:3.12-slim-bookworm
  variables:
    GIT_DEPTH: "0"  # the base is read from git
    BLUEPRINT: $[[ inputs.blueprint ]]
    RACKWRIGHT_SOURCE: $[[ inputs.source ]]
  before_script:
    - set -euo pipefail
    - command -v git >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends git; }
    - address=${RACKWRIGHT_SOURCE%@*} commit=${RACKWRIGHT_SOURCE##*@}
    - '[[ "$commit" =~ ^[0-9a-f]{40}$ ]] || { echo "the input source does not end with @COMMIT, all 40 digits"; exit 2; }'
    # Whatever the change puts here is not what runs.
    - rm -rf -- "$CI_PROJECT_DIR/.rackwright"
    - git init --quiet "$CI_PROJECT_DIR/.rackwright/source"
    - git -C "$CI_PROJECT_DIR/.rackwright/source" fetch --quiet --depth 1 "$address" "$commit"
    - git -C "$CI_PROJECT_DIR/.rackwright/source" checkout --quiet FETCH_HEAD
    - python3 -I -m venv "$CI_PROJECT_DIR/.rackwright/venv"
    - export PATH="$CI_PROJECT_DIR/.rackwright/venv/bin:$PATH"
    # Wheels alone, each by its digest; then the package of that commit.
    - >-
      for lock in requirements build; do
      python3 -I -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --only-binary :all:
      --require-hashes --requirement "$CI_PROJECT_DIR/.rackwright/source/templates/ci/lock/$lock.txt"; done
    - >-
      python3 -I -m pip install --quiet --disable-pip-version-check --no-compile --no-deps
      --no-build-isolation --no-cache-dir -- "$CI_PROJECT_DIR/.rackwright/source"
    - python3 -I -m pip check

"""


def action() -> str:
    """The text of the action: its inputs and steps, with the installation before them."""
    text = _GITHUB.read_text(encoding="utf-8")
    inputs = text.partition("inputs:\n")[2]
    before, _, default = inputs.partition(_BASE)
    assert default.startswith('    default: ""\n'), "the base is compared with nothing by default"
    base = f"    default: ${{{{ github.event.pull_request.base.sha }}}}\n{default.partition(chr(10))[2]}"
    head, steps, rest = f"{before}{_BASE}{base}".partition("  steps:\n")
    return f"{_ACTION_HEAD}{head}{steps}{_INSTALL}{rest}"


def component() -> str:
    """The text of the component: the job that checks, with another installation before it."""
    text = _GITLAB.read_text(encoding="utf-8")
    base = text.index("# The target branch as it is now")
    shared = text[base : text.index(".rackwright-aws:")]
    job = text[text.index("rackwright-check:") : text.index("rackwright-preview:")]
    staged = job.replace("  stage: test\n", "  stage: $[[ inputs.stage ]]\n")
    assert staged != job
    return f"{_COMPONENT_HEAD}{shared}{staged.rstrip()}\n"


def component_with(**inputs: str) -> str:
    """The component as GitLab puts it into a pipeline."""
    head, _, body = COMPONENT.read_text(encoding="utf-8").partition("\n---\n")
    spec: dict[str, Any] = yaml.safe_load(head)["spec"]["inputs"]
    for name, entry in spec.items():
        body = body.replace(f"$[[ inputs.{name} ]]", inputs.get(name) or entry["default"])
    assert "$[[" not in body
    return body


def texts() -> dict[Path, str]:
    """The text of each file."""
    return {ACTION: action(), COMPONENT: component()}
