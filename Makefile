# `make` alone lists the targets. Everything runs in .venv, which is made when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.dev-installed
WORKERS ?= 2
BENCH_SIZE ?= 200M
NPM := build/npm
NPM_STAMP := $(NPM)/.installed

# The checkout comes first even after a plain `pip install .` into the same environment.
export PYTHONPATH := $(CURDIR)/src
export PYTHONDONTWRITEBYTECODE := 1

.DEFAULT_GOAL := help
.PHONY: help install test lint check format bench messages site serve sitetest wheel clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP)  ## make .venv with the package (editable) and the tools

test: lint check browser  ## lint, types, import borders, rules, all tests (those on the built site in a real browser)
	$(BIN)/python -m pytest -q -n $(WORKERS)

sitetest: $(STAMP) browser  ## only the tests of the site
	$(BIN)/python -m pytest -q tests/site

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
	$(BIN)/python benchmarks/rules.py tests/fixtures/real/fake-oom-weights.log

messages: $(STAMP)  ## bring the translators' .po files up to date
	@mkdir -p build
	$(BIN)/pybabel -q extract -F babel.cfg -k _n:1,2 -k Counted:1,2 -k Message --add-location file --no-wrap \
	  --project vllmdoctor --version '' --copyright-holder '' -o build/vllmdoctor.pot .
	@for language in vi ja; do \
	  $(BIN)/pybabel -q update -D vllmdoctor -i build/vllmdoctor.pot -d src/vllmdoctor/locale -l $$language \
	    --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --no-wrap || exit 1; \
	done

site: $(STAMP) $(NPM_STAMP)  ## build the site of all languages into build/site
	$(BIN)/python -m vllmdoctor.site build --npm $(NPM)/node_modules

serve: site  ## build the site and serve it on this machine
	$(BIN)/python -m vllmdoctor.site serve

wheel: $(STAMP)  ## build the wheel into dist/
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:  ## remove the environment and everything that was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The browser tests need Chromium; on Debian and Ubuntu root may install it, elsewhere the tests say what they skip.
.PHONY: browser
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing Chromium for the browser tests" && \
	    { apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk fonts-noto-core >/dev/null 2>&1 || \
	      { apt-get update -qq >/dev/null && \
	        apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk fonts-noto-core >/dev/null; }; }; } || \
	  echo "No Chromium: the browser tests will be SKIPPED" >&2
	@command -v npm >/dev/null && $(MAKE) --no-print-directory $(NPM_STAMP) || \
	  echo "No npm packages: the tests of the analyzer in the browser will be SKIPPED" >&2

# Pyodide for the analyzer in the browser, axe-core for the tests.
$(NPM_STAMP): package.json package-lock.json
	@command -v npm >/dev/null || { echo "The site's analyzer needs Pyodide from npm: install Node.js 20 or newer" >&2; exit 1; }
	@mkdir -p $(NPM)
	@cp package.json package-lock.json $(NPM)/
	cd $(NPM) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "vllmdoctor needs Python 3.10 or newer: make PYTHON=/path/to/python3.12 …" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV) || \
	  { $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	    $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; } || \
	  { echo "Cannot make $(VENV). On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@
