"""Compiled functions that raise and catch errors, and names that are alive where they are caught."""

import functools
import io
import logging
import pickle
from contextlib import suppress

import pytest

from npcompat import autograd, np, npx
from npcompat.errors import RefusedError, TracedValueError


def caught_after_a_branch(a):
    w = a[1]
    try:
        if a.sum() > 50:
            w = w + 5
        else:
            w = w + a[2]
        raise KeyError
    except KeyError:
        pass
    return w


def caught_after_a_branch_of_numbers(a):
    k = 0
    try:
        if a.sum() > 50:
            k = 1
        else:
            k = 2
        raise KeyError
    except KeyError:
        pass
    return a[:3] * k


def caught_in_each_round(a):
    w = a[1]
    for i in range(3):
        try:
            if a[i] > 1:
                w = w + 5
            else:
                w = w - 5
            raise ValueError
        except ValueError:
            w = w * 2
    return w


def suppressed_after_a_branch(a):
    w = a[1]
    with suppress(KeyError):
        if a.sum() > 50:
            w = w + 1
        else:
            w = w + 2
        raise KeyError
    return w


def suppressed_before_another_value(a):
    w = a[1]
    with suppress(KeyError):
        if a.sum() > 50:
            w = w + 1
        else:
            w = w + 2
        {}["k"]
        w = a[0]
    return w


def caught_before_another_value(a):
    w = a[1]
    try:
        if a.sum() > 50:
            w = w + 1
        else:
            w = w + 2
        {}["k"]
        w = a[0]
    except KeyError:
        pass
    return w


def caught_after_a_loop(a):
    w, i = a[1], -1
    try:
        for i in range(12):
            w = w + a[i]
        raise KeyError
    except KeyError:
        pass
    return w, i


def bound_by_a_loop_in_a_try(a):
    try:
        for i in range(12):
            y = a[i]
        raise KeyError
    except KeyError:
        pass
    return y


def finally_reads_it(a):
    w, seen = a[0], []
    try:
        try:
            if a.sum() > 50:
                w = w + 1
            else:
                w = w + 2
            raise KeyError
        finally:
            seen.append(w + 0)
            w = a[3]
    except KeyError:
        pass
    return seen[0], w


def caught_in_rounds_that_are_unrolled(a):
    seen = []
    for i in range(12):
        try:
            a[i] += {}["k"]
        except Exception:
            a[i] += 1
        seen.append(i)
    return a


def handler_reads_it(a):
    w = a[0]
    try:
        if a.sum() > 50:
            w = w + 1
        else:
            w = w + 2
        raise KeyError
    except KeyError:
        found = w * 10
    w = a[1]
    return found, w


def error_in_the_other_arm(a):
    try:
        if a.sum() > 50:
            w = a[:2] + 1
        else:
            w = a[:2] + {}["k"]
    except KeyError:
        w = a[:2] * 100
    return w


def key_of_the_other_arm(a):
    d = {"x": 1.0}
    if a.sum() > 50:
        return a[1] + d["x"]
    return a[1] + d["y"]


def error_after_a_return(a):
    with suppress(KeyError):
        if a.sum() > 50:
            return a[1] + 1
        {}["k"]
    return a[1]


def annotated_again(a):
    w = a[1]
    if a.sum() > 50:
        w = w + 1
    else:
        w = w + 2
    w: float  # type: ignore[no-redef]
    return w


def annotated_after_a_loop(a):
    best: float = a[0]
    k: int = 0
    for i in range(12):
        if a[i] > best:
            best = a[i]
            k = i
    k: int  # type: ignore[no-redef]
    return best, k


def generator_that_runs_later(a):
    w = a[1]
    g = (w * k for k in range(3))
    if a.sum() > 50:
        w = w + 1
    else:
        w = w + 2
    return list(g)


def closure_that_is_called_between(a):
    w = a[1]

    def read():
        return w * 2

    if a.sum() > 50:
        w = w + 1
    else:
        w = w + 2
    found = read()
    w = a[5]
    return found, w


def called_with_function(a):
    def applied(x, function):
        return function(x)

    for i in range(12):
        a[i] += applied(a[i], function=lambda x: x * 2)
    return a


def early_returns_of_none(a):
    def step(i):
        if i % 2:
            return
        a[i] += 1
        if a[i] > 5:
            return
        a[i] *= 2

    for i in range(12):
        step(i)
    return a


PROGRAMS = [
    caught_after_a_branch, caught_after_a_branch_of_numbers, caught_in_each_round,
    suppressed_after_a_branch, suppressed_before_another_value, caught_before_another_value,
    caught_in_rounds_that_are_unrolled, caught_after_a_loop, bound_by_a_loop_in_a_try, finally_reads_it, handler_reads_it,
    error_in_the_other_arm, key_of_the_other_arm, error_after_a_return, annotated_again,
    annotated_after_a_loop, generator_that_runs_later, closure_that_is_called_between,
    called_with_function, early_returns_of_none,
]  # fmt: skip


def numbers(found):
    return [np.asarray(x).tolist() for x in (found if isinstance(found, tuple | list) else [found])]


@pytest.mark.parametrize("program", PROGRAMS)
def test_is_as_eager(program):
    expected = numbers(program(np.arange(12.0)))
    compiled = npx.jit(program)
    for _ in range(2):
        assert numbers(compiled(np.arange(12.0))) == expected


# --- the first round gives a value -----------------------------------------------------------------


def by_the_index(a):
    for i in range(12):
        if i == 0:
            b = a[0]
        b = b * 0.5 + a[i]
    return b


def by_a_flag(a):
    first = True
    for x in a:
        if first:
            m = x
            first = False
        m = np.maximum(m * 0.9, x)
    return m


def of_the_round_before(a):
    for i in range(12):
        if i > 0:
            a[i] += prev  # type: ignore[has-type]  # noqa: F821
        prev = a[i] * 0.5
    return a, prev


def in_every_other_round(a):
    for i in range(12):
        if i % 2 == 0:
            t = a[i] * 2
        else:
            a[i] = t
    return a


def a_number(a):
    for i in range(12):
        if i == 0:
            k = 5
        k += 1
        a[i] += k
    return a, k


def from_three(a):
    for i in range(3, 12):
        if i == 3:
            b = a[0] * 2
        b = b + a[i]
    return b


def backwards(a):
    for i in reversed(range(12)):
        if i == 11:
            b = a[0] * 2
        b = b * 0.5 + a[i]
    return b


def by_data(a):
    for i in range(12):
        if a[i] == 0:
            b = a[i] + 1
        b = b * 0.5 + a[i]
    return b


def in_a_while(a):
    n = 0
    while a[n] < 10:
        if n == 0:
            b = a[0] + 1
        b = b * 0.5 + a[n]
        n += 1
    return b


def nested(a):
    for i in range(12):
        for j in range(10):
            if i + j == 0:
                b = a[0] + 1
            b = b * 0.5 + a[i] * j
    return b


FIRST = [
    by_the_index, by_a_flag, of_the_round_before, in_every_other_round, a_number, from_three,
    backwards, by_data, in_a_while, nested,
]  # fmt: skip


@pytest.mark.parametrize("program", FIRST)
def test_rounds_hand_on_what_the_first_has_bound(program):
    expected = numbers(program(np.arange(12.0)))
    for found in (npx.jit(program)(np.arange(12.0)), npx.jit(program)(np.arange(12.0))):
        assert numbers(found) == expected


@pytest.mark.parametrize("program", [by_the_index, by_a_flag, from_three, backwards])
def test_gradients_of_what_rounds_hand_on(program):
    def gradient(function):
        x = np.arange(12.0)
        x.attach_grad()
        with autograd.record():
            y = function(x)
        y.backward()
        return x.grad.tolist()

    assert gradient(npx.jit(program)) == pytest.approx(gradient(program))


def test_a_name_that_no_round_has_bound_is_an_error():
    def late(a):
        for i in range(12):
            if i == 3:
                b = a[0]
            a[i] += b
        return a

    with pytest.raises(UnboundLocalError, match="'b'"):
        npx.jit(late)(np.arange(12.0)).asnumpy()


# --- errors of the trace that the function catches --------------------------------------------------


def asks_for_values(a):
    try:
        k = a[:3].tolist()[1]
    except Exception:
        k = 3
    return a * k


def suppresses_what_asks(a):
    k = 3
    with suppress(TypeError):
        k = a[:3].tolist()[1]
    return a * k


def fails_in_an_arm(a):
    try:
        w = a + 1 if a.sum() > 50 else a + a.missing
    except AttributeError:
        w = a * 100
    return w


def fails_in_a_round(a):
    n = a[0]
    try:
        while n < a[0]:
            n = n + a.missing
    except AttributeError:
        n = n + 100
    return n


def fails_in_an_arm_of_cond(a):
    try:
        return npx.cond(a.sum() > 50, lambda: a + 1, lambda: a + {}["k"])
    except KeyError:
        return a * 100


def fails_in_a_round_of_while_loop(a):
    def step(i, s):
        return None, (i + 1, s + {}["k"])

    try:
        return npx.while_loop(lambda i, s: i < a[0], step, (np.array(0), a))[1][1]
    except KeyError:
        return a * 100


@pytest.mark.parametrize(
    "program",
    [
        asks_for_values,
        suppresses_what_asks,
        fails_in_an_arm,
        fails_in_a_round,
        fails_in_an_arm_of_cond,
        fails_in_a_round_of_while_loop,
    ],
)
def test_a_function_may_not_catch_errors_of_its_trace(program):
    with pytest.raises(TracedValueError, match="the function catches an error of its trace"):
        npx.jit(program)(np.arange(12.0))


def test_errors_of_all_calls_are_caught():
    def program(a):
        try:
            return a + a.missing
        except AttributeError:
            return a * 2

    assert npx.jit(program)(np.ones(2)).tolist() == [2, 2]


# --- attributes whose names Python changes ----------------------------------------------------------


class Counter:
    def __init__(self):
        self.__n = 0

    def run(self, a):
        for i in range(3):
            self.__n = i
            self.__n += 1
            a[i] += self.__n
        return a


class __Private:
    def __init__(self):
        self.__n = 0

    def run(self, a):
        for i in range(3):
            self.__n += i + 1
            a[i] += self.__n
        return a


@pytest.mark.parametrize("kind", [Counter, __Private])
def test_private_attributes(kind):
    eager, compiled = kind(), kind()
    expected = eager.run(np.zeros(3)).tolist()
    assert npx.jit(compiled.run)(np.zeros(3)).tolist() == expected
    assert vars(compiled) == vars(eager)


def test_an_argument_may_be_named_self():
    assert npx.jit(lambda x, self=7: x * self)(np.ones(2), self=2).tolist() == [2, 2]


def test_the_shape_of_a_view_among_the_arguments_is_not_set():
    def shaped(a):
        a.shape = (2, 6)
        return a

    assert npx.jit(shaped)(np.arange(12.0)).shape == (2, 6)
    with pytest.raises(RefusedError, match="sets the shape of an array that is a view"):
        npx.jit(shaped)(np.arange(12.0)[:])


def test_a_log_may_catch_errors_of_its_own(capsys):
    log = logging.getLogger("test_caught_errors")

    def logged(a):
        log.error("the sum is %.3f", a.sum())
        return a * 2

    handler = logging.StreamHandler(io.StringIO())
    log.addHandler(handler)
    log.propagate = False
    assert npx.jit(logged)(np.ones(2)).tolist() == [2, 2]
    log.removeHandler(handler)
    assert "Logging error" in capsys.readouterr().err


def test_errors_of_other_traces_may_be_caught_and_kept():
    def asks(a):
        return a * a.tolist()[0]

    kept = []
    for _ in range(2):
        try:
            npx.jit(asks)(np.ones(2))
        except TracedValueError as error:
            kept.append(error)
    assert str(pickle.loads(pickle.dumps(kept[0]))) == str(kept[0])

    def forgets(a):
        kept.clear()  # the errors, and with them the frames of their traces, go away
        return a * 2

    assert npx.jit(forgets)(np.ones(2)).tolist() == [2, 2]


# --- decorated functions ---------------------------------------------------------------------------


def twice(function):
    @functools.wraps(function)
    def both(*args):
        function(*args)
        return function(*args)

    return both


def decorated(a):
    @functools.lru_cache
    def doubled(k):
        return k * 2

    @lambda function: 5
    def five():
        return 1

    @twice
    def grown(i):
        if a[i] > 3:
            a[i] += 1
        return a[i]

    for i in range(12):
        a[i] += doubled(2) + five + grown(i) * 0.5
    return a


def test_decorated_functions_within_a_function():
    assert npx.jit(decorated)(np.arange(12.0)).tolist() == decorated(np.arange(12.0)).tolist()
