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

.PHONY: help setup paper test test-crash test-demos test-services test-browser test-cuda test-packages docs coverage checks lint types imports plain first second unit constraints format bench clean

help:
	@echo "make paper   set up .venv and reproduce the paper's table and figures in results/paper"
	@echo "make test    set up .venv and pass every check (format, lint, types, imports, tests)"
	@echo "make test-crash  kill the controller 5,000 times, the service 300 times and sweeps 200 times, and learn with missing rewards on five matrices"
	@echo "make test-demos  install the three simulators and control them (traffic, wind, radio)"
	@echo "make test-services  serve controllers over HTTP, run sweeps on processes, Dask and submitit, and kill controllers on SQLite and PostgreSQL"
	@echo "make test-browser  drive the page of gbb serve in a real Chromium"
	@echo "make test-cuda  compile the GPU's kernels by NVRTC and, on a machine with a GPU, play them"
	@echo "make test-packages  build the wheel and the source archive and use each in a clean environment"
	@echo "make docs    set up .venv and build the documentation site in build/site, run its examples and check its links"
	@echo "make format  rewrite the sources in the project's format"
	@echo "make bench   measure speed ratios side by side"
	@echo "make clean   remove .venv, caches and results"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("gbb needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[dev,exact,serve]"
	@touch $(READY)

setup: $(READY)

paper: $(READY)
	$(BIN)/gbb paper all

# What needs one core stands side by side, and the tests take two. Two workers that start without
# compiled loops would both compile the same: FIRST and SECOND, which call nearly all of them and
# mostly different ones, come before the others, beside the checks.
FIRST := tests/contracts/test_policies.py tests/test_context_numbers.py
SECOND := tests/test_context_engine.py
# Processes that talk to each other, to PostgreSQL and over HTTP, and are killed: make test-services.
KILLED := crash keeping_crash keeping_postgres postgres postmaster power processes
SERVICES := tests/serve tests/sweep $(KILLED:%=tests/controller/test_%.py)

test: $(READY)
	@$(MAKE) --no-print-directory -j 2 first checks second
	@$(MAKE) --no-print-directory unit

first: $(READY)
	$(BIN)/python -m pytest $(FIRST)

second: plain
	$(BIN)/python -m pytest $(SECOND) $(COUNT)

checks: lint types imports

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

# Kernels as plain Python, where a bug of theirs has a traceback; and the loops that take long to compile.
plain: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/test_kernels.py
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(SECOND) -k proposals

# With COVER=1 the lines that tests run are counted, which takes a sixth longer; .ci/run asks for it,
# and `make coverage` says what they came to.
COVER ?=
COUNT := $(if $(COVER),--cov --cov-append --cov-report=)
unit: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile $(patsubst %,--ignore=%,$(FIRST) $(SECOND) $(SERVICES)) $(COUNT)

# The long version of what `make test` does in two minutes.
test-crash: $(READY)
	GBB_CRASH_KILLS=5000 GBB_KEEPING_KILLS=500 GBB_RACING_TELLS=10000 GBB_FLIPS=4000 GBB_POWER_CUTS=2000 GBB_LEARNING_MATRICES=5 GBB_DRIFT_RUNS=100 GBB_SHARD_KILLS=1000 GBB_SWEEP_KILLS=200 \
	  HYPOTHESIS_PROFILE=wide \
	  $(BIN)/python -m pytest -n 2 --dist loadfile tests/controller tests/sweep
	GBB_SERVE_KILLS=100 GBB_FUZZ=5500 $(BIN)/python -m pytest tests/serve
	GBB_LOOPS=2 $(BIN)/python -m pytest $(SECOND) -k proposals

# The real simulators, which `make test` does without.
DEMOS := $(VENV)/.demos
$(DEMOS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[traffic,wind,radio]"
	@touch $(DEMOS)

test-demos: $(DEMOS)
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/demos

test-services: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile $(SERVICES) $(COUNT)

coverage: $(READY)
	$(BIN)/coverage report --skip-covered --fail-under=90

# The page of the service. GBB_SCREENSHOTS names a folder for pictures of it.
BROWSERS := chromium chromium-browser google-chrome
test-browser: $(READY)
	@for each in $(BROWSERS); do command -v $$each >/dev/null && exit 0; done; \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && { apt-get update -qq; apt-get install --yes -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; } \
	  || { echo "make test-browser needs Chromium; on Debian: sudo apt-get install chromium" >&2; exit 2; }
	$(BIN)/python -m pytest tests/browser

# NVRTC compiles without a GPU; what plays is skipped where there is none.
CUDA := $(VENV)/.cuda
$(CUDA): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[cuda]"
	@touch $(CUDA)

test-cuda: $(CUDA)
	$(BIN)/python -m pytest tests/test_cuda.py tests/test_cuda_given.py tests/gpu

# Builds, installs and uses what is released; it takes some minutes.
test-packages: $(READY)
	$(BIN)/python -m pytest tests/packages

# The site: examples run, warnings are errors, links inside it are followed.
DOCS := $(VENV)/.docs
$(DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[docs]"
	@touch $(DOCS)

docs: $(DOCS)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --jobs 2 --builder html -d build/doctrees docs build/site
	$(BIN)/python docs/_ext/check_site.py build/site
	@echo "Open build/site/index.html"

constraints: $(READY)
	@(head -1 constraints.txt; $(BIN)/python -m pip freeze --exclude-editable | grep '==') > constraints.new
	@mv constraints.new constraints.txt && touch $(READY)

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench,exact]"
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/peers.py couples
	$(BIN)/python benchmarks/solvers.py optima
	$(BIN)/python benchmarks/solvers.py cuts
	for part in log pipe service; do $(BIN)/python benchmarks/controller.py $$part; done

clean:
	rm -rf $(VENV) build docs/api docs/gallery docs/learn docs/sg_execution_times.rst .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage results
