"""What would lose a derivative without a word is refused: numbers as parameters, foreign arrays."""

import operator

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx

NUMBERS_OF_PARAMETERS = {
    "softmax": lambda c, x: npx.softmax(c, temperature=x),
    "leaky_relu": lambda c, x: npx.leaky_relu(-c, slope=x),
    "HuberLoss": lambda c, x: gluon.loss.HuberLoss(rho=x)(c, c),
    "one_hot": lambda c, x: npx.one_hot(np.array([0, 1]), 3, on_value=x),
    "layer_norm": lambda c, x: npx.layer_norm(c, np.ones(3), np.zeros(3), eps=x),
    "sum": lambda c, x: np.sum(c, initial=x),
    "add.reduce": lambda c, x: np.add.reduce(c, initial=x),
    "norm": lambda c, x: np.linalg.norm(c, ord=x),
    "arange": lambda c, x: np.arange(x, 5.0),
    "std": lambda c, x: np.std(c, ddof=x),
    "mgrid": lambda c, x: np.mgrid[0:x:3j],
    "pad": lambda c, x: np.pad(c, 1, mode="linear_ramp", end_values=x),
}


@pytest.mark.parametrize("name", NUMBERS_OF_PARAMETERS)
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_recorded_parameter_that_is_a_number_is_refused(name, backend):
    with npx.backend(backend):
        x = np.array([1.5, 2.5])
        x.attach_grad()
        c = np.array([1.0, 2.0, 3.0])
        program = NUMBERS_OF_PARAMETERS[name]
        program(c, x[0])  # nothing is recorded
        with autograd.record():
            with pytest.raises(
                TypeError, match=r"recorded array is given for a parameter .* float\(x\)"
            ):
                program(c * x[1], x[0])
            assert program(c * x[1], float(x[0])) is not None
            assert x[0].item() == 1.5 and x[0].asscalar() == 1.5 and f"{x[0]:.1f}" == "1.5"


def test_a_recorded_array_is_not_written_into_one_of_numpys():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    z = onp.ones(2)
    with autograd.record():
        y = x * 2
        for write in (
            lambda: operator.iadd(z, y),
            lambda: onp.multiply(z, y, out=z),
            lambda: onp.copyto(z, y),
            lambda: np.copyto(z, y),
            lambda: np.add.at(z, [0], y[0]),
            lambda: np.add(z, y, out=z),
            lambda: np.sum(y, axis=0, keepdims=True, out=z[:1]),
            lambda: np.concatenate([y[:1], y[1:]], out=z),
            lambda: np.fft.irfft(y, 2, out=z),
        ):
            with pytest.raises(TypeError, match="derivative"):
                write()
    assert z.tolist() == [1, 1]
