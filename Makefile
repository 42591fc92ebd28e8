# Everything here sets up .venv by itself; `make` alone says what there is.
PYTHON ?= python3
OLDEST_PYTHON ?= $(PYTHON)
BIN := .venv/bin
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
PYTEST_ARGS ?=

# Tests start thousands of processes; without kept bytecode each of them would compile every module that it loads.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help run demo test test-all test-gpu pytest pytest-all lint format docs validate bench clean test-oldest release-check

help:
	@echo "make run     set up, then run the main job on built-in data"
	@echo "make demo    a small part of it, in a minute or two"
	@echo "make test    set up, then format, lint, types, layers and the tests to run before a commit"
	@echo "make test-all  the same with every test, also those of clusters, crashes, browsers and pages"
	@echo "make test-gpu  the tests of batches of layouts on the CUDA card of this machine"
	@echo "make test-oldest  the oldest versions that pyproject.toml allows, in an environment of their own"
	@echo "make release-check  whether this can be released: versions, clean tree, archives, every test"
	@echo "make lint    the checks without the tests"
	@echo "make format  put the code into its format"
	@echo "make docs    the documentation site, in build/docs; without a network"
	@echo "make validate  compute the figures of docs/validation.md again, and name those that differ"
	@echo "make bench   the benchmarks of docs/benchmarks.md"
	@echo "make clean   remove .venv and everything that was built"

# A stamp is newer than pyproject.toml when the environment is up to date: .venv/base to run, .venv/stamp to test.
.venv/base: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "vindeby needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) --version`. Try: make PYTHON=python3.12" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/stamp: .venv/base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

run: .venv/base
	$(BIN)/vindeby run energy-island -o layouts.h5
	$(BIN)/vindeby show layouts.h5 --picture map -o layouts.png

demo: .venv/base
	$(BIN)/vindeby run energy-island-quick -o demo.h5
	$(BIN)/vindeby show demo.h5 --picture map -o demo.png

# What a person runs before a commit: none of the costly kinds of tests, but one of each kind. The checks run beside the
# tests, as the types take one core for a minute.
test test-all: .venv/stamp
	@$(MAKE) --no-print-directory -j 2 lint py$@

pytest: .venv/stamp
	$(BIN)/pytest -n $(JOBS) -q -m "core or not (oracle or cluster or crash or browser or docs or slow)" $(PYTEST_ARGS)

pytest-all: .venv/stamp
	$(BIN)/pytest -n $(JOBS) $(PYTEST_ARGS)

test-gpu: .venv/stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[gpu]'
	VINDEBY_TEST_GPU=1 $(BIN)/pytest -W ignore tests/wake/gpu $(PYTEST_ARGS)

# The lower bounds of pyproject.toml hold: what they install is used from check to report.
test-oldest:
	@$(OLDEST_PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' || \
	  { echo "make test-oldest needs Python 3.11 or 3.12 for the oldest wheels; $(OLDEST_PYTHON) is `$(OLDEST_PYTHON) --version`." \
	    "Try: make test-oldest OLDEST_PYTHON=python3.12" >&2; exit 2; }
	rm -rf build/oldest
	$(OLDEST_PYTHON) -m venv build/oldest
	build/oldest/bin/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  print("\n".join(project["dependencies"]).replace(">=", "=="))' > build/oldest/requirements.txt
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r build/oldest/requirements.txt
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps .
	build/oldest/bin/python scripts/smoke_test.py

release-check: .venv/stamp
	$(BIN)/python scripts/release_check.py
	$(MAKE) test-oldest test-all

lint: .venv/stamp
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_english.py

format: .venv/stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# -W: a warning, such as a link that leads nowhere, is an error.
docs: .venv/stamp
	$(BIN)/sphinx-build -W --keep-going --quiet -b html docs build/docs
	@echo "build/docs/index.html"

validate: .venv/stamp
	$(BIN)/python scripts/validate.py

bench: .venv/stamp
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
