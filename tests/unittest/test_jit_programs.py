"""Which programs `npx.jit` makes, and why: signatures, modes, dtype policy, random draws, backends;
the compile log.
"""

import gc
import re
import weakref

import pytest
from internals import CompileWarning
from oracle import both

from npcompat import autograd, np, npx

PLACEMENT = "jax"


def reasons(f, *calls):
    """Call `f` with each tuple of arguments; return the logged reasons of its compilations."""
    with npx.compile_log() as log:
        for args in calls:
            f(*args)
    return [entry.reason for entry in log if entry.name == f.__name__]


def test_each_compilation_is_logged_with_its_reason():
    def f(x, k=1):
        return x * k

    narrow, wide, exact = np.ones((32, 8)), np.ones((31, 8)), np.ones((31, 8), dtype="float64")
    assert reasons(npx.jit(f), (narrow,), (narrow,), (wide,), (exact,), (wide,)) == [
        "first call",
        "argument 0: shape (32, 8) became (31, 8)",
        "argument 0: dtype float32 became float64",
    ]
    assert reasons(npx.jit(f), (wide, 1), (wide, 2), (wide, 1)) == [
        "first call",
        "static argument 1: 1 became 2; an operand from now on",
    ]
    assert (
        reasons(npx.jit(f), (wide, 1), (wide, np.array(2)))[1]
        == "argument 1: what is no array became an array"
    )
    assert (
        reasons(npx.jit(f), (wide, wide), (wide, np.array(wide)))[1]
        == "an array is passed several times, or no longer"
    )
    assert reasons(npx.jit(f), (wide,), (wide, 1))[1] == "1 positional argument became 2"
    compiled = npx.jit(f)
    assert reasons(compiled, (wide,)) == ["first call"]
    with autograd.train_mode():
        assert reasons(compiled, (wide,)) == ["training: False became True"]
    with npx.np_default_dtype():
        assert reasons(compiled, (wide,)) == ["training: True became False"]
    assert reasons(compiled, (wide,)) == []


def test_reasons_name_the_arguments():
    def f(x, *rest, **named):
        return x + 1

    def reason(before, after):
        compiled = npx.jit(f)
        with npx.compile_log() as log:
            for args, named in (before, after):
                compiled(*args, **named)
        return log[-1].reason

    a, b = np.ones(3), np.ones(4)
    assert reason(((a,), {}), ((a,), {"k": 1})) == "argument k: given by keyword now"
    assert reason(((a,), {"k": 1, "m": a}), ((a,), {"j": 1})) == (
        "argument j: given by keyword now; argument k: no longer given by keyword; argument m: no longer given by keyword"
    )
    assert (
        reason(((a,), {"k": 1}), ((a,), {"k": 2}))
        == "static argument k: 1 became 2; an operand from now on"
    )
    assert (
        reason(((a,), {"k": np.ones(2)}), ((a,), {"k": np.ones(1)}))
        == "argument k: shape (2,) became (1,)"
    )
    assert (
        reason(((a, {"w": [b, b + 1]}), {}), ((a, {"w": [b, a]}), {}))
        == "an array is passed several times, or no longer"
    )
    assert (
        reason(((a, {"w": [b, b + 1]}), {}), ((a, {"w": [b, a + 1]}), {}))
        == "argument 1['w'][1]: shape (4,) became (3,)"
    )
    assert reason(((a, {"w": [b]}), {}), ((a, {"v": [b]}), {})) == "argument 1: nested otherwise"
    assert reason(((a,), {"k": (b,)}), ((a,), {"k": [b]})) == "argument k: nested otherwise"


def test_what_was_cleared_is_compiled_for_that():
    f = npx.jit(lambda x: x + 1)
    f(np.ones(2))
    f.clear()
    with npx.compile_log() as log:
        f(np.ones(2))
    assert [entry.reason for entry in log] == ["what was compiled has been forgotten"]


def test_a_line_that_compiles_again_and_again_is_warned_of():
    @npx.jit
    def total(x, k=1):
        return x.sum() * int(k)

    def called(arrays, numbers=(None,)):
        for a in arrays:
            for k in numbers:
                if k is None:
                    total(a)
                else:
                    total(a, k=k)

    arrays = [np.ones(n) for n in range(2, 14)]
    with pytest.warns(CompileWarning) as caught:
        called(arrays)
    (warning,) = caught
    assert re.fullmatch(
        r".*test_jit_programs.py:\d+: total was compiled again 8 times for calls in this line, at last because of argument 0: shape \(9,\) "
        r"became \(10,\). To compile it once: give bucket=, which pads arrays .*",
        str(warning.message),
    )
    with pytest.warns(
        CompileWarning,
        match=r"static argument k: 6 became 7. To compile it once: .* np.array\(value\)$",
    ):
        total.clear(), called(arrays[:1], range(12))
    called(arrays[:1] * 20)  # what is compiled already costs nothing


def test_the_log_names_the_line_of_the_call_and_the_types():
    f = npx.jit(lambda x: x + 1)
    with npx.compile_log() as log:
        f(np.ones((2, 3)))
    (entry,) = log
    assert entry.types == ("float32[2,3]",)
    assert "test_jit_programs.py:" in entry.location and str(entry).endswith(
        "compiled <lambda>(float32[2,3]): first call"
    )


def test_changing_values_does_not_recompile():
    w = np.ones(3)

    @npx.jit
    def f(x, i):
        w[i] += x
        return w.sum()

    with npx.compile_log() as log:
        for i in range(20):
            f(np.array(float(i)), np.array(i % 3))
            w[0] = i
    assert sum(entry.name == "f" for entry in log) == 1


def test_a_captured_array_of_another_shape_or_dtype_recompiles():
    a, calls = np.ones(3), []

    @npx.jit
    def f(x):
        calls.append(a.shape)
        return (a * x).sum()

    assert f(np.array(2.0)).item() == 6
    a.resize(5, refcheck=False)
    a[...] = 1
    with npx.compile_log() as log:
        assert f(np.array(2.0)).item() == 10
    assert [e.reason for e in log if e.name == "f"] == [
        "a captured array has another shape or dtype since the function was compiled"
    ]
    a.shape = (5, 1)
    assert f(np.array(3.0)).item() == 15 and calls == [(3,), (5,), (5, 1)]


def test_clear_forgets_programs():
    traced = []
    f = npx.jit(lambda x: traced.append(1) or x + 1)
    x = np.ones(1)
    f(x), f(x)
    f.clear()
    assert f(x).tolist() == [2] and len(traced) == 2


def test_programs_do_not_keep_arguments_alive():
    f = npx.jit(lambda x: x * 2)
    x = np.ones(1000)
    ref = weakref.ref(x)
    f(x)
    del x
    gc.collect()
    assert ref() is None


# --- modes and draws ------------------------------------------------------------------------------


def test_draws_are_those_of_eager_code_and_differ_between_calls():
    def make(jit):
        np.random.seed(11)

        @jit
        def f():
            return (
                np.random.normal(size=3),
                np.random.uniform(size=(2,)),
                np.random.randint(0, 10, size=4),
            )

        before = np.random.uniform()
        found = [f() for _ in range(3)]
        return before, found, np.random.normal()

    _, found, _ = both(make)
    assert found[0][0].tolist() != found[1][0].tolist()


def test_draws_from_a_generator_and_seeding_inside():
    def make(jit):
        rng = np.random.default_rng(5)

        @jit
        def f(x):
            return x + rng.normal(size=2) + rng.permutation(2)

        return f(np.zeros(2)), f(np.zeros(2)), rng.uniform()

    both(make)


def test_training_and_predict_mode_are_seen_and_kept_apart():
    @npx.jit
    def f(x):
        return x * (2 if autograd.is_training() else 1), autograd.is_recording()

    x = np.ones(1)
    assert f(x)[0].item() == 1
    with autograd.train_mode():
        assert f(x)[0].item() == 2
    with autograd.record():
        assert f(x)[0].item() == 2 and f(x)[1] is True
    with autograd.record(train_mode=False):
        assert f(x)[0].item() == 1
    assert f(x)[0].item() == 1


def test_the_dtype_policy_is_seen():
    f = npx.jit(lambda x: (x / 2, np.ones(2), x + 0.5))
    x = np.arange(2)
    assert [r.dtype.name for r in f(x)] == ["float32"] * 3
    with npx.np_default_dtype():
        assert [r.dtype.name for r in f(x)] == ["float64"] * 3
    assert [r.dtype.name for r in f(x)] == ["float32"] * 3


def test_arrays_of_the_host_backend_are_arguments_too():
    with npx.backend("numpy"):
        a, w = np.arange(3.0), np.ones(3)

        @npx.jit
        def f(x):
            w[...] += x
            x *= 2
            return x.sum() + w[0]

        assert f(a).item() == 7 and a.tolist() == [0, 2, 4] and w.tolist() == [1, 2, 3]
        assert f(a).item() == 13 and a.tolist() == [0, 4, 8] and w.tolist() == [1, 4, 7]
        a[0] = 1
        w += 1
        assert f(a).item() == 26 + 3 and w.tolist() == [3, 9, 16]


def test_an_argument_of_which_there_was_a_view_is_no_other_one():
    double, a = npx.jit(lambda x: x * 2), np.ones((2, 3))
    double(a)
    assert a.T.shape == (3, 2)
    with npx.compile_log() as log:
        double(a)
    assert not log


def test_logs_within_logs_have_the_same_entries():
    f = npx.jit(lambda x: x + 1)
    with npx.compile_log() as outer:
        with npx.compile_log() as inner:
            pass
        f(np.ones(2))
    assert len(outer) == 1 and inner == []
