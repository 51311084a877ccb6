"""Operators and their gradients, by the registry's cases, on a plug-in backend.

The cases are those of npcompat's own tests, in the source distribution: an operator without a case
is refused there, so that none is left out here.
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as onp

import npcompat
from npcompat.testing._levels import Finding, checked

_STEP = 1e-6


def folder_of_cases(given: str | None) -> Path | None:
    """Folder with the registry's cases: the one given, or that of the checkout; None without one.

    Raises
    ------
    FileNotFoundError
        If the folder that is given holds no cases.
    """
    folder = Path(given) if given else Path(npcompat.__file__).parents[1] / "tests" / "unittest"
    if (folder / "registry_cases").is_dir():
        return folder
    if given:
        raise FileNotFoundError(
            f"--cases: expected tests/unittest of npcompat's sources, which holds "
            f"registry_cases/, got {given}"
        )
    return None


def template(folder: Path, name: str) -> Any:
    """Import a module of functions by which npcompat's own tests run the cases."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def operators(tests: Any) -> Iterator[Finding]:
    """Check what each operator returns, in each layout, against the oracle of its cases."""
    for name in tests.OPERATORS:
        yield checked(name, lambda name=name: _forward(tests, name))  # type: ignore[misc]


def _forward(tests: Any, name: str) -> str:
    for i, case in enumerate(tests.CASES.get(name, ())):
        layouts = case.layouts if i == 0 else ("ordinary",)
        for sample in tests.samples(case, [tests.main_dtype(case)], layouts):
            found = tests.outcome(case, tests.given(sample))
            expected = tests.expected_of(case, sample.arrays)
            if isinstance(found, Exception) and not isinstance(expected, Exception):
                raise found
            try:
                tests.verify(case, sample, found, expected, False, "plug-in")
            except AssertionError as error:
                return f"wrong: {' '.join(str(error).split())[:300]}"
    return "right"


def gradients(tests: Any) -> Iterator[Finding]:
    """Check the gradient of each operator along a direction, by central differences."""
    for name in tests.DIFFERENTIABLE:
        yield checked(f"gradient of {name}", lambda name=name: _gradient(tests, name))  # type: ignore[misc]


def _gradient(tests: Any, name: str) -> str:
    case = next(c for c in tests.CASES[name] if c.grad != ())
    found = next(iter(tests.differentiated(case)), None)
    if found is None:
        return "right"
    sample, wanted = found
    random = onp.random.default_rng(len(name))
    grads = tests.gradients_of(case, tests.given(sample), wanted)
    for position, grad in zip(wanted, grads, strict=True):
        whole = sample.arrays[position]
        along = random.choice([-1.0, 1.0], whole.shape)
        losses = []
        for sign in (1, -1):
            moved = [a.copy() for a in sample.arrays]
            moved[position] = whole + sign * _STEP * along
            losses.append(tests.loss_of(case, [npcompat.np.array(a) for a in moved]))
        expected = (losses[0] - losses[1]) / (2 * _STEP)
        slope = float((onp.asarray(grad.asnumpy()).real * along).sum())
        if not onp.isclose(slope, expected, 1e-4 * case.loose, 1e-5 * case.loose * whole.size):
            return f"wrong: {slope} along a direction, central differences say {expected}"
    return "right"


__all__ = ["folder_of_cases", "gradients", "operators", "template"]
