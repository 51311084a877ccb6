"""Selections by boolean masks, above all in compiled functions: NumPy is the oracle of results and
writes.
"""

import numpy as onp
import pytest
from internals import TracedValueError
from oracle import agrees

from npcompat import autograd, gluon, np, npx
from npcompat.test_utils import assert_almost_equal

RNG = onp.random.default_rng(0)
A, B = (RNG.normal(size=(4, 5)).astype("float32") for _ in range(2))
MASKS = {
    "some": (
        RNG.uniform(size=(4, 5)) > 0.5,
        onp.array([True, False, True, True]),
        onp.array([False, True, False, True, False]),
    ),
    "all": (onp.ones((4, 5), bool), onp.ones(4, bool), onp.ones(5, bool)),
    "one": (onp.eye(4, 5, 2) * onp.eye(4)[:, :1] > 0, onp.arange(4) == 3, onp.arange(5) == 4),
}
READS = """
a[m].sum()
a[m].mean()
a[m].sum() / a[m].size, a[r].sum() / (a[r].shape[0] + 1)
(a[r] @ b[0]).sum(), a[r][:, 1:].sum(0), np.sort(a[r], axis=1).sum(0), a[r].reshape(-1, 1, 5).max(0)
(a[r].T @ b[r]).sum(0), np.einsum("ij,ij->j", a[r], b[r]), np.zeros((a[r].shape[0], 2)).sum(0)
a[m].std()
a[m].var(ddof=-1)
a[m].prod()
a[m].max(), a[m].min(), np.ptp(a[m])
(a[m] > 0).any(), (a[m] > -9).all()
np.sum(a[m] * b[m])
np.sum(np.exp(a[m]) / (1 + b[m] ** 2))
a[r].sum(axis=0), a[r].mean(axis=0), a[r].max(axis=0), a[r].std(0)
a[r].sum(axis=1).mean(), a[r].max(axis=-1).min()
a[r].mean(axis=0, keepdims=True)
a[m].sum(keepdims=True)
a[:, c].sum(axis=1), a[:, c].mean(), a[:, c].max(axis=0).sum()
(a[r] - a[r].mean(axis=0)).sum(axis=0)
(a[r] - a[r].mean(axis=0, keepdims=True)).std()
(a[r] * b[0]).sum(0)
a[r].sum(axis=1, keepdims=True).sum()
np.count_nonzero(a[m] > 0)
np.count_nonzero(a[r] > 0, axis=0)
np.where(a[m] > 0, a[m], 0).sum()
np.clip(a[m], 0, 0.5).sum()
a[m].astype("float64").sum()
a[m][a[m] > 0].sum()
np.nanmax(np.where(a[m] > 0, a[m], np.nan)), np.nansum(a[m])
a[m].sum(where=a[m] > 0), a[m].mean(where=b[m] < 9)
a[m].max(initial=7), a[m].sum(initial=7)
np.modf(a[m])[0].sum()
np.add.reduce(a[m])
a.T[m.T].sum()
a[1:][m[1:]].sum()
a[r, 0].sum(), a[r, -1].max()
a[..., c].sum(1)
a[None][:, r, 1].sum(1)
np.isnan(a[m]).any()
a[:0][m[:0]].sum()
(a > 0)[m].sum(), a[m].astype(int).max(), (a > 9)[m].max()
""".strip().splitlines()
WRITES = """
a[m] += 1
a[m] *= b[m]
a[m] -= a[m].mean()
a[m] = np.sqrt(np.abs(a[m]))
a[r] += b[r]
a[r] -= a[r].mean(axis=0)
a[r] = b[r][:] * 2 if isinstance(a, onp.ndarray) else b[r] * 2
a[a > 0] *= 2
a[a > 0.5] = b[a > 0.5]
a[~m] = b[~m]
a[(a[:, :] > 0) & m] += b[(a[:, :] > 0) & m]
a[m] /= a[m].max()
a[1:3][m[1:3]] += 1
a.T[m.T] += 1
a[:, c] += 1
a[:, c] = b[:, c]
a[1:, c] -= a[1:, c].mean(axis=1, keepdims=True)
b[m] = a[m]; a[m] = 0
a[m] **= 2
a[m] += np.float64(1.5)
x = a[m]; x[x > 0] = 0; a[m] = x
i = a.astype(int); i[m] += 1; a[...] = i
a[r, 0] += 1
a[0, c] *= 2
a[:, :, None][:, c, 0] = b[:, :, None][:, c, 0]
a[:, :, None][r, :, 0] = b[:, :, None][r, :, 0]
""".strip().splitlines()


def flat(result):
    return [onp.asarray(r) for r in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("masks", MASKS)
def test_reads_are_numpys(masks):
    """All in one program, since compiling takes the time."""
    source = (
        f"def program(np, a, b, m, r, c):\n    return [{', '.join(f'({line})' for line in READS)}]"
    )
    exec(source, names := {})
    arrays = A, B, *MASKS[masks]
    with npx.np_default_dtype(True), onp.errstate(all="ignore"):
        found = npx.jit(lambda *a: names["program"](np, *a))(*map(np.array, arrays))
        expected = names["program"](onp, *arrays)
    for line, mine, theirs in zip(READS, found, expected, strict=True):
        for x, y in zip(flat(mine), flat(theirs), strict=True):
            assert x.dtype == y.dtype and x.shape == y.shape, line
            assert_almost_equal(x, y, rtol=1e-5, atol=1e-6, names=(line, "NumPy's"))


@pytest.mark.parametrize("masks", MASKS)
def test_writes_are_numpys(masks):
    bodies = "\n".join(f"    a, b = copies[{i}]\n    {line}" for i, line in enumerate(WRITES))
    exec(f"def program(np, onp, copies, m, r, c):\n{bodies}", names := {})
    theirs = [(A.copy(), B.copy()) for _ in WRITES]
    ours = [(np.array(A), np.array(B)) for _ in WRITES]
    names["program"](onp, onp, theirs, *MASKS[masks])
    npx.jit(lambda copies, *rest: names["program"](np, onp, copies, *rest))(
        ours, *map(np.array, MASKS[masks])
    )
    for line, mine, wanted in zip(WRITES, ours, theirs, strict=True):
        for x, y in zip(mine, wanted, strict=True):
            assert_almost_equal(x, y, rtol=1e-5, atol=1e-6, names=(line, "NumPy's"))


def test_nothing_selected():
    def program(xp, a):
        none = a > 99
        a[none] += 1
        return a[none].sum(), a[none].mean(), a[none].any(), a[none].all(), a[none].prod()

    with onp.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        expected = program(onp, A.copy())
    for mine, theirs in zip(npx.jit(lambda a: program(np, a))(np.array(A)), expected, strict=True):
        assert onp.array_equal(mine, theirs, equal_nan=True)
    for name, what in (("max", "maximum"), ("nanmin", "fmin")):
        with pytest.raises(
            ValueError, match=f"zero-size array to reduction operation {what} which has no identity"
        ):
            npx.jit(lambda a: getattr(np, name)(a[a > 99]))(np.array(A)).item()


@pytest.mark.parametrize("hybridized", [False, True])
def test_what_is_not_selected_has_no_part_in_gradients(hybridized):
    class Net(gluon.HybridBlock):
        def forward(self, x, y):
            some = x > 0
            z = np.sqrt(x[some]) * y[0] - np.log(y[1] - x[some])
            x[some] = 3 * x[some]
            return z.sum() + (x * x).sum() + np.max(x[x > 1])

    x, y, net = np.array([-1.0, 0.25, 4.0, 0.0, 1.0]), np.array([2.0, 5.0]), Net()
    net.hybridize(hybridized)
    x.attach_grad(), y.attach_grad()
    with autograd.record():
        loss = net(x, y)
    loss.backward()
    some = onp.array([0.25, 4.0, 1.0])
    assert_almost_equal(y.grad, onp.array([onp.sqrt(some).sum(), -(1 / (5 - some)).sum()]))
    expected = onp.array([-2.0, *(1 / onp.sqrt(some) + 1 / (5 - some) + 18 * some), 0.0])[
        [0, 1, 2, 4, 3]
    ]
    assert_almost_equal(x.grad, expected + 3 * (onp.arange(5) == 2))


def test_the_means_of_clusters():
    def steps(xp, points, centres):
        for _ in range(5):
            nearest = ((points[:, None] - centres) ** 2).sum(-1).argmin(1)
            for k in range(len(centres)):
                centres[k] = points[nearest == k].mean(axis=0)

    points = onp.concatenate([RNG.normal(size=(20, 2)) + at for at in (0, 9, -9)]).astype("float32")
    theirs, ours = points[::20].copy(), np.array(points[::20])
    steps(onp, points, theirs)
    npx.jit(lambda p, c: steps(np, p, c))(np.array(points), ours)
    assert_almost_equal(ours, theirs, rtol=1e-5)


def test_inside_of_control_flow_and_other_compiled_functions():
    @npx.jit
    def inner(a, m):
        a[m] *= 2
        return a[m].sum()

    @npx.jit
    def outer(a):
        big = a > 1
        total = inner(a, big)
        return npx.cond(lambda: total > 5, lambda: a[big].max() + total, lambda: total)

    a = np.array([1.0, 2.0, 3.0])
    assert outer(a).item() == 16 and a.tolist() == [1, 4, 6]


AT_SELECTED = """
a[i[m], j[m]] = 7.0
a[i[m], j[m]] = b[m]
a[i[m]] = c[m]
a[2, j[m]] = b[m] * 2
a[:, j[m]] = 1.5
a[i[m], 1:3] = c[m][:, 1:3]
a[i[m], j[m]] += b[m]
a[i[m] - 4, j[m]] = 3
a[1:][i[m] - 1, j[m]] = 4.0
a.T[j[m], i[m]] = b[m]
k, l, x = i[m], j[m], b[m]; n = x > 0; a[k[n], l[n]] = x[n]
t = b[m]; np.multiply(t, t, t); n = t > 0.3; np.logical_not(n, n); a[i[m][n], j[m][n]] = t[n]
a[i[m]] = a[i[m]] * 3
"""


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("selected", ["some", "none", "all"])
@pytest.mark.parametrize("source", AT_SELECTED.strip().split("\n"))
def test_positions_that_a_mask_selects_are_read_and_written(source, selected):
    a, b, c = RNG.normal(size=(4, 5)), RNG.normal(size=30), RNG.normal(size=(30, 5))
    i, j = RNG.integers(0, 4, 30), RNG.integers(0, 5, 30)
    m = {"some": RNG.uniform(size=30) > 0.5, "none": onp.zeros(30, bool), "all": onp.ones(30, bool)}
    names: dict = {}
    exec(f"def program(np, a, b, c, i, j, m):\n    {source}", names)
    agrees(names["program"], a, b, c, i, j, m[selected])


@pytest.mark.usefixtures("numpy_mode")
def test_positions_that_a_mask_of_two_axes_selects_are_written():
    a, b, m = RNG.normal(size=(4, 5)), RNG.normal(size=(3, 6)), RNG.uniform(size=(3, 6)) > 0.5
    i, j = RNG.integers(0, 4, (3, 6)), RNG.integers(0, 5, (3, 6))
    agrees(lambda np, a, b, i, j, m: a.__setitem__((i[m], j[m]), b[m]), a, b, i, j, m)


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("count", [0, 2])
def test_gradients_pass_through_positions_that_a_mask_selects(count):
    i, m = onp.array([2, 0, 2, 1]), onp.arange(4) < count
    found = []
    for compiled in (False, True):
        a, b = np.array(RNG.normal(size=3) * 0 + 2), np.array([1.0, 2.0, 3.0, 4.0])

        def written(a, b, i, m):
            a = a * 3
            a[i[m]] = b[m] ** 2
            return (a**2).sum()

        for x in (a, b):
            x.attach_grad()
        with autograd.record():
            y = (npx.jit(written) if compiled else written)(a, b, np.array(i), np.array(m))
        y.backward()
        found.append((y.item(), a.grad.tolist(), b.grad.tolist()))
    assert found[0] == found[1]


@pytest.mark.usefixtures("numpy_mode")
def test_only_selected_positions_are_checked():
    def write(a, i, m):
        a[i[m]] = 1

    a, i = np.zeros(3), np.array([9, 1])
    npx.jit(write)(a, i, np.array([False, True]))
    assert a.tolist() == [0, 1, 0]
    npx.jit(write)(a, i, np.array([False, False]))
    npx.jit(write)(a, i, np.array([True, False]))
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
        a.tolist()


REFUSED = {
    "a[m]": "to return, carry or hand on what a boolean mask selects",
    "len(a[m])": "the length of what a boolean mask selects",
    "np.zeros(a[m].shape)": "the length of what a boolean mask selects",
    "a[m][0]": "an element of what a boolean mask selects",
    "a[m][1:]": "the length of what a boolean mask selects",
    "[x for x in a[m]]": "the length of what a boolean mask selects",
    "np.sort(a[m])": "sort of what a boolean mask selects",
    "a[m] @ b[m]": "matmul of what a boolean mask selects",
    "np.concatenate([a[m], b[m]])": "concatenate of what a boolean mask selects",
    "np.argmax(a[m])": "argmax of what a boolean mask selects",
    "a[m] + b": "add of what a boolean mask selects",
    "a[m] + b[~m]": "elements that two boolean masks select are put together",
    "a.__setitem__(m, b[~m])": "what a boolean mask selects is written through another boolean mask",
    "a.__setitem__(m, b[m][a[m] > 0])": "what a boolean mask selects is written through another boolean mask",
    "a.__setitem__(m, b.ravel())": "several values are written through a boolean mask",
    "a.__setitem__((np.arange(20).reshape(4, 5)[m] % 4, np.arange(3)), 1)": "beside arrays of another",
    "a.__setitem__(np.arange(20).reshape(4, 5)[m] % 4, np.ones((3, 5)))": "beside arrays of another",
    "a[m[:, 0], np.array([0])]": "a boolean mask and other indices",
    "float(a[m])": "the value of an array is asked for",
    "np.outer(a[m], a[m])": "how many elements|outer of what",
    "np.broadcast_to(b[0], a[m].shape)": "the length of what a boolean mask selects",
    "inner(a[m])": "to return, carry or hand on|boolean mask",
}


@pytest.mark.parametrize("source", REFUSED)
def test_what_depends_on_the_length_names_the_line(source):
    program = eval(f"lambda np, a, b, m: {source}", {"inner": npx.jit(lambda x: x + 1)})
    a, b = np.array(A), np.array(B)
    with pytest.raises(TracedValueError, match=REFUSED[source]):
        npx.jit(lambda *arrays: program(np, *arrays))(a, b, np.array(MASKS["some"][0]))
    assert (a.asnumpy() == A).all() and (b.asnumpy() == B).all()


def test_loops_are_not_given_selections():
    programs = [
        lambda a, m: npx.foreach(lambda x, s: (x * 2, s), a[m], [])[0],
        lambda a, m: npx.foreach(lambda x, s: (x * 2, s), a, [a[m]])[0],
        lambda a, m: npx.while_loop(
            lambda s: s.sum() < 3, lambda s: (None, (s + 1,)), (a[m],), max_iterations=5
        )[1],
    ]
    for program in programs:
        with pytest.raises(TracedValueError, match="loop .*what a boolean mask selects"):
            npx.jit(program)(np.arange(3.0), np.array([True, False, True]))


def test_the_shape_of_a_selection_shows_what_is_not_known():
    seen = []
    npx.jit(lambda a: seen.append((a[a[:, 0] > 0].shape, a[a > 0].ndim, str(a[a > 0].dtype))))(
        np.array(A)
    )
    assert str(seen) == "[((?, 5), 1, 'float32')]"


@pytest.mark.usefixtures("numpy_mode")
def test_a_mask_without_axes_selects():
    for a in (onp.array(3.0), onp.array(0.5)):
        agrees(lambda np, a: a[a > 1].sum(), a)
        agrees(lambda np, a: a.__setitem__(a > 1, 7), a)


@pytest.mark.usefixtures("numpy_mode")
def test_one_axis_is_written_through_a_mask_of_all_axes():
    for new in (onp.ones((1, 3)), onp.ones((1, 1))):
        for key in (onp.array([True, True, True]), (onp.array([True, False, False]),)):
            assert isinstance(
                agrees(
                    lambda np, a: a.__setitem__(key, np.asarray(new)), onp.arange(3.0), message=True
                ),
                TypeError,
            )


@pytest.mark.usefixtures("numpy_mode")
def test_parts_that_a_mask_selects_are_not_enlarged():
    for mask in ([False, False], [True, False]):
        agrees(lambda np, a: a.__setitem__(onp.array(mask), np.ones((2, 3))), onp.zeros((2, 1, 3)))
        agrees(
            lambda np, a, m: a.__setitem__(m, np.ones((1, 3))),
            onp.zeros((2, 1, 3)),
            onp.array(mask),
        )


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("shape", [(3,), (0,), (1, 4), (3, 2), (0, 5), (3, 0), (2, 3, 4)])
def test_masks_of_no_length_select_nothing(shape):
    masks = [(0,), (0, 0), (shape[0], 0), (0, shape[-1]), (0, 5), (5, 0)]
    for mask in [onp.zeros(m, bool) for m in masks if len(m) <= len(shape)]:
        for new in (1, onp.ones(0), onp.ones((1,) * len(shape))):

            def write(np, a, m, new=new):
                a[m] = np.asarray(new) if isinstance(new, onp.ndarray) else new

            agrees(write, onp.ones(shape), mask)
        agrees(lambda np, a, m: [a[m], a[m, ...]], onp.ones(shape), mask)


@pytest.mark.usefixtures("numpy_mode")
def test_nothing_is_cast_where_a_mask_selects_nothing():
    record = onp.zeros((), [("x", "f8"), ("y", "i4")])
    agrees(
        lambda np, a, r: a.__setitem__(np.zeros((0, 3), bool), r),
        onp.zeros((0, 3), int),
        record,
        modes=("jax", "numpy"),
    )
    found = agrees(
        lambda np, a, r: a.flat.__setitem__(slice(None), np.ones(2, r.dtype)),
        onp.zeros((0, 3), int),
        record,
        modes=("jax", "numpy"),
    )
    assert isinstance(found, TypeError)
