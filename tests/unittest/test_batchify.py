"""Batchify functions: dtypes of batches, and gradients that go through them."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx
from npcompat.gluon import data
from npcompat.gluon.data import batchify

FUNCTIONS = {
    "stack": lambda w: batchify.Stack()([w * 2, w * 3]),
    "of lists": lambda w: batchify.Stack()([[w[0] * 5, w[1] * 5, 1], [1.0, 2, w[2] * 5]]),
    "pad": lambda w: batchify.Pad(val=1)([w * 5, (w * 3)[:0]]),
    "append": lambda w: np.stack(batchify.Append()([w * 2, w * 3])),
    "no axis": lambda w: np.stack(batchify.Append(expand=False)([w * 2, w * 3])),
    "group": lambda w: batchify.Group(batchify.Pad(), len)([(w * 2, 0), (w * 3, 0)])[0],
    "default": lambda w: batchify.default_batchify_fn([{"x": w * 2}, {"x": w * 3}])["x"],
    "beside NumPy's": lambda w: batchify.Stack()([w * 5, onp.ones(3, "float16")]),
}


def gradient(function, compiled=False):
    w = np.ones(3)
    w.attach_grad()

    def step():
        with autograd.record():
            loss = function(w).sum() + w.sum()
        loss.backward()

    (npx.jit(step) if compiled else step)()
    return w.grad.tolist()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_go_through_batchify_functions(name, compiled, backend):
    assert gradient(FUNCTIONS[name], compiled) == [6, 6, 6]


@pytest.mark.parametrize("workers", [0, 2])
def test_gradients_go_through_loaders(workers):
    def batches(dataset):
        return data.DataLoader(dataset, 2, num_workers=workers, thread_pool=True)

    def of_samples(w):
        return next(iter(batches(data.SimpleDataset([w * 2, w * 3]))))

    def of_arrays(w):
        return next(iter(batches(data.ArrayDataset(np.stack([w * 2, w * 3]), [0, 1]))))[0]

    def transformed(w):
        return next(iter(batches(data.SimpleDataset([2, 3]).transform(lambda x: w * x))))

    assert gradient(of_samples) == gradient(of_arrays) == gradient(transformed) == [6, 6, 6]


@pytest.mark.parametrize(
    "samples",
    [
        [1.5, 2],
        [1, 2.5 + 1j],
        [[1.5], [2]],
        [onp.float64(1.5), 2],
        [onp.float32(1.5), 2],
        [np.array(1.5), 2],
        [onp.array([1.5]), [2]],
        [True, 2],
    ],
)
def test_batches_have_the_dtype_of_arrays_of_the_samples(samples):
    expected = np.array(samples)
    functions = (batchify.Stack(), batchify.Pad(), batchify.default_batchify_fn)
    loader = data.DataLoader(data.SimpleDataset(samples), 2)
    for batch in (*[function(samples) for function in functions], *loader):
        assert batch.dtype == expected.dtype and batch.tolist() == expected.tolist()
