"""Views alias as NumPy's do: of bases and of views, read and written in any order, eager and
compiled.
"""

import numpy as onp
import pytest
from oracle import agrees

from npcompat import np

PLACEMENT = "jax"


def matrix(rows=4, columns=5, dtype="float64"):
    return onp.arange(rows * columns, dtype=dtype).reshape(rows, columns)


LENSES = {
    "row": lambda a: a[1],
    "column": lambda a: a[:, 2],
    "block": lambda a: a[1:3, 1:4],
    "every other": lambda a: a[::2, 1::2],
    "backwards": lambda a: a[::-1, ::-2],
    "negative start": lambda a: a[-2:, -3:-1],
    "beyond the end": lambda a: a[2:100],
    "empty": lambda a: a[3:1],
    "new axis": lambda a: a[:, None, 1:3],
    "ellipsis": lambda a: a[..., 0],
    "everything": lambda a: a[...],
    "0-d": lambda a: a[1, 2, ...],
    "transposed": lambda a: a.T,
    "axes": lambda a: a.transpose(1, 0),
    "swapped axes": lambda a: a.swapaxes(0, 1),
    "reshaped": lambda a: a.reshape(2, 10),
    "reshaped to -1": lambda a: a.reshape(-1, 4),
    "raveled": lambda a: a.ravel(),
    "reshaped part": lambda a: a[1:3].reshape(5, 2),
    "split axis of a part": lambda a: a[:, :4].reshape(4, 2, 2),
    "squeezed": lambda a: a[1:2].squeeze(),
    "row of the transpose": lambda a: a.T[1],
    "slice of a slice": lambda a: a[1:][1:, ::2][:, 1:],
    "slice of a reversed slice": lambda a: a[::-1][1:3][:, ::-1],
    "transpose of a slice": lambda a: a[1:, 2:].T,
    "part of a reshape": lambda a: a.reshape(-1)[3:17:3],
    "reshape twice": lambda a: a.reshape(2, 10).reshape(5, 4)[1:],
    "through 3-d": lambda a: a.reshape(2, 2, 5).transpose(2, 0, 1)[1:4, ::-1],
}


@pytest.mark.parametrize("lens", LENSES.values(), ids=LENSES)
def test_a_view_reads_and_writes_its_base(lens):
    def program(xp, a):
        v = lens(a)
        before = v.copy()
        v[...] = v * 10 + 1
        a += 1
        after = v.copy()
        v *= 2
        return before, after, v, v.base is a, v.shape, v.strides, v.flags.owndata, v.flags.writeable

    agrees(program, matrix())


@pytest.mark.parametrize("lens", LENSES.values(), ids=LENSES)
def test_views_of_views_alias_in_both_directions(lens):
    def program(xp, a):
        v = lens(a)
        w = v[..., ::-1] if v.ndim else v[None]
        u = w.T
        u[...] += 100
        v[...] -= 7
        a[...] *= 2
        return a, v, w, u, u.base is a, w.base is a

    agrees(program, matrix())


@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "int64", "float16", "float32", "complex64", "bool"]
)
def test_views_alias_for_every_kind_of_dtype(dtype):
    def program(xp, a):
        v = a[1:, ::2].T
        v[1] = a[0, 0]
        return v, a.T[::-1]

    agrees(program, matrix().astype(dtype))


def test_a_reshape_that_needs_a_copy_does_not_alias():
    def program(xp, a):
        copies = [
            a.T.reshape(-1),
            a[:, ::2].reshape(-1),
            a[:, :3].ravel(),
            a[::-1].ravel(),
            a.flatten(),
            a.copy(),
            a[[0, 1]],
            a + 0,
        ]
        for c in copies:
            c[...] = -1
        return copies, [c.base is None for c in copies[-4:]]

    agrees(program, matrix())


def test_what_numpy_calls_a_copy_or_a_view_of_a_reshape():
    def program(xp, a):
        b = a.reshape(2, 3, 4)
        cases = [
            b[:, :, 0],
            b[:, 0],
            b[0],
            b[:, ::2],
            b[::-1],
            b.transpose(1, 0, 2),
            b.transpose(2, 1, 0),
            b[:, :, None],
            b[:1],
            b[:, :1, :],
        ]
        return [c.reshape(-1).base is not None for c in cases[:1]], [
            xp.shares_memory(c.reshape(-1), a) for c in cases
        ]

    agrees(program, onp.arange(24.0))


def test_rows_of_an_iteration_are_views():
    def program(xp, a):
        for i, row in enumerate(a):
            row[i] = -1
        return a

    agrees(program, matrix())


def test_a_view_outlives_the_name_of_its_base():
    def program(xp, a):
        v = (a + 0)[1:]
        v[0] = 5
        return v, v.base.shape

    agrees(program, onp.arange(4))


def test_a_view_is_read_again_after_its_base_changed():
    def program(xp, a):
        v, w = a[1:3], a[2:]
        seen = [v + 0]
        a[1] = 10
        seen.append(v + 0)
        w[0] = 20
        seen.append(v + 0)
        v[...] = 0
        seen.append(w + 0)
        a[...] = 9
        seen.append(v + w)
        return seen

    agrees(program, onp.arange(4))


def test_overlapping_reads_and_writes_do_not_disturb_each_other():
    def program(xp, a, m):
        a[1:] = a[:-1]
        a[:] = a[::-1]
        a[::2] += a[1::2]
        xp.add(a[:-1], a[1:], out=a[1:])
        m += m.T
        m[:2, :] = m[2:, :]
        m[...] = m.T
        return a.sum()

    agrees(program, onp.arange(8.0), matrix(4, 4))


def test_swapping_views_is_the_alias_trap_that_numpy_has():
    def program(xp, a):
        a[0], a[1] = a[1], a[0]
        a[[2, 3]] = a[[3, 2]]
        return a

    agrees(program, matrix())


def test_every_in_place_operator_writes_through_a_view():
    def program(xp, f, i):
        v, w = f[::2], i[1:, ::-1]
        v += 1
        v -= 0.5
        v *= 3
        v /= 4
        v **= 2
        v //= 0.25
        v %= 3
        w <<= 2
        w |= 1
        w &= 13
        w ^= 7
        w >>= 1
        w //= 2
        w %= 5
        w **= 2
        return v, w

    agrees(program, matrix(), matrix(dtype="int64"))


@pytest.mark.parametrize("operator", ["/=", "+=", "**="])
def test_an_in_place_result_that_does_not_fit_the_dtype_is_refused(operator):
    def program(xp, i):
        names = {"v": i[1:]}
        exec(f"v {operator} 2.5", names)

    agrees(program, matrix(dtype="int32"))


def test_the_diagonal_is_a_read_only_view():
    def program(xp, a):
        d = a.diagonal(1)
        a[0, 1] = -1
        return (
            d,
            d.flags.writeable,
            d.base is a,
            a.reshape(2, 2, 5).diagonal(0, 0, 2),
            xp.diagonal(a, -2),
        )

    agrees(program, matrix())


@pytest.mark.parametrize(
    "make",
    [lambda xp, a: a.diagonal(), lambda xp, a: xp.broadcast_to(a, (2, 4, 5))],
    ids=["diagonal", "broadcast_to"],
)
def test_writing_a_read_only_view_says_so(make):
    def program(xp, a):
        make(xp, a)[...] = 1

    agrees(program, matrix(), message=True)


def test_real_and_imag_are_views_of_complex_arrays():
    def program(xp, c):
        c.real[1:] = 7
        c.imag *= -1
        c.T.imag[0] = 3
        c[1].real += 1
        r = c.real
        c.real = 2
        c.imag = 5
        return r, r.base is c, c.imag[..., ::-1], r.dtype.name

    agrees(program, (matrix(3, 3) + 1j * matrix(3, 3)).astype("complex64"))


def test_real_of_a_real_array_is_the_array_and_imag_is_read_only_zeros():
    def program(xp, a):
        zeros = a.imag
        a.real[0] = -1
        return a.real is a or a.real, zeros, zeros.flags.writeable

    found = agrees(program, matrix(), modes=("jax", "numpy"))
    assert found[2] is False


def test_broadcast_to_reads_its_base_and_cannot_be_written():
    def program(xp, a):
        b = xp.broadcast_to(a[:, None], (4, 3))
        a[1] = 50
        return b, b[1:, ::2], b.flags.writeable, b[0].flags.writeable, b.strides, b.base is not None

    agrees(program, onp.arange(4.0))


def test_a_read_only_array_makes_read_only_views(backend):
    a = np.arange(4)
    before = a[1:]
    a.flags.writeable = False
    after = a[1:]
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        a[0] = 1
    with pytest.raises(ValueError, match="output array is read-only"):
        after += 1
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True of this array"):
        after.flags.writeable = True
    before[0] = 9  # a view made before is not affected, as in NumPy
    assert a.tolist() == [0, 9, 2, 3]
    a.setflags(write=True)
    a += 1
    assert a.tolist() == [1, 10, 3, 4]


def test_a_refused_write_changes_nothing(backend):
    a = np.arange(4)
    a.flags["WRITEABLE"] = False
    for write in (
        lambda: a.__setitem__(slice(None), 1),
        lambda: a.__setitem__([0], 1),
        lambda: a.__setitem__(a > 1, 1),
        lambda: a.__iadd__(1),
        lambda: np.add(a, 1, out=a),
        lambda: a.sort(),
        lambda: a.fill(3),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert a.tolist() == [0, 1, 2, 3]


def test_shares_memory_answers_from_the_lenses():
    def program(xp, a):
        b = a + 0
        pairs = [
            (a, a),
            (a, b),
            (a[1:], a[:1]),
            (a[::2], a[1::2]),
            (a[:, 0], a[0]),
            (a.T, a),
            (a.reshape(-1)[:3], a[1]),
            (a[0].copy(), a),
        ]
        return [xp.shares_memory(x, y) for x, y in pairs], [
            xp.may_share_memory(x, y) for x, y in pairs
        ]

    agrees(program, matrix())


def test_strides_and_flags_are_those_of_numpy():
    def program(xp, a):
        views = [
            a,
            a.T,
            a[:, ::2],
            a[::-1],
            a[:, None],
            a[:1],
            a[0],
            a.reshape(2, 2, 5).transpose(2, 0, 1),
            a[2:2],
        ]
        return [
            (v.strides, v.flags.c_contiguous, v.flags.f_contiguous, v.flags.owndata, v.flags["C"])
            for v in views
        ]

    agrees(program, matrix())


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
def test_setting_the_shape_keeps_views_alive():
    def program(xp, a):
        v = a[1:]
        v.shape = (5, 3)
        v[0, 0] = -1
        b = a + 0
        b.shape = (2, 10)
        b[0] = 3
        return v, b

    agrees(program, matrix(4, 5), modes=("jax", "numpy"))


def test_setting_a_shape_that_needs_a_copy_is_refused(backend):
    a = np.zeros((3, 4)).T
    with pytest.raises(AttributeError, match=r"use `\.reshape\(\)`|Use `\.reshape\(\)`"):
        a.shape = (12,)


def test_flat_reads_and_writes_in_c_order():
    def program(xp, a):
        t = a.T
        t.flat[3] = -1
        t.flat[5:8] = [1, 2, 3]
        t.flat[[0, 2]] = 9
        a.flat = xp.array([1.0, 2.0, 3.0], dtype="float64")
        return t.flat[2:6], a.flat[7], len(a.flat), [x for x in t.flat][:2], t.flat.copy()

    agrees(program, matrix(), modes=("jax", "numpy"))


def test_a_copy_is_independent_in_both_directions():
    def program(xp, a):
        b, c, d = a.copy(), xp.array(a), a[1:].copy()
        a[0] = -1
        b[1] = -2
        c[2:] *= 3
        d += 1
        return b, c, d, b.base is None

    agrees(program, matrix())


def test_zero_size_views_are_written_without_effect():
    def program(xp, a):
        v = a[2:2]
        v += 1
        v[...] = xp.zeros((0, 5))
        a[:, 5:] = 1
        a[[]] = 1
        return v, v.T, v.reshape(5, 0), a[:0].sum(0), v.shape

    agrees(program, matrix())


def test_0d_arrays_alias_through_ellipsis_and_not_through_integers():
    def program(xp, a):
        v = a[0, ...]
        scalar = a[0]
        a[0] = 5
        v += 1
        z = xp.array(3)
        z[()] = 4
        z[...] += 1
        return v, v.base is a, scalar + 0, z, z[()] + 0, z[None]

    agrees(program, onp.arange(3))


def test_functions_that_return_views():
    def program(xp, a):
        views = [
            xp.transpose(a), xp.swapaxes(a, 0, 1), xp.moveaxis(a, 0, 1), xp.rollaxis(a, 1), xp.expand_dims(a, 1), xp.squeeze(a[None]),
            xp.reshape(a, (2, 10)), xp.ravel(a), xp.flip(a, 0), xp.fliplr(a), xp.flipud(a), xp.rot90(a), xp.atleast_3d(a),
            *xp.split(a, 2), *xp.hsplit(a, [2]), *xp.vsplit(a, 2), xp.atleast_2d(a[0]), xp.asarray(a)[:, :2],
        ]  # fmt: skip
        for v in views:
            v[...] += 1
        return views, a

    agrees(program, matrix())


def test_out_may_be_a_view_of_an_operand():
    def program(xp, a):
        xp.multiply(a[0], a[1], out=a[2])
        xp.add(a, 1, out=a.T.T, where=a > 3)
        xp.negative(a[:, 1:], out=a[:, :-1])
        a[3].sum(out=a[0, 0, ...])
        return a

    agrees(program, matrix())


def test_chains_are_long(backend):
    a = np.zeros(20)
    v = a
    for _ in range(8):
        v = v[::-1][1:]
    v[...] = 1
    assert v.base is a and a.asnumpy().sum() == 12
