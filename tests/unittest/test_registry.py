"""The template: every operator, by its cases, against NumPy, on each backend, eager and compiled;
`test_registry_gradients.py` is its backward half.

Layouts are ordinary, 0-d, zero-size, and non-contiguous views. The host backend is cheap: every
dtype in every layout, in both dtype policies. XLA compiles: a compiled function runs every dtype
and, with one of them, every layout, in one program for each policy; eager runs one dtype in every
layout.
"""

import contextlib
import os
import sys
import warnings

import numpy as onp
import pytest
from internals import (
    REGISTRY,
    Handle,
    Trace,
    UnsupportedDtypeError,
    capture,
    handles,
    host,
    registry,
)
from oracle import public
from registry_cases import CASES
from registry_cases.case import INTS, samples

import npcompat.gluon  # declares operators, too
from npcompat import np, npx, test_utils

PLACEMENT = "jax"
ON_DEVICE = (os.environ.get("NPCOMPAT_TEST_BACKENDS", "").split() or [PLACEMENT])[0]
pytestmark = [  # what is said of nothing, and of nan only
    pytest.mark.filterwarnings(f"ignore:{text}:RuntimeWarning")
    for text in ("Mean of empty slice", "Degrees of freedom", "All-NaN slice")
]

assert npcompat.gluon
OPERATORS = sorted(n for n in REGISTRY if not n.startswith("_npi_test"))
WIDE = {onp.dtype("float64"): onp.dtype("float32"), onp.dtype("complex128"): onp.dtype("complex64")}


@contextlib.contextmanager
def quiet():
    """NumPy warns of nan and overflow; XLA does not: warnings are no part of the comparison."""
    with onp.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# --- what is expected -----------------------------------------------------------------------------


def expected_of(case, arrays):
    """Call the oracle on copies of the arrays; return a flat list of arrays, or its exception."""
    if case.oracle is None:
        return None
    try:
        with quiet():
            return flat(case.oracle(*[a.copy() for a in arrays]))
    except Exception as error:  # NumPy decides which
        return error


def flat(result):
    """The arrays of a result, in order."""
    if isinstance(result, list | tuple):
        return [leaf for part in result for leaf in flat(part)]
    return [result if isinstance(result, np.ndarray | onp.generic) else onp.asarray(result)]


def by_policy(case, dtype, arrays, numpy_policy):
    """The dtype of a result: NumPy's, or under the default policy float32 where no operand is a
    64-bit float.
    """
    if numpy_policy or dtype not in WIDE:
        return dtype
    if case.policy is not None:
        return case.policy(dtype, arrays)
    return dtype if any(a.dtype in WIDE for a in arrays) else WIDE[dtype]


def verify(case, sample, found, expected, numpy_policy, where):
    """Compare results, or an exception, with what the oracle says."""
    label = f"{case.name}, {where}, {sample.layout}, {sample.dtype}: {[f'{a.dtype}{list(a.shape)}' for a in sample.arrays]}"
    if isinstance(expected, Exception):
        assert isinstance(found, public(type(expected))), (
            f"{label}: expected {expected!r}, got {found!r}"
        )
        return
    if isinstance(found, Exception):
        raise AssertionError(f"{label}: raised {found!r}") from found
    if expected is None:
        assert case.holds(*found, *sample.arrays), f"{label}: {found} does not hold"
        return
    assert len(found) == len(expected), (
        f"{label}: expected {len(expected)} results, got {len(found)}"
    )
    for i, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        what = f"{label}: result {i}"
        wanted = by_policy(case, theirs.dtype, sample.arrays, numpy_policy)
        if case.value_dtype:
            assert mine.dtype == wanted, f"{what}: expected dtype {wanted}, got {mine.dtype}"
        assert mine.shape == theirs.shape, (
            f"{what}: expected shape {theirs.shape}, got {mine.shape}"
        )
        kind = onp.generic if isinstance(theirs, onp.generic) else np.ndarray | onp.ndarray
        assert isinstance(mine, kind), f"{what}: expected {theirs!r}, got {mine!r}"
        rtol, atol = (
            case.loose * t
            for t in test_utils.tolerances(
                mine.dtype, wanted, *[a.dtype for a in sample.arrays if a.dtype.itemsize == 2]
            )
        )
        with quiet():
            theirs = theirs.astype(wanted)
        test_utils.assert_almost_equal(mine, theirs, rtol, atol, names=(what, "expected"))


# --- calls ----------------------------------------------------------------------------------------


def given(sample):
    """The sample's arrays, as arrays or as views that are not contiguous."""
    return [as_view(a) if sample.layout == "view" else np.array(a) for a in sample.arrays]


def as_view(a):
    """A view of a larger array, strided and backwards, with the values of `a`."""
    if not a.ndim:
        return np.array(onp.stack([a, a]))[1, ...]
    wide = onp.repeat(a, 2, axis=-1)[..., ::-1]
    return np.array(onp.ascontiguousarray(wide.T)).T[..., ::-2]


def outcome(case, arrays):
    """The results of a call, read, or its exception."""
    try:
        with quiet():
            found = flat(case.call(np, *arrays))
            for f in found:
                onp.asarray(f)
    except Exception as error:  # it is compared
        return error
    return found


def main_dtype(case):
    """The dtype in which XLA runs every layout."""
    own = codes(case)
    return "f" if "f" in own else own[-1]


def codes(case):
    """The dtypes that a case runs with; those with operands of their own dtypes once."""
    if all(o.dtype for o in case.operands):
        return [case.operands[0].dtype if case.operands else "f"]
    return case.dtypes.split()


def of_held_dtypes(runs):
    """The runs whose operands have dtypes that the backend under test holds."""
    if ON_DEVICE == PLACEMENT:
        return runs
    plugin = registry.get(ON_DEVICE)
    return [run for run in runs if all(plugin.has_dtype(a.dtype) for a in run[1].arrays)]


def first_held(case):
    """The first sample of a case whose dtype the backend under test holds; the first, if none."""
    if ON_DEVICE == PLACEMENT:
        return next(samples(case, codes(case)[:1], ("ordinary",)))
    found = [(case, sample) for sample in samples(case, codes(case), ("ordinary",))]
    return (of_held_dtypes(found) or found)[0][1]


def in_held_dtypes(runs):
    """The runs whose calls ask for dtypes that the backend under test holds; the test is skipped,
    with what the backend says, if there are none.
    """
    if ON_DEVICE == PLACEMENT:
        return runs
    outcomes = [outcome(case, given(sample)) for case, sample, _ in runs]
    kept = [
        run
        for run, found in zip(runs, outcomes, strict=True)
        if not isinstance(found, UnsupportedDtypeError)
    ]
    if runs and not kept:
        pytest.skip(str(outcomes[0]))
    return kept


# --- the template ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_cases_that_run_it(name, monkeypatch):
    monkeypatch.setattr(host, "quick", lambda *_: None)  # NumPy's own functions leave no trace
    cases = CASES.get(name)
    assert cases, f"{name} has no case: add one to tests/unittest/registry_cases/"
    op = REGISTRY[name]
    called = []
    for backend in (
        "numpy",
        ON_DEVICE,
    ):  # the host compiles nothing, but writes its buffers without some operators
        for table in op.programs.of_backend(backend):
            table.clear()
        for case in cases:
            assert (case.oracle is None) != (case.holds is None), (
                f"{name}: expected an oracle, or what holds"
            )
            if backend == "numpy" and not case.on_host:
                continue
            sample = first_held(case)
            with npx.backend(backend):
                if not op.inputs:
                    sys.setprofile(
                        lambda frame, event, _: (
                            called.append(1) if frame.f_code is op.compute.__code__ else None
                        )
                    )
                try:
                    outcome(case, given(sample))
                finally:
                    sys.setprofile(None)
        # what has no operands is not cached; the computes of ufuncs share their code
        if called if not op.inputs else any(op.programs.of_backend(backend)):
            return
        if backend == "numpy" and any(traces(case, op, monkeypatch) for case in cases):
            return
    raise AssertionError(f"{name}: its cases don't run it")


def traces(case, op, monkeypatch):
    """Trace a case without compiling it; return True if the operator is part of the program."""
    ran = set()
    run = Trace.run
    monkeypatch.setattr(
        Trace, "run", lambda self, op, *rest: (ran.add(op), run(self, op, *rest))[1]
    )

    def body(proxies, trace):
        return [
            handles.read(leaf) for leaf in flat(case.call(np, *proxies)) if isinstance(leaf, Handle)
        ], None

    sample = next(samples(case, codes(case)[:1], ("ordinary",)))
    try:
        with quiet():
            capture(case.name, body, [handles.read(a) for a in given(sample)])
    except Exception:  # what can't be traced is run
        return False
    finally:
        monkeypatch.setattr(Trace, "run", run)
    return op in ran


def test_every_case_belongs_to_an_operator():
    assert sorted(CASES.keys() - REGISTRY.keys()) == []


@pytest.mark.parametrize("name", OPERATORS)
def test_host(name):
    for case in CASES.get(name, ()):
        for numpy_policy in (False, True) if case.on_host else ():
            with npx.backend("numpy"), npx.np_default_dtype(numpy_policy):
                for sample in samples(case, codes(case), case.layouts):
                    verify(
                        case,
                        sample,
                        outcome(case, given(sample)),
                        expected_of(case, sample.arrays),
                        numpy_policy,
                        "host",
                    )


@pytest.mark.parametrize("name", OPERATORS)
def test_xla(name):
    checked, refused = 0, None
    for i, case in enumerate(CASES.get(name, ())):
        layouts = case.layouts if i == 0 else ("ordinary",)
        for sample in samples(case, [main_dtype(case)], layouts):
            found = outcome(case, given(sample))
            if isinstance(found, UnsupportedDtypeError):
                refused = found
                continue
            verify(case, sample, found, expected_of(case, sample.arrays), False, ON_DEVICE)
            checked += 1
    if refused is not None and not checked:
        pytest.skip(str(refused))


@pytest.mark.parametrize("numpy_policy", [False, True], ids=["default", "numpy"])
@pytest.mark.parametrize("name", OPERATORS)
def test_compiled(name, numpy_policy):
    runs = []
    for case in CASES.get(name, ()):
        own, main = codes(case), main_dtype(case)
        if numpy_policy:  # only what is made of integers differs
            chosen = [*samples(case, [code for code in own if code in INTS.split()], ("ordinary",))]
        else:
            chosen = [
                *samples(case, [main], case.layouts),
                *samples(case, [code for code in own if code != main], ("ordinary",)),
            ]
        for sample in chosen:
            expected = expected_of(case, sample.arrays)
            if not isinstance(expected, Exception):
                runs.append((case, sample, expected))
    runs = in_held_dtypes(of_held_dtypes(runs))

    @npx.jit
    def program(batch):
        return [
            flat(case.call(np, *arrays)) for (case, _, _), arrays in zip(runs, batch, strict=True)
        ]

    with npx.np_default_dtype(numpy_policy):
        results = program([given(sample) for _, sample, _ in runs])
    for (case, sample, expected), found in zip(runs, results, strict=True):
        verify(case, sample, found, expected, numpy_policy, "compiled")


@pytest.mark.parametrize("name", OPERATORS)
def test_known_while_compiling(name):
    runs = []
    for case in CASES.get(name, ()):
        for sample in samples(case, [main_dtype(case)], ("ordinary",)):
            expected = expected_of(case, sample.arrays)
            if not isinstance(expected, Exception):
                runs.append((case, sample, expected))
    runs = in_held_dtypes(runs)
    results = npx.jit(lambda: [flat(case.call(np, *given(sample))) for case, sample, _ in runs])()
    for (case, sample, expected), found in zip(runs, results, strict=True):
        verify(case, sample, found, expected, False, "known while compiling")


@pytest.mark.parametrize("name", [n for n in OPERATORS if any(c.bad for c in CASES.get(n, ()))])
def test_exceptions(name):
    for case in CASES[name]:
        for arguments in case.bad:
            expected = None
            try:
                with quiet():
                    case.oracle(
                        *[
                            onp.asarray(
                                a,
                                dtype=onp.float32
                                if isinstance(a, list) and isinstance(a[0], float)
                                else None,
                            )
                            if isinstance(a, list)
                            else a
                            for a in arguments
                        ]
                    )
            except Exception as error:
                expected = error
            assert expected is not None, f"{name}{arguments}: the oracle accepts it"
            for backend in (ON_DEVICE, "numpy"):
                with npx.backend(backend):
                    given = [np.array(a) if isinstance(a, list) else a for a in arguments]
                    with pytest.raises(public(type(expected))):
                        onp.asarray(flat(case.call(np, *given))[0])
