# Two commands: `make digits` runs the main job, `make test` passes the tests.  Both make the environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto

.PHONY: digits test lint types unit examples benchmarks

digits: $(VENV)/ready
	$(BIN)/python examples/digits.py

test: lint types unit examples

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready
	$(BIN)/mypy

unit: $(VENV)/ready
	$(BIN)/python -m pytest -n $(JOBS)

examples: $(VENV)/ready
	$(BIN)/python examples/numpy_programs.py
	$(BIN)/python examples/digits.py --epochs 2
	$(BIN)/python examples/language_model.py --epochs 1
	$(BIN)/python examples/resnet.py --epochs 3
	$(BIN)/python examples/transformer.py

benchmarks: $(VENV)/ready
	$(BIN)/python -m benchmarks

$(VENV)/ready: pyproject.toml setup.py npcompat/_internal/native/_native.c $(wildcard npcompat/_internal/native/*.h)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
