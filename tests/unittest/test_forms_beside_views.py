"""Another shape, dtype or strides of an array leaves its views what they are, as NumPy's does."""

import gc
import itertools

import numpy as onp
import pytest

from npcompat import autograd, np, npx

VIEWS = {
    "slice": lambda w: w[1:4],
    "whole": lambda w: w[:],
    "transposed": lambda w: w.T,
    "reversed": lambda w: w[::-1],
    "slice of a slice": lambda w: w[1:][1:],
    "reshaped": lambda w: w.reshape(-1),
    "row": lambda w: w.reshape(2, -1)[1],
    "new axis": lambda w: w[None],
}
FORMS = [(3, 4), (12,), (2, 2, 3), (1, 12), "u4", "i2"]


def states(module, shape, owns, view, form):
    """Return what an array and its views hold after it has got another form, and after writes."""
    w = module.arange(12, dtype="i4").reshape(shape)
    w = w.copy() if owns else w
    u = view(w)
    v = u[...]
    found = []
    try:
        if isinstance(form, tuple):
            w.shape = form
        else:
            w.dtype = form
        found += [u.shape, u.dtype, u.tolist(), v.tolist(), w.tolist()]
        u[...] = u * 0 + 50
        found += [w.tolist(), v.tolist()]
        w[...] = module.arange(w.size).reshape(w.shape)
        found += [u.tolist(), v.tolist()]
        v[0] = 7
        found += [w.tolist(), u.tolist()]
        if u.ndim == 1 and u.size % 2 == 0:
            u.shape = (2, -1)
            v[...] = 3
            found += [u.tolist(), w.tolist(), v.tolist()]
    except (AttributeError, ValueError) as error:
        found.append(type(error))
    return found


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("owns", [True, False])
@pytest.mark.parametrize("name", VIEWS)
def test_views_stay_what_they_are(name, owns, backend):
    with npx.backend(backend):
        for shape, form in itertools.product([(12,), (3, 4), (3, 2, 2)], FORMS):
            if backend == "jax" and form == "i2":
                continue
            wanted = states(onp, shape, owns, VIEWS[name], form)
            assert states(np, shape, owns, VIEWS[name], form) == wanted, (shape, form)


def test_views_stay_what_they_are_while_recording():
    x = np.arange(6.0)
    x.attach_grad()
    with autograd.record():
        w = x * 2
        v = w[1:4]
        w.shape = (2, 3)
        v[0] = v[0] * 5
        z = (w[0] * np.array([1.0, 10.0, 100.0])).sum()
    z.backward()
    assert v.tolist() == [10, 4, 6] and x.grad.tolist() == [2, 100, 200, 0, 0, 0]


def test_views_stay_what_they_are_in_a_compiled_function():
    def change(x):
        w = x * 2
        v = w[1:4]
        w.shape = (2, 3)
        v += 100
        return w, v

    x = np.arange(6.0)
    for found, wanted in zip(npx.jit(change)(x), change(x), strict=True):
        assert found.tolist() == wanted.tolist() and found.shape == wanted.shape


def test_an_array_with_one_name_is_given_forms_without_a_search(monkeypatch):
    def refuse(*_):
        raise AssertionError("the collector lists milliseconds of objects")

    monkeypatch.setattr(gc, "get_referrers", refuse)
    a = np.arange(6.0) + 1
    a.T, a[1:].sum()  # views that are gone
    for shape in ((2, 3), (6,), (3, 2)):
        a.shape = shape
        a.dtype = "float32"
    v = a[1:]
    v.shape = (4,)
    names = [np.arange(4) + i for i in range(3)]
    for b in names:
        b.shape = (2, 2)
    assert a.shape == (3, 2) and v.shape == (4,) and names[0].shape == (2, 2)
    w = a[0]
    with pytest.raises(AssertionError, match="milliseconds"):
        a.shape = (6,)
    del w
