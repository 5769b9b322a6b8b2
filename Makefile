# `make` alone lists the targets. Everything runs in .venv, which is made when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.dev-installed
WORKERS ?= 2
BENCH_SIZE ?= 200M

# The checkout comes first even after a plain `pip install .` into the same environment.
export PYTHONPATH := $(CURDIR)/src
export PYTHONDONTWRITEBYTECODE := 1

.DEFAULT_GOAL := help
.PHONY: help install test lint check format bench messages wheel clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP)  ## make .venv with the package (editable) and the tools

test: lint check  ## everything: lint, types, import borders, rules, tests
	$(BIN)/python -m pytest -q -n $(WORKERS)

lint: $(STAMP)  ## ruff, mypy and import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports

check: $(STAMP)  ## check the rule files
	$(BIN)/python -m vllmdoctor rules check

format: $(STAMP)  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## measure time and memory (see benchmarks/README.md)
	@mkdir -p build
	$(BIN)/python benchmarks/make_log.py $(BENCH_SIZE) > build/bench.log
	$(BIN)/python benchmarks/literals.py > build/bench-literals.txt
	$(BIN)/python benchmarks/scan.py build/bench.log --literals build/bench-literals.txt -- \
	  $(BIN)/python -m vllmdoctor analyze {}

messages: $(STAMP)  ## bring the translators' .po files up to date
	@mkdir -p build
	$(BIN)/pybabel -q extract -F babel.cfg -k _n:1,2 -k Message --add-location file --no-wrap \
	  --project vllmdoctor --version '' --copyright-holder '' -o build/vllmdoctor.pot .
	@for language in vi ja; do \
	  $(BIN)/pybabel -q update -D vllmdoctor -i build/vllmdoctor.pot -d src/vllmdoctor/locale -l $$language \
	    --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --no-wrap || exit 1; \
	done

wheel: $(STAMP)  ## build the wheel into dist/
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:  ## remove the environment and everything that was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "vllmdoctor needs Python 3.10 or newer: make PYTHON=/path/to/python3.12 …" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV) || \
	  { $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	    $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; } || \
	  { echo "Cannot make $(VENV). On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@
