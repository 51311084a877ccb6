# `make digits` runs the main job, `make test` passes the tests, `make full` the slow ones, too.  Each
# makes the environment first.  docs/testing.md says what each target runs, and how long it takes.
PYTHON ?= python3
PYTHON313 ?= python3.13
VENV := .venv
BIN = $(VENV)/bin
JOBS ?= auto
CC ?= cc

TESTS := tests/unittest
QUICK := $(addprefix $(TESTS)/,test_views.py test_indexing.py test_dispatch.py test_autograd.py test_jit.py test_gluon_layers.py)
NATIVE := $(addprefix $(TESTS)/,test_native.py test_recent_calls.py test_jit_state.py test_guards.py test_native_elements.py test_cached_calls.py test_fast_path_safety.py test_views.py test_strides.py test_indexing.py)

.PHONY: backends digits test lint types unit examples benchmarks quick full native-strict sanitize slow-path users-xla python313 slow programs scipy scikit coverage libraries

digits: $(VENV)/ready
	$(BIN)/python examples/digits.py

# --- before a review ------------------------------------------------------------------------------

test: lint types unit examples

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

unit: $(VENV)/ready
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

examples: $(VENV)/ready
	$(BIN)/python examples/numpy_programs.py
	$(BIN)/python examples/numerics.py
	$(BIN)/python examples/digits.py --epochs 2
	$(BIN)/python examples/language_model.py --epochs 1
	$(BIN)/python examples/resnet.py --epochs 3
	$(BIN)/python examples/transformer.py

# Plug-in backends, by the kit that their authors run.
backends: $(VENV)/ready
	OMP_NUM_THREADS=1 $(BIN)/python -m npcompat.testing.backend array_api_strict
	OMP_NUM_THREADS=1 $(BIN)/python -m npcompat.testing.backend torch
	NPCOMPAT_BACKEND=torch $(BIN)/python examples/digits.py --epochs 2
	NPCOMPAT_BACKEND=torch $(BIN)/python examples/numpy_programs.py

# --- while you work: under a minute ---------------------------------------------------------------

quick: $(VENV)/ready
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow" -k "not (indexing and large or environment or cycles or graphs_go)" $(QUICK)

# --- before a release -----------------------------------------------------------------------------

full: native-strict sanitize slow-path users-xla python313 slow programs scipy scikit

# A copy of what is needed to build and to test, in which the C part is built with other options.
define copied
	rm -rf build/$@ && mkdir -p build/$@
	cp -R npcompat tests conftest.py pyproject.toml setup.py README.md LICENSE NOTICE build/$@
	rm -f build/$@/npcompat/_internal/native/*.so
endef

native-strict: $(VENV)/ready
	$(copied)
	NPCOMPAT_CFLAGS="-Wall -Wextra -Werror" $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/$@ build/$@

# What a sanitizer finds ends the run: C writes its report past pytest, which captures Python's.
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all
PRELOADED = $(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libstdc++.so)

sanitize: $(VENV)/ready
	$(copied)
	NPCOMPAT_CFLAGS="-O1 -g -fno-omit-frame-pointer $(SANITIZERS)" NPCOMPAT_LDFLAGS="$(SANITIZERS)" \
		$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/$@ build/$@
	$(BIN)/python -m zipfile -e build/$@/*.whl build/$@
	cd build/$@ && LD_PRELOAD="$(PRELOADED)" PYTHONMALLOC=malloc UBSAN_OPTIONS=print_stacktrace=1 \
		ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
		$(abspath $(BIN))/python -m pytest -q -n 0 --capture=sys $(NATIVE)

slow-path: $(VENV)/ready
	NPCOMPAT_NATIVE=0 $(BIN)/python -m pytest -n $(JOBS)

users-xla: $(VENV)/ready
	NPCOMPAT_TEST_XLA=user $(BIN)/python -m pytest -n $(JOBS) tests/unittest

python313:
	@if $(PYTHON313) -c "" 2>/dev/null; \
	then $(MAKE) unit VENV=build/python313 PYTHON=$(PYTHON313); \
	else echo "python313: skipped, since there is no $(PYTHON313)"; fi

slow: $(VENV)/ready
	$(BIN)/python -m pytest -n $(JOBS) -m slow

# Random programs for a minute, others each day, with XLA as users have it; MINUTES= for more.
MINUTES ?= 1
SEED ?= $(shell date +%Y%m%d)
programs: $(VENV)/ready
	$(BIN)/python -m tests.programs --seed $(SEED) --count 1000000 --minutes $(MINUTES)

# SciPy's own tests of other namespaces than NumPy's, as they are installed.
scipy: $(VENV)/ready
	$(BIN)/python -m tests.interop.scipy_suite -n$(JOBS)

# scikit-learn's own checks of other namespaces than NumPy's.
scikit: $(VENV)/ready
	$(BIN)/python -m tests.interop.scikit_suite -n$(JOBS)

# Programs of the libraries that docs/libraries.md lists, in an environment that has them all.
libraries: VENV := build/libraries
libraries:
	$(MAKE) $(VENV)/ready VENV=$(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement tests/libraries/requirements.txt
	$(BIN)/python -m pytest -q -n $(JOBS) tests/libraries tests/unittest/test_scripts.py tests/unittest/test_published_programs.py

# Left out: NumPy does not resize arrays while somebody traces the frames that hold them.
MEASURED := $(wildcard $(addprefix $(TESTS)/test_,views.py indexing.py dispatch.py autograd*.py jit*.py gluon_layers.py \
	gluon_block.py gluon_trainer.py control_flow.py masked_reads.py memory.py ops.py symbol.py files.py amp.py profile.py audit.py))

coverage: $(VENV)/ready
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow" -k "not resiz" --cov --cov-report=term $(MEASURED)

benchmarks: $(VENV)/ready
	$(BIN)/python -m benchmarks

$(VENV)/ready: pyproject.toml setup.py npcompat/_internal/native/_native.c $(wildcard npcompat/_internal/native/*.h)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
