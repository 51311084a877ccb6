"""Recurrent layers and cells: against torch with its weights copied, against each other, eager and
compiled.
"""

import copy
import pickle

import numpy as onp
import pytest
from recurrent import DATA, LENGTHS, OURS, C, H, N, T, close, gradients, random, small

from npcompat import autograd, gluon, init, np, npx
from npcompat.gluon import rnn

# --- layers against torch -------------------------------------------------------------------------

LAYERS = {
    "rnn": (lambda **k: rnn.RNN(H, activation="tanh", **k), "RNN"),
    "relu": (lambda **k: rnn.RNN(H, activation="relu", **k), "RNN"),
    "lstm": (lambda **k: rnn.LSTM(H, **k), "LSTM"),
    "gru": (lambda **k: rnn.GRU(H, **k), "GRU"),
}


def theirs_of(torch, name, layer, **options):
    """The layer of torch with the same weights."""
    kind = getattr(torch.nn, LAYERS[name][1])
    options |= {"nonlinearity": "relu"} if name == "relu" else {}
    other = kind(C, H, **options)
    for parameter, values in other.named_parameters():
        what, part, at, *reverse = parameter.split("_")
        values.data = torch.tensor(
            getattr(layer, f"{'r' if reverse else 'l'}{at[1:]}_{OURS[part]}_{what}")
            .data()
            .asnumpy()
        )
    return other


@pytest.mark.parametrize(
    ("name", "layers", "both"),
    [("rnn", 1, False), ("relu", 1, False), ("lstm", 2, True), ("gru", 2, False)],
)
def test_layers_agree_with_torch_in_values_states_and_gradients(name, layers, both):
    torch = pytest.importorskip("torch", reason="compares with torch")
    layer = small(LAYERS[name][0](num_layers=layers, bidirectional=both, input_size=C))
    other = theirs_of(torch, name, layer, num_layers=layers, bidirectional=both)
    begin = [random.normal(size=info["shape"]).astype("float32") for info in layer.state_info(N)]
    found, grads = gradients(
        lambda x, *s: flat(layer(x, list(s))), np.array(DATA), *map(np.array, begin)
    )
    tensors = [torch.tensor(a, requires_grad=True) for a in (DATA, *begin)]
    out, states = other(tensors[0], tuple(tensors[1:]) if name == "lstm" else tensors[1])
    outs = [out, *states] if name == "lstm" else [out, states]
    sum((o * torch.sin(torch.arange(o.numel())).reshape(o.shape)).sum() for o in outs).backward()
    close(found, [o.detach().numpy() for o in outs])
    close(grads, [t.grad.numpy() for t in tensors])
    for parameter, values in other.named_parameters():
        what, part, at, *reverse = parameter.split("_")
        mine = getattr(layer, f"{'r' if reverse else 'l'}{at[1:]}_{OURS[part]}_{what}").grad()
        onp.testing.assert_allclose(
            mine.asnumpy(), values.grad.numpy(), 1e-4, 1e-5, err_msg=parameter
        )


def flat(result):
    out, states = result
    return [out, *states]


def test_packed_sequences_of_torch_agree_with_sequence_lengths():
    torch = pytest.importorskip("torch", reason="compares with torch")
    layer = small(rnn.LSTM(H, 2, bidirectional=True, input_size=C, use_sequence_length=True))
    other = theirs_of(torch, "lstm", layer, num_layers=2, bidirectional=True)
    lengths = [4, 1, 2]
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        torch.tensor(DATA), lengths, enforce_sorted=False
    )
    out, states = other(packed)
    expected = [torch.nn.utils.rnn.pad_packed_sequence(out)[0], *states]
    padded = onp.where(
        onp.arange(T)[:, None, None] < onp.array(lengths)[:, None], DATA, onp.nan
    ).astype("float32")
    x = np.array(padded)
    found, (grad,) = gradients(lambda x: flat(layer(x, layer.begin_state(N), np.array(lengths))), x)
    close(found, [e.detach().numpy() for e in expected])
    assert onp.isfinite(grad).all(), "what comes after the end does not matter, not even nan"
    assert (grad[2:, 1:2] == 0).all()


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
def test_projections_agree_with_torch():
    torch = pytest.importorskip("torch", reason="compares with torch")
    layer = small(rnn.LSTM(H, projection_size=2, input_size=C))
    other = theirs_of(torch, "lstm", layer, proj_size=2)
    assert layer.l0_h2r_weight.shape == (2, H) and layer.l0_h2h_weight.shape == (4 * H, 2)
    expected, states = other(torch.tensor(DATA))
    close(
        [o.asnumpy() for o in flat(layer(np.array(DATA), layer.begin_state(N)))],
        [o.detach().numpy() for o in (expected, *states)],
    )


# --- layers against cells -------------------------------------------------------------------------


def stack_of(layer, cell, layers, both):
    """Cells with the weights of a layer."""
    stack = rnn.HybridSequentialRNNCell()
    for _ in range(layers):
        stack.add(rnn.BidirectionalCell(cell(), cell()) if both else cell())
    stack.initialize()
    stack.unroll(T, np.array(DATA), layout="TNC")
    for name, parameter in stack.collect_params().items():
        at, *middle, last = name.split(".")
        parameter.set_data(
            getattr(layer, f"{'r' if 'r_cell' in middle else 'l'}{at}_{last}").data()
        )
    return stack


CELLS = {
    "rnn_relu": (lambda **k: rnn.RNN(H, **k), lambda: rnn.RNNCell(H, "relu")),
    "lstm": (lambda **k: rnn.LSTM(H, **k), lambda: rnn.LSTMCell(H)),
    "gru": (lambda **k: rnn.GRU(H, **k), lambda: rnn.GRUCell(H)),
    "projected": (lambda **k: rnn.LSTM(H, projection_size=3, **k), lambda: rnn.LSTMPCell(H, 3)),
}


@pytest.mark.parametrize(
    ("name", "layers", "both"),
    [("rnn_relu", 1, False), ("lstm", 1, True), ("gru", 1, False), ("projected", 1, False)],
)
def test_layers_agree_with_cells_unrolled_eager_and_compiled(name, layers, both):
    layer, cell = CELLS[name]
    layer = small(
        layer(num_layers=layers, bidirectional=both, use_sequence_length=True, layout="NTC")
    )
    x, lengths = np.array(DATA.swapaxes(0, 1)), np.array(LENGTHS)
    layer(x, None, lengths)
    stack = stack_of(layer, cell, layers, both)

    def by_layer(x):
        return flat(layer(x, layer.begin_state(N), lengths))

    def by_cells(x):
        out, states = stack.unroll(T, x, valid_length=lengths)
        kinds = 2 if "lstm" in name or name == "projected" else 1
        return [out, *[np.stack(states[i::kinds]) for i in range(kinds)]]

    expected, (expected_grad,) = gradients(by_cells, x)
    for call in (by_layer, npx.jit(by_cells)) if both else (by_layer,):
        found, (grad,) = gradients(call, x)
        close(found, expected)
        close([grad], [expected_grad])
    layer.hybridize()
    found, (grad,) = gradients(by_layer, x)
    close([*found, grad], [*expected, expected_grad])


@pytest.mark.parametrize("name", CELLS)
def test_second_derivatives_of_layers_are_those_of_cells_unrolled(name):
    layer, cell = CELLS[name]
    layer = small(layer())
    x = np.array(DATA)
    layer(x)
    stack = stack_of(layer, cell, 1, False)
    found = []
    for block, call in (
        (layer, layer),
        (stack, lambda x: stack.unroll(T, x, layout="TNC", merge_outputs=True)[0]),
    ):
        weight = next(p for n, p in block.collect_params().items() if n.endswith("h2h_weight"))
        block.zero_grad()
        x.attach_grad()
        with autograd.record():
            slope = autograd.grad((call(x) ** 2).sum(), x, create_graph=True)
            loss = (slope**2).sum()
        loss.backward()
        found.append([x.grad.asnumpy(), weight.grad().asnumpy()])
    close(*found)
    assert all(onp.abs(a).max() > 1e-3 for a in found[0])


def test_a_layer_in_a_compiled_step_trains_as_eagerly():
    def trained(compiled):
        np.random.seed(5)
        net = gluon.nn.HybridSequential()
        net.add(rnn.LSTM(H, 2, dropout=0.4), gluon.nn.Dense(1, flatten=False))
        small(net)
        net(np.array(DATA))
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
        loss_of = gluon.loss.L2Loss()

        def step(x, y):
            with autograd.record():
                loss = loss_of(net(x), y).mean()
            loss.backward()
            trainer.step(1)
            return loss

        run = npx.jit(step) if compiled else step
        return [float(run(np.array(DATA), np.array(DATA[..., :1]))) for _ in range(8)]

    eager = trained(False)
    onp.testing.assert_allclose(trained(True), eager, rtol=1e-4)
    assert eager[-1] < 0.8 * eager[0]


# --- properties of layers -------------------------------------------------------------------------


def test_dropout_between_layers_happens_in_training_only_and_follows_the_seed():
    layer = small(rnn.GRU(H, 2, dropout=0.5, input_size=C))
    x = np.array(DATA)
    plain = layer(x).asnumpy()
    onp.testing.assert_array_equal(layer(x).asnumpy(), plain)
    results = []
    for hybridized in (False, True):
        layer.hybridize(hybridized)
        np.random.seed(7)
        with autograd.train_mode():
            results.append((layer(x).asnumpy(), layer(x).asnumpy()))
    (first, second), compiled = results
    assert not onp.allclose(first, plain) and not onp.allclose(first, second)
    close(compiled, (first, second))
    whole = small(rnn.GRU(H, 2, dropout=1.0, input_size=C))
    with autograd.train_mode():
        without = whole(x)
        onp.testing.assert_allclose(
            without.asnumpy(), whole(x * 2).asnumpy(), err_msg="nothing reaches the second layer"
        )


def test_clipped_cells_stay_in_their_bounds_and_nan_can_be_clipped():
    layer = small(rnn.LSTM(H, state_clip_min=-0.1, state_clip_max=0.2, input_size=C))
    _, (_, c) = layer(np.array(5 * DATA), layer.begin_state(N))
    assert float(c.min()) == pytest.approx(-0.1) and float(c.max()) == pytest.approx(0.2)
    x = DATA.copy()
    x[0, 0] = onp.nan
    assert onp.isnan(layer(np.array(x)).asnumpy()[:, 0]).all()
    assert onp.isnan(small(rnn.RNN(H))(np.array(x)).asnumpy()[:, 0]).all()
    net = rnn.LSTM(H, state_clip_min=-0.1, state_clip_max=0.2, state_clip_nan=True, input_size=C)
    net.initialize(init.Zero())
    _, (_, c) = net(np.array(x), net.begin_state(N))
    assert onp.isfinite(c.asnumpy()).all()


def test_layers_keep_their_dtype():
    layer = small(rnn.GRU(H, input_size=C, dtype="float64"))
    assert (
        layer(np.array(DATA, dtype="float64")).dtype == layer.begin_state(1)[0].dtype == "float64"
    )
    layer.cast("float32")
    assert layer(np.array(DATA)).dtype == "float32"


def test_gradients_of_empty_batches_and_of_no_steps():
    layer = small(rnn.LSTM(H, bidirectional=True, input_size=C))
    for shape in ((3, 0, C), (0, 2, C)):
        x = np.array(onp.ones(shape, "float32"))
        (out, h, _), (grad,) = gradients(lambda x: flat(layer(x, layer.begin_state(x.shape[1]))), x)
        assert (
            out.shape == (*shape[:2], 2 * H) and h.shape == (2, shape[1], H) and grad.shape == shape
        )


def test_layers_say_what_they_are_and_have_mxnets_names():
    layer = rnn.LSTM(H, num_layers=2, dropout=0.5, bidirectional=True)
    assert repr(layer) == "LSTM(None -> 6, TNC, num_layers=2, dropout=0.5, bidirectional)"
    assert list(layer.collect_params("r1")) == [
        "r1_i2h_weight",
        "r1_h2h_weight",
        "r1_i2h_bias",
        "r1_h2h_bias",
    ]
    layer.initialize()
    layer(np.array(DATA))
    assert layer.l0_i2h_weight.shape == (4 * H, C) and layer.l1_i2h_weight.shape == (4 * H, 2 * H)
    again = rnn.LSTM(H, num_layers=2, dropout=0.5, bidirectional=True)
    again.load_dict(layer.collect_params())
    for twin in (again, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        onp.testing.assert_array_equal(
            twin(np.array(DATA)).asnumpy(), layer(np.array(DATA)).asnumpy()
        )


def test_the_vector_of_parameters_is_the_concatenation_of_the_layers():
    layer = small(rnn.GRU(H, 2, bidirectional=True, input_size=C))
    layer(np.array(DATA))
    vector = np.concatenate([p.data().reshape(-1) for p in layer.params.values()])
    out = npx.rnn(
        np.array(DATA),
        vector,
        *layer.begin_state(N),
        mode="gru",
        state_size=H,
        num_layers=2,
        bidirectional=True,
    )
    onp.testing.assert_allclose(out.asnumpy(), layer(np.array(DATA)).asnumpy(), rtol=1e-6)
    assert npx.rnn(
        [[[1.0]]], [1.0, 1.0, 0.0, 0.5], [[[0.5]]], mode="rnn_relu", state_size=1, num_layers=1
    ).tolist() == [[[2]]]


X, STATE = np.zeros((2, 3, 4)), np.zeros((1, 3, 5))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: npx.rnn(X, X, STATE),
            "mode must be one of rnn_relu, rnn_tanh, lstm, gru, got None",
        ),
        (
            lambda: npx.rnn(X, X, STATE, mode="gru", num_layers=1),
            "state_size and num_layers must be positive numbers",
        ),
        (
            lambda: npx.rnn(X, np.zeros(3), STATE, mode="rnn_relu", state_size=5, num_layers=1),
            r"parameters must have shape \(55,\)",
        ),
        (
            lambda: npx.rnn(X, np.zeros(55), X, mode="rnn_relu", state_size=5, num_layers=1),
            r"state must have shape \(1, 3, 5\), got \(2, 3, 4\)",
        ),
        (
            lambda: npx.rnn(X[0], np.zeros(55), STATE, mode="rnn_relu", state_size=5, num_layers=1),
            "axes time, batch and feature",
        ),
        (
            lambda: npx.rnn(X, X, STATE, mode="lstm", state_size=5, num_layers=1),
            "state_cell is for mode='lstm' and needed there",
        ),
        (
            lambda: npx.rnn(X, X, STATE, None, [1, 2, 3], "gru", 5, 1),
            "use_sequence_length=False, but sequence_length is given",
        ),
        (
            lambda: npx.rnn(X, [X], STATE, mode="gru", state_size=5, num_layers=1, p=2),
            "p is a probability",
        ),
        (
            lambda: npx.rnn(X, [X, X], STATE, mode="gru", state_size=5, num_layers=1),
            r"or 4 arrays \(l0_i2h_weight, .*\), got 2",
        ),
        (
            lambda: npx.rnn(X, [X] * 4, STATE, mode="gru", state_size=5, num_layers=1),
            r"l0_i2h_weight must have shape \(15, 4\)",
        ),
        (
            lambda: npx.rnn(X, X, STATE, mode="gru", state_size=5, num_layers=1, projection_size=2),
            "is for mode='lstm'",
        ),
        (
            lambda: npx.rnn(
                X,
                X,
                STATE,
                mode="gru",
                state_size=5,
                num_layers=1,
                lstm_state_clip_min=0,
                lstm_state_clip_max=1,
            ),
            "for mode='lstm'",
        ),
        (
            lambda: rnn.LSTM(3, state_clip_max=1),
            "lower and the upper bound of cell states are given together",
        ),
        (lambda: rnn.LSTM(3, projection_size=0), "projection_size must be positive"),
        (lambda: rnn.GRU(0), "hidden_size and num_layers must be positive"),
        (lambda: rnn.GRU(3, layout="NCT"), "expected 'NTC' or 'TNC', got 'NCT'"),
        (lambda: rnn.GRU(3, dropout=-1), "dropout is a probability"),
        (lambda: rnn.RNN(3, activation="sigmoid"), "activation must be 'relu' or 'tanh'"),
        (lambda: small(rnn.GRU(3))(X[0]), r"expected data with axes TNC, got shape \(3, 4\)"),
        (
            lambda: small(rnn.GRU(3))(X, STATE),
            r"states must have shapes \[\(1, 3, 3\)\], got \[\(1, 3, 5\)\]",
        ),
        (
            lambda: small(rnn.GRU(3))(X, None, [1]),
            "use_sequence_length=False, but sequence_length is given",
        ),
        (lambda: small(rnn.GRU(3, use_sequence_length=True))(X), "sequence_length is missing"),
        (lambda: rnn.GRUCell(0), "hidden_size must be positive"),
        (
            lambda: small(rnn.LSTMCell(3))(X[0], [X[0]]),
            "LSTMCell: states: expected a list of 2, got 1",
        ),
        (lambda: small(rnn.GRUCell(3))(X[0], X[0]), "expected a list of 1, got an array"),
        (lambda: small(rnn.GRUCell(3)).unroll(4, X), "length is 4, but inputs have 3 steps"),
        (lambda: small(rnn.GRUCell(3)).unroll(None, []), "inputs have no steps"),
        (
            lambda: small(rnn.GRUCell(3)).unroll(3, X, valid_length=[1]),
            r"valid_length must have shape \(2,\)",
        ),
        (lambda: rnn.DropoutCell(2), "rate is a probability"),
        (lambda: rnn.Conv2DLSTMCell((3, 5, 5), 2, 3, 2), "h2h_kernel must be odd"),
        (lambda: rnn.Conv2DLSTMCell((3, 5), 2, 3, 3), "input_shape needs 3 lengths"),
        (
            lambda: rnn.Conv2DLSTMCell((3, 5, 5), 2, (3, 3, 3), 3),
            "i2h_kernel: expected a number, or one for each of 2 axes",
        ),
        (
            lambda: rnn.Conv2DLSTMCell((3, 5, 5), 2, 3, 3, conv_layout="NCW"),
            "conv_layout must be one of NCHW, NHWC",
        ),
        (lambda: rnn.Conv1DGRUCell((3, 2), 2, 3, 3), "does not fit into input_shape"),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_so(call, text):
    with pytest.raises(ValueError, match=text):
        call()
