"""Bad input: the class and the text of each error, and that nothing is lost."""

import numpy as onp
import pytest
from internals import AutogradError, DeferredInitializationError, ParameterFileError

from npcompat import autograd, gluon, np, npx

PLACEMENT = "jax"


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda a: np.matmul(a, a),
            ValueError,
            r"matmul: Input operand 1 has a mismatch in its core dimension 0.*size 2 is different from 3",
        ),
        (
            lambda a: np.matmul(a, 2.0),
            ValueError,
            r"matmul: Input operand 1 does not have enough dimensions",
        ),
        (
            lambda a: np.concatenate([a, np.ones((2, 2))]),
            ValueError,
            r"along dimension 1, the array at index 0 has size 3 and .* index 1 has size 2",
        ),
        (lambda a: np.concatenate([]), ValueError, r"need at least one array to concatenate"),
        (lambda a: a.reshape(4), ValueError, r"cannot reshape array of size 6 into shape \(4,\)"),
        (lambda a: a.reshape(-1, -1), ValueError, r"can only specify one unknown dimension"),
        (
            lambda a: a + np.ones(4),
            ValueError,
            r"operands could not be broadcast together with shapes \(2,3\) \(4,\)",
        ),
        (lambda a: a[5], IndexError, r"index 5 is out of bounds for axis 0 with size 2"),
        (lambda a: a[0, -4], IndexError, r"index -4 is out of bounds for axis 1 with size 3"),
        (lambda a: a[[0, 7]], IndexError, r"index 7 is out of bounds for axis 0 with size 2"),
        (
            lambda a: a[0, 0, 0],
            IndexError,
            r"too many indices for array: array is 2-dimensional, but 3 were indexed",
        ),
        (
            lambda a: a[1.5],
            IndexError,
            r"only integers, slices|arrays used as indices must be of integer",
        ),
        (
            lambda a: a.sum(axis=2),
            onp.exceptions.AxisError,
            r"axis 2 is out of bounds for array of dimension 2",
        ),
        (
            lambda a: np.stack([a, a], axis=5),
            onp.exceptions.AxisError,
            r"axis 5 is out of bounds for array of dimension 3",
        ),
        (
            lambda a: np.add(a, 1, out=np.zeros((2, 3), int)),
            TypeError,
            r"Cannot cast ufunc 'add' output from dtype\('float32'\) to dtype\('int64'\)",
        ),
        (
            lambda a: np.add(a, a, out=np.zeros(3)),
            ValueError,
            r"non-broadcastable output operand with shape \(3,\)",
        ),
        (
            lambda a: np.broadcast_to(a, (2, 2, 3)).__setitem__(0, 1),
            ValueError,
            r"assignment destination is read-only",
        ),
        (
            lambda a: a.__setitem__(0, np.ones(2)),
            ValueError,
            r"could not broadcast input array from shape \(2,\) into shape \(3,\)",
        ),
    ],
)
@pytest.mark.parametrize("backend_name", ["jax", "numpy"])
def test_numpy_names_the_mistake_and_nothing_is_written(call, kind, text, backend_name):
    with npx.backend(backend_name):
        a = np.arange(6.0).reshape(2, 3)
        with pytest.raises(kind, match=text):
            call(a)
        assert a.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda a: np.matmul(a, a), ValueError),
        (lambda a: a + np.ones(4), ValueError),
        (lambda a: a.reshape(4), ValueError),
        (lambda a: a[5], IndexError),
        (lambda a: a.sum(axis=2), onp.exceptions.AxisError),
    ],
)
def test_compiled_functions_raise_the_same_while_they_are_traced(call, kind):
    with pytest.raises(kind):
        npx.jit(call)(np.ones((2, 3)))


def test_an_index_out_of_bounds_in_a_compiled_function_raises_when_the_result_is_read():
    take = npx.jit(lambda a, i: a[i])
    a = np.arange(4.0)
    assert take(a, np.array([0, 3])).tolist() == [0, 3]
    result = take(a, np.array([0, 9]))
    with pytest.raises(
        IndexError,
        match=r"index out of bounds for axis 0 with size 4 \(compiled at .*test_errors\.py:\d+\)",
    ):
        result.asnumpy()


def test_on_the_host_an_index_out_of_bounds_in_a_compiled_function_raises_at_once():
    with (
        npx.backend("numpy"),
        pytest.raises(IndexError, match="index out of bounds for axis 0 with size 4"),
    ):
        npx.jit(lambda a, i: a[i])(np.arange(4.0), np.array([0, 9]))


def test_backward_of_what_was_not_recorded():
    x = np.ones(2)
    x.attach_grad()
    y = x * x
    with pytest.raises(
        AutogradError, match=r"not recorded: compute it inside `with autograd.record\(\):`"
    ):
        y.backward()


def test_a_graph_is_used_twice_only_if_it_was_retained():
    x = np.ones(2)
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    with pytest.raises(AutogradError, match="a second time.*retain_graph=True"):
        y.backward()
    assert x.grad.tolist() == [2, 2]


def test_a_branch_on_a_traced_value_names_the_line():
    def f(x):
        return x if x.sum() > 0 else -x

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(
        TypeError, match=rf"test_errors\.py:{line}: .*npx\.cond, npx\.while_loop or npx\.foreach"
    ) as raised:
        npx.jit(f, loops="python")(np.ones(2))
    assert not getattr(
        raised.value, "__notes__", None
    )  # JAX has something to say of its own frames


def test_attach_grad_on_integers_says_how_to_make_them_floats():
    with pytest.raises(TypeError, match=r"int64: only floats have gradients; use \.astype"):
        np.arange(3).attach_grad()


def net(units=3, **options):
    made = gluon.nn.HybridSequential()
    made.add(gluon.nn.Dense(units, in_units=2, **options))
    made.initialize()
    return made


def test_a_parameter_that_was_not_initialized():
    layer = gluon.nn.Dense(3, in_units=2)
    with pytest.raises(RuntimeError, match=r"weight.*initialize\(\)"):
        layer.weight.data()
    deferred = gluon.nn.Dense(3)
    deferred.initialize()
    with pytest.raises(DeferredInitializationError, match="weight"):
        deferred.weight.data()


def test_parameter_files_that_do_not_fit_are_refused_and_change_nothing(tmp_path):
    file = tmp_path / "net.params"
    source = net()
    source.save_parameters(str(file))

    wide = net(4)
    before = wide[0].weight.data().asnumpy()
    with pytest.raises(
        ParameterFileError, match=r"(?s)0\.weight.*\(3, 2\).*\(4, 2\)|0\.weight.*\(4, 2\).*\(3, 2\)"
    ):
        wide.load_parameters(str(file))
    assert (wide[0].weight.data().asnumpy() == before).all()

    plain = net(use_bias=False)
    plain_file = tmp_path / "plain.params"
    plain.save_parameters(str(plain_file))
    target = net()
    before = target[0].weight.data().asnumpy()
    with pytest.raises(ParameterFileError, match=r"0\.bias"):
        target.load_parameters(str(plain_file))
    assert (target[0].weight.data().asnumpy() == before).all()

    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ParameterFileError, match=r"net\.params"):
        target.load_parameters(str(file))
    assert (target[0].weight.data().asnumpy() == before).all()


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "net.params"
    model = net()
    model.save_parameters(str(file))
    old = file.read_bytes()

    def full_disk(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", full_disk)
    with pytest.raises(OSError, match="no space left"):
        model.save_parameters(str(file))
    assert file.read_bytes() == old and [p.name for p in tmp_path.iterdir()] == ["net.params"]


def test_what_is_not_supported_says_so_by_name():
    with pytest.raises(ValueError, match="backend: expected one of auto, jax, numpy, .*got 'tf'"):
        npx.backend("tf")


PLACEMENTS = ("auto", "numpy", "jax")


@pytest.fixture
def numpys_errors():
    """NumPy's own ways of handling errors, again when the test is over."""
    before = np.seterr(divide="warn", over="warn", under="ignore", invalid="warn")
    yield
    np.seterr(**before)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_floating_point_errors_are_reported_on_every_backend_as_asked(placement, numpys_errors):
    with npx.backend(placement):
        x, half = np.array([1.0, 0.0], dtype="float32"), np.array([60000.0], dtype="float16")
        for function, text in {
            lambda: 1 / x: "divide by zero encountered in divide",
            lambda: np.log(x): "divide by zero encountered in log",
            lambda: np.sqrt(x - 1): "invalid value encountered in sqrt",
            lambda: np.exp(x * 1000): "overflow encountered in exp",
            lambda: np.exp(x * -100): "underflow encountered in exp",
            lambda: half * 2: "overflow encountered in multiply",
            lambda: (half.astype("float64") * 2).astype("float16"): "overflow encountered in cast",
            lambda: np.array([1, 2]) // 0: "divide by zero encountered in floor_divide",
            lambda: x.sum() / x.min(): "divide by zero",
        }.items():
            with np.errstate(all="raise"), pytest.raises(FloatingPointError, match=text):
                function()
            with np.errstate(all="warn"), pytest.warns(RuntimeWarning, match=text):
                function()
            with np.errstate(all="ignore"), np.errstate(under="ignore"):
                function()
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
            x /= np.array(0.0, dtype="float32")
        x, called = np.array([1.0, 0.0]), []
        with np.errstate(all="call", call=lambda kind, flag: called.append(kind)):
            y = 1 / x
            with np.errstate(all="ignore"):
                1 / x
        assert called == ["divide by zero"] and y.tolist() == [1, onp.inf]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_floating_point_errors_of_what_is_recorded_are_reported(placement):
    with npx.backend(placement), np.errstate(divide="raise"):
        x = np.array([2.0, 0.0])
        x.attach_grad()
        with autograd.record(), pytest.raises(FloatingPointError, match="divide by zero"):
            1 / x
        with autograd.record():
            y = (3 / x[:1]).sum()
        y.backward()
        assert x.grad.tolist() == [-0.75, 0]


def test_seterr_holds_until_it_is_taken_back(numpys_errors):
    with npx.backend("jax"):
        before = np.seterr(divide="raise")
        np.seterr(under="ignore")
        with pytest.raises(FloatingPointError, match="divide by zero"):
            1 / np.zeros(2)
        np.seterr(**before)
        assert (1 / np.zeros(2)).tolist() == [onp.inf, onp.inf]
        np.seterr(all="raise")
        assert np.seterr(all="ignore") == dict.fromkeys(before, "raise")
        assert (1 / np.zeros(2)).tolist() == [onp.inf, onp.inf]


def test_errstate_decorates(numpys_errors):
    @np.errstate(divide="raise")
    def divided(x):
        return x / 0

    with npx.backend("jax"):
        for _ in range(2):
            with pytest.raises(FloatingPointError, match="divide by zero"):
                divided(np.ones(2))
        assert (np.ones(2) / 0).tolist() == [onp.inf, onp.inf]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_compiled_functions_refuse_to_report(placement):
    def divided(x):
        with np.errstate(divide="raise"):
            return x / 0

    with npx.backend(placement):
        with pytest.raises(
            NotImplementedError,
            match=r"errstate\(divide='raise'\): a compiled function does not report errors",
        ):
            npx.jit(divided)(np.ones(2))
        with np.errstate(divide="raise"):
            assert npx.jit(lambda x: x / 0)(np.ones(2)).tolist() == [onp.inf, onp.inf]
