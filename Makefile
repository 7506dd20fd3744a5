# make run: the default run. make test: every check. Both set up .venv first, once.

SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
CORES ?= all
export PATH := $(BIN):$(PATH)

.PHONY: run discover discover-full test docs verify format clean

run: $(VENV)/ready
	snakemake --cores $(CORES) $(ARGS)

# Failure discovery; discover-full tries every way to ask against `discover.brief` too.
discover discover-full: $(VENV)/ready
	snakemake --cores $(CORES) $(subst -,_,$@) $(ARGS)

test: $(VENV)/ready-dev
	@echo "== format and lint"
	ruff format --check .
	ruff check .
	snakefmt --check Snakefile rules
	snakemake --lint
	@echo "== types"
	mypy
	@$(MAKE) --no-print-directory docs
	@echo "== tests"
	pytest -m "not scale"

# Pages of the project and of its code, in build/docs; a broken link or reference is an error.
docs: $(VENV)/ready-dev
	@echo "== documentation"
	rm -rf docs/api
	sphinx-build --conf-dir docs --fresh-env --nitpicky --fail-on-warning --keep-going --quiet . build/docs

# What needs the finished default run.
verify: run $(VENV)/ready-dev
	pytest -m scale

format: $(VENV)/ready-dev
	ruff format .
	ruff check --fix .
	snakefmt Snakefile rules

clean:
	rm -rf $(VENV)

$(VENV)/ready: envs/requirements.lock pyproject.toml
	@echo "== setting up $(VENV) (a few minutes, about 6.5 GB)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps -r envs/requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps -e .
	touch $@

$(VENV)/ready-dev: $(VENV)/ready envs/requirements-dev.lock envs/requirements-servers.txt
	@echo "== adding what the tests need"
	$(BIN)/python -m pip install --quiet --no-deps -r envs/requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps -r envs/requirements-servers.txt
	touch $@
