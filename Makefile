# The first two targets are all a newcomer needs; each makes .venv and installs what it needs by itself.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install -q -c constraints.txt
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
DEMO ?= demo

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo starter test test-all lint style types browser pytest pytest-all coverage bench pictures clean

demo: $(VENV)/ready
	$(BIN)/batag demo --out $(DEMO)

# The bundle that comes with batag, from the lexicon and the sample alone; replaces src/batag/bundles/starter.
starter: $(VENV)/ready
	$(BIN)/python benchmarks/starter.py

# Types are checked beside the tests: one of two cores would wait meanwhile.
test:
	@$(MAKE) --no-print-directory -j2 style browser
	@$(MAKE) --no-print-directory -j2 types pytest

# The same and what takes long: tests marked `long`, all kills, every line of the README.
test-all:
	@$(MAKE) --no-print-directory -j2 style browser
	@$(MAKE) --no-print-directory -j2 types pytest-all

lint: style types

style: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready-dev
	$(BIN)/mypy

# The tests of the web page need a browser, fonts and tsc. CI installs them, beside the Python packages; elsewhere these tests are
# skipped and say what is missing.
browser:
	@if [ -n "$(CI)" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then bash tests/browser/install.sh $(VENV); fi

pytest: $(VENV)/ready-dev browser
	$(PYTEST)

pytest-all: $(VENV)/ready-dev browser
	$(PYTEST) --all

# The same tests, slower, and what they did not run.
coverage: $(VENV)/ready-dev browser
	$(PYTEST) --all --cov --cov-report=term

bench: $(VENV)/ready-dev
	$(PIP) -e '.[train,dev,bench]'
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/segmentation.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/training_step.py

# The pictures of the documentation, from the product itself (needs chromium and CJK fonts).
pictures: $(VENV)/ready-dev
	$(BIN)/python benchmarks/pictures.py

clean:
	rm -rf $(VENV) $(DEMO) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

# torch first and by the constraints: an open range takes several GB of GPU packages on some indexes.
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) -e '.[train]'
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready
	$(PIP) -e '.[train,dev]'
	@touch $@
