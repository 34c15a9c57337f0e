# Two commands set everything up on a fresh machine: `make demo` and `make test`.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:
.SILENT:

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO ?= .rackwright/demo

help: ## Show this list
	grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

# What the lab boots hosts with, and what tests drive for real: Slurm and an InfiniBand simulator.
PROGRAMS := git:git debootstrap:debootstrap systemd-nspawn:systemd-container ip:iproute2 \
  ssh:openssh-client apt-ftparchive:apt-utils slurmctld:slurmctld scontrol:slurm-client \
  munged:munge ibsim:ibsim-utils opensm:opensm ibnetdiscover:infiniband-diags

system: ## Install the Debian packages that are missing (as root only)
	missing=()
	$(PYTHON) -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
	for entry in $(PROGRAMS); do
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

$(STAMP): pyproject.toml
	$(MAKE) --no-print-directory system
	[[ -x $(BIN)/python ]] || $(PYTHON) -m venv $(VENV)
	# Python compiles what is imported; all that the SDKs of clouds bring would take a minute.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[local,dev]'
	touch $@

venv: $(STAMP) ## Create the virtual environment

tools: system $(STAMP) ## Install the Pulumi CLI into the user's cache
	$(BIN)/rackwright tools install

receptor: $(STAMP) ## Build Receptor into the user's cache, for runs of Ansible on several machines
	if [[ $$(id -u) == 0 && ! -x /usr/lib/go-1.19/bin/go ]] && command -v apt-get >/dev/null &&
	    ! $(BIN)/python -c 'from rackwright.provision.tools import *; need_receptor()' 2>/dev/null; then
	  export DEBIAN_FRONTEND=noninteractive
	  apt-get update -q && apt-get install -y -q --no-install-recommends golang-1.19-go
	fi
	$(BIN)/rackwright tools install receptor || [[ $$(id -u) != 0 ]]  # its test needs root as well

roles-docs: $(STAMP) ## Write the README of each role anew
	UPDATE_GOLDEN=1 $(BIN)/pytest -q tests/unit/configure/test_roledoc.py

demo: tools ## Run the main job on the embedded defaults
	RACKWRIGHT=$(BIN)/rackwright DEMO=$(DEMO) $(BIN)/python tests/demo.py

lint: $(STAMP) ## Check style and types
	$(MAKE) --no-print-directory --jobs 2 --output-sync lint-python lint-ansible

lint-python: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lint-ansible: $(STAMP)
	$(BIN)/yamllint --strict .
	PATH="$(abspath $(BIN)):$$PATH" ANSIBLE_ROLES_PATH=roles \
	  $(BIN)/ansible-lint -q --offline roles stacks/baremetal

test: tools receptor lint ## Run every test
	$(BIN)/pytest -n 2 --dist loadgroup -m 'not e2e and not bench'
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=40 -m e2e
	RACKWRIGHT_BENCH_RUNS=1 $(BIN)/pytest -m bench -s

bench: tools ## Measure against peers, as medians
	$(BIN)/pytest -m bench -s

clean: ## Remove what was built in the tree
	rm -rf $(VENV) .rackwright dist build .pytest_cache .mypy_cache .ruff_cache

.PHONY: help system venv tools receptor roles-docs demo lint lint-python lint-ansible test bench clean
