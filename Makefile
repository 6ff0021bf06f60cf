# Everything on a machine that has Python 3.11 or later and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready

.PHONY: demo studio test suite browser uncompiled warm lint types contracts docs studies clean constraints

# Some shells keep Python from writing bytecode; every process of the tests would compile all modules.
unexport PYTHONDONTWRITEBYTECODE

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
test suite browser uncompiled: export OPENBLAS_NUM_THREADS := 1

test: suite
	$(MAKE) -j2 --output-sync browser uncompiled

# Files come in the order that tests/conftest.py gives them: those that take long go first.
suite: $(READY)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --ignore=$(BROWSER)

browser: $(READY)
	$(BIN)/python -m pytest -q $(BROWSER)

# The kernels as plain Python: what compiled code would pass over (an index beyond the end, a number
# that overflows) raises there, and a debugger can step through. It takes what others leave of the
# processor, so that it can run beside the browser.
uncompiled: $(INSTALLED)
	NUMBA_DISABLE_JIT=1 nice -n 19 $(BIN)/python -m pytest -q tests/kernels tests/semantics tests/test_privacy.py

warm: $(READY)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy --strict

contracts: $(INSTALLED)
	$(BIN)/lint-imports

# The documentation site, in site/; a warning is an error.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The studies of the literature, with their pages in docs/studies; DATA is the folder of the tables.
studies: $(READY)
	$(BIN)/python -m studies $(if $(DATA),--data "$(DATA)")

# The virtual environment is made anew whenever what it must hold changes.
# Bytecode is compiled when a module is first imported: most modules never are.
$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "pip>=25.1" "setuptools>=77"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-build-isolation --no-compile -e ".[all]" --group dev --group docs
	touch $(INSTALLED)

$(READY): $(INSTALLED)
	$(BIN)/ontomask warm
	touch $(READY)

# Fix the tested set of versions (names and versions only).
constraints: $(READY)
	$(BIN)/python -m pip freeze --exclude-editable | grep -v "^ontomask" > constraints.txt

clean:
	rm -rf $(VENV) build dist site ontomask-demo src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
