"""Memory that is written in one shape, size of elements or place and read in another."""

import numpy as onp
import pytest
from oracle import agrees

from npcompat import autograd, np, npx


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("views", [("u1", "u4"), ("u4", "u1"), ("i2", "u1"), ("u1", "i2")])
def test_bytes_are_written_in_one_size_and_read_in_another(views):
    def program(np, a):
        a.view(views[0])[...] = 1
        return a.view(views[1]) + a.view(views[1])

    agrees(program, onp.ones((3, 2), onp.int64))


@pytest.mark.usefixtures("numpy_mode")
def test_what_is_written_in_another_shape_is_read_before_it_is_overwritten():
    def write(np, a, how):
        if how == "put":
            np.put(a, [4], [2], "wrap")
        elif how == "reshape":
            a.reshape(-1)[4] = 2
        elif how == "flat":
            a.flat[4] = 2
        else:
            np.add.at(a.reshape(-1), [4], 2)
        a[-2][...] = a[-2][::-1]
        a[0] = a[0].T
        return a + 1

    for how in ("put", "reshape", "flat", "at"):
        agrees(lambda np, a: write(np, a, how), onp.arange(18.0).reshape(2, 3, 3))


@pytest.mark.usefixtures("numpy_mode")
def test_what_is_shifted_in_place_is_read_in_another_shape():
    def program(np, a):
        a[1:] = a[:-1]
        a[:, 1:] += a[:, :-1]
        return [a.reshape(1, -1) + 1, np.maximum.accumulate(a, axis=-1), a.T.reshape(-1).copy()]

    for shape in ((1, 3), (3, 1), (8, 16), (4, 2, 1)):
        agrees(program, onp.arange(onp.prod(shape)).reshape(shape) * 3 % 7 - 2)


@pytest.mark.usefixtures("numpy_mode")
def test_what_was_made_in_another_shape_is_shifted_in_place():
    def program(np, a, shape, step):
        b = np.concatenate((a, a))[..., True].reshape(shape)
        b[step:] = b[:-step]
        b[..., 1::2] += b[..., :-1:2]
        return b

    for shape in ((12, 1), (1, 12), (3, 4), (2, 3, 2), (6, 2)):
        agrees(lambda np, a: program(np, a, shape, 1), onp.arange(6.0) + 1)
        agrees(
            lambda np, a: program(np, a[::-1], shape[::-1], min(2, shape[-1])), onp.arange(6.0) + 1
        )


@pytest.mark.usefixtures("numpy_mode")
def test_bytes_of_overlapping_windows_are_read_as_another_type():
    def program(np, a):
        return np.matrix_transpose(np.lib.stride_tricks.sliding_window_view(a, 2)).view("u4")

    agrees(program, onp.array([-1, 6, 2, 9]), modes=("jax", "numpy"))


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("dtype", ["float16", "complex128", "bfloat16"])
@pytest.mark.parametrize("compiled", [False, True])
def test_recorded_numbers_are_not_read_as_bytes_of_other_floats(dtype, compiled):
    def loss(x):
        return x.reshape(2, 2, 2, 2).swapaxes(0, 1).copy().reshape(2, 8).view(dtype).real.sum()

    x = np.ones(16, dtype="float32")
    x.attach_grad()
    with autograd.record(), pytest.raises(TypeError, match="have no derivative as"):
        (npx.jit(loss) if compiled else loss)(x)
    (npx.jit(loss) if compiled else loss)(x)


@pytest.mark.usefixtures("placed")
def test_recorded_pairs_are_read_as_complex_numbers():
    x = np.arange(4.0, dtype="float32")
    x.attach_grad()
    with autograd.record():
        loss = (x.view("complex64") ** 2).real.sum()
    loss.backward()
    assert x.grad.tolist() == [0, -2, 4, -6]
