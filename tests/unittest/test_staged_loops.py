"""Loops, branches and whiles in compiled functions: as eager, and one program where that can be."""

import itertools
import re
import types

import numpy as onp
import pytest
from internals import TracedValueError
from loop_programs import REFUSED, STAGED, UNROLLED

from npcompat import autograd, np, npx


def cases(programs):
    return [pytest.param(p, d, id=f"{name}-{d}") for name, p in programs.items() for d in p.dtypes]


def made(program, dtype):
    return [np.array(a, dtype=a.dtype) for a in program.arguments(dtype)]


def outcome(function, arguments):
    """The results, what became of the arguments, and the error."""
    try:
        result = function(*arguments)
        results = result if isinstance(result, tuple) else (result,)
        results = [r.asnumpy() if hasattr(r, "asnumpy") else r for r in results]
        arguments = [a.asnumpy() for a in arguments]
        npx.waitall()
    except Exception as error:
        return None, None, error
    return results, arguments, None


def assert_alike(eager, compiled):
    if eager[2] is not None or compiled[2] is not None:
        assert type(compiled[2]) is type(eager[2]), (eager[2], compiled[2])
        return
    for one, other in [*zip(eager[0], compiled[0]), *zip(eager[1], compiled[1])]:
        if one is None:
            assert other is None
            continue
        one, other = onp.asarray(one), onp.asarray(other)
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        tolerance = 1e-5 if one.dtype == onp.float32 else 1e-12
        onp.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance)


def logged(function, arguments):
    with npx.compile_log() as log:
        found = outcome(function, arguments)
    return found, [line for entry in log for line in entry.loops]


@pytest.mark.parametrize(("program", "dtype"), cases(STAGED))
def test_a_staged_program_is_as_eager(program, dtype):
    eager = outcome(program.function, made(program, dtype))
    compiled, lines = logged(npx.jit(program.function), made(program, dtype))
    assert_alike(eager, compiled)
    assert lines
    assert not [line for line in lines if "unrolled" in line]


@pytest.mark.parametrize(("program", "dtype"), cases(UNROLLED))
def test_an_unrolled_program_is_as_eager_and_says_why(program, dtype):
    eager = outcome(program.function, made(program, dtype))
    compiled, lines = logged(npx.jit(program.function), made(program, dtype))
    assert_alike(eager, compiled)
    assert any("unrolled" in line and "loop_programs/unstaged.py:" in line for line in lines)


@pytest.mark.parametrize(("program", "dtype"), cases(REFUSED))
def test_a_refused_program_says_where(program, dtype):
    expected = (TracedValueError, ValueError, OverflowError)
    error = outcome(npx.jit(program.function), made(program, dtype))[2]
    assert isinstance(error, expected)
    assert re.search(r"loop_programs/\w+\.py:\d+|read-only", str(error))


@pytest.mark.parametrize(
    "program", [pytest.param(p, id=n) for n, p in STAGED.items() if p.derivative]
)
def test_the_gradient_of_a_staged_program_is_that_of_eager(program):
    found = []
    for function in (program.function, npx.jit(program.function)):
        (x,) = made(program, "float64")
        x = x.astype("float64") / 8
        x.attach_grad()
        with autograd.record():
            a = x * 1
            y = function(a)
            total = (a * a).sum() if y is None else (y * y).sum()
        total.backward()
        found.append(x.grad.asnumpy())
    onp.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-12)


# --- the switch, and what is not converted


def test_loops_of_python_are_as_they_were():
    def first_above(x):
        for i in range(len(x)):
            if x[i] > 3:
                return i
        return -1

    def doubled(x):
        for _ in range(20):
            x = x * 2
        return x

    x = np.arange(5.0)
    assert npx.jit(first_above)(x) == 4
    with pytest.raises(TracedValueError, match=r"npx\.cond, npx\.while_loop or npx\.foreach"):
        npx.jit(first_above, loops="python")(x)
    found, lines = logged(npx.jit(doubled, loops="python"), [x])
    assert found[0][0].tolist() == (x * 2**20).tolist() and not lines
    with pytest.raises(ValueError, match="loops='numba': expected one of staged, python"):
        npx.jit(doubled, loops="numba")


def test_the_policy_of_the_outer_function_holds_within():
    @npx.jit
    def inner(x):
        if x.sum() > 0:
            return x * 2
        return x * 1

    x = np.ones(3)
    assert npx.jit(lambda x: inner(x) + 1)(x).tolist() == [3, 3, 3]
    with pytest.raises(TracedValueError, match="npx.cond"):
        npx.jit(lambda x: inner(x) + 1, loops="python")(x)


def test_a_function_without_source_is_as_it_was():
    space = {}
    exec("def f(x):\n    for i in range(12):\n        x = x + i\n    return x", space)
    assert npx.jit(space["f"])(np.zeros(2)).tolist() == [66, 66]


def test_a_generator_is_as_it_was():
    def f(x):
        def rounds():
            yield from range(12)

        for i in rounds():
            x = x + i
        return x

    assert npx.jit(f)(np.zeros(2)).tolist() == [66, 66]


def test_a_traceback_shows_the_users_line():
    def f(x):
        for _ in range(12):
            x = x * 1
            x = x + np.ones(3)
        return x

    with pytest.raises(ValueError, match="broadcast") as info:
        npx.jit(f)(np.zeros(2))
    lines = [e.lineno + 1 for e in info.traceback if e.path.name == "test_staged_loops.py"]
    assert f.__code__.co_firstlineno + 3 in lines


def test_changes_of_what_a_helper_encloses_compile_again():
    def make():
        factor = [2]

        def helper(x):
            return x * factor[0] if x > 0 else x

        return factor, helper

    factor, helper = make()

    @npx.jit
    def f(x):
        s = x[0] * 0
        for i in range(len(x)):
            s = s + helper(x[i])
        return s

    x = np.ones(10)
    assert f(x) == 20
    factor[0] = 3
    assert f(x) == 30


def test_compile_time_does_not_depend_on_the_number_of_rounds():
    def f(x, n):
        for i in range(n):
            x[i % 7] += i

    for n in (100, 100_000):
        with npx.compile_log() as log:
            x = np.zeros(7)
            npx.jit(f, static_argnums=1)(x, n)
        assert [len(entry.loops) for entry in log] == [1]
        expected = onp.zeros(7)
        onp.add.at(expected, onp.arange(n) % 7, onp.arange(n))
        assert onp.allclose(x.asnumpy(), expected)


# --- what must never be silently wrong


def six_loops_of_two(a, b):
    for h in range(2):
        for i in range(2):
            for j in range(2):
                for k in range(2):
                    for m in range(2):
                        for n in range(2):
                            b[h, i] += a[j, k] * a[m, n] + h


def three_loops_of_three(a, b):
    for c in range(3):
        for i in range(3):
            for j in range(3):
                b[:2] += a[c, i] * j


@pytest.mark.parametrize(("program", "staged"), [(six_loops_of_two, 3), (three_loops_of_three, 0)])
def test_a_nest_of_loops_of_few_rounds_is_staged_where_it_is_deep(program, staged):
    a = onp.arange(9.0).reshape(3, 3)
    theirs, ours = onp.zeros((3, 3)), np.zeros((3, 3), dtype="float64")
    program(a, theirs)
    with npx.compile_log() as log:
        npx.jit(program)(np.array(a, dtype="float64"), ours)
    assert ours.tolist() == theirs.tolist()
    lines = [line for entry in log for line in entry.loops]
    assert len(lines) == staged and all("one loop" in line for line in lines), lines


def test_another_name_of_an_array_sees_what_eager_shows():
    def f(x):
        y = x
        for _ in range(12):
            x += 1
            x = x * 1
        return x, y

    x, again = np.ones(3), np.ones(3)
    assert [a.tolist() for a in npx.jit(f)(x)] == [a.tolist() for a in f(again)]
    assert x.tolist() == again.tolist()


def test_a_write_to_one_of_two_arrays_as_data_decide_is_refused():
    def f(x):
        y = x
        if x[0] > 0:
            x = x * 2
        y += 1
        return x

    with pytest.raises(TracedValueError, match="use a copy of it"):
        npx.jit(f)(np.ones(3))


def test_items_of_lists_and_dicts_are_set_in_each_round():
    def f(x):
        c, d = [0] * 12, {}
        for i in range(12):
            c[i], d[i] = i * 2, i
        return x + sum(c) + len(d)

    assert npx.jit(f)(np.zeros(2)).tolist() == [144, 144]


def test_draws_in_a_loop_are_those_of_eager():
    def f(x):
        for _ in range(12):
            x += np.random.normal(size=3)

    found = []
    for g in (f, npx.jit(f)):
        np.random.seed(0)
        x = np.zeros(3)
        g(x)
        found.append(x.asnumpy())
    onp.testing.assert_allclose(found[1], found[0], rtol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "int8"])
def test_positions_of_narrow_and_unsigned_dtypes(dtype):
    x, c = np.arange(300.0), np.array([1, 2, 3], dtype=dtype)
    for f in (lambda x, c: x[c], lambda x, c: np.take(x, c)):
        assert npx.jit(f)(x, c).tolist() == [1, 2, 3]
        with pytest.raises(IndexError):
            npx.jit(f)(x[:3], c).asnumpy()


def test_the_entry_of_a_long_program_is_short():
    def unrolled(a):
        found = []
        for i in range(40):
            found.append(np.sin(a[i]) * 2)
        return found

    with npx.compile_log() as log:
        npx.jit(unrolled)(np.arange(40.0))
    (entry,) = [e for e in log if e.loops]
    assert len(entry.groups) > 8 and "more groups" in str(entry)
    assert str(entry) in repr(log) and len(repr(log)) < 1500


def _skips_some(a):
    wanted = {3, 5, 11}
    for i in range(len(a)):
        if i in (-0.0, 4) or i in wanted:
            a[i] = 0


def test_sets_of_files_of_compiled_code_are_those_of_the_source():
    code = _skips_some.__code__
    (found,) = [c for c in code.co_consts if isinstance(c, frozenset)]
    others = [frozenset(order) for order in itertools.permutations(found)]
    other = next(o for o in others if repr(o) != repr(found))
    constants = tuple([other if c is found else c for c in code.co_consts])
    function = types.FunctionType(code.replace(co_consts=constants), globals())
    a = np.arange(12.0)
    _, lines = logged(npx.jit(function), [a])
    assert any(["one loop" in line or "staged" in line for line in lines]), lines
    assert a.tolist() == [0, 1, 2, 0, 0, 0, 6, 7, 8, 9, 10, 0]
    changed = tuple([(0.0, 4) if c == (-0.0, 4) else c for c in constants])
    function = types.FunctionType(code.replace(co_consts=changed), globals())
    assert not logged(npx.jit(function), [a])[1]  # its source is another
