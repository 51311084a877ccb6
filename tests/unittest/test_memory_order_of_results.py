"""Memory order of results on the host and compiled: NumPy's, so that a view there is one here."""

import warnings
from contextlib import contextmanager

import numpy as onp
import pytest
from registry_cases import CASES
from registry_cases.case import samples

import npcompat.gluon  # noqa: F401 (declares operators, too)
from npcompat import np, npx

OTHER = {
    "_npi_packbits": "of F-ordered operands",
    "_npi_cumsum": "exclusive and reversed sums are none of NumPy's",
    "_npi_cumprod": "exclusive and reversed products are none of NumPy's",
    "_npi_matrix_power": "of F-ordered operands",
    "_npi_spread_selected": "is no function of NumPy's",
    "_npi_to_device": "is no function of NumPy's",
    "_npi_nonzero": "the positions are rows of one array here",
    "_npi_as_strided": "of F-ordered operands: a known gap",
    "_npi_view": "of F-ordered operands, NumPy refuses it",
    "_npi_zeros_for_where": "is no function of NumPy's",
}
"""Operators whose results lie otherwise than NumPy's, with the reason."""


@contextmanager
def quiet():
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def flat(found):
    return [a for part in found for a in flat(part)] if isinstance(found, list | tuple) else [found]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", [n for n in CASES if n.startswith("_npi_") and n not in OTHER])
def test_results_lie_as_numpys_do(name, order):
    for case in CASES[name]:
        if case.oracle is None or case.holds is not None:
            continue
        code = "d" if "d" in case.dtypes else case.dtypes.split()[0]
        sample = next(samples(case, [code], ("ordinary",)), None)
        if sample is None:
            continue
        arrays = [onp.array(a, order=order) for a in sample.arrays]
        with quiet():
            try:
                expected = flat(case.oracle(*[a.copy("K") for a in arrays]))
            except (TypeError, ValueError):
                continue  # nothing of this dtype
            with npx.backend("numpy"), npx.np_default_dtype(True):
                found = flat(case.call(np, *map(np.array, arrays)))
        for mine, theirs in zip(found, expected, strict=True):
            if isinstance(theirs, onp.ndarray) and theirs.ndim > 1 and isinstance(mine, np.ndarray):
                wanted = theirs.flags.c_contiguous, theirs.flags.f_contiguous
                assert (mine.flags.c_contiguous, mine.flags.f_contiguous) == wanted, (
                    f"{name}: strides {mine.strides}, NumPy's are {theirs.strides}"
                )


class _TracedError(Exception):
    """Raised at the end of a trace, so that nothing is compiled."""


NOT_COMPILED = {
    "_npi_eig": "columns of complex memory",
    "_npi_eigvals": "columns of complex memory",
    "_npi_view": "of F-ordered operands, NumPy refuses it",
}


@pytest.mark.parametrize("name", [n for n in CASES if n not in OTHER and n not in NOT_COMPILED])
def test_compiled_results_lie_as_on_the_host(name):
    for case in CASES[name]:
        code = "d" if "d" in case.dtypes else case.dtypes.split()[0]
        sample = next(samples(case, [code], ("ordinary",)), None)
        if sample is None:
            continue
        arrays = [onp.array(a, order="F") for a in sample.arrays]

        def orders(given, case=case):
            found = [a for a in flat(case.call(np, *given)) if isinstance(a, np.ndarray)]
            return [(a.shape, a.flags.c_contiguous, a.flags.f_contiguous) for a in found]

        def traced(*given, orders=orders):
            raise _TracedError(orders(given))

        with quiet(), npx.np_default_dtype(True):
            try:
                with npx.backend("numpy"):
                    expected = orders([*map(np.array, arrays)])
            except TypeError:
                continue  # nothing of this dtype
            with pytest.raises(_TracedError) as found:
                npx.jit(traced)(*map(np.array, arrays))
        assert found.value.args[0] == expected


WRITTEN = {
    "take": lambda m, a: m.take(a, [2, 1, 0], axis=2),
    "take in the middle": lambda m, a: m.take(a, [2, 1], axis=1),
    "method": lambda m, a: a.take([2, 1, 0], axis=2),
    "delete": lambda m, a: m.delete(a, 1, axis=1),
    "insert": lambda m, a: m.insert(a, 1, 5, axis=1),
    "compress": lambda m, a: m.compress([True, False, True], a, axis=2),
    "method compress": lambda m, a: a.compress([True, False, True], axis=2),
    "repeat": lambda m, a: m.repeat(a, 2, axis=1),
    "roll": lambda m, a: m.roll(a, 1, axis=2),
    "sort": lambda m, a: m.sort(a, axis=1),
    "take_along_axis": lambda m, a: m.take_along_axis(a, m.argsort(a, axis=1), axis=1),
}


@pytest.mark.parametrize("backend", ["numpy", "jax", "compiled"])
@pytest.mark.parametrize("name", WRITTEN)
def test_writes_through_a_reshape_of_a_result_reach_it(name, backend):
    source = onp.arange(24.0).reshape(2, 4, 3)

    def program(m, a):
        t = WRITTEN[name](m, a)
        t.reshape(-1)[1:4] = 99
        t.ravel()[0] = -1
        t.shape = (-1,)
        t[5] = 7
        return t

    expected = program(onp, source.copy())
    if backend == "compiled":
        found = npx.jit(lambda a: program(np, a))(np.array(source))
    else:
        with npx.backend(backend):
            found = program(np, np.array(source))
    assert found.tolist() == expected.tolist()


def test_windows_of_a_result():
    source = onp.arange(24.0).reshape(2, 4, 3)
    mine = np.take(np.array(source), [1, 0], axis=2)
    theirs = onp.take(source, [1, 0], axis=2)
    for m, a in ((np, mine), (onp, theirs)):
        found = m.lib.stride_tricks.sliding_window_view(a, 2, axis=1)
        assert found.shape == (2, 3, 2, 2)
    assert (
        np.lib.stride_tricks.sliding_window_view(mine, 2, axis=1).tolist()
        == onp.lib.stride_tricks.sliding_window_view(theirs, 2, axis=1).tolist()
    )


LYING = {
    "gradient": lambda m, a: m.gradient(a * 1.0, axis=1),
    "unwrap": lambda m, a: m.unwrap(a * 1.0, axis=1),
    "select": lambda m, a: m.select([a > 3], [a], 0),
    "cross": lambda m, a: m.cross(a, a, axis=2),
    "cross in front": lambda m, a: m.cross(a[:1, 0], a[:1, 0], axisc=0),
    "median": lambda m, a: m.median(a, axis=1),
    "histogram2d": lambda m, a: m.histogram2d(a.ravel(), a.ravel(), bins=3)[0],
    "histogramdd, density": lambda m, a: m.histogramdd(a.reshape(-1, 1) * 1.0, density=True)[0],
    "nonzero": lambda m, a: m.nonzero(a)[1],
    "nonzero of one axis": lambda m, a: m.nonzero(a.ravel())[0],
    "where": lambda m, a: m.where(a > 3)[0],
    "unravel_index": lambda m, a: m.unravel_index(a % 6, (2, 3))[0],
    "unravel_index of a list": lambda m, a: m.unravel_index([1, 2], (2, 3))[1],
    "tril_indices": lambda m, a: m.tril_indices(3)[0],
    "unpackbits": lambda m, a: m.unpackbits(a.astype("uint8"), axis=1),
    "packbits": lambda m, a: m.packbits(a.astype("uint8"), axis=1),
    "outer": lambda m, a: m.add.outer(a, a),
    "tile once": lambda m, a: m.tile(a, (1, 1, 1)),
}
"""Functions whose results lie otherwise than in C order, for some operands or for all."""
VIEWS = (
    "nonzero",
    "where",
    "unravel_index of a list",
    "tril_indices",
    "histogram2d",
)
"""Those whose results are views of a larger array, on XLA, too."""


@pytest.mark.parametrize(
    ("name", "backend"), [*[(name, "numpy") for name in LYING], *[(name, "jax") for name in VIEWS]]
)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_writes_through_flattened_results_go_where_numpys_go(name, order, backend, numpy_mode):
    source, after = onp.arange(27).reshape(3, 3, 3), []
    for m in (onp, np):
        with npx.backend(backend):
            found = LYING[name](m, m.array(source).transpose(order))
            flags = found.flags.c_contiguous, found.flags.f_contiguous
            for flattened in (found.ravel(), found.reshape(-1), found.T.ravel("A")):
                flattened[1:] = flattened.size
                after.append(found.tolist())
            after.append(flags)
    assert after[:4] == after[4:]


OF_UFUNCS = {
    "a dtype": lambda m, a: m.add(a, 1, dtype="float64"),
    "a signature": lambda m, a: m.add(a, 1, signature="dd->d"),
    "a condition": lambda m, a: m.add(a, 1, where=True, casting="unsafe"),
    "two outputs": lambda m, a: m.divmod(a, 5)[1],
    "one of two outputs given": lambda m, a: m.divmod(a, 5, out=(m.empty_like(a), None))[1],
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("options", OF_UFUNCS)
def test_results_of_ufuncs_with_options(options, compiled):
    def program(m, a):
        t = OF_UFUNCS[options](m, a.T)
        t.reshape(-1)[1:4] = 99
        t.T.reshape(-1)[5] = -1
        return t

    source = onp.arange(24.0, dtype="float32").reshape(2, 4, 3)
    run = npx.jit(lambda a: program(np, a)) if compiled else lambda a: program(np, a)
    with npx.backend("numpy"):
        found = run(np.array(source))
    assert found.tolist() == program(onp, source.copy()).tolist()
