"""Names that MXNet has beyond NumPy: methods of arrays, lists of dtypes, older names, and finance."""

import inspect

import numpy as onp
import pytest

import npcompat
from npcompat import autograd, np, npx
from npcompat.numpy._fluent import Fluent

FUNCTIONS = sorted(
    name for name, value in vars(Fluent).items() if type(value).__name__ == "_Method"
)
ARGUMENTS = {
    "broadcast_like": (onp.zeros((2, 2, 2)),),
    "broadcast_to": ((2, 2, 2),),
    "expand_dims": (0,),
    "one_hot": (3,),
    "pad": (1,),
    "pick": (onp.array([0, 1]),),
    "reshape_like": (onp.zeros(4),),
    "slice": (0, 1),
    "slice_axis": (1, 0, 1),
    "slice_like": (onp.zeros((1, 2)),),
    "split": (2,),
    "tile": (2,),
}


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if "dlpack" not in n])
def test_methods_are_the_functions_of_their_name(name):
    function = getattr(np, name, None) or getattr(npx, name)
    assert getattr(np.ndarray, name) is function and inspect.signature(
        np.ndarray.exp
    ) == inspect.signature(np.exp)
    with npx.backend("numpy"):
        x = (
            np.array([[1.0, 1.5], [1.25, 2.0]])
            if name == "arccosh"
            else np.array([[0.5, 0.125], [0.25, 1.0]])
        )
        arguments = ARGUMENTS.get(name, ())
        if name in ("broadcast_like", "reshape_like", "slice_like", "pick"):
            arguments = tuple(map(np.array, arguments))
        with onp.errstate(all="ignore"):
            mine, its = getattr(x, name)(*arguments), function(x, *arguments)
    for one, other in zip(mine, its, strict=True) if isinstance(mine, list) else [(mine, its)]:
        onp.testing.assert_array_equal(onp.asarray(one), onp.asarray(other))


def test_methods_are_recorded_compiled_and_known_to_scalars():
    x = np.array([1.0, 4.0])
    x.attach_grad()
    for call in (
        lambda a: a.sqrt().log().sum().square(),
        npx.jit(lambda a: a.sqrt().log().sum().square()),
    ):
        with autograd.record():
            y = call(x)
        y.backward()
        onp.testing.assert_allclose(x.grad.asnumpy(), [onp.log(2), onp.log(2) / 4], rtol=1e-6)
    assert x.sum().exp() == np.exp(x.sum()) and not hasattr(x, "no_such_function")


def test_arrays_are_copied_into_others_and_to_devices(backend):
    x, y, z = np.array([1.0, 2.0]), np.zeros(2), onp.zeros(2)
    assert x.copyto(y) is y and x.copyto(z) is z and y.tolist() == z.tolist() == [1, 2]
    there = x.copyto(npx.cpu(0))
    there += 1
    assert there.device == npx.cpu(0) and (x.tolist(), there.tolist()) == ([1, 2], [2, 3])
    with pytest.raises(TypeError, match="copyto: expected an array or a Device, got str"):
        x.copyto("cpu")
    with pytest.raises(ValueError, match="does not exist"):
        x.copyto(npx.cpu(99))


def test_modules_have_the_names_of_mxnet():
    assert npcompat.sym is npcompat.symbol and npcompat.random is npx.random


def test_there_is_one_kind_of_array():
    x = np.ones(2)
    assert (
        x.as_nd_ndarray() is x
        and x.as_np_ndarray() is x
        and x.tostype("default") is x
        and x.stype == "default"
    )
    with pytest.raises(NotImplementedError, match=r"tostype\('csr'\): everything is dense"):
        x.tostype("csr")
    assert npx.from_dlpack(x.to_dlpack_for_read()).tolist() == [1, 1]


def test_names_of_mxnet_that_stand_for_others():
    assert npcompat.sym.np is np and npcompat.sym.npx is npx and npcompat.img is npcompat.image
    assert npcompat.nd.Custom is npcompat.operator.Custom
    assert npcompat.dlpack.from_numpy is npx.from_numpy
    assert npcompat.nd.nansum is np.nansum
    for module, name, use in (
        (npcompat.sym, "FullyConnected", "np or npx"),
        (npcompat.random, "uniform", "np.random.uniform"),
        (npcompat.random, "normal", "np.random.normal"),
        (npcompat, "log", "logging.getLogger"),
        (npcompat, "registry", "a dict"),
    ):
        with pytest.raises(AttributeError, match=f"{name}'; use .*{use}"):
            getattr(module, name)


def test_older_names_are_there():
    assert onp.isnan(np.NAN) and onp.isnan(np.NaN) and np.PINF == -np.NINF == onp.inf
    assert np.PZERO == np.NZERO == 0 and onp.signbit(np.NZERO) and not onp.signbit(np.PZERO)
    assert {onp.dtype(t).kind for t in np.integer_dtypes} == {"i", "u"} and onp.dtype(
        np.floating_dtypes[0]
    ) == "float16"
    assert np.numeric_dtypes == np.integer_dtypes + np.floating_dtypes and np.boolean_dtypes == [
        np.bool_
    ]
    for dtype in np.numeric_dtypes:
        assert np.zeros(2, dtype=dtype).dtype == dtype
    a = onp.array([[3, 1, 2], [0, 5, 1]])
    assert np.in1d(a, [1, 5]).tolist() == onp.isin(a, [1, 5]).ravel().tolist()
    assert np.in1d(a, [1, 5], invert=True).tolist() == (~onp.isin(a, [1, 5])).ravel().tolist()
    assert np.msort(a).tolist() == onp.sort(a, 0).tolist()


# --- finance: values are those of NumPy 1.19's documentation --------------------------------------


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: np.pmt(0.075 / 12, 12 * 15, 200000), -1854.0247200054619),
        (lambda: np.pv(0.05 / 12, 10 * 12, -100, 15692.93), -100.00067131625819),
        (lambda: np.ppmt(0.1 / 12, 1, 60, 55000), -710.25412578642499),
        (lambda: np.npv(0.281, [-100, 39, 59, 55, 20]), -0.0084785916384548798),
        (lambda: np.rate(10, 0, -3500, 10000), 0.1106908537142692),
        (
            lambda: np.mirr([-4500, -800, 800, 800, 600, 600, 800, 800, 700, 3000], 0.08, 0.055),
            0.0665971750,
        ),
    ],
)
def test_finance(call, expected, backend):
    assert float(call()) == pytest.approx(expected, rel=1e-5, abs=1e-4 if abs(expected) < 1 else 0)
    with npx.np_default_dtype():
        assert float(call()) == pytest.approx(expected, rel=1e-7)


def test_payments_pay_a_loan_off():
    """The remaining principal, computed payment by payment, is the oracle."""
    with npx.np_default_dtype():
        rates = onp.array([0.0, 0.01, -0.02])
        for when in ("begin", "end"):
            pay = np.pmt(rates, 12, 1000.0, when=when).asnumpy()
            left = onp.full(3, 1000.0)
            for period in range(1, 13):
                if when == "end":
                    onp.testing.assert_allclose(
                        np.ppmt(rates, period, 12, 1000.0).asnumpy(), pay + left * rates, rtol=1e-9
                    )
                left = (left + pay) * (1 + rates) if when == "begin" else left * (1 + rates) + pay
            onp.testing.assert_allclose(left, 0, atol=1e-8)
            onp.testing.assert_allclose(np.pv(rates, 12, pay, when=when).asnumpy(), 1000)
            onp.testing.assert_allclose(
                np.rate(12, pay, 1000.0, 0.0, when=when, guess=0.02).asnumpy(), rates, atol=1e-9
            )


def test_finance_is_differentiated_and_compiled():
    rate = np.array(0.01, dtype="float64")
    rate.attach_grad()
    with autograd.record():
        y = npx.jit(lambda r: np.pmt(r, 12, 1000.0))(rate)
    y.backward()
    step = 1e-6
    slope = (float(np.pmt(rate + step, 12, 1000.0)) - float(np.pmt(rate - step, 12, 1000.0))) / (
        2 * step
    )
    assert float(rate.grad) == pytest.approx(slope, rel=1e-6)


def test_finance_without_an_answer():
    assert onp.isnan(np.mirr([1.0, 2.0], 0.1, 0.1)) and onp.isnan(
        np.rate(10, 0, -3500, 10000, maxiter=1)
    )
    with pytest.raises(ValueError, match="when: expected 'begin' or 'end', 1 or 0, got 'middle'"):
        np.pmt(0.1, 2, 1, when="middle")
    with pytest.raises(
        ValueError,
        match=r"mirr: values must be at least 2 cash flows along one axis, got shape \(1,\)",
    ):
        np.mirr([1.0], 0.1, 0.1)
