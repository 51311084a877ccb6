"""MXNet's custom operators: `operator.CustomOp` and `CustomOpProp`, in every mode, and on symbols."""

import numpy as onp
import pytest
from internals import DefinitionError, OperatorError

from npcompat import autograd, gluon, np, npx, operator, symbol


class Softmax(operator.CustomOp):
    """The loss layer of MXNet's tutorial, computed with NumPy."""

    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = onp.exp(x - x.max(axis=1).reshape((x.shape[0], 1)))
        self.assign(out_data[0], req[0], np.array(y / y.sum(axis=1).reshape((x.shape[0], 1))))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        assert not out_grad[0].any()
        label = in_data[1].asnumpy().ravel().astype(int)
        y = out_data[0].asnumpy().copy()
        y[onp.arange(label.shape[0]), label] -= 1.0
        self.assign(in_grad[0], req[0], np.array(y))


@operator.register("test_softmax")
class SoftmaxProp(operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], [in_shape[0][0]]], [in_shape[0]], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        assert in_shapes == [[2, 3], [2]]
        return Softmax()


class Scale(operator.CustomOp):
    """Multiplication by a number; it keeps its input, and counts calls in training mode."""

    def __init__(self, by):
        self.by = by

    def forward(self, is_train, req, in_data, out_data, aux):
        self.seen = in_data[0].copy()
        self.assign(out_data[0], req[0], in_data[0] * self.by)
        self.assign(out_data[1], req[1], in_data[0] ** 2)
        self.assign(aux[0], "add" if is_train else "null", 1)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * self.by + 2 * self.seen * out_grad[1])


@operator.register("test_scale")
class ScaleProp(operator.CustomOpProp):
    def __init__(self, by="1"):
        super().__init__()
        assert isinstance(by, str)
        self.by = float(by)

    def list_outputs(self):
        return ["scaled", "squared"]

    def list_auxiliary_states(self):
        return ["calls"]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Scale(self.by)

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]] * 2, [[]]


LABEL = [2, 0]
DATA = onp.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]], "float32")
SOFTMAX = onp.exp(DATA) / onp.exp(DATA).sum(1, keepdims=True)


class Net(gluon.HybridBlock):
    def forward(self, x, label):
        return operator.Custom(x, label=label, op_type="test_softmax")


@pytest.mark.parametrize("hybridized", [False, True])
def test_the_softmax_of_mxnets_tutorial(hybridized):
    net = Net()
    if hybridized:
        net.hybridize()
    x = np.array(DATA)
    x.attach_grad()
    with autograd.record():
        y = net(x, np.array(LABEL))
    y.backward()
    assert onp.allclose(y, SOFTMAX, atol=1e-6)
    assert onp.allclose(x.grad, SOFTMAX - onp.eye(3)[LABEL], atol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_states_are_written_and_parameters_are_texts(compiled):
    calls = np.zeros(())

    def f(x):
        scaled, squared = operator.Custom(x, calls, op_type="test_scale", by=3)
        return scaled + squared

    run = npx.jit(f) if compiled else f
    x = np.array([1.0, 2.0])
    x.attach_grad()
    for count in (1, 2):
        with autograd.record():
            y = run(x)
        y.backward()
        assert (y.tolist(), x.grad.tolist(), calls.item()) == ([4, 10], [5, 7], count)
    assert run(x).tolist() == [4, 10] and calls.item() == 2


def test_on_symbols_it_is_a_node():
    x, label = (
        symbol.var("x", shape=(2, 3), dtype="float32"),
        symbol.var("label", shape=(2,), dtype="int64"),
    )
    y = operator.Custom(x, label, op_type="test_softmax")
    assert y.shape == (2, 3) and y.list_arguments() == ["x", "label"]
    executor = y.bind(args={"x": np.array(DATA), "label": np.array(LABEL)})
    assert onp.allclose(executor.forward(is_train=True)[0], SOFTMAX, atol=1e-6)
    executor.backward(np.ones((2, 3)))
    assert onp.allclose(executor.grad_dict["x"], SOFTMAX - onp.eye(3)[LABEL], atol=1e-6)
    with pytest.raises(DefinitionError, match="test_softmax is a custom operator without a name"):
        y.tojson()


def test_its_states_are_those_of_a_graph():
    x, calls = (
        symbol.var("x", shape=(2,), dtype="float32"),
        symbol.var("calls", shape=(), dtype="float32"),
    )
    with autograd.train_mode():
        scaled, squared = operator.Custom(x, calls, op_type="test_scale", by=3)
    y = scaled + squared
    assert y.list_arguments() == ["x"] and y.list_auxiliary_states() == ["calls"]
    executor = y.bind(args=[np.array([1.0, 2.0])], aux_states=[np.zeros(())])
    for count in (1, 2):
        assert executor.forward(is_train=True)[0].tolist() == [4, 10]
        executor.backward()
        assert (executor.grad_dict["x"].tolist(), executor.aux_dict["calls"].item()) == (
            [5, 7],
            count,
        )


def test_bad_calls_are_refused():
    with pytest.raises(OperatorError, match="no operator 'nothing' is registered; there is"):
        operator.Custom(np.ones(2), op_type="nothing")
    with pytest.raises(OperatorError, match="expected the inputs data, label, got 1 by position"):
        operator.Custom(np.ones((2, 3)), op_type="test_softmax")
    with pytest.raises(OperatorError, match="got 2 by position and label by name"):
        operator.Custom(np.ones((2, 3)), np.ones(2), label=np.ones(2), op_type="test_softmax")
    with pytest.raises(ValueError, match=r"label: infer_shape wants shape \(2,\), got \(3,\)"):
        operator.Custom(np.ones((2, 3)), np.ones(3), op_type="test_softmax")
    with pytest.raises(ValueError, match="SoftmaxProp has the name already"):
        operator.register("test_softmax")(type("Other", (operator.CustomOpProp,), {}))
    with pytest.raises(TypeError, match="expected a subclass of CustomOpProp"):
        operator.register("test_other")(Softmax)  # type: ignore[type-var]
    with pytest.raises(
        ValueError, match="req: expected 'null', 'write', 'inplace' or 'add', got 'put'"
    ):
        operator.CustomOp().assign(np.ones(1), "put", 1)
    assert {"test_softmax", "test_scale"} <= set(operator.get_all_registered_operators())


def test_an_operand_that_refuses_ufuncs_is_written_into_nothing():
    class Refusing:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "added"

    for module in (onp, np):
        a = module.arange(3.0)
        assert a + Refusing() == "added"
        with pytest.raises(TypeError, match="operand 'Refusing' does not support ufuncs"):
            a += Refusing()
        assert a.tolist() == [0, 1, 2]
