"""Slices with bounds that depend on the round, kept in a name: they are views, as NumPy's."""

import numpy as onp
import pytest

from npcompat import np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")


def written_whole(a):
    for i in range(10):
        r = a[:i]
        r[:] = 9


def written_in_place(a):
    for i in range(10):
        r = a[:i]
        r += 1


def written_by_out(a):
    for i in range(10):
        r = a[i:]
        np.add(r, 1, out=r)


def written_after_the_loop(a):
    for i in range(10):
        r = a[i : i + 1]
    r[:] = 99


def read_after_an_element_is_written(a):
    for i in range(10):
        r = a[i:]
        a[i] = 100
        a[0] += r.sum()


def read_after_an_arm_has_written(a):
    for i in range(10):
        r = a[:i]
        a[0] = i
        if a[3] > 1:
            a[1] = 7
        a[15] += r.sum()


def read_after_an_inner_loop_has_written(a):
    for i in range(10):
        r = a[2 : i + 3]
        for j in range(9):
            a[j] += 1
        a[15] += r.sum()


def read_after_a_view_is_written(a):
    b = a[3:]
    for i in range(10):
        r = a[:i]
        b[0] = i
        a[15] += r.sum()


def views_read_before_and_after_a_write(a):
    for i in range(10):
        r = a[:i]
        v = r[None]
        a[15] += v.sum()
        a[0] = i
        a[16] += v.sum()


def two_after_all_is_written(a):
    for i in range(10):
        r, s = a[:i], a[i:]
        a[:] = a[::-1].copy()
        a[15] += r.sum() - s.sum()


def read_in_an_arm_that_has_written(a):
    for i in range(10):
        r = a[i:]
        if a[4] > 3:
            a[i] = 2
            a[15] += r.sum()


def copied(a):
    for i in range(10):
        r = a[:i].copy()
        a[1] = i
        r += 1
        a[12] += r.sum()


def written_in_the_key(a):
    for i in range(10):
        a[:i] += 1
        a[i:] = a[i:] * 2


PROGRAMS = [
    written_whole,
    written_in_place,
    written_by_out,
    written_after_the_loop,
    read_after_an_element_is_written,
    read_after_an_arm_has_written,
    read_after_an_inner_loop_has_written,
    read_after_a_view_is_written,
    views_read_before_and_after_a_write,
    two_after_all_is_written,
    read_in_an_arm_that_has_written,
    copied,
    written_in_the_key,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_slices_of_lengths_that_depend_on_the_round_are_views(program):
    theirs, ours = np.arange(20.0), np.arange(20.0)
    program(theirs)
    npx.jit(program)(ours)
    onp.testing.assert_allclose(ours.asnumpy(), theirs.asnumpy(), rtol=1e-12)


@pytest.mark.parametrize("program", [read_after_an_element_is_written, copied, written_in_the_key])
def test_they_are_read_anew_without_unrolling(program):
    with npx.compile_log() as log:
        npx.jit(program)(np.arange(21.0))
    (line,) = [line for entry in log for line in entry.loops]
    assert "one loop: writes 1 array" in line
