# The two commands: `make paper` and `make test`. Both set up `.venv` first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# A Python that is asked for is the one that runs: an environment of another version is made anew.
ifneq ($(origin PYTHON),file)
VERSION := import sys; print(sys.version_info[:2])
ifneq ($(shell $(PYTHON) -c '$(VERSION)'),$(shell $(BIN)/python -c '$(VERSION)' 2>/dev/null))
$(shell rm -f $(READY))
endif
endif

.PHONY: help setup paper test test-crash test-demos test-packages checks lint types imports plain first second unit constraints format bench clean

help:
	@echo "make paper   set up .venv and reproduce the paper's table and figures in results/paper"
	@echo "make test    set up .venv and pass every check (format, lint, types, imports, tests)"
	@echo "make test-crash  kill the controller 5,000 times, and learn with missing rewards on five matrices"
	@echo "make test-demos  install the three simulators and control them (traffic, wind, radio)"
	@echo "make test-packages  build the wheel and the source archive and use each in a clean environment"
	@echo "make format  rewrite the sources in the project's format"
	@echo "make bench   measure speed ratios side by side"
	@echo "make clean   remove .venv, caches and results"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("gbb needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[dev,exact]"
	@touch $(READY)

setup: $(READY)

paper: $(READY)
	$(BIN)/gbb paper all

# What needs one core stands side by side, and the tests take two. Two workers that start without
# compiled loops would both compile the same: FIRST and SECOND, which call nearly all of them and
# mostly different ones, come before the others, beside the checks.
FIRST := tests/test_fixtures.py
SECOND := tests/test_context_engine.py

test: $(READY)
	@$(MAKE) --no-print-directory -j 2 first checks second
	@$(MAKE) --no-print-directory unit

first: $(READY)
	$(BIN)/python -m pytest $(FIRST)

second: plain
	$(BIN)/python -m pytest $(SECOND) $(if $(COVER),--cov --cov-append --cov-report=)

checks: lint types imports

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

# Kernels as plain Python, so that their lines are counted.
plain: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/test_kernels.py $(if $(COVER),--cov --cov-report=)

# With COVER=1 the lines that tests run are counted, which takes a sixth longer; .ci/run asks for it.
COVER ?=
COUNT := $(if $(COVER),--cov --cov-append --cov-report=term:skip-covered --cov-fail-under=90)
unit: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile $(FIRST:%=--ignore=%) $(SECOND:%=--ignore=%) $(COUNT)

# The long version of what `make test` does in two minutes.
test-crash: $(READY)
	GBB_CRASH_KILLS=5000 GBB_KEEPING_KILLS=500 GBB_RACING_TELLS=10000 GBB_FLIPS=4000 GBB_POWER_CUTS=2000 GBB_LEARNING_MATRICES=5 GBB_DRIFT_RUNS=100 GBB_SHARD_KILLS=1000 \
	  HYPOTHESIS_PROFILE=wide \
	  $(BIN)/python -m pytest -n 2 --dist loadfile tests/controller

# The real simulators, which `make test` does without.
DEMOS := $(VENV)/.demos
$(DEMOS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[traffic,wind,radio]"
	@touch $(DEMOS)

test-demos: $(DEMOS)
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/demos

# Builds, installs and uses what is released; it takes some minutes.
test-packages: $(READY)
	$(BIN)/python -m pytest tests/packages

constraints: $(READY)
	@(head -1 constraints.txt; $(BIN)/python -m pip freeze --exclude-editable | grep '==') > constraints.new
	@mv constraints.new constraints.txt && touch $(READY)

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench,exact]"
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/cuts.py
	$(BIN)/python benchmarks/solvers.py
	$(BIN)/python benchmarks/controller.py
	$(BIN)/python benchmarks/pipe.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage results
