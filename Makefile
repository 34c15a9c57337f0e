# Two commands set everything up on a fresh machine: `make demo` and `make test`.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:
.SILENT:

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
STAMP := $(VENV)/.installed
DEMO ?= .rackwright/demo
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# Python keeps what it compiles of the modules that are imported: each of some thousand programs that
# tests start would compile them again.
unexport PYTHONDONTWRITEBYTECODE

help: ## Show this list
	grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

# What the lab boots hosts with, and what tests drive for real: Slurm, an InfiniBand simulator, and what checks
# zones of the DNS and subnets of DHCP, and a browser.
PROGRAMS := git:git debootstrap:debootstrap systemd-nspawn:systemd-container ip:iproute2 \
  ssh:openssh-client apt-ftparchive:apt-utils slurmctld:slurmctld scontrol:slurm-client \
  munged:munge ibsim:ibsim-utils opensm:opensm ibnetdiscover:infiniband-diags \
  named-checkzone:bind9-utils kea-dhcp4:kea-dhcp4-server chromium:chromium

# $(1): entries PROGRAM:PACKAGE. Installs the Debian packages of those that are missing, as root only.
define install_packages
missing=()
$(PYTHON) -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
for entry in $(1); do
  PATH="$$PATH:/usr/sbin:/sbin" command -v "$${entry%%:*}" >/dev/null || missing+=("$${entry##*:}")
done
if (( $${#missing[@]} )); then
  if [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -y -q --no-install-recommends "$${missing[@]}"
  elif ! command -v git >/dev/null || ! $(PYTHON) -c 'import ensurepip' 2>/dev/null; then
    echo "please install: $${missing[*]}" >&2; exit 1
  else
    echo "not installed, so what needs them is left out: $${missing[*]}" >&2
  fi
fi
endef

system: ## Install the Debian packages that are missing (as root only)
	$(call install_packages,$(PROGRAMS))

# What judges a blueprint, and no more: it is there within a minute.
$(CORE): pyproject.toml
	$(call install_packages,git:git)
	[[ -x $(BIN)/python ]] || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

$(STAMP): $(CORE)
	$(MAKE) --no-print-directory system
	$(PIP) --editable '.[dev]'
	touch $@

venv: $(STAMP) ## Create the virtual environment

tools: $(STAMP) ## Install the Pulumi CLI and its AWS provider into the user's cache
	$(BIN)/rackwright tools install pulumi aws-provider

roles-docs: $(STAMP) ## Write the README of each role
	UPDATE_GOLDEN=1 $(BIN)/pytest -q tests/unit/test_role_documents.py

systems-docs: $(STAMP) ## Write the table of supported systems into the documents and the role base
	UPDATE_GOLDEN=1 $(BIN)/pytest -q tests/unit/model/test_systems.py

suites-docs: $(STAMP) ## Write the table of suites in tests/README.md
	UPDATE_GOLDEN=1 $(BIN)/pytest -q tests/unit/test_suites.py

# Of the locks that are there, versions are kept as long as they fit; UPGRADE=--upgrade takes the newest.
# What builds the package is apart: only CI that installs a commit needs it.
LOCK := templates/ci/lock
COMPILE = $(BIN)/uv --no-config pip compile --quiet --universal --python-version 3.11 \
  --generate-hashes --only-binary :all: --no-header --no-annotate $(UPGRADE)

lock: $(STAMP) ## Lock what CI installs, each file by its digest
	$(COMPILE) --extra aws --extra configure --output-file $(LOCK)/requirements.txt pyproject.toml
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' |
	  $(COMPILE) --constraint $(LOCK)/requirements.txt --no-emit-package packaging --output-file $(LOCK)/build.txt -

DIST ?= dist

release: $(STAMP) ## Build wheel, sdist, SBOM and provenance into DIST, from a clean checkout
	$(BIN)/python .ci/release/release.py build $(DIST)

sbom: $(STAMP) ## Write only the SBOM, from the locks, into DIST
	$(BIN)/python .ci/release/release.py sbom $(DIST)

demo: $(CORE) ## Run the main job on the embedded defaults
	export RACKWRIGHT=$(BIN)/rackwright DEMO=$(DEMO)
	$(BIN)/python tests/demo.py judge
	$(MAKE) --no-print-directory tools
	$(BIN)/python tests/demo.py deploy

# Strict: a link that leads nowhere, a page that the navigation lacks or a resource of another host ends it.
# MkDocs' own --quiet would hide warnings from what counts them. $(1): the folder to write to.
define mkdocs
said=$$(NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --config-file .ci/site/mkdocs.yml --site-dir $(1) 2>&1) ||
  { grep -v '^INFO' <<< "$$said"; exit 1; }
endef

# Versions are folders beside each other; the newest is named `latest`, and the top leads there.
docs: $(STAMP) ## Build the documentation of this version into site/
	version=$$($(BIN)/python -c 'import rackwright; print(rackwright.__version__)')
	$(call mkdocs,"$(abspath site)/$$version")
	$(BIN)/python .ci/site/versions.py site "$$version"
	echo "site/$$version/index.html"

lint: $(STAMP) ## Check style, types and documentation
	$(MAKE) --no-print-directory --jobs 2 --output-sync --keep-going \
	  lint-types lint-ansible lint-docs lint-ruff lint-imports lint-format lint-yaml lint-spelling

lint-types: $(STAMP)
	$(BIN)/mypy

lint-ansible: $(STAMP)
	PATH="$(abspath $(BIN)):$$PATH" ANSIBLE_ROLES_PATH=roles \
	  $(BIN)/ansible-lint -q --offline roles stacks/baremetal

lint-docs: $(STAMP)
	folder=$$(mktemp -d)
	trap 'rm -rf "$$folder"' EXIT
	$(call mkdocs,"$$folder")

lint-ruff: $(STAMP)
	$(BIN)/ruff check .

lint-imports: $(STAMP)
	$(BIN)/lint-imports --no-cache --no-logo

lint-format: $(STAMP)
	$(BIN)/ruff format --check .

lint-yaml: $(STAMP)
	$(BIN)/yamllint --strict .

lint-spelling: $(STAMP)
	git ls-files -z | xargs -0 $(BIN)/codespell

quick: $(STAMP) ## Check style, types and tests of what was changed, within a minute
	$(BIN)/python tests/quick.py $(BASE)

test: $(STAMP) ## Run lint, unit tests and four journeys
	$(BIN)/python tests/run_suites.py test

test-all: $(STAMP) ## Run every suite, on the next Python and the oldest dependencies too
	$(BIN)/python tests/run_suites.py all

soak: $(STAMP) ## Run for hours: drawn seeds, many examples, every unit test on the next Python
	$(BIN)/python tests/run_suites.py soak

# What .ci/run calls: `make test`, then the suites that the change touches.
test-change: $(STAMP)
	$(BIN)/python tests/run_suites.py ci

test-next-python: $(STAMP)
	$(BIN)/python tests/other_environments.py next-python $(WHOLE)

test-oldest-dependencies: $(STAMP)
	$(BIN)/python tests/other_environments.py oldest-dependencies $(WHOLE)

bench: tools ## Measure against peers, as medians
	$(BIN)/pytest -m bench -s

clean: ## Remove what was built in the tree
	rm -rf $(VENV) .rackwright dist build site .pytest_cache .mypy_cache .ruff_cache

.PHONY: help system venv tools roles-docs suites-docs lock release sbom demo docs \
  lint lint-types lint-ansible lint-docs lint-ruff lint-imports lint-format lint-yaml lint-spelling quick test test-all soak \
  test-change test-next-python test-oldest-dependencies bench clean
