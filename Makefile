# Everything on a machine that has Python 3.11 or later and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo studio test uncompiled lint types contracts docs studies clean constraints

demo: $(READY)
	$(BIN)/ontomask demo

# The studio over the table of the demonstration.
studio: $(READY)
	test -e ontomask-demo/plan.toml || $(BIN)/ontomask demo --quiet
	$(BIN)/ontomask studio ontomask-demo

# The browser is driven by itself: beside other tests it would wait for the processor.
BROWSER := tests/studio/test_studio_browser.py

# Two workers have a core each: threads of linear algebra would wait for one another there, which
# makes small problems a hundred times slower.
test uncompiled: export OPENBLAS_NUM_THREADS := 1

# Files come in the order that tests/conftest.py gives them: those that take long go first.
test: $(READY)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --ignore=$(BROWSER)
	$(BIN)/python -m pytest -q $(BROWSER)

# The kernels as plain Python: what compiled code would pass over (an index beyond the end, a number
# that overflows) raises there, and a debugger can step through.
uncompiled: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q tests/kernels tests/semantics tests/test_privacy.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy --strict

contracts: $(READY)
	$(BIN)/lint-imports

# The documentation site, in site/; a warning is an error.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The studies of the literature, with their pages in docs/studies; DATA is the folder of the tables.
studies: $(READY)
	$(BIN)/python -m studies $(if $(DATA),--data "$(DATA)")

# The virtual environment is made anew whenever what it must hold changes.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "pip>=25.1" "setuptools>=77"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-build-isolation -e ".[all]" --group dev --group docs
	$(BIN)/ontomask warm
	touch $(READY)

# Fix the tested set of versions (names and versions only).
constraints: $(READY)
	$(BIN)/python -m pip freeze --exclude-editable | grep -v "^ontomask" > constraints.txt

clean:
	rm -rf $(VENV) build dist site ontomask-demo src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
