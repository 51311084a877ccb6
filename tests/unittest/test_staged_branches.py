"""Branches that data decide, whose arms write an array in place or bind its name anew."""

import numpy as onp
import pytest
from both_ways import NEEDED
from internals import TracedValueError

from npcompat import np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")


def in_place_or_anew(z, f):
    v = z.copy()
    if f > 0:
        v += 1
    else:
        v = v - 1
    v[1] = 5
    return v


def an_element_or_anew(z, f):
    v = z.copy()
    if f > 0:
        v[0] = 7
    elif f < -5:
        v = v * 2
    return v, v.sum()


def anew_and_written_after(z, f):
    v = z.copy()
    w = v + 1
    if f > 0:
        v = v * 2
    v[0] = 1
    return v, w


def read_by_branches_before(z, f):
    v = z.copy()
    w = v * 2
    if f > 0:
        w = w + v
    if f < 5:
        v = v + w
    v[0] = 1
    w[1] = 2
    return v, w


def in_a_loop(z, f):
    v = z.copy()
    for i in range(4):
        if z[0] * i > f:
            v += 1
        else:
            v = v - z
    return v


def of_the_caller(z, f):
    z += 1
    if f > 0:
        z *= 2
    else:
        z = z - 1
    return z * 1


def in_both_of_a_pair(z, f):
    v, w = z.copy(), z * 2
    if f > 0:
        v += w
        w = w * v
    else:
        w -= v
        v = v + w
    return v, w


def a_part_of_a_tuple(z, f):
    v = z.copy()
    t = (v, z * 2)
    if f > 0:
        v += 1
    else:
        t = (v * 3, z)
    return v, t[0]


AS_EAGER = [
    in_place_or_anew,
    an_element_or_anew,
    anew_and_written_after,
    read_by_branches_before,
    in_a_loop,
    of_the_caller,
    in_both_of_a_pair,
    a_part_of_a_tuple,
]


@pytest.mark.parametrize("program", AS_EAGER)
@pytest.mark.parametrize("flag", [1.0, -1.0, -6.0])
def test_arms_may_write_or_bind_anew(program, flag):
    theirs, ours = onp.array([1.0, -2.0, 3.0]), np.array([1.0, -2.0, 3.0])
    wanted, found = program(theirs, flag), npx.jit(program)(ours, np.array(flag))
    for one, other in zip(
        [*(wanted if type(wanted) is tuple else [wanted]), theirs],
        [*(found if type(found) is tuple else [found]), ours],
        strict=True,
    ):
        onp.testing.assert_array_equal(other.asnumpy(), one)


def with_another_name(z, f):
    v = z.copy()
    a = v
    if f > 0:
        v = v * 2
    v[0] = 1
    return v, a


def a_part_of_a_tuple_that_is_written_later(z, f):
    v, t = a_part_of_a_tuple(z, f)
    v[0] = 5
    return v, t


@pytest.mark.parametrize("program", [with_another_name, a_part_of_a_tuple_that_is_written_later])
def test_writes_that_another_name_may_have_to_see_are_refused(program):
    with pytest.raises(TracedValueError, match="use np.where or a copy|use a copy of it"):
        npx.jit(program)(np.ones(3), np.array(1.0))


def test_what_was_refused_may_be_written_again():
    kept = np.ones(3)

    def program(f):
        v = kept
        if f > 0:
            v = v * 2
        v[0] = 5
        return v

    with pytest.raises(TracedValueError, match="use a copy of it"):
        npx.jit(program)(np.array(1.0))
    kept[0] = 3
    assert kept.tolist() == [3, 1, 1]


@pytest.mark.parametrize(
    "read",
    [
        onp.array,
        onp.asarray,
        pytest.param(memoryview, marks=NEEDED),
        pytest.param(onp.from_dlpack, marks=NEEDED),  # without C, it is told twice
    ],
)
@pytest.mark.parametrize("place", ["auto", "jax"])
def test_numpy_raises_what_a_program_has_raised(read, place):
    def program(a):
        for i in range(8):
            if a[i] == 2:
                raise ValueError("two")
        a[0] = 5

    with npx.backend(place):
        array = np.arange(9.0)
        npx.jit(program)(array)
        with pytest.raises(ValueError, match="two"):
            read(array)
        if read is not memoryview:  # which can't tell whether NumPy is behind it, and says it again
            npx.waitall()
    with pytest.raises(ValueError, match="two") if read is memoryview else npx.backend(place):
        npx.waitall()


def test_a_branch_of_which_both_arms_raise():
    def alike(x):
        if x > 0:
            raise ValueError("either way")
        else:
            raise ValueError("either way")

    def unlike(x):
        if x > 0:
            raise ValueError("one")
        else:
            raise IndexError("other")

    with pytest.raises(ValueError, match="either way"):
        npx.jit(alike)(np.array(1.0))
    with pytest.raises(TracedValueError, match="both arms of a branch raise"):
        npx.jit(unlike)(np.array(1.0))


@pytest.mark.parametrize("rounds", [0, 2])
def test_a_loop_whose_every_round_raises(rounds):
    def counted(x, n):
        for i in range(int(n)):
            x[100] = i

    def asked(x, n):
        while n > 0:
            v = x[:0]
            v[0] = 1
            n = n - 1

    for program in (counted, asked):
        compiled = npx.jit(program)
        for _ in range(3):  # no result and no write is there to be read: the call raises
            if rounds:
                with pytest.raises(IndexError, match="out of bounds"):
                    compiled(np.zeros(3), np.array(rounds))
            else:
                compiled(np.zeros(3), np.array(rounds))


def test_a_function_that_only_checks_raises_when_it_is_called():
    @npx.jit
    def check(x):
        if not (x > 0).all():
            raise ValueError("not positive")

    for _ in range(3):
        check(np.ones(3))
        with pytest.raises(ValueError, match="not positive"):
            check(np.zeros(3))
