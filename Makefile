# The two commands: `make paper` and `make test`. Both set up `.venv` first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup paper test lint types imports unit constraints format bench clean

help:
	@echo "make paper   set up .venv and reproduce the paper's table and figures in results/paper"
	@echo "make test    set up .venv and pass every check (format, lint, types, imports, tests)"
	@echo "make format  rewrite the sources in the project's format"
	@echo "make bench   measure speed ratios side by side"
	@echo "make clean   remove .venv, caches and results"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("gbb needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $(READY)

setup: $(READY)

paper: $(READY)
	$(BIN)/gbb paper all

test: lint types imports unit

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

unit: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/test_kernels.py --cov --cov-report=
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-append --cov-report=term:skip-covered --cov-fail-under=90

constraints: $(READY)
	@(head -1 constraints.txt; $(BIN)/python -m pip freeze --exclude-editable | grep '==') > constraints.new
	@mv constraints.new constraints.txt && touch $(READY)

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	$(BIN)/python benchmarks/engine.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage results
