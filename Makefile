# Needs python3 >= 3.11, make and git; everything else goes into .venv. `make` lists the targets.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check

# Tests at once. Most of a test's time goes to processes that it waits for.
# Tests wait for servers and processes half of the time, so there are two for each core.
JOBS ?= $(shell expr 2 \* $$(nproc 2>/dev/null || echo 2))

.DEFAULT_GOAL := help
.PHONY: help install demo test lint types layers unit coverage format deploy torture bench instructions docs site web clean fuzz urls

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

install: $(VENV)/.installed ## a virtual environment with the command .venv/bin/sumi

demo: $(VENV)/.installed ## mirror a small site on this machine and show the result
	@echo '── Mirroring a small site on this machine'
	$(VENV)/bin/sumi demo

test: lint types layers unit ## everything that has to pass: style, types, layers, tests

lint: $(VENV)/.developer ## style
	@echo '── Style'
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.developer ## types, strictly
	@echo '── Types (a minute when nothing is cached)'
	$(VENV)/bin/mypy

layers: $(VENV)/.developer ## who may import whom
	@echo '── Layers'
	$(VENV)/bin/lint-imports

# Without bytecode each worker takes 16 s of processor time to find the tests, not 6, and each sumi 0.5 s, not 0.3.
ifdef PYTHONDONTWRITEBYTECODE
unit: export PYTHONDONTWRITEBYTECODE :=
unit: export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache
endif
unit: $(VENV)/.developer ## the tests alone
	@echo '── Tests, $(JOBS) at once (several minutes)'
	$(PY) -m pytest -n $(JOBS) --dist worksteal

coverage: $(VENV)/.developer ## the tests, counting the lines they reach; takes three times as long
	$(PY) -m coverage erase
	$(PY) -m coverage run -m pytest -n $(JOBS)
	$(PY) -m coverage combine --quiet
	$(PY) -m coverage report

format: $(VENV)/.developer ## rewrite the code in the common style
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

deploy: $(VENV)/.linters ## check what is in deploy/ with the linters of the tools that read it
	$(PY) -m pytest tests/project/test_deploy.py

torture: $(VENV)/.developer ## kill and fail a mirror at every moment that matters; takes a while; TORTURE=options
	$(PY) -m tests.torture.run $(TORTURE)

bench: $(VENV)/.developer ## Sumi beside its peers, half an hour; QUICK=1 for minutes; BENCH=options
	$(PY) -m benchmarks.compare $(if $(QUICK),--quick) $(BENCH)

instructions: $(VENV)/.developer ## has a hot function become slower, counted by valgrind; BENCH=--record keeps it
	$(PY) -m benchmarks.instructions $(BENCH)

TARGET ?= all
SECONDS ?= 60
SITE ?= zensical

fuzz: $(VENV)/.fuzzer ## look for inputs that break a promise: TARGET=html_page SECONDS=600
	$(PY) -m fuzz.run $(TARGET) $(SECONDS)

urls: $(VENV)/.developer ## the properties of a URL's identity, on 100,000 URLs each; a quarter of an hour
	$(PY) -m pytest --hypothesis-profile=many tests/urls/test_identity.py -k "again or raises or sorting"

web: ## the page of sumi serve, from web/ into src/sumi/serve/static; needs node and npm
	cd web && npm ci --no-audit --no-fund && npm run build

site: $(VENV)/.generator docs ## the documentation as a site in build/site; SITE=mkdocs builds it with mkdocs-material
	$(VENV)/bin/$(SITE) build --strict --clean
	@echo 'Serve it: $(PY) -m http.server --directory build/site'

docs: $(VENV)/.installed ## write the reference pages anew from the code
	$(PY) -m sumi.cli.reference docs/

clean: ## remove what tests and builds leave behind; the environment stays
	rm -rf build dist demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage*
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is too old: Python 3.11 or newer is needed; try make PYTHON=python3.12"; exit 1; }
	@echo '── Creating $(VENV)'
	$(PYTHON) -m venv $(VENV)

# Stamps: installing happens again only when what is to be installed has changed.
$(VENV)/.installed: pyproject.toml constraints.txt | $(PY)
	@echo '── Installing Sumi and its libraries into $(VENV), which is done once'
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.developer: $(VENV)/.installed
	@echo '── Installing the tools for development into $(VENV), which is done once'
	$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@

$(VENV)/.fuzzer: $(VENV)/.developer
	@echo '── Installing the fuzzer into $(VENV), which is done once'
	$(PIP) install -c constraints.txt -e '.[fuzz]'
	@touch $@

$(VENV)/.linters: $(VENV)/.developer
	@echo '── Installing the linters for deploy/ into $(VENV), which is done once'
	$(PIP) install -c constraints.txt -e '.[deploy]'
	@touch $@

$(VENV)/.generator: $(VENV)/.installed
	@echo '── Installing the generator of the documentation site into $(VENV), which is done once'
	$(PIP) install -c constraints.txt -e '.[site]'
	@touch $@
