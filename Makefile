# `make demo` and `make test` need Python 3.11 or newer, make and a C++ compiler; they set up everything else in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-compare
KERNELS := $(wildcard src/kernels/*.hpp src/kernels/bindings/*)
BUILD_TOOLS := cmake nanobind ninja scikit-build-core
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-build-isolation

# Hundreds of processes are started, each in half the time where modules have their byte code.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test kernels check checked sanitized test-slow test-browser fuzz compare docs dist release clean

demo: $(VENV)/.ready
	@$(BIN)/causalcontext demo --json out/soil-moisture.json --report out/soil-moisture.html

test: $(VENV)/.test-ready check
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The kernels once more, where one of them has changed.
kernels: $(VENV)/.ready

check: $(VENV)/.test-ready
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs/conf.py docs/pictures.py
	$(BIN)/mypy

# The fast tests on kernels that check every index.
checked: $(VENV)/.test-ready
	bash tests/kernels/build_beside.sh checked CC_CHECK
	CC_BUILD=checked build/checked/bin/python -m pytest -n 2 --dist worksteal

# The tests nearest to the kernels, and three minutes of fuzz, with the address and the undefined-behaviour sanitizer of
# gcc or clang. Python itself was built without them, so their libraries are loaded before it, and it seems to leak.
SANITIZERS = $(shell $(CXX) -print-file-name=libasan.so):$(shell $(CXX) -print-file-name=libstdc++.so)
SANITIZED = CC_BUILD=sanitized ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(SANITIZERS)" build/sanitized/bin/python
sanitized: $(VENV)/.test-ready
	bash tests/kernels/build_beside.sh sanitized CC_SANITIZE
	$(SANITIZED) -m pytest -n 2 --dist worksteal tests/kernels tests/ci_tests tests/score
	$(SANITIZED) tests/fuzz/fuzzer.py --seed $(SEED) --minutes $(MINUTES)

# Statistics, theory on many models, tutorials, interrupts, clusters: minutes, not seconds.
test-slow: $(VENV)/.slow-ready
	$(BIN)/python -m pytest -m slow -n 2 --dist worksteal

# Random tables, options and damaged files: make fuzz SEED=7 MINUTES=10
SEED ?= 0
MINUTES ?= 3
fuzz: $(VENV)/.test-ready
	$(BIN)/python tests/fuzz/fuzzer.py --seed $(SEED) --minutes $(MINUTES)

# This library beside others on standard problems: an hour on two cores, or five minutes with make compare SHORT=1.
# What was measured stays in out/, so that a run that was stopped goes on.
compare: $(PEERS)/.ready
	@mkdir -p out
	OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(PEERS)/bin/python benchmarks/compare.py $(if $(SHORT),--short) > out/compare.md
	@cat out/compare.md

# An environment of its own: peers ask for older versions of what we need. Of cdt and pgmpy only data are read, of DAGMA
# the part that needs no PyTorch, which all three would bring with them.
$(PEERS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[peers]"
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps cdt==0.6.0 dagma==1.1.1 pgmpy==0.1.26
	touch $@

# Opens reports and the app in headless Chromium; sets up selenium, and Debian's chromium and chromium-driver where it may.
test-browser: $(VENV)/.browser-ready
	$(BIN)/python -m pytest tests/browser --browser

docs: $(VENV)/.docs-ready
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q -b html docs out/docs
	@echo "open out/docs/index.html"

# Builds sdist and wheels, checks them, and runs the demo from the wheels in new environments without a compiler: the newest
# versions of everything, and the lowest that are allowed.
dist: $(VENV)/.release-ready
	rm -rf out/dist
	$(BIN)/python -m build --quiet --sdist --outdir out/dist .
	$(BIN)/python tests/release/build_wheels.py out/dist
	$(BIN)/python -m twine check --strict out/dist/*
	$(BIN)/python tests/release/check_dist.py out/dist --lowest

# Everything before an upload: what is said of the version, every check, and what is uploaded. Uploads nothing.
release: $(VENV)/.release-ready
	$(BIN)/python tests/release/ready.py
	bash .ci/run
	$(MAKE) --no-print-directory dist
	@echo "out/dist holds what to upload"

$(VENV)/.release-ready: $(VENV)/.ready
	$(INSTALL) --editable ".[release]"
	touch $@

# What checks and tests the library, and the tools that results go to.
$(VENV)/.test-ready: $(VENV)/.ready
	$(INSTALL) --editable ".[dev,interop]"
	touch $@

# What runs the tutorials.
$(VENV)/.slow-ready: $(VENV)/.test-ready
	$(INSTALL) --editable ".[tutorials]"
	touch $@

$(VENV)/.browser-ready: $(VENV)/.test-ready
	$(INSTALL) --editable ".[browser]"
	@bash tests/browser/install.sh
	touch $@

$(VENV)/.docs-ready: $(VENV)/.test-ready
	$(INSTALL) --editable ".[docs]"
	touch $@

$(VENV)/.ready: pyproject.toml CMakeLists.txt $(KERNELS)
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, found " + sys.version.split()[0] + "; set PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "installing causalcontext and what it needs into $(VENV), and building its kernels: a minute or two"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(BUILD_TOOLS)
	$(INSTALL) --editable .
	touch $@

clean:
	rm -rf $(VENV) $(PEERS) out
