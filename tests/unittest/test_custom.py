"""Custom operators: each kind of function, gradients by hand and own ones, in every mode, and on
symbols.
"""

import gc
import shutil
import subprocess
import weakref

import jax.numpy as jnp
import numpy as onp
import pytest
from internals import AutogradError, DefinitionError, InferenceError, OperatorError, SymbolError

from npcompat import autograd, gluon, np, npx, symbol

PLACEMENT = "jax"

SOURCE = """
#include <stdint.h>
#include <string.h>
int twice(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra) {
  if (nparam != 2 || strcmp(dtypes[0], "float32")) return 7;
  int64_t size = 1;
  for (int i = 0; i < ndims[0]; i++) size *= shapes[0][i];
  for (int64_t i = 0; i < size; i++) ((float *)params[1])[i] = 2 * ((float *)params[0])[i];
  return 0;
}
"""


def same(*types):
    return types[0]


def cube_bprop(x, out, dout):
    return (3 * out / x * dout,)


def cube_kernel(x, out):
    out[...] = x[...] ** 3


def made(func_type, bprop=cube_bprop):
    func = cube_kernel if func_type == "pallas" else (lambda x: x**3)
    if func_type == "pallas":
        pytest.importorskip("jax.experimental.pallas", reason="needs Pallas")
    return npx.Custom(func, same, same, func_type=func_type, bprop=bprop)


KINDS = ["hybrid", "jax", "pyfunc", "pallas"]


def gradient(f, x):
    x.attach_grad()
    with autograd.record():
        y = f(x)
    y.backward()
    return y, x.grad


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients_by_hand_are_the_same_eager_and_compiled(kind):
    op = made(kind)
    for f in (op, npx.jit(op)):
        y, grad = gradient(f, np.array([1.0, 2.0, -3.0]))
        assert y.tolist() == [1, 8, -27]
        assert onp.allclose(grad, [3, 12, 27])
        assert y.dtype == grad.dtype == onp.float32
    with npx.backend("numpy"):
        y, grad = gradient(op, np.array([1.0, 2.0]))
        assert y.tolist() == [1, 8] and onp.allclose(grad, [3, 12])


@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_inside_of_a_compiled_function(kind):
    op = made(kind)

    @npx.jit
    def step(x):
        x.attach_grad()
        with autograd.record():
            y = op(x).sum()
        y.backward()
        return x.grad

    assert onp.allclose(step(np.array([1.0, 2.0])), [3, 12])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiled", [False, True])
def test_second_order_passes_inputs_and_outputs_of_bprop(kind, compiled):
    op = made(kind)
    f = npx.jit(op) if compiled else op
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        dx = autograd.grad(f(x), x, create_graph=True)
    dx.backward()
    assert onp.allclose(x.grad, [6, 12])


@pytest.mark.parametrize("kind", ["hybrid", "jax"])
def test_without_bprop_the_function_has_its_own_derivative(kind):
    op = made(kind, None)
    for f in (op, npx.jit(op)):
        assert onp.allclose(gradient(f, np.array([1.0, 2.0]))[1], [3, 12])


@pytest.mark.parametrize("kind", ["pyfunc", "pallas"])
def test_without_bprop_backward_of_other_functions_raises(kind):
    op = made(kind, None)
    for f in (op, npx.jit(op)):
        assert f(np.array([2.0])).tolist() == [8]
        with pytest.raises(
            AutogradError, match=rf"\({kind}\) has no derivative: give npx.Custom a bprop"
        ):
            gradient(f, np.array([2.0]))


@pytest.mark.parametrize("kind", ["hybrid", "jax", "pyfunc"])
def test_several_outputs_are_tuples_in_bprop(kind):
    def both(x, y):
        return x * y, x + y

    def bprop(x, y, out, dout):
        assert len(out) == len(dout) == 2
        return dout[0] * y + dout[1], dout[0] * x + dout[1]

    op = npx.Custom(both, lambda x, y: [x, y], lambda x, y: [x, y], kind, bprop)
    for f in (op, npx.jit(op)):
        x, y = np.array([2.0]), np.array([5.0])
        for v in (x, y):
            v.attach_grad()
        with autograd.record():
            product, total = f(x, y)
            head = 3 * product + total
        head.backward()
        assert (product.tolist(), total.tolist(), x.grad.tolist(), y.grad.tolist()) == (
            [10],
            [7],
            [16],
            [7],
        )


def square_by_elements(x):
    """The square, as the documentation of MindSpore's `Custom` writes it."""
    y = np.zeros(x.shape, x.dtype)
    for i in range(x.shape[0]):
        y[i] = x[i] * x[i]
    return y


def square_by_elements_grad(x, dout):
    dx = np.zeros(x.shape, x.dtype)
    for i in range(x.shape[0]):
        dx[i] = 2.0 * x[i]
    for i in range(x.shape[0]):
        dx[i] = dx[i] * dout[i]
    return dx


class Square(gluon.HybridBlock):
    """A block whose operator is custom, and so is the operator that differentiates it."""

    def __init__(self):
        super().__init__()
        grad = npx.Custom(square_by_elements_grad, lambda x, _: x, lambda x, _: x)
        self.op = npx.Custom(
            square_by_elements,
            lambda x: x,
            lambda x: x,
            bprop=lambda x, out, dout: (grad(x, dout),),
        )

    def forward(self, x):
        return self.op(x)


@pytest.mark.parametrize("hybridize", [False, True], ids=["eager", "hybridized"])
def test_a_custom_operator_differentiates_another_in_a_block(hybridize):
    net = Square()
    net.hybridize(hybridize)
    y, dx = gradient(net, np.array([1.0, 4.0, 9.0], dtype="float32"))
    assert y.tolist() == [1, 16, 81]
    assert dx.dtype == "float32" and dx.tolist() == [2, 8, 18]


def test_a_compiled_library(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "lib.c").write_text(SOURCE)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", tmp_path / "lib.so", tmp_path / "lib.c"], check=True
    )
    op = npx.Custom(f"{tmp_path}/lib.so:twice", same, same, "aot", lambda x, out, dout: (2 * dout,))
    for f in (op, npx.jit(op)):
        y, grad = gradient(f, np.array([[1.0, 2.0]]))
        assert y.tolist() == [[2, 4]] and grad.tolist() == [[2, 2]]
    assert op(np.zeros((0, 2))).shape == (0, 2) and op(np.array(4.0)).item() == 8
    with pytest.raises(RuntimeError, match="returned 7; 0 means success"):
        op(np.array([1, 2]))
    with pytest.raises(
        NotImplementedError, match=r"attributes \(by\) of an 'aot' operator: give them as inputs"
    ):
        op(np.ones(2), by=2)
    with pytest.raises(ValueError, match="has no function 'thrice'"):
        npx.Custom(f"{tmp_path}/lib.so:thrice", same, same, "aot")
    with pytest.raises(FileNotFoundError, match="there is no file './nothing.so'"):
        npx.Custom("./nothing.so:f", same, same, "aot")


@pytest.mark.parametrize("kind", ["hybrid", "jax", "pyfunc"])
def test_what_is_declared_must_be_returned(kind):
    x = np.array([1.0, 2.0])
    with pytest.raises(
        ValueError, match=r"output 0: out_shape declares \(3,\), but the function returned \(2,\)"
    ):
        npx.Custom(lambda x: x, (3,), "float32", kind)(x)
    with pytest.raises(
        TypeError, match="output 0: out_dtype declares int32, but the function returned float32"
    ):
        npx.Custom(lambda x: x, same, "int32", kind)(x)
    with pytest.raises(ValueError, match="1 outputs are declared, but the function returned 2"):
        npx.Custom(lambda x: (x, x), same, same, kind)(x)
    with pytest.raises(ValueError, match="out_shape declares 2 outputs, and out_dtype 1"):
        npx.Custom(lambda x: (x, x), [(2,), (2,)], "float32", kind)(x)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"func": abs, "func_type": "akg"},
            ValueError,
            "func_type: expected one of hybrid, jax, pyfunc, pallas, aot, torch, got 'akg'",
        ),
        (
            {"func": "./lib.so:f"},
            TypeError,
            "func of a 'hybrid' operator: expected a function, got str",
        ),
        (
            {"func": abs, "func_type": "aot"},
            TypeError,
            "expected a path such as './lib.so:add', got builtin",
        ),
        (
            {"func": abs, "func_type": "pyfunc", "out_shape": same},
            ValueError,
            "out_dtype is missing: a 'pyfunc' operator's types",
        ),
        ({"func": abs, "bprop": 1}, TypeError, "bprop: expected a function, got int"),
        ({"func": abs, "reg_info": {}}, TypeError, "registration information is what CustomRegOp"),
        (
            {"func": abs, "name": "a b"},
            ValueError,
            "the name of a custom operator is an identifier, got 'a b'",
        ),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        npx.Custom(**arguments)


@pytest.mark.parametrize("compiled", [False, True])
def test_bad_gradients_are_refused(compiled):
    for bprop, error, message in [
        (
            lambda x, out, dout: dout,
            TypeError,
            "bprop: expected a tuple of 1 gradients, one for each input, got ndarray",
        ),
        (
            lambda x, out, dout: (dout, dout),
            ValueError,
            "bprop: expected 1 gradients, one for each input, got 2",
        ),
        (
            lambda x, out, dout: (dout[:1],),
            ValueError,
            r"bprop: gradient 0: expected shape \(2,\), as its input has, got \(1,\)",
        ),
        (
            lambda x, out, dout: (1.0,),
            TypeError,
            "bprop: gradient 0: expected an npcompat ndarray or None, got float",
        ),
    ]:
        op = npx.Custom(lambda x: x * 1, bprop=bprop)
        with pytest.raises(error, match=message):
            gradient(npx.jit(op) if compiled else op, np.ones(2))


@pytest.mark.parametrize("kind", ["jax", "pyfunc", "hybrid"])
def test_attributes_go_to_the_function_and_to_bprop_and_integers_have_no_gradient(kind):
    def repeated(x, n, by=1.0):
        return (x * n * by).astype("float32")

    op = npx.Custom(
        repeated, same, same, kind, lambda x, n, out, dout, by=1.0: (dout * n * by, None)
    )
    for f in (lambda x, n: op(x, n, by=3.0), npx.jit(lambda x, n: op(x, n, by=3.0))):
        x, n = np.array([1.0, 2.0]), np.array([2, 1])
        x.attach_grad()
        with autograd.record():
            y = f(x, n)
        y.backward()
        assert (y.tolist(), x.grad.tolist()) == ([6, 6], [6, 3])


def test_a_jax_function_sees_64_bits_where_an_operand_has_them():
    op = npx.Custom(lambda x: x + jnp.zeros(x.shape), func_type="jax")
    assert op(np.ones(2)).dtype == onp.float32
    assert op(np.ones(2, dtype="float64")).dtype == onp.float64


@pytest.mark.parametrize("dtype", ["int64", "float64", "complex128", "bool", "bfloat16"])
def test_a_callback_keeps_all_bits(dtype):
    given = []

    def keep(x):
        given.append(x.dtype)
        return x

    f = npx.jit(npx.Custom(keep, same, same, "pyfunc"))
    for x in (
        np.array([2**40 + 1, 3], dtype="int64").astype(dtype),
        np.array(1, dtype=dtype),
        np.zeros((0, 2), dtype=dtype),
    ):
        for _ in range(2):
            y = f(x)
            assert y.dtype == x.dtype and y.tolist() == x.tolist()
    assert set(given) == {x.dtype}


@pytest.mark.parametrize("compiled", [False, True])
def test_arrays_that_a_function_closes_over_are_read_at_each_call(compiled):
    w = np.array([2.0])
    op = npx.Custom(lambda x: x * w, bprop=lambda x, out, dout: (dout * w,))
    f = npx.jit(op) if compiled else op
    for value in (2, 5):
        w[...] = value
        y, grad = gradient(f, np.ones(1))
        assert (y.item(), grad.item()) == (value, value)


def test_writes_after_the_call_change_no_gradient_and_the_graph_is_freed_at_once():
    x = np.array([3.0])
    x.attach_grad()
    with autograd.record():
        z = x * 1
        y = made("hybrid")(z)
        z += 10
    node = weakref.ref(y._value.node)
    y.backward()
    gc.disable()
    try:
        del y
        assert node() is None
    finally:
        gc.enable()
    assert onp.allclose(x.grad, [27])


# --- on symbols -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_symbol_makes_a_node_that_is_bound_and_differentiated(kind):
    y = made(kind)(symbol.var("x", shape=("n",), dtype="float32")) + 1
    assert (
        y.list_arguments() == ["x"]
        and [str(d) for d in y.shape] == ["n"]
        and y.dtype == onp.float32
    )
    executor = y.bind(args={"x": np.array([1.0, 2.0])})
    assert executor.forward(is_train=True)[0].tolist() == [2, 9]
    executor.backward(np.ones(2))
    assert onp.allclose(executor.grad_dict["x"], [3, 12])
    assert made(kind)(symbol.var("x")).eval(x=np.array([2.0]))[0].tolist() == [8]


def test_types_of_nodes_are_inferred_or_declared():
    x = symbol.var("x", shape=(2, 3), dtype="float32")
    assert npx.Custom(lambda x: x.sum(axis=0))(x).shape == (3,)
    first, second = npx.Custom(lambda x: (x, x > 0), func_type="jax")(x)
    assert (first.dtype, second.dtype) == (onp.float32, onp.bool_)
    counts = npx.Custom(lambda x: onp.zeros(4, "int8"), (4,), "int8", "pyfunc")(x)
    assert (counts.shape, counts.dtype) == ((4,), onp.int8)
    with pytest.raises(
        InferenceError, match=r"out_shape declares \(5,\), but the function returned \(2, 3\)"
    ):
        npx.Custom(lambda x: x * 1, (5,))(x)
    outside = np.ones(3)
    with pytest.raises(
        (SymbolError, InferenceError), match="uses an array from outside: make that an input"
    ):
        npx.Custom(lambda x: x + outside, same, same)(x)


def named_square(x, by=1.0):
    return x * x * by


def test_a_graph_is_written_and_read_by_the_name_of_its_operator():
    x = symbol.var("x", shape=(2,), dtype="float32")
    with pytest.raises(
        DefinitionError,
        match="named_square is a custom operator without a name, which can't be written",
    ):
        npx.Custom(named_square)(x).tojson()
    npx.Custom(named_square, name="test_square")
    op = npx.Custom(named_square, name="test_square", bprop=lambda x, out, dout, by: (7 * dout,))
    text = op(x, by=2.0).tojson()
    read = symbol.load_json(text)
    executor = read.bind(args={"x": np.array([1.0, 3.0])})
    assert executor.forward(is_train=True)[0].tolist() == [2, 18]
    executor.backward(np.ones(2))
    assert executor.grad_dict["x"].tolist() == [7, 7]
    both = npx.Custom(lambda x: (x, x + 1), [same, same], [same, same], name="test_both")(x)
    assert symbol.load_json(both[1].tojson()).eval(x=np.ones(2))[0].tolist() == [2, 2]
    with pytest.raises(ValueError, match="a custom operator 'test_square' of another function"):
        npx.Custom(lambda x: x, name="test_square")
    with pytest.raises(DefinitionError, match="is damaged"):
        symbol.load_json(text.replace("test_square", "test_other"))


# --- registration ---------------------------------------------------------------------------------


def info(*combinations, target=None, attr=None):
    builder = npx.CustomRegOp("Scale").input(0, "x").input(1, "y", "optional").output(0, "out")
    for combination in combinations:
        builder.dtype_format(*combination)
    for given in attr or ():
        builder.attr(**given)
    return builder.get_op_info() if target is None else builder.target(target).get_op_info()


F32, F16, F32_NCHW = npx.DataType.F32_Default, npx.DataType.F16_Default, npx.DataType.F32_NCHW


def test_inputs_that_no_combination_allows_are_refused_with_the_table():
    op = npx.Custom(
        lambda x, y: x + y,
        same,
        reg_info=info((F32, F32, F32), (F16, F32, F16), (F32_NCHW, F16, F32)),
    )
    assert op(np.ones(2), np.ones(2)).tolist() == [2, 2]
    with pytest.raises(
        OperatorError, match="allows the inputs and outputs float16.2., float32.2., float32.2.;"
    ):
        npx.Custom(lambda x, y: x + y, same, "float32", reg_info=info((F16, F32, F16)))(
            np.ones(2, dtype="float16"), np.ones(2)
        )
    with pytest.raises(OperatorError) as caught:
        op(np.ones(2), np.ones(2, dtype="float16"))
    assert (
        "no registered combination allows the inputs float32[2], float16[2]; allowed are, for x, y, out:\n"
        in str(caught.value)
    )
    assert (
        "  float16 DefaultFormat, float32 DefaultFormat, float16 DefaultFormat\n  float32 NCHW, float16"
        in str(caught.value)
    )
    assert op(np.ones((1, 1, 1, 2)), np.ones(2, dtype="float16")).dtype == onp.float32
    with pytest.raises(
        OperatorError, match=r"expected the inputs x \(required\), y \(optional\); 0 are given"
    ):
        op()


def test_reg_info_wins_over_the_decorator_and_a_target_is_registered_once():
    @npx.custom_info_register(
        info((F32, F32, F32), target="CPU"), info((F16, F16, F16), target="GPU")
    )
    def add(x, y):
        return x + y

    with pytest.raises(OperatorError, match="no registered combination"):
        npx.Custom(add)(np.ones(2, dtype="int32"), np.ones(2, dtype="int32"))
    assert npx.Custom(add, reg_info=info())(
        np.ones(2, dtype="int32"), np.ones(2, dtype="int32")
    ).tolist() == [2, 2]
    with pytest.raises(ValueError, match="Scale: information for target CPU is registered twice"):
        npx.custom_info_register(info(target="CPU"))(add)
    with pytest.raises(ValueError, match="information for target GPU is registered twice"):
        npx.Custom(add, reg_info=[info(target="GPU"), info(target="GPU")])
    with pytest.raises(
        OperatorError, match="add is registered for Ascend, but the inputs are on CPU"
    ):
        npx.Custom(add, reg_info=info(target="Ascend"))(np.ones(1), np.ones(1))


def test_attributes_are_checked_and_completed():
    attr = [
        {"name": "by", "value_type": "float", "param_type": "optional", "default_value": 2.0},
        {"name": "mode", "value_type": "str", "value": "plus,minus"},
    ]

    def scale(x, by, mode):
        return x * by if mode == "plus" else -x * by

    op = npx.Custom(
        scale,
        reg_info=npx.CustomRegOp().input(0, "x").output(0, "out").attr(**attr[0]).attr(**attr[1]),
    )
    assert op(np.ones(1), mode="minus").tolist() == [-2]
    assert op(np.ones(1), 3.0, "plus").tolist() == [3]
    for arguments, message in [
        ({}, "attribute mode is required"),
        ({"mode": "times"}, "attribute mode: expected one of 'plus', 'minus', got 'times'"),
        ({"mode": "plus", "by": "2"}, "attribute by: expected float, got '2'"),
        ({"mode": "plus", "to": 1}, "has no attribute to; it has by, mode"),
    ]:
        with pytest.raises(OperatorError, match=message):
            op(np.ones(1), **arguments)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda b: b.input(1, "x"),
            "input 'x': expected index 0, as inputs are declared in order, got 1",
        ),
        (lambda b: b.input(0, "x").input(1, "x"), "input 'x' is declared twice"),
        (
            lambda b: b.input(0, "x", "dynamic"),
            "param_type: expected 'required' or 'optional', got 'dynamic'",
        ),
        (
            lambda b: b.input(0, "x", "optional").input(1, "y"),
            "input 'y' is required, but follows the optional input 'x'",
        ),
        (lambda b: b.target("NPU"), "target: expected one of CPU, GPU, TPU, Ascend, got 'NPU'"),
        (lambda b: b.target("CPU").target("GPU"), "target is CPU already"),
        (
            lambda b: b.dtype_format(("float32", "Fractal_Z")),
            "unknown format 'Fractal_Z'; expected DefaultFormat, ND, or a letter",
        ),
        (
            lambda b: b.attr("a", value_type="number"),
            "value_type: expected one of int, float, bool, str, listInt",
        ),
        (
            lambda b: b.input(0, "x").output(0, "y").dtype_format("float32").get_op_info(),
            "expected 2 entries, for 1 inputs and 1 outputs",
        ),
    ],
)
def test_bad_registration_is_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build(npx.CustomRegOp("Bad"))
