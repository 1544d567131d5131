# Set-up in one command: needs python3 (3.10 or later), git and make; asks before it installs anything else.

PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin
FSWIZARD = $(BIN)/fswizard
ARGS ?=
DOCUMENT ?=
PYTEST = $(BIN)/pytest --numprocesses $(WORKERS) --dist loadgroup
WORKERS ?= $(shell expr 2 '*' $$(nproc))
PARTS = loop time statistics vm uml packages
PART ?=
TIMED = tests/loop/test_pairs.py tests/loop/test_estimates.py tests/loop/test_same_against_same.py tests/long/simulated

# What was moved, or has outlived its Python, is made anew.
ifneq ($(wildcard $(VENV)),)
ifeq ($(shell exec 2> /dev/null; grep -qF "$$(cd $(VENV) && pwd -P)" $(BIN)/activate && $(BIN)/python -c 'import pip' && echo whole),)
$(shell rm -rf $(VENV))
endif
endif

.DEFAULT_GOAL := run
.PHONY: help run test quick lint test-all $(PARTS:%=slow-%) reproduce bench screenshots messages lock clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

run: $(VENV)/.run-ready ## Start the wizard; without a terminal, measure ext4, xfs and btrfs and print the report
	@$(FSWIZARD) doctor --needed --install > /dev/null || :
	@if [ -t 0 ] && [ -t 1 ]; then exec $(FSWIZARD); else exec $(FSWIZARD) run quick; fi

test: $(VENV)/.test-ready ## Run the tests: units, screens, loop devices, simulated disks, faults; under eight minutes
	@$(FSWIZARD) doctor --install > /dev/null || :
	$(PYTEST) --durations=10 $(ARGS)

quick: lint $(VENV)/.test-ready ## What to run before each commit, under 90 seconds: lint, types, imports, units, a smoke of the screens
	$(PYTEST) tests/unit $(ARGS)
	$(PYTEST) -m smoke tests/tui $(ARGS)

lint: $(VENV)/.test-ready ## Lint, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-all: $(if $(PART),$(PART:%=slow-%),lint test $(PARTS:%=slow-%)) ## Run everything, also what is slow on purpose; PART=loop, time, statistics, vm, uml or packages runs that part alone

# Kills at every step of every process, hostile input in full, every workload on every filesystem, arrays, drivers
slow-loop: $(VENV)/.test-ready
	$(PYTEST) -m slow --slow tests/loop $(TIMED:%=--ignore %) $(ARGS)

# The same work done by hand, estimates of time, a filesystem against itself, disks at the speed of real ones; needs a
# quiet machine
slow-time: $(VENV)/.test-ready
	$(BIN)/pytest -m slow --slow $(TIMED) $(ARGS)

# Simulations in full, the wheel, a browser
slow-statistics: $(VENV)/.test-ready
	$(PYTEST) -m slow --slow tests/unit $(ARGS)

# Other kernels and disks in a virtual machine, which the first run builds
slow-vm: WORKERS = 2
slow-vm: $(VENV)/.test-ready
	$(PYTEST) --slow tests/long/vm $(ARGS)

# Real filesystems and the program on simulated disks in simulated time; the first run builds the kernel
slow-uml: $(VENV)/.test-ready
	$(BIN)/pytest -m slow --slow tests/long/uml $(ARGS)

reproduce: $(VENV)/.test-ready ## Run the published experiments again and write the page on them; hours. DOCUMENT= names one. Needs what PART=vm needs
	$(BIN)/python -m tests.long.reproduce $(DOCUMENT) $(ARGS)

bench: $(VENV)/.test-ready ## Measure the program itself and whether promised times are kept; an hour. Needs cc, fio, and root for part of it
	$(BIN)/python -m tests.long.bench $(ARGS)

screenshots: $(VENV)/.test-ready ## Make the screenshots of README from real runs
	$(BIN)/python -m tests.tui.screenshots

messages: $(VENV)/.test-ready ## Collect all sentences, merge them into the translations, say what is missing, compile them
	@$(BIN)/python packaging/messages.py $(ARGS)

lock: $(VENV)/bin/python ## Pin anew what the tests need, each version with its hashes
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.10 --extra dev --generate-hashes --no-annotate \
		--no-emit-index-url --custom-compile-command 'make lock' --output-file requirements-dev.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.10 --group package --generate-hashes --no-annotate \
		--no-emit-index-url --custom-compile-command 'make lock' --output-file packaging/requirements.txt

clean: ## Remove what the targets above made
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo 'fswizard needs Python 3.10 or later; name one with make PYTHON=...' >&2; exit 4; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || \
		$$(command -v sudo) sh -c 'apt-get update && apt-get install python3-venv'
	@rm -rf $(VENV)
	@echo 'Setting up $(VENV) ...' >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 4; }

# All that pip says of a machine without network is thirty lines; of other faults it is shown.
define pip_install
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(1) > $(VENV)/pip.log 2>&1 || { \
		if grep -q 'Retrying (' $(VENV)/pip.log; \
		then echo 'Python packages could not be fetched: connect this machine to the network and try again.'; \
		else cat $(VENV)/pip.log; fi >&2; exit 4; }
endef

$(VENV)/.run-ready: $(VENV)/bin/python pyproject.toml
	$(call pip_install,--editable .)
	@touch $@

$(VENV)/.test-ready: $(VENV)/bin/python pyproject.toml requirements-dev.txt
	$(call pip_install,--require-hashes --requirement requirements-dev.txt)
	$(call pip_install,--no-deps --no-build-isolation --editable .)
	@touch $@ $(VENV)/.run-ready

-include packaging/packages.mk
