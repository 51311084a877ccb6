"""Arrays that a loop binds anew in some rounds only, and that have other names: as NumPy, or
refused.
"""

import inspect
import linecache

import numpy as onp
import pytest
from internals import RefusedError, TracedValueError

from npcompat import np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")


def written_before_in_each_round(a, b):
    for i in range(10):
        b[i] = a[i]
        if a[i] > 4:
            b = b[::-1].copy()


def written_after_in_each_round(a, b):
    for i in range(10):
        if a[i] > 4:
            b = b * 2
        b[i] = 7


def written_after_the_loop(a, b):
    for i in range(10):
        if a[i] > 100:
            b = b * 2
    b[0] = 7


def written_after_the_loop_by_its_other_name(a, b):
    c = b
    for i in range(10):
        if a[i] > 4:
            b = b * 2
    c[0] = 7
    return b, c


def with_another_name_inside_the_function(a, b):
    c = a * 2
    d = c
    for i in range(10):
        c += 1
        if a[i] > 4:
            c = c * 2
    return d, c


def written_in_an_inner_loop(a, b):
    for g in range(9):
        for h in range(10):
            b[h] = a[h] + g
        if a[g] > 1:
            if a[g] > 2:
                a[g] *= 0.5
            else:
                b = b[::-1].copy()


def bound_in_an_inner_loop(a, b):
    for g in range(9):
        for h in range(10):
            b[h] = b[h] + g
            if a[h] > 8:
                b = b + 1


def bound_before_a_break(a, b):
    for i in range(10):
        if a[i] > 30:
            b = b + 1
            break
    b[0] = 7


def bound_after_a_continue(a, b):
    for i in range(10):
        if a[i] > 0:
            continue
        b = b + 1
    b[0] = 7


def in_a_tuple(a, b):
    t = (b, 1.0)
    for i in range(10):
        if a[i] > 100:
            t = (t[0] * 2, t[1] + 1)
    t[0][0] = 7


def in_a_tuple_that_a_branch_binds(a, b):
    t = (b, 1.0)
    if a[0] > 100:
        t = (t[0] * 2, t[1])
    t[0][0] = 7


def in_a_tuple_with_two_names(a, b):
    t = (a * 2, 1.0)
    s = t
    for i in range(10):
        if a[i] > 4:
            t = (t[0] * 2, t[1])
    t[0][0] = 7
    return s[0], t[0]


def bound_while_data_say_so(a, b):
    i = 0
    while a[i] < 9:
        if a[i] > 4:
            b = b * 2
        b += 1
        i += 1


def bound_to_an_existing_array(a, b):
    new = a * 2
    x = b
    if a[0] > 1:
        x = new
    return x + new


def bound_to_an_existing_array_until_a_break(a, b):
    x = b
    for _ in range(40):
        new = (x + a) / 2
        if abs(new - x).max() < 1e-3:
            break
        x = new
    return x


def bound_to_an_existing_array_in_both_arms(a, b):
    x = a if a[0] > 1 else b
    return x * 2


def swapped_in_an_arm(a, b):
    c, d = a * 2, b * 2
    for i in range(10):
        if a[i] > 4:
            c, d = d, c
    return c - d * 2


def written_if_an_existing_array(a, b):
    new = a * 2
    x = b
    if a[0] > 1:
        x = new
    x[0] = 7
    return x, new


def whose_other_name_is_written(a, b):
    new = a * 2
    x = b
    if a[0] > 1:
        x = new
    new[0] = 7
    return x, new


def whose_other_name_is_written_by_the_next_round(a, b):
    new = a * 2
    x = b * 1
    for i in range(10):
        new += x
        if a[i] > 4:
            x = new
    return x, new


def whose_view_is_written(a, b):
    new = a * 2
    v = new[2:]
    x = b
    if a[0] > 1:
        x = new
    v[0] = 7
    return x, new


def whose_view_is_written_after_a_branch(a, b):
    c = a * 2
    v = c[2:]
    if a[0] > 100:
        c = c * 3
    v[0] = 7
    return c


def the_greatest_of_which_is_written(a, b):
    x = a[:1] * 1
    y = x
    if a[0] > 100:
        b += 1
    x = max(x, b[:1] * 1)
    x[0] = 7
    return x, y


def of_which_an_arm_makes_two_names(a, b):
    c, d = a * 2, b * 1
    if a[0] > 1:
        c = d = a + b
    c += 1
    return c, d


def of_which_an_arm_makes_a_name_and_a_tuple(a, b):
    c, t = a * 2, (b * 1, 1)
    if a[0] > 1:
        c = a + b
        t = (c, 2)
    c += 1
    return c, t[0]


def of_which_a_loop_in_an_arm_makes_two_names(a, b):
    c, d = a * 2, b * 1
    if a[0] > 1:
        for i in range(10):
            c = a + i
            d = c
    d += 1
    return c, d


def bound_and_written_by_the_next_round(a, b):
    x = b * 1
    for i in range(10):
        x[0] = i
        if a[i] > 4:
            x = a
    return x


def an_argument_that_is_written_after_a_loop(a, b):
    x = a * 2
    for i in range(10):
        if a[i] > 4:
            x = b
    b[0] = 7
    return x * 1


@pytest.mark.parametrize(
    "program",
    [
        written_if_an_existing_array,
        whose_other_name_is_written,
        whose_other_name_is_written_by_the_next_round,
        whose_view_is_written,
        whose_view_is_written_after_a_branch,
        the_greatest_of_which_is_written,
        of_which_an_arm_makes_two_names,
        of_which_an_arm_makes_a_name_and_a_tuple,
        of_which_a_loop_in_an_arm_makes_two_names,
        bound_and_written_by_the_next_round,
        an_argument_that_is_written_after_a_loop,
        written_before_in_each_round,
        written_after_in_each_round,
        written_after_the_loop,
        written_after_the_loop_by_its_other_name,
        with_another_name_inside_the_function,
        written_in_an_inner_loop,
        bound_in_an_inner_loop,
        bound_before_a_break,
        bound_after_a_continue,
        in_a_tuple,
        in_a_tuple_that_a_branch_binds,
        in_a_tuple_with_two_names,
        bound_while_data_say_so,
    ],
)
def test_a_write_that_another_name_may_see_is_refused(program):
    given = [onp.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3]), onp.arange(10.0)]
    with pytest.raises(TracedValueError, match="use a copy of it"):
        npx.jit(program)(*[np.array(x) for x in given])


def bound_by_each_round_before_it_is_written(a, b):
    for i in range(10):
        b = b * 2
        b[i] = a[i]
    return b


def only_read_after_it_was_bound(a, b):
    for i in range(10):
        if a[i] > 4:
            b = b[::-1].copy()
        a[i] += b[0]
    return b


def only_its_other_name_is_written(a, b):
    c = b
    for i in range(10):
        c[i] = a[i]
        d = b * 2
    return d


@pytest.mark.parametrize(
    "program",
    [
        bound_by_each_round_before_it_is_written,
        only_read_after_it_was_bound,
        only_its_other_name_is_written,
        bound_to_an_existing_array,
        bound_to_an_existing_array_until_a_break,
        bound_to_an_existing_array_in_both_arms,
        swapped_in_an_arm,
    ],
)
def test_other_arrays_with_several_names_are_as_numpys(program):
    theirs = [onp.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3]), onp.arange(10.0)]
    ours = [np.array(x) for x in theirs]
    with_numpy = type(program)(program.__code__, {**program.__globals__, "np": onp})
    found, expected = npx.jit(program)(*ours), with_numpy(*theirs)
    for one, other in zip([found, *ours], [expected, *theirs], strict=True):
        onp.testing.assert_array_equal(one.asnumpy(), other)


def of_its_own(a):
    b = a.copy()
    for i in range(10):
        b[i] += a[i]
        if a[i] > 4:
            b = b[::-1].copy()
        b += 1
    b[0] = 7
    return b


def in_a_tuple_of_its_own(a):
    t = (a * 2, 1.0)
    for i in range(10):
        if a[i] > 4:
            t = (t[0] + 1, t[1] * 2)
        t[0][i] = 7
    t[0][0] = 5
    return t[0]


def bound_by_each_round(a):
    for i in range(10):
        a = a * 2
        a[i] = 1
    a[0] = 7
    return a


@pytest.mark.parametrize("program", [of_its_own, in_a_tuple_of_its_own, bound_by_each_round])
def test_arrays_with_one_name_stay_in_one_loop(program):
    given = onp.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3])
    with npx.compile_log() as log:
        found = npx.jit(program)(np.array(given))
    onp.testing.assert_array_equal(found.asnumpy(), program(given))
    (line,) = [line for entry in log for line in entry.loops]
    assert "one loop" in line


def read_only(a, b):
    for i in range(10):
        if a[i] > 4:
            b = b + 1
    b[0] = 7
    return b


def test_a_read_only_array_stays_so_in_a_loop():
    a, b = np.arange(10.0), np.arange(10.0)
    b.flags.writeable = False

    def written(a, b):
        for i in range(10):
            b[i] = a[i]

    with pytest.raises(ValueError, match="read-only"):
        npx.jit(written)(a, b)
    with pytest.raises((ValueError, TracedValueError), match=r"read-only|use a copy"):
        npx.jit(read_only)(a * 0, b)
    assert b.tolist() == list(range(10))


def bound_in_an_arm_and_the_next(p, i):
    if i > 2:
        p = p + 1
    elif i > 1:
        p = p + 2
    p[0] = 7


def bound_in_two_branches(p, i):
    if i > 2:
        p = p.copy()
    if i > 3:
        p = p.copy()
    p[0] = 7


def bound_in_rounds_that_are_unrolled(p, i):
    for k in range(2):
        if i > k:
            p = p / 2
    p -= 1


def bound_in_rounds_of_an_inner_loop(p, i):
    for _ in range(20):
        for k in range(2):
            if i > k:
                p = p / 2
        p -= 1


def another_name_of_what_two_branches_bind(p, i):
    q = p * 2
    r = q
    if i > 2:
        q = q + 1
    if i > 3:
        q = q * 2
    q += 5
    p[:] = r


def bound_by_two_calls(p, i):
    def helped(p, i):
        if i > 3:
            p = p * 1
        return p

    p = helped(helped(p, i), i)
    p += 1


@pytest.mark.parametrize(
    "program",
    [
        bound_in_an_arm_and_the_next,
        bound_in_two_branches,
        bound_in_rounds_that_are_unrolled,
        bound_in_rounds_of_an_inner_loop,
        another_name_of_what_two_branches_bind,
        bound_by_two_calls,
    ],
)
def test_a_write_after_several_branches_is_refused(program):
    with pytest.raises(TracedValueError, match="use a copy of it"):
        npx.jit(program)(np.ones(3), np.array(0))


def test_an_array_that_both_arms_bind_is_new():
    def f(p, i):
        q = p
        if i > 2:
            q = q + 1
        else:
            q = q * 2
        q += 1
        return q

    p = np.ones(3)
    assert npx.jit(f)(p, np.array(0)).tolist() == [3, 3, 3] and p.tolist() == [1, 1, 1]


def test_a_name_that_an_arm_has_left_over_is_bound_by_the_next_branch():
    def f(p, i):
        q = p * 2
        if i > 2:
            p = q - 1  # not used
        else:
            if i > 1:
                q = q + 1
        if i > 4:
            p = q.copy()
        else:
            p = q * 3
        return p

    for i in (0, 2, 5):
        found = npx.jit(f)(np.ones(3), np.array(i))
        assert found.tolist() == f(np.ones(3), i).tolist()


# --- a name that a round or an arm may have bound to an array of before, written by its other name


def after_a_loop(p, i):
    q = p * 2
    r = p + q
    for _ in range(20):
        p = r
        if i > 4:
            p = q * 2
    r[:] += 1
    return p.sum(), r.sum()


def after_two_loops(p, i):
    q = p * 2
    r = p + q
    for _ in range(20):
        for _ in range(20):
            p = r
            if i > 4:
                p = q * 2
    r += 1
    return p.sum(), r.sum()


def after_a_while(p, i):
    q = p * 2
    r = p + q
    k = 0
    while k < i + 3:
        k = k + 1
        p = r
        if i > 4:
            p = q * 2
    r += 1
    return p.sum(), r.sum()


def after_an_arm(p, i):
    q = p * 2
    r = p + q
    if i > 1:
        p = r
        if i > 4:
            p = q * 2
    r += 1
    return p.sum(), r.sum()


def after_a_loop_in_an_arm(p, i):
    q = p * 2
    r = p + q
    if i > 1:
        for _ in range(20):
            p = r
            if i > 4:
                p = q * 2
    r += 1
    return p.sum(), r.sum()


def in_the_next_round(p, i):
    q = p * 2
    r = p + q
    s = 0.0
    for _ in range(20):
        r += 1
        s = s + p.sum()
        p = r
        if i > 4:
            p = q * 2
    return p.sum(), r.sum(), s


BOUND_BEFORE = [
    after_a_loop,
    after_two_loops,
    after_a_while,
    after_an_arm,
    after_a_loop_in_an_arm,
    in_the_next_round,
]


@pytest.mark.parametrize("function", BOUND_BEFORE, ids=lambda f: f.__name__)
def test_a_write_that_another_name_may_have_to_see_is_refused(function):
    for i in (0, 3, 5):
        with pytest.raises(RefusedError, match="use a copy"):
            npx.jit(function)(np.arange(1.0, 4.0), np.array(i))


@pytest.mark.parametrize("function", BOUND_BEFORE, ids=lambda f: f.__name__)
def test_reads_of_both_names_are_possible(function):
    code = function.__code__
    source = (
        inspect.getsource(function).replace("r += 1", "r = r + 1").replace("r[:] += 1", "r = r * 1")
    )
    name = f"<{code.co_name}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), space := {})
    for i in (0, 3, 5):
        expected = space[code.co_name](np.arange(1.0, 4.0), i)
        try:
            found = npx.jit(space[code.co_name])(np.arange(1.0, 4.0), np.array(i))
        except RefusedError:
            assert function is in_the_next_round  # it binds `r`, of which `p` is another name
            continue
        assert [float(x) for x in found] == [float(x) for x in expected]
