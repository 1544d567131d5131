# Set-up in one command: needs python3 (3.10 or later), git and make; asks before it installs anything else.

PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin
FSWIZARD = $(BIN)/fswizard
HELPER = $(DESTDIR)/usr/libexec/fswizard/privileged
AS_ROOT = $(shell [ "$$(id -u)" = 0 ] || echo sudo)
ARGS ?=

.DEFAULT_GOAL := run
.PHONY: run test test-vm check bench bench-statistics screenshots install-helper clean

run: $(VENV)/.run-ready ## Start the wizard; without a terminal, measure ext4, xfs and btrfs and print the report
	@$(FSWIZARD) doctor --needed --install > /dev/null || :
	@if [ -t 0 ] && [ -t 1 ]; then exec $(FSWIZARD); else exec $(FSWIZARD) run quick; fi

test: $(VENV)/.test-ready ## Run all tests; ARGS="--slow" adds those that take minutes
	@$(FSWIZARD) doctor --install > /dev/null || :
	$(BIN)/pytest $(ARGS)

test-vm: $(VENV)/.test-ready ## Run all tests in a virtual machine; the first time builds it. Needs qemu-system-x86 mmdebstrap genext2fs tmux
	$(BIN)/pytest --slow --numprocesses 2 --dist loadgroup tests/vm $(ARGS)

check: $(VENV)/.test-ready ## Lint, types, import rules and tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test

bench: $(VENV)/.test-ready ## Measure the program itself and its decisions; a quarter of an hour. Needs cc, fio, and root for part of it
	$(BIN)/python -m tests.bench $(ARGS)
	$(BIN)/python -m tests.bench.recordings report
	$(BIN)/python -m tests.bench.decisions --output tests/bench/DECISIONS.md

bench-statistics: $(VENV)/.test-ready ## Measure the errors of the intervals in 10,000 simulated runs of each kind
	$(BIN)/python -m tests.bench.derive_constants check

screenshots: $(VENV)/.test-ready ## Make the screenshots of README from real runs
	$(BIN)/python -m tests.tui.screenshots

install-helper: ## Give root a copy of the helper that only root can change
	$(AS_ROOT) rm -rf $(HELPER)
	$(AS_ROOT) install -d -o root -g root -m 755 $(HELPER)
	$(AS_ROOT) install -o root -g root -m 644 fswizard/privileged/*.py $(HELPER)

clean: ## Remove what the targets above made
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo 'fswizard needs Python 3.10 or later; name one with make PYTHON=...' >&2; exit 4; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || $(PYTHON) -m fswizard.system.install python3-venv
	@rm -rf $(VENV)
	@echo 'Setting up $(VENV) ...' >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 4; }

$(VENV)/.run-ready: $(VENV)/bin/python pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . >&2
	@touch $@

$(VENV)/.test-ready: $(VENV)/bin/python pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' >&2
	@touch $@ $(VENV)/.run-ready
