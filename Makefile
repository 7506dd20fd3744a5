# make run: the default run. make test: the checks. make test-all: those that take long, too.
# Each sets up .venv first, once.
# TORCH=cpu takes PyTorch without CUDA, PYTHON=... another Python than the newest there is.

SHELL := /bin/bash
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
CORES ?= all
export PATH := $(BIN):$(PATH)
export PYTHON TORCH

.PHONY: setup setup-dev run discover discover-full test test-all test-pythons test-quick docs verify format clean

run: setup
	snakemake --cores $(CORES) $(ARGS)
	@echo 'benchc is $(VENV)/bin/benchc here, and plain benchc after: source $(VENV)/bin/activate'

# Failure discovery; discover-full tries every way to ask against `discover.brief` too.
discover discover-full: setup
	snakemake --cores $(CORES) $(subst -,_,$@) $(ARGS)

test: setup-dev
	@echo "== format and lint"
	ruff format --check .
	ruff check .
	snakefmt --check Snakefile rules
	snakemake --lint
	@echo "== spelling"
	codespell
	@echo "== types"
	mypy
	@$(MAKE) --no-print-directory docs
	@echo "== tests"
	@$(MAKE) --no-print-directory test-quick
	@echo "== the workflow, on a small run"
	pytest tests/workflow/test_plans.py tests/workflow/test_queries.py

# Every test that needs no finished default run: kills, faults, edits, recipes, other ways to run.
test-all: test
	pytest -m workflow

# The quick tests on every supported Python that PATH has, each in an environment of its own.
test-pythons:
	@for version in 3.11 3.12 3.13; do \
		if python$$version -c "" 2> /dev/null; then \
			echo "== Python $$version"; \
			$(MAKE) --no-print-directory test-quick VENV=.venvs/$$version PYTHON=python$$version \
				|| exit 1; \
		else \
			echo "== no python$$version on PATH, which is left out"; \
		fi; \
	done

test-quick: setup-dev
	pytest -m "not scale and not workflow" $(ARGS)

# Pages of the project and of its code, in build/docs; a broken link or reference is an error.
docs: setup-dev
	@echo "== documentation"
	rm -rf docs/api
	sphinx-build --conf-dir docs --fresh-env --nitpicky --fail-on-warning --keep-going --quiet . build/docs

# What needs the finished default run.
verify: run setup-dev
	pytest -m scale

format: setup-dev
	ruff format .
	ruff check --fix .
	snakefmt Snakefile rules

clean:
	rm -rf $(VENV)

setup:
	@envs/venv.sh $(VENV)

setup-dev:
	@envs/venv.sh $(VENV) dev
