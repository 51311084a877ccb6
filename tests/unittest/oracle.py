"""NumPy as the oracle: one program runs on NumPy, eager on both backends, and compiled; all must
agree.

A program is a function `program(xp, *arrays)` that may write its arrays; it returns anything made
of arrays, numbers and strings. Values, dtypes, shapes, what became of the arrays, and exceptions
are compared.
"""

import copy

import numpy as onp
from internals import Handle

from npcompat import np, npx

MODES = ("jax", "numpy", "jit")


def outcome(run, arrays):
    """(result, arrays afterwards), or the exception in place of the result."""
    try:
        result = run(*arrays)
    except Exception as error:
        result = error
    return result, arrays


def execute(program, arrays, mode):
    """Run a program on npcompat arrays in one mode."""
    with npx.backend("numpy" if mode == "numpy" else "jax"):
        own = [np.array(a) if isinstance(a, onp.ndarray) else a for a in arrays]

        def run(*given):
            return program(np, *given)

        return outcome(npx.jit(run) if mode == "jit" else run, own)


def agrees(program, *arrays, modes=MODES, rtol=0.0, message=False):
    """Assert that the program does on npcompat, in every mode, what it does on NumPy; returns
    NumPy's result.

    With `message`, the text of an exception must be the same, too.
    """
    expected, after = outcome(lambda *given: program(onp, *given), copy.deepcopy(list(arrays)))
    for mode in modes:
        found, changed = execute(program, arrays, mode)
        if isinstance(expected, Exception):
            assert isinstance(found, public(type(expected))), (
                f"{mode}: expected {expected!r}, got {found!r}"
            )
            if message:
                assert str(found) == str(expected), f"{mode}: expected {expected}, got {found}"
        else:
            if isinstance(found, Exception):
                raise AssertionError(f"{mode}: NumPy returns, this raised {found!r}") from found
            assert_alike(found, expected, rtol, f"{mode}: result")
        # A compiled function that raises while it is traced has done nothing at all.
        left = arrays if mode == "jit" and isinstance(expected, Exception) else after
        for i, (mine, theirs) in enumerate(zip(changed, left, strict=True)):
            assert_alike(mine, theirs, rtol, f"{mode}: argument {i} afterwards")
    return expected


def both(make, rtol=0.0, scalars=True):
    """Assert that a program means the same compiled: `make(jit)` makes its arrays, runs, and
    returns what to compare.

    Without `scalars`, an array without axes is as good as a scalar: where values decide which it
    is.
    """
    eager = make(lambda f, **options: f)
    compiled = make(npx.jit)
    if not scalars:
        eager, compiled = as_arrays(eager), as_arrays(compiled)
    assert_alike(compiled, on_host(eager), rtol)
    return eager


def as_arrays(x):
    """Nested containers with the scalars in them as arrays."""
    if isinstance(x, list | tuple):
        return type(x)(as_arrays(i) for i in x)
    return np.asarray(x) if isinstance(x, onp.generic) else x


def on_host(x):
    """Nested containers with the arrays and scalars in them as NumPy's."""
    if isinstance(x, list | tuple):
        return type(x)(on_host(i) for i in x)
    if isinstance(x, Handle):
        return onp.asarray(x) if isinstance(x, np.ndarray) else onp.asarray(x)[()]
    return x


def public(kind):
    """The exception class that users know: NumPy's private subclasses of TypeError count as
    TypeError.
    """
    return next(
        k for k in kind.__mro__ if k.__module__ in ("builtins", "numpy.exceptions", "numpy.linalg")
    )


def assert_alike(found, expected, rtol=0.0, what="result"):
    """Assert that nested containers agree in structure, dtypes, shapes and values."""
    if isinstance(expected, list | tuple):
        assert isinstance(found, list | tuple), (
            f"{what}: expected a {type(expected).__name__}, got {found!r}"
        )
        assert len(found) == len(expected), (
            f"{what}: expected {len(expected)} items, got {len(found)}"
        )
        for i, (f, e) in enumerate(zip(found, expected, strict=True)):
            assert_alike(f, e, rtol, f"{what}[{i}]")
        return
    if not isinstance(expected, onp.ndarray | onp.generic):
        assert type(found) is type(expected) and found == expected, (
            f"{what}: expected {expected!r}, got {found!r}"
        )
        return
    kind = onp.generic if isinstance(expected, onp.generic) else np.ndarray
    assert isinstance(found, Handle | onp.bool_) and isinstance(found, kind), (
        f"{what}: expected {expected!r}, got {found!r}"
    )
    assert found.dtype == expected.dtype, (
        f"{what}: expected dtype {expected.dtype}, got {found.dtype}"
    )
    assert found.shape == expected.shape, (
        f"{what}: expected shape {expected.shape}, got {found.shape}"
    )
    if rtol:
        onp.testing.assert_allclose(
            onp.asarray(found), expected, rtol=rtol, atol=rtol, err_msg=what
        )
    else:
        onp.testing.assert_array_equal(onp.asarray(found), expected, err_msg=what)
