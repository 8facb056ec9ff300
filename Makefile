# Everything sets itself up in .venv; two commands do it all: make demo, make test.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
MADE   := $(VENV)/.made
STAMP  := $(VENV)/.installed
LIB    := sqlite_reasoning_fts/reasoning_fts.so
SCALE  ?= 0.05
DEMO   ?= build/demo.db
RUNS   ?= 100000
SEED   ?= 1
BASE   ?= HEAD
BENCH_SCALE  ?= 1
MATRIX_SCALE ?= 0.05
HOSTS  := build/hosts
PYSRC  := sqlite_reasoning_fts benchmarks tests tools setup.py
CSRC   := $(shell find csrc -name '*.c' -o -name '*.h')

export REASONING_FTS_STRICT := 1

.PHONY: help setup build hosts demo test lint sanitize valgrind fuzz mutants bench bench-check \
  bench-check-proof clean

help:
	@echo "make demo    build, generate an archive (SCALE=$(SCALE)) and compare the designs on it"
	@echo "make test    build and run the tests"
	@echo "make hosts   install the programs that the tests load the library into"
	@echo "make lint    ruff, mypy --strict"
	@echo "make sanitize, valgrind, fuzz, mutants    the longer checks of the C code"
	@echo "make bench   every benchmark at full size (an hour, 5 GB)"
	@echo "make bench-check BASE=REVISION    is the library slower than at another revision?"
	@echo "make clean   remove everything that was built"

$(MADE):
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

$(STAMP): pyproject.toml setup.py | $(MADE)
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]' 'setuptools>=70.1'
	@touch $@

# The editable install compiles the library; a changed source compiles it again.
$(LIB): $(CSRC) setup.py sqlite_reasoning_fts/_version.py | $(STAMP)
	$(BIN)/python setup.py --quiet build_ext --inplace
	@touch $@

setup: $(STAMP)
build: $(STAMP) $(LIB)

demo: build
	@mkdir -p $(dir $(DEMO))
	$(BIN)/reasoning-fts demo --scale $(SCALE) --out $(DEMO) --force
	$(BIN)/reasoning-fts compare $(DEMO)

# What cannot be installed is said and left out: its tests skip, or fail where none may skip.
hosts: | $(MADE)
	@$(BIN)/python tests/hosts/install.py $(HOSTS) || true

# Side by side, since better-sqlite3 may have to be compiled.
test:
	@$(MAKE) --no-print-directory --jobs=2 build hosts
	$(BIN)/python -m pytest

lint: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check $(PYSRC)
	$(BIN)/mypy

# The C drivers whole, and a part of the tests, with ASan and UBSan.
sanitize: build
	$(BIN)/python tests/sanitized.py --out build/sanitized

valgrind: build
	$(BIN)/python tests/drivers.py --out build/valgrind oom
	rm -f build/valgrind/oom.db
	valgrind --quiet --leak-check=full --error-exitcode=9 build/valgrind/oom --sparse 17 \
	  tests/c/oom.sql build/valgrind/oom.db

# RUNS mutations of each corpus. With clang, libFuzzer looks for new inputs itself:
#   .venv/bin/python tests/drivers.py --out build/fuzz --sanitize --libfuzzer matcher
#   build/fuzz/matcher -dict=tests/fuzz/words.dict tests/fuzz/corpus/matcher
fuzz: build
	$(BIN)/python tests/drivers.py --out build/fuzz --sanitize parser matcher tokenizer
	for name in parser matcher tokenizer; do build/fuzz/$$name --runs $(RUNS) --seed $(SEED) \
	  --dict tests/fuzz/words.dict --artifact build/fuzz/$$name.input tests/fuzz/corpus/$$name \
	  || exit 1; done

mutants: build
	$(BIN)/python tests/mutants/run.py

# Every case at full size. The results are kept by hand:
#   .venv/bin/python -m benchmarks.report keep build/bench.json
bench: build
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m pytest benchmarks --benchmark-enable --benchmark-disable-gc \
	  --scale $(BENCH_SCALE) --matrix-scale $(MATRIX_SCALE) --all-corpora \
	  --archives build/archives --benchmark-json build/bench.json \
	  --benchmark-columns median,rounds

# Exit 1 where the library of this tree is slower than that of BASE, by processor time.
bench-check: build
	$(BIN)/python -m benchmarks.gate --base $(BASE) $(if $(SUMMARY),--summary $(SUMMARY))

# Of a clean tree: ten comparisons with itself are quiet, and a planted slow-down is noticed.
bench-check-proof: build
	for seed in 1 2 3 4 5 6 7 8 9 10; do \
	  $(BIN)/python -m benchmarks.gate --base HEAD --seed $$seed || exit 1; done
	! $(BIN)/python -m benchmarks.gate --base HEAD --case scan \
	  --patch benchmarks/gate/planted/slower-scan.patch

clean:
	rm -rf $(VENV) build dist *.egg-info $(LIB) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
