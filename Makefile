# Everything runs in a virtual environment in .venv; only Python 3.11+ and make have to be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The package alone, without the tools of developers: 541 MB, not 2.6 GB.
INSTALLED := $(VENV)/.installed
# Hundreds of tests start the command: where Python may not keep what it compiled, each compiles all of it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo quick test long goldens check coverage format-check lint types docs docs-check site wheel-check bench corrupt mutate score fixtures wheelhouse lock clean

help:
	@echo "make demo      install smfparse in .venv, generate a simulated day with a slow log, and analyse it"
	@echo "make quick     run the fast tests: 1 minute"
	@echo "make test      run all tests except sweeps: 5 minutes"
	@echo "make long      run the sweeps, or part K of N: 1 hour (PART=K/N EXAMPLES=100 SAME=1)"
	@echo "make goldens   rewrite tests/golden; read the diff before you commit it"
	@echo "make check     run all checks of CI: format, lint, types, docs, site, tests, wheel"
	@echo "make coverage  run all tests and list the lines without coverage"
	@echo "make bench     measure the speed relative to md5sum (SIZE=200MB ROUNDS=5)"
	@echo "make corrupt   damage SMF files at random, and report losses without a message (COUNT=100000 SEED=1)"
	@echo "make score     compare check of simulated days with their answer keys (SEEDS=20)"
	@echo "make mutate    change SQL and Python at random, and report changes that no test detects (COUNT=100 SEED=1)"
	@echo "make docs      write the generated parts of docs/, including the output of examples"
	@echo "make site      build the site of docs/ in site/"
	@echo "make fixtures  rewrite fixtures/"
	@echo "make wheelhouse  collect all wheels in wheelhouse/, for a machine without a network"
	@echo "make lock      write constraints.txt with the newest compatible versions"

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(INSTALLED) $(READY)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $(INSTALLED)

demo: $(INSTALLED)
	$(BIN)/smfparse generate --scenario log-slow --explain
	mkdir -p build
	$(BIN)/smfparse generate build/day.smf --scenario log-slow --force
	$(BIN)/smfparse info build/day.smf
	$(BIN)/smfparse check build/day.smf
	$(BIN)/smfparse report log build/day.smf --from 2026-03-04T14:10 --until 2026-03-04T14:30

quick: $(READY)
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m "not slow and not long"

test: $(READY)
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m "not long"

long: $(READY)
	SMFPARSE_EXAMPLES=$(or $(EXAMPLES),100) $(if $(SAME),,SMFPARSE_ANEW=1) $(BIN)/python -m pytest --numprocesses 2 --dist worksteal \
		-m "long or fuzz" $(if $(PART),--part $(PART))

goldens: $(READY)
	$(BIN)/python tools/goldens.py

# Each commit runs another tenth of the sweeps: the one that the last digits of its hash name. With SAME=1
# the searches try the same examples each time, so that the checks of a commit pass always or never.
PART_OF_COMMIT := $(shell git rev-parse HEAD 2> /dev/null | tail -c 5 | (read hash; echo $$((0x$${hash:-0} % 10 + 1))))/10

check:
	$(MAKE) --jobs 2 --output-sync format-check lint types docs-check site wheel-check
	$(MAKE) test
	$(MAKE) long PART=$(PART_OF_COMMIT) EXAMPLES=20 SAME=1

coverage: $(READY)
	$(BIN)/python -m pytest --numprocesses 2 --cov --cov-report=term --cov-fail-under=95

format-check: $(READY)
	$(BIN)/ruff format --check .

lint: $(READY)
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

docs: $(READY)
	$(BIN)/python tools/docs.py

docs-check: $(READY)
	$(BIN)/python tools/docs.py --check

site: $(READY)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs site

wheel-check: $(READY)
	$(BIN)/python tools/check_wheel.py

bench: $(READY)
	$(BIN)/python -m pytest benchmarks/test_realism.py
	$(BIN)/python benchmarks/bench.py --size $(or $(SIZE),200MB) --rounds $(or $(ROUNDS),5)
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/many.py
	$(BIN)/python benchmarks/check.py --rounds 3

corrupt: $(READY)
	$(BIN)/python tools/corrupt.py --count $(or $(COUNT),100000) --seed $(or $(SEED),1)

score: $(READY)
	$(BIN)/python tools/score.py --seeds $(or $(SEEDS),20) --write

mutate: $(READY)
	$(BIN)/python tools/mutate.py --workers 2 --count $(or $(COUNT),100) --seed $(or $(SEED),1)

fixtures: $(READY)
	$(BIN)/python fixtures/make.py

wheelhouse: $(READY)
	rm -rf wheelhouse build
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --constraint constraints.txt --wheel-dir wheelhouse .
	rm -rf build

lock:
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '.[dev]'
	$(BIN)/python -m pip freeze --exclude smfparse > constraints.txt

clean:
	rm -rf $(VENV) build dist site wheelhouse *.egg-info .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis
